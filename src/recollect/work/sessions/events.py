"""Convert events to the form they are stored in until a session has been learnt from: redacted, clipped, JSON."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import recollect.model as m
from recollect.memory.write.messages import bounded
from recollect.model import StoredEvent
from recollect.text.cuts import end_of, start_of
from recollect.text.redact import redact, redact_name
from recollect.work.extract.summaries import is_summary
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.lines import without_surrogates

MAX_ANSWER = 3000  # characters of a tool's output: its beginning and end show whether it worked
MAX_INPUT = 2000  # characters of one value a tool was called with
MAX_VALUES = 20  # values of a tool's input
MAX_DEPTH = 8  # values within values
MAX_LABEL = 512  # characters of a name
_NAMES = ("author", "text", "tool", "call", "failed", "cwd", "branch", "agent", "injected")
_TYPES = dict.fromkeys(_NAMES, str) | {"failed": bool, "injected": bool, "input": dict, "size": int}


def stored_event(event: Event, event_id: str, now: datetime) -> StoredEvent:
    """Return `event` as it is stored: without secrets, and no longer than learning needs."""
    cleaned = clean_event(event)
    values = {name: getattr(cleaned, name) for name in _NAMES if getattr(cleaned, name) not in ("", None)}
    values["at"] = m.to_text(event.at or now)
    if cleaned.input:
        values["input"] = cleaned.input
    if cleaned.size:
        values["size"] = cleaned.size
    return StoredEvent(event_id, event.at or now, json.dumps(values, ensure_ascii=False))


def clean_event(event: Event) -> Event:
    """Return `event` redacted, then clipped: half a secret would not be recognised."""
    text = without_surrogates(event.text)
    if event.is_answer:
        kept = _ends(text, MAX_ANSWER)
    else:
        kept = redact(start_of(text, 8 * MAX_ANSWER))[0]
        if not is_summary(event):  # what an agent wrote down for itself is read whole, once
            kept = bounded(kept)
    return replace(
        event,
        text=kept,
        size=event.size or (len(text) if event.is_answer and len(text) > MAX_ANSWER else 0),
        tool=clean_name(event.tool),
        call=_pairing(event.call),
        input=_value(event.input, MAX_DEPTH),
        cwd=clean_name(event.cwd),
        branch=clean_name(event.branch),
        agent=clean_name(event.agent),
    )


@lru_cache(maxsize=256)  # folders, branches and tools recur
def clean_name(name: str) -> str:
    """Return the name of a tool, a folder or a branch without secrets."""
    return redact_name(without_surrogates(name))[0][:MAX_LABEL]


def _pairing(call: str) -> str:
    """Return a call id without secrets. A hash replaces a secret, because two redacted ids would be equal."""
    name = without_surrogates(call)
    return name if clean_name(name) == name else m.fingerprint(name)[:18]


def event_from(session: str, order: int, text: str) -> Event | None:
    """Read an event that `stored_event` wrote; None if it is damaged."""
    try:
        values: dict[str, Any] = without_surrogates(json.loads(text))
        at = m.from_text(values.pop("at"))
        if all(isinstance(value, _TYPES[name]) for name, value in values.items()):
            return Event(session, order, **{"text": "", **values}, at=at)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        pass
    return None


def _value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _ends(without_surrogates(value), MAX_INPUT)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        some = list(value.items())[:MAX_VALUES]
        return {
            redact(without_surrogates(str(name)))[0][:MAX_LABEL]: _value(item, depth - 1)
            for name, item in some
        }
    if isinstance(value, list | tuple):
        return [_value(item, depth - 1) for item in value[:MAX_VALUES]]
    return _value(str(value), depth)


def _ends(text: str, size: int) -> str:
    """Return the first third and the last two thirds of `size` characters, without secrets."""
    if len(text) <= 8 * size:
        first = last = redact(text)[0]
        if len(first) <= size:
            return first
    else:
        first, last = redact(start_of(text, 2 * size))[0], redact(end_of(text, 4 * size))[0]
    return f"{first[: size // 3]}\n…\n{last[-2 * size // 3 :]}"
