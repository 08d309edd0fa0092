"""What was archived and nobody believes any more goes, with the grace that every forgotten memory has."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import recollect.model as m
from recollect.memory.maintenance.consolidate.act import PRUNED, Act
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.maintenance.decay import confidence_now
from recollect.memory.maintenance.states import forget

BELIEVED = 0.05  # confidence below which nobody does
SAID_ONCE = 1  # strength


def prune(work: Work, position: str) -> Iterator[Act]:
    archived = replace(work.everything, states=frozenset({m.State.ARCHIVED}))
    for memory in work.store.each(archived):
        work.pace.breathe()
        if memory.id > position and work.own(memory) and _is_lost(work, memory):
            yield Act(
                PRUNED,
                (memory.id,),
                f"archived, confidence {confidence_now(memory, work.now):.2f}",
                partial(_forget, work, memory.id),
                memory.id,
            )


def _is_lost(work: Work, memory: m.Memory) -> bool:
    archived = memory.state is m.State.ARCHIVED
    return archived and memory.strength <= SAID_ONCE and confidence_now(memory, work.now) < BELIEVED


def _forget(work: Work, memory_id: str) -> bool:
    found = work.store.get_many([memory_id]).get(memory_id)
    if found is None or not _is_lost(work, found):
        return False
    forget(work.store, memory_id, work.actor, work.now, "pruned")
    return True
