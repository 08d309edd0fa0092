"""What one source file says, whatever its language. Nothing here depends on any other file.

These are tuples rather than dataclasses, because a large project has half a million of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from recollect.frozen import frozen

FILE = -1  # the scope of what is in no definition

FUNCTION = "function"  # and methods, whose scope is a class
CLASS = "class"  # and interfaces, structs, enums, traits, types
VARIABLE = "variable"  # of a file or a class; not locals

UNKNOWN = "?"  # the head of a chain that cannot be resolved
RETURNED, YIELDED = "return", "yield"  # the names of bindings to what a function returns or yields


class Definition(NamedTuple):
    name: str
    kind: str
    line: int  # from 1; with its decorators
    end: int  # the last line, inclusive
    scope: int = FILE  # the number of the definition around it
    signature: str = ""  # "(name: str, deep=…) -> Config"; without defaults, which may be secrets
    doc: str = ""  # the first line of its documentation
    bases: tuple[str, ...] = ()  # of a class, as chains (see `Reference`)
    returns: str = ""  # the annotation as written
    decorators: tuple[str, ...] = ()  # as chains
    parameters: tuple[tuple[str, str], ...] = ()  # name and annotation, in order
    exported: bool = True  # whether other files may use it


class Import(NamedTuple):
    module: str  # as written: "..models", "./client", "std::fs"
    name: str = ""  # what is imported from it; "" = the module itself, "*" = everything
    alias: str = ""  # its name in this file; "" = the last part of its own name
    line: int = 0
    scope: int = FILE
    reexport: bool = False  # `export … from`, `pub use`


class Reference(NamedTuple):
    """A use of something, as a chain: names joined by dots, `()` for a call, `[]` for an item.

    In `self.app.loader().get(name)` the chain is `self.app.loader().get`; its last name is called or used.
    """

    chain: str
    kind: str  # "calls" or "uses"
    line: int
    scope: int = FILE


class Binding(NamedTuple):
    """The value or type of a name: `self.app = App()` binds `self.app` to `App()`; `x: App` binds by annotation."""

    name: str  # a name, or `self.name`
    value: str  # a chain, or an annotation as written
    annotated: bool
    line: int
    scope: int = FILE


@frozen
class FileFacts:
    language: str
    definitions: Sequence[Definition] = ()
    imports: Sequence[Import] = ()
    references: Sequence[Reference] = ()
    bindings: Sequence[Binding] = ()
    exports: Sequence[str] = ()  # names that the file lists as its exports (`__all__`); empty = it lists none
    doc: str = ""  # the first line of its documentation
    broken: bool = False  # parts did not parse; the facts of the others are here
