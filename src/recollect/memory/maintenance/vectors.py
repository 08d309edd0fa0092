"""Making the vectors that are missing: after a change of model, or a time without one."""

from collections.abc import Callable, Iterator

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.memory.write.enrich import embedded_text

_BATCH = 64


def embed_missing(
    store: Store, embedder: Embedder, progress: Callable[[int], None] | None = None, limit: int | None = None
) -> int:
    """Newest first, a batch to a transaction, so that it can stop anywhere and go on there. How many were made."""
    todo = [
        memory_id for memory_id, _ in store.without_vector(embedder.model, -1 if limit is None else limit)
    ]
    batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]
    read: list[list[m.Memory]] = []  # batches handed to the embedder and not yet written

    def texts() -> Iterator[list[str]]:
        for batch in batches:
            memories = list(store.get_many(batch).values())
            read.append(memories)
            yield [embedded_text(each.content, each.tags, each.file_paths) for each in memories]

    made = 0
    for rows in embedder.embed_each(texts()):
        memories = read.pop(0)
        # One may have been edited or purged since it was read: its vector is no longer of this text.
        now = store.get_many([memory.id for memory in memories])
        with store.transaction():
            for memory, row in zip(memories, rows, strict=True):
                if memory.id in now and now[memory.id].content == memory.content:
                    store.put_vector(memory.id, embedder.model, row.astype("<f4").tobytes())
                    made += 1
        if progress is not None:
            progress(len(memories))
    return made
