"""How far two statements use the same words."""

from recollect.memory.write.statement import Kind, Statement, parse

_BEGINNING = 4  # letters by which words are taken for forms of one
_MEASURES = (Kind.NUMBER, Kind.DURATION, Kind.SIZE)


def says_the_same(one: str, other: str) -> bool:
    """Whether both have the same content words in the same order.

    "The api calls the ledger" has all the words of "the ledger calls the api".
    """
    return _in_order(parse(one)) == _in_order(parse(other))


def _in_order(statement: Statement) -> list[str]:
    return [word for word in statement.tokens if word in statement.content]


def each_says_more(one: str, other: str) -> bool:
    """Whether either has a word for which the other has none that begins alike: most likely they speak of two things.

    Of the duplicates in the bench one in 100 does, of what only looks like one 98 in 100 (docs/consolidation.md).
    """
    a, b = parse(one).content, parse(other).content
    return _has_more(a, b) and _has_more(b, a)


def only_measures_differ(one: str, other: str) -> bool:
    """Whether the two have the same words but for numbers, times and sizes."""
    a, b = _without_measures(parse(one)), _without_measures(parse(other))
    return not _has_more(a, b) and not _has_more(b, a)


def _without_measures(statement: Statement) -> frozenset[str]:
    return frozenset(word for word in statement.content if statement.tokens[word].kind not in _MEASURES)


def _has_more(words: frozenset[str], others: frozenset[str]) -> bool:
    beginnings = {word[:_BEGINNING] for word in others}
    return any(word[:_BEGINNING] not in beginnings for word in words - others)
