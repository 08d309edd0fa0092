"""Parse one file: the grammar makes a syntax tree, and the language's parser turns it into facts."""

from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Query

from recollect.code.facts import FileFacts
from recollect.code.languages.table import LANGUAGES

_MOST_IN_ERROR = 10_000  # children: searching one long error takes quadratic time and finds nothing


@cache
def grammar(language: str) -> Grammar:
    row = LANGUAGES[language]
    module = import_module(row.grammar or f"tree_sitter_{row.name}")
    return Grammar(getattr(module, row.grammar_function)())


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
    parser = import_module(f"recollect.code.languages.{LANGUAGES[language].reader}.parse")
    read = getattr(parser, "facts_with_every_call", parser.facts) if every_call else parser.facts
    facts: FileFacts = read(tree, source, language)
    return facts
