"""Words of one statement that mean the same as other words of another, or add nothing to it.

The tables `same_meaning`, `fillers` and `hollow_nouns` in `data/words.toml` say which.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

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
    _drop_joined(left_new, left_old)
    _drop_joined(left_old, left_new)
    means = [_mean_the_same]
    if pair.new.subject.isdisjoint(pair.old.subject):
        means.append(_are_converse)
    for mean in means:
        _match(left_new, left_old, mean)
        _match(left_new, pair.light_old, mean)
        _match(left_old, pair.light_new, mean)
    return left_new, left_old


def adding(pair: Pair) -> tuple[list[Token], list[Token]]:
    """Return the words of each, new and old, that add something to the other."""
    return (
        [token for token in pair.left_new if not _adds_nothing(token, pair.new, pair.old)],
        [token for token in pair.left_old if not _adds_nothing(token, pair.old, pair.new)],
    )


def _match(words: list[Token], others: Sequence[Token], mean: Callable[[Token, Token], bool]) -> None:
    """Take out of `words` those that `mean` one of `others`, each of which explains one; of a list, that too."""
    free = list(others)
    for token in [token for token in words if token.kind in _PROSE]:
        for other in [other for other in free if other.kind in _PROSE]:
            if mean(token, other):
                words.remove(token)
                free.remove(other)
                if isinstance(others, list):
                    others.remove(other)
                break


def _mean_the_same(one: Token, other: Token) -> bool:
    if not _MEANINGS.get(one.word, _NONE).isdisjoint(_MEANINGS.get(other.word, _NONE)):
        return True
    return _root(one.word) == _root(other.word)


def _are_converse(one: Token, other: Token) -> bool:
    """Return whether the verbs say the same of two sides: "the events are sent to X" and "X receives the events"."""
    return other.word in _CONVERSES.get(one.word, _NONE)


def _drop_joined(words: list[Token], others: list[Token]) -> None:
    """Drop what one writes as one word and the other as two: "timestep" and "time step"."""
    for token in tuple(words):
        for other in tuple(others):
            joined = (
                other.before + other.surface.lower(),
                other.surface.lower() + other.after,
            )
            if token.kind is TokenKind.WORD and token.word in map(canonical, joined):
                words.remove(token)
                others.remove(other)
                rest = [word for word in others if word.surface.lower() in (other.before, other.after)]
                others[:] = [word for word in others if word not in rest]
                break


@lru_cache(maxsize=4096)
def _root(word: str) -> str:
    """Return what "compare" and "comparison", "schedule" and "scheduler" have in common."""
    for ending in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ROOT:
            return word.removesuffix(ending)
    return word


def _adds_nothing(token: Token, statement: Statement, other: Statement) -> bool:
    """Return whether the other statement lacks nothing without the word: it is a filler, or a reason of the other."""
    if token.kind is not TokenKind.WORD:
        return False
    if token.word == _ONLY and any(clause.negations == 2 for clause in other.clauses):
        return True  # "never merge without a green pipeline"
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
    return token.after == "of" or (token.after in _OF and token.in_subject)


def is_only_verb(token: Token, lights: Sequence[Token]) -> bool:
    """Return whether the word is the verb of what the other says without one: "the API returns X", "X from the API".

    `lights` are the light words that only the other has: "kept" may be what somebody does instead of "validated".
    """
    if token.kind is not TokenKind.WORD or {token.before, token.after} & _JOINING:
        return False
    alone = all(light.word in _EMPTY for light in lights)
    return alone and (
        token.word in _PARTICLES or (token.word in _VERBS and token.before not in _BEFORE_NOUNS)
    )


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
_CONVERSES: dict[str, frozenset[str]] = {}
for _left, _right in tables.CONVERSES:
    for _verbs, _others in ((_left, _right), (_right, _left)):
        for _verb in canonical_set(_verbs):
            _CONVERSES[_verb] = _CONVERSES.get(_verb, _NONE) | canonical_set(_others)
_SHORTEST_ROOT = 4  # letters: "server" and "serve" have a root, "user" and "use" are left alone
_DERIVED = tuple(
    "ability ibility ison ance ence ment ness able ible ity age ive ure al er or".split()
)  # endings that make another part of speech of a word, the longest first
_FILLERS = canonical_set(tables.FILLERS)
_HOLLOW = canonical_set(tables.HOLLOW_NOUNS)
_VERBS = canonical_set(tables.PREDICATES)
_EMPTY = canonical_set(word_set("use have do be become default value"))
_PARTICLES = canonical_set(word_set("out up down over along away through"))
_JOINING = word_set("and or")
_BEFORE_NOUNS = word_set("the a an our your my its of for this each every per any")
_ONLY = canonical("only")
_OF = word_set("of in on for from to")
_MOVES = canonical_set(word_set("drop fall sink rise climb go grow be stay get"))
LIMITS = {
    "at most": canonical_set(
        word_set("maximum below under within less fit largest biggest longest highest most")
    ),
    "at least": canonical_set(word_set("minimum above over exceed more smallest shortest lowest fewest")),
}
ANY_LIMIT = frozenset[str]().union(*LIMITS.values())
