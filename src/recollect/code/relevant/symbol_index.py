"""Which symbols have a name, without unpacking the outlines of files that do not define it."""

from collections.abc import Sequence

import numpy as np

from recollect.code.graph.graph import CodeGraph
from recollect.code.names import name_hash
from recollect.code.nodes import Symbol


class SymbolIndex:
    def __init__(self, graph: CodeGraph, hashes: Sequence[bytes]) -> None:
        """`hashes` has those of the names of each file, in the order of the graph; none of a file to leave out."""
        self._graph = graph
        self._paths = graph.paths
        self._hashes = np.frombuffer(b"".join(hashes), np.uint32)
        self._owners = np.repeat(np.arange(len(hashes)), [len(each) // 4 for each in hashes])
        self._known: dict[str, list[tuple[int, Symbol]]] = {}

    def named(self, name: str) -> Sequence[tuple[int, Symbol]]:
        """Return the symbols of that name, each with the number of its file."""
        known = self._known.get(name)
        if known is None:
            files = self._owners[self._hashes == name_hash(name)].tolist()
            self._known[name] = known = [
                (file, symbol)
                for file in files
                for symbol in self._graph.outline(self._paths[file])
                if symbol.name == name
            ]
        return known
