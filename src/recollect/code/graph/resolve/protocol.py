"""What a resolver promises: from what each file says of itself to edges between files and symbols."""

from collections.abc import Collection
from typing import Protocol

from recollect.code.facts import FileFacts
from recollect.code.graph.nodes import Edge

Votes = dict[str, tuple[str, int] | None]  # file and definition


class Resolver(Protocol):
    """Knows all files of one language family in a project. Not thread-safe."""

    votes: Votes  # by name, the type of nearly all that is called so; None = there is none. It takes many files to find out

    def edges(self, path: str) -> list[Edge]:
        """All edges that begin in that file, but `contains`: definitions imply it."""

    def changed(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        """Take in a new version of a file; None = it is gone.

        `hidden` are the names that are different now, if no other file says them; None = others may see the difference.
        """

    def recount(self, names: Collection[str]) -> set[str]:
        """Vote again on those of `names` that were voted on, for they may have been given something else; the names
        that are of another type now, since files changed.
        """

    def digest(self) -> bytes:
        """What it knows of all files taken together, for one that comes later; empty where that is quickly found."""

    def is_lone(self, name: str) -> bool:
        """Whether one function of the project has that name: calls may lead there for that alone, from anywhere."""

    def importers(self, path: str) -> set[str]:
        """The files whose edges may change when what that file exports does."""
