"""Embed memories that have no vector of the current model."""

from collections.abc import Callable, Iterator

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.memory.write.enrich import embedded_text

_BATCH = 64


def embed_missing(
    store: Store, embedder: Embedder, progress: Callable[[int], None] | None = None, limit: int | None = None
) -> int:
    """Embed memories in batches, newest first; return how many. It can be stopped and resumed anywhere."""
    todo = [
        memory_id for memory_id, _ in store.without_vector(embedder.model, -1 if limit is None else limit)
    ]
    batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]
    read: list[list[m.Memory]] = []  # batches given to the embedder and not yet written

    def texts() -> Iterator[list[str]]:
        for batch in batches:
            memories = list(store.get_many(batch).values())
            read.append(memories)
            yield [embedded_text(memory.content, memory.tags, memory.file_paths) for memory in memories]

    made = 0
    for rows in embedder.embed_each(texts()):
        memories = read.pop(0)
        # A memory may have been edited or purged since it was read.
        now = store.get_many([memory.id for memory in memories])
        with store.transaction():
            for memory, row in zip(memories, rows, strict=True):
                if memory.id in now and now[memory.id].content == memory.content:
                    store.put_vector(memory.id, embedder.model, row.astype("<f4").tobytes())
                    made += 1
        if progress is not None:
            progress(len(memories))
    return made
