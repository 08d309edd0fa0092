"""The names that a file defines, hashed: what questions need of an outline, without unpacking it."""

from array import array
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from recollect.code.facts import FUNCTION, Definition
from recollect.code.terms import terms_of


class DefinedNames(NamedTuple):
    hashes: bytes = b""  # of each name, 32 bits as the machine has them
    terms: bytes = b""  # of all names, as `terms_of` returns them
    are_tests: bool = (
        False  # most functions are tests; then no name is stored, because questions seldom name tests
    )


NO_NAMES = DefinedNames()


def defined_names(definitions: Sequence[Definition]) -> DefinedNames:
    functions = [
        last_name(definition).lower().startswith("test")
        for definition in definitions
        if definition.kind == FUNCTION
    ]
    if 2 * sum(functions) > len(functions):
        return DefinedNames(are_tests=True)
    names = list(map(last_name, definitions))
    return DefinedNames(array("I", map(name_hash, dict.fromkeys(names))).tobytes(), terms_of(" ".join(names)))


def name_hash(name: str) -> int:
    return crc32(name.encode(errors="replace"))


def last_name(definition: Definition) -> str:
    """Return `run` for a method that is defined outside its class as `Server.run`."""
    return definition.name.rpartition(".")[2] or definition.name
