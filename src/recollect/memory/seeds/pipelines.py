"""Seeds from CI: the versions that it tests with, and the services that it starts."""

import re
from collections.abc import Iterator
from pathlib import Path

from recollect.memory.seeds.seed import ProjectFile, Seed, listed, read_first

_LANGUAGES = {
    "python": "Python",
    "node": "Node.js",
    "go": "Go",
    "ruby": "Ruby",
    "php": "PHP",
    "java": "Java",
    "rust": "Rust",
}
_VERSION = re.compile(r"(?=[a-z-]{0,20}\d)[\w.*+-]{1,40}")
# Names of versions that change.
_MOVING = re.compile(
    r"(?:\w{1,20}-)?(?:stable|oldstable|latest|nightly|beta|head|dev|edge|lts|current)|jruby|truffleruby|pypy",
    re.I,
)
_MOST_FILES = 20
_MOST_VERSIONS = 8  # of a list: of a longer one, the ends are told
_GENERIC_IMAGES = frozenset("server service db database".split())  # names that need the one before them
# Workflows that test this project, by name; others lint it, release it, or test what uses it.
_TESTS = re.compile(
    r"tests?\b|testing|\bci|\bci\b|unit|build|main|check|push|pull|pr\b|matrix|integration|quality|\bqa\b|workflow|pipeline"
    r"|python|pytest|tox|ruby|rspec|node|php|\bgo\b|golang|java|maven|gradle|rust|cargo|linux|ubuntu|dotnet",
    re.I,
)
_ALONE = re.compile(
    r"^[ \t]++(?:-[ \t]+)?(\w{1,80}?)[-_]version:[ \t]*+[\"']?(\d{1,4}(?:\.\d{1,4}){0,2})[\"']?[ \t]*$", re.M
)
_RUNS_TESTS = re.compile(
    r"^[^#\n]{0,200}\b(?:run|script):[^#\n]{0,200}\b(?:phpunit|pest|pytest|tox|nox|rspec|rake|go test|cargo test|ctest|mvn|mvnw|gradlew?"
    r"|(?:npm|pnpm|yarn|composer|make|bun)(?: run)? test)\b",
    re.M,
)
# Workflows that check the code otherwise, unless they run tests, too.
_CHECKS = re.compile(
    r"lint|format|style|static|analy[sz]|phpmd|phpstan|phpcs|psalm|rector|mypy|typing|typecheck|rubocop|coverage|cs\b",
    re.I,
)
_TESTS_OTHERS = re.compile(r"external|downstream|ecosystem|nightly|canary|release|docs?\b|publish|old", re.I)


def pipeline_seeds(root: Path) -> Iterator[Seed]:
    versions: dict[str, tuple[list[str], str]] = {}
    services: dict[str, str] = {}
    unclear: set[str] = set()  # languages of which a list could not be read
    for found in _files(root):
        for name, versions_found in (*_alone(found), *_matrix(found)):
            if versions_found is None or _has_exception(found.text, name):
                unclear.add(name)
                continue
            listed_versions, _ = versions.setdefault(name, ([], found.where(rf"\b{name}(?:[-_]version)?s?:")))
            known = {each.removesuffix(".x") for each in listed_versions}
            listed_versions += [each for each in versions_found if each.removesuffix(".x") not in known]
        for service in _services(found):
            services.setdefault(service, found.where(r"^\s*services:"))
    for name, (versions_found, at) in versions.items():
        if len(versions_found) > 1 and name not in unclear:
            content = f"CI tests with {_LANGUAGES[name]} {_told(versions_found)}."
            yield Seed(content, "dependency_relation", at, 0.7)
    if services:
        yield Seed(f"CI starts {listed(services)} for the tests.", "fact", next(iter(services.values())), 0.7)


def _has_exception(text: str, name: str) -> bool:
    """Return whether a step is not run with some version: it may be the one that tests."""
    return bool(re.search(rf"matrix\.{name}(?:[-_]version)?s? ?!= ?['\"]", text))


def _told(versions: list[str]) -> str:
    """Return the versions, or the oldest and the newest of many."""
    is_number = re.compile(r"\d+(?:\.\d+)*(?:\.x)?").fullmatch
    numbered = sorted(filter(is_number, versions), key=lambda each: list(map(int, re.findall(r"\d+", each))))
    if len(versions) <= _MOST_VERSIONS or len(numbered) < len(versions):
        in_order = iter(numbered)
        return listed([next(in_order) if is_number(each) else each for each in versions])
    return f"{numbered[0]} to {numbered[-1]} ({len(versions)} versions)"


def _files(root: Path) -> Iterator[ProjectFile]:
    folder = root / ".github" / "workflows"
    names = (
        sorted(
            file.name
            for file in folder.glob("*.y*ml")
            if _TESTS.search(file.stem) and not _TESTS_OTHERS.search(file.stem)
        )
        if folder.is_dir()
        else []
    )
    for path in (
        *(f".github/workflows/{name}" for name in names[:_MOST_FILES]),
        ".gitlab-ci.yml",
        *(() if names else (".travis.yml",)),  # beside workflows, it is left over
        ".circleci/config.yml",
    ):
        found = read_first(root, path)
        if found and (_RUNS_TESTS.search(found.text) or not _CHECKS.search(Path(path).stem)):
            yield found


def _matrix(found: ProjectFile) -> Iterator[tuple[str, list[str] | None]]:
    """Yield lists of versions: in brackets, one per line, and those that are added by `include`.

    None stands for a list with anything else in it, such as an expression.
    """
    pattern = re.compile(
        r"^([ \t]*+)(?:-[ \t]*+)?(\w{1,80}?)(?:[-_]version)?s?:[ \t]*+(\[[^\]]{0,2000}\]|\n(?:\1[ \t]+-[^\n:]+\n?|(?!))++)",
        re.M,
    )
    for match in pattern.finditer(found.text):
        if match[2] in _LANGUAGES:
            items = re.sub(r"#.*|^[ \t]*-[ \t]", ",", match[3].strip("[]"), flags=re.M).split(",")
            versions = [each.strip().strip("\"'") for each in items if each.strip()]
            is_clear = all(_VERSION.fullmatch(each) or _MOVING.fullmatch(each) for each in versions)
            yield match[2], versions if is_clear else None
    computed = r"^[ \t]*+(?:-[ \t]*+)?(\w{1,80}?)(?:[-_]version)?s?:[ \t]*+(?:[>|]-?[ \t]*\n[ \t]*+)?\$\{\{(?!\s{0,40}matrix\b)"
    for name in re.findall(computed, found.text, re.M):
        if name in _LANGUAGES:
            yield name, None
    for block in re.finditer(
        r"^([ \t]*+)include:[ \t]*(?:#[^\n]*)?\n((?:\1[ \t-][^\n]*+\n?|[ \t]*+\n|(?!))++)", found.text, re.M
    ):
        for name, version in re.findall(
            r"^[ \t]*+(?:-[ \t]+)?(\w{1,80}?)(?:[-_]version)?:[ \t]*[\"']?([\w.*+-]{1,40})[\"']?[ \t]*$",
            block[2],
            re.M,
        ):
            if name in _LANGUAGES and (_VERSION.fullmatch(version) or _MOVING.fullmatch(version)):
                yield name, [version]


def _alone(found: ProjectFile) -> Iterator[tuple[str, list[str]]]:
    """Yield the version of a job that runs tests with just one: beside a matrix, that is often the oldest."""
    for job in re.split(r"^  (?=[\w-]{1,80}:[ \t]*$)", found.text, flags=re.M):
        if _RUNS_TESTS.search(job):
            for name, version in _ALONE.findall(job):
                if name in _LANGUAGES:
                    yield name, [version]


def _services(found: ProjectFile) -> Iterator[str]:
    """Yield the images of databases and queues."""
    for block in re.finditer(
        r"^([ \t]*)services:[ \t]*\n((?:\1[ \t][^\n]*+\n|[ \t]*+\n|(?!))++)", found.text, re.M
    ):
        for path in re.findall(r"image:\s*[\"']?([\w./-]+)", block[2]):
            above, _, name = path.rpartition("/")
            yield f"{above.rpartition('/')[2]} {name}" if above and name in _GENERIC_IMAGES else name
