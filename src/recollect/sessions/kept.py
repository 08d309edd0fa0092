"""Events as they are kept until a session has been learnt from: redacted, clipped, JSON."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import recollect.model as m
from recollect.learn.messages import bounded
from recollect.learn.redact import redact
from recollect.store.events import KeptEvent
from recollect.transcripts.event import Event

MAX_ANSWER = 3000  # characters of what a tool said: its beginning and its end tell whether it worked
MAX_INPUT = 2000  # characters of one value a tool was called with
MAX_VALUES = 20  # values of a tool's input
_NAMES = ("author", "text", "tool", "call", "failed", "cwd", "branch", "agent", "injected")


def keep(event: Event, event_id: str, now: datetime) -> KeptEvent:
    """Nothing secret is in it, and not more than is needed to learn from it."""
    cleaned = clean(event)
    values = {name: getattr(cleaned, name) for name in _NAMES if getattr(cleaned, name) not in ("", None)}
    values["at"] = m.to_text(event.at or now)
    if cleaned.input:
        values["input"] = cleaned.input
    return KeptEvent(event_id, event.at or now, json.dumps(values, ensure_ascii=False))


def clean(event: Event) -> Event:
    """Redacted before it is clipped: half a secret would not be known for one."""
    text = redact(event.text[: 8 * MAX_ANSWER])[0]
    return replace(
        event,
        text=_ends(text, MAX_ANSWER) if event.is_answer else bounded(text),
        input={redact(name)[0]: _value(value) for name, value in list(event.input.items())[:MAX_VALUES]},
    )


def event_from(session: str, order: int, text: str) -> Event:
    values: dict[str, Any] = json.loads(text)
    at = m.from_text(values.pop("at"))
    return Event(session, order, **{"text": "", **values}, at=at)


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _ends(redact(value[: 8 * MAX_INPUT])[0], MAX_INPUT)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(name): _value(item) for name, item in list(value.items())[:MAX_VALUES]}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value[:MAX_VALUES]]
    return _value(str(value))


def _ends(text: str, size: int) -> str:
    """The first third and the last two."""
    return text if len(text) <= size else f"{text[: size // 3]}\n…\n{text[-2 * size // 3 :]}"
