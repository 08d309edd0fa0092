"""What the files of an ecosystem say about one folder, and helpers to read them."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from recollect.code.modules.commands import ProjectTask
from recollect.code.modules.module_map import TestFramework


@dataclass(frozen=True, slots=True)
class PackageInfo:
    """The tools, commands and metadata of one package."""

    tool: str
    defaults: Mapping[str, str] = field(default_factory=dict)  # the tool's own commands, by slot
    tasks: Mapping[str, ProjectTask] = field(default_factory=dict)  # those that the project defines
    test: TestFramework | None = None
    linters: tuple[str, ...] = ()
    name: str = ""  # of the package
    description: str = ""
    dependencies: frozenset[str] = frozenset()
    entries: tuple[str, ...] = ()  # files that it names as entry points


class Linter(NamedTuple):
    name: str
    slot: str
    command: str
    files: Sequence[str] = ()  # it is used if one of these exists, or…
    words: Sequence[str] = ()  # …one of these is in the manifest


def parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def parse_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def table_at(document: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return the table at `path`; {} if there is none."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def as_list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


@cache
def known_linters(ecosystem: str) -> list[Linter]:
    """Return the linters that `data/linters.toml` lists for an ecosystem."""
    tables = tomllib.loads((Path(__file__).parents[1] / "data/linters.toml").read_text("utf-8"))
    return [Linter(**row) for row in tables[ecosystem]]


def find_linters(
    ecosystem: str, names: set[str], text: str, prefix: str = ""
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the linters that are set up, and the command of the first one for each slot."""
    found: list[str] = []
    commands: dict[str, str] = {}
    for linter in known_linters(ecosystem):
        if not names.isdisjoint(linter.files) or any(word in text for word in linter.words):
            found.append(linter.name)
            commands.setdefault(linter.slot, prefix + linter.command)
    return tuple(dict.fromkeys(found)), commands


def first_name(names: Iterable[str], pattern: str) -> str:
    return min((name for name in names if re.fullmatch(pattern, name)), default="")
