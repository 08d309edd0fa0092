"""The syntax nodes of one file, and how to read them."""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from tree_sitter import Node, QueryCursor

from recollect.code.facts import UNKNOWN
from recollect.code.languages.parser import query

LONGEST_TEXT = 200

WRAPPED = {"await_expression", "parenthesized_expression", "non_null_expression"}
CAST = {"as_expression", "satisfies_expression"}
MEMBERS = {"member_expression", "nested_identifier", "nested_type_identifier"}
NAMES = {
    "identifier",
    "type_identifier",
    "property_identifier",
    "private_property_identifier",
    "this",
    "super",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
}
# The exported name in a chain; none if the whole file is exported.
EXPORTS = re.compile(r"^(?:module\.)?exports(?:\.(.+))?$")

_LONGEST_CHAIN = 24
_LOADERS = {b"import", b"require"}
_span = attrgetter("byte_range")


class SyntaxNodes:
    """The captured nodes of one file."""

    def __init__(self, root: Node, source: bytes, language: str) -> None:
        self.source = source
        captures = QueryCursor(query(language)).captures(root)  # each a set, in another order each time
        self._nodes = {name: sorted(found, key=_span) for name, found in captures.items()}

    def nodes(self, capture: str) -> Sequence[Node]:
        """Return them in the order of the file; of those with the same start the innermost first, as code runs."""
        return self._nodes.get(capture, ())

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def chain(self, node: Node | None) -> str:
        """Return the chain of an expression (see `Reference`); "" if it is none."""
        tail = ""
        for _ in range(_LONGEST_CHAIN):
            if node is None:
                break
            kind = node.type
            if kind in NAMES:
                return self.text(node) + tail
            if kind in MEMBERS:
                name = node.child_by_field_name("property") or node.child_by_field_name("name")
                if name is None:
                    break
                tail = f".{self.text(name)}{tail}"
                node = node.child_by_field_name("object") or node.child_by_field_name("module")
            elif kind == "call_expression":
                tail = "()" + tail
                node = node.child_by_field_name("function")
            elif kind == "new_expression":
                tail = "()" + tail
                node = node.child_by_field_name("constructor")
            elif kind == "subscript_expression":
                tail = "[]" + tail
                node = node.child_by_field_name("object")
            elif kind == "generic_type":
                node = node.child_by_field_name("name")
            elif kind in WRAPPED or kind in CAST or kind == "instantiation_expression":
                node = node.named_children[0] if node.named_child_count else None
            else:
                break
        return UNKNOWN + tail if tail else ""

    def known_chain(self, node: Node | None) -> str:
        """Return the chain if its head can be resolved; else ""."""
        chain = self.chain(node)
        return "" if chain.startswith(UNKNOWN) else chain

    def annotation(self, node: Node | None) -> str:
        if node is None:
            return ""
        return " ".join(self.text(node).lstrip(":").split())[:LONGEST_TEXT]

    def string(self, node: Node | None) -> str:
        return (
            self.text(node)[1:-1] if node is not None and node.type in ("string", "template_string") else ""
        )

    def specifiers(self, clause: Node) -> Iterator[tuple[str, str]]:
        """Yield each name between the braces of an import or export, and its alias or ""."""
        for part in clause.named_children:
            name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
            if name is not None:
                yield self.text(name).strip("\"'"), self.text(alias).strip("\"'") if alias else ""

    def taken_apart(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """Yield each key of an object pattern and the name bound to it, or "" if that is a pattern again."""
        for child in pattern.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                yield self.text(child), self.text(child)
            elif child.type == "object_assignment_pattern":
                left = child.child_by_field_name("left")
                if left is not None and left.type in NAMES:
                    yield self.text(left), self.text(left)
            elif child.type == "pair_pattern":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if value is not None and value.type == "assignment_pattern":
                    value = value.child_by_field_name("left")
                if key is not None and key.type in NAMES:
                    yield (
                        self.text(key),
                        self.text(value) if value is not None and value.type in NAMES else "",
                    )

    def required(self, value: Node) -> tuple[str, str] | None:
        """Return the module and the imported name for `require("m")`, `require("m").name`, `await import("m")`."""
        name = ""
        while value.type in WRAPPED and value.named_child_count:
            value = value.named_children[0]
        if value.type == "member_expression":
            taken, inner = value.child_by_field_name("property"), value.child_by_field_name("object")
            if taken is None or inner is None:
                return None
            name, value = self.text(taken), inner
        module = self.loaded(value)
        return (module, name) if module else None

    def loaded(self, call: Node) -> str:
        """Return the module that this call loads, or ""."""
        if call.type != "call_expression":
            return ""
        function = call.child_by_field_name("function")
        if function is None or self.source[function.start_byte : function.end_byte] not in _LOADERS:
            return ""
        arguments = call.child_by_field_name("arguments")
        if arguments is None or not arguments.named_child_count:
            return ""
        return self.string(arguments.named_children[0])
