"""What says the same becomes one; what probably does is put to a person."""

from collections.abc import Iterator
from functools import partial

import recollect.model as m
from recollect.llm.protocol import StatementRelation
from recollect.memory.maintenance import merge as merging
from recollect.memory.maintenance.consolidate.act import MERGED, PROPOSED, Act
from recollect.memory.maintenance.consolidate.matter import Alike
from recollect.memory.maintenance.consolidate.wording import each_says_more, says_the_same
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.write.contradict import ALIKE

SURE = 0.95  # cosine from which nobody needs to be asked, if all else agrees too


def merge(work: Work, position: str) -> Iterator[Act]:
    for matter, pair in work.alike(position):
        if work.gone & {pair.older, pair.newer} or (found := _to_merge(work, pair)) is None:
            continue
        survivor, other, sure = found
        why = pair.verdict.reason
        if pair.cosine is not None:
            why = f"{pair.cosine:.2f} alike, {why}"
        if sure:
            work.gone.add(other.id)
        do = partial(_merge, work, pair) if sure else partial(_propose, work, pair, why)
        here = f"{matter.name} {pair.older}"
        yield Act(MERGED if sure else PROPOSED, (survivor.id, other.id), why, do, here)


def _to_merge(work: Work, pair: Alike) -> tuple[m.Memory, m.Memory, bool] | None:
    """Which stays, which goes, and whether it may without asking; None where they are two."""
    same = pair.verdict.relation is StatementRelation.DUPLICATE
    probably = pair.verdict.relation is StatementRelation.MERGEABLE and (pair.cosine or 0.0) >= ALIKE
    if not (same or probably):
        return None
    both = work.still(pair)
    if both is None or work.linked(pair.older, pair.newer, m.Relation.CONTRADICTS, m.Relation.DERIVED_FROM):
        return None
    survivor, other = merging.survivor_of(*both)
    if (pair.cosine or 0.0) < SURE and each_says_more(survivor.content, other.content):
        return None
    sure = survivor.fingerprint == other.fingerprint or (
        same and (pair.cosine or 0.0) >= SURE and says_the_same(survivor.content, other.content)
    )
    return survivor, other, sure and may_go(survivor, other)


def may_go(survivor: m.Memory, other: m.Memory) -> bool:
    """Whether `other` may go into `survivor` without its user being asked."""
    theirs = _is_users(other) and not _is_users(survivor)
    steps_lost = other.procedure is not None and survivor.procedure not in (None, other.procedure)
    shown_to_more = other.visibility is m.Visibility.PRIVATE and survivor.visibility is not other.visibility
    return not (theirs or steps_lost or shown_to_more)


def _is_users(memory: m.Memory) -> bool:
    stated = {m.Source.USER_STATED, m.Source.USER_CORRECTED}
    return memory.pinned or any(each.source in stated for each in memory.provenance)


def _merge(work: Work, pair: Alike) -> bool:
    found = _to_merge(work, pair)
    if found is None or not found[2]:
        return False
    survivor, other, _ = found
    merging.merge(work.store, survivor, other, work.embedder.model, work.actor, work.now)
    return True


def _propose(work: Work, pair: Alike, why: str) -> bool:
    found = _to_merge(work, pair)
    return found is not None and work.ask("merge", why, found[0], found[1])
