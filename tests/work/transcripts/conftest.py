from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from transcript_samples import as_bytes

from recollect.work.hosts.transcripts import read
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.reading import Report


class Told(NamedTuple):
    events: list[Event]
    report: Report

    def said(self, author: str, injected: bool = False) -> list[str]:
        return [e.text for e in self.events if e.is_message and e.author == author and e.injected == injected]

    @property
    def calls(self) -> list[Event]:
        return [event for event in self.events if event.is_call]

    @property
    def answers(self) -> list[Event]:
        return [event for event in self.events if event.is_answer]


@pytest.fixture
def tell(tmp_path: Path) -> Callable[..., Told]:
    """Writes what is given (text, bytes, a JSON document, or `Lines`) to a file, and reads it."""

    def write_and_read(content: Any, name: str = "file", format: str | None = None) -> Told:
        path = tmp_path / name
        path.write_bytes(as_bytes(content))
        report = Report()
        return Told(list(read(path, format, report)), report)

    return write_and_read
