"""Words of one statement that mean the same as other words of another, or add nothing to it.

The tables `same_meaning`, `fillers` and `hollow_nouns` in `data/words.toml` say which.
"""

from collections.abc import Sequence

from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.pair import Pair
from recollect.memory.judgement.statement import (
    Statement,
    Token,
    TokenKind,
    canonical,
    canonical_set,
    word_set,
)


def unexplained(pair: Pair) -> tuple[list[Token], list[Token]]:
    """Return the words of each, new and old, that mean no word of the other and add something to it."""
    left_new, left_old = adding(pair)
    _match(left_new, left_old)
    _match(left_new, pair.light_old)
    _match(left_old, pair.light_new)
    return left_new, left_old


def adding(pair: Pair) -> tuple[list[Token], list[Token]]:
    """Return the words of each, new and old, that add something to the other."""
    return (
        [token for token in pair.left_new if not _adds_nothing(token, pair.new, pair.old)],
        [token for token in pair.left_old if not _adds_nothing(token, pair.old, pair.new)],
    )


def _match(words: list[Token], others: Sequence[Token]) -> None:
    """Take out of `words` those that mean the same as one of `others`, each of which explains one; of a list, that too."""
    free = list(others)
    for token in [token for token in words if token.kind in _PROSE]:
        for other in [other for other in free if other.kind in _PROSE]:
            if not _MEANINGS.get(token.word, _NONE).isdisjoint(_MEANINGS.get(other.word, _NONE)):
                words.remove(token)
                free.remove(other)
                if isinstance(others, list):
                    others.remove(other)
                break


def _adds_nothing(token: Token, statement: Statement, other: Statement) -> bool:
    """Return whether the other statement lacks nothing without the word: it is a filler, or a reason of the other."""
    if token.kind is not TokenKind.WORD:
        return False
    falls = token.word in _MOVES and canonical(token.after) in ANY_LIMIT
    return (
        token.word in _FILLERS or token.word in other.asides or falls or _is_apposed(token, statement, other)
    )


def _is_apposed(token: Token, statement: Statement, other: Statement) -> bool:
    """Return whether the word says what sort of thing a name is: "the feature flag new_checkout"."""
    following: Token | None = token
    for _ in range(2):
        following = statement.tokens.get(canonical(following.after)) if following else None
        if following and following.kind in (TokenKind.CODE, TokenKind.PATH):
            return following.word in other.tokens
    return False


def is_hollow(token: Token, pair: Pair) -> bool:
    """Return whether a noun only names the sort of what the word beside it names: "app requests", "objects in the bucket"."""
    if token.word not in _HOLLOW or token.kind not in _PROSE:
        return False
    if not pair.shared.isdisjoint((token.before, canonical(token.before))):
        return True
    return token.after in _OF and token.in_subject


def is_plain(token: Token) -> bool:
    """Return whether a noun says so little that it makes no thing of its own."""
    return token.word in _HOLLOW


def _meanings() -> dict[str, frozenset[str]]:
    """Return the lines of the table that each word stands in, by their first words."""
    found: dict[str, set[str]] = {}
    for line in tables.SAME_MEANING:
        for word in line:
            found.setdefault(canonical(word), set()).add(" ".join(line))
    return {word: frozenset(lines) for word, lines in found.items()}


_PROSE = (TokenKind.WORD, TokenKind.LIGHT)  # names, values and code mean only themselves
_NONE: frozenset[str] = frozenset()
_MEANINGS = _meanings()
_FILLERS = canonical_set(tables.FILLERS)
_HOLLOW = canonical_set(tables.HOLLOW_NOUNS)
_OF = word_set("of in on for from to")
_MOVES = canonical_set(word_set("drop fall sink rise climb go grow be stay get"))
LIMITS = {
    "at most": canonical_set(word_set("maximum below under within less")),
    "at least": canonical_set(word_set("minimum above over exceed more")),
}
ANY_LIMIT = frozenset[str]().union(*LIMITS.values())
