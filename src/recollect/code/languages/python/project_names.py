"""The names of a whole Python project, for rules that need all files."""

import marshal
from collections.abc import Collection, Iterator
from struct import Struct

from recollect.code.facts import CLASS, FUNCTION, RETURNED, UNKNOWN, YIELDED, Binding, FileFacts
from recollect.code.languages.python.scopes import is_property

_MOST_PARAMETERS = 256
_PLACE = Struct("<Ii")  # the number of a file, and a place in it (see `binding`)


class ProjectNames:
    """All names by what they are used for. Plain values, because they are stored: collecting them takes every file."""

    def __init__(self) -> None:
        self.defined: set[str] = set()  # these two may keep names that are gone: they only save look-ups
        self.properties: set[str] = set()
        self.methods: dict[str, list[tuple[str, int]]] = {}  # file and definition
        self.imports: dict[str, list[tuple[str, str, str]]] = {}  # by file: module, name, alias
        self._given: dict[str, bytes | bytearray] = {}  # places, packed: there are as many as assignments
        self._paths: list[str] = []  # by number; "" = gone, and so are its places

    @classmethod
    def unpacked(cls, digest: bytes, stale: Collection[str]) -> "ProjectNames":
        """Return the packed names, without those of `stale` files."""
        names = cls()
        names.defined, names.properties, names.methods, names.imports, names._given, names._paths = (
            marshal.loads(digest)
        )
        if stale:
            names._paths = ["" if path in stale else path for path in names._paths]
            for name, methods in names.methods.items():
                names.methods[name] = [each for each in methods if each[0] not in stale]
            for path in stale:
                names.imports.pop(path, None)
        return names

    def packed(self) -> bytes:
        return marshal.dumps(
            (self.defined, self.properties, self.methods, self.imports, self._given, self._paths)
        )

    def add(self, path: str, facts: FileFacts) -> None:
        classes = {number for number, each in enumerate(facts.definitions) if each.kind == CLASS}
        for number, each in enumerate(facts.definitions):
            self.defined.add(each.name)
            if each.scope in classes and each.kind == FUNCTION:
                self.methods.setdefault(each.name, []).append((path, number))
                if each.decorators and is_property(each):
                    self.properties.add(each.name)
        self.imports[path] = [each[:3] for each in facts.imports]
        file = len(self._paths)
        self._paths.append(path)
        given, pack = self._given, _PLACE.pack
        for name, place in _given(facts):
            known = given.get(name, b"")
            if isinstance(known, bytes):
                known = given[name] = bytearray(known)
            known += pack(file, place)

    def drop(self, path: str, facts: FileFacts) -> None:
        for name in {each.name for each in facts.definitions} & self.methods.keys():
            self.methods[name] = [one for one in self.methods[name] if one[0] != path]
        del self.imports[path]
        self._paths[self._paths.index(path)] = ""

    def given(self, name: str) -> list[tuple[str, int]]:
        """Return where the name is bound: files and places in them, sorted."""
        places = _PLACE.iter_unpack(self._given.get(name, b""))
        return sorted((path, place) for file, place in places if (path := self._paths[file]))


def binding(facts: FileFacts, place: int) -> Binding:
    """Return the binding at a place: the number of a binding, or below zero a parameter of a definition."""
    if place >= 0:
        return facts.bindings[place]
    number, at = divmod(-place - 1, _MOST_PARAMETERS)
    definition = facts.definitions[number]
    written, annotation = definition.parameters[at]
    return Binding(written, annotation, True, definition.line, definition.scope)


def _given(facts: FileFacts) -> Iterator[tuple[str, int]]:
    """Yield the names that are bound by assignment or annotation; of attributes, the last name."""
    for number, definition in enumerate(facts.definitions):
        for at, (written, annotation) in enumerate(definition.parameters[:_MOST_PARAMETERS]):
            if annotation and not written.startswith("*"):
                yield written, -(number * _MOST_PARAMETERS + at) - 1
    for number, each in enumerate(facts.bindings):
        name = each.name
        if name != RETURNED and name != YIELDED and not each.value.startswith(UNKNOWN):
            yield name.rpartition(".")[2] if "." in name else name, number
