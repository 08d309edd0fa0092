"""Compute a digest of a symbol's code that ignores its layout and its position in the file."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b

from tree_sitter import Node, Parser

from recollect.code.facts import FUNCTION, Definition
from recollect.code.languages.parser import grammar, parse
from recollect.code.nodes import symbol_ids

# What formatters put brackets around and take them from; "" = no more than its inside.
_SAME = {
    "concatenated_string": "",
    "parenthesized_expression": "",
    "string": "",
    "expression_list": "tuple",
    "pattern_list": "tuple",
    "tuple_pattern": "tuple",
    # An annotation in brackets is an expression to the grammar of Python, and a type without.
    "type": "",
    "type_parameter": "",
    "union_type": "binary_operator",
    "generic_type": "subscript",
    "member_type": "attribute",
}
_TUPLES = frozenset({"tuple", "tuple_pattern", "expression_list", "pattern_list"})
_BRACKETED = frozenset({*_SAME, *_TUPLES, "with_clause", "import_from_statement"})
_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
_NUMBERS = frozenset({"integer", "float", "number"})
_DEEPEST = 120  # levels of structure that are told apart

_BEGIN, _END, _PIECE = "\x02", "\x03", "\x04"  # of a string: where it begins and ends, and what it says


def mark(language: str, source: bytes, symbol: str) -> str | None:
    """Return the digest of `symbol` in `source`, or None if it does not exist."""
    return Marked(language, source).mark(symbol)


class Marked:
    """One file, parsed: what it defines, by names such as `Outer.inner`, and the marks of that."""

    def __init__(self, language: str, source: bytes) -> None:
        self._language = language
        self.source = source.replace(b"\r\n", b"\n")  # git writes either, also into strings of several lines
        self._definitions = parse(language, self.source).definitions
        self._places = {name: place for place, name in enumerate(_names(self._definitions))}

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def definition(self, symbol: str) -> Definition | None:
        return self._definitions[self._places[symbol]] if symbol in self._places else None

    def mark(self, symbol: str) -> str | None:
        """Return the digest of a symbol, or None if it does not exist. Overloads share one digest."""
        if symbol not in self._places:
            return None
        places = [place for name, place in self._places.items() if name == symbol or _is_again(name, symbol)]
        return _digest(self._root, self._language, self._definitions, places)

    @cached_property
    def _root(self) -> Node:
        return Parser(grammar(self._language)).parse(self.source).root_node


def _names(definitions: Sequence[Definition]) -> list[str]:
    return [each.partition("::")[2] for each in symbol_ids("", definitions)]


def _is_again(name: str, symbol: str) -> bool:
    first, _, number = name.rpartition("#")
    return first == symbol and number.isdecimal()


def _digest(root: Node, language: str, definitions: Sequence[Definition], places: Iterable[int]) -> str:
    text = "\x1e".join("\x1f".join(_said(root, language, definitions, place)) for place in places)
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _said(root: Node, language: str, definitions: Sequence[Definition], place: int) -> list[str]:
    """Return the lines of a class without the bodies of its methods, which have digests of their own."""
    own = definitions[place]
    parts = [
        each
        for each in definitions
        if each.scope == place and own.kind != FUNCTION and each.kind == FUNCTION and each.line > own.line
    ]
    said = _Said(language, range(own.line - 1, own.end), [range(each.line - 1, each.end) for each in parts])
    return [*_joined(said.of(root)), *sorted(each.name for each in parts)]


class _Said:
    """Yields the tokens of some lines, with markers for the structure around them."""

    def __init__(self, language: str, lines: range, apart: Sequence[range]) -> None:
        self._language = language
        self._lines = lines
        self._apart = apart

    def of(self, node: Node, depth: int = 0) -> Iterator[str]:
        first, last = node.start_point[0], node.end_point[0]
        if node.is_extra or "comment" in node.type or last < self._lines[0] or first > self._lines[-1]:
            return
        if any(first in lines and last in lines for lines in self._apart) or self._is_idle(node):
            return
        if not node.child_count or node.type == "string_content":
            yield from self._leaf(node)
            return
        if depth > _DEEPEST:
            yield " ".join(_text(node).split())
            return
        inside = first >= self._lines[0] and last <= self._lines[-1] and node.parent is not None
        name = _SAME.get(node.type, node.type) if inside else ""
        if node.type in _TUPLES and all(child.type != "," for child in node.children):
            name = ""  # one thing in brackets
        if name:
            yield f"<{name}"
        yield from self._inside(node, depth + 1)
        if name:
            yield ">"

    def _inside(self, node: Node, depth: int) -> Iterator[str]:
        children = [child for child in node.children if not child.is_extra]
        single = node.type in _TUPLES and node.named_child_count == 1
        for child, after in zip(children, [*children[1:], None], strict=True):
            match child.type:
                case "(" | ")" if node.type in _BRACKETED:
                    continue
                case "," if not single and (after is None or after.type in (")", "]", "}")):
                    continue
                case "argument_list" if node.type == "class_definition" and not child.named_child_count:
                    continue
            yield from self.of(child, depth)

    def _is_idle(self, node: Node) -> bool:
        """Stops between statements where a line's end is one, and in Python strings that stand alone."""
        if node.type == ";":
            return self._language == "python" or self._language in _SCRIPTS
        return (
            self._language == "python"
            and node.type == "expression_statement"
            and node.named_child_count == 1
            and node.named_children[0].type in ("string", "concatenated_string")
        )

    def _leaf(self, node: Node) -> Iterator[str]:
        text = _text(node)
        match node.type:
            case "string_start":
                yield _BEGIN + _special(text)
            case "string_end":
                yield _END + _special(_start(node))
            case "string_content" if self._language == "python":
                yield _PIECE + _plain(text, formatted="f" in _start(node).lower())
            case '"' | "'" if self._language in _SCRIPTS:
                yield '"'
            case "string_fragment" | "escape_sequence" if self._language in _SCRIPTS:
                yield _PIECE + _plain(text)
            case kind if kind in _NUMBERS:
                yield text.lower()
            case _ if text.strip():
                yield text


def _start(node: Node) -> str:
    """Return the prefix of the string that `node` is a part of."""
    return _text(node.parent.children[0] if node.parent else node)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def _special(start: str) -> str:
    """What a string's first letters change: u does nothing, and f shows in what it holds."""
    return "".join(sorted(set(start.lower()) & {"b", "r"}))


def _plain(text: str, formatted: bool = False) -> str:
    text = text.replace("\\'", "'").replace('\\"', '"')
    return text.replace("{{", "{").replace("}}", "}") if formatted else text


def _joined(tokens: Iterable[str]) -> list[str]:
    """Join adjacent string pieces into one."""
    kept: list[str] = []
    for token in tokens:
        if kept and token[0] == _BEGIN and kept[-1] == _END + token[1:]:
            kept.pop()
        elif kept and token[0] == _PIECE and kept[-1][0] == _PIECE:
            kept[-1] += token[1:]
        else:
            kept.append(token)
    return kept
