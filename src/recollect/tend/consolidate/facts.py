"""What a memory names and the project no longer has is put to a person."""

from collections.abc import Iterator
from functools import partial

from recollect.tend.consolidate.act import STALE, Act
from recollect.tend.consolidate.work import Work


def facts(work: Work, position: str) -> Iterator[Act]:
    for memory in work.store.each(work.everything):
        work.pace.breathe()
        if memory.id <= position or not work.own(memory):
            continue
        verifier = work.verifier(memory)
        if verifier is not None and (why := verifier.check(memory)):
            yield Act(
                STALE,
                (memory.id,),
                why,
                partial(work.ask, "stale", why, memory),
                memory.id,
            )
