"""Links between memories: found across sessions, and stronger where both ends are used together."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import recollect.model as m
from recollect.memory.maintenance.consolidate.act import LINKED, STRENGTHENED, Act
from recollect.memory.maintenance.consolidate.matter import Matter
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.maintenance.maintain import STRONGER
from recollect.memory.write.write import LINKED as NEAR_ENOUGH


def links(work: Work, position: str) -> Iterator[Act]:
    """Two memories of different sessions, each the nearest to the other that is, that nobody has linked."""
    matters = work.matters()
    for number, matter in enumerate(matters):
        last_matter, _, last_id = position.partition(" ")
        if matter.name >= last_matter:
            for one, other, cosine in _nearest_elsewhere(work, matter):
                first, second = matter.ids[one], matter.ids[other]
                if matter.name == last_matter and first < last_id:
                    continue
                if not work.linked(first, second):
                    yield Act(
                        LINKED,
                        (first, second),
                        f"{cosine:.2f} alike, from different sessions",
                        partial(_link, work, first, second, cosine),
                        f"{matter.name} {first}",
                    )
        work.advance((number + 1) / len(matters))


def _nearest_elsewhere(work: Work, matter: Matter) -> Iterator[tuple[int, int, float]]:
    """Rows, the lower first, each the other's nearest of another session."""
    import numpy as np

    rows, others, cosines = matter.nearest(work.pace.breathe)
    order = np.lexsort((others, -cosines, rows))
    gone = {row for row, name in enumerate(matter.ids) if name in work.gone}
    nearest: dict[int, tuple[int, float]] = {}
    for row, other, cosine in zip(
        rows[order].tolist(), others[order].tolist(), cosines[order].tolist(), strict=True
    ):
        session = matter.sessions[row]
        if row in nearest or row in gone or other in gone:
            continue
        if session is None or session != matter.sessions[other]:
            nearest[row] = other, cosine
    for row, (other, cosine) in nearest.items():
        if row < other and nearest.get(other, (-1,))[0] == row and cosine >= NEAR_ENOUGH:
            yield row, other, cosine


def _link(work: Work, first: str, second: str, cosine: float) -> bool:
    if work.linked(first, second) or work.both(first, second) is None:
        return False
    weight = round(min(cosine, 1.0), 4)
    work.store.put_link(
        m.Link(second, first, m.Relation.RELATES_TO, work.now, weight, "near, across sessions")
    )
    return True


def coaccess(work: Work, position: str) -> Iterator[Act]:
    """What was last used in the same moment, since the last run, holds together more than its link says."""
    for link in work.store.used_together(work.user_id, work.since):
        if _key(link) > position:
            ends = link.source, link.target
            yield Act(STRENGTHENED, ends, "used together", partial(_strengthen, work, link), _key(link))


def _key(link: m.Link) -> str:
    return f"{link.source} {link.target}"


def _strengthen(work: Work, link: m.Link) -> bool:
    now = [each for each in work.store.links(link.source) if _key(each) == _key(link)]
    same = [each for each in now if each.relation is link.relation and each.weight == link.weight]
    for each in same:
        work.store.put_link(replace(each, weight=round(min(each.weight + STRONGER, 1.0), 6)))
    return bool(same)
