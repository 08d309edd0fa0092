"""How a project is built, tested, linted, formatted and run: one answer for each part of it.

What CI really runs wins, unless the project has a task of the plain name (`make test`, `npm test`) that runs the same;
what nobody says is the ecosystem's own convention.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from recollect.code.modules.commands import CiCommand, ProjectTask, ci_commands, slot_of, task_files
from recollect.code.modules.ecosystems.package_info import PackageInfo
from recollect.code.modules.ecosystems.table import CI_NAMES, ECOSYSTEMS, has_manifest
from recollect.code.modules.module_map import SLOTS, ProjectTools, TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import folder_of, folder_role, is_fixture_folder, is_vendored
from recollect.text.redact import redact

MOST_PARTS = 40
MOST_LINTERS = 3  # in one command
_OWN_TASKS = ("npm ", "pnpm ", "yarn ", "bun ", "composer ", "make ", "just ", "task ", "rake")
_SCOPED = {  # how one package of a workspace is addressed from the root; others are gone into
    "cargo": {"build": "cargo build -p {name}", "test": "cargo test -p {name}"},
    "maven": {"build": "{mvn} package -pl {path} -am", "test": "{mvn} test -pl {path} -am"},
    "pnpm": {"*": "pnpm --filter {name} run {task}"},
    "npm": {"*": "npm run {task} -w {path}"},
    "yarn": {"*": "yarn workspace {name} {task}"},
}


def find_tools(ground: ScanInput) -> tuple[ProjectTools, ...]:
    """The whole project's first, then those of its parts."""
    in_ci = ci_commands(ground)
    found: list[ProjectTools] = []
    whole = ""  # the tool of the root, be there something to run or not
    for folder in package_folders(ground):
        here = packages_in(ground, folder)
        for number, (ecosystem, signs) in enumerate(here.items()):
            if number and ecosystem == "c" and signs.tool == "make":
                continue  # a Makefile beside a manifest only has tasks
            tools = _tools(ground, folder, ecosystem, signs, in_ci, main=number == 0)
            if folder:
                tools = _from_root(tools, signs, whole)
            elif number == 0:
                whole = tools.tool
            if tools.commands:
                found.append(tools)
    if not found and (tasks := task_files(ground, "")):
        found.append(ProjectTools("", "make", {slot: task.line for slot, task in tasks.items()}))
    return tuple(found)


def package_folders(ground: ScanInput) -> list[str]:
    """The folders that have a manifest of their own, the root first."""
    manifests = [
        each for ecosystem in ECOSYSTEMS.values() for each in ecosystem.manifests if each != "Makefile"
    ]
    named = {name for name in manifests if name[0] != "*"}
    endings = tuple(name[1:] for name in manifests if name[0] == "*")
    having = {
        folder_of(path)
        for path in ground.sizes
        if ((name := path.rsplit("/", 1)[-1]) in named or name.endswith(endings)) and not is_vendored(path)
    }
    having = {folder for folder in having if not folder or _is_part(ground, folder, having)}
    return ["", *sorted(having - {""}, key=lambda folder: (folder.count("/"), folder))][: MOST_PARTS + 1]


def _is_part(ground: ScanInput, folder: str, having: set[str]) -> bool:
    """A package of its own; not a fixture, an example, a tool, or a folder that its parent builds."""
    names = ground.inside(folder)
    if (
        folder.startswith(".")
        or is_fixture_folder(folder)
        or ("package.json" in names and '"name"' not in ground.text(f"{folder}/package.json"))
    ):
        return False
    if folder_role(folder.split("/")[0]) and not names & ground.inside(""):
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
    ) or (not any(parent in having for parent in _parents(folder)) and bool(names & of_parent))


def _parents(folder: str) -> Iterator[str]:
    while folder:
        folder = folder_of(folder)
        yield folder


def packages_in(ground: ScanInput, folder: str) -> dict[str, PackageInfo]:
    """What each ecosystem with a manifest there says, that with most code first."""
    names = ground.inside(folder)
    found = [name for name, each in ECOSYSTEMS.items() if has_manifest(names, each.manifests)]
    if "java" in found and "gradle" in found:
        found.remove("gradle")
    if len(found) > 1:
        sizes = _by_ending(ground, folder)
        much = {name: sum(sizes[ending] for ending in ECOSYSTEMS[name].endings) for name in found}
        found = sorted((name for name in found if much[name]), key=lambda name: -much[name])
    return {name: ECOSYSTEMS[name].read(ground, folder) for name in found}


def _by_ending(ground: ScanInput, folder: str) -> Counter[str]:
    start = f"{folder}/" if folder else ""
    found: Counter[str] = Counter()
    for path, size in ground.sizes.items():
        if path.startswith(start):
            found[f".{path.rsplit('.', 1)[-1]}"] += size + 1
    return found


def _tools(
    ground: ScanInput,
    folder: str,
    ecosystem: str,
    signs: PackageInfo,
    in_ci: Sequence[CiCommand],
    *,
    main: bool,
) -> ProjectTools:
    tasks: dict[str, ProjectTask] = {**signs.tasks, **(task_files(ground, folder) if main else {})}
    family = CI_NAMES.get(ecosystem, ecosystem)
    commands: dict[str, str] = {}
    linters = list(signs.linters)
    for slot in SLOTS:
        given = [
            each
            for each in in_ci
            if each.slot == slot
            and each.folder == folder
            and (each.ecosystem == family or (main and not each.ecosystem))
        ]
        if line := _best(slot, given, tasks.get(slot), signs.defaults.get(slot, "")):
            commands[slot] = redact(line)[0]
        if slot in ("lint", "format", "types"):
            linters += [each.tool.split()[0] for each in given if each.ecosystem]
    test = signs.test
    if test and "test" in commands and not _is_matrix(commands["test"]):
        test = TestFramework(test.tool, test.config_file, commands["test"])
    elif test is None and "test" in commands:
        test = TestFramework(_framework(commands["test"]), "", commands["test"])
    return ProjectTools(folder, signs.tool, commands, test, _told(linters))


def _best(slot: str, given: Sequence[CiCommand], task: ProjectTask | None, default: str) -> str:
    """A named task beside CI is taken where it is the same thing by its plain name."""
    if not given:
        return task.line if task else default
    first = given[0]
    if task and (first.line.startswith(_OWN_TASKS) or first.tool.split()[0] in task.body):
        return task.line
    if slot != "lint":
        return first.line
    by_tool = {each.tool: each.line for each in reversed(given)}  # of each linter the plainest line
    if default and all(tool.endswith("--check") for tool in by_tool):
        return default  # CI looks at the formatting alone, but a linter is set up
    return " && ".join(list(dict.fromkeys(reversed(by_tool.values())))[:MOST_LINTERS])


def _is_matrix(line: str) -> bool:
    """Runs the tests many times over; to run them once there is a shorter way."""
    return any(word in ("tox", "nox") for word in line.split())


def _framework(line: str) -> str:
    known = slot_of(line)
    return known[2].split("/")[-1] if known else line.split()[0]


_NOT_LINTERS = {
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "composer",
    "make",
    "cargo",
    "go",
    "mvn",
    "mvnw",
    "gradlew",
    "tox",
    "nox",
    "dotnet",
    "python",
}


def _told(linters: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in linters if each not in _NOT_LINTERS and "/" not in each))


def _from_root(tools: ProjectTools, signs: PackageInfo, whole: str) -> ProjectTools:
    """The same commands as they are given at the root of the project, whose tool is `whole`."""
    scoped: Mapping[str, str] = _SCOPED.get(tools.tool, {}) if tools.tool == whole else {}
    commands = {}
    for slot, line in tools.commands.items():
        form = scoped.get(slot) or (scoped.get("*") if slot in signs.tasks else None)
        if scoped and not form and slot != "test":
            continue  # the whole workspace's will do
        task = line.split()[-1]
        mvn = line.split()[0]
        commands[slot] = (
            form.format(name=signs.name or tools.path, path=tools.path, task=task, mvn=mvn)
            if form
            else f"cd {tools.path} && {line}"
        )
    test = tools.test
    if test and test.run_command == tools.commands.get("test"):
        test = TestFramework(test.tool, test.config_file, commands["test"])
    return ProjectTools(tools.path, tools.tool, commands, test, tools.linters)
