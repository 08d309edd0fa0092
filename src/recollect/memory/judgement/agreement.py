"""Rules by which two statements say the same.

Other words are the same statement only if nothing is left that could make them two: values, names, polarity, conditions and the order
of things agree, and every other word that only one of them has means what a word of the other means (`same_meaning`), or adds nothing
(`fillers`). Vectors support that and never decide it.
"""

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.certainty import has_other_condition
from recollect.memory.judgement.comparison import AGREED, ALIKE, HOLLOW, SAME, Comparison
from recollect.memory.judgement.meaning import (
    ANY_LIMIT,
    LIMITS,
    is_hollow,
    is_only_verb,
    is_plain,
    unexplained,
)
from recollect.memory.judgement.pair import BE, GENERIC, MEASURES, NARROWING, VALUE_KINDS, Pair, is_name
from recollect.memory.judgement.statement import (
    VERBS,
    Statement,
    Token,
    TokenKind,
    canonical_set,
)
from recollect.memory.judgement.tools import FAMILIES_OF, PREDICATES


def same_words(pair: Pair) -> Comparison | None:
    same = pair.new.content == pair.old.content and pair.new.rejected == pair.old.rejected
    if not same or not pair.new.content or pair.is_reversed:
        return None
    if pair.new.permits != pair.old.permits:
        return Comparison(StatementRelation.MERGEABLE, "the same words, but 'may' on one side", certain=False)
    if _measures(pair.new) != _measures(pair.old) or _are_swapped(pair):
        return Comparison(StatementRelation.MERGEABLE, "the same words in other places", certain=False)
    if _act_otherwise(pair):
        return Comparison(StatementRelation.MERGEABLE, "the same words, but another act", certain=False)
    if not pair.opposed and _negations(pair.new) != _negations(pair.old):
        return Comparison(StatementRelation.MERGEABLE, "the same words, but 'not' on one side", certain=False)
    if has_other_condition(pair):
        return Comparison(
            StatementRelation.RELATED, "the same words, but a condition on one side", certain=False
        )
    if len(pair.new.content) == 1 and pair.cosine is not None and pair.near < ALIKE:
        return Comparison(StatementRelation.MERGEABLE, "the same word, and no other", certain=False)
    return Comparison(StatementRelation.DUPLICATE, "the same words", certain=True)


def _act_otherwise(pair: Pair) -> bool:
    """Return whether each says what is done by a light word of its own: "may see invoices", "may change invoices"."""
    new, old = (
        frozenset(token.word for token in light) & _ACTS for light in (pair.light_new, pair.light_old)
    )
    return bool(new and old)


def same_meaning(pair: Pair) -> Comparison | None:
    if not agrees(pair):
        return None
    relation = StatementRelation.DUPLICATE if pair.near >= SAME else StatementRelation.MERGEABLE
    return Comparison(relation, f"values, subject and polarity agree, cosine {pair.near:.2f}", certain=True)


def agrees(pair: Pair) -> bool:
    """Return whether two statements that look alike agree in everything that could make them two."""
    new, old = pair.new, pair.old
    if (
        pair.is_reversed
        or pair.values
        or pair.near < AGREED
        or not (pair.topic or pair.opposed)
        or perhaps_done(pair)
    ):
        return False
    if new.is_question or old.is_question or (pair.opposed and not _is_double_negation(pair)):
        return False
    same_sort = (new.permits, new.has_exception) == (old.permits, old.has_exception)
    same_sort &= all(new.scopes.get(scope) == old.scopes.get(scope) for scope in NARROWING)
    if (
        not same_sort
        or _are_swapped(pair)
        or pair.is_turned
        or has_other_condition(pair)
        or _limits(new) != _limits(old)
    ):
        return False
    if _measures(new) != _measures(old) or _exact_values(new) != _exact_values(old):
        return False
    if not pair.opposed and _is_negative(new) != _is_negative(old):
        return False
    # The limits are the same, however they are said.
    left_new, left_old = ([word for word in left if word.word not in ANY_LIMIT] for left in unexplained(pair))
    if pair.near >= HOLLOW and (len(pair.topic) > 1 or _exact_values(new)) and not (left_new and left_old):
        left_new, left_old = (
            [token for token in left if not _is_general(token)] for left in (left_new, left_old)
        )
    if not left_new and not left_old:
        return True
    if left_new and left_old:
        return False
    left = left_new or left_old
    if pair.near >= HOLLOW and all(is_hollow(token, pair) for token in left):
        return True
    lights = pair.light_old if left_new else pair.light_new
    return pair.near >= ALIKE and all(is_only_verb(token, lights) or is_hollow(token, pair) for token in left)


def may_say_the_same(pair: Pair) -> bool:
    """Return whether two statements agree in what words alone can tell: values, scopes, conditions and directions.

    One may name what the other describes, but not each another thing. Whether they say the same in other words is for a model to judge.
    """
    new, old = pair.new, pair.old
    if pair.values or pair.is_turned or _are_swapped(pair) or has_other_condition(pair):
        return False
    if (new.permits, new.has_exception) != (old.permits, old.has_exception):
        return False
    if any(new.scopes.get(scope) != old.scopes.get(scope) for scope in NARROWING):
        return False
    return not (_names_without(new, old, pair) and _names_without(old, new, pair))


def _names_without(one: Statement, other: Statement, pair: Pair) -> bool:
    """Return whether one of them has a value or a name that the other does not have: it may describe it."""
    return any(
        token.word not in other.tokens
        and token.word not in pair.spelt
        and token.surface.lower() not in other.lowers
        and (token.kind in VALUE_KINDS or (_may_be_name(token) and token.word not in PREDICATES))
        for token in one.tokens.values()
    )


def _may_be_name(token: Token) -> bool:
    """Return whether it is a name, or a capital at the beginning may be one: "Priya wants short answers"."""
    return is_name(token) or (token.before == "" and token.in_subject and token.surface[:1].isupper())


def _is_general(token: Token) -> bool:
    """Return whether the word fits nearly everything: it tells no two statements apart that name the same things."""
    return token.kind is TokenKind.WORD and (is_plain(token) or token.word in GENERIC)


def _is_double_negation(pair: Pair) -> bool:
    """Return whether one denies the opposite of what the other affirms: "inactive", "without activity"."""
    return len(pair.opposed) == 1 and pair.negated and _negations(pair.new) + _negations(pair.old) == 1


def _is_negative(statement: Statement) -> bool:
    """Return whether it denies something: "never … without …" denies nothing."""
    return bool(statement.rejected) or any(clause.negations % 2 for clause in statement.clauses)


def _limits(statement: Statement) -> frozenset[str]:
    """Return in which directions the statement sets a limit."""
    return frozenset(
        side
        for side, words in LIMITS.items()
        for word in words & statement.tokens.keys()
        if word in _ALWAYS_LIMITS or _is_amount(statement.tokens[word].after)
    )


def _is_amount(word: str) -> bool:
    return word[:1].isdecimal() or word in tables.SECONDS or word in tables.BYTES


def have_other_scopes(pair: Pair) -> bool:
    """Return whether each is about another environment, language, platform or kind of test."""
    new, old = pair.new.scopes, pair.old.scopes
    return any(new[name] != old[name] for name in new.keys() & old.keys())


def perhaps_done(pair: Pair) -> bool:
    return any(side.is_event or side.may_be_event for side in (pair.new, pair.old))


def unexplained_word(pair: Pair) -> Comparison | None:
    """One word more, or one for another, in an otherwise equal frame: it may be what matters."""
    if not pair.left or max(len(pair.left_new), len(pair.left_old)) > 1 or not pair.shared:
        return None
    reason = " / ".join(repr(token.surface) for token in (*pair.left_old, *pair.left_new)) + " unexplained"
    two_subjects = pair.is_substitution and all(token.in_subject for token in pair.left)
    two_subjects |= pair.are_two_things and any(token.kind in VALUE_KINDS for token in pair.left)
    same_value = any(pair.new.tokens[word].kind in VALUE_KINDS for word in pair.shared)
    merge = not two_subjects and (pair.near >= ALIKE or (same_value and pair.near >= 0.6))
    return Comparison(
        StatementRelation.MERGEABLE if merge else StatementRelation.RELATED, reason, certain=False
    )


def similar(pair: Pair) -> Comparison | None:
    if pair.is_reversed:
        return None
    if pair.near >= ALIKE:
        return Comparison(StatementRelation.MERGEABLE, f"cosine {pair.near:.2f}", certain=False)
    overlap = len(pair.shared) / max(1, min(len(pair.new.content), len(pair.old.content)))
    if not pair.left and pair.shared:
        return Comparison(StatementRelation.MERGEABLE, "about the same words", certain=False)
    if overlap >= 0.6 and len(pair.shared) >= 2 and pair.near >= 0.6:
        return Comparison(
            StatementRelation.MERGEABLE, f"most words shared, cosine {pair.near:.2f}", certain=False
        )
    return None


def _negations(statement: Statement) -> int:
    return sum(clause.negations for clause in statement.clauses)


def _exact_values(statement: Statement) -> frozenset[str]:
    """Return the measures and the names of tools."""
    return frozenset(
        word
        for word, token in statement.tokens.items()
        if token.kind in MEASURES or (word in FAMILIES_OF and word not in PREDICATES)
    )


def _measures(statement: Statement) -> list[str]:
    return [word for word, token in statement.tokens.items() if token.kind in MEASURES]


def _are_swapped(pair: Pair) -> bool:
    """Return whether subject and object are swapped: "A depends on B" and "B depends on A".

    "B is owned by A" and "A owns B" are not.
    """
    subjects = pair.new.subject, pair.old.subject
    if pair.new.rejected and pair.new.rejected == pair.old.rejected:  # both say what gave way
        return False
    if not all(subjects) or subjects[0] & subjects[1]:
        return False
    return any(
        not (new.in_subject or old.in_subject or new.before in BE or old.before in BE)
        for new, old in ((pair.new.tokens[verb], pair.old.tokens[verb]) for verb in VERBS & pair.shared)
    )


_ALWAYS_LIMITS = canonical_set(
    "maximum minimum fit largest biggest longest highest smallest shortest lowest fewest".split()
)
# Light words that say what is done; the others only say where or that something is.
_ACTS = canonical_set(
    "start move migrate switch change see call find get give take save put make allow look".split()
)
