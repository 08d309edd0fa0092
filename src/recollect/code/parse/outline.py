"""What a configuration file says of itself: its keys, two levels deep, and never what they hold."""

from tree_sitter import QueryCursor, Tree

from recollect.code.facts import VARIABLE, Definition, FileFacts
from recollect.code.parse.grammars import query
from recollect.code.parse.spans import Spans

_MOST = 200  # keys: what has more is data
_LONGEST = 100


def facts(tree: Tree, source: bytes, language: str) -> FileFacts:
    found = []
    for _, captured in QueryCursor(query(language, "facts")).matches(tree.root_node):
        key, name = captured["key"][0], captured["name"][0]
        text = source[name.start_byte : name.end_byte].decode("utf-8", "replace").strip("\"'")
        if 0 < len(text) <= _LONGEST:
            found.append((key.start_byte, key.end_byte, text, key.start_point[0], key.end_point))
    found = sorted(found)[:_MOST]
    spans = Spans([(start, end) for start, end, *_ in found])
    definitions = tuple(
        Definition(name, VARIABLE, row + 1, max(row, end[0] - (end[1] == 0)) + 1, spans.around(number))
        for number, (_, _, name, row, end) in enumerate(found)
    )
    return FileFacts(language, definitions, broken=tree.root_node.has_error)
