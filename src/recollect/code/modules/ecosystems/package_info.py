"""What the files of an ecosystem say about one folder, and helpers to read them."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from recollect.code.modules.commands import ProjectTask, ci_commands
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import join


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
    files: Sequence[str] = ()  # it is set up if one of these exists, or…
    words: Sequence[str] = ()  # …one of these is in the manifest
    runs: Sequence[str] = ()  # how a command or a hook names it; () = by its name


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
    ecosystem: str, names: set[str], text: str, prefix: str = "", used: str = ""
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the linters that are set up, and the command of the first one for each slot.

    `used` is what hooks, CI and tasks run (`what_runs`). If it names a linter of a slot, only those that it names count
    there: settings of others are left over, or are there for editors.
    """
    rows = known_linters(ecosystem)
    are_run = [any(_is_named(word, used) for word in row.runs or (row.name,)) for row in rows]
    decided = {row.slot for row, is_run in zip(rows, are_run, strict=True) if is_run}
    found: list[str] = []
    commands: dict[str, str] = {}
    for row, is_run in zip(rows, are_run, strict=True):
        is_set_up = not names.isdisjoint(row.files) or any(word in text for word in row.words)
        if is_run or (is_set_up and (row.slot not in decided or row.name == "pre-commit")):
            found.append(row.name)
            commands.setdefault(row.slot, prefix + row.command)
    return tuple(dict.fromkeys(found)), commands


_SECTION = re.compile(r"^\[[^\]\n]{1,200}\]", re.M)  # in tox.ini, `[flake8]` has settings and runs nothing


def _is_named(word: str, text: str) -> bool:
    return bool(re.search(rf"(?:^|[\s/\"'\[(,]){re.escape(word)}(?=[\s\"'\])=,:]|$)", text, re.MULTILINE))


def what_runs(project: ScanInput, folder: str) -> str:
    """Return the hooks of pre-commit and the commands of CI, tox, nox and task files, one per line."""
    hooks = re.findall(
        r"(?m)^[ \t]*+-?[ \t]*+id:[ \t]*[\"']?([\w-]+)", project.text(join(folder, ".pre-commit-config.yaml"))
    )
    files = ("tox.ini", "noxfile.py", "Makefile", "justfile", "Taskfile.yml")
    in_ci = [each.line for each in ci_commands(project)]
    texts = [_SECTION.sub("", project.text(join(folder, name))) for name in files]
    return "\n".join((*hooks, *in_ci, *texts))


def first_name(names: Iterable[str], pattern: str) -> str:
    return min((name for name in names if re.fullmatch(pattern, name)), default="")
