"""Which project a folder belongs to, and why.

Worktrees and clones of one repository share their memory: they are known by their remote, and by git's
common directory. Submodules are repositories of their own. A folder of a monorepo is one if someone said so
(`recollect init --subproject`). Without git it is the folder. Git's files are read; git itself is run
only to tell which branches are merged, where that matters.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollect.errors import NoSuchFolder
from recollect.model import Project


@dataclass(frozen=True, slots=True)
class Place:
    """A folder as git sees it."""

    folder: Path
    root: Path  # of the work tree, or the folder itself
    keys: tuple[str, ...]  # how the repository can be recognised, the best first
    why: str
    branch: str | None = None  # None = no git, or a detached head


class KnowsProjects(Protocol):
    """The part of a store that is needed here."""

    def project_for(self, keys: list[str]) -> str | None: ...

    def project_keys(self, project_id: str) -> list[str]: ...

    def projects(self) -> list[Project]: ...


def look(folder: Path) -> Place:
    """Raises `NoSuchFolder`."""
    try:
        folder = folder.expanduser().resolve()
        exists = folder.is_dir()
    except (OSError, RuntimeError, ValueError):
        exists = False
    if not exists:
        raise NoSuchFolder(folder)
    for root in (folder, *folder.parents):
        git = _git_directory(root / ".git")
        if git is not None:
            return _look_into(git, root, folder)
    return Place(folder, folder, (f"dir:{folder}",), "no git here: the folder itself")


def _look_into(git: Path, root: Path, folder: Path) -> Place:
    common = _common_directory(git)
    keys, why = [f"git:{common}"], f"the git directory {common}"
    remote = _remote(common / "config")
    if remote:
        keys.insert(0, f"remote:{remote}")
        why = f"the remote {remote}"
    return Place(folder, root, tuple(keys), why, _branch(git))


def identify(place: Place, store: KnowsProjects) -> tuple[Project, list[str]]:
    """The project at `place`, known or new, and the keys by which it should be known from now on."""
    for ancestor in _candidates(place):
        within = subproject_keys(place, ancestor)
        known = store.project_for(within)
        if known is not None:
            part = _part(place, ancestor)
            return Project(
                known, _name(store, known, ancestor.name), str(ancestor), f"a subproject, {part}"
            ), within
    keys = list(place.keys)
    known = _known(place, store)
    name = _name_of(place)
    if known is None:
        return Project(_new_id(keys[0]), name, str(place.root), place.why), keys
    return Project(known, _name(store, known, name), str(place.root), place.why), keys


def subproject_keys(place: Place, folder: Path) -> list[str]:
    """How `folder`, below the root of `place`, is known once it has been declared a project of its own."""
    if not has_git(place):
        return [f"tree:{folder}"]
    return [f"{key}#{_part(place, folder)}" for key in place.keys]


def _candidates(place: Place) -> list[Path]:
    """The folders that may have been declared projects of their own, the innermost first."""
    above = [place.folder, *place.folder.parents]
    return above[: above.index(place.root)] if has_git(place) else above


def declare_subproject(place: Place) -> tuple[Project, list[str]]:
    """`place`'s folder as a project of its own."""
    keys = subproject_keys(place, place.folder)
    why = f"a subproject, {_part(place, place.folder)}"
    return Project(_new_id(keys[0]), place.folder.name, str(place.folder), why), keys


def merged_branches(place: Place) -> frozenset[str]:
    """Local branches that are part of the one checked out; none where git cannot be asked."""
    import subprocess

    command = [
        "git",
        "-C",
        str(place.root),
        "for-each-ref",
        "--merged=HEAD",
        "--format=%(refname:short)",
        "refs/heads",
    ]
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=2, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return frozenset()
    return frozenset(found.stdout.split())


def _known(place: Place, store: KnowsProjects) -> str | None:
    best = store.project_for([place.keys[0]])
    if best is not None or len(place.keys) == 1:
        return best
    # The remote is new to us, the directory is not: the project has just got its remote, unless it had
    # another one before. Then someone put a new repository where an old one was.
    found = store.project_for(list(place.keys[1:]))
    if found is not None and any(
        key.startswith("remote:") and "#" not in key for key in store.project_keys(found)
    ):
        return None
    return found


def has_git(place: Place) -> bool:
    """Whether it is part of a repository, rather than a folder that could be anybody's home."""
    return not place.keys[0].startswith("dir:")


def _part(place: Place, folder: Path) -> str:
    return folder.relative_to(place.root).as_posix() if folder.is_relative_to(place.root) else str(folder)


def _name_of(place: Place) -> str:
    kind, _, rest = place.keys[0].partition(":")
    return rest.rsplit("/", 1)[-1] if kind == "remote" else place.root.name or str(place.root)


def _name(store: KnowsProjects, project_id: str, fallback: str) -> str:
    return next((project.name for project in store.projects() if project.id == project_id), fallback)


def _new_id(key: str) -> str:
    """The same on every machine for the same remote."""
    return "p" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:15]


def _git_directory(dot_git: Path) -> Path | None:
    """`.git` is a folder, or in worktrees and submodules a file that names one."""
    if dot_git.is_dir():
        return dot_git if (dot_git / "HEAD").exists() else None
    text = _read(dot_git)
    if not text.startswith("gitdir:"):
        return None
    target = (dot_git.parent / text.removeprefix("gitdir:").strip()).resolve()
    return target if target.is_dir() else None


def _common_directory(git: Path) -> Path:
    text = _read(git / "commondir").strip()
    return (git / text).resolve() if text else git.resolve()


def _branch(git: Path) -> str | None:
    head = _read(git / "HEAD").strip()
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None


_SECTION = re.compile(r'^\s*\[\s*(\w+)(?:\s+"(.*)")?\s*\]')
_URL = re.compile(r"^\s*url\s*=\s*(\S+)")


def _remote(config: Path) -> str | None:
    """`host/owner/name` of origin, or of the only remote; no user, no password, no scheme."""
    urls: dict[str, str] = {}
    section, name = "", ""
    for line in _read(config).splitlines():
        if match := _SECTION.match(line):
            section, name = match[1].lower(), match[2] or ""
        elif section == "remote" and (match := _URL.match(line)):
            urls.setdefault(name, match[1].strip('"'))
    url = urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else None)
    return _normal_url(url) if url else None


def _normal_url(url: str) -> str:
    url = re.split(r"[?#]", url, maxsplit=1)[0]  # tokens are handed over there, too
    if "://" in url:
        rest = url.split("://", 1)[1].rsplit("@", 1)[-1]
        host, _, path = rest.partition("/")
        host = host.rsplit(":", 1)[0] if not host.startswith("[") else host
    elif match := re.match(r"^(?:[^@/]+@)?([^:/\\]{2,}):(?!\\)(.+)$", url):  # scp-like: git@host:owner/name
        host, path = match[1], match[2]
    else:
        host, path = "", url  # a path on this machine
    path = path.strip("/").removesuffix(".git") if host else path.rstrip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host else path


def _read(file: Path) -> str:
    """Never more than a config can reasonably be; nothing where there is no such file."""
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(1_000_000)
    except OSError:
        return ""
