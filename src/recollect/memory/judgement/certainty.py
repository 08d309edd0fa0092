"""What a contradiction must meet to be certain: a certain one supersedes, an unsure one asks.

A statement gives way by itself only to one that says so ("no longer", "instead"), or that gives another value to what has one value at
a time: a port, a limit, the formatter. Logs may go to two places and a file may have two readers.
"""

from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.pair import BE, MEASURES, Pair, count_the_same, is_distinctive, is_name
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
    if new.kind in MEASURES:  # "version 2 of the API" and "version 3 of the API" are two
        return not (new.in_subject and old.in_subject) or count_the_same(new, old)
    families = FAMILIES_OF.get(new.word, frozenset()) & FAMILIES_OF.get(old.word, frozenset())
    if families & tables.EXCLUSIVE.keys():
        return True
    return any(_is_the_one(token, statement) for token, statement in ((new, pair.new), (old, pair.old)))


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
_NOW = word_set(
    "now nowadays instead henceforth insteadof switched changed moved migrated replaced upgraded downgraded raised lowered renamed"
)
_ALL = word_set("all every everything always only default each whole")
_ARTICLES = word_set("the our this its my")
