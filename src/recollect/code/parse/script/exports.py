"""What a file gives to others, as bindings to what it is called inside."""

from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from recollect.code.facts import FILE, Binding, Definition
from recollect.code.parse.script.definitions import Definitions
from recollect.code.parse.script.source import Source


def exports_of(source: Source, definitions: Definitions) -> Iterator[Binding]:
    """By its `export` statements, but for what it exports of others."""
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
    target: str, value: Node, node: Node, source: Source, definitions: Definitions
) -> Iterator[Binding]:
    """By an assignment: `target` is `exports` or one of its names, after `module.` or not."""
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


def _whole(name: str, value: Node, node: Node, source: Source, definitions: Definitions) -> Iterator[Binding]:
    """`node` may be a definition itself; else it exports what `value` names."""
    number = definitions.number_of(node)
    chain = definitions.found[number].name if number != FILE else source.chain(value)
    if chain:
        yield Binding(name, chain, False, node.start_point[0] + 1)


def with_exports(definitions: Sequence[Definition], bindings: Iterable[Binding]) -> Iterator[Definition]:
    """A script without exports hides nothing; else a definition of the file is seen when it is exported."""
    listed = {
        binding.value for binding in bindings if binding.name.startswith(("exports.", "module.exports"))
    }
    is_module = listed or any(found.exported for found in definitions if found.scope == FILE)
    for found in definitions:
        if found.scope == FILE and not found.exported and (not is_module or found.name in listed):
            found = found._replace(exported=True)
        yield found
