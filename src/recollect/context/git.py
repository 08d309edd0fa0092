"""Read a git repository without running anything that it names. Nothing else in Recollect runs git.

A repository's configuration can name programs (signature checks, pagers, transports, filters…), and a repository is a
stranger's. So git never sees that configuration: commands run in a bare repository of ours, made for the call, which has
our configuration and borrows the other's objects. Refs are read from files here. What git needs from the environment is
a fixed list; no `GIT_*` variable, user or system configuration is passed on.
"""

import os
import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.frozen import frozen

if TYPE_CHECKING:
    import subprocess

SECONDS = 10.0  # that a command may take by default
LARGEST_OUTPUT = 64 * 1024 * 1024  # bytes that a command may print by default
LARGEST_REFS = 64 * 1024 * 1024  # bytes of packed refs that are read
MOST_REFS = 20_000  # branches that are looked at
_CHUNK = 1 << 20
_DEFAULT_BRANCHES = ("main", "master", "trunk", "develop")  # without a remote that says which it is
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1 or SHA-256
_WORK_TREE = re.compile(
    r"^[ \t]{0,20}worktree[ \t]{0,20}=(.{1,4096})$", re.M | re.I
)  # of a submodule, in its configuration
_REF = re.compile(r"refs/(?:(?!\.)[^\x00-\x20~^:?*\[\\/]+/)*(?!\.)[^\x00-\x20~^:?*\[\\/]+")
_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\tquotepath = false\n{more}"


@frozen
class Repository:
    """A work tree and the directories in which git keeps its data."""

    root: Path  # of the work tree
    git_directory: Path
    common_directory: Path  # differs from `git_directory` in additional worktrees

    @classmethod
    def containing(cls, folder: Path) -> "Repository | None":
        """Return the innermost repository whose work tree `folder` is in. Bare repositories do not count."""
        for root in (folder, *folder.parents):
            directory = _git_directory(root / ".git")
            if directory is not None:
                return cls(root, directory, _common_directory(directory))
        return None

    @property
    def names_its_work_tree(self) -> bool:
        """Whether the git directory is in this work tree, or names it, as git notes it for worktrees and submodules.

        A `.git` file or link of a stranger can name any git directory of this machine.
        """
        dot_git = self.root / ".git"
        if dot_git.is_dir() and not dot_git.is_symlink():
            return True
        noted = read_text(self.git_directory / "gitdir", 4_096).strip()
        if noted and (self.git_directory / noted).resolve() == dot_git.resolve():
            return True
        named = _WORK_TREE.search(read_text(self.git_directory / "config"))
        return named is not None and (self.git_directory / named[1].strip('" ')).resolve() == self.root

    @property
    def branch(self) -> str | None:
        """The branch that is checked out; None with a detached head."""
        name = self._symbolic_head()
        return name.removeprefix("refs/heads/") if name and name.startswith("refs/heads/") else None

    def head(self) -> str | None:
        """Return the commit that is checked out; None before the first commit."""
        name = self._symbolic_head()
        if name is None:
            return _hash_in(read_text(self.git_directory / "HEAD"))
        return self._loose(name) or self._packed().get(name)

    def branches(self) -> dict[str, str]:
        """Return the commits of the local branches, by the branch's name."""
        prefix = "refs/heads/"
        packed = {name: commit for name, commit in self._packed().items() if name.startswith(prefix)}
        loose = {name: commit for name in self._loose_names(prefix) if (commit := self._loose(name))}
        return {name.removeprefix(prefix): commit for name, commit in (packed | loose).items()}

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the newest commit that both descend from; None if there is none, or if one of them is not there."""
        return (self.output("merge-base", one, other) or b"").decode().strip() or None

    def default_branch(self) -> str | None:
        """Return the branch that the remote starts from, else the local one with the usual name; None if unknown."""
        text = read_text(self.common_directory / "refs/remotes/origin/HEAD", 4_096).strip()
        if text.startswith("ref: refs/remotes/origin/"):
            return text.removeprefix("ref: refs/remotes/origin/")
        names = self.branches().keys() | {self.branch}
        return next((name for name in _DEFAULT_BRANCHES if name in names), None)

    def landed_branches(self, names: Collection[str]) -> frozenset[str]:
        """Return which of `names` are branches whose work is part of the commit checked out.

        They are merged, and have commits of their own; or they were worked on here and are gone, as after a squash.
        """
        contained = self.merged_branches()
        existing = self.branches().keys()
        gone = [name for name in names if name not in existing and not self._is_remote(name)]
        log = self._head_log() if gone else ""
        return frozenset(
            {name for name in names if name in contained and self._has_commits(name)}
            | {name for name in gone if re.search(rf"\bmoving from {re.escape(name)} to \S", log)}
        )

    def _has_commits(self, branch: str) -> bool:
        """Return whether something was committed on a branch since it was made; True if that is not recorded."""
        log = read_text(self.common_directory / "logs/refs/heads" / branch)
        messages = [line.partition("\t")[2] for line in log.splitlines()]
        return not messages or any(not message.startswith("branch: ") for message in messages)

    def _head_log(self) -> str:
        places = dict.fromkeys((self.git_directory, self.common_directory))
        return "\n".join(read_text(place / "logs/HEAD", LARGEST_REFS) for place in places)

    def _is_remote(self, branch: str) -> bool:
        """Return whether a remote has a branch of this name, as far as is known here."""
        prefix, ending = "refs/remotes/", f"/{branch}"
        packed = (name for name in self._packed() if name.startswith(prefix))
        return any(name.endswith(ending) for name in (*packed, *self._loose_names(prefix)))

    def merged_branches(self) -> frozenset[str]:
        """Return the local branches that the commit checked out contains."""
        head = self.head()
        if head is None:
            return frozenset()
        branches = self.branches()
        listing = self.output(
            "for-each-ref", f"--merged={head}", "--format=%(refname)", "refs/heads", branches=branches
        )
        names = (listing or b"").decode("utf-8", "surrogateescape").splitlines()
        return frozenset(name.removeprefix("refs/heads/") for name in names)

    def authors(self, most: int = 2_000) -> frozenset[str]:
        """Return the e-mail addresses of who wrote and who committed the newest commits; empty if that is not known."""
        head = self.head()
        listing = self.output("log", f"--max-count={most}", "--format=%ae%n%ce", head) if head else None
        return frozenset((listing or b"").decode("utf-8", "replace").lower().split())

    def output(
        self,
        *arguments: str,
        seconds: float = SECONDS,
        branches: Mapping[str, str] | None = None,
        most: int = LARGEST_OUTPUT,
    ) -> bytes | None:
        """Return what a git command prints; None if it fails, takes too long or prints too much, or git is not installed."""
        with suppress(OSError, ValueError), self._started(arguments, seconds, branches) as process:
            assert process.stdout is not None
            printed = process.stdout.read(most + 1)  # a small object can hold a file that fills the memory
            return printed if len(printed) <= most and process.wait() == 0 else None
        return None

    def stream(self, *arguments: str, seconds: float = SECONDS) -> Iterator[bytes]:
        """Yield what a git command prints, in chunks, up to the time at which it is stopped."""
        with suppress(OSError, ValueError), self._started(arguments, seconds) as process:
            assert process.stdout is not None
            while chunk := process.stdout.read(_CHUNK):
                yield chunk

    @contextmanager
    def _started(
        self, arguments: Sequence[str], seconds: float, branches: Mapping[str, str] | None = None
    ) -> "Iterator[subprocess.Popen[bytes]]":
        """Run a git command; it is killed after so many seconds, and at the end."""
        import subprocess  # imported where git runs: most commands do not, and these three take 25 ms

        with (
            self._prepared(branches) as place,
            subprocess.Popen(
                [*place.command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=place.environment,
                cwd=place.folder,
            ) as process,
        ):
            watch = threading.Timer(seconds, process.kill)
            watch.daemon = True
            watch.start()
            try:
                yield process
            finally:
                watch.cancel()
                process.kill()

    @contextmanager
    def _prepared(self, branches: Mapping[str, str] | None = None) -> "Iterator[_Place]":
        """Make a bare repository with our configuration and the other's objects, for one command."""
        import shutil
        import tempfile

        program = shutil.which("git")
        if program is None:
            raise FileNotFoundError("git")
        with tempfile.TemporaryDirectory(prefix="recollect-git-") as folder:
            made = Path(folder)
            is_sha256 = len(self.head() or "") == 64
            more = "[extensions]\n\tobjectformat = sha256\n" if is_sha256 else ""
            (made / "refs").mkdir()
            (made / "HEAD").write_text("ref: refs/heads/none\n")
            (made / "config").write_text(_CONFIG.format(version=int(is_sha256), more=more))
            if branches:
                lines = (f"{commit} refs/heads/{name}\n" for name, commit in sorted(branches.items()))
                (made / "packed-refs").write_text("".join(lines), "utf-8", "surrogateescape")
            command = [program, "--no-pager", "--no-optional-locks", f"--git-dir={folder}"]
            yield _Place(folder, command, self._environment(folder))

    def _environment(self, folder: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        shallow = self.common_directory / "shallow"
        return {
            **kept,
            "LC_ALL": "C",
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "GIT_OBJECT_DIRECTORY": str(self.common_directory / "objects"),
            **({"GIT_SHALLOW_FILE": str(shallow)} if shallow.is_file() else {}),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PAGER": "cat",
        }

    def _symbolic_head(self) -> str | None:
        text = read_text(self.git_directory / "HEAD", 4_096).strip()
        name = text.removeprefix("ref: ").strip()
        return name if text.startswith("ref: ") and _is_ref(name) else None

    def _loose(self, name: str) -> str | None:
        for directory in dict.fromkeys((self.git_directory, self.common_directory)):
            if commit := _hash_in(read_text(directory / name, 256)):
                return commit
        return None

    def _loose_names(self, prefix: str) -> list[str]:
        top = self.common_directory / prefix
        names: list[str] = []
        for folder, _, files in os.walk(top):  # symbolic links to folders are not followed
            for file in files:
                name = prefix + Path(folder, file).relative_to(top).as_posix()
                if _is_ref(name):
                    names.append(name)
            if len(names) >= MOST_REFS:
                break
        return names[:MOST_REFS]

    def _packed(self) -> dict[str, str]:
        refs: dict[str, str] = {}
        for line in read_text(self.common_directory / "packed-refs", LARGEST_REFS).splitlines():
            commit, _, name = line.partition(" ")
            if _HASH.fullmatch(commit) and _is_ref(name):
                refs[name] = commit
        return refs


@frozen
class _Place:
    """Where and how a git command runs."""

    folder: str
    command: Sequence[str]
    environment: Mapping[str, str]


def read_text(file: Path, most: int = 1_000_000) -> str:
    """Return the first `most` characters of a plain file, or "" if it cannot be read."""
    try:
        if not file.is_file():  # a pipe or a device would make us wait
            return ""
        with file.open(encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(most)
    except (OSError, ValueError):
        return ""


def _git_directory(dot_git: Path) -> Path | None:
    """Return the directory that `.git` is, or, in worktrees and submodules, the one that the file names."""
    if dot_git.is_dir():
        return dot_git if (dot_git / "HEAD").exists() else None
    text = read_text(dot_git)
    if not text.startswith("gitdir:"):
        return None
    target = (dot_git.parent / text.removeprefix("gitdir:").strip()).resolve()
    return target if target.is_dir() else None


def _common_directory(directory: Path) -> Path:
    """Return the directory that worktrees share; one that is not a worktree of it cannot claim it."""
    directory = directory.resolve()
    text = read_text(directory / "commondir", 4_096).strip()
    common = (directory / text).resolve() if text else directory
    return common if directory.parent == common / "worktrees" else directory


def _hash_in(text: str) -> str | None:
    commit = text.strip()
    return commit if _HASH.fullmatch(commit) else None


def _is_ref(name: str) -> bool:
    """Return whether git allows this name for a ref, so that it is a path below the git directory and nothing else."""
    return bool(_REF.fullmatch(name)) and ".." not in name and not name.endswith((".lock", "."))
