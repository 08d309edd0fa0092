"""A seed: something a project says of itself, before anyone has told us."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.text import jsonc

_LONGEST = 500_000  # bytes of a file that says how things are done


@dataclass(frozen=True, slots=True)
class Seed:
    content: str  # a sentence that stands alone
    kind: str
    source: str  # "pyproject.toml:12", "commit 1f2e3d4"
    confidence: float  # that it is true and worth knowing; the best are offered first
    file_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A text file of the project, with its path from the root."""

    path: str
    text: str

    def at(self, line: int) -> str:
        return f"{self.path}:{line}"

    def where(self, pattern: str) -> str:
        """The first place that has it, or the file as a whole."""
        match = re.search(pattern, self.text, re.M)
        return self.at(self.text.count("\n", 0, match.start()) + 1) if match else self.path

    def value(self, pattern: str) -> str | None:
        """The first group of the first match, without quotes around it."""
        match = re.search(pattern, self.text, re.M)
        return match[1].strip().strip("\"'") if match else None

    def toml(self) -> Mapping[str, Any]:
        try:
            return tomllib.loads(self.text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    def json(self) -> Mapping[str, Any]:
        """With comments, too. Empty where it is no object."""
        try:
            found = jsonc.load(self.text)
        except (jsonc.BadJson, json.JSONDecodeError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def read_first(root: Path, *paths: str) -> ProjectFile | None:
    """The first of `paths` that is there and of a sensible size, inside `root` also once links are followed."""
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


def table(data: Any, *names: str) -> Mapping[str, Any]:
    """The table at `names`; empty where there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def listed(items: Iterable[str]) -> str:
    """`a, b and c`"""
    names = list(items)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
