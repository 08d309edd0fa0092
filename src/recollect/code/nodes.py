"""The nodes and edges of the code graph, and the confidence of each rule that makes an edge."""

from collections.abc import Sequence
from typing import NamedTuple

from recollect.code.facts import FILE, Definition

CONTAINS = "contains"  # from a file or class to its symbols
CALLS = "calls"
IMPORTS = "imports"  # from a file to a file, or to something outside the project
USES = "uses"  # from a function to a variable
INHERITS = "inherits"
REFERENCES = "references"  # from a function to a class

# By rule: the share of its edges that are right, at least. Edges below `POSSIBLE` are shown only on request.
RULES = {
    "written": 1.0,  # the source says so: an import, or what a file contains
    "scope": 0.99,  # found where the language looks first
    "import": 0.99,  # through imports, re-exports and stars
    "self": 0.98,  # self, cls, super, this: through the bases
    "type": 0.95,  # by annotations, constructors, returns, attributes
    "vote": 0.85,  # nearly all receivers of that name in the project are of one type
    "name": 0.5,  # the only method of that name
}
POSSIBLE = 0.6

OUTSIDE = "external:"  # the prefix of targets outside the project: "external:requests.get"


class Symbol(NamedTuple):
    id: str  # "src/app.py::App.run"; the second one of that name ends in "#2"
    name: str
    kind: str  # function, class, variable
    path: str
    line: int
    end: int
    signature: str = ""
    doc: str = ""
    exported: bool = True


class CodeEdge(NamedTuple):
    source: str  # a symbol's id, or a path
    kind: str
    target: str  # a symbol's id, a path, or something outside the project
    rule: str
    line: int = 0  # in the source's file

    @property
    def confidence(self) -> float:
        return RULES[self.rule]


def symbol_ids(path: str, definitions: Sequence[Definition]) -> list[str]:
    """Return `path::Outer.inner` for each definition, in order; the second of one name in a scope ends in `#2`.

    A definition must come after the one that contains it.
    """
    ids: list[str] = []
    seen: dict[str, int] = {}
    for definition in definitions:
        inside = f"{path}::" if definition.scope == FILE else f"{ids[definition.scope]}."
        name = inside + definition.name
        seen[name] = count = seen.get(name, 0) + 1
        ids.append(name if count == 1 else f"{name}#{count}")
    return ids
