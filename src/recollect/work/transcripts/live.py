"""A conversation that is still going on, handed over whole at every turn: what is new in it, as events."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.work.transcripts.event import Event
from recollect.work.transcripts.messages import told
from recollect.work.transcripts.reading import Reading
from recollect.work.transcripts.report import Report


class LiveMessages:
    """Events are known by the session and the place of their message, so that handing them over twice does no harm."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._reading = Reading(Path("live"), Report())
        self._heard = 0

    def new(self, messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, Event]]:
        """Of the messages that were not there at the last call. A conversation that was cut shorter begins anew there."""
        begin, self._heard = min(self._heard, len(messages)), len(messages)
        return [
            (f"{self._session}:{place}.{number}", event)
            for place, message in enumerate(messages[begin:], begin)
            if isinstance(message, Mapping)
            for number, event in enumerate(told(message, self._session, self._reading))
        ]
