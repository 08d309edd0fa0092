"""Files as the project sees them."""

from __future__ import annotations


def within(path: str, cwd: str) -> str:
    """`path` as seen from `cwd`."""
    return path.removeprefix(cwd.rstrip("/") + "/") if cwd else path


def within_text(text: str, cwd: str) -> str:
    return text.replace(cwd.rstrip("/") + "/", "") if len(cwd) > 1 else text
