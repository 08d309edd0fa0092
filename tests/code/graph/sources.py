"""Writing small projects, and the edges of their graphs."""

import os
from pathlib import Path

from recollect.code.codebase import Codebase
from recollect.code.graph.build import Builder


def write(root: Path, **files: str) -> None:
    """Python files by name; `__` stands for a slash."""
    for name, text in files.items():
        file = root / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def grow_old(root: Path) -> None:
    """What has just been written is looked at once more; this has not."""
    for path in [root, *root.rglob("*")]:
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)


class ResolvedCodebase(Codebase):
    """Resolves all edges at once: a change can only affect edges that were resolved."""

    def refresh(self, progress=None, stop=None):
        done = super().refresh(progress, stop)
        self._builder.graph.resolve(stop=stop)
        return done


class ResolvedBuilder(Builder):
    """The same, for what has to be asked of the builder itself."""

    def refresh(self, progress=None, stop=None):
        done = super().refresh(progress, stop)
        self.graph.resolve(stop=stop)
        return done


def edges(graph):
    return {path: set(graph.edges_of(path)) for path in graph.paths}


def edges_anew(root: Path, tmp_path: Path):
    """The edges that a graph made from nothing has."""
    built = Builder(root, tmp_path / "anew.db", None)
    built.refresh()
    built.graph.resolve()
    found = edges(built.graph)
    built.close()
    return found
