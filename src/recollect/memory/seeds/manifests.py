"""Seeds from manifests: languages with their versions, frameworks, package managers and commands."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from recollect.code.modules.ecosystems.package_info import CONVENTION, SET_UP, table_at
from recollect.code.modules.module_map import ProjectTools
from recollect.memory.seeds.seed import ProjectFile, Seed, listed, read_first

TESTS_ARE_FOR = "The tests are written for"
NODE_PACKAGES = "Node packages are installed with"
_SURE = 0.8
_OF_STRICT = ("noImplicitAny", "strictNullChecks", "noImplicitThis", "strictFunctionTypes")
_TASK_FILES = frozenset(  # whose tasks nobody can guess
    "Makefile makefile GNUmakefile justfile Justfile Taskfile.yml package.json composer.json Rakefile pyproject.toml".split()
)
_FRAMEWORKS_FILE = Path(__file__).parent / "data" / "frameworks.txt"
_CHECKS_FORMAT = re.compile(
    r"[^&]*\b(?:fmt|format|black|prettier|isort|gofmt)\b[^&]*\s(?:--check|--diff|--verify-no-changes|--list-different|-[cld])\b[^&]*|[^&]*\bspotless:?check\b[^&]*",
    re.I,
)
_COMMANDS = {
    "test": "runs the tests",
    "lint": "lints the code",
    "types": "checks the types",
    "format": "formats the code",
    "build": "builds the project",
}


@cache
def _frameworks() -> tuple[dict[str, str], frozenset[str]]:
    """Return the frameworks by package, and the names of those that are for tests."""
    frameworks, testing = _FRAMEWORKS_FILE.read_text("utf-8").split("# Test frameworks\n")

    def rows(text: str) -> dict[str, str]:
        pairs = (line.split(": ") for line in text.splitlines() if line and line[0] != "#")
        return {package: name for name, packages in pairs for package in packages.split()}

    return {**rows(frameworks), **rows(testing)}, frozenset(rows(testing).values())


def manifest_seeds(root: Path) -> Iterator[Seed]:
    for reader in (_python, _node, _rust, _go, _jvm, _ruby, _php, _c):
        yield from reader(root)


def command_seeds(tools: Sequence[ProjectTools]) -> Iterator[Seed]:
    """Yield how the whole project is tested, linted and built, if a file says so. Conventions of a tool need no saying."""
    for each in tools[:1]:
        for slot, text in _COMMANDS.items():
            line, source = each.commands.get(slot), each.sources.get(slot, "")
            is_own = source.partition(":")[0].partition(",")[0].rpartition("/")[2] in _TASK_FILES
            is_run = source and not source.startswith((CONVENTION, SET_UP))
            if (
                slot == "types"
                and line
                and "pre-commit" in line
                and not re.search(r"mypy|pyright|ty\b", line)
            ):
                continue  # which runs everything
            if line and is_run and (slot != "build" or is_own):
                if slot == "lint" and _CHECKS_FORMAT.fullmatch(line):
                    text = "checks the formatting"
                yield Seed(f"`{line}` {text}.", "convention", source, 0.9 if slot == "test" else 0.8)


def _version(language: str, version: Any, at: str) -> Iterator[Seed]:
    """Yield the needed version, with `>=3.11` in words."""
    text = str(version or "").strip()
    if not re.search(r"\d", text) or len(text) > 40:
        return
    least = re.fullmatch(r"(?:>=|\^|~>?)?\s*v?(\d[\w.]*)\+?", text)
    text = f"{least[1]} or newer" if least else text
    yield Seed(f"{language} {text} is needed.", "dependency_relation", at, 0.65)


def _built_with(
    found: ProjectFile, needed: Iterable[str], for_development: Iterable[str] = ()
) -> Iterator[Seed]:
    """Yield the frameworks that the project is made with, and those of its tests, which it may need for development only."""
    frameworks, testing = _frameworks()
    used = list(dict.fromkeys(frameworks[name] for name in needed if name in frameworks))
    used += [
        framework
        for name in for_development
        if (framework := frameworks.get(name)) in testing and framework not in used
    ]
    used = list(dict.fromkeys(used))
    if made := [name for name in used if name not in testing]:
        yield Seed(f"The frameworks here: {listed(made)}.", "architecture", found.path, 0.4)
    if tested := [name for name in used if name in testing]:
        yield Seed(f"{TESTS_ARE_FOR} {listed(tested)}.", "convention", found.path, 0.6)


def _python(root: Path) -> Iterator[Seed]:
    found = read_first(root, "pyproject.toml")
    if found is None:
        if found := read_first(root, "setup.cfg", "setup.py"):
            version = found.value(r"^\s*python_requires\s*=\s*([^\n,]+)")
            yield from _version("Python", version, found.where("python_requires"))
        return
    document = found.toml()
    project, poetry = table_at(document, "project"), table_at(document, "tool", "poetry")
    asked = table_at(poetry, "dependencies")
    version = project.get("requires-python") or asked.get("python")
    yield from _version("Python", version, found.where(r"requires-python|^python\s*="))
    others = [
        *table_at(project, "optional-dependencies").values(),
        *table_at(document, "dependency-groups").values(),
        *(list(table_at(group, "dependencies")) for group in table_at(poetry, "group").values()),
    ]
    itself = str(project.get("name")).lower()
    needed = _packages([project.get("dependencies"), list(asked)])
    yield from _built_with(found, needed, [name for name in _packages(others) if name != itself])
    if read_first(root, "uv.lock"):
        yield Seed("Python dependencies are managed with uv (uv.lock).", "convention", "uv.lock", _SURE)
    elif poetry:
        yield Seed(
            "Python dependencies are managed with Poetry.", "convention", found.where("tool.poetry"), _SURE
        )
    elif read_first(root, "pdm.lock"):
        yield Seed("Python dependencies are managed with PDM (pdm.lock).", "convention", "pdm.lock", _SURE)


def _packages(groups: Iterable[Any]) -> list[str]:
    return [
        match[0].lower()
        for group in groups
        if isinstance(group, list)
        for each in group
        if isinstance(each, str) and (match := re.match(r"[\w.-]+", each))
    ]


def _node(root: Path) -> Iterator[Seed]:
    if (found := read_first(root, "package.json")) is None:
        return
    document = found.json()
    yield from _version("Node.js", table_at(document, "engines").get("node"), found.where('"engines"'))
    manager = str(document.get("packageManager") or "").partition("@")[0]
    locks = {
        "pnpm-lock.yaml": "pnpm",
        "yarn.lock": "yarn",
        "bun.lock": "bun",
        "bun.lockb": "bun",
        "package-lock.json": "npm",
    }
    lock = next((name for name in locks if (root / name).is_file()), "")
    if manager := manager or locks.get(lock, ""):
        at = found.where('"packageManager"') if "packageManager" in document else lock
        yield Seed(f"{NODE_PACKAGES} {manager}.", "convention", at, 0.9)
    needed = [*table_at(document, "dependencies"), *table_at(document, "peerDependencies")]
    yield from _built_with(found, needed, table_at(document, "devDependencies"))
    workspaces = table_at(document, "workspaces").get("packages") or document.get("workspaces")
    is_one = isinstance(workspaces, list) and len(workspaces) == 1 and "*" not in str(workspaces[0])
    if (workspaces and not is_one) or read_first(root, "pnpm-workspace.yaml"):
        yield Seed(
            "The repository is a workspace of several npm packages.",
            "architecture",
            found.where('"workspaces"'),
            _SURE,
        )
    config = read_first(root, "tsconfig.json")
    options = table_at(config.json(), "compilerOptions") if config else {}
    if (
        config
        and options.get("strict") is True
        and not any(options.get(name) is False for name in _OF_STRICT)
    ):
        yield Seed("TypeScript is checked in strict mode.", "convention", config.where('"strict"'), _SURE)


_MOST_MEMBERS = 8  # of a workspace that are named: a part of the list would be taken for the whole


def _rust(root: Path) -> Iterator[Seed]:
    if (found := read_first(root, "Cargo.toml")) is None:
        return
    document = found.toml()
    own, shared = table_at(document, "package"), table_at(document, "workspace", "package")
    version = own.get("rust-version")
    if isinstance(version, dict):  # rust-version.workspace = true
        version = shared.get("rust-version")
    yield from _version("Rust", version or shared.get("rust-version"), found.where(r"rust-version\s*="))
    needed = [*table_at(document, "dependencies"), *table_at(document, "workspace", "dependencies")]
    yield from _built_with(found, needed)
    if members := table_at(document, "workspace").get("members"):
        root_crate = [own["name"]] if "name" in own else []
        crates = list(map(str, root_crate + [member for member in members if member != "."]))
        told = listed(crates) if len(crates) <= _MOST_MEMBERS else f"{len(crates)} crates"
        text = f"The repository is a Cargo workspace ({told})."
        yield Seed(text, "architecture", found.where("members"), _SURE)


def _go(root: Path) -> Iterator[Seed]:
    if found := read_first(root, "go.mod"):
        needed = re.findall(r"^\s*(?:require\s+)?([\w./-]+?)(?:/v\d+)? v\d", found.text, re.M)
        yield from _built_with(found, needed)


def _jvm(root: Path) -> Iterator[Seed]:
    if found := read_first(root, "pom.xml"):
        pattern = r"<(?:java\.version|maven\.compiler\.(?:source|release))>([\d.]+)<"
        yield from _version("Java", found.value(pattern), found.where(pattern))
    elif found := read_first(root, "build.gradle.kts", "build.gradle"):
        pattern = r"(?:JavaLanguageVersion\.of\(|sourceCompatibility\s*=?\s*(?:JavaVersion\.VERSION_)?[\"']?|jvmToolchain\()(\d+)"
        if len(set(re.findall(pattern, found.text))) > 1:
            return  # which one counts depends on more than this file
        yield from _version("Java", found.value(pattern), found.where(pattern))
    if found and "spring-boot" in found.text:
        yield Seed("The frameworks here: Spring Boot.", "architecture", found.where("spring-boot"), _SURE)


def _ruby(root: Path) -> Iterator[Seed]:
    if found := read_first(root, "Gemfile"):
        yield from _version("Ruby", found.value(r"^ruby\s+[\"']([^\"']+)"), found.where("^ruby "))
        yield from _built_with(found, re.findall(r"^\s*gem\s+[\"']([\w-]+)", found.text, re.M))


def _php(root: Path) -> Iterator[Seed]:
    if found := read_first(root, "composer.json"):
        needed: Mapping[str, Any] = {
            **table_at(found.json(), "require"),
            **table_at(found.json(), "require-dev"),
        }
        yield from _version("PHP", needed.get("php"), found.where('"php"'))
        yield from _built_with(found, needed)


def _c(root: Path) -> Iterator[Seed]:
    if found := read_first(root, "CMakeLists.txt"):
        found = ProjectFile(
            found.path, re.sub(r"(?m)#.*$", "", found.text)
        )  # also settings that nobody has turned on
        for language, variable in (("C++", "CXX"), ("C", "C")):
            pattern = rf"CMAKE_{variable}_STANDARD\s+(\d+)|{variable.lower()}_std_(\d+)"
            if re.search(rf"if\s*\(\s*NOT\s[^)]*CMAKE_{variable}_STANDARD\b", found.text):
                pattern = rf"()\b{variable.lower()}_std_(\d+)"  # the other is for those who choose none
            standards = {one or other for one, other in re.findall(pattern, found.text)}
            if len(standards) == 1 and (match := re.search(pattern, found.text)):
                content = f"The {language} standard is {language}{match[1] or match[2]}."
                yield Seed(content, "convention", found.where(pattern), _SURE)
