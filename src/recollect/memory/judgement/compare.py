"""Compare two statements by their words, values and the cosine of their vectors.

Vectors cannot tell "always" from "never", so the rules look for disagreement first; only statements that do not disagree
may merge. The rules are tried in the order of `_RULES`, and the first that returns a comparison decides.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement import agreement, disagreement
from recollect.memory.judgement.comparison import ALIKE, NEAR, Comparison
from recollect.memory.judgement.frame import is_same_matter
from recollect.memory.judgement.pair import MEASURES, Pair, pair_up
from recollect.memory.judgement.statement import Token, TokenKind, canonical, parse, word_set


def compare(new: str, old: str, cosine: float | None) -> Comparison:
    """Return how `new` relates to `old`, both as people wrote them. `cosine` is None without vectors."""
    if new.lower().split() == old.lower().split():
        return Comparison(StatementRelation.DUPLICATE, "the same text", certain=True)
    pair = pair_up(parse(new), parse(old), cosine)
    for rule in _RULES:
        if comparison := rule(pair):
            name = comparison.rule or rule.__name__.strip("_").replace("_", " ")
            checked = _checked(replace(comparison, rule=name), pair)
            checked = _of_one_thing(checked, pair, new, old)
            doubt = _doubt(new, old, pair)
            return _with_doubt(checked, doubt) if doubt else checked
    raise AssertionError("the last rule always decides")


def _of_one_thing(comparison: Comparison, pair: Pair, new: str, old: str) -> Comparison:
    """Return the comparison unless the two name things that differ in a part: "hub-api has 2 pods", "hub-core has 4 pods"."""
    decided = comparison.relation is StatementRelation.CONTRADICTION or comparison.relation in _SAME_OR_LIKELY
    names = _names_of_two(new, old) if decided else None
    if names is None:
        return comparison
    differing = {token.surface.lower() for words in (*pair.values, *pair.opposed) for token in words}
    parts = {part for name in names for part in (name, *_PARTS.split(name))}
    if not differing.isdisjoint(parts):  # "in us-east-1", "in eu-east-1": the names are what differs
        return comparison
    reason = f"another thing: {names[1]} / {names[0]}"
    return Comparison(StatementRelation.RELATED, reason, certain=True, rule="other thing")


def _names_of_two(new: str, old: str) -> tuple[str, str] | None:
    """Return names with hyphens or underscores that only one of the statements has, and that differ in one part."""
    new_names, old_names = (
        {name for name in map(str.lower, _COMPOUND.findall(text)) if not _ADJECTIVE.search(name)}
        for text in (new, old)
    )
    for name in sorted(new_names - old_names):
        for other in sorted(old_names - new_names):
            parts, others = _PARTS.split(name), _PARTS.split(other)
            differing = [
                (part, rest)
                for part, rest in zip(parts, others, strict=False)
                if canonical(part) != canonical(rest)
            ]
            numbers = any(part[0].isdecimal() for pair in differing for part in pair)
            if len(parts) == len(others) and len(differing) == 1 and not numbers:
                return name, other
    return None


def is_open(comparison: Comparison, new: str, old: str) -> bool:
    """Return whether the rules have found neither a contradiction nor what rules one out: a model may know more."""
    if comparison.relation in (StatementRelation.RELATED, StatementRelation.UNRELATED):
        if comparison.rule in _RULES_OUT:
            return False
    elif comparison.relation is not StatementRelation.MERGEABLE or comparison.certain:
        return False
    pair = pair_up(parse(new), parse(old), None)
    return not (
        agreement.perhaps_done(pair)
        or pair.new.is_question
        or pair.old.is_question
        or agreement.have_other_scopes(pair)
        or None not in (pair.new.order, pair.old.order)
        or _names_of_two(new, old)
    )


def is_about_another(comparison: Comparison, new: str, old: str) -> bool:
    """Return whether the statements differ in an amount, or only have a frame in common: "billing publishes …", "tax publishes …"."""
    if comparison.rule == "unexplained word" and comparison.relation is StatementRelation.RELATED:
        return True
    amounts = (
        {word for word, token in parse(text).tokens.items() if token.kind in MEASURES} for text in (new, old)
    )
    return len(set(map(frozenset, amounts))) > 1


def may_say_the_same(new: str, old: str) -> bool:
    """Return whether no value, name, scope or condition tells two statements apart: see `agreement.may_say_the_same`."""
    pair = pair_up(parse(new), parse(old), None)
    return agreement.may_say_the_same(pair) and not _doubt(new, old, pair)


def differing_words(new: str, old: str) -> str:
    """Return the first words that only one of them has, the older statement's before those of the newer: for an explanation."""
    pair = pair_up(parse(new), parse(old), None)
    sides = (" ".join(token.surface for token in left[:_QUOTED]) for left in (pair.left_old, pair.left_new))
    return " → ".join(f"'{words}'" for words in sides if words)


def _doubt(new: str, old: str, pair: Pair) -> str:
    """Return why two statements with the same words may be two; an empty text if nothing tells."""
    if _differ_in_names(pair):
        return "a name spelt otherwise"
    if _symbols(new) != _symbols(old):
        return "another picture"
    return "the other way round" if _change_places(new, old) else ""


def _with_doubt(comparison: Comparison, doubt: str) -> Comparison:
    """Return the comparison of two statements that only look alike: nothing is merged or superseded without asking."""
    if comparison.relation in _SAME_OR_LIKELY:
        reason = f"{doubt}: {comparison.reason}"
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


def _change_places(new: str, old: str) -> bool:
    """Return whether what one does to the other is done the other way round: "the API calls the ledger", "the ledger calls the API"."""
    acts = set(_acts(new))
    return any((after, act, before) in acts and before != after for before, act, after in _acts(old))


def _acts(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each word that may say what is done, between the words right before and after it; articles are left out."""
    words = [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _ARTICLES]
    stems = [canonical(word) for word in words]
    return (
        (stems[at - 1], stems[at], stems[at + 1])
        for at in range(1, len(words) - 1)
        if words[at] not in _NO_ACTS
    )


def _symbols(text: str) -> set[str]:
    """Return the pictures in a text, which are no words: "use 🔴 for errors"."""
    return {character for character in text if character > "⌀" and unicodedata.category(character) == "So"}


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
        if disagreement.are_two_orders(pair, comparison.rule):
            return _no_contradiction(comparison, "two things to do")
    if comparison.relation in _SAME_OR_LIKELY and agreement.perhaps_done(pair):
        # Two commits may fix "a typo" and "typos"; only the same words are the same report.
        return _no_contradiction(comparison, "two reports")
    return comparison


# "the queue invoices", "the invoices table": what such a word stands beside is its name.
_NAMED = word_set(
    "bucket branch collection column command host library module package queue repo table topic"
)
_NAMED_BEFORE = word_set("bucket collection column queue table topic")
_COMPOUND = re.compile(
    r"(?<![\w/.-])[A-Za-z]\w*(?:-\w+)+(?![\w/.-]*[/.]\w)|(?<![\w/.-])[A-Za-z][a-z]*(?:_[a-z]+)+(?![\w/-])"
)
_PARTS = re.compile("[-_]")
# "Single-threaded" and "multi-threaded" are no names.
_ADJECTIVE = re.compile(
    r"^(?:single|multi|pre|post|self|non|no|read|write|auto|sub|re|un|opt|full|half|short|long|high|low|open|one|two|all|in|on|off)-"
    r"|-(?:only|side|based|wide|time|first|last|case|safe|free|level|specific|in|out|up|off|on|\w+ed|\w+ing|\w+able)$"
)
_ARTICLES = frozenset("the a an our your my its their this that these those all each every any some".split())
# These connect two words and say of neither that it does something to the other.
_NO_ACTS = frozenset(
    "is are was were be been and or by of with in on at to for from as not but than then".split()
)
_SAME_OR_LIKELY = (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)


# Rules that see why two statements hold beside each other.
_RULES_OUT = ("question", "event", "exception", "other scope", "other thing", "not only")
_QUOTED = 3  # words of a statement

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
