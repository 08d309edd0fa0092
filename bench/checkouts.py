"""Repositories as they were at the commits of a bench's tasks.

They are bare git directories, `<owner>+<name>/repo` under the folder that RECOLLECT_BENCH_REPOS names.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from recollect.code.codebase import Codebase
from recollect.code.git_history import History, read_history
from recollect.code.graph.graph import CodeGraph

NEEDS = "it needs RECOLLECT_BENCH_REPOS, a folder with <owner>+<name>/repo git directories"


class Checkout(NamedTuple):
    root: Path
    graph: CodeGraph
    history: History | None  # up to the commit that is checked out, and no further


def git_dir(repository: str) -> Path | None:
    """Of `owner/name`; None where it is not."""
    folder = os.environ.get("RECOLLECT_BENCH_REPOS")
    path = Path(folder or ".") / repository.replace("/", "+") / "repo"
    return path if folder and path.exists() else None


def checkouts(source: Path, commits: Iterable[str]) -> Iterator[Checkout]:
    """One after the other in one work tree, each taken in by the product's own refresh. Give them in order of time."""
    with _work_tree(source) as (root, shelf):
        history: History | None = None
        for commit in commits:
            _git(root, "checkout", "--quiet", "--force", "--detach", commit)
            code = Codebase(root, shelf, None)
            history = read_history(root, history)
            yield Checkout(root, code.graph, history)
            code.close()


@contextmanager
def _work_tree(source: Path) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", source, root], check=True)
        yield root, Path(folder) / "shelf" / "code.db"


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", root, *arguments], check=True, stderr=subprocess.DEVNULL)
