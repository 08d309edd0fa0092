"""Check what a memory says about the code against the project's files, as far as a program can tell."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

import recollect.model as m
from recollect.memory.anchors.check import Seen, check
from recollect.memory.anchors.tie import marked_file, tie

_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"(?<![\w.@-])[\w.@-]{1,200}(?:/[\w.@-]{1,200}){1,40}\.\w{1,8}")
# A memory that calls something removed or planned is not stale because it does not exist.
_ABSENT = re.compile(
    r"\b(remov\w+|delet\w+|renam\w+|moved?|replac\w+|dropp\w+|gone|no longer|used to|was|were|will|add(ed)?|creat\w+)\b",
    re.I,
)
_TARGET = re.compile(r"^([\w.-]+(?:\s+[\w.-]+)*)\s*:(?!=)", re.M)
_RECIPE = re.compile(r"^@?([\w-]++)[^:=\n]*:(?!=)", re.M)
# Phrases that name a package the project needs.
_NEEDED = re.compile(
    r"\b(?:depends? on|dependency on|built with|pinned to|package|library|dependency|crate|gem)(?: called)? `([\w@./-]+)`"
    r"|`([\w@./-]+)` (?:package|library|dependency|crate|gem)\b",
    re.I,
)
_MANIFESTS = frozenset(
    """pyproject.toml setup.py setup.cfg requirements.txt requirements-dev.txt dev-requirements.txt Pipfile environment.yml
    package.json Cargo.toml go.mod Gemfile composer.json pom.xml build.gradle build.gradle.kts libs.versions.toml
    CMakeLists.txt conanfile.txt conanfile.py vcpkg.json""".split()
)
_MOST_MANIFESTS = 100
_PLAIN_CALL = re.compile(r"([\w.]+)\(([\w\s,=*.…]*)\)")
_LARGEST = 200_000  # files of a project; a larger one is not listed
_LONGEST = 1_000_000  # bytes of a manifest
_SKIPPED = {".git", "node_modules", ".venv", "venv", "__pycache__", "target", "dist", "build"}
_NPM_OWN = frozenset(
    "install ci add remove exec test start publish version audit init link update dlx".split()
)


class Verifier(Protocol):
    """Checks the memories of one project."""

    def check(self, memory: m.Memory) -> str | None:
        """Return what contradicts the memory, as a clause for people; None if nothing does or it cannot be checked."""

    def changed(self, memory: m.Memory) -> str | None:
        """Return how the code that the memory is tied to has changed; None if it has not."""

    def tie(self, memory: m.Memory) -> tuple[m.Anchor, ...]:
        """Return anchors to the code that the memory is about, as it is now."""


class ProjectVerifier:
    """Checks that what a memory names exists below `root`, and that the code it is tied to is unchanged.

    Files must exist, packages must be in a manifest, commands in the manifest that would define them.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: dict[str, Seen] = {}

    def tie(self, memory: m.Memory) -> tuple[m.Anchor, ...]:
        return tie(self._root, memory.content, memory.file_paths)

    def check(self, memory: m.Memory) -> str | None:
        if memory.branch is not None:
            return None
        return self._wrong_parameter(memory) or self.changed(memory) or self._missing_name(memory)

    def changed(self, memory: m.Memory) -> str | None:
        checked = check(self._root, [memory], self._seen)
        self._seen |= checked.seen
        return checked.stale.get(memory.id)

    def _wrong_parameter(self, memory: m.Memory) -> str | None:
        """Return a parameter that the memory gives to a function it is tied to, and that the function does not have."""
        for anchor in memory.anchors:
            name = anchor.symbol.rpartition(".")[2]
            calls, named = _calls_of(name, memory.content), _parameters_named(name, memory.content)
            has = self._parameters(anchor) if calls or named else []
            if not has or any(name.startswith("**") for name in has):
                continue
            for parameter in (*named, *(name for call in calls for name in _named_arguments(call, has))):
                if parameter not in has:
                    return f"`{anchor.symbol}` has no parameter {parameter}"
        return None

    def _parameters(self, anchor: m.Anchor) -> list[str]:
        file = marked_file(self._root, anchor.path)
        definition = file.definition(anchor.symbol) if file is not None else None
        return [name for name, _ in definition.parameters] if definition is not None else []

    def _missing_name(self, memory: m.Memory) -> str | None:
        """Return a file, a package or a command that the memory names and that does not exist."""
        if _ABSENT.search(memory.content):
            return None
        quoted = _QUOTED.findall(memory.content)
        for name in dict.fromkeys((*memory.file_paths, *filter(_PATH.fullmatch, quoted))):
            if not self._exists(name):
                return f"{name} does not exist"
        for command in quoted:
            if missing := self._missing_command(command.split()):
                return missing
        for match in _NEEDED.finditer(memory.content):
            package = match[1] or match[2]
            if self._manifests and not _names(self._manifests, package):
                return f"no manifest names {package}"
        return None

    @cached_property
    def _manifests(self) -> str:
        """The text of all manifests of the project; empty if there are none."""
        paths = [path for name in _MANIFESTS for path in (self._files or {}).get(name, ())]
        return "\n".join(filter(None, map(self._read, paths[:_MOST_MANIFESTS])))

    def _exists(self, name: str) -> bool:
        """Return whether the path exists below any folder. A path that leads out of the project counts as existing."""
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.search(r"[*?\[{<$~:]", name):
            return True
        if os.path.lexists(self._root / path):
            return True
        files = self._files
        return files is None or any(f"/{known}".endswith(f"/{path}") for known in files.get(path.name, ()))

    @cached_property
    def _files(self) -> dict[str, list[str]] | None:
        """Paths below the root by their last part; None if there are too many."""
        paths: dict[str, list[str]] = {}
        count = 0
        for folder, below, names in os.walk(self._root):
            below[:] = [name for name in below if name not in _SKIPPED]
            count += len(names)
            if count > _LARGEST:
                return None
            relative = Path(folder).relative_to(self._root)
            for name in (*names, *below):
                paths.setdefault(name, []).append((relative / name).as_posix())
        return paths

    def _missing_command(self, words: list[str]) -> str | None:
        """Return the script or target that the command runs, if its manifest does not have it."""
        if len(words) < 2:
            return None
        program, *arguments = words
        if program in ("npm", "pnpm", "yarn", "bun"):
            script = (
                arguments[1] if arguments[0] in ("run", "run-script") and len(arguments) > 1 else arguments[0]
            )
            own = arguments[0] not in ("run", "run-script") and (program != "yarn" or script in _NPM_OWN)
            known = None if own or script.startswith("-") else self._scripts
            return _unless(known, script, "package.json")
        if program == "make" and not arguments[0].startswith("-") and "=" not in arguments[0]:
            return _unless(self._targets, arguments[0], "the Makefile")
        if program == "poe" and not arguments[0].startswith("-"):
            return _unless(self._tasks, arguments[0], "pyproject.toml")
        if program == "just" and not arguments[0].startswith("-"):
            return _unless(self._recipes, arguments[0], "the justfile")
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
        if not text or re.search(r"^-?include\b|^\.DEFAULT\s*:|^[^\t#\n%]*%[^\n]*:", text, re.M):
            return None  # an included file or a pattern may define it
        return {name for names in _TARGET.findall(text) for name in names.split()}

    @cached_property
    def _recipes(self) -> set[str] | None:
        text = self._read("justfile") or self._read("Justfile")
        if not text or re.search(r"^(import|mod)\b", text, re.M):
            return None
        return set(_RECIPE.findall(text)) | set(re.findall(r"^alias\s+([\w-]+)", text, re.M))

    def _read(self, name: str) -> str:
        """Return the text of a file; empty if it is missing, not UTF-8 or too large."""
        path = self._root / name
        try:
            return path.read_text(encoding="utf-8") if path.stat().st_size <= _LONGEST else ""
        except (OSError, UnicodeDecodeError):
            return ""


def _calls_of(function: str, text: str) -> list[str]:
    """Return the argument lists of the calls of `function` in `text`."""
    calls = [call for quoted in _QUOTED.findall(text) if (call := _PLAIN_CALL.fullmatch(quoted.strip()))]
    return [call[2] for call in calls if call[1].rpartition(".")[2] == function]


def _parameters_named(function: str, text: str) -> list[str]:
    """Return the parameters that `text` gives to `function`, as in "`parse` takes `strict`"."""
    if not function:
        return []
    call = rf"`[\w.]*\b{re.escape(function)}(?:\(\))?`"
    word = r"`(\w+)=?`"
    noun = r"(?:parameter|argument|option|flag|keyword)"
    patterns = (
        rf"{word} {noun} (?:of|to|in|for) {call}",
        rf"{noun} {word} (?:of|to|in|for) {call}",
        rf"{call} (?:takes|accepts|expects|has)(?: an?| the)?(?: {noun})? {word}",
    )
    return [name for pattern in patterns for name in re.findall(pattern, text, re.I)]


def _named_arguments(call: str, has: Sequence[str]) -> Iterator[str]:
    """Yield the keywords of a call, and its other words if there are more than the function takes by position."""
    words = [
        word for part in call.split(",") if (word := part.strip()) and not word.startswith(("*", ".", "…"))
    ]
    yield from (word.partition("=")[0].strip() for word in words if "=" in word)
    positional = [word for word in words if "=" not in word]
    takes = [name for name in has if name not in ("self", "cls", "this") and name != "*"]
    if not any(name.startswith("*") for name in has) and len(positional) > len(takes):
        yield from (word for word in positional if word not in takes)


def _names(text: str, package: str) -> bool:
    pattern = re.sub(r"[-_.]+", "[-_.]+", re.escape(package).replace(r"\-", "-").replace(r"\.", "."))
    return re.search(rf"(?<![\w-]){pattern}(?![\w-])", text, re.I) is not None


def _unless(known: set[str] | None, name: str, where: str) -> str | None:
    return None if known is None or name in known else f"{where} has no {name}"
