"""Store the messages of sessions for search."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import EmbedderUnavailable
from recollect.memory.write.messages import bounded
from recollect.work.transcripts.event import Event

_BATCH = 64  # messages embedded at once

Item = TypeVar("Item")


class MessageArchive:
    """Stores what was said, with vectors if there is an embedding model."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def store(self, events: Sequence[Event]) -> None:
        """Store messages for search, except those that are stored already.

        Messages of sub-agents are left out: their own numbering would collide with the session's.
        """
        said = [
            event
            for event in events
            if event.is_message and not event.injected and not event.agent and event.text.strip()
        ]
        if not said:
            return
        known = self._context.store.messages.orders(self._context.user_id, said[0].session)
        new = [self._message(event) for event in said if event.order not in known]
        for batch in batches(new):
            model, vectors = self._embedded([message.text for message in batch])
            self._context.store.messages.put(batch, model, vectors, self._context.clock())

    def _message(self, event: Event) -> m.Message:
        when = event.at or self._context.clock()
        author = "user" if event.author == "user" else "assistant"
        text = bounded(event.text)
        return m.Message(
            event.session, event.order, author, text, when, self._context.user_id, self._context.project_id
        )

    def _embedded(self, texts: Sequence[str]) -> "tuple[str | None, list[bytes] | None]":
        try:
            rows = self._context.embedder.embed(list(texts))
        except EmbedderUnavailable:
            return None, None
        return self._context.embedder.model, [row.astype("<f4").tobytes() for row in rows]


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in lists of a size that can be embedded at once."""
    supply = iter(items)
    while batch := list(islice(supply, _BATCH)):
        yield batch
