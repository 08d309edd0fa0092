"""Vectors that are missing are made."""

from collections.abc import Iterator
from functools import partial
from itertools import islice

import recollect.model as m
from recollect.errors import EmbedderUnavailable
from recollect.memory.maintenance.consolidate.act import VECTORS, Act
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.write.enrich import embedded_text

_BATCH = 8  # texts embedded at a time: some 50 ms


def vectors(work: Work, position: str) -> Iterator[Act]:
    """Newest first. Without an embedder there are none to be made, and nothing is wrong with that."""
    missing = iter([name for name, _ in work.store.without_vector(work.embedder.model, -1)])
    while names := list(islice(missing, _BATCH)):
        work.pace.breathe()
        memories = [memory for memory in work.store.get_many(names).values() if work.own(memory)]
        texts = [embedded_text(each.content, each.tags, each.file_paths) for each in memories]
        try:
            rows = work.embedder.embed(texts)
        except EmbedderUnavailable:
            return
        for memory, row in zip(memories, rows, strict=True):
            made = row.astype("<f4").tobytes()
            yield Act(VECTORS, (memory.id,), "had none", partial(_keep, work, memory, made))


def _keep(work: Work, memory: m.Memory, vector: bytes) -> bool:
    """Unless it was edited or purged meanwhile."""
    now = work.store.get_many([memory.id]).get(memory.id)
    if now is None or now.content != memory.content:
        return False
    work.store.put_vector(memory.id, work.embedder.model, vector)
    return True
