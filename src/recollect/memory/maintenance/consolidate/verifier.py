"""Whether what a memory says of the code still holds, as far as a program can tell."""

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
from recollect.memory.anchors.tie import KnownCode, marked_file, tie

_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+\.\w{1,8}")
# What is said to be gone, or still to come, is not stale for not being there.
_ABSENT = re.compile(
    r"\b(remov\w+|delet\w+|renam\w+|moved?|replac\w+|dropp\w+|gone|no longer|used to|was|were|will|add(ed)?|creat\w+)\b",
    re.I,
)
_TARGET = re.compile(r"^([\w.-]+(?:\s+[\w.-]+)*)\s*:(?!=)", re.M)
_RECIPE = re.compile(r"^@?([\w-]+)[^:=\n]*:(?!=)", re.M)
# What is said to be a package that the project needs.
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

    def changed(self, memory: m.Memory) -> str | None:
        """What of that is due to a change of the code it is tied to."""

    def tie(self, memory: m.Memory) -> tuple[m.Anchor, ...]:
        """The code it is about, as it is now."""


class NamedThings:
    """Files and packages that a memory names must be there below `root`, commands in the manifest that would define them,
    and the code it is tied to must be what it was."""

    def __init__(self, root: Path, code: KnownCode | None = None) -> None:
        self._root = root
        self._code = code
        self._seen: dict[str, Seen] = {}

    def tie(self, memory: m.Memory) -> tuple[m.Anchor, ...]:
        return tie(self._root, memory.content, memory.file_paths, self._code)

    def check(self, memory: m.Memory) -> str | None:
        if memory.branch is not None:
            return None
        return self._untrue(memory) or self.changed(memory) or self._unnamed(memory)

    def changed(self, memory: m.Memory) -> str | None:
        checked = check(self._root, [memory], self._seen, self._code)
        self._seen |= checked.seen
        return checked.stale.get(memory.id)

    def _untrue(self, memory: m.Memory) -> str | None:
        """What it says of the parameters of a function it is tied to, and the function does not have."""
        for anchor in memory.anchors:
            name = anchor.symbol.rpartition(".")[2]
            calls, named = _calls_of(name, memory.content), _parameters_named(name, memory.content)
            has = self._parameters(anchor) if calls or named else []
            if not has or any(each.startswith("**") for each in has):
                continue
            for parameter in (*named, *(each for call in calls for each in _given(call, has))):
                if parameter not in has:
                    return f"`{anchor.symbol}` has no parameter {parameter}"
        return None

    def _parameters(self, anchor: m.Anchor) -> list[str]:
        file = marked_file(self._root, anchor.path)
        definition = file.definition(anchor.symbol) if file is not None else None
        return [name for name, _ in definition.parameters] if definition is not None else []

    def _unnamed(self, memory: m.Memory) -> str | None:
        """A file, a package or a command that it names and that is not there."""
        if _ABSENT.search(memory.content):
            return None
        quoted = _QUOTED.findall(memory.content)
        for name in dict.fromkeys((*memory.file_paths, *filter(_PATH.fullmatch, quoted))):
            if not self._has(name):
                return f"{name} does not exist"
        for command in quoted:
            if missing := self._missing(command.split()):
                return missing
        for match in _NEEDED.finditer(memory.content):
            package = match[1] or match[2]
            if self._needs and not _names(self._needs, package):
                return f"no manifest names {package}"
        return None

    @cached_property
    def _needs(self) -> str:
        """What the manifests of the project say, all of them; empty where there are none."""
        paths = [path for name in _MANIFESTS for path in (self._files or {}).get(name, ())]
        return "\n".join(filter(None, map(self._read, paths[:_MOST_MANIFESTS])))

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
        if not text or re.search(r"^-?include\b|^\.DEFAULT\s*:|^[^\t#\n]*%[^\n]*:", text, re.M):
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


def _calls_of(function: str, text: str) -> list[str]:
    """What stands in the brackets of calls of it."""
    found = [call for quoted in _QUOTED.findall(text) if (call := _PLAIN_CALL.fullmatch(quoted.strip()))]
    return [call[2] for call in found if call[1].rpartition(".")[2] == function]


def _parameters_named(function: str, text: str) -> list[str]:
    """Those that `text` says `function` takes: "the `strict` parameter of `parse`", "`parse` takes `strict`"."""
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


def _given(call: str, has: Sequence[str]) -> Iterator[str]:
    """What a call names: its keywords, and its words if there are more of them than could be meant by position."""
    words = [
        word for each in call.split(",") if (word := each.strip()) and not word.startswith(("*", ".", "…"))
    ]
    yield from (word.partition("=")[0].strip() for word in words if "=" in word)
    positional = [word for word in words if "=" not in word]
    takes = [each for each in has if each not in ("self", "cls", "this") and each != "*"]
    if not any(each.startswith("*") for each in has) and len(positional) > len(takes):
        yield from (word for word in positional if word not in takes)


def _names(text: str, package: str) -> bool:
    pattern = re.sub(r"[-_.]+", "[-_.]+", re.escape(package).replace(r"\-", "-").replace(r"\.", "."))
    return re.search(rf"(?<![\w-]){pattern}(?![\w-])", text, re.I) is not None


def _unless(known: set[str] | None, name: str, where: str) -> str | None:
    return None if known is None or name in known else f"{where} has no {name}"
