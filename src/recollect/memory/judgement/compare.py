"""Compare two statements by their words, values and the cosine of their vectors.

Vectors cannot tell "always" from "never", so the rules look for disagreement first; only statements that do not disagree
may merge. The rules are tried in the order of `_RULES`, and the first that returns a comparison decides.
"""

from collections.abc import Callable
from dataclasses import replace

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement import agreement, disagreement
from recollect.memory.judgement.comparison import ALIKE, NEAR, Comparison
from recollect.memory.judgement.frame import is_same_matter
from recollect.memory.judgement.pair import Pair, pair_up
from recollect.memory.judgement.statement import Token, TokenKind, parse, word_set


def compare(new: str, old: str, cosine: float | None) -> Comparison:
    """Return how `new` relates to `old`, both as people wrote them. `cosine` is None without vectors."""
    if new.lower().split() == old.lower().split():
        return Comparison(StatementRelation.DUPLICATE, "the same text", certain=True)
    pair = pair_up(parse(new), parse(old), cosine)
    for rule in _RULES:
        if comparison := rule(pair):
            name = comparison.rule or rule.__name__.strip("_").replace("_", " ")
            checked = _checked(replace(comparison, rule=name), pair)
            return _with_doubt(checked) if _differ_in_names(pair) else checked
    raise AssertionError("the last rule always decides")


def _with_doubt(comparison: Comparison) -> Comparison:
    """Return the comparison of two statements whose names only look alike: nothing is merged or superseded without asking."""
    if comparison.relation in _SAME_OR_LIKELY:
        reason = f"a name spelt otherwise: {comparison.reason}"
        return Comparison(StatementRelation.MERGEABLE, reason, certain=False, rule=comparison.rule)
    return replace(comparison, certain=False)


def _differ_in_names(pair: Pair) -> bool:
    """Return whether a name is spelt in two ways: `payment` and `payments` are two services, "user" and "users" perhaps two tables."""
    return any(
        (other := pair.old.tokens.get(word)) is not None
        and token.surface.lower() != other.surface.lower()
        and _is_name(token)
        and _is_name(other)
        for word, token in pair.new.tokens.items()
    )


def _is_name(token: Token) -> bool:
    return token.kind is TokenKind.CODE or token.before in _NAMED or token.after in _NAMED_BEFORE


def _checked(comparison: Comparison, pair: Pair) -> Comparison:
    """Return the comparison after what holds for every rule: events contradict nothing, nor do two matters."""
    if comparison.relation is StatementRelation.CONTRADICTION:
        if comparison.rule not in _ABOUT_A_TOOL and not is_same_matter(pair):
            return _no_contradiction(comparison, "another matter", "same matter")
        if pair.new.is_event or pair.old.is_event:
            return _no_contradiction(comparison, "what was done contradicts nothing")
        if pair.new.may_be_event or pair.old.may_be_event:
            if pair.left or not pair.opposed:
                return _no_contradiction(comparison, "perhaps what was done")
            return replace(comparison, certain=False)
    if comparison.relation in _SAME_OR_LIKELY and agreement.perhaps_done(pair):
        # Two commits may fix "a typo" and "typos"; only the same words are the same report.
        return _no_contradiction(comparison, "two reports")
    return comparison


# "the queue invoices", "the invoices table": what such a word stands beside is its name.
_NAMED = word_set(
    "bucket branch collection column command host library module package queue repo table topic"
)
_NAMED_BEFORE = word_set("bucket collection column queue table topic")
_SAME_OR_LIKELY = (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)


_ABOUT_A_TOOL = ("banned tool",)  # whatever else is said: "no poetry" concerns each statement that uses it


def _no_contradiction(comparison: Comparison, why: str, rule: str = "event") -> Comparison:
    reason = f"{why}: {comparison.reason}"
    return Comparison(StatementRelation.RELATED, reason, certain=True, rule=rule)


def content_words(text: str) -> frozenset[str]:
    """Return the stemmed words that carry meaning, by which similar statements are found."""
    return frozenset(parse(text).tokens)


def subject_words(text: str) -> frozenset[str]:
    """Return the stemmed words of the subject (before the verb or value); empty if it is unclear."""
    return parse(text).subject


def names_of_code(text: str) -> frozenset[str]:
    """Return the paths, identifiers and commands that `text` names."""
    named = (TokenKind.PATH, TokenKind.CODE)
    return frozenset(word for word, token in parse(text).tokens.items() if token.kind in named)


def _otherwise(pair: Pair) -> Comparison | None:
    if pair.near >= NEAR or pair.shared:
        return Comparison(StatementRelation.RELATED, "near, nothing more", certain=pair.near < ALIKE)
    return Comparison(StatementRelation.UNRELATED, "nothing in common", certain=True)


_RULES: list[Callable[[Pair], Comparison | None]] = [
    disagreement.question,
    disagreement.other_order,
    agreement.same_words,
    disagreement.exception,
    disagreement.other_scope,
    disagreement.not_only,
    disagreement.ended,
    disagreement.moved,
    disagreement.banned_tool,
    disagreement.other_thing,
    disagreement.polarity,
    disagreement.other_value,
    agreement.same_meaning,
    disagreement.substituted,
    disagreement.revised,
    disagreement.denied,
    agreement.unexplained_word,
    agreement.similar,
    _otherwise,
]
