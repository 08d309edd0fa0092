"""A seed: a statement about a project, found in its files or history."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recollect.frozen import frozen
from recollect.text import jsonc

_LONGEST = 500_000  # bytes; a longer file is not a configuration


@frozen
class Seed:
    content: str  # a sentence that stands alone
    kind: str
    source: str  # "pyproject.toml:12", "commit 1f2e3d4"
    confidence: float  # that it is true and worth knowing; the surest are offered first
    file_paths: tuple[str, ...] = ()


@frozen
class ProjectFile:
    """A text file of the project, with its path from the root."""

    path: str
    text: str

    def at(self, line: int) -> str:
        return f"{self.path}:{line}"

    def where(self, pattern: str) -> str:
        """Return the first line that matches, as `path:line`, or the path."""
        match = re.search(pattern, self.text, re.M)
        return self.at(self.text.count("\n", 0, match.start()) + 1) if match else self.path

    def value(self, pattern: str) -> str | None:
        """Return the first group of the first match, without quotes around it."""
        match = re.search(pattern, self.text, re.M)
        return match[1].strip().strip("\"'") if match else None

    def toml(self) -> Mapping[str, Any]:
        try:
            return tomllib.loads(self.text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    def json(self) -> Mapping[str, Any]:
        """Parse JSON with comments; {} if it is not an object."""
        try:
            found = jsonc.load(self.text)
        except (jsonc.BadJson, json.JSONDecodeError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def read_first(root: Path, *paths: str) -> ProjectFile | None:
    """Return the first of `paths` that exists, is not too large, and is inside `root` after following links."""
    for path in paths:
        try:
            file = (root / path).resolve()
            if not file.is_file() or not file.is_relative_to(root.resolve()):
                continue
            if file.stat().st_size <= _LONGEST:
                return ProjectFile(path, file.read_text(encoding="utf-8-sig", errors="replace"))
        except (OSError, ValueError, RuntimeError):
            continue
    return None


def listed(items: Iterable[str]) -> str:
    """Return `a, b and c`."""
    names = list(items)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
