"""What cannot both be true is brought to light, and settled only where writing it would have settled it."""

from collections.abc import Iterator
from functools import partial

import recollect.model as m
from recollect.llm.protocol import StatementRelation
from recollect.memory.maintenance.consolidate.act import CONTRADICTIONS, SUPERSEDED, Act
from recollect.memory.maintenance.consolidate.matter import Alike
from recollect.memory.maintenance.consolidate.wording import only_measures_differ
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.write import contradict
from recollect.memory.write.supersede import supersede


def contradictions(work: Work, position: str) -> Iterator[Act]:
    for matter, pair in work.alike(position):
        if work.gone & {pair.older, pair.newer} or (both := _unknown(work, pair)) is None:
            continue
        counts_as = SUPERSEDED if _settles(*both, pair) else CONTRADICTIONS
        if counts_as == SUPERSEDED:
            work.gone.add(both[0].id)
        yield Act(
            counts_as,
            (both[1].id, both[0].id),
            pair.verdict.reason,
            partial(_bring_up, work, pair, counts_as),
            f"{matter.name} {pair.older}",
        )


def _unknown(work: Work, pair: Alike) -> tuple[m.Memory, m.Memory] | None:
    """The older and the newer, if they contradict each other and nobody has noted it yet."""
    if pair.verdict.relation is not StatementRelation.CONTRADICTION:
        return None
    if work.linked(pair.older, pair.newer, m.Relation.CONTRADICTS):
        return None
    both = work.still(pair)
    # Where the rules only guess, they are wrong nine times in ten if the two speak of different things in other words.
    if both is None or pair.verdict.certain or only_measures_differ(*pair.texts) or _one_subject(pair):
        return both
    return None


def _one_subject(pair: Alike) -> bool:
    subjects = [contradict.subject(text) for text in pair.texts]
    return bool(subjects[0]) and subjects[0] == subjects[1]


def _settles(older: m.Memory, newer: m.Memory, pair: Alike) -> bool:
    """Whether the newer may take the place of the older unasked: as on writing, but only for another number or amount, and
    never of what a user said. On writing someone is there to be told.
    """
    return (
        pair.verdict.certain
        and _one_subject(pair)
        and only_measures_differ(*pair.texts)
        and older.created_at < newer.created_at
        and older.trust <= newer.trust
        and older.trust < m.TRUST[m.Source.USER_STATED]
        and not older.pinned
    )


def _bring_up(work: Work, pair: Alike, counts_as: str) -> bool:
    both = _unknown(work, pair)
    if both is None:
        return False
    older, newer = both
    reason = pair.verdict.reason
    if counts_as == SUPERSEDED and _settles(older, newer, pair):
        supersede(work.store, older, newer, reason, work.actor, work.now)
        return True
    kind = "contradictory" if pair.verdict.certain else "ambiguous"
    work.store.log("update", work.actor, work.now, newer.id, {"link": m.Relation.CONTRADICTS, "to": older.id})
    link = m.Link(newer.id, older.id, m.Relation.CONTRADICTS, work.now, 1.0, reason, kind)
    work.store.put_link(link)
    work.ask("contradiction", reason, newer, older)
    return True
