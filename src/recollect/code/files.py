"""Which files a project consists of: without ignored, vendored, built and generated ones."""

import os
import re
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from recollect.code.ignore import EXCLUDE, IGNORE_FILES, Rules, ignore_lines, ignored_by

MOST_FILES = 60_000
MOST_FOLDERS = 60_000
SETTLED = 100_000_000  # nanoseconds: a file that changed this shortly before we looked may change again with the same time

# Why something is left out.
IGNORED = "ignored"
VENDORED = "vendored folder"
BUILT = "built folder"
NESTED = "nested repository"
BARE = "bare repository"
LOCK = "lock file"
GENERATED = "generated"
SYMLINK = "symbolic link"
BAD_NAME = "name not in UTF-8"
UNREADABLE = "unreadable"
TOO_MANY = "too many files"
TOO_MANY_FOLDERS = "too many folders"
SECRET = "secret in its name"

_VENDORED = frozenset(
    """
    node_modules bower_components jspm_packages vendor _vendor vendored third_party third-party thirdparty
    .venv venv virtualenv site-packages .eggs Pods Carthage .bundle .yarn .pnpm-store
    """.split()
)
_MADE = frozenset(
    """
    .git .hg .svn .jj __pycache__ .tox .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis .ipynb_checkpoints htmlcov
    .cache .gradle .terraform .next .nuxt .svelte-kit .parcel-cache .turbo .dart_tool DerivedData .idea
    """.split()
)
# These are good names for source folders too: they are left out only beside a file that builds into them.
_BUILT_BESIDE = {
    "target": frozenset({"Cargo.toml", "pom.xml", "build.sbt"}),
    "build": frozenset({"build.gradle", "build.gradle.kts", "CMakeLists.txt", "setup.py", "package.json"}),
    "dist": frozenset({"package.json", "setup.py", "pyproject.toml"}),
    "out": frozenset({"package.json", "tsconfig.json"}),
    "bin": frozenset({".csproj"}),
    "obj": frozenset({".csproj"}),
}
_LOCKS = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb poetry.lock Pipfile.lock uv.lock
    pdm.lock Cargo.lock Gemfile.lock composer.lock go.sum flake.lock mix.lock pubspec.lock Podfile.lock deno.lock
    """.split()
)
_GENERATED_NAME = re.compile(
    r"\.min\.(?:js|mjs|css)$|[.-]bundle\.js$|_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw)?\.(?:go|h|cc)$|\.g\.(?:cs|dart)$"
    r"|[._]generated\.\w+$|\.designer\.cs$",
    re.IGNORECASE,
)
_BARE = {"HEAD", "objects", "refs"}
_SUSPECT = re.compile(r"(?<![\w-])(?=[A-Za-z_-]*\d)[\w-]{16,}|@")


@dataclass(frozen=True, slots=True)
class FileListing:
    files: tuple[str, ...] = ()  # paths from the root, with slashes
    seen: Mapping[str, int] = field(default_factory=dict)  # when folders and ignore files last changed
    left_out: Mapping[str, int] = field(default_factory=dict)  # by reason; a folder counts once


def list_files(root: Path) -> FileListing:
    """List all files of the project at `root`. Never follows a link; ignores files that vanish meanwhile."""
    return _Walker(str(root)).walked()


def is_unchanged(root: Path, walked: FileListing) -> bool:
    """Return whether listing again would find the same files, by the times of folders and ignore files."""
    base = str(root)
    try:
        return bool(walked.seen) and all(
            os.lstat(f"{base}/{path}").st_mtime_ns == when for path, when in walked.seen.items()
        )
    except OSError:
        return False


def settled_mtime(mtime_ns: int, looked_ns: int) -> int:
    """Return `mtime_ns` if it can be trusted later, and 0 if another change could have the same time."""
    return mtime_ns if mtime_ns < looked_ns - SETTLED else 0


class _Walker:
    def __init__(self, root: str) -> None:
        self._root = root
        self._files: list[str] = []
        self._seen: dict[str, int] = {}
        self._left_out: Counter[str] = Counter()
        # Breadth first: where there are too many files, the deep ones are left out.
        self._folders: deque[tuple[str, tuple[Rules, ...]]] = deque()

    def walked(self) -> FileListing:
        outer = self._rules("", EXCLUDE)
        self._folders.append(("", (outer,) if outer else ()))
        while self._folders and len(self._seen) < MOST_FOLDERS:
            self._open(*self._folders.popleft())
        if self._folders:
            self._left_out[TOO_MANY_FOLDERS] += len(self._folders)
        return FileListing(tuple(sorted(self._files)), self._seen, dict(self._left_out))

    def _open(self, folder: str, rules: tuple[Rules, ...]) -> None:
        here = f"{self._root}/{folder}"
        try:
            looked = time.time_ns()
            when = os.lstat(here).st_mtime_ns
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        except OSError:
            self._left_out[UNREADABLE] += 1
            return
        names = {entry.name for entry in entries}
        if folder and ".git" in names:
            self._left_out[NESTED] += 1
            return
        if names >= _BARE:
            self._left_out[BARE] += 1
            return
        self._seen[folder] = settled_mtime(when, looked)
        for name in IGNORE_FILES:
            if name in names and (own := self._rules(folder, name)):
                rules = (*rules, own)
        for entry in entries:
            self._sort_out(entry, folder + entry.name, rules, names)

    def _sort_out(
        self, entry: os.DirEntry[str], path: str, rules: tuple[Rules, ...], beside: set[str]
    ) -> None:
        name = entry.name
        if not name.isascii() and not _is_text(name):
            self._left_out[BAD_NAME] += 1
        elif has_secret_name(name):
            self._left_out[SECRET] += 1
        elif entry.is_symlink():
            self._left_out[SYMLINK] += 1
        elif entry.is_dir(follow_symlinks=False):
            if name in _MADE:
                return
            why = _folder_left_out(name, beside) or (ignored_by(rules, path, folder=True) and IGNORED)
            if why:
                self._left_out[why] += 1
            else:
                self._folders.append((f"{path}/", rules))
        elif entry.is_file(follow_symlinks=False):
            why = _file_left_out(name) or (ignored_by(rules, path, folder=False) and IGNORED)
            if not why and len(self._files) >= MOST_FILES:
                why = TOO_MANY
            if why:
                self._left_out[why] += 1
            else:
                self._files.append(path)

    def _rules(self, folder: str, name: str) -> Rules | None:
        """Read one ignore file; None if there is none."""
        file = f"{self._root}/{folder}{name}"
        try:
            looked = time.time_ns()
            when = os.lstat(file).st_mtime_ns
        except OSError:
            return None
        lines = ignore_lines(file)
        if lines is None:
            return None
        self._seen[folder + name] = settled_mtime(when, looked)
        return Rules(folder, name, lines)


def has_secret_name(path: str) -> bool:
    """Return whether the name of the file, or of a folder above it, contains a secret."""
    return _SUSPECT.search(path) is not None and _redacts(path)


@lru_cache(maxsize=1024)
def _redacts(path: str) -> bool:
    from recollect.text.redact import redact  # its rules take 30 ms to load, and few names are that long

    return bool(redact(path)[1])


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _folder_left_out(name: str, beside: set[str]) -> str | None:
    if name in _VENDORED or name.endswith((".egg-info", ".dist-info")):
        return VENDORED
    builders = _BUILT_BESIDE.get(name)
    if builders and (builders & beside or any(each.endswith(tuple(builders)) for each in beside)):
        return BUILT
    return None


def _file_left_out(name: str) -> str | None:
    if name.startswith(".env"):
        return IGNORED
    if name in _LOCKS:
        return LOCK
    return GENERATED if _GENERATED_NAME.search(name) else None
