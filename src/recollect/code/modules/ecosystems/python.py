"""Python: how a package is built, tested, linted, formatted and run."""

import re
from collections.abc import Mapping
from typing import Any

from recollect.code.modules.commands import ProjectTask, tasks_by_slot
from recollect.code.modules.ecosystems.package_info import (
    PackageInfo,
    as_list,
    find_linters,
    parse_toml,
    table_at,
    what_runs,
)
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import join

_TOOLS = (  # lock file or word in pyproject.toml → tool, what runs a command in its environment, build
    ("uv.lock", "[tool.uv", "uv", "uv run ", "uv build"),
    ("poetry.lock", "[tool.poetry", "poetry", "poetry run ", "poetry build"),
    ("pdm.lock", "[tool.pdm", "pdm", "pdm run ", "pdm build"),
    ("Pipfile", "", "pipenv", "pipenv run ", "python -m build"),
    ("", "hatchling", "hatch", "", "hatch build"),
    ("", "flit_core", "flit", "", "flit build"),
    ("", "maturin", "maturin", "", "maturin build"),
)
_PACKAGES = {"pyproject.toml", "setup.py", "setup.cfg"}  # without one of these there is nothing to build


def read_python(project: ScanInput, folder: str) -> PackageInfo:
    names = project.inside(folder)

    def text(name: str) -> str:
        return project.text(join(folder, name))

    manifest = text("pyproject.toml")
    document = parse_toml(manifest)
    settings = "\n".join((manifest, text("setup.cfg"), text("tox.ini")))
    tool, run, build = "pip", "", "python -m build"
    for lock, word, *found in _TOOLS:
        if lock in names or (word and word in manifest):
            tool, run, build = found
            break
    else:
        if "setup.py" in names or "setuptools" in manifest:
            tool = "setuptools"
    files = {name: text(name) for name in ("pyproject.toml", "setup.cfg", "tox.ini")}
    linters, commands, sources = find_linters("python", names, files, run, what_runs(project, folder))
    if commands.get("types") == f"{run}mypy ." and _says_what_mypy_checks(f"{settings}\n{text('mypy.ini')}"):
        commands["types"] = f"{run}mypy"
    test = _tests(project, folder, names, settings, run)
    defaults = {"build": build, **commands} if names & _PACKAGES else commands
    if test:
        defaults["test"] = test.run_command
    if "manage.py" in names:
        defaults["run"] = f"{run}python manage.py runserver"
    metadata = table_at(document, "project") or table_at(document, "tool", "poetry")
    scripts = {**table_at(document, "project", "scripts"), **table_at(document, "tool", "poetry", "scripts")}
    return PackageInfo(
        tool,
        defaults,
        _tasks(document, run),
        test,
        linters,
        str(metadata.get("name", "")),
        str(metadata.get("description", "")),
        _needs(document, text("requirements.txt") + text("setup.cfg")),
        tuple(filter(None, (_file(project, folder, str(target)) for target in scripts.values()))),
        sources,
    )


def _tests(project: ScanInput, folder: str, names: set[str], settings: str, run: str) -> TestFramework | None:
    configs = (
        ("pytest.ini", ""),
        ("pyproject.toml", "[tool.pytest"),
        ("setup.cfg", "[tool:pytest]"),
        ("tox.ini", "[pytest]"),
    )
    for name, word in configs:
        if name in names and (not word or word in project.text(join(folder, name))):
            return TestFramework("pytest", join(folder, name), f"{run}pytest")
    requirements = [
        path
        for path in project.sizes
        if re.search(r"(^|/)[\w-]{0,60}requirements[\w-]{0,60}(/[\w-]{1,80})?\.txt$", path)
        and path.startswith(folder)
    ]
    if "pytest" in settings or any(
        re.search(r"(?m)^pytest\b", project.text(path)) for path in sorted(requirements)[:5]
    ):
        return TestFramework("pytest", "", f"{run}pytest")
    start = f"{folder}/" if folder else ""
    tests = [
        path
        for path in project.sizes
        if path.startswith(start) and re.search(r"(^|/)(test_\w+|tests)\.py$", path)
    ]
    if any(path.endswith("conftest.py") and path.startswith(start) for path in project.sizes):
        return TestFramework("pytest", "", f"{run}pytest")
    if tests and ("manage.py" in names):
        return TestFramework("django", "manage.py", f"{run}python manage.py test")
    return TestFramework("unittest", "", f"{run}python -m unittest") if tests else None


def _tasks(document: Mapping[str, Any], run: str) -> dict[str, ProjectTask]:
    for path, call in (
        (("tool", "poe", "tasks"), f"{run}poe "),
        (("tool", "taskipy", "tasks"), f"{run}task "),
        (("tool", "pdm", "scripts"), "pdm run "),
        (("tool", "hatch", "envs", "default", "scripts"), "hatch run "),
    ):
        if found := table_at(document, *path):
            return tasks_by_slot({name: str(body) for name, body in found.items()}, call, "pyproject.toml")
    return {}


_REQUIREMENT = re.compile(r"^\s*([A-Za-z][\w.-]*)", re.MULTILINE)


def _needs(document: Mapping[str, Any], requirements: str) -> frozenset[str]:
    project = table_at(document, "project")
    listed = [*as_list(project.get("dependencies")), requirements]
    listed += [
        each for group in table_at(project, "optional-dependencies").values() for each in as_list(group)
    ]
    listed += list(table_at(document, "tool", "poetry", "dependencies"))
    found = (
        match.lower() for each in listed if isinstance(each, str) for match in _REQUIREMENT.findall(each)
    )
    return frozenset(found) - {"python"}


def _file(project: ScanInput, folder: str, target: str) -> str:
    """Return the file of an entry point: `flask.cli:main` is in `src/flask/cli.py`."""
    path = target.partition(":")[0].replace(".", "/")
    for start in ("src/", "", "lib/"):
        for end in (".py", "/__init__.py"):
            if (found := join(folder, f"{start}{path}{end}")) in project:
                return found
    return ""


def _says_what_mypy_checks(settings: str) -> bool:
    """Return whether mypy's section names files, packages or modules, so that the command needs no folder."""
    in_section = False
    for line in settings.splitlines():
        if line.startswith("["):
            in_section = line.strip() in ("[mypy]", "[tool.mypy]")
        elif in_section and re.match(r"(?:files|packages|modules) {0,8}=", line):
            return True
    return False
