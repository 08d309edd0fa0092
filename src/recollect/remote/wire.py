"""JSON for arguments, results and errors, the same on both sides."""

import hashlib
import inspect
import re
from collections.abc import Sequence
from typing import Any

import recollect.errors as errors
from recollect.context.project import project_id_of
from recollect.errors import RecollectError
from recollect.frozen import frozen

API = "v1"
PREFIX = f"/api/{API}"
ACTOR_HEADER = "recollect-actor"
IDEMPOTENCY_HEADER = "idempotency-key"
VERSION_HEADER = "recollect-version"
OLDEST_CLIENT = (0, 2)  # whose requests this server understands; tests repeat what it sends

_TYPES = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, RecollectError)
}


@frozen
class Place:
    """Where a call comes from. A client can name any project: the server decides what its token may see there."""

    keys: tuple[str, ...] = ()  # by which the project is recognised; empty = outside any project
    name: str = ""
    branch: str | None = None


NOWHERE = Place()
MOST_VECTORS = 64  # in one request


@frozen
class ClientVectors:
    """Vectors that a client made itself, by text: little-endian 32-bit floats in base64."""

    model: str
    rows: dict[str, str]


def team_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of a project as they are sent: a remote as it is, a folder of this machine as a hash."""
    return tuple(
        key
        if key.startswith("remote:")
        else f"local:{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
        for key in keys
    )


def team_project_id(user: str, keys: Sequence[str]) -> str | None:
    """Return the project's id in a team: the same for everybody if it has a remote, else the person's own."""
    if not keys:
        return None
    return project_id_of(keys[0] if keys[0].startswith("remote:") else f"{user} {keys[0]}")


def is_too_old(version: str) -> bool:
    """Whether a client of this version is no longer understood. One that does not say its version is."""
    numbers = re.match(r"(\d{1,6})\.(\d{1,6})", version)
    return numbers is not None and tuple(map(int, numbers.groups())) < OLDEST_CLIENT


def error_json(error: RecollectError) -> dict[str, Any]:
    """Return the error as it is sent."""
    kind = type(error).__name__
    found: dict[str, Any] = {
        "type": kind if kind in _TYPES else "RecollectError",
        "message": error.message,
        "hint": error.hint,
    }
    if isinstance(error, errors.VectorsNeeded):
        found["texts"] = list(error.texts)
    if isinstance(error, errors.AmbiguousId):
        found |= {"prefix": error.prefix, "matches": list(error.matches)}
    return found


def error_from(data: Any) -> RecollectError:
    """Return the error that the server has sent, as if it had been raised here."""
    if not isinstance(data, dict):
        return errors.TeamError("The team server answered with something that is no error of ours.")
    kind = _TYPES.get(str(data.get("type")), RecollectError)
    error = kind.__new__(kind)
    RecollectError.__init__(error, str(data.get("message", "")), str(data.get("hint", "")))
    if isinstance(error, errors.AmbiguousId):
        error.prefix = str(data.get("prefix", ""))
        error.matches = tuple(map(str, data.get("matches", ())))
    if isinstance(error, errors.VectorsNeeded):
        error.texts = tuple(map(str, data.get("texts", ())))
    if isinstance(error, errors.MemoryNotFound):
        error.memory_id = ""
    return error
