"""Events that hooks received while no daemon ran: redacted, on disk, one file per session, processed once and in order."""

import json
import re
from collections.abc import Callable, Iterable, Set
from pathlib import Path
from typing import Any, NamedTuple

import recollect.model as m
from recollect.config import DATABASE
from recollect.store.spool_files import SpoolFiles
from recollect.text.cuts import start_of
from recollect.text.redact import redact
from recollect.work.hosts.hook_input import field_names

LONGEST = 24_000  # characters of one text: nothing learns from more
MOST_VALUES = 64  # in an object or a list
DEEPEST = 6
LARGEST_LINE = 1024 * 1024

Fields = tuple[str, ...]  # host, event, id, time, deadline, folder: as the hook sends them


class ShownText(NamedTuple):
    """What a hook has shown the model itself, because no daemon answered."""

    moment: str
    tokens: int
    text: str  # empty = the store is encrypted
    items: tuple[m.ShownItem, ...]


class SpooledEvent(NamedTuple):
    """An event that waits."""

    fields: Fields
    body: dict[str, Any]
    shown: ShownText | None = None


Deliver = Callable[[list[SpooledEvent]], None]


def parse(body: bytes) -> dict[str, Any]:
    """Return the JSON object in `body`. Raise `ValueError` if it is none."""
    try:
        event = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(event, dict):
        raise ValueError("not an object")
    return event


class HookSpool:
    """The events that wait, in `spool/hooks` of a home."""

    def __init__(self, home: str | Path) -> None:
        home = Path(home)
        self._files = SpoolFiles(home / "spool" / "hooks", database=home / DATABASE)

    def append(self, fields: Fields, body: bytes, shown: ShownText | None = None) -> bool:
        """Write the event down without its secrets; return whether it is on disk now. What is not JSON is dropped."""
        try:
            event = parse(body)
        except ValueError:
            return False
        ids = {name for field in ("session", "call", "agent") for name in field_names(fields[0], field)}
        line = json.dumps([list(fields), _clean(event, ids), shown], ensure_ascii=False) + "\n"
        return len(line) <= LARGEST_LINE and self._files.append(_session(fields[0], event), line)

    def waiting(self, session: str | None = None) -> bool:
        """Whether events wait; with `session`, whether any of that session do."""
        return self._files.waiting(session)

    def drain(self, deliver: Deliver) -> int:
        """Deliver the events that wait, session by session, in the order they happened; return how many."""

        def deliver_sorted(lines: list[bytes]) -> int:
            events = sorted(_read(lines), key=lambda event: event.fields[3].rjust(20, "0"))
            deliver(events)
            return len(events)

        return self._files.drain(deliver_sorted)


def _read(lines: Iterable[bytes]) -> Iterable[SpooledEvent]:
    for line in lines:
        try:
            fields, event, *shown = json.loads(line)  # an older version writes two
            if len(fields) == 6 and str(fields[3]).isdigit() and isinstance(event, dict):
                yield SpooledEvent(tuple(map(str, fields)), event, _shown(*shown))
        except (ValueError, TypeError):  # cut off by a power cut
            continue


def _shown(given: Any = None) -> ShownText | None:
    if given is None:
        return None
    moment, tokens, text, items = given
    return ShownText(str(moment), int(tokens), str(text), tuple(m.ShownItem(*item[:3]) for item in items))


_ID = re.compile(r"[\w.:-]{1,200}")


def _session(host: str, event: dict[str, Any]) -> str:
    return next((str(event[name]) for name in field_names(host, "session") if event.get(name)), "")


def _clean(value: Any, ids: Set[str], depth: int = 0) -> Any:
    """Return the value without secrets, and clipped.

    It is redacted first: half a secret would not be recognised. The ids of sessions and calls look random, but are no
    secrets.
    """
    if isinstance(value, str):
        return redact(start_of(value, 2 * LONGEST))[0][:LONGEST]
    if isinstance(value, dict):
        items = list(value.items())[:MOST_VALUES] if depth < DEEPEST else []
        return {
            redact(name)[0]: item if _is_id(name, item, ids) else _clean(item, ids, depth + 1)
            for name, item in items
        }
    if isinstance(value, list):
        return [_clean(item, ids, depth + 1) for item in value[:MOST_VALUES]] if depth < DEEPEST else []
    return value


def _is_id(name: str, value: Any, ids: Set[str]) -> bool:
    return name in ids and isinstance(value, str) and bool(_ID.fullmatch(value))
