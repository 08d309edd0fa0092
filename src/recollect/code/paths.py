"""What a path says about a file: whether it is code, a test, documentation, an example, tooling, or none of these."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import lru_cache

from recollect.code.languages.table import CODE_ENDINGS


class FileRole(StrEnum):
    CODE = "code"
    TESTS = "tests"
    DOCS = "docs"
    EXAMPLES = "examples"
    TOOLING = "tooling"  # scripts, benchmarks, packaging
    CI = "ci"


_FOLDERS = {
    FileRole.TESTS: "test tests spec specs __tests__ e2e testsuite testdata fixtures __fixtures__ js_tests integration-tests test-d test-dts",
    FileRole.DOCS: "doc docs documentation website site man docs_src docs-src doc_src docs_source docs-source",
    FileRole.EXAMPLES: "example examples sample samples demo demos playground playgrounds tutorial tutorials cookbook"
    " docs_examples docs-examples doc_examples snippets",
    FileRole.TOOLING: "scripts script tools hack support extra extras contrib bench benches benchmark benchmarks benchsuite jmh perf performance pkg packaging"
    " buildsrc build-logic nuke xtask ci fuzz ops deploy docker patches build-tools devtools",
    FileRole.CI: ".github .circleci .gitlab .forgejo .builds .buildkite",
}
_ROLE_OF = {name: role for role, names in _FOLDERS.items() for name in names.split()}
_VENDORED = frozenset(
    "vendor vendor-bin third_party thirdparty node_modules bower_components site-packages".split()
)
_TEST_NAME = re.compile(
    r"test_.+|.+_(?:unit)?tests?|tests|conftest|.+[._-](?:test|spec|tests)|.+_spec|.+(?:Test|Tests|TestCase)"
)
_TEST_ENDING = re.compile(r"\.(test|spec|test-d)\.\w+$|^tests?\.(?:rs|c|cc|cpp)$|_test\.go$")
_TEST_SCRIPT = re.compile(r"tests?\.[cm]?[jt]sx?")  # beside the manifest, where it starts the tests
_TEST_FOLDER = re.compile(
    r"tests?[-_](?:helpers?|utils?|support|fixtures?|files?|data|suite)|(?:integration|functional|acceptance|e2e|typing)[-_]tests?|unit[-_]?tests?"
)
_TEST_PROJECT = re.compile(
    r".+\.(?:Unit|Integration|Functional|Acceptance)?Tests?(?:\.\w+)?|(?:Unit|Integration|Functional|Acceptance)Tests?|[A-Z]\w*[a-z]Tests"
)  # as .NET names them
_SOURCE_SET = re.compile(r"(?:^|/)src/[a-z]\w*Test$")  # of Kotlin and Android: `src/commonTest`
_TEST_PACKAGE = re.compile(r"(?:.+[-_])?tests?(?:[-_].+)?")
_EXAMPLE_PACKAGE = re.compile(
    r"(?:examples?|samples?|demos?)[.-].+|.+[.-](?:examples?|samples?|demos?|playgrounds?)(?:\..+)?|(?-i:[A-Z]\w*(?:Examples|Samples))",
    re.IGNORECASE,
)
_EXAMPLE_FILE = re.compile(
    r"(?:examples?|demos?|bench(?:marks?)?)(?:[-_].+)?\.\w+$|.+[-_]bench(?:marks?)?\.\w+$"
)  # beside the manifest
_BENCH_PACKAGE = re.compile(r".*benchmarks?|(?:.+[.-])?(?:bench(?:es)?|jmh)", re.IGNORECASE)
_DOCS_PACKAGE = re.compile(r".+[.-]docs?", re.IGNORECASE)
_CONTAINERS = frozenset(
    "packages crates apps modules libs projects src".split()
)  # of parts, which say what they are
_MANIFESTS = ("/Cargo.toml", "/package.json", "/pyproject.toml")
_SETTINGS = re.compile(
    r".+\.(?:config|workspace)(\.\w+)?\.\w+|(Gruntfile|gulpfile)\.\w+|setup\.(?:py|rb)|noxfile\.py|build\.rs|\..+"
)


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def is_code(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return f".{name.rsplit('.', 1)[-1].lower()}" in CODE_ENDINGS and not _SETTINGS.fullmatch(name)


def is_test_name(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return bool(
        _TEST_NAME.fullmatch(name.partition(".")[0])
        or _TEST_ENDING.search(name)
        or _TEST_SCRIPT.fullmatch(path)
    )


def is_vendored(path: str) -> bool:
    return not _VENDORED.isdisjoint(path.split("/"))


def is_fixture_folder(folder: str) -> bool:
    """Return whether a package in that folder is not part of the project: a fixture, an example, a template."""
    return any(
        folder_role(part) in (FileRole.TESTS, FileRole.EXAMPLES, FileRole.DOCS)
        or part.startswith(("template", "fixture", "fuzz"))
        or part.endswith(("_template", "-template"))
        or part in _VENDORED
        for part in folder.split("/")
    )


def is_helper_folder(folder: str) -> bool:
    """Return whether a package in that folder is there for those who work on the project: benchmarks, or its tasks."""
    return any(part == "xtask" or _BENCH_PACKAGE.fullmatch(part) for part in folder.split("/"))


@lru_cache(maxsize=4096)
def folder_role(name: str) -> FileRole | None:
    """Return what a folder of that name is for; `_examples` has examples, which Go's tools leave out."""
    small = name.lower()
    return (
        FileRole.TESTS
        if name.startswith("__test") or _TEST_FOLDER.fullmatch(small)
        else _ROLE_OF.get(small) or _ROLE_OF.get(small.lstrip("_"))
    )


def classify_files(
    paths: Iterable[str], packages: Collection[str] | None = None
) -> dict[str, tuple[FileRole, str]]:
    """Return the role of each path and, unless it is code, the folder that decides it; leave out what has no role.

    `packages` are the folders with a manifest: their own sub-folders count like those of the project. None means those that
    are in a folder for parts, such as `crates/shop`.
    """
    paths = [path for path in paths if not is_vendored(path)]
    if packages is None:
        packages = {
            folder_of(path)
            for path in paths
            if path.endswith(_MANIFESTS) and path.count("/") > 1 and path.partition("/")[0] in _CONTAINERS
        }
    folders = list(map(folder_of, paths))
    code = {
        path: (folder, is_test_name(path))
        for path, folder in zip(paths, folders, strict=True)
        if is_code(path)
    }
    test_folders = _test_folders(code.values()) | _cucumber_folders(paths)
    code_folders = _code_despite_name(paths, code.items())
    shell_folders = _shell_folders(code)
    # A folder decides for all files in it: a large project has many more files than folders.
    decided: dict[tuple[str, bool], tuple[FileRole, str] | None] = {}
    roles: dict[str, tuple[FileRole, str]] = {}
    for path, folder in zip(paths, folders, strict=True):
        key = folder, path.endswith(".php")
        if key not in decided:
            decided[key] = _role_by_folder(*key, packages, test_folders, code_folders, shell_folders)
        role = decided[key]
        if role is _UNDECIDED:
            if path not in code or (not folder and _EXAMPLE_FILE.match(path)):
                continue
            role = (FileRole.TESTS, folder) if code[path][1] else (FileRole.CODE, "")
        if role:
            roles[path] = role
    return roles


_SHELL = (".sh", ".bash")
_TESTS_IN_SRC = frozenset({"src/test", "src/tests"})
_UNDECIDED = (FileRole.CODE, "?")  # the name of the file decides


def _role_by_folder(
    folder: str,
    is_php: bool,
    packages: Collection[str],
    test_folders: AbstractSet[str],
    code_folders: Collection[str],
    shell_folders: Collection[str],
) -> tuple[FileRole, str] | None:
    """Return the role of all files in a folder and the folder that decides it; None if they have none."""
    folders = folder.split("/") if folder else []
    package = package_of(join(folder, "file"), packages)
    depth = package.count("/") + 1 if package else 0
    role = folder_role(folders[depth]) if depth < len(folders) else None
    if folders and folders[0].startswith(".") and role is not FileRole.CI:
        return None  # settings of editors and the like
    if package and (of_package := _package_role(package)):
        return of_package
    if not package and len(folders) > 1 and folders[0] in _CONTAINERS and folders[0] != "src":
        inner = folder_role(folders[1])
        if inner in (FileRole.DOCS, FileRole.EXAMPLES):
            return inner, "/".join(folders[:2])
    if not package and len(folders) > 1 and folders[0] == "src" and test_folders & _TESTS_IN_SRC:
        inner = folder_role(folders[1])  # all that there is stands in `src`
        if inner in (FileRole.DOCS, FileRole.EXAMPLES) or folders[1] == "scripts":
            return inner or FileRole.TOOLING, "/".join(folders[:2])
    if folders and folders[0] in shell_folders:
        return FileRole.TOOLING, folders[0]
    tested = next((number for number, name in enumerate(folders) if _TEST_PROJECT.fullmatch(name)), None)
    if tested is not None:
        return FileRole.TESTS, "/".join(folders[: tested + 1])
    template = next((number for number, name in enumerate(folders) if name.startswith("template-")), None)
    if template is not None:
        return FileRole.EXAMPLES, "/".join(folders[: template + 1])
    is_namespace = is_php and folders[depth : depth + 1] and folders[depth][0].isupper()
    is_of_part = depth and not _BENCH_PACKAGE.fullmatch(folders[depth]) if role else False
    if role and not (role is FileRole.TOOLING and (is_of_part or folders[0] in code_folders or is_namespace)):
        return role, "/".join(folders[: depth + 1])
    tests = next((outer for outer in _prefixes(folders) if outer in test_folders), None)
    return (FileRole.TESTS, tests) if tests else _UNDECIDED


def _package_role(package: str) -> tuple[FileRole, str] | None:
    """Return the role of a part that is no code, by its name or that of a folder around it, and the folder that decides it."""
    folders = package.split("/")
    for number, folder in enumerate(folders):
        role = None
        if _TEST_PACKAGE.fullmatch(folder):
            role = FileRole.TESTS
        elif _EXAMPLE_PACKAGE.fullmatch(folder):
            role = FileRole.EXAMPLES
        elif folder == "xtask":
            role = FileRole.TOOLING
        elif _DOCS_PACKAGE.fullmatch(folder) and number:
            role = FileRole.DOCS
        elif _BENCH_PACKAGE.fullmatch(folder) and (number or folder not in ("bench", "benchmark")):
            role = FileRole.TOOLING
        elif (
            number and folders[0] in _CONTAINERS and folder_role(folder) in (FileRole.DOCS, FileRole.EXAMPLES)
        ):
            role = folder_role(folder)
        if role:
            return role, "/".join(folders[: number + 1])
    return None


def _code_despite_name(paths: Iterable[str], code: Iterable[tuple[str, tuple[str, bool]]]) -> set[str]:
    """Return top folders named like tooling that contain most of the code, and `pkg`, where Go has its packages."""
    in_folder = Counter(
        folder for path, (folder, is_test) in code if not is_test and not path.endswith(_SHELL)
    )
    in_top: Counter[str] = Counter()
    for folder, count in in_folder.items():
        in_top[folder.partition("/")[0]] += count
    go = {"pkg"} if any(path.startswith("pkg/") and path.endswith(".go") for path in paths) else set()
    return go | {
        name
        for name, count in in_top.items()
        if folder_role(name) is FileRole.TOOLING and count * 2 > in_top.total()
    }


def _shell_folders(code: Iterable[str]) -> set[str]:
    """Return top folders whose only code is shell scripts, in a project mostly written in something else.

    What is installed from `bin` or `lib` may be a script.
    """
    is_shell: dict[str, list[bool]] = {}
    for path in code:
        is_shell.setdefault(path.partition("/")[0] if "/" in path else "", []).append(path.endswith(_SHELL))
    folders = {top for top, each in is_shell.items() if all(each)} - {"", "bin", "lib", "src"}
    others = sum(each.count(False) for each in is_shell.values())
    return folders if others > sum(len(is_shell[top]) for top in folders) else set()


def package_of(path: str, packages: Collection[str]) -> str:
    """Return the innermost of these folders that contains the path; "" if none does."""
    while path := folder_of(path):
        if path in packages:
            return path
    return ""


def _prefixes(folders: Sequence[str]) -> list[str]:
    return ["/".join(folders[: end + 1]) for end in range(len(folders))]


def _cucumber_folders(paths: Iterable[str]) -> set[str]:
    """Return folders called `features` that have Cucumber's descriptions: all code in them is for tests."""
    return {
        f"{path.rpartition('features/')[0]}features"
        for path in paths
        if path.endswith(".feature") and "/features/" in f"/{path}"
    }


def _test_folders(code: Iterable[tuple[str, bool]]) -> set[str]:
    """Return folders named for tests that mostly contain tests: `django/test` is the code of a test client.

    `code` has the folder of each file of code, and whether its name is that of a test.
    """
    total: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for (inner, is_test), count in Counter(code).items():
        for folder in _prefixes(inner.split("/")) if inner else ():
            name = folder.rsplit("/", 1)[-1]
            if (
                name == "testing"
                or folder_role(name) is FileRole.TESTS
                or "/features/" in f"/{folder}"
                or _SOURCE_SET.search(folder)
            ):
                total[folder] += count
                tests[folder] += is_test * count
    return {
        folder
        for folder, count in total.items()
        if tests[folder] * 2 > count
        or folder.endswith(
            ("src/test", "fixtures", "testdata", "src/tests", "features/step_definitions", "features/support")
        )
        or "/__test" in f"/{folder}"
        or _SOURCE_SET.search(folder)
    }
