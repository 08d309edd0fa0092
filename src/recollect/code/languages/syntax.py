"""What the parsers of several languages share: chains, comments, and which definition contains a place."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Sequence

from tree_sitter import Node

from recollect.code.facts import FILE, UNKNOWN

_LONGEST_CHAIN = 400  # bytes: of a longer expression only the last name is kept
_PLAIN = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*").fullmatch
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'|`[^`]*`")
_JOINS = re.compile(r"\s{0,100}(?:\?\.|!!\.|!\.|&\.|::|\?->|->|\\)\s*")
_GENERIC = re.compile(r"<[\w\s,&*?.:@$]*>")
_PREFIX = re.compile(r"^(?:(?:new|await|try|return|yield|ref|out|move|unsafe)\s+|[&*!\-~]+|mut\s+)+")
_INNERMOST = re.compile(r"\([^()]*\)|\{[^{}]*\}"), re.compile(r"\[[^\[\]]*\]")
_CALL, _ITEM = "\x01", "\x02"
_LINK = r"(?:[@$]{0,2}[^\W\d][\w$]*[?!]?)"
_CHAIN = re.compile(rf"(?:{_LINK}|\?)(?:\.{_LINK}|[{_CALL}{_ITEM}])*").fullmatch
_LAST = re.compile(r"([^\W\d][\w$]*[?!]?)\W*$")


def chain_of(text: str) -> str:
    """Return the chain (see `Reference`) of an expression, for languages whose expressions look alike.

    An expression that is no chain becomes `?` and its last name, or "" if it has none.
    """
    if _PLAIN(text):
        return text
    if len(text) > _LONGEST_CHAIN:
        return _only_last(text[-_LONGEST_CHAIN:])
    text = _STRING.sub("?", text).replace("::<", "<")
    for _ in range(12):
        shorter = _INNERMOST[1].sub(_ITEM, _INNERMOST[0].sub(_CALL, text))
        if shorter == text:
            break
        text = shorter
    text = _PREFIX.sub("", _JOINS.sub(".", text).strip())
    text = _GENERIC.sub("", _GENERIC.sub("", text)).replace("?.", ".").replace("!!", "").replace("..", ".")
    text = "".join(text.split()).lstrip(".")
    text = re.sub(f"^[{_CALL}{_ITEM}]", UNKNOWN, text)
    if not _CHAIN(text):
        return _only_last(text)
    return text.replace(_CALL, "()").replace(_ITEM, "[]")


def _only_last(text: str) -> str:
    last = _LAST.search(text)
    return f"{UNKNOWN}.{last[1]}" if last else ""


_MARKS = re.compile(r"^\s*(?:/\*+!?|//[/!]?|#+|\*+/?|--|<!--)?\s*|\s*(?:\*+/|-->)?\s*$")
_TAGS = re.compile(r"<[^>]{1,40}>|\{@\w{1,40} ([^}]{0,300})\}")
_PRAGMA = re.compile(
    r"^!|copyright|licen[sc]e|spdx|eslint|prettier|tslint|@(?:ts|flow|format|jest|fileoverview)\b|use strict|vim?:|-\*-|"
    r"shellcheck|rubocop|frozen_string|encoding:|istanbul|generated|jshint|global |nolint|go:build|\+build|clang-format|"
    r"pragma|phpcs",
    re.IGNORECASE,
)
_DRAWING = re.compile(r"(?:^|\s)[|\\/()]*(?:__|\|_|_\||\\_|_/|/_)[|_\\/]*(?:\s|$)")  # a name in large letters
_IS_ASIDE = re.compile(r"comment|hash_bang|php_tag").search
_LONGEST_LINE = 200


class Comments:
    """The comments of a file, for languages that document code in comments.

    Rows are `point[0]`: `point.row` leaks a reference each time, which crashes the process in the end.
    """

    def __init__(self, nodes: Iterable[Node], source: bytes) -> None:
        self._source = source
        self._by_last_row: dict[int, Node] = {}
        for node in nodes:
            start, last = node.start_byte, node.end_point[0]
            if node.end_point[1] == 0 and last > node.start_point[0]:
                last -= 1  # a line comment that includes its newline
            line_start = source.rfind(b"\n", 0, start) + 1
            if not source[line_start:start].strip() and source[start : start + 2] != b"#!":
                self._by_last_row[last] = node

    def above(self, row: int) -> str:
        """Return the first line of the comments that end in the row before, or ""."""
        node = self._first_above(row)
        return self._first_line(node) if node is not None else ""

    def of_file(self, root: Node, defined: Container[int]) -> str:
        """Return the first comment above all code that is prose and does not belong to a definition in the `defined` rows."""
        code = next((node for node in root.named_children if not _IS_ASIDE(node.type)), None)
        end = root.end_point[0] + 1 if code is None else code.start_point[0]
        if end in defined and (node := self._first_above(end)):
            end = node.start_point[0]
        for row in sorted(self._by_last_row):
            if row >= end:
                break
            node = self._by_last_row[row]
            if not self._by_last_row.get(node.start_point[0] - 1) and (line := self._first_line(node)):
                return line
        return ""

    def _first_above(self, row: int) -> Node | None:
        top = None
        while node := self._by_last_row.get(row - 1):
            top, row = node, node.start_point[0]
            if self._source[node.start_byte : node.start_byte + 2] == b"/*":
                break
        return top

    def _first_line(self, node: Node) -> str:
        """Return the first line of prose in the line comments that begin here."""
        row = node.start_point[0]
        comment: Node | None = node
        while comment is not None:
            text = self._source[comment.start_byte : comment.end_byte].decode("utf-8", "replace")
            for written in text.splitlines():
                line = _TAGS.sub(r"\1", _MARKS.sub("", written)).strip()
                if _PRAGMA.search(line) or line.startswith("@"):
                    return ""
                if any(letter.isalpha() for letter in line) and not _DRAWING.search(line):
                    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
            row += 1
            following = self._by_last_row.get(row)
            comment = following if following is not None and following.start_point[0] == row else None
        return ""


class Spans:
    """Ranges of bytes that contain each other or are apart: which definition a byte is in.

    `spans` are the first byte of each and the one after its last, sorted.
    """

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]
        self._outer: list[int] = []
        for number, start in enumerate(self._starts):
            self._outer.append(self._containing(number - 1, start))

    def at(self, byte: int) -> int:
        """Return the number of the innermost span at that byte, or `FILE`."""
        return self._containing(bisect_right(self._starts, byte) - 1, byte)

    def around(self, number: int) -> int:
        """Return the number of the span that contains span `number`, or `FILE`."""
        return self._outer[number]

    def _containing(self, number: int, byte: int) -> int:
        while number != FILE and self._ends[number] <= byte:
            number = self._outer[number]
        return number
