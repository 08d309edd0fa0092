"""Whether what a memory says of the code still holds, as far as a program can tell."""

import json
import os
import re
import tomllib
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

import recollect.model as m

_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+\.\w{1,8}")
# What is said to be gone, or still to come, is not stale for not being there.
_ABSENT = re.compile(
    r"\b(remov\w+|delet\w+|renam\w+|moved?|replac\w+|dropp\w+|gone|no longer|used to|was|were|will|add(ed)?|creat\w+)\b",
    re.I,
)
_TARGET = re.compile(r"^([\w.-]+(?:\s+[\w.-]+)*)\s*:(?!=)", re.M)
_RECIPE = re.compile(r"^@?([\w-]+)[^:=\n]*:(?!=)", re.M)
_LARGEST = 200_000  # files of a project beyond which nobody looks
_LONGEST = 1_000_000  # bytes of a manifest
_SKIPPED = {".git", "node_modules", ".venv", "venv", "__pycache__", "target", "dist", "build"}
_NPM_OWN = frozenset(
    "install ci add remove exec test start publish version audit init link update dlx".split()
)


class Verifier(Protocol):
    """Looks after the memories of one project."""

    def check(self, memory: m.Memory) -> str | None:
        """What speaks against it, in a clause for people; None where nothing does, or it cannot be told."""


class NamedThings:
    """Files that a memory names must exist below `root`, and commands in the manifest that would define them."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def check(self, memory: m.Memory) -> str | None:
        if memory.branch is not None or _ABSENT.search(memory.content):
            return None
        quoted = _QUOTED.findall(memory.content)
        for name in dict.fromkeys((*memory.file_paths, *filter(_PATH.fullmatch, quoted))):
            if not self._has(name):
                return f"{name} does not exist"
        for command in quoted:
            if missing := self._missing(command.split()):
                return missing
        return None

    def _has(self, name: str) -> bool:
        """Also where it is below a folder that was not said; a name that leads elsewhere is not ours to look for."""
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.search(r"[*?\[{<$~:]", name):
            return True
        if os.path.lexists(self._root / path):
            return True
        files = self._files
        return files is None or any(f"/{each}".endswith(f"/{path}") for each in files.get(path.name, ()))

    @cached_property
    def _files(self) -> dict[str, list[str]] | None:
        """Paths below the root by their last part; None where there are too many to know them."""
        found: dict[str, list[str]] = {}
        count = 0
        for folder, below, names in os.walk(self._root):
            below[:] = [name for name in below if name not in _SKIPPED]
            count += len(names)
            if count > _LARGEST:
                return None
            here = Path(folder).relative_to(self._root)
            for name in (*names, *below):
                found.setdefault(name, []).append((here / name).as_posix())
        return found

    def _missing(self, words: list[str]) -> str | None:
        """What the command names that its manifest does not have."""
        if len(words) < 2:
            return None
        program, *rest = words
        if program in ("npm", "pnpm", "yarn", "bun"):
            script = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
            own = rest[0] not in ("run", "run-script") and (program != "yarn" or script in _NPM_OWN)
            known = None if own or script.startswith("-") else self._scripts
            return _unless(known, script, "package.json")
        if program == "make" and not rest[0].startswith("-") and "=" not in rest[0]:
            return _unless(self._targets, rest[0], "the Makefile")
        if program == "poe" and not rest[0].startswith("-"):
            return _unless(self._tasks, rest[0], "pyproject.toml")
        if program == "just" and not rest[0].startswith("-"):
            return _unless(self._recipes, rest[0], "the justfile")
        return None

    @cached_property
    def _scripts(self) -> set[str] | None:
        try:
            package = json.loads(self._read("package.json"))
            return set(package.get("scripts") or {})
        except (ValueError, AttributeError, TypeError):
            return None

    @cached_property
    def _tasks(self) -> set[str] | None:
        try:
            return set(tomllib.loads(self._read("pyproject.toml"))["tool"]["poe"]["tasks"])
        except (ValueError, KeyError, TypeError):
            return None

    @cached_property
    def _targets(self) -> set[str] | None:
        text = next(
            (text for name in ("Makefile", "makefile", "GNUmakefile") if (text := self._read(name))), ""
        )
        if not text or re.search(r"^-?include\b|^[^\t#\n]*%[^\n]*:", text, re.M):
            return None  # others, or patterns, may make it
        return {name for names in _TARGET.findall(text) for name in names.split()}

    @cached_property
    def _recipes(self) -> set[str] | None:
        text = self._read("justfile") or self._read("Justfile")
        if not text or re.search(r"^(import|mod)\b", text, re.M):
            return None
        return set(_RECIPE.findall(text)) | set(re.findall(r"^alias\s+([\w-]+)", text, re.M))

    def _read(self, name: str) -> str:
        """Empty where it is not there, or is none of a sensible size."""
        path = self._root / name
        try:
            return path.read_text(encoding="utf-8") if path.stat().st_size <= _LONGEST else ""
        except (OSError, UnicodeDecodeError):
            return ""


def _unless(known: set[str] | None, name: str, where: str) -> str | None:
    return None if known is None or name in known else f"{where} has no {name}"
