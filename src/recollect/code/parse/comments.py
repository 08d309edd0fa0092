"""What is written about a file and its definitions, for languages where comments say it."""

import re
from collections.abc import Container, Iterable

from tree_sitter import Node

_MARKS = re.compile(r"^\s*(?:/\*+!?|//[/!]?|#+|\*+/?|--|<!--)?\s*|\s*(?:\*+/|-->)?\s*$")
_TAGS = re.compile(r"<[^>]{1,40}>|\{@\w+ ([^}]*)\}")
_PRAGMA = re.compile(
    r"^!|copyright|licen[sc]e|spdx|eslint|prettier|tslint|@(?:ts|flow|format|jest|fileoverview)\b|use strict|vim?:|-\*-|"
    r"shellcheck|rubocop|frozen_string|encoding:|istanbul|generated|jshint|global |nolint|go:build|\+build|clang-format|"
    r"pragma|phpcs",
    re.IGNORECASE,
)
_IS_ASIDE = re.compile(r"comment|hash_bang|php_tag").search
_LONGEST = 200


class Comments:
    """Rows are `point[0]`: `point.row` gives away a reference each time, and the process dies of it in the end."""

    def __init__(self, nodes: Iterable[Node], source: bytes) -> None:
        self._source = source
        self._by_last_row: dict[int, Node] = {}
        for node in nodes:
            start, last = node.start_byte, node.end_point[0]
            if node.end_point[1] == 0 and last > node.start_point[0]:
                last -= 1  # a line comment that holds its newline
            line_start = source.rfind(b"\n", 0, start) + 1
            if not source[line_start:start].strip() and source[start : start + 2] != b"#!":
                self._by_last_row[last] = node

    def above(self, row: int) -> str:
        """The first line of the comments that end in the row before, or nothing."""
        node = self._first_above(row)
        return self._first_line(node) if node is not None else ""

    def of_file(self, root: Node, defined: Container[int]) -> str:
        """The first comment above all code that says something and is not a definition's, by their rows."""
        code = next((node for node in root.named_children if not _IS_ASIDE(node.type)), None)
        end = root.end_point[0] + 1 if code is None else code.start_point[0]
        if end in defined and (node := self._first_above(end)):
            end = node.start_point[0]
        for row in sorted(self._by_last_row):
            if row >= end:
                break
            node = self._by_last_row[row]
            if not self._by_last_row.get(node.start_point[0] - 1) and (said := self._first_line(node)):
                return said
        return ""

    def _first_above(self, row: int) -> Node | None:
        top = None
        while node := self._by_last_row.get(row - 1):
            top, row = node, node.start_point[0]
            if self._source[node.start_byte : node.start_byte + 2] == b"/*":
                break
        return top

    def _first_line(self, node: Node) -> str:
        """Across line comments that stand together: the first line that is prose."""
        row = node.start_point[0]
        here: Node | None = node
        while here is not None:
            text = self._source[here.start_byte : here.end_byte].decode("utf-8", "replace")
            for line in text.splitlines():
                said = _TAGS.sub(r"\1", _MARKS.sub("", line)).strip()
                if _PRAGMA.search(said):
                    return ""
                if said.startswith("@"):
                    return ""
                if any(letter.isalpha() for letter in said):
                    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
            row += 1
            following = self._by_last_row.get(row)
            here = following if following is not None and following.start_point[0] == row else None
        return ""
