"""How a definition shows itself to those who use it: its parameters, its bases, its decorators."""

from collections.abc import Iterator

from tree_sitter import Node

from recollect.code.parse.script.source import NAMES, Source


def parameters_of(source: Source, function: Node) -> tuple[str, tuple[tuple[str, str], ...]]:
    """As they are shown, and each with its annotation."""
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


def _pattern(source: Source, node: Node) -> str:
    """A parameter as a caller sees it, without the defaults inside it."""
    if node.type == "object_pattern":
        return "{" + ", ".join(key for key, _ in source.taken_apart(node)) + "}"
    if node.type == "array_pattern":
        return "[…]"
    if node.type == "rest_pattern":
        return "..." + (_pattern(source, node.named_children[0]) if node.named_child_count else "")
    return source.text(node) if node.type in NAMES else "…"


def bases_of(source: Source, node: Node) -> Iterator[str]:
    """As chains, of a class, an interface, or a type that is made of others."""
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


def decorators_of(source: Source, node: Node) -> Iterator[str]:
    """Those that are written, as chains, and the words that say as much."""
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
