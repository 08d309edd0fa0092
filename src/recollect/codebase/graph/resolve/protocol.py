"""What a resolver promises: from what each file says of itself to edges between files and symbols."""

from typing import Protocol

from recollect.codebase.facts import FileFacts
from recollect.codebase.graph.nodes import Edge


class Resolver(Protocol):
    """Knows all files of one language family in a project. Not thread-safe."""

    def edges(self, path: str) -> list[Edge]:
        """All edges that begin in that file, but `contains`: definitions imply it."""

    def changed(self, path: str, facts: FileFacts | None) -> None:
        """Take in a new version of a file; None = it is gone."""

    def importers(self, path: str) -> set[str]:
        """The files whose edges may change when what that file exports does."""
