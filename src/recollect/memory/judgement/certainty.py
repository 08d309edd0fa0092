"""What a contradiction must meet to be certain: a certain one supersedes, an unsure one asks.

A statement gives way by itself only to one that says so ("no longer", "instead"), or that gives another value to what has one value at
a time: a port, a limit, the formatter. Logs may go to two places and a file may have two readers.
"""

from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.meaning import ANY_LIMIT, is_only_verb, is_plain, unexplained
from recollect.memory.judgement.pair import (
    BE,
    GENERIC,
    MEANS,
    MEASURES,
    Pair,
    count_the_same,
    is_distinctive,
    is_name,
    is_owner,
)
from recollect.memory.judgement.statement import (
    Statement,
    Token,
    canonical_set,
    word_set,
)
from recollect.memory.judgement.tools import FAMILIES_OF


def takes_one_value(pair: Pair) -> bool:
    """Return whether each value that differs is of a sort of which there is one, or is said to be the one."""
    if not _NOW.isdisjoint(pair.new.lowers) or not _ALL.isdisjoint(pair.new.lowers | pair.old.lowers):
        return True
    return all(_is_single(new, old, pair) for new, old in pair.values)


def _is_single(new: Token, old: Token, pair: Pair) -> bool:
    if new.kind in MEASURES:  # "version 2 of the API" and "the v3 API" are two
        counted = count_the_same(new, old) and not (_is_version(new) or _is_version(old))
        return not (new.in_subject and old.in_subject) or counted
    families = FAMILIES_OF.get(new.word, frozenset()) & FAMILIES_OF.get(old.word, frozenset())
    if families & tables.EXCLUSIVE.keys():
        return True
    if families and not families & tables.SEVERAL and _is_means(new, old, pair):
        return True
    if is_owner(new) and is_owner(old) and pair.shared >= _OWN:
        return True
    return any(_is_the_one(token, statement) for token, statement in ((new, pair.new), (old, pair.old)))


def _is_version(token: Token) -> bool:
    return token.surface[:1] in "vV"


def _is_means(new: Token, old: Token, pair: Pair) -> bool:
    """Return whether the two tools do the same for the same: "CI runs on X", unlike "alerts go to X"."""
    same_part = all(token.before in MEANS or token.before in _PARTS for token in (new, old))
    several = _TO_SEVERAL & (pair.new.tokens.keys() | pair.old.tokens.keys())
    return same_part and not several and not pair.topic <= {new.word, old.word}


def says_nothing_else(pair: Pair) -> bool:
    """Return whether the two differ in nothing but their values or a "not": what is left means the same or adds nothing."""
    left_new, left_old = (
        [token for token in left if not _is_general(token) or _narrows_subject(token)]
        for left in unexplained(pair)
    )
    if left_new and left_old:
        return False
    lights = pair.light_old if left_new else pair.light_new
    return all(is_only_verb(token, lights) and not _narrows_subject(token) for token in left_new or left_old)


def _narrows_subject(token: Token) -> bool:
    """Return whether the word says which of the things that a statement is about: "PRs to docs", "PRs against main", "docs PRs"."""
    is_plural = not token.before and token.surface.endswith("s")  # a verb at the beginning has no "s"
    return token.in_subject and (is_plural or token.before in _WHICH)


def is_over(pair: Pair) -> bool:
    """Return whether the newer says that what the older says is no longer so, and the older says nothing more."""
    if pair.new.stance not in _NO_LONGER and _ANY_MORE.isdisjoint(pair.new.lowers):
        return False
    return all(token.word in _VERBS or _is_general(token) for token in unexplained(pair)[1])


def _is_general(token: Token) -> bool:
    """Return whether the word fits everything, and sets no limit."""
    return (is_plain(token) or token.word in GENERIC) and token.word not in ANY_LIMIT


def _is_the_one(token: Token, statement: Statement) -> bool:
    """Return whether the statement says what a thing is: "the bundler is Vite", "develop is the default branch"."""
    if token.before in BE and not token.in_subject:
        return not _ARTICLES.isdisjoint(statement.first_words) or "=" in statement.first_words
    return token.in_subject and token.after in BE and "the" in statement.lowers


def holds_in_the_same_case(pair: Pair) -> bool:
    """Return whether neither has a condition that the other lacks."""
    one_default = ("default" in pair.new.lowers) != ("default" in pair.old.lowers)
    return not one_default and not has_other_condition(pair)


def denies_no_more(denying: Statement, holding: Statement, over: frozenset[str]) -> bool:
    """Return whether what is over is over altogether, and not only for something that the other does not speak of."""
    for clause in denying.clauses:
        if clause.words.isdisjoint(over):
            continue
        for word in clause.words - over - holding.tokens.keys():
            token = denying.tokens.get(word)
            if (
                token
                and token.word not in FAMILIES_OF
                and not is_name(token)
                and is_distinctive(token, denying)
            ):
                return False
    return True


def has_other_condition(pair: Pair) -> bool:
    """Return whether one holds only in a case, and the other says nothing like it."""
    for one, other in ((pair.new, pair.old), (pair.old, pair.new)):
        if not one.lowers.isdisjoint(_CONDITIONS) and other.lowers.isdisjoint(_CONDITIONS | _CIRCUMSTANCES):
            return True
        if (
            "only" in one.lowers
            and not any(clause.negations == 2 for clause in other.clauses)
            and other.lowers.isdisjoint(_ONLY)
            and not (one.tokens.keys() & other.tokens.keys() & _ONLY_WORDS)
        ):
            return True
    return False


_CONDITIONS = word_set("if when whenever while unless until till")
_CIRCUMSTANCES = word_set(
    "with without after before under during once on in for by below above less over to then at"
)
_ONLY = word_set(
    "only solely exclusively just reserved nobody need needs needed require requires required must"
)
_ONLY_WORDS = canonical_set(("only",))
_PARTS = word_set("in on is are inside within under as") | {""}
_TO_SEVERAL = canonical_set(tables.TO_SEVERAL)
_OWN = canonical_set(("own",))
_VERBS = canonical_set(tables.PREDICATES)
_NO_LONGER = ("no longer",)
_ANY_MORE = word_set("anymore nobody")
_NOW = word_set(
    "now nowadays instead henceforth insteadof switched changed moved migrated replaced upgraded downgraded raised lowered renamed"
)
_ALL = word_set("all every everything always only default each whole")
_ARTICLES = word_set("the our this its my")
_WHICH = word_set("to in into on against from by for of at under within touch touches touching")
