"""A spool for events that could not be recorded: one file per session, read once and in order."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import recollect.model as m
from recollect.model import StoredEvent
from recollect.store.spool_files import MAX_FILE, SpoolFiles
from recollect.work.sessions.events import stored_event
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.lines import without_surrogates

Deliver = Callable[[str, Sequence[StoredEvent]], object]


class EventSpool:
    """Several processes may append and drain at the same time."""

    def __init__(self, folder: Path, largest: int = MAX_FILE, database: Path | None = None) -> None:
        """`database` is the store that the events are for."""
        self._files = SpoolFiles(folder, largest, database)

    def append(self, session: str, events: Sequence[tuple[str, Event]], now: datetime) -> bool:
        """Append events, redacted; return False if they were refused and counted. They are on disk when it returns."""
        lines = "".join(_line(session, stored_event(event, event_id, now)) for event_id, event in events)
        return self._files.append(session, lines)

    def drain(self, deliver: Deliver) -> int:
        """Pass all events to `deliver`, a session at a time, and return how many.

        After a crash, events are delivered again; their ids make them count once.
        """

        def sort_out(lines: list[bytes]) -> int:
            by_session: dict[str, list[StoredEvent]] = {}
            for line in lines:
                with suppress(ValueError, KeyError, TypeError, RecursionError):  # cut off by a crash
                    session, kept = _read(line)
                    by_session.setdefault(session, []).append(kept)
            for session, events in by_session.items():
                deliver(session, events)
            return sum(map(len, by_session.values()))

        return self._files.drain(sort_out)


def _line(session: str, kept: StoredEvent) -> str:
    record = {"session": session, "id": kept.id, "at": m.to_text(kept.at), "event": kept.event}
    return json.dumps(record, ensure_ascii=False) + "\n"


def _read(line: bytes) -> tuple[str, StoredEvent]:
    record = without_surrogates(json.loads(line))
    session, name, event = (record[field] for field in ("session", "id", "event"))
    if not all(isinstance(each, str) for each in (session, name, event)):
        raise TypeError("not a line of ours")
    return session, StoredEvent(name, m.from_text(record["at"]), event)
