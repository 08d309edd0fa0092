"""Which files a project consists of: without ignored, vendored, built and generated ones."""

import os
import re
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from recollect.code.ignore import EXCLUDE, IGNORE_FILES, Rules, ignore_lines, ignored_by
from recollect.frozen import frozen

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


class Folder(NamedTuple):
    """A folder as it was listed."""

    mtime_ns: int  # 0 = list it again
    ignore_files: tuple[tuple[str, int], ...]  # names and times; the exclude file of the root is always there
    files: tuple[str, ...]  # names
    folders: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...]  # by reason; a folder counts once


@frozen
class FileListing:
    files: tuple[str, ...] = ()  # paths from the root, with slashes
    folders: Mapping[str, Folder] = field(default_factory=dict)  # "" is the root; all others end in a slash
    left_out: Mapping[str, int] = field(default_factory=dict)  # by reason; a folder counts once

    @classmethod
    def of(cls, folders: Mapping[str, Folder], beyond: int = 0) -> "FileListing":
        """Return the listing of these folders, with how many were not listed because there are too many."""
        left_out: Counter[str] = Counter()
        for folder in folders.values():
            left_out.update(dict(folder.left_out))
        if beyond:
            left_out[TOO_MANY_FOLDERS] += beyond
        files = [path + name for path, folder in folders.items() for name in folder.files]
        return cls(tuple(sorted(files)), folders, dict(left_out))


def list_files(root: Path, known: FileListing | None = None) -> FileListing:
    """List all files of the project at `root`. Never follows a link; ignores files that vanish meanwhile.

    With the listing that was `known` before, only the folders that changed since are read; it is returned if it is
    still right.
    """
    known = known or FileListing()
    folders = known.folders
    if folders and _are_unchanged(str(root), folders):
        return known
    is_whole = known.left_out.keys().isdisjoint((TOO_MANY, TOO_MANY_FOLDERS))
    listing = _Walker(str(root), folders if is_whole else {}).walked()
    return known if listing == known else listing


def _are_unchanged(root: str, folders: Mapping[str, Folder]) -> bool:
    lstat = os.lstat
    try:
        for path, folder in folders.items():
            if lstat(f"{root}/{path}").st_mtime_ns != folder[0]:
                return False
    except OSError:
        return False
    return all(_is_unchanged(root, path, folder) for path, folder in folders.items() if folder.ignore_files)


def _is_unchanged(root: str, path: str, folder: Folder) -> bool:
    """Return whether reading the folder again would find the same, by its time and those of its ignore files."""
    try:
        if os.lstat(f"{root}/{path}").st_mtime_ns != folder.mtime_ns:
            return False
    except OSError:
        return False
    return not folder.ignore_files or all(
        _mtime(f"{root}/{path}{name}") == when for name, when in folder.ignore_files
    )


def _mtime(file: str) -> int:
    """Return when a file changed; -1 if there is none."""
    try:
        return os.lstat(file).st_mtime_ns
    except OSError:
        return -1


def settled_mtime(mtime_ns: int, looked_ns: int) -> int:
    """Return `mtime_ns` if it can be trusted later, and 0 if another change could have the same time."""
    return mtime_ns if mtime_ns < looked_ns - SETTLED else 0


class _RuleChain:
    """The ignore files of a folder and those above it, read when they are needed."""

    def __init__(
        self, root: str, folder: str, names: Iterable[str], above: "_RuleChain | None" = None
    ) -> None:
        self._root = root
        self._folder = folder
        self._names = names
        self._above = above

    @cached_property
    def rules(self) -> tuple[Rules, ...]:
        above = self._above.rules if self._above else ()
        lines = [(name, ignore_lines(f"{self._root}/{self._folder}{name}")) for name in self._names]
        return (*above, *(Rules(self._folder, name, each) for name, each in lines if each is not None))


class _Walker:
    def __init__(self, root: str, known: Mapping[str, Folder]) -> None:
        self._root = root
        self._known = known
        self._listed: dict[str, Folder] = {}
        self._count = 0  # of files
        # Breadth first: where there are too many files, the deep ones are left out.
        self._waiting: deque[tuple[str, _RuleChain | None, bool]] = deque()

    def walked(self) -> FileListing:
        self._waiting.append(("", None, False))
        while self._waiting and len(self._listed) < MOST_FOLDERS:
            self._list(*self._waiting.popleft())
        return FileListing.of(self._listed, len(self._waiting))

    def _list(self, path: str, above: _RuleChain | None, has_new_rules: bool) -> None:
        """List one folder: as it was known, unless it or the rules above it have changed."""
        before = self._known.get(path)
        is_same = before and not has_new_rules and _is_unchanged(self._root, path, before)
        folder = before if is_same else self._read(path, above)
        if folder is None:
            return
        chain = self._chain(path, [name for name, _ in folder.ignore_files], above)
        has_new_rules = has_new_rules or before is None or before.ignore_files != folder.ignore_files
        self._listed[path] = folder
        self._count += len(folder.files)
        self._waiting.extend((f"{path}{name}/", chain, has_new_rules) for name in folder.folders)

    def _chain(self, path: str, ignore_files: list[str], above: _RuleChain | None) -> _RuleChain | None:
        return _RuleChain(self._root, path, ignore_files, above) if ignore_files else above

    def _read(self, path: str, above: _RuleChain | None) -> Folder | None:
        """Read a folder; None if it is gone."""
        here = f"{self._root}/{path}"
        try:
            looked = time.time_ns()
            when = os.lstat(here).st_mtime_ns
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:
            return None
        except OSError:
            return Folder(0, (), (), (), ((UNREADABLE, 1),))
        when = settled_mtime(when, looked)
        names = {entry.name for entry in entries}
        if path and ".git" in names:
            return Folder(when, (), (), (), ((NESTED, 1),))
        if names >= _BARE:
            return Folder(when, (), (), (), ((BARE, 1),))
        ignore_files = [] if path else [EXCLUDE]
        ignore_files += [name for name in IGNORE_FILES if name in names]
        times = tuple((name, settled_mtime(_mtime(here + name), looked)) for name in ignore_files)
        chain = self._chain(path, ignore_files, above)
        files: list[str] = []
        folders: list[str] = []
        left_out: Counter[str] = Counter()
        for entry in entries:
            if why := self._sort_out(entry, path, chain.rules if chain else (), names, files, folders):
                left_out[why] += 1
        return Folder(when, times, tuple(files), tuple(folders), tuple(left_out.items()))

    def _sort_out(
        self,
        entry: os.DirEntry[str],
        folder: str,
        rules: tuple[Rules, ...],
        beside: set[str],
        files: list[str],
        folders: list[str],
    ) -> str | None:
        """Add an entry to `files` or `folders`, or return why it is left out; None also for what nobody would miss."""
        name, path = entry.name, folder + entry.name
        if not name.isascii() and not _is_text(name):
            return BAD_NAME
        if has_secret_name(name):
            return SECRET
        if entry.is_symlink():
            return SYMLINK
        if entry.is_dir(follow_symlinks=False):
            if name in _MADE:
                return None
            if why := _folder_left_out(name, beside) or (ignored_by(rules, path, folder=True) and IGNORED):
                return why
            folders.append(name)
        elif entry.is_file(follow_symlinks=False):
            if why := _file_left_out(name) or (ignored_by(rules, path, folder=False) and IGNORED):
                return why
            if self._count + len(files) >= MOST_FILES:
                return TOO_MANY
            files.append(name)
        return None


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
