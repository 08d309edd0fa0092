"""From the text of one file to what it says: the grammar makes a tree, the language's module reads it."""

from importlib import import_module

from tree_sitter import Parser

from recollect.code.facts import FileFacts
from recollect.code.parse.grammars import grammar
from recollect.code.parse.languages import LANGUAGES

_MOST_IN_ERROR = 10_000  # children: to look through one long error costs their square, and it says nothing


def parse(language: str, source: bytes) -> FileFacts:
    """Never raises, whatever the bytes: what does not parse is left out, and the facts say `broken`."""
    tree = Parser(grammar(language)).parse(source)
    if tree.root_node.type == "ERROR" and tree.root_node.child_count > _MOST_IN_ERROR:
        return FileFacts(language, broken=True)
    extractor = import_module(f"recollect.code.parse.{LANGUAGES[language].extractor}")
    facts: FileFacts = extractor.facts(tree, source, language)
    return facts
