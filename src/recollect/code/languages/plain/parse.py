"""Turn the captures of a query into facts.

All queries use the same captures:

- `@function`, `@class` and `@variable` are definitions. Each has a `@name`, and may have `@parameters`, `@returns`, and
  `@within`: the class it belongs to if it is defined outside of it.
- `@again` is another part of the class `@name`.
- `@base` is a base of the class around it.
- `@call` is what is called, on a `@receiver` if there is one.
- `@named` is a class that is named otherwise, as by an annotation.
- `@given` is a name with a `@type` or a `@value`; `@field` is one that belongs to the class around it.
- `@import` and `@package` are statements; the language's `read_imports` reads the first.
- `@comment` and `@attribute` may stand above a definition.

A member of a class in another file is named `Server.run`. The package is a binding named `package`.
"""

import re

from tree_sitter import Node, QueryCursor, Tree

from recollect.code.facts import (
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
from recollect.code.languages.parser import query
from recollect.code.languages.syntax import Comments, Spans, chain_of
from recollect.code.languages.table import LANGUAGES
from recollect.code.nodes import CALLS, REFERENCES

PACKAGE = "package"

_ROLES = {"function": FUNCTION, "class": CLASS, "variable": VARIABLE, "again": ""}
_LONGEST = 200
_SHELLS = {
    "type_declaration",
    "const_declaration",
    "var_declaration",
    "template_declaration",
    "declaration_command",
}
_ALIASES = {"alias_declaration", "type_definition"}
_PRIMITIVE = re.compile(r"primitive|predefined|integral|floating|void|boolean_type|implicit")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_NAME = re.compile(r"[\w$~?!=<>+\-*/%&|^\[\]@.` ]+").fullmatch

_ENDS_IN_NAME = re.compile(r"[\w$][?!]?$").search

_SHOWS_ITS_MEMBERS = {"trait_item", "interface_declaration"}


def facts(tree: Tree, source: bytes, language: str) -> FileFacts:
    return _PlainReader(tree.root_node, source, language).facts()


class _PlainReader:
    """One file, read once."""

    def __init__(self, root: Node, source: bytes, language: str) -> None:
        self.root = root
        self.source = source
        self.language = LANGUAGES[language]
        self.definitions: list[Definition] = []
        self.references: list[Reference] = []
        self.bindings: list[Binding] = []
        self.imports: list[Import] = []
        comments: list[Node] = []
        attributes: list[Node] = []
        self.defined: dict[int, dict[str, Node]] = {}  # by the first byte of the name
        self.others: list[dict[str, Node]] = []
        for _, captured in QueryCursor(query(language)).matches(root):
            found = {name: nodes[0] for name, nodes in captured.items()}
            if "comment" in found:
                comments.append(found["comment"])
            elif "attribute" in found:
                attributes.append(found["attribute"])
            elif "name" in found:
                known = self.defined.setdefault(found["name"].start_byte, {})
                known.update(found)
            else:
                self.others.append(found)
        self.comments = Comments(comments, source)
        self.attributes = {
            node.end_point[0]: node.start_point[0] for node in attributes if self._begins_line(node)
        }

    def facts(self) -> FileFacts:
        self._define()
        for found in self.others:
            if "base" in found:
                self._base(found["base"])
            elif "import" in found:
                self._import(found["import"])
            elif "package" in found:
                package = chain_of(self.text(found["package"]))
                self.bindings.append(Binding(PACKAGE, package, False, found["package"].start_point[0] + 1))
            elif "call" in found:
                self._call(found["call"], found.get("receiver"))
            elif "named" in found:
                self._call(found["named"], None, REFERENCES)
            else:
                self._give(found)
        return FileFacts(
            self.language.name,
            tuple(self.definitions),
            tuple(self.imports),
            tuple(self.references),
            tuple(dict.fromkeys(self.bindings)),
            doc=self.comments.of_file(self.root, {found.line - 1 for found in self.definitions}),
            broken=self.root.has_error,
        )

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _begins_line(self, node: Node) -> bool:
        start = node.start_byte
        return not self.source[self.source.rfind(b"\n", 0, start) + 1 : start].strip()

    def scope_at(self, byte: int) -> int:
        return self.number[self.spans.at(byte)]

    # Definitions

    def _define(self) -> None:
        listed = []
        for found in self.defined.values():
            role = next(role for role in _ROLES if role in found)
            node = found[role]
            listed.append((node.start_byte, -node.end_byte, found["name"].start_byte, role, found))
        listed.sort(key=lambda row: row[:3])
        # Variables contain nothing: of several in one statement, none may contain the others.
        holders = [(start, -end) for start, end, _, role, _ in listed if role != "variable"]
        self.spans = Spans(holders)
        self.number: dict[int, int] = {FILE: FILE}
        self.classes: dict[tuple[int, str], int] = {}
        self.reopened: dict[int, str] = {}
        place = FILE
        for _, _, named, role, found in listed:
            if role == "variable":
                around = self.spans.at(named)
            else:
                place += 1
                around = self.spans.around(place)
            scope = self.number.get(around, FILE)
            name, within = self._name(found)
            if role == "again":
                self.number[place] = self.classes.get((scope, name), scope)
                if self.number[place] == scope:
                    self.reopened[place] = name
                continue
            if role != "variable":
                self.number[place] = scope
            within = within or self.reopened.get(around, "")
            is_local = scope != FILE and self.definitions[scope].kind == FUNCTION
            if not name or (is_local and (role == "variable" or found[role].type in _ALIASES)):
                continue
            if within:
                owner = self.classes.get((scope, within))
                scope, name = (owner, name) if owner is not None else (scope, f"{within}.{name}")
            if role == "class":
                self.classes.setdefault((scope, name), len(self.definitions))
            if role != "variable":
                self.number[place] = len(self.definitions)
            self.definitions.append(self._definition(found, _ROLES[role], name, scope))
        if self.language.has_private_sections:
            self._hide_private()

    def _name(self, found: dict[str, Node]) -> tuple[str, str]:
        """Return the name of a definition, and its class if it is defined outside of it."""
        text = self.text(found["name"]).strip("`'\"")
        within = (
            chain_of(self.text(found["within"])).removesuffix("[]").rpartition(".")[2]
            if "within" in found
            else ""
        )
        if not _NAME(text) or len(text) > 100:
            chain = chain_of(text)
            text = "" if UNKNOWN in chain else chain
        if "again" in found or self.language.has_qualified_names:
            if "operator" in text:
                return text[text.index("operator") :], within
            before, _, text = chain_of((text.split() or [""])[-1]).rpartition(".")
            within = within or before.rpartition(".")[2]
        return text.strip(), within

    def _definition(self, found: dict[str, Node], kind: str, name: str, scope: int) -> Definition:
        node = next(found[role] for role in _ROLES if role in found)
        top = node
        while top.parent is not None and top.parent.type in _SHELLS and top.parent.named_child_count <= 2:
            top = top.parent
        row = top.start_point[0]
        while row - 1 in self.attributes:
            row = self.attributes[row - 1]
        returns = self._line(found["returns"]) if "returns" in found else ""
        signature = self._signature(found["parameters"]) if "parameters" in found else ""
        if kind == FUNCTION:
            signature = (signature or "()") + (f" -> {returns.removeprefix(':').strip()}" if returns else "")
        return Definition(
            name,
            kind,
            row + 1,
            node.end_point[0] + (1 if node.end_point[1] else 0),
            scope,
            signature[:_LONGEST],
            self.comments.above(row),
            returns=returns.removeprefix(":").strip(),
            decorators=("namespace",) if node.type == "mod_item" else (),
            exported=self._is_exported(node, found["name"], name, kind),
        )

    def _is_exported(self, node: Node, name_node: Node, name: str, kind: str) -> bool:
        language = self.language
        before = self.source[node.start_byte : name_node.start_byte]
        if language.exports_capitalised:
            return name.rpartition(".")[2][:1].isupper()
        if language.hidden_after:
            return not re.search(language.hidden_after, before)
        if language.exported_after and not (language.exports_all_classes and kind == CLASS):
            holder = node.parent.parent if node.parent is not None else None
            is_shown = holder is not None and (
                holder.type in _SHOWS_ITS_MEMBERS
                or (holder.type == "impl_item" and holder.child_by_field_name("trait") is not None)
            )
            return is_shown or bool(re.search(language.exported_after, before))
        return True

    def _hide_private(self) -> None:
        """Mark methods after a line `private` or `protected` as not exported."""
        since: dict[int, int] = {}
        for found in self.others:
            call = found.get("call")
            if call is not None and "receiver" not in found and call.text in (b"private", b"protected"):
                since.setdefault(self.scope_at(call.start_byte), call.start_point[0] + 1)
        for number, found_definition in enumerate(self.definitions):
            if found_definition.kind == FUNCTION and found_definition.line > since.get(
                found_definition.scope, 1 << 30
            ):
                self.definitions[number] = found_definition._replace(exported=False)

    def _line(self, node: Node) -> str:
        return " ".join(self.text(node).split())[:_LONGEST]

    def _signature(self, parameters: Node) -> str:
        """Return parameters as written, without their defaults."""
        cuts: list[tuple[int, int]] = []
        for node in (parameters, *parameters.named_children):
            children = node.children
            for place, child in enumerate(children):
                if child.type in ("=", "equals_value_clause"):
                    end = (
                        node.end_byte
                        if node != parameters or place + 1 >= len(children)
                        else children[place + 1].end_byte
                    )
                    cuts.append((child.start_byte, end))
            value = node.child_by_field_name("value")
            if value is not None and node != parameters:
                cuts.append((value.start_byte, value.end_byte))
        text_bytes, at = b"", parameters.start_byte
        for start, end in sorted(cuts):
            if start >= at:
                is_given = self.source[start : start + 1] == b"="
                text_bytes += self.source[at:start].rstrip() + ("=…" if is_given else " …").encode()
                at = end
        text = (text_bytes + self.source[at : parameters.end_byte]).decode("utf-8", "replace")
        text = _STRING.sub("…", " ".join(text.split()))
        return text if text.startswith("(") else f"({text})"

    def _base(self, node: Node) -> None:
        scope = self.scope_at(node.start_byte)
        chain = chain_of(self.text(node)).removesuffix("()")
        if scope != FILE and self.definitions[scope].kind == CLASS and chain and UNKNOWN not in chain:
            known = self.definitions[scope]
            if chain not in known.bases:
                self.definitions[scope] = known._replace(bases=(*known.bases, chain))

    # Uses

    def _import(self, node: Node) -> None:
        line, scope = node.start_point[0] + 1, self.scope_at(node.start_byte)
        for entry in self.language.read_imports(self.text(node)) if self.language.read_imports else ():
            self.imports.append(entry._replace(line=line, scope=scope))

    def _call(self, node: Node, receiver: Node | None, kind: str = CALLS) -> None:
        chain = chain_of(self.text(node))
        if receiver is not None:
            before = chain_of(self.text(receiver)) or UNKNOWN
            chain = f"{before}.{chain}"
        if _ENDS_IN_NAME(chain):
            self.references.append(
                Reference(chain, kind, node.start_point[0] + 1, self.scope_at(node.start_byte))
            )

    def _give(self, found: dict[str, Node]) -> None:
        node = found.get("given") or found.get("field")
        typed, value = found.get("type"), found.get("value")
        if node is None or (typed is not None and _PRIMITIVE.search(typed.type)):
            return
        name = self.text(node)
        value_text = (
            self._line(typed)
            if typed is not None
            else chain_of(self.text(value))
            if value is not None
            else ""
        )
        if not value_text or value_text == "var" or (typed is None and UNKNOWN in value_text):
            return
        scope = self.scope_at(node.start_byte)
        if "field" in found or name.startswith("@"):
            while scope != FILE and self.definitions[scope].kind != CLASS:
                scope = self.definitions[scope].scope
        self.bindings.append(Binding(name, value_text, typed is not None, node.start_point[0] + 1, scope))
