"""Node: how a package is built, tested, linted, formatted and run."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from recollect.code.modules.commands import ProjectTask, tasks_by_slot
from recollect.code.modules.ecosystems.package_info import (
    PackageInfo,
    find_linters,
    first_name,
    parse_json,
    table_at,
)
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import join

_TOOLS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
    ("package-lock.json", "npm"),
)
_TESTS = (  # package → config file, command
    ("vitest", r"(vitest|vite)\.config\.\w+", "vitest run"),
    ("jest", r"jest\.config\.\w+", "jest"),
    ("mocha", r"\.mocharc\.\w+", "mocha"),
    ("ava", r"ava\.config\.\w+", "ava"),
    ("jasmine", r"jasmine\.json", "jasmine"),
    ("tap", r"\.taprc", "tap"),
    ("borp", r"", "borp"),
    ("qunit", r"", "qunit"),
    ("@playwright/test", r"playwright\.config\.\w+", "playwright test"),
    ("cypress", r"cypress\.config\.\w+", "cypress run"),
)


def read_node(project: ScanInput, folder: str) -> PackageInfo:
    names = project.inside(folder)
    text = project.text(join(folder, "package.json"))
    document = parse_json(text)
    tool = _tool(project, folder, document)
    run = (
        "npx "
        if tool == "npm"
        else f"{tool} exec "
        if tool == "pnpm"
        else "bunx "
        if tool == "bun"
        else f"{tool} "
    )
    scripts = {
        name: str(body)
        for name, body in table_at(document, "scripts").items()
        if "no test specified" not in str(body)
    }
    source = join(folder, "package.json")
    tasks = tasks_by_slot(scripts, f"{tool} run ", source)
    if "test" in tasks and tasks["test"].line.endswith(" test"):
        line = f"{tool} test" if tool != "bun" else "bun run test"
        tasks["test"] = ProjectTask(line, tasks["test"].body, source)
    if "run" in tasks and tasks["run"].line == "npm run start":
        tasks["run"] = ProjectTask("npm start", tasks["run"].body, source)
    needs = {name for group in ("dependencies", "peerDependencies") for name in table_at(document, group)}
    packages = needs | set(table_at(document, "devDependencies"))
    linters, commands, sources = find_linters("node", names, {"package.json": text}, run)
    if commands.get("format") == f"{run}prettier --write ." and (own := _own_prettier(scripts)) is not None:
        del commands["format"]  # it would write files that the project does not format
        if own:
            commands["format"], sources["format"] = run + own, source
    if "typescript" not in packages and commands.get("types") == f"{run}tsc --noEmit":
        del commands["types"]  # `npx` would fetch another package of that name
    test = _tests(names, folder, packages, scripts, run, tool)
    if test and "test" in tasks:
        test = TestFramework(test.tool, test.config_file, tasks["test"].line)
    defaults = {**commands, **({"test": test.run_command} if test else {})}
    return PackageInfo(
        tool,
        defaults,
        tasks,
        test,
        tuple(each for each in linters if each != "typescript"),
        str(document.get("name", "")),
        str(document.get("description", "")),
        frozenset(needs),
        tuple(_doors(project, folder, document)),
        sources,
    )


def _own_prettier(scripts: Mapping[str, str]) -> str | None:
    """Return how a script has Prettier write files; "" if scripts only check some of them, None if they name none."""
    calls = [
        part.strip()
        for body in scripts.values()
        for part in re.split(r"&&|\|\||;", body)
        if _PRETTIER.match(part)
    ]
    writing = next((call for call in calls if re.search(r"\s(?:-w|--write)\b", call)), "")
    return writing if writing or any("." not in call.split() for call in calls) else None


_PRETTIER = re.compile(r"\s*+prettier\s")


def _tool(project: ScanInput, folder: str, document: Mapping[str, Any]) -> str:
    """Return the package manager; a package of a workspace has that of the root."""
    while True:
        if named := str(document.get("packageManager", "")).partition("@")[0]:
            return named
        names = project.inside(folder)
        for lock, tool in _TOOLS:
            if lock in names:
                return tool
        if not folder:
            return "npm"
        folder = folder.rpartition("/")[0]
        document = parse_json(project.text(join(folder, "package.json")))


def _tests(
    names: set[str], folder: str, packages: set[str], scripts: Mapping[str, str], run: str, tool: str
) -> TestFramework | None:
    commands_run = " ".join(scripts.values())
    tested = " ".join(
        body for name, body in scripts.items() if re.match(r"(?:test|unit|spec|jest|ci)\b", name)
    )
    for package, config, command in _TESTS:
        is_run = re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", tested)
        if is_run or (
            package in packages and "test" not in scripts
        ):  # a script may run another one than is installed
            found = first_name(names, config)
            return TestFramework(package, join(folder, found) if found else "", run + command)
    if re.search(r"\bnode\b[^&|;\n]{0,400}\s--test\b", commands_run):
        return TestFramework("node:test", "", "node --test")
    return TestFramework("bun", "", "bun test") if tool == "bun" and "test" not in scripts else None


def _doors(project: ScanInput, folder: str, document: Mapping[str, Any]) -> Iterable[str]:
    commands = document.get("bin")
    named = [*commands.values()] if isinstance(commands, dict) else [commands]
    for each in (*named, document.get("main"), document.get("module")):
        if isinstance(each, str):
            path = join(folder, each.removeprefix("./"))
            for ending in ("", ".js", "/index.js"):
                if path + ending in project:
                    yield path + ending
                    break
