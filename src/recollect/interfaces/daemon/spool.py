"""What hooks heard while there was no daemon: redacted, on disk, one file a session, taken in once and in order."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from recollect.interfaces.install import shapes
from recollect.text.redact import redact
from recollect.work.sessions.files import WaitingFiles

LONGEST = 24_000  # characters of one text: more is never learnt from
MOST_VALUES = 64  # in an object or a list
DEEPEST = 6
LARGEST_LINE = 1024 * 1024

Fields = tuple[str, ...]  # host, event, id, time, deadline, folder: as the hook sends them
Deliver = Callable[[list[tuple[Fields, dict[str, Any]]]], None]


def parse(body: bytes) -> dict[str, Any]:
    """Raises `ValueError` for what is no JSON object."""
    try:
        said = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(said, dict):
        raise ValueError("not an object")
    return said


class HookSpool:
    def __init__(self, home: str | Path) -> None:
        self._files = WaitingFiles(Path(home) / "spool" / "hooks")

    def append(self, fields: Fields, body: bytes) -> bool:
        """Whether it is on disk now, without secrets. Garbage is not kept."""
        try:
            said = parse(body)
        except ValueError:
            return False
        line = json.dumps([list(fields), _clean(said)], ensure_ascii=False) + "\n"
        return len(line) <= LARGEST_LINE and self._files.append(_session(said), line)

    def waiting(self) -> bool:
        return self._files.waiting()

    def drain(self, deliver: Deliver) -> int:
        """Hand over what waits, a session at a time, in the order in which it happened; how many events."""

        def sort_out(lines: list[bytes]) -> int:
            events = sorted(_read(lines), key=lambda event: event[0][3].rjust(20, "0"))
            deliver(events)
            return len(events)

        return self._files.drain(sort_out)


def _read(lines: Iterable[bytes]) -> Iterable[tuple[Fields, dict[str, Any]]]:
    for line in lines:
        try:
            fields, said = json.loads(line)
            if len(fields) == 6 and str(fields[3]).isdigit() and isinstance(said, dict):
                yield tuple(map(str, fields)), said
        except (ValueError, TypeError):  # cut off by a power cut
            continue


_IDS = {*shapes.SESSION, *shapes.CALL, *shapes.AGENT}
_ID = re.compile(r"[\w.:-]{1,200}")


def _is_id(name: str, value: Any) -> bool:
    """What a host calls a session or a call looks random, and is no secret."""
    return name in _IDS and isinstance(value, str) and bool(_ID.fullmatch(value))


def _session(said: dict[str, Any]) -> str:
    return next((str(said[name]) for name in shapes.SESSION if said.get(name)), "")


def _clean(value: Any, depth: int = 0) -> Any:
    """Redacted before it is clipped: half a secret would not be known for one."""
    if isinstance(value, str):
        return redact(value[: 2 * LONGEST])[0][:LONGEST]
    if isinstance(value, dict):
        items = list(value.items())[:MOST_VALUES] if depth < DEEPEST else []
        return {
            redact(name)[0]: item if _is_id(name, item) else _clean(item, depth + 1) for name, item in items
        }
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value[:MOST_VALUES]] if depth < DEEPEST else []
    return value
