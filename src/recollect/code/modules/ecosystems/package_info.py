"""What an ecosystem's files say of one folder, and how such files are read."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from recollect.code.modules.commands import ProjectTask
from recollect.code.modules.module_map import TestFramework


@dataclass(frozen=True, slots=True)
class PackageInfo:
    """What an ecosystem's files say of one folder."""

    tool: str
    defaults: Mapping[str, str] = field(default_factory=dict)  # the tool's own commands, by slot
    tasks: Mapping[str, ProjectTask] = field(default_factory=dict)  # those the project named itself
    test: TestFramework | None = None
    linters: tuple[str, ...] = ()
    name: str = ""  # of the package
    description: str = ""
    dependencies: frozenset[str] = frozenset()
    entries: tuple[str, ...] = ()  # files it names as its doors


class Linter(NamedTuple):
    name: str
    slot: str
    command: str
    files: tuple[str, ...] = ()  # one of these is there, or…
    words: tuple[str, ...] = ()  # …one of these stands in the manifest


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
    """The table at `path`; {} where there is none."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def as_list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def find_linters(
    known: Iterable[Linter], names: set[str], told: str, prefix: str = ""
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Those that are set up, and the command of the first for each slot."""
    found: list[str] = []
    commands: dict[str, str] = {}
    for linter in known:
        if not names.isdisjoint(linter.files) or any(word in told for word in linter.words):
            found.append(linter.name)
            commands.setdefault(linter.slot, prefix + linter.command)
    return tuple(dict.fromkeys(found)), commands


def first_name(names: Iterable[str], pattern: str) -> str:
    return min((name for name in names if re.fullmatch(pattern, name)), default="")
