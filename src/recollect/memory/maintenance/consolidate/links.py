"""Operations on links: connect similar memories of different sessions, strengthen links between memories used together."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import recollect.model as m
from recollect.memory.maintenance.consolidate.context import LINKED, STRENGTHENED, Action, OperationContext
from recollect.memory.maintenance.consolidate.groups import MemoryGroup
from recollect.memory.maintenance.feedback import STRONGER
from recollect.memory.write.writer import LINKED as NEAR_ENOUGH


def link_across_sessions(context: OperationContext, position: str) -> Iterator[Action]:
    """Link two unlinked memories of different sessions if each is the other's nearest outside its session."""
    groups = context.groups()
    for number, group in enumerate(groups):
        last_group, _, last_id = position.partition(" ")
        if group.name >= last_group:
            for one, other, cosine in _mutually_nearest(context, group):
                first, second = group.ids[one], group.ids[other]
                if group.name == last_group and first < last_id:
                    continue
                if not context.linked(first, second):
                    yield Action(
                        LINKED,
                        (first, second),
                        f"{cosine:.2f} alike, from different sessions",
                        partial(_link, context, first, second, cosine),
                        f"{group.name} {first}",
                    )
        context.advance((number + 1) / len(groups))


def _mutually_nearest(context: OperationContext, group: MemoryGroup) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of rows, the lower first, each the other's nearest of another session."""
    import numpy as np

    rows, others, cosines = group.nearest(context.throttle.yield_to_foreground)
    order = np.lexsort((others, -cosines, rows))
    superseded = {row for row, name in enumerate(group.ids) if name in context.superseded}
    nearest: dict[int, tuple[int, float]] = {}
    for row, other, cosine in zip(
        rows[order].tolist(), others[order].tolist(), cosines[order].tolist(), strict=True
    ):
        session = group.sessions[row]
        if row in nearest or row in superseded or other in superseded:
            continue
        if session is None or session != group.sessions[other]:
            nearest[row] = other, cosine
    for row, (other, cosine) in nearest.items():
        if row < other and nearest.get(other, (-1,))[0] == row and cosine >= NEAR_ENOUGH:
            yield row, other, cosine


def _link(context: OperationContext, first: str, second: str, cosine: float) -> bool:
    if context.linked(first, second) or context.both(first, second) is None:
        return False
    weight = round(min(cosine, 1.0), 4)
    context.store.put_link(
        m.Link(second, first, m.Relation.RELATES_TO, context.now, weight, "near, across sessions")
    )
    return True


def strengthen_used_together(context: OperationContext, position: str) -> Iterator[Action]:
    """Strengthen links whose two memories were last used at the same time, since the last run."""
    for link in context.store.used_together(context.user_id, context.since):
        if _key(link) > position:
            ends = link.source, link.target
            yield Action(STRENGTHENED, ends, "used together", partial(_strengthen, context, link), _key(link))


def _key(link: m.Link) -> str:
    return f"{link.source} {link.target}"


def _strengthen(context: OperationContext, link: m.Link) -> bool:
    unchanged = [
        current
        for current in context.store.links(link.source)
        if _key(current) == _key(link) and current.relation is link.relation and current.weight == link.weight
    ]
    for current in unchanged:
        context.store.put_link(replace(current, weight=round(min(current.weight + STRONGER, 1.0), 6)))
    return bool(unchanged)
