"""The nodes and edges of the code graph, and how sure we are of an edge by the rule that made it."""

from typing import NamedTuple

CONTAINS = "contains"  # a file or class its symbols
CALLS = "calls"
IMPORTS = "imports"  # a file a file, or what is outside
USES = "uses"  # a function a variable
INHERITS = "inherits"
REFERENCES = "references"  # a function a class

# By rule: how often an edge it made was right, at least. What is only possible is shown on request.
RULES = {
    "written": 1.0,  # it stands there: an import, what a file contains
    "scope": 0.99,  # found where the language looks first
    "import": 0.99,  # through imports, re-exports and stars
    "self": 0.98,  # self, cls, super, this: through the bases
    "type": 0.95,  # by annotations, constructors, returns, attributes
    "vote": 0.85,  # a receiver of that name is of one type nearly everywhere in the project
    "name": 0.5,  # the only method of that name
}
POSSIBLE = 0.6  # an edge below this is possible, and never shown by default

OUTSIDE = "external:"  # what begins a target that is not in the project: "external:requests.get"


class Symbol(NamedTuple):
    id: str  # "src/app.py::App.run"; a second one of that name ends in "#2"
    name: str
    kind: str  # function, class, variable
    path: str
    line: int
    end: int
    signature: str = ""
    doc: str = ""
    exported: bool = True


class Edge(NamedTuple):
    source: str  # a symbol's id, or a path
    kind: str
    target: str  # a symbol's id, a path, or what is outside
    rule: str
    line: int = 0  # in the source's file

    @property
    def confidence(self) -> float:
        return RULES[self.rule]
