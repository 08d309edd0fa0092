"""Scan a project: make a module map from its files, manifests and code graph. Without a model or network, and deterministic."""

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from recollect.code.modules.descriptions import (
    first_sentence,
    headline,
    only_repeats,
    readme_entry,
    readme_summary,
    says_what_it_is,
    says_what_one_class_is,
)
from recollect.code.modules.ecosystems.package_info import PackageInfo
from recollect.code.modules.grouping import CLASS_FILES, Group, group_files, main_folder
from recollect.code.modules.module_map import Module, ModuleMap
from recollect.code.modules.scan_input import ScanInput
from recollect.code.modules.stems import stems_of
from recollect.code.modules.tools import CommandRun, find_tools, package_folders, packages_in
from recollect.code.paths import (
    FileRole,
    classify_files,
    folder_of,
    folder_role,
    is_below,
    is_code,
    join,
    package_of,
)
from recollect.text.redact import redact

MOST_RELATED = 5
MOST_ENTRIES = 4
MOST_DEPENDENCIES = 8
MOST_TERMS = 24
FEW_PACKAGES = 3  # of a project whose README describes its main package
_FRONTS = (
    "__init__.py",
    "lib.rs",
    "mod.rs",
    "doc.go",
    "package-info.java",
    "index.ts",
    "index.tsx",
    "index.js",
    "main.rs",
)
_GENERIC_STEMS = ("__init__", "__main__", "index", "mod", "lib", "package-info")
_GENERIC = ("src", "lib", "source", "app", "java", "kotlin")
_SCRIPTS = {  # endings of scripts, and the manifests of projects that are written in them
    ".py": ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"),
    ".rb": ("Gemfile",),
    ".js": ("package.json",),
    ".pl": ("Makefile.PL",),
    ".sh": (),
    ".bash": (),
}
_HELPERS = ("build", "misc", "util", "utils")  # top folders in which such scripts may be
_ASSET = re.compile(r"(?:^|/)(?:assets|static|public|wwwroot)/.*\.[cm]?js$")
_BANNER = re.compile(
    r"\A\s*(?:/\*[*!]?[^/]*?|(?://[^\n]*\n)*//[^\n]*?)(?:licen[cs]ed?\b|copyright|\(c\)|@version)|\A\s*(?:/\*!|//!)",
    re.IGNORECASE,
)
_BANNER_LENGTH = 1000  # characters
_ENTRIES = (  # by file name, the likeliest first
    r"__main__\.py|main\.(py|go|rs|rb|ts|js|c|cc|cpp|kt)|manage\.py|(Main|Application|Program)\.(java|kt|cs)",
    r"cli\.\w+|(wsgi|asgi)\.py|server\.\w+|app\.\w+",
    r"(routes|urls|router)\.\w+",
    r"index\.(ts|tsx|js|mjs|vue)|lib\.rs|mod\.rs",
)
_BUILD_FILES = (".gradle.kts", ".gradle", "module-info.java")
_NAME = re.compile(r"[^\W_][\w$.:?!=~-]*")
_TEST_OF_FILE = re.compile(r"tests?$|test_|Test[A-Z_]")  # as Rust has them beside the code
_C_FILES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx")  # which hold several classes
_README = re.compile(r"readme(\.(md|rst|txt|markdown))?", re.IGNORECASE)
_TEST_MARK = re.compile(r"^test_|_tests?$|_spec$|[-.](test|spec)$|Tests?$|TestCase$")


def scan(project: ScanInput, runs: Sequence[CommandRun] = ()) -> ModuleMap:
    """Return the map. `runs` is what agents ran: it decides between commands."""
    return _Scan(project).map(runs)


class _Scan:
    def __init__(self, project: ScanInput) -> None:
        self._project = project
        self._packages = frozenset(package_folders(project))
        self._kinds = classify_files(project.sizes, self._packages)
        self._own_names = _python_names(project.sizes)
        self._infos = {
            package: next(iter(packages_in(project, package).values()), PackageInfo(""))
            for package in self._packages
        }
        readmes = sorted(filter(_README.fullmatch, project.inside("")))  # README.md before readme.txt
        self._readme = "\n\n".join(map(project.text, readmes))

    def map(self, runs: Sequence[CommandRun]) -> ModuleMap:
        code = [
            path
            for path, (kind, _) in self._kinds.items()
            if kind is FileRole.CODE and not path.endswith(_BUILD_FILES) and not self._is_copied(path)
        ]
        code = self._without_loose_scripts(code)
        by_package: dict[str, list[str]] = defaultdict(list)
        for path in code:
            by_package[package_of(path, self._packages)].append(path)
        # Of a workspace whose code is in its packages, the README does not describe what is beside them.
        self._is_at_root = 2 * len(by_package[""]) >= len(code)
        weight = {path: 1 + self._project.sizes[path] / 1000 for path in code}
        self._bases = {package: main_folder(files, weight) for package, files in by_package.items()}
        groups = group_files(
            self._project.sizes,
            by_package,
            self._project.links,
            self._infos[""].name.rsplit("/", 1)[-1].lower(),
        )
        names = _unique({group.key: self._name(group) for group in groups})
        home = {path: group.key for group in groups for path in group.files}
        tests = self._tests(home, names)
        terms = self._terms({group.key: group.files for group in groups})
        related = self._related(home)
        modules = [
            Module(
                key=group.key,
                name=names[group.key],
                description=redact(self._description(group, names[group.key]))[0],
                core_files=self._ranked(group.files),
                entry_points=self._entries(group),
                test_files=_folded(tests.get(group.key, ()), self._inside),
                dependencies=self._dependencies(group.files),
                related=related.get(group.key, ()),
                terms=terms[group.key],
            )
            for group in groups
        ]
        modules.sort(key=lambda module: module.name)
        return ModuleMap((*modules, *self._others(tests.get("", ()))), find_tools(self._project, runs))

    # Names and descriptions

    def _without_loose_scripts(self, code: Sequence[str]) -> list[str]:
        """Leave out scripts at the root, or for its upkeep, of a project in another language: `cpplint.py` beside C++."""
        written: Counter[str] = Counter()
        for path in code:
            written[PurePosixPath(path).suffix] += self._project.sizes[path] + 1
        main = max(written, key=lambda ending: written[ending], default="")
        names = self._project.inside("")
        loose = {
            ending
            for ending, manifests in _SCRIPTS.items()
            if ending != main
            and names.isdisjoint(manifests)
            and not any(name.endswith(".gemspec") for name in names)
        }
        return [
            path
            for path in code
            if PurePosixPath(path).suffix not in loose
            or ("/" in path and path.partition("/")[0] not in _HELPERS)
        ]

    def _is_copied(self, path: str) -> bool:
        """Return whether a script among the assets of a web application begins with the licence of another project."""
        return bool(_ASSET.search(path)) and bool(_BANNER.search(self._project.text(path)[:_BANNER_LENGTH]))

    def _name(self, group: Group) -> str:
        """Return its path without what all have in common: `contrib/admin`, `gson/stream`, `cli`."""
        package = package_of(group.files[0], self._packages)
        base = self._bases[package]
        last = base.rsplit("/", 1)[-1]
        package_name = package.rsplit("/", 1)[-1]
        if package_name in _GENERIC and base != package:
            package_name = base[len(package) + 1 :].partition("/")[0]
        if not package:
            declared = self._infos[""].name.rsplit("/", 1)[-1]
            package_name = (declared or last) if last in ("", *_GENERIC) else last
            if len(self._bases) > 1 and (top := base.partition("/")[0]) not in ("", *_GENERIC):
                package_name = top  # a part without a manifest beside those that have one
        inner = group.key[len(base) :].strip("/.") if is_below(f"{group.key}/", base) else ""
        if not inner and group.key != "." and not is_below(f"{base}/", group.key):
            inner = group.key.rsplit("/", 1)[-1]  # beside the folder that has nearly all of the code
        if group.key in group.files:
            inner = folder_of(inner) or re.sub(r"\.\w+$", "", inner)
        several = len(self._bases) > 1
        return "/".join(filter(None, (package_name if several or not inner else "", inner))) or "root"

    def _description(self, group: Group, name: str) -> str:
        own = name.rsplit("/", 1)[-1]
        found: Iterator[str] = (
            each
            for each in self._descriptions(group, own)
            if not only_repeats(each, own) and (len(group.files) == 1 or not says_what_one_class_is(each))
        )
        return next(filter(says_what_it_is, found), "") or self._contents(group)

    def _descriptions(self, group: Group, name: str) -> Iterator[str]:
        """Yield descriptions from all sources, the best first."""
        package = package_of(group.files[0], self._packages)
        base = self._bases[package]
        if group.key == "." and self._is_beside_the_code(group, base):
            return  # what is said of the whole is not about these
        is_base = group.key in (package or ".", base)
        is_base = is_base and any(folder_of(path) in (package, base) for path in group.files)
        if is_base and (package or self._is_at_root):
            yield first_sentence(self._infos[package].description)
        if group.key in group.files:
            yield self._headline(group.key)
        else:
            for folder in dict.fromkeys((group.key.removeprefix("."), group.base)):
                for front in _FRONTS:
                    yield headline(front, self._project.text(join(folder, front)))
        direct = [
            path for path in group.files if folder_of(path) in (group.key.removeprefix("."), group.base)
        ]
        by_stem = {PurePosixPath(path).stem.lower(): path for path in reversed(direct)}
        own = by_stem.get(name.lower(), "")
        if own.endswith(".go"):  # where the comment of the package is
            yield headline(own, self._project.text(own))
        yield readme_entry(self._readme, name)
        if not package and is_base and self._is_at_root and len(self._bases) <= FEW_PACKAGES:
            yield readme_summary(self._readme)
        if group.key != "." and group.key not in group.files:
            yield self._of_folder(group.key)
        if own and not own.endswith(CLASS_FILES):  # which says of one class what it is
            yield headline(own, self._project.text(own))
        if len(group.files) == 1 and not group.files[0].endswith(CLASS_FILES):
            yield self._headline(group.files[0])

    def _is_beside_the_code(self, group: Group, base: str) -> bool:
        """Return whether the code is in `src`, `lib` or a package, and only a few other files are at the root."""
        entries = self._infos[""].entries
        if any(folder_of(path) or path in entries for path in group.files):
            return False
        named = self._infos[""].name.rsplit("/", 1)[-1]
        inside = {folder for folder in (base, "src", "lib", named, named.replace("-", "_")) if folder}
        elsewhere = sum(
            size
            for path, size in self._project.sizes.items()
            if is_code(path) and any(is_below(path, folder) for folder in inside)
        )
        return elsewhere > sum(self._project.sizes[path] for path in group.files)

    def _contents(self, group: Group) -> str:
        """Return the names of its files, or of what is defined in its only one."""
        files = self._ranked(group.files)
        stems = [PurePosixPath(path).stem.removesuffix(".d") for path in files]
        names = list(dict.fromkeys(each for each in stems if each not in _GENERIC_STEMS))
        if len(names) < 2:
            defined = dict.fromkeys(self._project.names.get(group.files[0], ()))
            names = [each for each in defined if _NAME.fullmatch(each) and not _TEST_OF_FILE.match(each)]
            if group.files[0].endswith(".go"):  # which exports by a capital letter
                names = [each for each in names if each[:1].isupper()] or names
        return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")

    def _headline(self, path: str) -> str:
        """Return what a file says of itself, or its main class of itself: of other files, that says nothing."""
        of_class = "" if path.endswith((*_C_FILES, ".go")) else self._project.docs.get(path, "")
        return headline(path, self._project.text(path)) or first_sentence(of_class)

    def _terms(self, groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """Return the stems that are more frequent in one module's names than in others'."""
        counts = {
            key: Counter(
                term
                for path in files
                for name in (
                    *path.rpartition(".")[0].split("/")[-2:],
                    *self._project.names.get(path, ()),
                )
                for term in stems_of(name)
            )
            for key, files in groups.items()
        }
        spread = Counter(term for count in counts.values() for term in count)

        def best(count: Counter[str]) -> tuple[str, ...]:
            def worth(term: str) -> float:
                return (1 + math.log(count[term])) * math.log((1 + len(groups)) / spread[term])

            ranked = sorted(count, key=lambda term: (-worth(term), term))
            return tuple(ranked[:MOST_TERMS])

        return {key: best(count) for key, count in counts.items()}

    # Files

    def _ranked(self, files: Sequence[str]) -> tuple[str, ...]:
        """Sort files by how much depends on each, then by size."""
        return tuple(
            sorted(
                files,
                key=lambda path: (-self._weight[path] - math.log1p(self._project.sizes[path] / 500), path),
            )
        )

    @cached_property
    def _inside(self) -> Mapping[str, int]:
        return _folders(filter(is_code, self._project.sizes))

    @cached_property
    def _weight(self) -> Mapping[str, float]:
        incoming: defaultdict[str, float] = defaultdict(float)
        for source, targets in self._project.links.items():
            for target, weight in targets.items():
                if source != target:
                    incoming[target] += math.log1p(weight)
        return incoming

    def _entries(self, group: Group) -> tuple[str, ...]:
        inside = set(group.files)
        named = [path for info in self._infos.values() for path in info.entries if path in inside]
        for pattern in _ENTRIES:
            for path in sorted(inside, key=lambda path: (path.count("/"), path)):
                if re.fullmatch(pattern, path.rsplit("/", 1)[-1]):
                    named.append(path)
        commands = [path for path in sorted(inside) if re.search(r"(^|/)(bin|cmd)/", path)]
        return tuple(dict.fromkeys((*named, *commands)))[:MOST_ENTRIES]

    def _tests(self, home: Mapping[str, str], names: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the test files of each module; "" has those of none in particular."""
        named_for: dict[str, set[str]] = defaultdict(set)  # by the name that a test of it would have
        beside: dict[str, Counter[str]] = defaultdict(Counter)
        for path, key in home.items():
            named_for[_plain(PurePosixPath(path).stem)].add(key)
            beside[folder_of(path)][key] += 1
        for key, name in names.items():
            named_for[_plain(name.rsplit("/", 1)[-1])].add(key)
        tests = [path for path, (kind, _) in self._kinds.items() if kind is FileRole.TESTS and is_code(path)]
        used = Counter(
            key
            for path in tests
            for key in {home[to] for to in self._project.links.get(path, {}) if to in home}
        )
        specificity = {
            key: 1 - count / (len(tests) + 1) for key, count in used.items()
        }  # a module that all tests use says nothing
        alone = {package: keys for package, keys in self._keys_by_package(home).items() if len(keys) == 1}
        found: dict[str, list[str]] = defaultdict(list)
        for path in tests:
            package = package_of(path, self._packages)
            scores = self._test_scores(path, package, home, named_for, specificity)
            if near := beside.get(folder_of(path)):
                scores[near.most_common(1)[0][0]] += 2
            for key in alone.get(package, ()):
                scores[key] += 2
            best = max(scores, key=lambda key: (scores[key], key), default="")
            found[best if best and scores[best] >= 2 else ""].append(path)
        return found

    def _keys_by_package(self, home: Mapping[str, str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for path, key in home.items():
            found[package_of(path, self._packages)].add(key)
        return found

    def _test_scores(
        self,
        path: str,
        package: str,
        home: Mapping[str, str],
        named_for: Mapping[str, set[str]],
        specificity: Mapping[str, float],
    ) -> defaultdict[str, float]:
        """Score the modules that a test may belong to: by its name, its folders, and what it uses."""
        scores: defaultdict[str, float] = defaultdict(float)

        def add(keys: Collection[str], strength: float) -> None:
            for key in keys:
                here = not package or is_below(f"{key}/", package)
                scores[key] += strength / len(keys) if here else 0.0

        own = _plain(_TEST_MARK.sub("", PurePosixPath(path).stem.partition(".")[0]))
        if own in named_for and own != "test":
            add(named_for[own], 6)
        elif len(own) >= 3:  # `res.json` tests the response
            add({key for name, keys in named_for.items() if name.startswith(own) for key in keys}, 3)
        folders = [folder for folder in path.split("/")[:-1] if folder_role(folder) is not FileRole.TESTS]
        for depth, folder in enumerate(reversed(folders)):
            add(named_for.get(_plain(folder), ()), max(2, 5 - depth))
        links = self._project.links.get(path, {})
        total = sum(links.values())
        for target, weight in links.items():
            if target in home:
                add((home[target],), 8 * specificity[home[target]] * weight / total)
        return scores

    def _others(self, tests: Sequence[str]) -> list[Module]:
        """Return modules that are no code: documentation, examples, scripts, CI, and tests of nothing in particular."""
        folders: dict[tuple[FileRole, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for path, (kind, folder) in self._kinds.items():
            if kind not in (FileRole.CODE, FileRole.TESTS):
                name = folder.rsplit("/", 1)[-1]
                folders[kind, "templates" if name.startswith("template-") else name][folder].append(path)
        found = [
            Module(
                key=min(inner, key=len),
                name="CI" if kind is FileRole.CI else name,
                kind=kind,
                core_files=tuple(f"{folder}/" for folder in sorted(inner)),
            )
            for (kind, name), inner in folders.items()
        ]
        if tests:
            base = max(Counter(path.split("/")[0] for path in tests).items(), key=lambda each: each[1])[0]
            found.append(
                Module(
                    key=f"{base}/*",
                    name="tests",
                    kind=FileRole.TESTS,
                    description="Fixtures and tests that belong to no single module.",
                    core_files=_folded(tests, self._inside),
                )
            )
        order = list(FileRole)
        return sorted(found, key=lambda module: (order.index(module.kind), module.name))

    def _of_folder(self, folder: str) -> str:
        for name in sorted(filter(_README.fullmatch, self._project.inside(folder))):
            if summary := readme_summary(self._project.text(join(folder, name))):
                return summary
        return readme_entry(self._readme, folder.rsplit("/", 1)[-1])

    # Between modules

    def _related(self, home: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        between: dict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for source, targets in self._project.links.items():
            for target, weight in targets.items():
                one, other = home.get(source), home.get(target)
                if one and other and one != other:
                    between[one][other] += weight
                    between[other][one] += weight
        return {
            key: tuple(sorted(near, key=lambda other: (-near[other], other))[:MOST_RELATED])
            for key, near in between.items()
        }

    def _dependencies(self, files: Sequence[str]) -> tuple[str, ...]:
        declared = {
            each.lower().replace("-", "_"): each
            for info in self._infos.values()
            for each in info.dependencies
        }
        counts: Counter[str] = Counter()
        for path in files:
            counts.update(
                {
                    name
                    for each in self._project.outside.get(path, ())
                    if (name := _external_package(path, each, declared, self._own_names))
                }
            )
        return tuple(name for name, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0])))[
            :MOST_DEPENDENCIES
        ]


def _python_names(paths: Iterable[str]) -> set[str]:
    """Return the first words of imports that mean the project itself, also where the file is missing or generated."""
    return {part for path in paths if path.endswith(".py") for part in path.removesuffix(".py").split("/")}


def _external_package(path: str, target: str, declared: Mapping[str, str], own: Collection[str]) -> str:
    """Return the package of an import; "" if it comes with the language or is the project's own."""
    wanted = target.lower().replace("-", "_")
    parts = [wanted]
    while (cut := max(wanted.rfind(mark) for mark in "./:\\")) > 0:
        wanted = wanted[:cut].rstrip(":")
        parts.append(wanted)
    for package in parts:
        if package in declared:
            return declared[package]
    head = re.split(r"[.]", target)[0]
    is_package = path.endswith(".py") and head[:1].isalpha() and head not in sys.stdlib_module_names
    return head if is_package and head not in own else ""


def _folders(paths: Iterable[str]) -> Counter[str]:
    """Return how many of the files are below each folder."""
    found: Counter[str] = Counter()
    for path in paths:
        while path := folder_of(path):
            found[path] += 1
    return found


def _folded(files: Iterable[str], inside: Mapping[str, int]) -> tuple[str, ...]:
    """Shorten the list: a folder whose code is all in it replaces its files, ending in "/"."""
    files = list(files)
    found = []
    whole = {folder for folder, count in _folders(files).items() if count == inside[folder] and count > 1}
    for path in files:
        folder = path
        above = ""
        while folder := folder_of(folder):
            above = f"{folder}/" if folder in whole else above
        found.append(above or path)
    return tuple(sorted(set(found)))


def _plain(name: str) -> str:
    """Return the form in which a test and what it tests may have the same name."""
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return letters.removesuffix("s") if len(letters) > 4 else letters


def _unique(names: Mapping[str, str]) -> dict[str, str]:
    """Replace names that occur twice by their keys, without endings of files if that is enough."""
    often = Counter(names.values())
    bare = {key: re.sub(r"(?<=[^/])\.\w+$", "", key) for key in names}
    taken = Counter(bare.values())
    return {
        key: (bare[key] if taken[bare[key]] == 1 else key).strip(".") or name if often[name] > 1 else name
        for key, name in names.items()
    }
