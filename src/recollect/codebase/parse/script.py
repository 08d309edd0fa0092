"""What a file of JavaScript or TypeScript says of itself.

Chains begin with `this` or `super` where the code does. Exports are bindings of the file: `exports.name` to what is
exported under that name, `exports.default` too, and `module.exports` to what stands for the whole file. A function's
`return` is bound to what it returns. A getter is decorated `get`, a namespace `namespace`.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from tree_sitter import Node, Query, QueryCursor, Tree

from recollect.codebase.facts import (
    CLASS,
    FILE,
    FUNCTION,
    UNKNOWN,
    VARIABLE,
    Binding,
    Definition,
    FileFacts,
    Import,
    Reference,
)
from recollect.codebase.parse.comments import Comments
from recollect.codebase.parse.grammars import grammar
from recollect.codebase.parse.spans import Spans

_ASKED = {
    "javascript": ("javascript/facts", "javascript/fields", "javascript/elements"),
    "typescript": ("javascript/facts", "typescript/facts"),
    "tsx": ("javascript/facts", "javascript/elements", "typescript/facts"),
}

_LONGEST_CHAIN = 24
_LONGEST_TEXT = 200

_NAMES = {
    "identifier",
    "type_identifier",
    "property_identifier",
    "private_property_identifier",
    "this",
    "super",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
}
_WRAPPED = {"await_expression", "parenthesized_expression", "non_null_expression"}
_CAST = {"as_expression", "satisfies_expression"}
_MEMBERS = {"member_expression", "nested_identifier", "nested_type_identifier"}
_FUNCTIONS = {"arrow_function", "function_expression", "generator_function"}
_DECLARATIONS = {"lexical_declaration", "variable_declaration", "ambient_declaration"}
# What may stand between a name and the methods of the object it is given.
_BETWEEN = {"object", "pair", "arguments", "call_expression", "spread_element", *_WRAPPED, *_CAST}
_HOLDERS = {"variable_declarator", "assignment_expression", "export_statement"}
_SIGNATURES = {"function_signature", "method_signature"}
_OWN_PROTOTYPE = re.compile(r"^(.+?)(?:\.prototype)?\.([^.]+)$")
_EXPORTS = re.compile(r"^(?:module\.)?exports(?:\.(.+))?$")


def facts(tree: Tree, source: bytes, language: str) -> FileFacts:
    return _Reading(tree.root_node, source, language).facts()


@cache
def _query(language: str) -> Query:
    folder = files("recollect.codebase.parse") / "queries"
    return Query(
        grammar(language), "\n".join((folder / f"{name}.scm").read_text("utf-8") for name in _ASKED[language])
    )


class _Reading:
    """Of one file, once."""

    def __init__(self, root: Node, source: bytes, language: str) -> None:
        self.root = root
        self.source = source
        self.language = language
        captures = QueryCursor(_query(language)).captures(root)
        self.found = {name: sorted(nodes, key=_start) for name, nodes in captures.items()}
        self.comments = Comments(self.found.get("comment", []), source)
        self.definitions: list[Definition] = []
        self.imports: list[Import] = []
        self.bindings: list[Binding] = []
        self.references: list[Reference] = []

    def facts(self) -> FileFacts:
        self.nodes = self._holders()
        self.spans = Spans([(node.start_byte, node.end_byte) for node, _ in self.nodes])
        self.number = self._define()
        self._import()
        self._export()
        self._bind()
        self._refer()
        return FileFacts(
            self.language,
            tuple(self._with_exports()),
            tuple(sorted(self.imports, key=_line)),
            tuple(sorted(self.references, key=_line)),
            tuple(sorted(self.bindings, key=_line)),
            doc=self.comments.of_file(self.root, {found.line - 1 for found in self.definitions}),
            broken=self.root.has_error,
        )

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def chain(self, node: Node | None) -> str:
        """As `Reference` says; "" for what is no chain at all."""
        parts: list[str] = []
        for _ in range(_LONGEST_CHAIN):
            if node is None:
                break
            kind = node.type
            if kind in _NAMES:
                parts.append(self.text(node))
                return "".join(reversed(parts))
            if kind in _MEMBERS:
                name = node.child_by_field_name("property") or node.child_by_field_name("name")
                if name is None:
                    break
                parts.append("." + self.text(name))
                node = node.child_by_field_name("object") or node.child_by_field_name("module")
            elif kind == "call_expression":
                parts.append("()")
                node = node.child_by_field_name("function")
            elif kind == "new_expression":
                parts.append("()")
                node = node.child_by_field_name("constructor")
            elif kind == "subscript_expression":
                parts.append("[]")
                node = node.child_by_field_name("object")
            elif kind == "generic_type":
                node = node.child_by_field_name("name")
            elif kind in _WRAPPED or kind in _CAST or kind == "instantiation_expression":
                node = node.named_children[0] if node.named_child_count else None
            else:
                break
        return "".join(reversed([*parts, UNKNOWN])) if parts else ""

    # What is defined

    def _holders(self) -> list[tuple[Node, str]]:
        """All definitions, in the order of the file: a holder stands before what it holds."""
        seen: dict[tuple[int, int], tuple[Node, str]] = {}
        for capture, kind in (
            ("variable", VARIABLE),
            ("field", VARIABLE),
            ("function", FUNCTION),
            ("class", CLASS),
        ):
            for node in self.found.get(capture, ()):
                if self._counts(node):
                    seen[node.start_byte, node.end_byte] = (node, kind)
        return [seen[span] for span in sorted(seen, key=lambda span: (span[0], -span[1]))]

    def _counts(self, node: Node) -> bool:
        """A method of an object literal counts only if the object has a name or is exported."""
        up = node.parent
        if node.type == "pair" or (
            node.type == "method_definition" and up is not None and up.type == "object"
        ):
            while up is not None and up.type in _BETWEEN:
                up = up.parent
            return up is not None and up.type in _HOLDERS
        return True

    def _define(self) -> dict[int, int]:
        """Fills `definitions`; gives the definition's number for each holder, FILE for those left out."""
        number: dict[int, int] = {FILE: FILE}
        self.named: dict[tuple[int, str], int] = {}
        for place, (node, kind) in enumerate(self.nodes):
            around = number[self.spans.around(place)]
            number[place] = around
            name, scope, exported = self._name(node, around)
            if not name or (node.type in _SIGNATURES and self._has_body(node, name)):
                continue
            definition = self._definition(node, kind, name, scope, exported)
            number[place] = len(self.definitions)
            self.named.setdefault((scope, name), number[place])
            self.definitions.append(definition)
        return number

    def _has_body(self, node: Node, name: str) -> bool:
        """Whether this is only one of the ways to call what is defined below it, or one more of them."""
        up = node.parent
        following = (up if up is not None and up.type == "export_statement" else node).next_named_sibling
        if following is not None and following.type == "export_statement":
            following = following.child_by_field_name("declaration")
        same = following.child_by_field_name("name") if following is not None else None
        return same is not None and self.text(same) == name

    def _name(self, node: Node, around: int) -> tuple[str, int, bool]:
        """What it is called, what it stands in, and whether an `export` stands before it."""
        if node.type == "export_statement":
            value = node.child_by_field_name("value")
            own = (
                value.child_by_field_name("name")
                if value is not None and value.type in _FUNCTIONS | {"class"}
                else None
            )
            return (self.text(own) if own else "default"), around, True
        if node.type == "assignment_expression":
            return self._assigned_name(node, around)
        value = node.child_by_field_name("value")
        if node.type == "variable_declarator" and value is not None and self._required(value):
            return "", around, False  # an import
        name = (
            node.child_by_field_name("name")
            or node.child_by_field_name("property")
            or node.child_by_field_name("key")
        )
        exported = self._after_export(node)
        if name is None:
            return ("default" if exported else ""), around, exported
        if name.type == "computed_property_name":
            return "", around, False
        return self.text(name).strip("\"'`"), around, exported

    def _assigned_name(self, node: Node, around: int) -> tuple[str, int, bool]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        chain = self.chain(left)
        if exports := _EXPORTS.match(chain):
            own = right.child_by_field_name("name") if right is not None else None
            return exports[1] or (self.text(own) if own else "default"), around, True
        parts = _OWN_PROTOTYPE.match(chain)
        if parts is None or "(" in chain or "[" in chain or chain.startswith(UNKNOWN):
            return "", around, False
        owner, name = parts.groups()
        if owner == "this":
            while around != FILE and self.definitions[around].kind != CLASS:
                around = self.definitions[around].scope
            return name, around, False
        known = self.named.get((around, owner), self.named.get((FILE, owner)))
        if known is not None:
            return name, known, False
        return f"{owner}.{name}", around, False

    @staticmethod
    def _after_export(node: Node) -> bool:
        up = node.parent
        if up is not None and up.type in _DECLARATIONS:
            up = up.parent
        return up is not None and up.type == "export_statement"

    def _definition(self, node: Node, kind: str, name: str, scope: int, exported: bool) -> Definition:
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        body = value if value is not None and value.type in _FUNCTIONS | {"class"} else node
        if node.type in ("public_field_definition", "field_definition") and body.type in _FUNCTIONS:
            kind = FUNCTION
        outermost = node
        while outermost.parent is not None and outermost.parent.type in _DECLARATIONS | {
            "export_statement",
            "expression_statement",
        }:
            outermost = outermost.parent
        if node.parent is not None and node.parent.type == "class_body":
            while (above := outermost.prev_named_sibling) is not None and above.type == "decorator":
                outermost = above  # TypeScript's stand beside their method, and are its first lines
        returned = body.child_by_field_name("return_type")
        returns = self._annotation(returned)
        decorators = tuple(self._decorators(node))
        parameters: tuple[tuple[str, str], ...] = ()
        signature = ""
        if kind == FUNCTION:
            shown, parameters = self._parameters(body)
            signature = f"({shown})" + (f": {returns}" if returns else "")
        elif kind == VARIABLE and (typed := self._annotation(node.child_by_field_name("type"))):
            signature = f": {typed}"
        if node.type == "method_definition" and any(child.type == "get" for child in node.children):
            decorators = (*decorators, "get")
        elif node.type == "internal_module":
            decorators = (*decorators, "namespace")
        return Definition(
            name,
            kind,
            outermost.start_point[0] + 1,
            node.end_point[0] + 1,
            scope,
            signature[:_LONGEST_TEXT],
            self.comments.above(outermost.start_point[0]),
            tuple(self._bases(body)) if kind == CLASS else (),
            returns,
            decorators,
            parameters,
            exported or (scope != FILE and not self._is_private(node, name)),
        )

    @staticmethod
    def _is_private(node: Node, name: str) -> bool:
        return name.startswith("#") or any(
            child.type == "accessibility_modifier" and child.text in (b"private", b"protected")
            for child in node.children
        )

    def _bases(self, node: Node) -> Iterator[str]:
        if node.type == "type_alias_declaration":
            value = node.child_by_field_name("value")
            parts = (
                []
                if value is None
                else value.named_children
                if value.type == "intersection_type"
                else [value]
            )
            yield from (chain for part in parts if (chain := self.chain(part)))
            return
        for clause in node.children:
            if clause.type not in ("class_heritage", "extends_type_clause"):
                continue
            inner = [
                child
                for child in clause.named_children
                if child.type in ("extends_clause", "implements_clause")
            ]
            for part in inner or [clause]:
                for base in part.named_children:
                    if base.type != "type_arguments" and (chain := self.chain(base)):
                        yield chain

    def _decorators(self, node: Node) -> Iterator[str]:
        up = node.parent
        beside = up.children if up is not None and up.type == "export_statement" else []
        for child in [*beside, *node.children]:
            if child.type == "decorator" and child.named_child_count:
                yield self.chain(child.named_children[0]).removesuffix("()")
        above = node.prev_named_sibling
        while above is not None and above.type == "decorator" and up is not None and up.type == "class_body":
            if above.named_child_count:
                yield self.chain(above.named_children[0]).removesuffix("()")
            above = above.prev_named_sibling

    def _annotation(self, node: Node | None) -> str:
        if node is None:
            return ""
        return " ".join(self.text(node).lstrip(":").split())[:_LONGEST_TEXT]

    def _parameters(self, function: Node) -> tuple[str, tuple[tuple[str, str], ...]]:
        single = function.child_by_field_name("parameter")
        if single is not None:
            return self.text(single), ((self.text(single), ""),)
        listed = function.child_by_field_name("parameters")
        shown: list[str] = []
        named: list[tuple[str, str]] = []
        for node in listed.named_children if listed is not None else ():
            if node.type == "comment":
                continue
            pattern = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
            annotation = self._annotation(node.child_by_field_name("type"))
            given = node.child_by_field_name("value") or node.child_by_field_name("right")
            name = self._pattern(pattern)
            question = "?" if node.type == "optional_parameter" and given is None else ""
            shown.append(
                name + question + (f": {annotation}" if annotation else "") + ("=…" if given else "")
            )
            named.append((name.removeprefix("..."), annotation))
        return ", ".join(shown), tuple(named)

    def _pattern(self, node: Node) -> str:
        """A parameter as a caller sees it, without the defaults inside it."""
        if node.type == "object_pattern":
            return "{" + ", ".join(key for key, _ in self._taken_apart(node)) + "}"
        if node.type == "array_pattern":
            return "[…]"
        if node.type == "rest_pattern":
            return "..." + (self._pattern(node.named_children[0]) if node.named_child_count else "")
        return self.text(node) if node.type in _NAMES else "…"

    def _taken_apart(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """Each key of an object pattern and the name it is given, "" when that is a pattern again."""
        for child in pattern.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                yield self.text(child), self.text(child)
            elif child.type == "object_assignment_pattern":
                left = child.child_by_field_name("left")
                if left is not None and left.type in _NAMES:
                    yield self.text(left), self.text(left)
            elif child.type == "pair_pattern":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if value is not None and value.type == "assignment_pattern":
                    value = value.child_by_field_name("left")
                if key is not None and key.type in _NAMES:
                    yield (
                        self.text(key),
                        self.text(value) if value is not None and value.type in _NAMES else "",
                    )

    # What comes from elsewhere, and what goes there

    def _import(self) -> None:
        for node in self.found.get("import", ()):
            line = node.start_point[0] + 1
            module = self._string(node.child_by_field_name("source"))
            before = len(self.imports)
            for clause in node.named_children:
                if clause.type == "import_require_clause":
                    module = self._string(clause.child_by_field_name("source"))
                    if clause.named_child_count:
                        self.imports.append(Import(module, "", self.text(clause.named_children[0]), line))
                elif clause.type == "import_clause":
                    for part in clause.named_children:
                        if part.type == "identifier":
                            self.imports.append(Import(module, "default", self.text(part), line))
                        elif part.type == "namespace_import" and part.named_child_count:
                            self.imports.append(Import(module, "", self.text(part.named_children[0]), line))
                        elif part.type == "named_imports":
                            self.imports.extend(
                                Import(module, name, alias, line) for name, alias in self._specifiers(part)
                            )
            if len(self.imports) == before and module:
                self.imports.append(Import(module, line=line))

    def _export(self) -> None:
        for node in self.found.get("export", ()):
            line = node.start_point[0] + 1
            clauses = [
                part for part in node.named_children if part.type in ("export_clause", "namespace_export")
            ]
            value = node.child_by_field_name("value")
            if source := node.child_by_field_name("source"):
                self._export_again(self._string(source), clauses, line)
            elif clauses:
                for name, alias in self._specifiers(clauses[0]):
                    self.bindings.append(Binding(f"exports.{alias or name}", name, False, line))
            elif value is not None:
                self._export_whole("exports.default", value, node)
            elif any(part.type == "default" for part in node.children):
                own = next(
                    (own for part in node.named_children if (own := part.child_by_field_name("name"))), None
                )
                self.bindings.append(
                    Binding("exports.default", self.text(own) if own else "default", False, line)
                )
            elif any(part.type == "=" for part in node.children) and node.named_child_count:
                self._export_whole("module.exports", node.named_children[-1], node)

    def _export_again(self, module: str, clauses: list[Node], line: int) -> None:
        if not clauses:
            self.imports.append(Import(module, "*", line=line, reexport=True))
        for clause in clauses:
            if clause.type == "export_clause":
                for name, alias in self._specifiers(clause):
                    self.imports.append(Import(module, name, alias, line, reexport=True))
            elif clause.named_child_count:
                alias = self.text(clause.named_children[0])
                self.imports.append(Import(module, "", alias, line, reexport=True))

    def _export_whole(self, name: str, value: Node, node: Node) -> None:
        """`node` may be a definition itself; else it exports what `value` names."""
        defined = self._number_of(node)
        chain = self.definitions[defined].name if defined != FILE else self.chain(value)
        if chain:
            self.bindings.append(Binding(name, chain, False, node.start_point[0] + 1))

    def _number_of(self, node: Node) -> int:
        """The definition that this very node is, or FILE."""
        place = self.spans.at(node.start_byte)
        while place != FILE and self.nodes[place][0].id != node.id:
            place = self.spans.around(place)
        return self.number[place] if place != FILE else FILE

    def _specifiers(self, clause: Node) -> Iterator[tuple[str, str]]:
        for part in clause.named_children:
            name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
            if name is not None:
                yield self.text(name).strip("\"'"), self.text(alias).strip("\"'") if alias else ""

    def _string(self, node: Node | None) -> str:
        return (
            self.text(node)[1:-1] if node is not None and node.type in ("string", "template_string") else ""
        )

    def _with_exports(self) -> Iterator[Definition]:
        """A script without exports hides nothing; else a definition of the file is seen when it is exported."""
        listed = {
            binding.value
            for binding in self.bindings
            if binding.name.startswith(("exports.", "module.exports"))
        }
        is_module = listed or any(found.exported for found in self.definitions if found.scope == FILE)
        for found in self.definitions:
            if found.scope == FILE and not found.exported and (not is_module or found.name in listed):
                found = found._replace(exported=True)
            yield found

    # What names are given

    def _bind(self) -> None:
        for node in self.found.get("given", ()):
            self._give(node)
        for node in self.found.get("loop", ()):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            each = any(child.type == "of" for child in node.children)
            chain = self.chain(right)
            if (
                each
                and left is not None
                and left.type == "identifier"
                and chain
                and not chain.startswith(UNKNOWN)
            ):
                self._bound(self.text(left), f"{chain}[]", False, node)
        for node in self.found.get("field", ()):
            self._field(node)
        for node in self.found.get("return", ()):
            self._returned(node.named_children[0])
        for node in self.found.get("result", ()):
            self._returned(node)
        for node in self.found.get("typed", ()):
            pattern, typed = (
                node.child_by_field_name("pattern"),
                self._annotation(node.child_by_field_name("type")),
            )
            scope = self.number[self.spans.at(node.start_byte)]
            if pattern is not None and (
                scope == FILE or (self.text(pattern), typed) not in self.definitions[scope].parameters
            ):
                self._bound(self.text(pattern), typed, True, node)
        for place, (node, kind) in enumerate(self.nodes):
            if kind == FUNCTION and node.type == "method_definition":
                self._parameter_properties(node, self.number[place])

    def _returned(self, node: Node) -> None:
        chain = self.chain(node)
        if chain and not chain.startswith(UNKNOWN):
            self._bound("return", chain, False, node)

    def _bound(self, name: str, value: str, annotated: bool, node: Node) -> None:
        scope = self.number[self.spans.at(node.start_byte)]
        while scope != FILE and self.definitions[scope].kind == VARIABLE:
            scope = self.definitions[scope].scope
        self.bindings.append(Binding(name, value, annotated, node.start_point[0] + 1, scope))

    def _give(self, node: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if name is None:
            return
        if typed := self._annotation(node.child_by_field_name("type")):
            self._bound(self.text(name), typed, True, node)
            return
        if value is None:
            return
        if module := self._required(value):
            self._require(name, *module, node)
            return
        target = self.chain(name) if name.type != "object_pattern" else ""
        if _EXPORTS.match(target):
            self._give_exports(target.removeprefix("module."), value, node)
            return
        if value.type in _CAST and value.named_child_count > 1 and target:
            self._bound(target, self._annotation(value.named_children[-1]), True, node)
            return
        chain = self.chain(value)
        if not chain or chain.startswith(UNKNOWN):
            return
        if name.type == "object_pattern":
            for key, alias in self._taken_apart(name):
                if alias:
                    self._bound(alias, f"{chain}.{key}", False, node)
        elif "." not in target or (target.startswith("this.") and target.count(".") == 1):
            self._bound(target, chain, False, node)

    def _give_exports(self, target: str, value: Node, node: Node) -> None:
        if target == "exports" and value.type == "object":
            for child in value.named_children:
                if child.type == "shorthand_property_identifier":
                    self._bound(f"exports.{self.text(child)}", self.text(child), False, child)
                elif child.type == "pair":
                    key, given = child.child_by_field_name("key"), child.child_by_field_name("value")
                    if key is not None and (chain := self.chain(given)):
                        self._bound(f"exports.{self.text(key)}", chain, False, child)
        self._export_whole("module.exports" if target == "exports" else target, value, node)

    def _required(self, value: Node) -> tuple[str, str] | None:
        """The module and what of it, for `require("m")`, `require("m").name`, `await import("m")`."""
        name = ""
        while value.type in _WRAPPED and value.named_child_count:
            value = value.named_children[0]
        if value.type == "member_expression":
            taken, inner = value.child_by_field_name("property"), value.child_by_field_name("object")
            if taken is None or inner is None:
                return None
            name, value = self.text(taken), inner
        module = self._loaded(value)
        return (module, name) if module else None

    def _loaded(self, call: Node) -> str:
        if call.type != "call_expression":
            return ""
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or not arguments.named_child_count:
            return ""
        loads = function.type == "import" or (
            function.type == "identifier" and self.text(function) == "require"
        )
        return self._string(arguments.named_children[0]) if loads else ""

    def _require(self, target: Node, module: str, name: str, node: Node) -> None:
        line = node.start_point[0] + 1
        scope = self.number[self.spans.at(node.start_byte)]
        if target.type == "object_pattern":
            for key, alias in self._taken_apart(target):
                if alias:
                    self.imports.append(Import(module, key, alias, line, self._outside(scope)))
        elif target.type == "identifier":
            self.imports.append(Import(module, name, self.text(target), line, self._outside(scope)))
        elif exported := _EXPORTS.match(self.chain(target)):
            if exported[1]:
                self.imports.append(Import(module, name, exported[1], line, reexport=True))
            else:
                self.imports.append(Import(module, "*", line=line, reexport=True))

    def _outside(self, scope: int) -> int:
        while scope != FILE and self.definitions[scope].kind == VARIABLE:
            scope = self.definitions[scope].scope
        return scope

    def _field(self, node: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        value = node.child_by_field_name("value")
        if name is None or name.type == "computed_property_name":
            return
        typed = self._annotation(node.child_by_field_name("type"))
        chain = typed or self.chain(value)
        if chain:
            defined = self._number_of(node)
            scope = self.definitions[defined].scope if defined != FILE else FILE
            self.bindings.append(
                Binding(f"this.{self.text(name)}", chain, bool(typed), node.start_point[0] + 1, scope)
            )

    def _parameter_properties(self, method: Node, number: int) -> None:
        listed = method.child_by_field_name("parameters")
        for node in listed.named_children if listed is not None else ():
            if any(child.type in ("accessibility_modifier", "readonly") for child in node.children):
                pattern = node.child_by_field_name("pattern")
                typed = self._annotation(node.child_by_field_name("type"))
                if pattern is not None and typed and number != FILE:
                    line, scope = node.start_point[0] + 1, self.definitions[number].scope
                    self.bindings.append(Binding(f"this.{self.text(pattern)}", typed, True, line, scope))

    # What is used

    def _refer(self) -> None:
        called: set[int] = set()
        imported = {found.module for found in self.imports}
        for node in self.found.get("call", ()):
            function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
            if function is None:
                continue
            called.add(function.start_byte)
            if module := self._loaded(node):
                if module not in imported:
                    imported.add(module)
                    scope = self._outside(self.number[self.spans.at(node.start_byte)])
                    self.imports.append(Import(module, line=node.start_point[0] + 1, scope=scope))
            elif chain := self.chain(function):
                self._referred(chain, "calls", function)
        for node in self.found.get("element", ()):
            name = node.child_by_field_name("name")
            if name is not None and (chain := self.chain(name)) and ("." in chain or chain[0].isupper()):
                called.add(name.start_byte)
                self._referred(chain, "calls", node)
        for node in self.found.get("decorator", ()):
            called.add(node.start_byte)
            self._referred(self.chain(node), "calls", node)
        self._use(called)

    def _referred(self, chain: str, kind: str, node: Node) -> None:
        if chain[-1] in ")]?":
            return
        scope = self._outside(self.number[self.spans.at(node.start_byte)])
        self.references.append(Reference(chain, kind, node.start_point[0] + 1, scope))

    def _use(self, called: set[int]) -> None:
        """Of all names only those that mean something of this file or an import: the rest are locals."""
        known = {found.name.encode() for found in self.definitions if found.scope == FILE}
        known |= {(found.alias or found.name).encode() for found in self.imports if found.name != "*"}
        once: set[tuple[str, int]] = set()
        source = self.source
        for node in self.found.get("use", ()):
            start = node.start_byte
            if source[start : node.end_byte] not in known or start in called:
                continue
            up = node.parent
            if up is None or up.type in _NAMING:
                continue
            if up.child_by_field_name("name") == node or up.child_by_field_name("left") == node:
                continue
            while up is not None and up.type in _MEMBERS and up.start_byte == start:
                node, up = up, up.parent
            chain = self.chain(node)
            scope = self._outside(self.number[self.spans.at(start)])
            if (chain, scope) not in once:
                once.add((chain, scope))
                self.references.append(Reference(chain, "uses", node.start_point[0] + 1, scope))


def _line(said: Import | Reference | Binding) -> int:
    return said.line


def _start(node: Node) -> int:
    return node.start_byte


_NAMING = {
    "import_require_clause",
    "namespace_export",
    "object_pattern",
    "array_pattern",
    "pair_pattern",
    "import_specifier",
    "import_clause",
    "namespace_import",
    "export_specifier",
    "formal_parameters",
    "required_parameter",
    "optional_parameter",
    "rest_pattern",
    "type_parameter",
}
