"""What a path says of a file: code, test, documentation, example, tooling, or nothing we map."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from recollect.code.modules.ground import folder_of
from recollect.code.modules.map import Kind

_ENDINGS = frozenset(
    ".py .pyi .pyx .js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte .go .rs .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx"
    " .hpp .hh .hxx .inl .m .mm .rb .php .cs .fs .vb .swift .dart .ex .exs .erl .hs .ml .lua .pl .pm .r .jl .zig .nim .clj .sh"
    " .bash .sql .proto .graphql".split()
)
_FOLDERS = {
    Kind.TESTS: "test tests spec specs __tests__ e2e testsuite testdata fixtures __fixtures__ js_tests integration-tests",
    Kind.DOCS: "doc docs documentation website site man",
    Kind.EXAMPLES: "example examples sample samples demo demos playground playgrounds tutorial tutorials cookbook",
    Kind.TOOLING: "scripts script tools hack support extras contrib bench benches benchmark benchmarks benchsuite perf pkg packaging"
    " ci fuzz ops deploy docker patches build-tools devtools",
    Kind.CI: ".github .circleci .gitlab .forgejo .builds .buildkite",
}
_KIND_OF = {name: kind for kind, names in _FOLDERS.items() for name in names.split()}
_PASSED = frozenset("vendor third_party thirdparty node_modules bower_components site-packages".split())
_TEST_NAME = re.compile(
    r"test_.+|.+_tests?|tests|conftest|.+[._-](?:test|spec|tests)|.+_spec|.+(?:Test|Tests|TestCase)"
)


_SETTINGS = re.compile(
    r".+\.config(\.\w+)?\.\w+|(Gruntfile|gulpfile)\.\w+|setup\.py|noxfile\.py|build\.rs|\..+"
)


def is_code(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return f".{name.rsplit('.', 1)[-1].lower()}" in _ENDINGS and not _SETTINGS.fullmatch(name)


def is_test_name(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return bool(_TEST_NAME.fullmatch(name.partition(".")[0]) or re.search(r"\.(test|spec)\.\w+$", name))


def is_passed(path: str) -> bool:
    """What others wrote."""
    return not _PASSED.isdisjoint(path.split("/"))


def is_aside(folder: str) -> bool:
    """Whether a package in that folder is there for others to be tried with: a fixture, an example, a template."""
    return any(
        _KIND_OF.get(part) in (Kind.TESTS, Kind.EXAMPLES, Kind.DOCS)
        or part.startswith(("template", "fixture", "fuzz"))
        or part in _PASSED
        for part in folder.split("/")
    )


def folder_kind(name: str) -> Kind | None:
    return Kind.TESTS if name.startswith("__test") else _KIND_OF.get(name.lower())


def sorted_out(paths: Iterable[str], parts: Collection[str]) -> dict[str, tuple[Kind, str]]:
    """Of each path the kind and, for all but code, the folder that says so; what is none of them is left out."""
    paths = [path for path in paths if not is_passed(path)]
    tests = _test_folders(paths)
    ours = _code_despite_name(paths)
    found: dict[str, tuple[Kind, str]] = {}
    for path in paths:
        folders = path.split("/")[:-1]
        part = part_of(path, parts)
        depth = (
            part.count("/") + 1 if part else 0
        )  # a package's own top folders are as telling as the project's
        kind = folder_kind(folders[depth]) if depth < len(folders) else None
        if folders and folders[0].startswith(".") and kind is not Kind.CI:
            continue  # settings of editors and the like
        if part and re.fullmatch(r"tests?-.+|.+-tests?", part.rsplit("/", 1)[-1]):
            found[path] = Kind.TESTS, part
            continue
        template = next(
            (number for number, folder in enumerate(folders) if folder.startswith("template-")), None
        )
        if template is not None:
            found[path] = Kind.EXAMPLES, "/".join(folders[: template + 1])
            continue
        if kind and not (kind is Kind.TOOLING and (depth or folders[0] in ours)):
            found[path] = kind, "/".join(folders[: depth + 1])
            continue
        below = next((folder for folder in _prefixes(folders) if folder in tests), None)
        if below:
            found[path] = Kind.TESTS, below
        elif is_code(path):
            found[path] = (Kind.TESTS, "/".join(folders)) if is_test_name(path) else (Kind.CODE, "")
    return found


def _code_despite_name(paths: Iterable[str]) -> set[str]:
    """Top folders called like tooling that hold most of the code, and `pkg`, where Go keeps its packages."""
    code = Counter(path.partition("/")[0] for path in paths if is_code(path) and not is_test_name(path))
    go = {"pkg"} if any(path.startswith("pkg/") and path.endswith(".go") for path in paths) else set()
    return go | {
        name for name, count in code.items() if folder_kind(name) is Kind.TOOLING and count * 2 > code.total()
    }


def part_of(path: str, parts: Collection[str]) -> str:
    """The innermost of the folders that are packages of their own."""
    while path := folder_of(path):
        if path in parts:
            return path
    return ""


def _prefixes(folders: Sequence[str]) -> list[str]:
    return ["/".join(folders[: end + 1]) for end in range(len(folders))]


def _test_folders(paths: Iterable[str]) -> set[str]:
    """Folders called tests that mostly have tests in them: `django/test` is the code of a test client."""
    total: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for path in filter(is_code, paths):
        for folder in _prefixes(path.split("/")[:-1]):
            if folder_kind(folder.rsplit("/", 1)[-1]) is Kind.TESTS:
                total[folder] += 1
                tests[folder] += is_test_name(path)
    return {
        folder
        for folder, count in total.items()
        if tests[folder] * 2 > count
        or folder.endswith(("src/test", "fixtures", "testdata"))
        or "/__test" in f"/{folder}"
    }
