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
