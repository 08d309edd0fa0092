"""Values from foreign JSON: a value of another type than expected counts as absent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def identifier(value: Any) -> str:
    """Return an id as text, whether it is a string or a number."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def moment(value: Any) -> datetime | None:
    """Return a time from ISO 8601, or from seconds or milliseconds since 1970; UTC if it has no zone."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def arguments(value: Any) -> Mapping[str, Any]:
    """Return a tool's arguments: an object, or one encoded as a string. Anything else is put under `input`."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value} if value else {}
        return parsed if isinstance(parsed, dict) else {"input": value}
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}


def plain(content: Any) -> str:
    """Return the text of a content field: a string, or blocks. A block that is not text becomes its type in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    return "\n".join(filter(None, map(_block, items(content))))


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return string(block)
    for key in ("text", "content", "output"):
        if isinstance(block.get(key), str):
            return str(block[key])
    if isinstance(block.get("content"), list):
        return plain(block["content"])
    kind = string(block.get("type"))
    if "image" in kind or "inlineData" in block:
        return "[image]"
    return f"[{kind}]" if kind else ""
