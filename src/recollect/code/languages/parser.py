"""Parse one file: the grammar makes a syntax tree, and the language's parser turns it into facts."""

from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Query, Tree

from recollect.code.facts import FileFacts
from recollect.code.languages.table import LANGUAGES

_MOST_IN_ERROR = 10_000  # children: searching one long error takes quadratic time and finds nothing
_DEEPEST = 3_000  # nodes, a thousand functions in each other: going up from each of them takes quadratic time
_LONGEST_CHAIN = (
    6_000  # nodes, of which most are links: a chain of branches or of operands is quick to search
)
_LINKS = frozenset(
    {
        "if_statement", "if_expression", "else_clause", "else", "elsif", "binary_expression", "binary_operator",
        "binary", "boolean_operator", "additive_expression",
    }
)  # fmt: skip
_PROBED_EVERY = 4096  # bytes, in which not much more than that can begin and end
_MOST_PROBES = 16  # each takes as long as a node of the way has children


@cache
def grammar(language: str) -> Grammar:
    row = LANGUAGES[language]
    package = row.grammar or f"tree_sitter_{row.name}"
    make = getattr(_binding(package), row.grammar_function, None)
    return Grammar((make or getattr(import_module(package), row.grammar_function))())


def _binding(package: str) -> ModuleType | None:
    """Return the native part of a grammar alone: the package imports compression and more, for queries that we do not use."""
    found = find_spec(package)
    folders = found.submodule_search_locations if found else None
    spec = PathFinder.find_spec(f"{package}._binding", folders) if folders else None
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def query(language: str) -> Query:
    """Return the queries of a language as one."""
    row = LANGUAGES[language]
    folder = Path(__file__).parent / (row.folder or row.name)
    names = row.queries or (row.name,)
    return Query(grammar(language), "\n".join((folder / f"{name}.scm").read_text("utf-8") for name in names))


def parse(language: str, source: bytes, *, every_call: bool = False) -> FileFacts:
    """Return the facts of a file. Never raises, whatever the bytes: `broken` says that parts did not parse.

    With `every_call`, `references` has all calls; without, a language may keep the first of equal ones in a scope only.
    """
    tree = Parser(grammar(language)).parse(source)
    if tree.root_node.type == "ERROR" and tree.root_node.child_count > _MOST_IN_ERROR:
        return FileFacts(language, broken=True)
    if len(source) > _DEEPEST and _is_deep(tree, len(source)):
        return FileFacts(language, broken=True)
    parser = import_module(f"recollect.code.languages.{LANGUAGES[language].reader}.parse")
    read = getattr(parser, "facts_with_every_call", parser.facts) if every_call else parser.facts
    facts: FileFacts = read(tree, source, language)
    return facts


def _is_deep(tree: Tree, size: int) -> bool:
    """Return whether the tree is too deep at one of some places. Only generated code is."""
    step = max(_PROBED_EVERY, size // _MOST_PROBES)
    for place in range(min(step, size) // 2, size, step):
        cursor = tree.walk()
        links = 0
        while cursor.goto_first_child_for_byte(place) is not None:
            links += cursor.node is not None and cursor.node.type in _LINKS
            if cursor.depth - links > _DEEPEST or cursor.depth > _LONGEST_CHAIN:
                return True
    return False
