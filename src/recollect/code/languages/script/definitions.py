"""What a file defines, under which names and signatures, and which definition contains which."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from recollect.code.facts import CLASS, FILE, FUNCTION, UNKNOWN, VARIABLE, Definition
from recollect.code.languages.script.nodes import CAST, EXPORTS, LONGEST_TEXT, NAMES, WRAPPED, SyntaxNodes
from recollect.code.languages.syntax import Comments, Spans

_FUNCTIONS = {"arrow_function", "function_expression", "generator_function"}
_VALUES = _FUNCTIONS | {"class"}
_DECLARATIONS = {"lexical_declaration", "variable_declaration", "ambient_declaration"}
_STATEMENTS = _DECLARATIONS | {"export_statement", "expression_statement"}
# What may be between a name and the methods of the object that it is bound to.
_BETWEEN = {"object", "pair", "arguments", "call_expression", "spread_element", *WRAPPED, *CAST}
_HOLDERS = {"variable_declarator", "assignment_expression", "export_statement"}
_SIGNATURES = {"function_signature", "method_signature"}
_OWN_PROTOTYPE = re.compile(r"^(.+?)(?:\.prototype)?\.([^.]+)$")


class Definitions:
    """The definitions of a file, numbered in its order."""

    def __init__(self, source: SyntaxNodes, comments: Comments) -> None:
        self.found: list[Definition] = []
        self.nodes = _holders(source)
        self._source = source
        self._comments = comments
        self._spans = Spans([(node.start_byte, node.end_byte) for node, _ in self.nodes])
        self._numbers = {
            FILE: FILE
        }  # the number for each of `nodes`; for those left out, the number of what contains them
        self._named: dict[tuple[int, str], int] = {}
        for place, (node, kind) in enumerate(self.nodes):
            self._define(place, node, kind)

    def at(self, byte: int) -> int:
        """Return the number of the innermost definition at a byte, or `FILE`."""
        return self._numbers[self._spans.at(byte)]

    def scope_at(self, byte: int) -> int:
        """Return the innermost definition that has names of its own, or `FILE`: a variable has none."""
        scope = self.at(byte)
        while scope != FILE and self.found[scope].kind == VARIABLE:
            scope = self.found[scope].scope
        return scope

    def number_of(self, node: Node) -> int:
        """Return the number of the definition that this very node is, or `FILE`."""
        place = self._spans.at(node.start_byte)
        while place != FILE and self.nodes[place][0].id != node.id:
            place = self._spans.around(place)
        return self._numbers[place]

    def _define(self, place: int, node: Node, kind: str) -> None:
        around = self._numbers[self._spans.around(place)]
        name, scope, exported = self._name(node, around)
        if not name or (node.type in _SIGNATURES and self._has_body(node, name)):
            self._numbers[place] = around
            return
        number = self._numbers[place] = len(self.found)
        self._named.setdefault((scope, name), number)
        self.found.append(self._definition(node, kind, name, scope, exported))

    def _has_body(self, node: Node, name: str) -> bool:
        """Return whether it has a body of its own, or is the only signature: overloads are left out."""
        up = node.parent
        following = (up if up is not None and up.type == "export_statement" else node).next_named_sibling
        if following is not None and following.type == "export_statement":
            following = following.child_by_field_name("declaration")
        same = following.child_by_field_name("name") if following is not None else None
        return same is not None and self._source.text(same) == name

    def _name(self, node: Node, around: int) -> tuple[str, int, bool]:
        """Return its name, the definition around it, and whether an `export` precedes it."""
        text = self._source.text
        value = node.child_by_field_name("value")
        if node.type == "export_statement":
            own = value.child_by_field_name("name") if value is not None and value.type in _VALUES else None
            return (text(own) if own else "default"), around, True
        if node.type == "assignment_expression":
            return self._assigned_name(node, around)
        if node.type == "variable_declarator" and value is not None and self._source.required(value):
            return "", around, False  # an import
        name = (
            node.child_by_field_name("name")
            or node.child_by_field_name("property")
            or node.child_by_field_name("key")
        )
        exported = _after_export(node)
        if name is None:
            return ("default" if exported else ""), around, exported
        if name.type == "computed_property_name":
            return "", around, False
        return text(name).strip("\"'`"), around, exported

    def _assigned_name(self, node: Node, around: int) -> tuple[str, int, bool]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        chain = self._source.chain(left)
        if exports := EXPORTS.match(chain):
            own = right.child_by_field_name("name") if right is not None else None
            return exports[1] or (self._source.text(own) if own else "default"), around, True
        parts = _OWN_PROTOTYPE.match(chain)
        if parts is None or "(" in chain or "[" in chain or chain.startswith(UNKNOWN):
            return "", around, False
        owner, name = parts.groups()
        if owner == "this":
            while around != FILE and self.found[around].kind != CLASS:
                around = self.found[around].scope
            return name, around, False
        known = self._named.get((around, owner), self._named.get((FILE, owner)))
        if known is not None:
            return name, known, False
        return f"{owner}.{name}", around, False

    def _definition(self, node: Node, kind: str, name: str, scope: int, exported: bool) -> Definition:
        source = self._source
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        body = value if value is not None and value.type in _VALUES else node
        if node.type in ("public_field_definition", "field_definition") and body.type in _FUNCTIONS:
            kind = FUNCTION
        first_row = _outermost(node).start_point[0]
        returns = source.annotation(body.child_by_field_name("return_type"))
        parameters: tuple[tuple[str, str], ...] = ()
        signature = ""
        if kind == FUNCTION:
            shown, parameters = parameters_of(source, body)
            signature = f"({shown})" + (f": {returns}" if returns else "")
        elif kind == VARIABLE and (typed := source.annotation(node.child_by_field_name("type"))):
            signature = f": {typed}"
        return Definition(
            name,
            kind,
            first_row + 1,
            node.end_point[0] + 1,
            scope,
            signature[:LONGEST_TEXT],
            self._comments.above(first_row),
            tuple(bases_of(source, body)) if kind == CLASS else (),
            returns,
            tuple(decorators_of(source, node)),
            parameters,
            exported or (scope != FILE and not _is_private(node, name)),
        )


def _holders(source: SyntaxNodes) -> list[tuple[Node, str]]:
    """Return all definitions in the order of the file: each comes before what it contains."""
    seen: dict[tuple[int, int], tuple[Node, str]] = {}
    for capture, kind in (
        ("variable", VARIABLE),
        ("field", VARIABLE),
        ("function", FUNCTION),
        ("class", CLASS),
    ):
        for node in source.nodes(capture):
            if _counts(node):
                seen[node.start_byte, node.end_byte] = (node, kind)
    return [seen[span] for span in sorted(seen, key=lambda span: (span[0], -span[1]))]


def _counts(node: Node) -> bool:
    """Return whether it is a definition: a method of an object literal only if the object has a name or is exported."""
    up = node.parent
    if node.type == "pair" or (node.type == "method_definition" and up is not None and up.type == "object"):
        while up is not None and up.type in _BETWEEN:
            up = up.parent
        return up is not None and up.type in _HOLDERS
    return True


def _after_export(node: Node) -> bool:
    up = node.parent
    if up is not None and up.type in _DECLARATIONS:
        up = up.parent
    return up is not None and up.type == "export_statement"


def _outermost(node: Node) -> Node:
    """Return the node with its first line."""
    outermost = node
    while outermost.parent is not None and outermost.parent.type in _STATEMENTS:
        outermost = outermost.parent
    if node.parent is not None and node.parent.type == "class_body":
        while (above := outermost.prev_named_sibling) is not None and above.type == "decorator":
            outermost = above  # TypeScript's decorators are beside their method, and count as its first lines
    return outermost


def _is_private(node: Node, name: str) -> bool:
    return name.startswith("#") or any(
        child.type == "accessibility_modifier" and child.text in (b"private", b"protected")
        for child in node.children
    )


def parameters_of(source: SyntaxNodes, function: Node) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the parameters as shown, and each with its annotation."""
    single = function.child_by_field_name("parameter")
    if single is not None:
        return source.text(single), ((source.text(single), ""),)
    listed = function.child_by_field_name("parameters")
    shown: list[str] = []
    named: list[tuple[str, str]] = []
    for node in listed.named_children if listed is not None else ():
        if node.type == "comment":
            continue
        pattern = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
        annotation = source.annotation(node.child_by_field_name("type"))
        given = node.child_by_field_name("value") or node.child_by_field_name("right")
        name = _pattern(source, pattern)
        question = "?" if node.type == "optional_parameter" and given is None else ""
        shown.append(name + question + (f": {annotation}" if annotation else "") + ("=…" if given else ""))
        named.append((name.removeprefix("..."), annotation))
    return ", ".join(shown), tuple(named)


def _pattern(source: SyntaxNodes, node: Node) -> str:
    """Return a parameter as a caller sees it, without the defaults inside."""
    if node.type == "object_pattern":
        return "{" + ", ".join(key for key, _ in source.taken_apart(node)) + "}"
    if node.type == "array_pattern":
        return "[…]"
    if node.type == "rest_pattern":
        return "..." + (_pattern(source, node.named_children[0]) if node.named_child_count else "")
    return source.text(node) if node.type in NAMES else "…"


def bases_of(source: SyntaxNodes, node: Node) -> Iterator[str]:
    """Yield the bases, as chains, of a class, an interface, or a type made of others."""
    if node.type == "type_alias_declaration":
        value = node.child_by_field_name("value")
        parts = (
            [] if value is None else value.named_children if value.type == "intersection_type" else [value]
        )
        yield from (chain for part in parts if (chain := source.chain(part)))
        return
    for clause in node.children:
        if clause.type not in ("class_heritage", "extends_type_clause"):
            continue
        inner = [
            child for child in clause.named_children if child.type in ("extends_clause", "implements_clause")
        ]
        for part in inner or [clause]:
            for base in part.named_children:
                if base.type != "type_arguments" and (chain := source.chain(base)):
                    yield chain


def decorators_of(source: SyntaxNodes, node: Node) -> Iterator[str]:
    """Yield the decorators, as chains; `get` or `namespace` for what these keywords mark; `type` for another name of a type."""
    if node.type == "type_alias_declaration":
        value = node.child_by_field_name("value")
        yield from ("type",) if value is not None and value.type != "intersection_type" else ()
    up = node.parent
    beside = up.children if up is not None and up.type == "export_statement" else []
    for child in [*beside, *node.children]:
        if child.type == "decorator" and child.named_child_count:
            yield source.chain(child.named_children[0]).removesuffix("()")
    above = node.prev_named_sibling
    while above is not None and above.type == "decorator" and up is not None and up.type == "class_body":
        if above.named_child_count:
            yield source.chain(above.named_children[0]).removesuffix("()")
        above = above.prev_named_sibling
    if node.type == "method_definition" and any(child.type == "get" for child in node.children):
        yield "get"
    elif node.type == "internal_module":
        yield "namespace"
