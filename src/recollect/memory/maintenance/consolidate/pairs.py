"""Operations on pairs of similar memories: merge duplicates, find contradictions.

What is not certain becomes a question for review. The thresholds on similarity are cosines, as in `judgement.compare`.
"""

from collections.abc import Iterator
from functools import partial

import recollect.model as m
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import subject_words
from recollect.memory.judgement.comparison import ALIKE
from recollect.memory.judgement.reading import READ_AS_SAME
from recollect.memory.judgement.statement import Statement, TokenKind, parse
from recollect.memory.maintenance.compact import is_stated
from recollect.memory.maintenance.consolidate.context import (
    CONTRADICTIONS,
    MERGED,
    PROPOSED,
    SUPERSEDED,
    Action,
    OperationContext,
)
from recollect.memory.maintenance.consolidate.groups import SimilarPair
from recollect.memory.maintenance.merge import merge
from recollect.memory.write.precedence import supersede, wins_unattended
from recollect.memory.write.reinforce import survivor_of
from recollect.memory.write.writer import PROBABLY_SAME

SURE = 0.95  # cosine from which two memories are merged without asking, if all else agrees too
_READ = "read "  # how the position of a pair begins that was read as the same; no group's name does
_PREFIX = 4  # letters that two words must share to count as forms of one
_MEASURES = (TokenKind.NUMBER, TokenKind.DURATION, TokenKind.SIZE)


def merge_duplicates(context: OperationContext, position: str) -> Iterator[Action]:
    """Merge memories that say the same; propose a merge where they probably do."""
    if not position.startswith(_READ):
        yield from _merge_similar(context, position)
    yield from _merge_read(context, position)


def _merge_similar(context: OperationContext, position: str) -> Iterator[Action]:
    for group, pair in context.similar_pairs(position):
        if context.superseded & {pair.older, pair.newer} or (plan := _to_merge(context, pair)) is None:
            continue
        survivor, other, sure = plan
        why = pair.verdict.explanation
        if pair.cosine is not None:
            why = f"{pair.cosine:.2f} alike, {why}"
        if sure:
            context.superseded.add(other.id)
        do = partial(_merge, context, pair) if sure else partial(_propose, context, pair, why)
        yield Action(
            MERGED if sure else PROPOSED, (survivor.id, other.id), why, do, f"{group.name} {pair.older}"
        )


def _merge_read(context: OperationContext, position: str) -> Iterator[Action]:
    """Merge memories that the pair reader surely read as the same when one of them was written."""
    links = [link for link in context.store.iter_links(context.everything) if link.reason == READ_AS_SAME]
    for link in sorted(links, key=lambda link: (link.source, link.target)):
        context.throttle.yield_to_foreground()
        key = f"{_READ}{link.source} {link.target}"
        if (position.startswith(_READ) and key <= position) or context.superseded & {
            link.source,
            link.target,
        }:
            continue
        if (plan := _read_to_merge(context, link)) is None:
            continue
        survivor, other = plan
        context.superseded.add(other.id)
        yield Action(
            MERGED, (survivor.id, other.id), READ_AS_SAME, partial(_merge_linked, context, link), key
        )


def _read_to_merge(context: OperationContext, link: m.Link) -> tuple[m.Memory, m.Memory] | None:
    """Return which memory stays and which goes; None if one was changed since, or its user must be asked."""
    both = context.both(link.source, link.target)
    if both is None or any(memory.updated_at > link.created_at for memory in both):
        return None
    if not all(map(context.owns, both)) or context.linked(
        link.source, link.target, m.Relation.CONTRADICTS, m.Relation.DERIVED_FROM
    ):
        return None
    survivor, other = survivor_of(*both)
    return (survivor, other) if may_go(survivor, other) else None


def _merge_linked(context: OperationContext, link: m.Link) -> bool:
    plan = _read_to_merge(context, link)
    if plan is None:
        return False
    merge(context.store, *plan, context.embedder.model, context.actor, context.now)
    return True


def _to_merge(context: OperationContext, pair: SimilarPair) -> tuple[m.Memory, m.Memory, bool] | None:
    """Return which memory stays, which goes, and whether it may go without asking; None if both stay."""
    same = pair.verdict.relation is StatementRelation.DUPLICATE
    probably = pair.verdict.relation is StatementRelation.MERGEABLE and (
        pair.verdict.certain or (pair.cosine or 0.0) >= ALIKE
    )
    if not (same or probably):
        return None
    both = context.unchanged(pair)
    if both is None or context.linked(
        pair.older, pair.newer, m.Relation.CONTRADICTS, m.Relation.DERIVED_FROM
    ):
        return None
    survivor, other = survivor_of(*both)
    agreed = pair.verdict.certain and (not same or pair.verdict.rule == "same meaning")
    if not agreed and (pair.cosine or 0.0) < SURE and _each_says_more(survivor.content, other.content):
        return None
    in_order = (pair.cosine or 0.0) >= SURE and _says_the_same(survivor.content, other.content)
    sure = survivor.fingerprint == other.fingerprint or (same and in_order) or agreed
    return survivor, other, sure and may_go(survivor, other)


def may_go(survivor: m.Memory, other: m.Memory) -> bool:
    """Return whether `other` may be merged into `survivor` without asking its user."""
    loses_user_statement = (other.pinned or is_stated(other)) and not (survivor.pinned or is_stated(survivor))
    loses_steps = other.procedure is not None and survivor.procedure not in (None, other.procedure)
    shown_to_more = other.visibility is m.Visibility.PRIVATE and survivor.visibility is not other.visibility
    return not (loses_user_statement or loses_steps or shown_to_more)


def _merge(context: OperationContext, pair: SimilarPair) -> bool:
    plan = _to_merge(context, pair)
    if plan is None or not plan[2]:
        return False
    survivor, other, _ = plan
    merge(context.store, survivor, other, context.embedder.model, context.actor, context.now)
    return True


def _propose(context: OperationContext, pair: SimilarPair, why: str) -> bool:
    plan = _to_merge(context, pair)
    return plan is not None and context.ask("merge", why, plan[0], plan[1])


def find_contradictions(context: OperationContext, position: str) -> Iterator[Action]:
    """Record contradictions nobody has noted; settle one only where writing the newer memory would have."""
    for group, pair in context.similar_pairs(position):
        if context.superseded & {pair.older, pair.newer} or (both := _unrecorded(context, pair)) is None:
            continue
        counts_as = SUPERSEDED if _settles(*both, pair) else CONTRADICTIONS
        if counts_as == SUPERSEDED:
            context.superseded.add(both[0].id)
        yield Action(
            counts_as,
            (both[1].id, both[0].id),
            pair.verdict.explanation,
            partial(_record, context, pair, counts_as),
            f"{group.name} {pair.older}",
        )


def _unrecorded(context: OperationContext, pair: SimilarPair) -> tuple[m.Memory, m.Memory] | None:
    """Return the older and the newer if they contradict each other and no link says so yet."""
    if pair.verdict.relation is not StatementRelation.CONTRADICTION:
        return None
    if context.linked(pair.older, pair.newer, m.Relation.CONTRADICTS) or _read_as_same(context, pair):
        return None
    both = context.unchanged(pair)
    # Where the rules only guess, they are wrong nine times in ten if the two are about different things in other words.
    if both is None or pair.verdict.certain or _only_measures_differ(*pair.texts) or _same_subject(pair):
        return both
    return None


def _read_as_same(context: OperationContext, pair: SimilarPair) -> bool:
    """Return whether a model has read as the same what the rules suspect to be a contradiction."""
    return not pair.verdict.certain and any(
        {link.source, link.target} == {pair.older, pair.newer}
        and link.reason in (PROBABLY_SAME, READ_AS_SAME)
        for link in context.store.links(pair.older)
    )


def _same_subject(pair: SimilarPair) -> bool:
    older, newer = (subject_words(text) for text in pair.texts)
    return bool(older) and older == newer


def _settles(older: m.Memory, newer: m.Memory, pair: SimilarPair) -> bool:
    """Return whether the newer may supersede the older without asking.

    Only another number or amount is settled like this, and by a stricter rule than on writing, where somebody sees the
    notice.
    """
    return (
        pair.verdict.certain
        and _same_subject(pair)
        and _only_measures_differ(*pair.texts)
        and wins_unattended(newer, older)
    )


def _record(context: OperationContext, pair: SimilarPair, counts_as: str) -> bool:
    both = _unrecorded(context, pair)
    if both is None:
        return False
    older, newer = both
    reason = pair.verdict.explanation
    if counts_as == SUPERSEDED and _settles(older, newer, pair):
        supersede(context.store, older, newer, reason, context.actor, context.now)
        return True
    verdict = "contradictory" if pair.verdict.certain else "ambiguous"
    detail = {"link": m.Relation.CONTRADICTS, "to": older.id}
    context.store.log("update", context.actor, context.now, newer.id, detail)
    link = m.Link(newer.id, older.id, m.Relation.CONTRADICTS, context.now, 1.0, reason, verdict)
    context.store.put_link(link)
    context.ask("contradiction", reason, newer, older)
    return True


def _says_the_same(one: str, other: str) -> bool:
    """Return whether both have the same content words in the same order.

    "The api calls the ledger" has all the words of "the ledger calls the api", in another order.
    """
    return _in_order(parse(one)) == _in_order(parse(other))


def _in_order(statement: Statement) -> list[str]:
    return [word for word in statement.tokens if word in statement.content]


def _each_says_more(one: str, other: str) -> bool:
    """Return whether each has a word that no word of the other begins like: then they are most likely about two things.

    Of the duplicates in the bench one in 100 does, of what only looks like one 98 in 100 (docs/consolidation.md).
    """
    a, b = parse(one).content, parse(other).content
    return _has_more(a, b) and _has_more(b, a)


def _only_measures_differ(one: str, other: str) -> bool:
    """Return whether the two have the same words apart from numbers, times and sizes."""
    a, b = _without_measures(parse(one)), _without_measures(parse(other))
    return not _has_more(a, b) and not _has_more(b, a)


def _without_measures(statement: Statement) -> frozenset[str]:
    return frozenset(word for word in statement.content if statement.tokens[word].kind not in _MEASURES)


def _has_more(words: frozenset[str], others: frozenset[str]) -> bool:
    prefixes = {word[:_PREFIX] for word in others}
    return any(word[:_PREFIX] not in prefixes for word in words - others)
