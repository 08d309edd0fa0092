"""Knows every symbol below a folder, as a code graph does."""

from recollect.code.nodes import Symbol
from recollect.memory.anchors.tie import marked_file


class Code:
    def __init__(self, root):
        self.root = root

    def _paths(self):
        return [path.relative_to(self.root).as_posix() for path in sorted(self.root.rglob("*.py"))]

    def find_files(self, name):
        return tuple(path for path in self._paths() if path == name or path.endswith(f"/{name}"))

    def find(self, name):
        found = []
        for path in self._paths():
            file = marked_file(self.root, path)
            for symbol in file:
                each = file.definition(symbol)
                dotted = f"{path.removesuffix('.py').replace('/', '.')}.{symbol}"
                if f".{dotted}".endswith(f".{name}"):
                    found.append(Symbol(f"{path}::{symbol}", each.name, each.kind, path, each.line, each.end))
        return tuple(found)
