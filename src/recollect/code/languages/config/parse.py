"""Parse a configuration file: its keys, two levels deep, and never their values."""

from tree_sitter import QueryCursor, Tree

from recollect.code.facts import VARIABLE, Definition, FileFacts
from recollect.code.languages.parser import query
from recollect.code.languages.syntax import Spans

_MOST_KEYS = 200  # a file with more is data
_LONGEST_KEY = 100


def facts(tree: Tree, source: bytes, language: str) -> FileFacts:
    keys = []
    for _, captured in QueryCursor(query(language)).matches(tree.root_node):
        key, name = captured["key"][0], captured["name"][0]
        text = source[name.start_byte : name.end_byte].decode("utf-8", "replace").strip("\"'")
        if 0 < len(text) <= _LONGEST_KEY:
            keys.append((key.start_byte, key.end_byte, text, key.start_point[0], key.end_point))
    keys = sorted(keys)[:_MOST_KEYS]
    spans = Spans([(start, end) for start, end, *_ in keys])
    definitions = tuple(
        Definition(name, VARIABLE, row + 1, max(row, end[0] - (end[1] == 0)) + 1, spans.around(number))
        for number, (_, _, name, row, end) in enumerate(keys)
    )
    return FileFacts(language, definitions, broken=tree.root_node.has_error)
