"""What memories say of the code: tied to it, and put to a person where it no longer holds."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import recollect.model as m
from recollect.memory.maintenance.consolidate.act import STALE, TIED, Act
from recollect.memory.maintenance.consolidate.work import Work


def ties(work: Work, position: str) -> Iterator[Act]:
    """Memories that name code and are not tied to it: written before there was a graph, or confirmed since it changed."""
    for memory in work.store.each(work.everything):
        work.pace.breathe()
        if memory.id <= position or not work.own(memory) or memory.anchors or memory.branch is not None:
            continue
        verifier = work.verifier(memory)
        if verifier is not None and (anchors := verifier.tie(memory)):
            places = ", ".join(f"{each.path}::{each.symbol}".removesuffix("::") for each in anchors)
            yield Act(TIED, (memory.id,), places, partial(_tie, work, memory, anchors), memory.id)


def _tie(work: Work, memory: m.Memory, anchors: tuple[m.Anchor, ...]) -> bool:
    now = work.store.get_many([memory.id]).get(memory.id)
    if now is None or now.anchors or now.content != memory.content:
        return False
    work.store.put(replace(now, anchors=anchors))
    return True


def facts(work: Work, position: str) -> Iterator[Act]:
    for memory in work.store.each(work.everything):
        work.pace.breathe()
        if memory.id <= position or not work.own(memory):
            continue
        verifier = work.verifier(memory)
        if verifier is not None and (why := verifier.check(memory)):
            # What was confirmed was tied to the code as it was then: that it has changed is news.
            since = work.now if verifier.changed(memory) else None
            yield Act(
                STALE, (memory.id,), why, partial(work.ask, "stale", why, memory, since=since), memory.id
            )
