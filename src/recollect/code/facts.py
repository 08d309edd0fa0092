"""What one source file says of itself, whatever its language. Nothing here depends on any other file.

Tuples rather than dataclasses: a large project has half a million of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

FILE = -1  # the scope of what stands in no definition

FUNCTION = "function"  # and methods: those stand in a class
CLASS = "class"  # and interfaces, structs, enums, traits, types
VARIABLE = "variable"  # of a file or a class; not locals

UNKNOWN = "?"  # the head of a chain that nothing can be known of
RETURNED, YIELDED = "return", "yield"  # what a function gives back, as bindings in its scope


class Definition(NamedTuple):
    name: str
    kind: str
    line: int  # from 1; with its decorators
    end: int  # the last one, included
    scope: int = FILE  # the definition it stands in
    signature: str = ""  # "(name: str, deep=…) -> Config": defaults may be secrets, and are left out
    doc: str = ""  # the first line of what is written about it
    bases: tuple[str, ...] = ()  # of a class, as chains (see `Reference`)
    returns: str = ""  # the annotation, as it is written
    decorators: tuple[str, ...] = ()  # as chains
    parameters: tuple[tuple[str, str], ...] = ()  # name and annotation, in order
    exported: bool = True  # whether other files may use it


class Import(NamedTuple):
    module: str  # as it is written: "..models", "./client", "std::fs"
    name: str = ""  # what of it; "" = the module itself, "*" = everything
    alias: str = ""  # what it is called here; "" = the last part of its own name
    line: int = 0
    scope: int = FILE
    reexport: bool = False  # `export … from`, `pub use`


class Reference(NamedTuple):
    """A use of something, as a chain: names joined by dots, `()` for a call, `[]` for an item.

    `self.app.loader().get` in `self.app.loader().get(name)`; the last name is what is called or used.
    """

    chain: str
    kind: str  # "calls" or "uses"
    line: int
    scope: int = FILE


class Binding(NamedTuple):
    """What a name was given: `self.app = App()` binds `self.app` to `App()`, by value; `x: App` binds by annotation."""

    name: str  # a name, or `self.name`
    value: str  # a chain, or an annotation as it is written
    annotated: bool
    line: int
    scope: int = FILE


@dataclass(frozen=True, slots=True)
class FileFacts:
    language: str
    definitions: Sequence[Definition] = ()
    imports: Sequence[Import] = ()
    references: Sequence[Reference] = ()
    bindings: Sequence[Binding] = ()
    exports: Sequence[str] = ()  # names the file lists itself (`__all__`); empty = it does not
    doc: str = ""  # the first line of what is written about the file
    broken: bool = False  # it did not parse throughout: what could be read is here
