"""OpenCode's record of its sessions: the SQLite file `opencode.db`, which is opened to read and never changed.

A message has parts. Those of the user that OpenCode or a plugin added are marked as synthetic; a session with a parent
belongs to a sub-agent, and what its "user" says is the work of an agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import arguments, identifier, mapping, string
from recollect.work.transcripts.reading import EventOrigin, TranscriptFormat, TranscriptReading

BUSY_MS = 200  # that OpenCode may keep us waiting: it writes in short transactions
_DONE = {"completed", "error"}
_PARTS = """
    SELECT s.id, s.parent_id, s.directory, m.data, p.data, p.time_created, m.id
    FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = m.session_id
    WHERE ? IN ('', s.id) ORDER BY s.time_created, s.id, m.time_created, m.id, p.id
"""


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    """Yield the events of all sessions, or of the one wanted."""
    import apsw

    try:
        connection = apsw.Connection(
            f"{path.absolute().as_uri()}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            connection.set_busy_timeout(BUSY_MS)
            for row in connection.execute(_PARTS, (reading.session,)):
                reading.report.lines += 1
                yield from _events(row, reading)
        finally:
            connection.close()
    except apsw.Error as error:  # damaged, or of a version that has other tables
        reading.skip(f"not a database of OpenCode that can be read ({error})")


def _events(row: tuple[Any, ...], reading: TranscriptReading) -> Iterator[Event]:
    session, parent, folder, message_data, part_data, at, _ = row
    message, part = _object(message_data), _object(part_data)
    place = EventOrigin(
        session=string(parent) or string(session),
        at=datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int) else None,
        cwd=string(folder),
        agent=string(session) if parent else "",
    )
    kind, role = string(part.get("type")), string(message.get("role"))
    if kind == "text":
        is_user = role == USER
        added = bool(part.get("synthetic") or part.get("ignored") or (is_user and place.agent))
        author = USER if is_user else ASSISTANT
        text = string(part.get("text"))
        yield from reading.message(
            place, author, unquoted(text) if is_user else text, injected=added and is_user
        )
    elif kind == "tool":
        yield from _call(part, place, reading)
    else:
        reading.ignore(f"part {kind}".strip())


def unquoted(prompt: str) -> str:
    """Return the prompt without the quotes that `opencode run "a b"` puts around it."""
    quoted = re.fullmatch(r'\s*"((?:[^"\\]|\\.)*)"\s*', prompt, re.DOTALL)
    return quoted[1].replace('\\"', '"') if quoted else prompt


def _call(part: Mapping[str, Any], place: EventOrigin, reading: TranscriptReading) -> Iterator[Event]:
    state, call = mapping(part.get("state")), identifier(part.get("callID"))
    yield reading.tool_call(place, string(part.get("tool")), arguments(state.get("input")), call)
    status = string(state.get("status"))
    if status in _DONE:
        code = mapping(state.get("metadata")).get("exit")
        failed = status == "error" or (isinstance(code, int) and code != 0)
        text = string(state.get("output")) or string(state.get("error"))
        yield reading.tool_result(place, text, call, failed)


def _object(data: Any) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(data))
    except (TypeError, ValueError, RecursionError):
        return {}


def _is_record(record: Mapping[str, Any]) -> bool:
    return False


OPENCODE_DATABASE = TranscriptFormat("opencode", read, read, _is_record, magic=b"SQLite format 3\0")
