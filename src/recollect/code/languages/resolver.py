"""What a resolver does: it turns the facts of all files of a family into edges between files and symbols."""

from collections.abc import Callable, Collection, MutableMapping
from importlib import import_module
from typing import Protocol

from recollect.code.facts import FileFacts
from recollect.code.nodes import CodeEdge

MajorityTypes = dict[
    str, tuple[str, int] | None
]  # by name: a class, as its file and the number of its definition

_RESOLVERS = {"python": "PythonResolver", "script": "ScriptResolver", "plain": "PlainResolver"}


MOST_STEPS = 2_000  # from one reference on; nearly all take less than 100
MOST_STEPS_OF_FILE = 400_000  # about a second; generated code that calls itself in circles takes any number


class StepLimit:
    """Ends the search for what a reference means when it takes too long, so that no file can stop a build.

    A depth is not enough: with three ways at each of twelve steps, there are half a million.
    """

    def __init__(self) -> None:
        self._given = self._left = self._left_of_file = 0

    def begin_file(self) -> None:
        self._given = self._left = 0
        self._left_of_file = MOST_STEPS_OF_FILE

    def begin(self) -> None:
        """Begin with another reference of the file."""
        self._left_of_file -= self._given - self._left
        self._given = self._left = max(1, min(MOST_STEPS, self._left_of_file))

    def is_reached(self) -> bool:
        """Count a step, and return whether there were too many."""
        self._left -= 1
        return self._left < 0


class Resolver(Protocol):
    """Knows all files of one language family in a project. Not thread-safe."""

    # The type of nearly all receivers of a name; None if there is none. Finding one out takes many files.
    majority_types: MajorityTypes

    def edges(self, path: str) -> list[CodeEdge]:
        """Return all edges that begin in that file, except `contains`, which definitions imply."""

    def update(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        """Replace the facts of a file; None removes it.

        `hidden` are the names that have changed, if no other file uses them; None means that others may see a change.
        """

    def recount_types(self, names: Collection[str]) -> set[str]:
        """Find the known majority types of `names` again, and return the names whose type has changed since the last call."""

    def digest(self) -> bytes:
        """Return what the resolver knows about all files, for a later one to start from; empty if that is quick to find."""

    def is_lone(self, name: str) -> bool:
        """Return whether the project has exactly one function of that name: calls anywhere may resolve to it."""

    def importers(self, path: str) -> set[str]:
        """Return the files whose edges may change when the exports of that file do."""


def resolver_for(
    family: str,
    files: MutableMapping[str, FileFacts],
    read: Callable[[str], bytes | None] = lambda path: None,
    digest: bytes = b"",
    stale: Collection[str] = (),
) -> Resolver:
    """Return the resolver of a family, which owns `files` from then on. `read` returns the contents of a configuration file.

    With the `digest` of an earlier resolver, only the `stale` files are read: those that are new, changed or gone.
    """
    module = import_module(f"recollect.code.languages.{family}.resolver")
    make: Callable[..., Resolver] = getattr(module, _RESOLVERS[family])
    return make(files, read, digest, stale) if digest else make(files, read)
