"""What names are bound to: by assignment, annotation, fields, loops, `return`, and the exports of the file."""

from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from recollect.code.facts import FILE, FUNCTION, RETURNED, Binding, Definition
from recollect.code.languages.script.definitions import Definitions
from recollect.code.languages.script.nodes import CAST, EXPORTS, SyntaxNodes


def bindings_of(source: SyntaxNodes, definitions: Definitions) -> Iterator[Binding]:
    return _Values(source, definitions).all()


class _Values:
    def __init__(self, source: SyntaxNodes, definitions: Definitions) -> None:
        self.source = source
        self.definitions = definitions

    def all(self) -> Iterator[Binding]:
        for node in self.source.nodes("given"):
            yield from self._given(node)
        for node in self.source.nodes("loop"):
            yield from self._looped(node)
        for node in self.source.nodes("field"):
            yield from self._field(node)
        for node in self.source.nodes("return"):
            yield from self._returned(node.named_children[0])
        for node in self.source.nodes("result"):
            yield from self._returned(node)
        for node in self.source.nodes("typed"):
            yield from self._typed(node)
        for node, kind in self.definitions.nodes:
            if kind == FUNCTION and node.type == "method_definition":
                yield from self._parameter_properties(node)

    def _bound(self, name: str, value: str, annotated: bool, node: Node) -> Binding:
        scope = self.definitions.scope_at(node.start_byte)
        return Binding(name, value, annotated, node.start_point[0] + 1, scope)

    def _given(self, node: Node) -> Iterator[Binding]:
        source = self.source
        name = node.child_by_field_name("name") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if name is None:
            return
        if typed := source.annotation(node.child_by_field_name("type")):
            yield self._bound(source.text(name), typed, True, node)
            return
        if value is None or source.required(value):
            return
        target = source.chain(name) if name.type != "object_pattern" else ""
        if EXPORTS.match(target):
            yield from exports_given(target, value, node, source, self.definitions)
            return
        if value.type in CAST and value.named_child_count > 1 and target:
            yield self._bound(target, source.annotation(value.named_children[-1]), True, node)
            return
        chain = source.known_chain(value)
        if not chain:
            return
        if name.type == "object_pattern":
            for key, alias in source.taken_apart(name):
                if alias:
                    yield self._bound(alias, f"{chain}.{key}", False, node)
        elif "." not in target or (target.startswith("this.") and target.count(".") == 1):
            yield self._bound(target, chain, False, node)

    def _looped(self, node: Node) -> Iterator[Binding]:
        left = node.child_by_field_name("left")
        if left is None or left.type != "identifier" or all(child.type != "of" for child in node.children):
            return
        if chain := self.source.known_chain(node.child_by_field_name("right")):
            yield self._bound(self.source.text(left), f"{chain}[]", False, node)

    def _field(self, node: Node) -> Iterator[Binding]:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None or name.type == "computed_property_name":
            return
        typed = self.source.annotation(node.child_by_field_name("type"))
        if chain := typed or self.source.chain(node.child_by_field_name("value")):
            number = self.definitions.number_of(node)
            scope = self.definitions.found[number].scope if number != FILE else FILE
            line = node.start_point[0] + 1
            yield Binding(f"this.{self.source.text(name)}", chain, bool(typed), line, scope)

    def _returned(self, node: Node) -> Iterator[Binding]:
        if chain := self.source.known_chain(node):
            yield self._bound(RETURNED, chain, False, node)

    def _typed(self, node: Node) -> Iterator[Binding]:
        """Yield the binding of a typed name, unless it is a parameter of a definition, which has it already."""
        pattern = node.child_by_field_name("pattern")
        if pattern is None:
            return
        name, typed = self.source.text(pattern), self.source.annotation(node.child_by_field_name("type"))
        number = self.definitions.at(node.start_byte)
        if number == FILE or (name, typed) not in self.definitions.found[number].parameters:
            yield self._bound(name, typed, True, node)

    def _parameter_properties(self, method: Node) -> Iterator[Binding]:
        number = self.definitions.number_of(method)
        listed = method.child_by_field_name("parameters")
        for node in listed.named_children if listed is not None else ():
            if any(child.type in ("accessibility_modifier", "readonly") for child in node.children):
                pattern = node.child_by_field_name("pattern")
                typed = self.source.annotation(node.child_by_field_name("type"))
                if pattern is not None and typed and number != FILE:
                    line, scope = node.start_point[0] + 1, self.definitions.found[number].scope
                    yield Binding(f"this.{self.source.text(pattern)}", typed, True, line, scope)


def exports_of(source: SyntaxNodes, definitions: Definitions) -> Iterator[Binding]:
    """Yield what its `export` statements export, except re-exports."""
    for node in source.nodes("export"):
        if node.child_by_field_name("source") is not None:
            continue
        line = node.start_point[0] + 1
        clause = next((part for part in node.named_children if part.type == "export_clause"), None)
        value = node.child_by_field_name("value")
        if clause is not None:
            for name, alias in source.specifiers(clause):
                yield Binding(f"exports.{alias or name}", name, False, line)
        elif value is not None:
            yield from _whole("exports.default", value, node, source, definitions)
        elif any(part.type == "default" for part in node.children):
            own = next(
                (own for part in node.named_children if (own := part.child_by_field_name("name"))), None
            )
            yield Binding("exports.default", source.text(own) if own else "default", False, line)
        elif any(part.type == "=" for part in node.children) and node.named_child_count:
            yield from _whole("module.exports", node.named_children[-1], node, source, definitions)


def exports_given(
    target: str, value: Node, node: Node, source: SyntaxNodes, definitions: Definitions
) -> Iterator[Binding]:
    """Yield what an assignment exports. `target` is `exports` or a name of it, with or without `module.`."""
    target = target.removeprefix("module.")
    if target == "exports" and value.type == "object":
        for child in value.named_children:
            line, scope = child.start_point[0] + 1, definitions.scope_at(child.start_byte)
            if child.type == "shorthand_property_identifier":
                name = source.text(child)
                yield Binding(f"exports.{name}", name, False, line, scope)
            elif child.type == "pair":
                key, given = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and (chain := source.chain(given)):
                    yield Binding(f"exports.{source.text(key)}", chain, False, line, scope)
    yield from _whole("module.exports" if target == "exports" else target, value, node, source, definitions)


def _whole(
    name: str, value: Node, node: Node, source: SyntaxNodes, definitions: Definitions
) -> Iterator[Binding]:
    """Yield an export. `node` may be a definition itself; else it exports what `value` names."""
    number = definitions.number_of(node)
    chain = definitions.found[number].name if number != FILE else source.chain(value)
    if chain:
        yield Binding(name, chain, False, node.start_point[0] + 1)


def with_exports(definitions: Sequence[Definition], bindings: Iterable[Binding]) -> Iterator[Definition]:
    """Mark the exported definitions. A script without exports hides nothing."""
    listed = {
        binding.value for binding in bindings if binding.name.startswith(("exports.", "module.exports"))
    }
    is_module = listed or any(found.exported for found in definitions if found.scope == FILE)
    for found in definitions:
        if found.scope == FILE and not found.exported and (not is_module or found.name in listed):
            found = found._replace(exported=True)
        yield found
