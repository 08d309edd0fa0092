"""What a file imports, calls and uses."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from recollect.code.facts import FILE, Import, Reference
from recollect.code.languages.script.definitions import Definitions
from recollect.code.languages.script.nodes import EXPORTS, MEMBERS, SyntaxNodes


def imports_of(source: SyntaxNodes, definitions: Definitions) -> list[Import]:
    found = [*_stated(source), *_exported_again(source), *_required(source, definitions)]
    modules = {entry.module for entry in found}
    for node in source.nodes("call"):
        if (module := source.loaded(node)) and module not in modules:
            modules.add(module)
            scope = definitions.scope_at(node.start_byte)
            found.append(Import(module, line=node.start_point[0] + 1, scope=scope))
    return found


def _stated(source: SyntaxNodes) -> Iterator[Import]:
    for node in source.nodes("import"):
        line = node.start_point[0] + 1
        module = source.string(node.child_by_field_name("source"))
        names: list[tuple[str, str]] = []
        for clause in node.named_children:
            if clause.type == "import_require_clause":
                module = source.string(clause.child_by_field_name("source"))
                if clause.named_child_count:
                    names.append(("", source.text(clause.named_children[0])))
            elif clause.type == "import_clause":
                names.extend(_clause(source, clause))
        if names:
            yield from (Import(module, name, alias, line) for name, alias in names)
        elif module:
            yield Import(module, line=line)


def _clause(source: SyntaxNodes, clause: Node) -> Iterator[tuple[str, str]]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield "default", source.text(part)
        elif part.type == "namespace_import" and part.named_child_count:
            yield "", source.text(part.named_children[0])
        elif part.type == "named_imports":
            yield from source.specifiers(part)


def _exported_again(source: SyntaxNodes) -> Iterator[Import]:
    for node in source.nodes("export"):
        stated = node.child_by_field_name("source")
        if stated is None:
            continue
        module, line = source.string(stated), node.start_point[0] + 1
        kinds = {part.type: part for part in node.named_children}
        clause, whole = kinds.get("export_clause"), kinds.get("namespace_export")
        if clause is not None:
            for name, alias in source.specifiers(clause):
                yield Import(module, name, alias, line, reexport=True)
        elif whole is None:
            yield Import(module, "*", line=line, reexport=True)
        elif whole.named_child_count:
            yield Import(module, "", source.text(whole.named_children[0]), line, reexport=True)


def _required(source: SyntaxNodes, definitions: Definitions) -> Iterator[Import]:
    for node in source.nodes("given"):
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        required = source.required(value) if value is not None else None
        if required is None:
            continue
        target = node.child_by_field_name("name") or node.child_by_field_name("left")
        if target is None or source.annotation(node.child_by_field_name("type")):
            continue
        module, name = required
        line, scope = node.start_point[0] + 1, definitions.scope_at(node.start_byte)
        if target.type == "object_pattern":
            for key, alias in source.taken_apart(target):
                if alias:
                    yield Import(module, key, alias, line, scope)
        elif target.type == "identifier":
            yield Import(module, name, source.text(target), line, scope)
        elif exported := EXPORTS.match(source.chain(target)):
            if exported[1]:
                yield Import(module, name, exported[1], line, reexport=True)
            else:
                yield Import(module, "*", line=line, reexport=True)


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


def references_of(
    source: SyntaxNodes, definitions: Definitions, imports: Sequence[Import]
) -> Iterator[Reference]:
    called: set[int] = set()  # first bytes of called names: these are no other uses
    for chain, node in _calls(source, called):
        if chain[-1] not in ")]?":
            yield Reference(chain, "calls", node.start_point[0] + 1, definitions.scope_at(node.start_byte))
    known = {found.name.encode() for found in definitions.found if found.scope == FILE}
    known |= {(entry.alias or entry.name).encode() for entry in imports if entry.name != "*"}
    once: set[tuple[str, int]] = set()
    for node in _uses(source, known, called):
        chain, scope = source.chain(node), definitions.scope_at(node.start_byte)
        if (chain, scope) not in once:
            once.add((chain, scope))
            yield Reference(chain, "uses", node.start_point[0] + 1, scope)


def _calls(source: SyntaxNodes, called: set[int]) -> Iterator[tuple[str, Node]]:
    """Yield each call with its chain, and add its first byte to `called`."""
    for node in source.nodes("call"):
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        if function is None:
            continue
        called.add(function.start_byte)
        chain = source.chain(function)
        if chain and not (chain == "require" and source.loaded(node)):
            yield chain, function
    for node in source.nodes("element"):
        name = node.child_by_field_name("name")
        if name is not None and (chain := source.chain(name)) and ("." in chain or chain[0].isupper()):
            called.add(name.start_byte)
            yield chain, node
    for node in source.nodes("decorator"):
        called.add(node.start_byte)
        yield source.chain(node), node


def _uses(source: SyntaxNodes, known: set[bytes], called: set[int]) -> Iterator[Node]:
    """Yield names that mean something in this file or an import: all others are locals."""
    text = source.source
    for node in source.nodes("use"):
        start = node.start_byte
        if text[start : node.end_byte] not in known or start in called:
            continue
        up = node.parent
        if up is None or up.type in _NAMING:
            continue
        if up.child_by_field_name("name") == node or up.child_by_field_name("left") == node:
            continue
        while up is not None and up.type in MEMBERS and up.start_byte == start:
            node, up = up, up.parent
        yield node
