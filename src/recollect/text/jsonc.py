"""Edit JSON with comments as text: adding or removing a value changes nothing around it.

Trailing commas, comments, tabs, line endings and the byte order mark stay as they are.
"""

import json
import re
from contextlib import suppress
from dataclasses import field
from typing import Any

from recollect.frozen import frozen

_TRIVIA = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\n]*+|/\*.*?\*/|(?!))*+", re.S)
_REST_OF_LINE = re.compile(r"(?:[ \t]++|//[^\r\n]*+|/\*.*?\*/|(?!))*+", re.S)
_INDENT = re.compile(r"\n([ \t]+)[^\s]")
_MAX_DEPTH = 200  # a settings file has ten levels


class BadJson(ValueError):
    """Raised for a text that is not JSON; the message says where and why."""

    def __init__(self, text: str, at: int, what: str) -> None:
        line = text.count("\n", 0, at) + 1
        column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"line {line}, column {column}: {what}")


@frozen
class JsonNode:
    """A value and its position in the text."""

    start: int
    end: int
    value: Any
    children: tuple["JsonChild", ...] = ()

    def member(self, key: str) -> "JsonNode | None":
        """Return the last member of that name, as JSON readers do."""
        return next((child.node for child in reversed(self.children) if child.key == key), None)


@frozen
class JsonChild:
    """A member of an object, or an item of an array."""

    start: int
    node: JsonNode
    key: str | None = field(default=None)  # None = an item


def parse(text: str) -> JsonNode | None:
    """Return the document, or None if it has only space and comments. Raise `BadJson`."""
    start = _skip(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        raise BadJson(text, rest, "unexpected text after the end of the document")
    return node


def load(text: str) -> Any:
    """Return the value, or an empty object if there is none. Raise `BadJson`."""
    # Most files have no comments, and this is a hundred times as fast.
    with suppress(ValueError, RecursionError):
        return json.loads(text.removeprefix("\ufeff"))
    node = parse(text)
    return {} if node is None else node.value


def put(text: str, path: tuple[str, ...], value: Any) -> str:
    """Add the member at `path` and the objects above it. Raise `BadJson`, or `ValueError` if one of these is no object."""
    return _put(text, path, value, as_item=False)


def append(text: str, path: tuple[str, ...], value: Any) -> str:
    """Add an item to the array at `path`, and the array if there is none. Raises like `put`."""
    return _put(text, path, value, as_item=True)


def take(text: str, path: tuple[str | int, ...]) -> str:
    """Remove the member or item at `path`. Raise `KeyError` if there is none."""
    root = parse(text)
    if root is None:
        raise KeyError(path)
    for step in path[:-1]:
        root = root.children[_index(root, step)].node
    return _take_child(text, root, _index(root, path[-1]))


def _skip(text: str, at: int) -> int:
    match = _TRIVIA.match(text, at)
    at = match.end() if match else at
    if text.startswith("/*", at):
        raise BadJson(text, at, "unterminated comment")
    return at


_SCALAR = json.JSONDecoder()


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > _MAX_DEPTH:
        raise BadJson(text, at, "nested too deeply")
    opening = text[at : at + 1]
    if opening in ("{", "["):
        return _container(text, at, depth)
    try:
        value, end = _SCALAR.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise BadJson(text, error.pos, error.msg) from None
    return JsonNode(at, end, value)


def _container(text: str, start: int, depth: int) -> JsonNode:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    children: list[JsonChild] = []
    at = _skip(text, start + 1)
    while not text.startswith(closing, at):
        begin, key = at, None
        if is_object:
            key, at = _key(text, at)
        node = _value(text, at, depth + 1)
        children.append(JsonChild(begin, node, key))
        at = _skip(text, node.end)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith(closing, at):
            raise BadJson(text, at, f"expected a comma or {closing!r}")
    value: Any = (
        {child.key: child.node.value for child in children}
        if is_object
        else [child.node.value for child in children]
    )
    return JsonNode(start, at + 1, value, tuple(children))


def _key(text: str, at: int) -> tuple[str, int]:
    if not text.startswith('"', at):
        raise BadJson(text, at, "expected a name in double quotes")
    node = _value(text, at, 0)
    at = _skip(text, node.end)
    if not text.startswith(":", at):
        raise BadJson(text, at, "expected a colon")
    return str(node.value), _skip(text, at + 1)


def _index(node: JsonNode, step: str | int) -> int:
    for index in reversed(range(len(node.children))):
        if step == (index if isinstance(step, int) else node.children[index].key):
            return index
    raise KeyError(step)


def _put(text: str, path: tuple[str, ...], value: Any, *, as_item: bool) -> str:
    style = _Style.of(text)
    root = parse(text)
    if root is None:
        head = text.rstrip(" \t\r\n")  # a byte order mark, or comments
        between = style.newline if head.strip("\ufeff") else ""
        whole = style.write(_nested(path, [value] if as_item else value), "")
        return head + between + whole + style.newline
    node = root
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the document'} is not an object")
        member = node.member(key)
        if member is None:
            nested = _nested(path[depth + 1 :], [value] if as_item else value)
            return _insert(text, root, node, nested, style, key)
        node = member
    if not as_item:
        raise ValueError(f"{'.'.join(path)} already exists")
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(path)} is not an array")
    return _insert(text, root, node, value, style, None)


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _insert(text: str, root: JsonNode, node: JsonNode, value: Any, style: "_Style", key: str | None) -> str:
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    one_line = "\n" not in text[root.start : root.end] and bool(root.children)
    if not node.children:
        return _insert_first(text, node, name, value, style, one_line=one_line)
    last = node.children[-1]
    comma = _comma(text, last.node.end)
    if "\n" not in text[node.start : node.children[0].start]:
        at = last.node.end if comma is None else comma + 1
        new = name + json.dumps(value, ensure_ascii=False)
        return text[:at] + (f", {new}" if comma is None else f" {new},") + text[at:]
    indent = _indent_at(text, last.start)
    begin = last.node.end if comma is None else comma + 1
    line = _REST_OF_LINE.match(text, begin)
    end = line.end() if line else begin
    new = style.newline + indent + name + style.write(value, indent)
    if comma is None:
        return text[:begin] + "," + text[begin:end] + new + text[end:]
    return text[:end] + new + "," + text[end:]


def _insert_first(
    text: str, node: JsonNode, name: str, value: Any, style: "_Style", *, one_line: bool
) -> str:
    inside = text[node.start + 1 : node.end - 1]
    head = inside.rstrip()
    tail = inside[len(head) :]
    if one_line:
        new = name + json.dumps(value, ensure_ascii=False)
    else:
        indent = _indent_at(text, node.start)
        new = style.newline + indent + style.unit + name + style.write(value, indent + style.unit)
        tail = tail if "\n" in tail else style.newline + indent
    return text[: node.start + 1] + head + new + tail + text[node.end - 1 :]


def _take_child(text: str, node: JsonNode, index: int) -> str:
    child = node.children[index]
    comma = _comma(text, child.node.end)
    end = child.node.end if comma is None else comma + 1
    start = _line_before(text, child.start)
    if not re.match(r"[ \t]*(\r?\n|$)", text[end:]) and "\n" in text[start : child.start]:
        start = child.start  # other text on the line must not end up behind a comment of the line before
    cut = text[:start] + text[end:]
    if comma is None and index > 0:
        before = _comma(text, node.children[index - 1].node.end)
        assert before is not None
        cut = cut[:before] + cut[before + 1 :]
    if len(node.children) == 1:
        closing = node.end - 1 - (len(text) - len(cut))
        if not cut[node.start + 1 : closing].strip():
            cut = cut[: node.start + 1] + cut[closing:]
    return cut


def _line_before(text: str, at: int) -> int:
    """Return the end of the line before if only space is between, else where that space begins."""
    start = at - len(text[:at]) + len(text[:at].rstrip(" \t"))
    if text[:start].endswith("\r\n"):
        return start - 2
    return start - 1 if text[:start].endswith("\n") else start


def _comma(text: str, at: int) -> int | None:
    at = _skip(text, at)
    return at if text.startswith(",", at) else None


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


@frozen
class _Style:
    """The line endings and indentation of a file."""

    newline: str
    unit: str

    @classmethod
    def of(cls, text: str) -> "_Style":
        indent = _INDENT.search(text)
        return cls(newline_of(text), indent[1] if indent else "  ")

    def write(self, value: Any, indent: str) -> str:
        """Return `value` as JSON, with one line per member of an object; arrays without objects stay on one line."""
        inner = indent + self.unit
        if isinstance(value, dict) and value:
            rows = [f"{json.dumps(key)}: {self.write(item, inner)}" for key, item in value.items()]
            return "{" + self._lines(rows, inner) + self.newline + indent + "}"
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return (
                "["
                + self._lines([self.write(item, inner) for item in value], inner)
                + self.newline
                + indent
                + "]"
            )
        return json.dumps(value, ensure_ascii=False)

    def _lines(self, rows: list[str], indent: str) -> str:
        return ",".join(self.newline + indent + row for row in rows)


def newline_of(text: str) -> str:
    """Return the line ending that `text` uses first."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
