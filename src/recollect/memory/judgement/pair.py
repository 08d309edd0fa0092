"""Two statements side by side: which words they share, which are opposed, which are values of one slot, which are left.

Nothing is decided here; `agreement` and `disagreement` read it.
"""

import re
from collections.abc import Callable, Iterator, Set

from recollect.frozen import frozen
from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.statement import (
    Statement,
    Token,
    TokenKind,
    canonical,
    canonical_set,
    word_set,
)
from recollect.memory.judgement.tools import FAMILIES_OF, PREDICATES, role_words


@frozen
class Pair:
    """Two parsed statements, and how their differences correspond."""

    new: Statement
    old: Statement
    cosine: float | None
    shared: frozenset[str]  # content words of both
    opposed: tuple[tuple[Token, Token], ...]  # (new, old) with opposite meaning
    values: tuple[tuple[Token, Token], ...]  # (new, old) of one type, of which only one can be current
    left_new: tuple[Token, ...]  # content words that nothing in the other statement explains
    left_old: tuple[Token, ...]
    negated: bool  # one denies what the other affirms
    light_new: tuple[Token, ...] = ()  # light words that only one has: they explain words of the other
    light_old: tuple[Token, ...] = ()
    spelt: frozenset[str] = frozenset()  # words of one that a path or an identifier of the other spells out

    @property
    def is_reversed(self) -> bool:
        """Return whether the number of opposed words and negations is odd, which reverses the meaning."""
        return (len(self.opposed) + self.negated) % 2 == 1

    @property
    def near(self) -> float:
        return self.cosine if self.cosine is not None else 0.0

    @property
    def left(self) -> tuple[Token, ...]:
        return self.left_new + self.left_old

    @property
    def apart(self) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """Return the words of each, new and old, that say which thing is meant and that the other does not have."""
        roles = frozenset[str]().union(*(role_words(new.word, old.word) for new, old in self.values))
        new, old = (
            tuple(token for token in left if is_distinctive(token, statement) and token.word not in roles)
            for left, statement in ((self.left_new, self.new), (self.left_old, self.old))
        )
        return new, old

    @property
    def are_two_things(self) -> bool:
        """Return whether each names a thing that the other does not."""
        return all(self.apart)

    @property
    def topic(self) -> frozenset[str]:
        """Return the words of both that say what they are about."""
        return frozenset(word for word in self.shared if word not in GENERIC) | self.spelt

    @property
    def is_turned(self) -> bool:
        """Return whether one goes to what the other comes from."""
        ways = zip(_ways(self.new), _ways(self.old), strict=True)
        return any(len(new) == len(old) == 1 and new != old for new, old in ways)

    @property
    def is_substitution(self) -> bool:
        """Return whether each says something the other does not: they are most likely about two things."""
        return not all(map(_is_verbal, self.left_new)) and not all(map(_is_verbal, self.left_old))


def _ways(statement: Statement) -> Iterator[set[str]]:
    """Yield whether something comes from or goes to, and whether it is in or out."""
    yield {"from", "to"} & statement.lowers
    yield {"out"} & statement.lowers | ({"in"} if {"in", "into"} & statement.lowers else set())


def pair_up(new: Statement, old: Statement, cosine: float | None) -> Pair:
    """Pair up the differences of two statements. Texts that differ too much are not paired."""
    only_new = [token for word, token in new.tokens.items() if word not in old.tokens]
    only_old = [token for word, token in old.tokens.items() if word not in new.tokens]
    opposed: list[tuple[Token, Token]] = []
    values: list[tuple[Token, Token]] = []
    partner: dict[str, str] = {}
    spelt: frozenset[str] = frozenset()
    if len(only_new) <= _MAX_DIFFERENCES and len(only_old) <= _MAX_DIFFERENCES:
        both = new.tokens.keys() & old.tokens.keys()
        opposed = _take_pairs(only_new, only_old, lambda a, b: _is_opposite(a.word, b.word))
        if (
            new.sequences and old.sequences
        ):  # "A before B" is "B after A": what comes first is compared by itself
            opposed = [words for words in opposed if {token.word for token in words} != _BEFORE_AFTER]
        alike = _take_pairs(only_new, only_old, lambda a, b: b.word in _SAME_SIDE.get(a.word, ()))
        partner = {a.word: b.word for x, y in opposed + alike for a, b in ((x, y), (y, x))}
        spelt = _drop_parts(only_new, only_old) | _drop_parts(only_old, only_new)
        # Subjects are paired with subjects first, then with the rest.
        values = _take_pairs(
            only_new, only_old, lambda a, b: a.in_subject == b.in_subject and _is_rival(a, b, both)
        )
        values += _take_pairs(only_new, only_old, lambda a, b: _is_rival(a, b, both))
        # A command or a list of versions replaces the other as a whole, however many words each has.
        replaced = {token.kind for pair in values for token in pair} & VALUE_KINDS
        only_new = [token for token in only_new if token.kind not in replaced]
        only_old = [token for token in only_old if token.kind not in replaced]
    return Pair(
        new,
        old,
        cosine,
        shared=new.content & old.content,
        opposed=tuple(opposed),
        values=tuple(values),
        left_new=tuple(token for token in only_new if token.kind is not TokenKind.LIGHT),
        left_old=tuple(token for token in only_old if token.kind is not TokenKind.LIGHT),
        light_new=tuple(token for token in only_new if token.kind is TokenKind.LIGHT),
        light_old=tuple(token for token in only_old if token.kind is TokenKind.LIGHT),
        negated=_denies(new, old, partner) or _denies(old, new, partner),
        spelt=spelt,
    )


def _take_pairs(
    new: list[Token], old: list[Token], belong: Callable[[Token, Token], bool]
) -> list[tuple[Token, Token]]:
    """Move the pairs that `belong` together out of both lists, and return them."""
    pairs = []
    for mine in tuple(new):
        for theirs in old:
            if belong(mine, theirs):
                pairs.append((mine, theirs))
                new.remove(mine)
                old.remove(theirs)
                break
    return pairs


def _drop_parts(names: list[Token], words: list[Token]) -> frozenset[str]:
    """Drop words that a path or an identifier spells out, and return them: `rust-toolchain.toml` is "the toolchain file"."""
    dropped: set[str] = set()
    for name in tuple(names):
        if name.kind in (TokenKind.PATH, TokenKind.CODE):
            parts = {canonical(part) for part in re.split(r"[\W_]+", name.word)}
            spelt = [word for word in words if word.word in parts]
            if spelt:
                names.remove(name)
                words[:] = [word for word in words if word not in spelt]
                dropped.update(word.word for word in spelt)
    return frozenset(dropped)


def is_distinctive(token: Token, statement: Statement) -> bool:
    """Return whether a word says which thing is meant: no verb, no adverb, and no noun that fits everything."""
    if token.kind is not TokenKind.WORD:  # the end of "18-alpine" belongs to its number
        return token.kind is not TokenKind.LIGHT and not (
            token.before.isdecimal() and token.surface[0] == "-"
        )
    if token.surface.endswith("ly"):
        return False
    if token.word in GENERIC:  # "the users table", unlike "the table of the users"
        after = statement.tokens.get(canonical(token.after))
        if token.in_subject:
            return after is not None and after.in_subject
        return after is not None and after.word not in _NO_NOUNS
    is_noun = token.in_subject or token.before in _BEFORE_NOUNS
    return token.word not in PREDICATES or is_noun


def _is_opposite(a: str, b: str) -> bool:
    if b in _OPPOSED.get(a, ()):
        return True
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    prefixed = (
        len(shorter) >= 3 and longer.endswith(shorter) and longer.removesuffix(shorter) in _NOT_PREFIXES
    )
    return prefixed and longer not in _NOT_NEGATED


def _is_rival(new: Token, old: Token, both: Set[str]) -> bool:
    """Return whether the two are values of one type, so that in one frame (`both`) one replaces the other."""
    if new.kind is TokenKind.NUMBER and old.kind is TokenKind.NUMBER:
        if _differ(new.before, old.before) or _differ(new.after, old.after):
            return False  # "port 80" and "version 2", "3 rows" and "3 columns"
        if {canonical(new.before), canonical(old.before)} & _IDENTITIES and not _are_versions(new, old):
            return False  # "shard 1" and "shard 2" are two things
        if (
            new.in_subject
            and old.in_subject
            and new.before == old.before == ""
            and not count_the_same(new, old)
        ):
            return False  # "404 means…" and "409 means…", unlike "two approvals" and "one approval"
        labelled = canonical(new.before) in both or canonical(old.before) in both
        same_after = canonical(new.after) == canonical(old.after)
        return labelled or same_after or new.before == old.before or new.in_subject == old.in_subject
    if new.kind is old.kind and new.kind in VALUE_KINDS:
        same_place = new.before in _PLACES and old.before in _PLACES
        same_place |= new.before == old.before == "" and not (new.in_subject or old.in_subject)
        return new.kind in MEASURES or same_place or _is_same_slot(new.before, old.before)
    families = FAMILIES_OF.get(new.word, frozenset()), FAMILIES_OF.get(old.word, frozenset())
    if all(families):
        return not families[0].isdisjoint(families[1])
    if any(families):  # a tool has no rival but another one, which may be unknown: "formatted with X"
        return _has_same_part(new, old, both)
    if not _OWNERS.isdisjoint(both) and is_owner(new) and is_owner(old):
        return True
    named = (is_name(new) and is_name(old)) or TokenKind.CODE in (new.kind, old.kind)
    named |= (is_name(new) or is_name(old)) and {new.before, old.before} <= MEANS
    return named and _is_same_slot(new.before, old.before) and TokenKind.LIGHT not in (new.kind, old.kind)


def _are_versions(new: Token, old: Token) -> bool:
    """Tell "built with Node 20" from "the job runs on node 2" and "node 12 is full"."""
    counts = [int(token.word) for token in (new, old) if token.word.isdecimal()]
    named = new.before == old.before == "node" and not any(
        token.in_subject and token.slot not in MEANS for token in (new, old)
    )
    return named and len(counts) == 2 and min(counts) >= _FIRST_VERSION


def _has_same_part(new: Token, old: Token, both: Set[str]) -> bool:
    """Return whether one is a known tool and the other, in its place, is said to do what that tool does."""
    means = new.before in MEANS and old.before in MEANS
    unknown = old if new.word in FAMILIES_OF else new
    is_word = unknown.kind in (TokenKind.WORD, TokenKind.CODE) and unknown.word not in PREDICATES | GENERIC
    return means and is_word and unknown.after == "" and bool(role_words(new.word, old.word) & both)


def count_the_same(new: Token, old: Token) -> bool:
    """Return whether two numbers are of the same things: "two approvals", "one approval"."""
    counted = canonical(new.after)
    return counted == canonical(old.after) and counted.isalpha() and counted not in _NO_NOUNS | _PREPOSITIONS


def _differ(one: str, other: str) -> bool:
    """Return whether both are nouns, and not the same."""
    a, b = canonical(one), canonical(other)
    if _NEUTRAL & {one, other} and "port" in (one, other):
        return True
    return a != b and not any(
        word in _NO_NOUNS or not word.isalpha() or word in _PREPOSITIONS or word in _NEUTRAL
        for word in (a, b, one, other)
    )


def _is_same_slot(a: str, b: str) -> bool:
    """Return whether what follows the two words plays the same part: "with X", "by X", "uses X"."""
    return (a in MEANS and b in MEANS) or (a == b and a in _SLOTS)


def _is_capital(token: Token) -> bool:
    return token.surface[:1].isupper() and token.kind is TokenKind.WORD


def is_owner(token: Token) -> bool:
    """Return whether it is the name of who owns, reviews or maintains: "Priya owns…", "…reviewed by Kenji"."""
    acts = canonical(token.after) in _OWNERS or token.after in BE
    return _is_capital(token) and token.word not in FAMILIES_OF and (acts or token.before in ("by", "to"))


def _is_verbal(token: Token) -> bool:
    """Return whether it looks like a form of a verb, for which the other statement may use another."""
    return token.kind is TokenKind.WORD and (token.surface.endswith("ed") or token.before in _AUXILIARIES)


def is_name(token: Token) -> bool:
    return (
        token.kind in (TokenKind.CODE, TokenKind.PATH)
        or token.word in FAMILIES_OF
        or (_is_capital(token) and token.before != "")
    )


def _denies(denying: Statement, holding: Statement, partner: dict[str, str]) -> bool:
    """Return whether a clause of one denies what the other affirms more than it denies it.

    Clauses are compared, since "don't use npm, use pnpm" agrees with "use pnpm".
    """
    for clause in denying.clauses[:_MAX_CLAUSES]:
        if clause.negations % 2 == 0:
            continue
        words = {partner.get(word, word) for word in clause.words & denying.content or clause.words}
        affirmed = denied = 0
        for other in holding.clauses[:_MAX_CLAUSES]:
            if other.negations % 2 == 0:
                affirmed = max(affirmed, len((words & other.words) - holding.rejected))
            denied = max(denied, len(words & (other.words if other.negations % 2 else holding.rejected)))
        if affirmed > denied and 2 * affirmed >= len(words):
            return True
    return False


def _sides() -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for left, right in tables.OPPOSITES:
        yield canonical_set(left), canonical_set(right)
        yield canonical_set(right), canonical_set(left)


NARROWING = (
    "environment",
    "test kind",
    "platform",
    "side",
    "language",
)  # scopes that say where a statement holds
_MAX_DIFFERENCES = 40  # longer texts cost more to pair than the pairs tell
_MAX_CLAUSES = 12
MEASURES = frozenset({TokenKind.NUMBER, TokenKind.DURATION, TokenKind.SIZE, TokenKind.TIME})
VALUE_KINDS = MEASURES | {TokenKind.PATH, TokenKind.CODE}
GENERIC = canonical_set(tables.GENERIC_NOUNS)
_BEFORE_NOUNS = word_set(
    "the a an our your my its of for in on this that each every per any all from by with at"
)
_BEFORE_AFTER = canonical_set(("before", "after"))
_IDENTITIES = canonical_set(tables.IDENTITIES)
_FIRST_VERSION = 10  # of Node that anybody still speaks of
_NEUTRAL = word_set("version number release v")  # say of a number nothing that tells it from another
_NO_NOUNS = canonical_set(tables.STOP_WORDS | tables.VERBS | tables.PREDICATES | tables.NEGATIONS)
MEANS = word_set("with by via using use uses through run call")
_PLACES = word_set("in to at on under is are was inside into within")
_SLOTS = word_set("to in on at is are from as")
_PREPOSITIONS = word_set(
    "for to in on at by with from as into onto via through before after when if under using of"
)
BE = word_set("is are was were be been being")
_AUXILIARIES = word_set("be been must should can will")
_OWNERS = canonical_set(tables.OWNERS)
_NOT_PREFIXES = word_set("un in im ir il non dis")
_NOT_NEGATED = canonical_set(tables.NOT_NEGATED)
_OPPOSED: dict[str, set[str]] = {}
_SAME_SIDE: dict[str, set[str]] = {}
for _side, _other in _sides():
    for _word in _side:
        _OPPOSED.setdefault(_word, set()).update(_other)
        _SAME_SIDE.setdefault(_word, set()).update(_side - {_word})
