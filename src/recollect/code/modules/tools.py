"""How a project is built, tested, linted, formatted and run, for each part of it.

What CI runs wins, unless the project has a task of a plain name (`make test`, `npm test`) that runs the same. Where neither
exists, what a guide for contributors names counts, then the ecosystem's convention. A command that failed whenever an
agent ran it comes after those that did not, and one that passed comes first. Every command has its source.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from recollect.code.languages.table import endings_of
from recollect.code.modules.commands import (
    CiCommand,
    ProjectTask,
    ci_commands,
    ci_text,
    guide_commands,
    runner_names,
    slot_of,
    task_files,
    task_names,
)
from recollect.code.modules.ecosystems.package_info import (
    CONVENTION,
    SET_UP,
    PackageInfo,
    as_list,
    parse_toml,
    table_at,
)
from recollect.code.modules.ecosystems.table import CI_NAMES, ECOSYSTEMS, has_manifest
from recollect.code.modules.module_map import SLOTS, ProjectTools, TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import (
    FileRole,
    folder_of,
    folder_role,
    is_fixture_folder,
    is_helper_folder,
    is_test_name,
    is_vendored,
)
from recollect.text.redact import redact

MOST_PARTS = 40
MOST_LINTERS = 3  # in one command
_IN_GUIDES = (
    "test",
    "lint",
    "types",
    "format",
)  # slots for which a guide counts; "build" may be about its pages
FEWEST_PASSES = 3  # of a command that agents ran, and that no file names
_OWN_TASKS = ("npm ", "pnpm ", "yarn ", "bun ", "composer ", "make ", "just ", "task ", "rake")
_OF_DOCUMENTS = re.compile(
    r"\bcd (?:\./)?(?:website|docs?|examples?|playground)\b|docusaurus|vitepress|storybook|mkdocs"
)  # what a task shows that does not run the project
_SCOPED = {  # how to address one package of a workspace from the root; for others, `cd` into it
    "cargo": {"build": "cargo build -p {name}", "test": "cargo test -p {name}"},
    "maven": {"build": "{mvn} package -pl {path} -am", "test": "{mvn} test -pl {path} -am"},
    "gradle": {"build": "{mvn} :{colon}:build", "test": "{mvn} :{colon}:test"},
    "pnpm": {"*": "pnpm --filter {name} run {task}"},
    "npm": {"*": "npm run {task} -w {path}"},
    "yarn": {"*": "yarn workspace {name} {task}"},
}


_PROGRAMS = {"cargo": ("cargo",), "maven": ("mvn", "mvnw"), "gradle": ("gradle", "gradlew")}
_TEST_RUNNERS = ("ctest", "meson test", "make check")  # which a project may have, and not use


class Candidate(NamedTuple):
    """A command for a slot, and the file or the reason that speaks for it."""

    line: str
    source: str


class CommandRun(NamedTuple):
    """How often agents ran a command."""

    line: str
    passed: int
    failed: int


def find_tools(project: ScanInput, runs: Sequence[CommandRun] = ()) -> tuple[ProjectTools, ...]:
    """Return the tools of the whole project first, then those of its parts. `runs` is what agents ran at the root."""
    in_ci = ci_commands(project)
    in_guides = guide_commands(project)
    found: list[ProjectTools] = []
    root_tool = ""  # the tool of the root that can address its parts, even if it has no commands
    for folder in package_folders(project):
        if is_helper_folder(folder):
            continue  # nobody has to test it
        here = packages_in(project, folder)
        for number, (ecosystem, info) in enumerate(here.items()):
            if number and ecosystem == "c" and info.tool == "make":
                continue  # a Makefile beside a manifest only has tasks
            tools = _tools(project, folder, ecosystem, info, in_ci, in_guides, runs, main=number == 0)
            if number:
                tools = _without_guesses(tools)  # of what is built along with the rest
            if (
                folder
                and info.tool == "cargo"
                and root_tool == "cargo"
                and not _is_named_by_root(project, folder)
            ):
                continue  # left out of the workspace, often since it is built for something else
            if folder and info.tool == root_tool == "gradle" and _is_left_out_of_settings(project, folder):
                continue
            if folder:
                tools = _from_root(tools, info, root_tool, is_member=_is_named_by_root(project, folder))
            elif number == 0 and _has_workspace(project, tools.tool):
                root_tool = tools.tool
            if tools.commands:
                found.append(tools)
    if found and found[0].path and (whole := _run_at_root(found[0].tool, in_ci)):
        found.insert(0, whole)
    if not found and (tasks := task_files(project, "")):
        commands = {slot: task.line for slot, task in tasks.items()}
        found.append(ProjectTools("", "make", commands, {slot: task.source for slot, task in tasks.items()}))
    return tuple(found)


def _without_guesses(tools: ProjectTools) -> ProjectTools:
    commands = {
        slot: line for slot, line in tools.commands.items() if not tools.sources[slot].startswith(CONVENTION)
    }
    sources = {slot: tools.sources[slot] for slot in commands}
    return replace(tools, commands=commands, sources=sources, test=tools.test if "test" in commands else None)


def _run_at_root(tool: str, in_ci: Sequence[CiCommand]) -> ProjectTools | None:
    """Return what CI runs at the root of a project that has manifests in its folders only; None if it tests nothing there."""
    first = {each.slot: each for each in reversed(in_ci) if not each.folder and each.ecosystem}
    if "test" not in first:
        return None
    commands = {slot: redact(each.line)[0] for slot, each in first.items()}
    sources = {slot: each.source for slot, each in first.items()}
    return ProjectTools("", tool, commands, sources)


def _is_left_out_of_settings(project: ScanInput, folder: str) -> bool:
    """Return whether Gradle's settings name other folders one by one, and not this one."""
    text = project.text("settings.gradle") + project.text("settings.gradle.kts")
    named = re.findall(r"""['"]:?([\w.-]+(?:[:/][\w.-]+)*)['"]""", text)
    last = folder.rsplit("/", 1)[-1]
    is_literal = sum(bool(project.inside(name.replace(":", "/"))) for name in named) > 1
    return is_literal and not any(re.split("[:/]", name)[-1] == last for name in named)


def _has_workspace(project: ScanInput, tool: str) -> bool:
    """Return whether the tool of the root knows the packages below it."""
    if tool == "pnpm":
        return "pnpm-workspace.yaml" in project.inside("")
    return tool not in ("npm", "yarn") or '"workspaces"' in project.text("package.json")


def package_folders(project: ScanInput) -> list[str]:
    """Return the folders with a manifest of their own, the root first."""
    manifests = [
        each for ecosystem in ECOSYSTEMS.values() for each in ecosystem.manifests if each != "Makefile"
    ]
    named = {name for name in manifests if name[0] != "*"}
    endings = tuple(name[1:] for name in manifests if name[0] == "*")
    with_manifest = {
        folder_of(path)
        for path in project.sizes
        if ((name := path.rsplit("/", 1)[-1]) in named or name.endswith(endings)) and not is_vendored(path)
    }
    with_manifest = {
        folder for folder in with_manifest if not folder or _is_part(project, folder, with_manifest)
    }
    return ["", *sorted(with_manifest - {""}, key=lambda folder: (folder.count("/"), folder))][
        : MOST_PARTS + 1
    ]


def _is_part(project: ScanInput, folder: str, with_manifest: set[str]) -> bool:
    """Return whether it is a package of its own; not a fixture, an example, a tool, or built by its parent."""
    names = project.inside(folder)
    if (
        folder.startswith(".")
        or folder == "buildSrc"  # Gradle builds it before everything else
        or is_fixture_folder(folder)
        or ("package.json" in names and '"name"' not in project.text(f"{folder}/package.json"))
    ):
        return False
    top = folder.split("/")[0]
    if folder_role(top) and not names & project.inside(""):
        return False
    if folder_role(top) is FileRole.TOOLING and not _is_named_by_root(project, folder):
        return False
    of_parent = {
        "CMakeLists.txt",
        "meson.build",
        "requirements.txt",
        "Makefile",
        "tox.ini",
        "setup.cfg",
        "configure",
    }
    return has_manifest(
        names - of_parent,
        [each for ecosystem in ECOSYSTEMS.values() for each in ecosystem.manifests],
    ) or (not any(parent in with_manifest for parent in _parents(folder)) and bool(names & of_parent))


def _is_named_by_root(project: ScanInput, folder: str) -> bool:
    """Return whether a manifest of the root names the folder, or the one above it, as part of a workspace."""
    manifests = ["package.json", "pnpm-workspace.yaml", "Cargo.toml", "pyproject.toml", "pom.xml", "go.work"]
    workspace = table_at(parse_toml(project.text("Cargo.toml")), "workspace")
    members = _patterns(workspace.get("members"))
    above = (folder, *filter(None, _parents(folder)))
    if folder in members:
        return True
    if any(_matches(each, left_out) for left_out in _patterns(workspace.get("exclude")) for each in above):
        manifests.remove("Cargo.toml")
    elif any(_matches(folder, member) for member in members):
        return True
    texts = "\n".join(project.text(name) for name in (*manifests, "settings.gradle", "settings.gradle.kts"))
    texts = re.sub(r"(?m)^[ \t]*+exclude[ \t]*+=[ \t]*+(?:\[[^\]]*+\]|.*$)", "", texts)
    named = "|".join(re.escape(each) for each in (folder, f"{folder_of(folder)}/*") if each != "/*")
    return bool(re.search(rf"(?<![\w/-])(?:\./)?(?:{named})/?(?![\w/*-])", texts))


def _patterns(found: object) -> list[str]:
    """Return the folders that a list in a manifest names, which may have wildcards."""
    return [each.removeprefix("./").rstrip("/") for each in as_list(found) if isinstance(each, str)]


def _matches(folder: str, pattern: str) -> bool:
    """Return whether a pattern such as `libs/*` or `crates/**` stands for the folder."""
    parts = folder.split("/")
    matched = {0}  # how many of the parts the pattern may have used so far
    for wanted in pattern.split("/"):
        if wanted == "**":
            matched = {
                count for count in range(len(parts) + 1) if count >= min(matched, default=len(parts) + 1)
            }
        else:
            matched = {
                count + 1 for count in matched if count < len(parts) and fnmatchcase(parts[count], wanted)
            }
    return len(parts) in matched


def _parents(folder: str) -> Iterator[str]:
    while folder:
        folder = folder_of(folder)
        yield folder


def packages_in(project: ScanInput, folder: str) -> dict[str, PackageInfo]:
    """Return what each ecosystem with a manifest in the folder says, the one with most code first."""
    names = project.inside(folder)
    found = [name for name, each in ECOSYSTEMS.items() if has_manifest(names, each.manifests)]
    if "java" in found and "gradle" in found:
        in_ci = ci_text(project)
        uses_gradle = "gradlew " in in_ci and not re.search(r"\bmvnw? ", in_ci)
        found.remove("java" if uses_gradle else "gradle")
    if len(found) > 1:
        sizes = _by_ending(project, folder)
        much = {
            name: sum(sizes[ending] for ending in endings_of(*ECOSYSTEMS[name].languages)) for name in found
        }
        found = sorted((name for name in found if much[name]), key=lambda name: -much[name])
    return {name: ECOSYSTEMS[name].read(project, folder) for name in found}


def _by_ending(project: ScanInput, folder: str) -> Counter[str]:
    start = f"{folder}/" if folder else ""
    found: Counter[str] = Counter()
    for path, size in project.sizes.items():
        if path.startswith(start) and not path.endswith(".gradle.kts"):  # a build script is not Kotlin code
            found[f".{path.rsplit('.', 1)[-1]}"] += size + 1
    return found


def _tools(
    project: ScanInput,
    folder: str,
    ecosystem: str,
    info: PackageInfo,
    in_ci: Sequence[CiCommand],
    in_guides: Sequence[CiCommand],
    runs: Sequence[CommandRun],
    *,
    main: bool,
) -> ProjectTools:
    tasks: dict[str, ProjectTask] = {**info.tasks, **(task_files(project, folder) if main else {})}
    family = CI_NAMES.get(ecosystem, ecosystem)
    commands: dict[str, str] = {}
    sources: dict[str, str] = {}
    linters = list(info.linters)

    def of_slot(slot: str, named: Sequence[CiCommand]) -> list[CiCommand]:
        families = (family, "") if main else (family,)
        return [
            each
            for each in named
            if each.slot == slot and each.folder == folder and each.ecosystem in families
        ]

    if info.tool == "cmake" and not of_slot("test", in_ci):
        tasks.pop("test", None)  # a Makefile beside it is for those who have no CMake
    if "run" in tasks and not _starts_it(tasks["run"].body):
        del tasks["run"]
    for slot in SLOTS:
        given = _once(of_slot(slot, in_ci))
        if slot == "test" and _names_parts(given):
            given = []  # none of them tests the whole
        default = _default(slot, info)
        if slot == "test" and folder and _is_guess(default.source) and not _has_tests(project, folder, info):
            default = Candidate("", "")
        first = _best(slot, given, tasks.get(slot), default)
        candidates = [first]
        if slot in _IN_GUIDES:
            guides = [Candidate(each.line, each.source) for each in of_slot(slot, in_guides)]
            is_run = given or slot in tasks or not (slot == "test" or _is_guess(first.source))
            if slot == "test" and _is_matrix(first.line) and guides:
                is_run = False  # people run the tests once
            candidates = [first, *guides] if is_run else [*guides, first]
        if chosen := _by_runs(candidates, runs if slot == "test" and main and not folder else ()):
            commands[slot] = redact(chosen.line)[0]
            sources[slot] = chosen.source
        if slot in ("lint", "format", "types"):
            linters += [
                each.tool.split()[0].removesuffix(".phar")
                for each in given
                if each.ecosystem and not each.line.startswith(_OWN_TASKS)  # a task may have any name
            ]
    test = info.test
    if test and (
        "test" not in commands or (test.tool in _TEST_RUNNERS and test.tool not in commands["test"])
    ):
        test = None
    elif test and "test" in commands and not _is_matrix(commands["test"]):
        test = TestFramework(test.tool, test.config_file, commands["test"])
    elif test is None and "test" in commands and not _is_runner(commands["test"]):
        test = TestFramework(_framework(commands["test"]), "", commands["test"])
    return ProjectTools(folder, info.tool, commands, sources, test, _without_runners(linters))


def _starts_it(body: str) -> bool:
    """Return whether a task of that name runs the project, and not its documents or tests."""
    known = slot_of(body.strip().strip('"'))
    is_other = known and known[1] in ("test", "lint", "build")
    return not (_OF_DOCUMENTS.search(body) or is_other or re.search(r"\s--watch\b|\swatch\b", body))


def _once(given: Sequence[CiCommand]) -> list[CiCommand]:
    """Return the commands without options that CI gives one value after another: `-PtestOnJava=8`, `-PtestOnJava=11`."""
    names = Counter(
        (each.line.replace(word, name), name)
        for each in {each.line: each for each in given}.values()
        for word in each.line.split()
        for name, sign, _ in (word.partition("="),)
        if sign and word[0] == "-"
    )
    varied = {name for (_, name), count in names.items() if count > 1}
    return [
        replace(
            each, line=" ".join(word for word in each.line.split() if word.partition("=")[0] not in varied)
        )
        for each in given
    ]


def _names_parts(given: Sequence[CiCommand]) -> bool:
    """Return whether CI tests part after part: `dotnet test tests/A`, `dotnet test tests/B`."""
    parts = {
        (each.tool, path)
        for each in given
        for path in re.findall(r"(?<= )[\w.-]+(?:/[\w.-]+)+", each.line)
        if each.line.startswith(f"{each.tool} {path}")
    }
    return len(parts) > 1 and len(parts) >= len({each.line for each in given}) / 2


def _best(slot: str, given: Sequence[CiCommand], task: ProjectTask | None, default: Candidate) -> Candidate:
    """Prefer a named task to CI's command if it does the same."""
    if not given:
        return Candidate(task.line, task.source) if task else default
    first = given[0]
    plain_names = [f"{runner} {name}" for runner in ("make", "just", "task") for name in task_names()[slot]]
    if task and first.line in plain_names:
        return Candidate(first.line, f"{task.source}, as CI runs it")
    if task and (first.line.startswith(_OWN_TASKS) or first.tool.split()[0] in task.body):
        how = "as CI runs it" if task.line in (first.line, first.tool) else f"CI runs {first.tool}"
        return Candidate(task.line, f"{task.source}, {how}" if task.source else first.source)
    if slot != "lint":
        return Candidate(first.line, first.source)
    by_tool = {each.tool: each.line for each in reversed(given)}  # the shortest command of each linter
    if default.line and all(tool.endswith("--check") for tool in by_tool):
        return default  # CI only checks the formatting, but a linter is set up
    lines = list(dict.fromkeys(reversed(by_tool.values())))[:MOST_LINTERS]
    return Candidate(" && ".join(lines), first.source)


def _default(slot: str, info: PackageInfo) -> Candidate:
    is_configured = slot == "test" and info.test is not None and info.test.config_file
    source = info.test.config_file if info.test and is_configured else f"{CONVENTION}{info.tool}"
    return Candidate(info.defaults.get(slot, ""), info.sources.get(slot) or source)


def _has_tests(project: ScanInput, folder: str, info: PackageInfo) -> bool:
    """Return whether a part has tests of its own. Those of Rust are inside its code."""
    inside = (path[len(folder) + 1 :] for path in project.sizes if path.startswith(f"{folder}/"))
    if "<packaging>pom</packaging>" in project.text(f"{folder}/pom.xml"):
        return False  # it only names other parts
    if info.tool == "gradle":
        own = [path.removeprefix(f"{folder}/") for path in project.sizes if path.startswith(f"{folder}/src/")]
        script = project.text(f"{folder}/build.gradle") + project.text(f"{folder}/build.gradle.kts")
        if own and not _MOVES_TESTS.search(script):
            return any(map(_TESTS_OF_GRADLE.match, own))
    return any(
        is_test_name(path) or any(folder_role(part) is FileRole.TESTS for part in path.split("/")[:-1])
        for path in inside
    ) or (info.tool == "cargo" and _has_rust_tests(project, folder))


_MOVES_TESTS = re.compile(r"(?i)\btest\b[^{}]{0,80}\{?[^{}]{0,200}\bsrcDir|\bsrcDirs?\b[^\n]{0,200}test")
_TESTS_OF_GRADLE = re.compile(  # of which the tasks `test` and `check` run none on a device
    r"src/(?:test|(?!android(?:Instrumented)?Test/|(?:integration|functional|int)Test/)\w+Test)/"
)


def _has_rust_tests(project: ScanInput, folder: str) -> bool:
    """Return whether the code of a crate tests itself. That of a module for another language often cannot."""
    sources = (path for path in project.sizes if path.startswith(f"{folder}/") and path.endswith(".rs"))
    return any(_RUST_TEST.search(project.text(path)) for path in sources)


_RUST_TEST = re.compile(r"#!?\[[^\]\n]{0,80}test|//[/!] ?```|\b(?:quickcheck|proptest)!")


def _by_runs(candidates: Sequence[Candidate], runs: Sequence[CommandRun]) -> Candidate | None:
    """Return the first candidate: those that passed when agents ran them, then the others, then those that only failed."""
    known = {run.line: run for run in runs}
    named = {each.line for each in candidates}
    learnt = [
        Candidate(run.line, f"passed {run.passed} times when agents ran it")
        for run in sorted(runs, key=lambda run: -run.passed)
        if run.line not in named
    ]

    def place(candidate: Candidate) -> int:
        run = known.get(candidate.line, CommandRun(candidate.line, 0, 0))
        if run.passed >= FEWEST_PASSES and run.passed > run.failed:
            return 0
        return 1 if run.passed or not run.failed else 2

    listed = [*(each for each in candidates if each.line), *(each for each in learnt if place(each) == 0)]
    return min(listed, key=place, default=None)  # the first of the best: the order of the evidence counts


def _is_matrix(line: str) -> bool:
    """Return whether it runs the tests many times; there is a shorter way to run them once."""
    return any(word in ("tox", "nox") for word in line.split())


def _framework(line: str) -> str:
    known = slot_of(line)
    return known[2].split("/")[-1] if known else line.split()[0]


def _is_runner(line: str) -> bool:
    """Return whether the command only starts a task, which says nothing of the framework."""
    return line.startswith((*_OWN_TASKS, "bundle exec rake"))


def _without_runners(linters: Sequence[str]) -> tuple[str, ...]:
    runners = runner_names()
    return tuple(dict.fromkeys(name for name in linters if name not in runners and "/" not in name))


def _is_guess(source: str) -> bool:
    """Return whether nothing in the project runs a command. Of a part, only such a command to test it is worth a line."""
    return source.startswith((CONVENTION, SET_UP))


def _from_root(tools: ProjectTools, info: PackageInfo, root_tool: str, *, is_member: bool) -> ProjectTools:
    """Return the commands as you run them at the root of the project, whose tool is `root_tool`."""
    is_inside = tools.tool == root_tool and (tools.tool != "cargo" or is_member)
    scoped: Mapping[str, str] = _SCOPED.get(tools.tool, {}) if is_inside else {}
    commands = {}
    for slot, line in tools.commands.items():
        is_own = line.split()[0].endswith(_PROGRAMS.get(tools.tool, ()))  # not a script of the part
        form = (scoped.get(slot) if is_own else None) or (scoped.get("*") if slot in info.tasks else None)
        if form and line.endswith(" check"):
            form = form.replace(":test", ":check")
        if scoped and not form and slot != "test":
            continue  # the workspace's own command will do
        task = line.split()[-1]
        mvn = re.sub(r"^(?:\.\./)+", "./", line.split()[0])
        commands[slot] = (
            form.format(
                name=info.name or tools.path,
                path=tools.path,
                task=task,
                mvn=mvn,
                colon=tools.path.replace("/", ":"),
            )
            if form
            else f"cd {tools.path} && {line}"
        )
    test = tools.test
    if test and test.run_command == tools.commands.get("test"):
        test = TestFramework(test.tool, test.config_file, commands["test"])
    commands = {
        slot: line
        for slot, line in commands.items()
        if slot == "test" or not _is_guess(tools.sources.get(slot, ""))
    }
    sources = {slot: source for slot, source in tools.sources.items() if slot in commands}
    linters = () if _is_guess(tools.sources.get("lint", "")) else tools.linters
    return ProjectTools(tools.path, tools.tool, commands, sources, test, linters)
