"""The names of a whole Python project, for rules that need all files."""

import marshal
import zlib
from collections.abc import Collection, Iterator, Mapping
from struct import Struct
from typing import Any

from recollect.code.facts import CLASS, FUNCTION, RETURNED, UNKNOWN, YIELDED, Binding, FileFacts
from recollect.code.languages.python.scopes import is_property

_MOST_PARAMETERS = 256
_PLACE = Struct("<Ii")  # the number of a file, and a place in it (see `binding`)

_Imports = list[tuple[str, str, str]]  # module, name, alias


class ProjectNames:
    """All names by what they are used for. Plain values, because they are stored: collecting them takes every file.

    What is stored has parts of its own for what a change seldom needs, and these are unpacked when they are needed.
    """

    def __init__(self) -> None:
        self.defined: set[str] = set()  # these two may keep names that are gone: they only save look-ups
        self.properties: set[str] = set()
        self._paths: list[str] = []  # by number; "" = gone, and so are its places
        self._methods = _Places()
        self._given = _Places()
        self._imports: dict[
            str, bytes
        ] = {}  # by file, packed: all of them take as much room as all other names
        self._packed_imports = b""  # those that are stored, until they are needed
        self._changed_imports: dict[str, bytes | None] = {}  # since then; None = the file is gone

    @classmethod
    def unpacked(
        cls, digest: bytes, files: Mapping[str, FileFacts], stale: Collection[str]
    ) -> "ProjectNames":
        """Return the packed names brought up to date with the `stale` files, and with those that came or went."""
        names = cls()
        main, given, names._packed_imports = marshal.loads(digest)
        names.defined, names.properties, names._paths, methods = _unpack(main)
        names._methods = _Places(methods)
        names._given = _Places(packed=given)
        known = {path for path in names._paths if path in files and path not in stale}
        names._changed_imports = {path: None for path in names._paths if path not in known}
        names._paths = [path if path in known else "" for path in names._paths]
        for path in files:
            if path not in known:
                names.add(path, files[path])
        return names

    def packed(self) -> bytes:
        main = (self.defined, self.properties, self._paths, self._methods.merged())
        return marshal.dumps((_pack(main), _pack(self._given.merged()), _pack(self._all_imports())))

    def add(self, path: str, facts: FileFacts) -> None:
        file = len(self._paths)
        self._paths.append(path)
        classes = {number for number, each in enumerate(facts.definitions) if each.kind == CLASS}
        for number, each in enumerate(facts.definitions):
            self.defined.add(each.name)
            if each.scope in classes and each.kind == FUNCTION:
                self._methods.add(each.name, file, number)
                if each.decorators and is_property(each):
                    self.properties.add(each.name)
        self._changed_imports[path] = marshal.dumps([each[:3] for each in facts.imports])
        for name, place in _given(facts):
            self._given.add(name, file, place)

    def drop(self, path: str) -> None:
        self._changed_imports[path] = None
        self._paths[self._paths.index(path)] = ""

    def imports(self) -> "Iterator[tuple[str, _Imports]]":
        """Yield each file with the module, name and alias of its imports."""
        return ((path, marshal.loads(imports)) for path, imports in self._all_imports().items())

    def imports_of(self, path: str) -> "_Imports":
        imports: _Imports = marshal.loads(self._all_imports()[path])
        return imports

    def _all_imports(self) -> dict[str, bytes]:
        if self._packed_imports:
            self._imports, self._packed_imports = _unpack(self._packed_imports), b""
        for path, imports in self._changed_imports.items():
            if imports is not None:
                self._imports[path] = imports
            else:
                self._imports.pop(path, None)
        self._changed_imports.clear()
        return self._imports

    def methods(self, name: str) -> list[tuple[str, int]]:
        """Return the methods of that name: files and numbers of definitions."""
        return [(path, number) for file, number in self._methods.get(name) if (path := self._paths[file])]

    def given(self, name: str) -> list[tuple[str, int]]:
        """Return where the name is bound: files and places in them, sorted."""
        return sorted((path, place) for file, place in self._given.get(name) if (path := self._paths[file]))


class _Places:
    """By name: numbers of files and places in them, packed, because there are as many as assignments."""

    def __init__(self, stored: Mapping[str, bytes] | None = None, packed: bytes = b"") -> None:
        self._stored: Mapping[str, bytes] = stored or {}
        self._packed = packed  # what is stored, until it is needed
        self._added: dict[str, bytearray] = {}

    def add(self, name: str, file: int, place: int) -> None:
        known = self._added.get(name)
        if known is None:
            known = self._added[name] = bytearray()
        known += _PLACE.pack(file, place)

    def get(self, name: str) -> Iterator[tuple[int, int]]:
        self._unpack()
        yield from _PLACE.iter_unpack(self._stored.get(name, b""))
        yield from _PLACE.iter_unpack(self._added.get(name, b""))

    def merged(self) -> dict[str, bytes]:
        self._unpack()
        return {
            **self._stored,
            **{name: self._stored.get(name, b"") + more for name, more in self._added.items()},
        }

    def _unpack(self) -> None:
        if self._packed:
            self._stored, self._packed = _unpack(self._packed), b""


def _pack(value: Any) -> bytes:
    return zlib.compress(marshal.dumps(value), 1)


def _unpack(data: bytes) -> Any:
    return marshal.loads(zlib.decompress(data))


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
