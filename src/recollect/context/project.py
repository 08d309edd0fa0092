"""Find the project that a folder belongs to.

Worktrees and clones of one repository are one project and share its memories: a repository is recognised by its remote,
or by git's common directory. A submodule is a project of its own. A folder of a monorepo is one if the user declares it
(`recollect init --subproject`). Outside git, the folder itself is the project.

Git's files are read by `context.git`.
"""

import hashlib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from recollect.context.git import Repository, read_text
from recollect.errors import NoSuchFolder
from recollect.frozen import frozen
from recollect.model import Project


@frozen
class ProjectFolder:
    """A folder, with the repository it is in."""

    folder: Path
    root: Path  # of the work tree; outside git, the folder itself
    keys: tuple[str, ...]  # by which the project is recognised, the most reliable first
    why: str
    branch: str | None = None  # None = no git, or a detached head
    is_own_git: bool = True  # whether the git directory is this folder's; a `.git` file can name any


class ProjectStore(Protocol):
    """The methods of a store that identify a project."""

    def project_for(self, keys: list[str]) -> str | None: ...

    def project_keys(self, project_id: str) -> list[str]: ...

    def projects(self) -> list[Project]: ...


def locate(folder: Path) -> ProjectFolder:
    """Find the repository that `folder` is in. Raises `NoSuchFolder`."""
    try:
        folder = folder.expanduser().resolve()
        exists = folder.is_dir()
    except (OSError, RuntimeError, ValueError):
        exists = False
    if not exists:
        raise NoSuchFolder(folder)
    repository = Repository.containing(folder)
    if repository is not None:
        return _in_repository(repository, folder)
    return ProjectFolder(folder, folder, (f"dir:{folder}",), "the folder itself, without git")


def _in_repository(repository: Repository, folder: Path) -> ProjectFolder:
    common = repository.common_directory
    keys, why = [f"git:{common}"], f"the git directory {common}"
    remote = _remote(common / "config")
    if remote:
        keys.insert(0, f"remote:{remote}")
        why = f"the remote {remote}"
    return ProjectFolder(
        folder, repository.root, tuple(keys), why, repository.branch, repository.names_its_work_tree
    )


def identify(place: ProjectFolder, store: ProjectStore) -> tuple[Project, list[str]]:
    """Return the project at `place`, new or from the store, and the keys to register it under."""
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
        return Project(project_id_of(keys[0]), name, str(place.root), place.why), keys
    return Project(known, _name(store, known, name), str(place.root), place.why), keys


def subproject_keys(place: ProjectFolder, folder: Path) -> list[str]:
    """Return the keys of `folder` as a subproject of the repository at `place`."""
    if not has_git(place):
        return [f"tree:{folder}"]
    return [f"{key}#{_part(place, folder)}" for key in place.keys]


def _candidates(place: ProjectFolder) -> list[Path]:
    """Return the folders that may have been declared subprojects, innermost first."""
    above = [place.folder, *place.folder.parents]
    return above[: above.index(place.root)] if has_git(place) else above


def declare_subproject(place: ProjectFolder) -> tuple[Project, list[str]]:
    """Return the folder of `place` as a project of its own, and its keys. Stores nothing."""
    keys = subproject_keys(place, place.folder)
    why = f"a subproject, {_part(place, place.folder)}"
    return Project(project_id_of(keys[0]), place.folder.name, str(place.folder), why), keys


def trust_key(place: ProjectFolder) -> str:
    """Return the key of the repository on this machine. Its remote does not count: a copy of a stranger can name any.

    A folder that names a git directory which does not name it has a trust of its own.
    """
    key = next(key for key in place.keys if not key.startswith("remote:"))
    return key if place.is_own_git else f"{key} in {place.root}"


def is_of_owner(place: ProjectFolder, owners: Collection[str]) -> bool:
    """Return whether the remote is below one of `owners`: `github.com/ada` has `github.com/ada/shop`."""
    remotes = [key.removeprefix("remote:").lower() for key in place.keys if key.startswith("remote:")]
    return any(
        f"{remote}/".startswith(f"{owner.lower().strip('/')}/")
        for remote in remotes
        for owner in owners
        if owner.strip("/")
    )


def is_by_authors(place: ProjectFolder, authors: Collection[str]) -> bool:
    """Return whether nobody but `authors`, given by e-mail address, has committed to the repository."""
    repository = Repository.containing(place.root) if authors else None
    found = repository.authors() if repository else frozenset()
    return bool(found) and found <= {author.lower() for author in authors}


def landed_branches(place: ProjectFolder, names: Collection[str]) -> frozenset[str]:
    """Return which of these branches are part of what is checked out; empty if git cannot be run."""
    repository = Repository.containing(place.root)
    return repository.landed_branches(names) if repository else frozenset()


def checked_out(place: ProjectFolder) -> str | None:
    """Return the commit that is checked out; None without git or before the first commit."""
    repository = Repository.containing(place.root)
    return repository.head() if repository else None


def branch_of_its_own(place: ProjectFolder, branch: str | None) -> str | None:
    """Return the branch to which something learnt there belongs; None if it holds on all branches.

    That is so for the default branch, which the others come from, for a detached head, and without git.
    """
    repository = Repository.containing(place.root) if branch and branch != "HEAD" else None
    return None if repository is None or branch == repository.default_branch() else branch


def _known(place: ProjectFolder, store: ProjectStore) -> str | None:
    best = store.project_for([place.keys[0]])
    if best is not None or len(place.keys) == 1:
        return best
    # The directory is known and the remote is not: the project has just got its remote. If the known project had
    # another remote before, a new repository has replaced the old one in this directory.
    found = store.project_for(list(place.keys[1:]))
    if found is not None and any(
        key.startswith("remote:") and "#" not in key for key in store.project_keys(found)
    ):
        return None
    return found


def has_git(place: ProjectFolder) -> bool:
    """Whether the folder is in a git repository."""
    return not place.keys[0].startswith("dir:")


def _part(place: ProjectFolder, folder: Path) -> str:
    return folder.relative_to(place.root).as_posix() if folder.is_relative_to(place.root) else str(folder)


def _name_of(place: ProjectFolder) -> str:
    """Return the name of the remote on a server, else that in the manifest, else that of the folder."""
    kind, _, rest = place.keys[0].partition(":")
    name = rest.rsplit("/", 1)[-1] if kind == "remote" else place.root.name
    is_on_server = kind == "remote" and not rest.startswith(("/", ".", "~")) and rest[1:2] != ":"
    if is_on_server and name not in _NO_NAMES:
        return name
    return _declared_name(place.root) or name or str(place.root)


_NO_NAMES = frozenset("repo repository source src code project app main git checkout workspace".split())
_JSON_NAME = r'\A\s{0,9}\{[^{}]{0,2000}?"name"\s{0,9}:\s{0,9}"([^"\n]{1,100})"'  # not that of an author
_MANIFESTS = {  # by file: the name that it gives the project
    "pyproject.toml": r"^\[(?:project|tool\.poetry)\][^\[]{0,2000}?^name\s{0,9}=\s{0,9}[\"']([^\"'\n]{1,100})[\"']",
    "package.json": _JSON_NAME,
    "Cargo.toml": r"^\[package\][^\[]{0,2000}?^name\s{0,9}=\s{0,9}[\"']([^\"'\n]{1,100})[\"']",
    "go.mod": r"^module[ \t]{1,9}(\S{1,200})",
    "composer.json": _JSON_NAME,
    "setup.cfg": r"^\[metadata\][^\[]{0,2000}?^name\s{0,9}=\s{0,9}([\w.-]{1,100})",
}


def _declared_name(root: Path) -> str:
    """Return the name in the first manifest that has one; "" without any."""
    for file, pattern in _MANIFESTS.items():
        if match := re.search(pattern, read_text(root / file), re.MULTILINE):
            parts = [part for part in match[1].split("/") if not re.fullmatch(r"v\d+", part)]
            return parts[-1] if parts else ""
    return ""


def _name(store: ProjectStore, project_id: str, fallback: str) -> str:
    return next((project.name for project in store.projects() if project.id == project_id), fallback)


def project_id_of(key: str) -> str:
    """Return an id that is the same on every machine for the same remote."""
    return "p" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:15]


_SECTION = re.compile(r'^\s*\[\s*(\w+)(?:\s+"(.*)")?\s*\]')
_URL = re.compile(r"^\s*url\s*=\s*(\S+)")


def _remote(config: Path) -> str | None:
    """Return `host/owner/name` of origin or of the only remote, without scheme, user and password."""
    urls: dict[str, str] = {}
    section, name = "", ""
    for line in read_text(config).splitlines():
        if match := _SECTION.match(line):
            section, name = match[1].lower(), match[2] or ""
        elif section == "remote" and (match := _URL.match(line)):
            urls.setdefault(name, match[1].strip('"'))
    url = urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else None)
    return _normal_url(url) if url else None


def _normal_url(url: str) -> str:
    url = re.split(r"[?#]", url, maxsplit=1)[0]  # a query may hold a token
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
