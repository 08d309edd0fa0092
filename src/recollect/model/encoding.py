"""Ids, fingerprints, times and JSON: how values are written down."""

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

Clock = Callable[[], datetime]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_id_lock = threading.Lock()
_last_ids = {True: 0, False: 0}  # of times that were given, and of this machine's clock
_RANDOM_BITS = 45
LONGEST_ID = 64  # characters of a name that may be an id: longer ones are not looked for
_ID_LENGTH = 18
_LIKE_AN_ID = re.compile(rf"(?=.*[0-9].*[0-9])(?=.*[a-z])[{_ALPHABET}]{{{_ID_LENGTH}}}")


def new_id(now: datetime | None = None) -> str:
    """Return 18 characters: nine for the millisecond, nine random. Ids sort by time, even within a millisecond of a process."""
    millis = int(now.timestamp() * 1000) if now else time.time_ns() // 1_000_000
    candidate = (millis << _RANDOM_BITS) | int.from_bytes(os.urandom(6)) >> 3
    with _id_lock:
        last = _last_ids[now is not None]
        if candidate <= last and candidate >> _RANDOM_BITS == last >> _RANDOM_BITS:
            candidate = last + 1 + int.from_bytes(os.urandom(2))
        _last_ids[now is not None] = candidate
    return "".join(_ALPHABET[(candidate >> shift) & 31] for shift in range(85, -1, -5))


def looks_like_id(name: str) -> bool:
    """Tell whether a name can only be an id, if perhaps one of nothing: no word of 18 characters has two digits."""
    return _LIKE_AN_ID.fullmatch(name) is not None


def fingerprint(text: str) -> str:
    """Return a hash that is equal for texts that differ only in case and white space."""
    folded = " ".join(text.lower().split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def utc_now() -> datetime:
    return datetime.now(UTC)


def to_text(when: datetime) -> str:
    """Return the time as ISO 8601 of fixed width, so that texts sort like times."""
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """Return the time; one without a zone is taken as UTC. Raise ValueError."""
    when = datetime.fromisoformat(text)
    try:
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except OverflowError as error:  # in the first or last hours of the calendar
        raise ValueError(f"{text} is out of range") from error


def as_json(value: Any) -> Any:
    """Return `value` as plain JSON types: dataclasses by field, times as text, sets sorted."""
    if isinstance(value, datetime):
        return to_text(value)
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(as_json(item) for item in value)
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value


def dumps(value: Any) -> str:
    return json.dumps(as_json(value), ensure_ascii=False, separators=(",", ":"))


# Characters that no reader sees and that change how the text around them is read: directions, joiners, separators.
_INVISIBLE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible_json(text: str) -> str:
    """Return a JSON document with invisible characters escaped. It has the same value."""
    return text if text.isascii() and "\x7f" not in text else _INVISIBLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"
