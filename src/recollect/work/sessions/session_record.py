"""What is recorded of a session: the events that were stored here, and the host's own transcript."""

import logging
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain

import recollect.model as m
from recollect.config import expand_home
from recollect.context.store import Store
from recollect.errors import NoHome, Refused
from recollect.work.hosts.records import Evidence, HostRecord, find_record
from recollect.work.sessions.events import event_from
from recollect.work.transcripts.event import Event

logger = logging.getLogger(__name__)


class SessionRecord:
    """Reads what is recorded of sessions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def events(self, session_id: str) -> list[Event]:
        """Return the events that were stored here and not learnt from at an end, in order."""
        kept = [
            event_from(session_id, order, text) for order, text in self._store.events.unprocessed(session_id)
        ]
        events = [event for event in kept if event is not None]
        if len(events) < len(kept):
            logger.warning("skipped %d damaged events of session %s", len(kept) - len(events), session_id)
        return events

    def last(self, session_id: str) -> int:
        """Return the position of the last such event; -1 if there is none."""
        return max((order for order, _ in self._store.events.unprocessed(session_id)), default=-1)

    def of_host(self, session: m.Session) -> tuple[HostRecord | None, Evidence]:
        """Return the host's own record of a session, and whether it may be believed; None if there is none."""
        try:
            home = expand_home("~")
        except NoHome:
            return None, Evidence(False, "there is no home folder in which a host could keep a record")
        return find_record(session.host, session.id, session.transcript, home, os.environ)

    def transcript(self, session: m.Session) -> tuple[Iterator[Event] | None, Evidence]:
        """Return the events of the host's transcript, which has more than was recorded here; None if there is none."""
        record, evidence = self.of_host(session)
        if record is None:
            return None, evidence
        try:
            events = record.events(session.id)
            first = next(events, None)
        except Refused as error:
            return None, Evidence(False, f"the host's record could not be read: {error.message}")
        if first is None:
            return None, Evidence(False, "the host's record has nothing of this session")
        return self.on_branches(session.id, chain([first], events)), evidence

    def on_branches(self, session_id: str, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events with the branch that was checked out then, as recorded here: few hosts record it."""
        recorded = [(event.at, event.branch) for event in self.events(session_id) if event.at is not None]
        times = [at for at, _ in recorded]
        at: datetime | None = None
        for event in events:
            at = event.at or at
            if at is not None and times and (place := bisect_right(times, at)):
                event = replace(event, branch=recorded[place - 1][1])
            yield event
