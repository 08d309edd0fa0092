"""Making the vectors that are missing: after a change of model, or a time without one."""

from collections.abc import Callable, Iterator

from recollect.embed.protocol import Embedder
from recollect.store.protocol import Store

_BATCH = 64


def embed_missing(
    store: Store, embedder: Embedder, progress: Callable[[int], None] | None = None, limit: int | None = None
) -> int:
    """Newest first, a batch to a transaction, so that it can stop anywhere and go on there. How many were made."""
    todo = store.without_vector(embedder.model, -1 if limit is None else limit)
    batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]

    def texts() -> Iterator[list[str]]:
        for batch in batches:
            yield [content for _, content in batch]

    made = 0
    for batch, rows in zip(batches, embedder.embed_each(texts()), strict=True):
        # A memory may have been edited or purged since it was read: its vector is no longer of this text.
        now = store.get_many([memory_id for memory_id, _ in batch])
        with store.transaction():
            for (memory_id, content), row in zip(batch, rows, strict=True):
                if memory_id in now and now[memory_id].content == content:
                    store.put_vector(memory_id, embedder.model, row.astype("<f4").tobytes())
                    made += 1
        if progress is not None:
            progress(len(batch))
    return made
