"""Commands that a project defines itself: what CI runs, and the tasks of a Makefile, a justfile or a Taskfile."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import join
from recollect.frozen import frozen

_DATA = Path(__file__).parent / "data" / "commands.toml"


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_DATA.read_text("utf-8"))


@cache
def _patterns() -> list[tuple[str, str, re.Pattern[str]]]:
    """Return ecosystem, slot and pattern of the known commands; the first match counts, and "" is any ecosystem."""
    node = _data()["names"]["node"]
    return [
        (
            "" if ecosystem == "any" else ecosystem,
            slot,
            re.compile(rf"(?:^|[\s/])({pattern.replace('{node}', node)})(?=[\s:;-]|$)"),
        )
        for ecosystem, slots in _data()["patterns"].items()
        for slot, pattern in slots.items()
    ]


def task_names() -> dict[str, list[str]]:
    """Return what tasks are commonly called, by slot, the likeliest name first."""
    names: dict[str, list[str]] = _data()["tasks"]
    return names


def runner_names() -> list[str]:
    """Return the programs that run linters and are none."""
    names: list[str] = _data()["runners"]
    return names


@frozen
class CiCommand:
    """A command that CI runs."""

    slot: str
    ecosystem: str  # "" = any
    line: str
    tool: str  # the words that matched
    folder: str = ""  # where it is run
    source: str = ""  # the file that says so


def slot_of(line: str) -> tuple[str, str, str] | None:
    """Return the ecosystem, the slot and the matched words of a command; None if it does not build, test or lint."""
    if re.match(_data()["setup"], line) or re.search(r"\s(?:--version|--help)\b", line):
        return None
    is_task = line.startswith(("make ", "just ", "task "))
    for ecosystem, slot, shape in _patterns():
        if (found := shape.search(line)) and not (ecosystem and is_task):
            return ecosystem, slot, found[1]
    return None


_CHECKS_ALL = re.compile(r"(?:make|just|task|mage) check\b|\S*/(?:run[-_])?check(?:\.sh)?$")
_FORMATS = re.compile(r"(?:make|just|task) (format|fmt)\b")
_TESTS = re.compile(r"(?<![a-z])(?:py|run)?_?(?:tests?|specs?|unittest|ctest|rspec)(?![a-z])", re.IGNORECASE)


def _slot_in(project: ScanInput, folder: str, line: str) -> tuple[str, str, str] | None:
    """Return what `slot_of` does. What `check` and `fmt` run is read: some projects lint with them, others test or format."""
    known = slot_of(line)
    if known is None:
        return None
    ecosystem, _, tool = known
    if formats := _FORMATS.match(line):
        body = _task_body(project, folder, line, formats[1])
        return known if not body or _does("format", formats[1], body) else (ecosystem, "lint", tool)
    if not _CHECKS_ALL.match(line):
        return known
    body = _check_body(project, folder, line)
    if _tests(body):
        return ecosystem, "test", tool
    if _slots(body) == {"types"}:
        return ecosystem, "types", tool
    return (ecosystem, "lint", tool) if _lints(body) else None


def _tests(body: str) -> bool:
    """Return whether a task runs tests: by a command that is known, or by the words of another one."""
    parts = [part for part in _commands(body.splitlines()) if not re.match(r"\w+=", part)]
    known = ((part, slot_of(part)) for part in parts)
    return any(found[1] == "test" if found else bool(_TESTS.search(part)) for part, found in known)


def _lints(body: str) -> bool:
    """Return whether a task runs a linter: one that is known, or a command called `lint`."""
    slots = _slots(body)
    return bool(slots & {"lint", "types", "format"} or re.search(r"(?<![\w-])lint(?![\w-])", body))


def _slots(body: str) -> set[str]:
    return {found[1] for part in _commands(body.splitlines()) if (found := slot_of(part))}


def _check_body(project: ScanInput, folder: str, line: str) -> str:
    """Return what a task or a script called `check` runs; "" if that is unknown. Automake's runs the tests."""
    if "/" in line.split()[0]:
        return project.text(join(folder, line.split()[0].removeprefix("./")))
    is_automake = line.startswith("make ") and "Makefile.am" in project.inside(folder)
    return _task_body(project, folder, line, "check") or ("test" if is_automake else "")


def _task_body(project: ScanInput, folder: str, line: str, task: str) -> str:
    """Return what a task of a Makefile, a justfile or a Taskfile runs; "" if that is unknown."""
    for names, call, read in _TASK_FILES:
        if line.startswith(call):
            tasks = next((read(text) for name in names if (text := project.text(join(folder, name)))), {})
            return tasks.get(task, "")
    return ""


def ci_commands(project: ScanInput) -> list[CiCommand]:
    """Return what CI runs, as you could run it yourself: main workflows first, and the shortest commands of each first."""
    found: list[tuple[bool, CiCommand]] = []
    for path in ci_files(project):
        text = project.text(path)
        variables = _variables(text)
        for line, folder in _steps(text):
            plain = _plain(line, variables)
            if known := _slot_in(project, folder, plain):
                ecosystem, slot, tool = known
                if slot == "build" and not {"--sdist", "--fail-never"}.isdisjoint(plain.split()):
                    continue  # an archive of the sources, or a download of what the build needs
                found.append((_is_minor(path), CiCommand(slot, ecosystem, plain, tool, folder, path)))
    found.sort(key=lambda each: (each[0], bool(_VARIANT.search(each[1].line)), len(each[1].line)))
    return [given for _, given in found]


_CI = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.travis\.yml|\.circleci/config\.yml|azure-pipelines\.yml"
    r"|\.forgejo/workflows/[^/]+\.ya?ml|Jenkinsfile|\.builds/[^/]+\.yml"
)
_BESIDE = re.compile(
    r"docs|pages|website|codeql|nightly|fuzz|bench|codspeed|perf|windows|legacy|schedule"
    r"|downstream|ecosystem|external|canary"  # these run the commands of other projects
)
_RELEASE = re.compile(r"release|publish|deploy")  # such a workflow counts if it checks pull requests as well
_CHECKS = re.compile(r"(?m)^on:.{0,200}\bpull_request\b|^[ \t]*+(?:-[ \t]*+)?pull_request:?[ \t]*+$")
_MAIN = re.compile(
    r"ci|test|build|main|check|lint|continuous|python|node|go|rust|gradle|maven|java|dotnet|cmake|ruby|php"
)


def ci_files(project: ScanInput) -> list[str]:
    """Return the workflows that check changes, without releases and the like."""
    found = sorted(
        path
        for path in project.sizes
        if _CI.fullmatch(path)
        and not _BESIDE.search(name := path.rsplit("/", 1)[-1])
        and (not _RELEASE.search(name) or _CHECKS.search(project.text(path)))
    )
    if any(path.startswith(".github/") and not _is_minor(path) for path in found):
        return [path for path in found if path != ".travis.yml"]  # left over
    return found


def ci_text(project: ScanInput) -> str:
    """Return the text of the workflows that check changes, without comments."""
    return "\n".join(_without_comments(project.text(path)) for path in ci_files(project))


def first_in_ci(project: ScanInput, pattern: str) -> str:
    """Return the first workflow in which the pattern is found; "" if none."""
    found = (path for path in ci_files(project) if re.search(pattern, _without_comments(project.text(path))))
    return next(found, "")


def _without_comments(text: str) -> str:
    return re.sub(r"(?m)^[ \t]*+#.*$", "", text)


def _is_minor(path: str) -> bool:
    return not _MAIN.search(path.rsplit("/", 1)[-1].lower())


_KEY = re.compile(r"^(\s*+(?:- )?\s*+)([\w-]+):(?:\s+(.*))?$")


def _steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command with its folder. Parses enough YAML for such files: no anchors, no flow style."""
    lines = text.splitlines()
    step: list[tuple[str, str]] = []
    folder = ""
    i = 0
    while i < len(lines):
        raw = lines[i]
        i += 1
        if called := re.match(r"""\s*+(?:sh|bat)\s*+\(?\s*+['"](.+?)['"]\)?+\s*+$""", raw):  # a Jenkinsfile
            yield called[1], ""
            continue
        if raw.lstrip().startswith("- "):
            yield from ((line, join(folder, below).rstrip("/")) for line, below in step)
            step, folder = [], ""
        key = _KEY.match(raw)
        if not key:
            continue
        indent, name, value = len(key[1]), key[2], (key[3] or "").strip()
        if name == "working-directory":
            folder = _unquoted(value).removeprefix("./").strip("/")
        elif name == "uses":
            action = _unquoted(value.split(" #")[0]).split("@")[0]
            actions = _data()["actions"]
            step += [(actions[action], "")] if action in actions else []
        elif name in ("run", "script", "command"):
            block: list[str] = []
            if not value or value[0] in "|>":
                floor = len(raw) - len(raw.lstrip())  # a list may be indented as little as its key
                while i < len(lines) and (
                    not lines[i].strip()
                    or _indent(lines[i]) >= indent + bool(value)
                    or (not value and _indent(lines[i]) >= floor and lines[i].lstrip().startswith("- "))
                ):
                    block.append(
                        lines[i].strip() if value else _unquoted(lines[i].strip().removeprefix("- "))
                    )
                    i += 1
                if value.startswith(">"):
                    block = [" ".join(block)]
            else:
                block = [_unquoted(value)]
            is_elsewhere = any(_enters_build_folder(line.split()) for line in block)
            step += [
                (line, below)
                for line, below in _with_folders(_commands(block))
                if not (is_elsewhere and line.startswith("make"))
            ]
    yield from ((line, join(folder, below).rstrip("/")) for line, below in step)


def _with_folders(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each command with the folder that a `cd` before it went into; not after one that leads out or elsewhere."""
    folder: str | None = ""
    for line in lines:
        if entered := re.fullmatch(r"cd ([\w./-]+)", line):
            path = entered[1].removeprefix("./").rstrip("/.")
            is_outside = entered[1].startswith(("/", ".."))
            folder = None if is_outside or folder is None else join(folder, path) if path else folder
        elif re.match(r"cd\b", line):
            folder = "" if _LATER in line else None
        elif folder is not None:
            yield line, folder


def _enters_build_folder(words: list[str]) -> bool:
    """Return whether a line works in a folder of its own: `cmake ..`, `cd build`."""
    if "cmake" in words and ".." in words:
        return True
    return any(word == "cd" and "build" in folder for word, folder in pairwise(words))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _commands(block: Iterable[str]) -> list[str]:
    whole = re.sub(r"\\\n\s*", " ", "\n".join(block))
    whole = re.sub(r"\$\{\{(?!\s{0,20}env\.).{0,300}?\}\}", _LATER, whole)
    return [
        part.strip()
        for line in whole.splitlines()
        for part in re.split(r"\s(?:&&|\|\|)\s|;\s*+(?![;)}])", line)
    ]


_LATER = "\0"  # a value that only CI knows
_NOISE = re.compile(
    r"--verbose|--show-diff-on-failure|--colou?r=\S+|--no-transfer-progress|--batch-mode|--no-progress|--stacktrace|--scan|--info"
    r"|--[a-z-]{0,20}(?:format|reporter)=(?:github|gitlab|checkstyle|junit|sarif)\S*|--cov(?:-\w+)?=\S+|--cov-branch|-bench=\S+|-benchmem|--trace-config|-coverprofile=\S+|-covermode=\S+|[-/]p:CI=true|--json-report(?:-file=\S+)?|--junit-?xml=\S+"
)
_NOISE_WITH_VALUE = re.compile(  # the word after it belongs to it, unless that is an option
    r"--cov(?:-config|-report|-fail-under)?|--junit-?xml|--json-report-file|-coverprofile|-covermode|-bench"
)
_NOISE_OF_DOTNET = re.compile(
    r"--no-(?:build|restore)|--nologo|-f|--framework|net\d[\w.-]*"
)  # steps of CI come before it
_COVERED = re.compile(
    r"^(?:npx )?(?:nyc|c8)(?: -\S+)* (?=(?:npm|pnpm|yarn|bun) )"
)  # around a task, and often installed by CI only
_VARIANT = re.compile(r"\s-tags\b")  # a build beside the usual one
_NOISE_OF_MAVEN = re.compile(r"-[BXeVUq]|-ntp|--errors|--debug|--show-version|--file=pom\.xml")


def _variables(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in re.findall(r"^[ \t]+([A-Z][A-Z0-9_]*):[ \t]*(.*)$", text, re.MULTILINE):
        found.setdefault(name, _unquoted(value.split(" #")[0]))
    return found


def _plain(line: str, variables: Mapping[str, str]) -> str:
    """Return the command without values that only CI knows; "" if it needs a shell to make sense."""
    line = re.sub(
        r"\$\{\{\s{0,20}env\.(\w{1,100}).{0,100}?\}\}", lambda found: variables.get(found[1], _LATER), line
    )
    line = re.split(r"\s(?:[|>]|2>|#)", line)[0]
    words: list[str] = []
    is_value = False
    for word in line.split():
        was_value, is_value = is_value, bool(_NOISE_WITH_VALUE.fullmatch(word))
        if is_value or (was_value and word[0] != "-"):
            continue
        if _LATER not in word:
            words += [] if _NOISE.fullmatch(word) else [word]
        elif word[0] != "-" and words and re.fullmatch(r"--?[A-Za-z][\w-]*", words[-1]):
            words.pop()
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    if words[:1] == ["dotnet"]:
        words = [word for word in words if not _NOISE_OF_DOTNET.fullmatch(word)]
    if words and re.search(r"(?:^|/)mvnw?$", words[0]):
        words = re.sub(r" (?:-f|--file) pom\.xml(?= |$)", "", " ".join(words)).split()
        words = [
            word
            for word in words
            if (":" not in word or "spotless" in word or "checkstyle" in word)
            and not _NOISE_OF_MAVEN.fullmatch(word)
        ]
    plain = _COVERED.sub("", " ".join(words))
    plain = re.sub(
        r" --logger \S{1,80}| --durations[= ]\d+| -p (?:pytest_)?cov\b| --format github\b| --$", "", plain
    )
    is_whole = plain.count('"') % 2 == 0 and plain.count("'") % 2 == 0
    return plain if is_whole and not re.search(r"\$[\w({]|`", plain) else ""


# Guides for people and agents who work on the project. Of a README, only sections about that count.
_GUIDE = re.compile(
    r"(?:(?:docs?|\.github)/)?(?:contributing|development|developing|hacking|testing|agents|claude)(?:\.(?:md|rst|txt|adoc))?",
    re.IGNORECASE,
)
_README = re.compile(r"readme(?:\.(?:md|rst|txt|adoc|markdown))?", re.IGNORECASE)
_TITLE = re.compile(r"#{1,6}\s+(.*)|={1,6}\s+(.*)")
_WORK_TITLE = re.compile(r"\b(?:test|develop|contribut|hack|build)", re.IGNORECASE)
_IN_TEXT = re.compile(r"`{1,2}([^`\n]{3,120})`{1,2}")
_PROMPT = re.compile(r"^(?:[$%>]|\([\w.-]{1,30}\) ?\$)\s+")
_SHELL_PROMPT = re.compile(r"^(?:[$%]|\([\w.-]{1,30}\) ?\$)\s")
# Arguments that pick one test, and placeholders: such a command is an example.
_ONE_TEST = re.compile(
    r"::|\s-[kt]\s|\s--(?:filter|tests?|grep|run|spec|match|update|ci)[\s=]|[<\[{…*]|\.\.\.(?!/|\s|$)"
    r"|\s-run[\s=]|\w\.(?:py|rb|js|ts|tsx|php|rs|go|java)\b|\bpath/to\b|#\w"
)


# What a program prints: "rootdir: /home/me", "platform linux -- Python 3.12.1, pytest-8.0.0".
_PRINTED = re.compile(r"^[\w.-]+:\s|^platform \w+ -- |^={3,}|^[^\"']*\w-\d+\.\d[\w.]*,\s")


def names_one_test(line: str) -> bool:
    """Return whether a command picks some of the tests, or has placeholders."""
    return bool(_ONE_TEST.search(line))


def guide_commands(project: ScanInput) -> list[CiCommand]:
    """Return the commands that guides name for the whole project, in their order: those in blocks of code first."""
    found: list[tuple[int, CiCommand]] = []
    for path in sorted(project.sizes, key=lambda path: (bool(_README.fullmatch(path)), path)):
        is_guide = bool(_GUIDE.fullmatch(path))
        if is_guide or _README.fullmatch(path):
            found += [
                (rank, CiCommand(slot, ecosystem, line, tool, "", f"{path}:{number}"))
                for rank, number, written in _guide_lines(project.text(path), whole=is_guide)
                for line in ((_plain(written, {}) or written) if "--cov" in written else written,)
                if not (names_one_test(line) or _PRINTED.search(line))
                and (known := _slot_in(project, "", line))
                and _is_command(line, known[1], rank)
                for ecosystem, slot, tool in (known,)
            ]
    found.sort(key=lambda each: each[0])
    return [command for _, command in found]


def _is_command(line: str, slot: str, rank: int) -> bool:
    """Return whether code within a sentence is more than the name of a tool."""
    return rank == 0 or slot == "test" or " " in line


def _guide_lines(text: str, *, whole: bool) -> Iterator[tuple[int, int, str]]:
    """Yield rank, line number and text of what may be commands: lines of code blocks, and code within sentences."""
    is_fenced, is_about_work, before = False, whole, ""
    is_prompted = False  # in a block with prompts, the lines without one are what the commands print
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line and (line.startswith(("```", "~~~")) or not (is_fenced or raw[0] in " \t")):
            is_prompted = False
        is_printed = is_prompted and not _SHELL_PROMPT.match(line) and not before.endswith("\\")
        is_prompted = is_prompted or bool(_SHELL_PROMPT.match(line))
        if line.startswith(("```", "~~~", "----")) and not line.strip("`~-").strip().count(" "):
            is_fenced = not is_fenced if line[0] in "`~" else is_fenced
            if line[0] == "-" and before and not whole:
                is_about_work = bool(_WORK_TITLE.search(before))
        elif not is_fenced and (title := _TITLE.match(line)):
            is_about_work = whole or bool(_WORK_TITLE.search(title[1] or title[2] or ""))
        elif not is_fenced and not whole and before and re.fullmatch(r"[=~^-]{3,}", line):
            is_about_work = bool(_WORK_TITLE.search(before))
        elif is_about_work and (is_fenced or raw.startswith(("    ", "\t")) or _PROMPT.match(line)):
            if not is_printed:
                yield 0, number, _PROMPT.sub("", line).split(" #")[0].strip()
        elif is_about_work:
            yield from ((1, number, found.strip()) for found in _IN_TEXT.findall(line))
        before = line


@frozen
class ProjectTask:
    line: str  # the command that runs it
    body: str  # what it runs
    source: str = ""  # the file that defines it


_MENDS = re.compile(
    r"\s--(?:fix|write|auto-?correct(?:-all)?|apply)\b(?!-)|\bgofmt\b.{0,40}\s-w\b|\brubocop\b.{0,80}\s-[aA]\b"
)


def tasks_by_slot(tasks: Mapping[str, str], call: str, source: str = "") -> dict[str, ProjectTask]:
    """Return the task for each slot. `tasks` has bodies by name; `call` is the command before the name."""
    found = {}
    for slot, names in task_names().items():
        # `lint` may mend what it finds, beside a `lint:check` that only looks.
        likely = (
            sorted(names, key=lambda name: bool(_MENDS.search(tasks.get(name, ""))))
            if slot == "lint"
            else names
        )
        for name in likely:
            if name in tasks and _does(slot, name, tasks[name]):
                found[slot] = ProjectTask(f"{call}{name}", tasks[name], source)
                break
    return found


_ONLY_CHECKS = re.compile(
    r"\s--(?:check|diff|list-different|verify-no-changes|dry-run)\b|prettier.{0,80}\s-[cl]\b|gofmt.{0,40}\s-[ld]\b"
)


_COMPILES = re.compile(r"\s*[@-]*(?:\$[({](?:CC|CXX|LD)[)}]|gcc|clang|cc|g\+\+|clang\+\+)(?:\s|$)")


def _does(slot: str, name: str, body: str) -> bool:
    """Return whether a task does what its name says: `check` may lint, and `format` may only look."""
    if slot == "format":
        return not _ONLY_CHECKS.search(body) or bool(re.search(r"\s(?:--write|--fix|-w)\b", body))
    recipe = [line for line in body.splitlines()[1:] if line.strip()]
    if slot == "test" and recipe and all(map(_COMPILES.match, recipe)):
        return False  # it makes a program of that name
    if name != "check":
        return True
    if slot == "test" or _tests(body):
        return slot == "test" and _tests(body)
    checks_types = _slots(body) == {"types"}
    return checks_types if slot == "types" else not checks_types and _lints(body)


def task_files(project: ScanInput, folder: str) -> dict[str, ProjectTask]:
    """Return the tasks of a Makefile, a justfile or a Taskfile in `folder`, by slot."""
    for names, call, read in _TASK_FILES:
        for name in names:
            text = project.text(join(folder, name))
            if re.search(r"^\.DEFAULT\s*:", text, re.M):  # unknown targets are passed to a folder below
                text += "".join(project.text(each) for each in _below(project, folder, name, text))
            if found := tasks_by_slot(read(text), call, join(folder, name)):
                return found
    return {}


def _below(project: ScanInput, folder: str, name: str, text: str) -> list[str]:
    """Return files of that name in folders that `text` mentions."""
    named = dict.fromkeys(re.findall(r"[\w-]+", text))
    return [path for each in named if (path := join(folder, f"{each}/{name}")) in project.sizes]


def _make_targets(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    current: list[str] = []
    for line in text.splitlines():
        if target := re.match(r"^([A-Za-z0-9][\w./ -]*+)[\s]*+::?(?!=)\s*+([^=#]*)", line):
            current = target[1].split()
            found.update({name: found.get(name, "") + target[2] for name in current})
        elif line.startswith(("\t", "    ")):
            for name in current:
                found[name] += f"\n{line.strip()}"
    # A target may only call others: what they run is what it runs.
    return {
        name: body + "".join(f"\n{found.get(other, '')}" for other in _called(body) if other != name)
        for name, body in found.items()
    }


def _called(body: str) -> list[str]:
    """Return the targets that a target depends on, or calls."""
    needed, _, recipe = body.partition("\n")
    called = re.findall(r"(?:\bmake|\bjust|\$\(MAKE\)|\$\{MAKE\}) ([\w.-]+)", recipe)
    return list(dict.fromkeys((*needed.split(), *called)))


def _just_recipes(text: str) -> dict[str, str]:
    text = re.sub(r"(?m)^[ \t]++", "\t", text)  # any indentation will do
    return _make_targets(re.sub(r"(?m)^@?([\w-]++)[^:\n=]*:(?!=)", r"\1:", text))


def _taskfile_tasks(text: str) -> dict[str, str]:
    _, _, rest = text.partition("\ntasks:")
    parts = re.split(r"(?m)^  ([\w:.-]+):", rest)
    return dict(zip(parts[1::2], parts[2::2], strict=False))


_TASK_FILES = (
    (("Makefile", "makefile", "GNUmakefile"), "make ", _make_targets),
    (("justfile", "Justfile", ".justfile"), "just ", _just_recipes),
    (("Taskfile.yml", "Taskfile.yaml"), "task ", _taskfile_tasks),
)
