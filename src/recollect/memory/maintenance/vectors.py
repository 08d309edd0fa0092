"""Embed memories that have no vector of the current model."""

from collections.abc import Callable, Iterator

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.memory.write.enrich import embedded_situations, embedded_text

_BATCH = 64


def text_for(model: str, memory: m.Memory) -> str:
    """Return the text whose vector is stored under `model`: the memory's own, or the situations in which it is needed."""
    if model.endswith(m.WHEN_MODEL):
        return embedded_situations(memory.when_needed)
    return embedded_text(memory.content, memory.tags, memory.file_paths)


def models_of(embedder: Embedder) -> tuple[str, str]:
    """Return the names under which the vectors of an embedder are stored."""
    return embedder.model, embedder.model + m.WHEN_MODEL


def embed_missing(
    store: Store, embedder: Embedder, progress: Callable[[int], None] | None = None, limit: int | None = None
) -> int:
    """Embed memories in batches, newest first; return how many texts. It can be stopped and resumed anywhere."""
    made = 0
    for model in models_of(embedder):
        left = None if limit is None else limit - made
        made += _embed_missing(store, embedder, model, progress, left)
    return made


def _embed_missing(
    store: Store,
    embedder: Embedder,
    model: str,
    progress: Callable[[int], None] | None,
    limit: int | None,
) -> int:
    todo = [memory_id for memory_id, _ in store.without_vector(model, -1 if limit is None else limit)]
    batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]
    read: list[list[m.Memory]] = []  # batches given to the embedder and not yet written

    def texts() -> Iterator[list[str]]:
        for batch in batches:
            memories = list(store.get_many(batch).values())
            read.append(memories)
            yield [text_for(model, memory) for memory in memories]

    made = 0
    for rows in embedder.embed_each(texts()):
        memories = read.pop(0)
        # A memory may have been edited or purged since it was read.
        now = store.get_many([memory.id for memory in memories])
        with store.transaction():
            for memory, row in zip(memories, rows, strict=True):
                if memory.id in now and text_for(model, now[memory.id]) == text_for(model, memory):
                    store.put_vector(memory.id, model, row.astype("<f4").tobytes())
                    made += 1
        if progress is not None:
            progress(len(memories))
    return made
