"""The names of a whole Python project, for rules that need all files."""

import marshal
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from itertools import accumulate, pairwise
from struct import Struct
from typing import Any

from recollect.code.facts import CLASS, FUNCTION, RETURNED, UNKNOWN, YIELDED, Binding, FileFacts
from recollect.code.languages.python.scopes import is_property

_MOST_PARAMETERS = 256
_PLACE = Struct("<Ii")  # the number of a file, and a place in it (see `binding`)

_Imports = list[tuple[str, str, str]]  # module, name, alias


class ProjectNames:
    """All names by what they are used for. Plain values, because they are stored: collecting them takes every file.

    They are stored in parts, and each is unpacked when it is needed. A change looks up a few dozen of many thousand names, so
    that these are found by their hashes, and no object is made of any other.
    """

    def __init__(self) -> None:
        self.properties: set[str] = set()  # it may keep names that are gone, and so does `is_defined`
        self._defined: dict[str, bool] = {}  # those that were added, and those that were asked for
        self._stored_names = array("Q")  # hashes of those that are stored, in order
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
        main, defined, methods, given, names._packed_imports = marshal.loads(digest)
        names.properties, names._paths = _unpack(main)
        names._stored_names.frombytes(defined)
        names._methods = _Places(methods)
        names._given = _Places(given)
        known = {path for path in names._paths if path in files and path not in stale}
        names._changed_imports = {path: None for path in names._paths if path not in known}
        names._paths = [path if path in known else "" for path in names._paths]
        for path in files:
            if path not in known:
                names.add(path, files[path])
        return names

    def packed(self) -> bytes:
        added = [_hashed(name) for name, is_defined in self._defined.items() if is_defined]
        defined = array("Q", sorted({*self._stored_names, *added}))
        main = _pack((self.properties, self._paths))
        places = (self._methods.packed(), self._given.packed())
        return marshal.dumps((main, defined.tobytes(), *places, _pack(self._all_imports())))

    def is_defined(self, name: str) -> bool:
        """Return whether something in the project has that name, or had it: it only saves look-ups."""
        known = self._defined.get(name)
        if known is None:
            known = self._defined[name] = _index(self._stored_names, _hashed(name)) is not None
        return known

    def add(self, path: str, facts: FileFacts) -> None:
        file = len(self._paths)
        self._paths.append(path)
        classes = {number for number, each in enumerate(facts.definitions) if each.kind == CLASS}
        for number, each in enumerate(facts.definitions):
            self._defined[each.name] = True
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

    def __init__(self, packed: bytes = b"") -> None:
        self._packed = packed  # what is stored, until it is needed
        self._names = array("Q")  # hashes of the stored names, in order
        self._ends = array("I")  # where the places of each end; the first number is 0
        self._places = b""
        self._added: dict[str, bytearray] = {}

    def add(self, name: str, file: int, place: int) -> None:
        known = self._added.get(name)
        if known is None:
            known = self._added[name] = bytearray()
        known += _PLACE.pack(file, place)

    def get(self, name: str) -> Iterator[tuple[int, int]]:
        self._unpack()
        at = _index(self._names, _hashed(name))
        if at is not None:
            yield from _PLACE.iter_unpack(self._places[self._ends[at] : self._ends[at + 1]])
        yield from _PLACE.iter_unpack(self._added.get(name, b""))

    def packed(self) -> bytes:
        self._unpack()
        spans = zip(self._names, pairwise(self._ends), strict=True)
        merged = {name: self._places[start:end] for name, (start, end) in spans}
        for name, more in self._added.items():
            hashed = _hashed(name)
            merged[hashed] = merged.get(hashed, b"") + more
        names = sorted(merged)
        ends = array("I", accumulate((len(merged[name]) for name in names), initial=0))
        places = zlib.compress(b"".join([merged[name] for name in names]), 1)
        return marshal.dumps((array("Q", names).tobytes(), ends.tobytes(), places))

    def _unpack(self) -> None:
        if self._packed:
            names, ends, places = marshal.loads(self._packed)
            self._names.frombytes(names)
            self._ends.frombytes(ends)
            self._places, self._packed = zlib.decompress(places), b""


def _hashed(name: str) -> int:
    """Return 64 bits: of a million names, no two are alike."""
    return int.from_bytes(blake2b(name.encode(errors="replace"), digest_size=8).digest(), "little")


def _index(hashes: "array[int]", hashed: int) -> int | None:
    at = bisect_left(hashes, hashed)
    return at if at < len(hashes) and hashes[at] == hashed else None


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
