"""Store messages of imported sessions, redacted and bounded. Nothing is learnt from them here."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import ContentRefused, EmbedderUnavailable, RecollectError
from recollect.memory.write import limits
from recollect.text.cuts import start_of
from recollect.text.redact import redact

MAX_TEXT = 8192  # bytes of UTF-8; the host's own transcript has the rest
AUTHORS = ("user", "assistant")
_BATCH = 128


@dataclass(slots=True)
class MessageReport:
    """How many messages were stored, and which were refused."""

    kept: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)  # index of the record, and the reason
    redacted: int = 0
    notes: tuple[str, ...] = ()


def bring_messages(
    records: Iterable[Mapping[str, Any]],
    store: Store,
    embedder: Embedder,
    *,
    user_id: str,
    project_id: str | None,
    now: datetime,
    progress: Callable[[int], None] | None = None,
) -> MessageReport:
    """Store messages in batches of one transaction each, while the next ones are embedded."""
    report = MessageReport()
    ready: list[list[m.Message]] = []

    def texts() -> Iterator[list[str]]:
        supply = iter(enumerate(records))
        while chunk := list(islice(supply, _BATCH)):
            batch = []
            for number, record in chunk:
                try:
                    batch.append(_message(record, user_id, project_id, now, report))
                except (RecollectError, ValueError, TypeError, OverflowError) as error:
                    reason = (
                        error.message
                        if isinstance(error, RecollectError)
                        else f"a field is malformed ({error})"
                    )
                    report.refused.append((number, reason))
            if batch:
                ready.append(batch)
                yield [message.text for message in batch]

    def write(vectors: list[bytes] | None) -> None:
        batch = ready.pop(0)
        store.messages.put(batch, embedder.model if vectors is not None else None, vectors, now)
        report.kept += len(batch)
        if progress is not None:
            progress(len(batch))

    source = texts()
    try:
        for rows in embedder.embed_each(source):
            write([row.astype("<f4").tobytes() for row in rows])
    except EmbedderUnavailable as error:
        if not error.by_choice:
            report.notes = (f"Stored without vectors: {error.message} {error.hint}".strip(),)
        while ready:
            write(None)
        for _ in source:
            write(None)
    return report


def _message(
    record: Mapping[str, Any], user_id: str, project_id: str | None, now: datetime, report: MessageReport
) -> m.Message:
    text, session, order = record.get("text"), record.get("session"), record.get("order")
    if not isinstance(text, str) or not text.strip():
        raise ContentRefused('A message needs its "text".', "Give it as a string.")
    if not isinstance(session, str) or not session.strip():
        raise ContentRefused('A message needs its "session".', "Give the session's name.")
    if not isinstance(order, int) or isinstance(order, bool) or not 0 <= order < 2**53:
        raise ContentRefused(
            'A message needs its "order", a whole number.', "Count from 0 within the session."
        )
    author = record.get("author", "user")
    if author not in AUTHORS:
        raise ContentRefused(
            f"A message's author cannot be {author!r}.", f"Use one of: {', '.join(AUTHORS)}."
        )
    when = record.get("created_at")
    if when is not None and not isinstance(when, str):
        raise ContentRefused(f"{when!r} is not a time.", "Give created_at in ISO 8601.")
    cleaned, redactions = redact(limits.plain(text, "The text"))
    place, more = redact(limits.plain(start_of(session, limits.MAX_FIELD), "The session"))
    report.redacted += len(redactions) + len(more)
    return m.Message(
        session=place,
        order=order,
        author=author,
        text=bounded(cleaned),
        created_at=m.from_text(when) if when else now,
        user_id=user_id,
        project_id=project_id,
    )


def bounded(text: str) -> str:
    """Return at most MAX_TEXT bytes of `text`, without half a character."""
    data = text.encode()
    return text if len(data) <= MAX_TEXT else data[: MAX_TEXT - 3].decode("utf-8", "ignore") + "…"
