"""What the files of an ecosystem say about one folder, and helpers to read them."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from recollect.code.modules.commands import ProjectTask, ci_commands
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import join
from recollect.frozen import frozen

CONVENTION = "convention of "  # the source of a command that nothing in the project speaks for
SET_UP = "set up in "  # of one whose tool has settings there, which do not say how it is run
HOOKS = ".pre-commit-config.yaml"


@frozen
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
    sources: Mapping[str, str] = field(default_factory=dict)  # of `defaults`: what speaks for each


class LinterSetup(NamedTuple):
    """The linters of a package, and the command of the first one for each slot with what speaks for it."""

    names: tuple[str, ...]
    commands: dict[str, str]
    sources: dict[str, str]


class Runner(NamedTuple):
    """A file that runs linters, or a part of it."""

    file: str
    text: str  # what it runs
    command: str = ""  # that runs just this; "" = unknown


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
    ecosystem: str,
    names: set[str],
    settings: Mapping[str, str],
    prefix: str = "",
    runners: Sequence[Runner] = (),
) -> LinterSetup:
    """Return the linters that are set up by files or in `settings`, which has texts by file.

    `runners` are the hooks, CI and tasks (`what_runs`). If they name a linter of a slot, only those that they name count
    there: settings of others are left over, or are there for editors, as are those of a type checker if they run other tools only.
    """
    rows = known_linters(ecosystem)
    run_by = [_runner(row, runners) for row in rows]
    decided = {row.slot for row, runner in zip(rows, run_by, strict=True) if runner}
    found: list[str] = []
    commands: dict[str, str] = {}
    sources: dict[str, str] = {}
    for row, runner in zip(rows, run_by, strict=True):
        set_up = _set_up_in(row, names, settings)
        is_left_over = row.slot in decided or (row.slot == "types" and decided)
        if runner or (set_up and (row.name == "pre-commit" or not is_left_over)):
            found.append(row.name)
            if row.slot not in commands and row.name != "isort":  # which formats the imports alone
                commands[row.slot], sources[row.slot] = prefix + row.command, f"{SET_UP}{set_up}"
                if runner and runner.command and (row.slot != "format" or runner.file == HOOKS):
                    commands[row.slot], sources[row.slot] = runner.command, runner.file
                elif set_up == HOOKS:
                    sources[row.slot] = HOOKS
                elif runner:
                    sources[row.slot] = f"{SET_UP}{set_up or runner.file}"
    return LinterSetup(tuple(dict.fromkeys(found)), commands, sources)


def _runner(row: Linter, runners: Sequence[Runner]) -> Runner | None:
    return next(
        (each for each in runners if any(_is_named(word, each.text) for word in row.runs or (row.name,))),
        None,
    )


def _set_up_in(row: Linter, names: set[str], settings: Mapping[str, str]) -> str:
    """Return the file that sets a linter up; "" if none does."""
    files = (name for name in row.files if name in names)
    sections = (name for name, text in settings.items() for word in row.words if word in text)
    return next(files, "") or next(sections, "")


_SECTION = re.compile(r"^\[[^\]\n]{1,200}\]", re.M)  # in tox.ini, `[flake8]` has settings and runs nothing


def _is_named(word: str, text: str) -> bool:
    return bool(re.search(rf"(?:^|[\s/\"'\[(,]){re.escape(word)}(?=[\s\"'\])=,:]|$)", text, re.MULTILINE))


def what_runs(project: ScanInput, folder: str) -> list[Runner]:
    """Return CI, tox, nox and task files with what they run, then the hooks of pre-commit."""
    found = [Runner(each.source, each.line) for each in ci_commands(project)]
    tox = re.sub(r"(?m)^(commands\w{0,8})=", r"\1 = ", project.text(join(folder, "tox.ini")))
    parts = re.split(r"(?m)^\[testenv:([\w.{},-]{1,60})\]", tox)
    found += [
        Runner("tox.ini", _SECTION.sub("", text), "" if "{" in name else f"tox -e {name}")
        for name, text in zip(parts[1::2], parts[2::2], strict=False)
    ]
    found.append(Runner("tox.ini", _SECTION.sub("", parts[0])))
    for name in ("noxfile.py", "Makefile", "justfile", "Taskfile.yml"):
        found.append(Runner(name, project.text(join(folder, name))))
    hooks = re.findall(r"(?m)^[ \t]*+-?[ \t]*+id:[ \t]*[\"']?([\w-]+)", project.text(join(folder, HOOKS)))
    program = "prek" if _runs_prek(project, folder, found) else "pre-commit"
    return found + [Runner(HOOKS, hook, f"{program} run {hook} --all-files") for hook in hooks]


def _runs_prek(project: ScanInput, folder: str, runners: Sequence[Runner]) -> bool:
    """Return whether prek runs the hooks: they need it, or it is what CI and tasks name."""
    if re.search(r"(?m)^[ \t]*+-?[ \t]*+repo:[ \t]*[\"']?builtin\b", project.text(join(folder, HOOKS))):
        return True
    names = {name for each in runners for name in ("prek", "pre-commit") if _is_named(name, each.text)}
    return names == {"prek"}


def first_name(names: Iterable[str], pattern: str) -> str:
    return min((name for name in names if re.fullmatch(pattern, name)), default="")
