"""What a file calls and uses."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from recollect.code.facts import FILE, Import, Reference
from recollect.code.parse.script.definitions import Definitions
from recollect.code.parse.script.source import MEMBERS, Source

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


def references_of(source: Source, definitions: Definitions, imports: Sequence[Import]) -> Iterator[Reference]:
    called: set[int] = set()  # where the names of calls begin: they are no other uses
    for chain, node in _calls(source, called):
        if chain[-1] not in ")]?":
            yield Reference(chain, "calls", node.start_point[0] + 1, definitions.scope_at(node.start_byte))
    known = {found.name.encode() for found in definitions.found if found.scope == FILE}
    known |= {(said.alias or said.name).encode() for said in imports if said.name != "*"}
    once: set[tuple[str, int]] = set()
    for node in _uses(source, known, called):
        chain, scope = source.chain(node), definitions.scope_at(node.start_byte)
        if (chain, scope) not in once:
            once.add((chain, scope))
            yield Reference(chain, "uses", node.start_point[0] + 1, scope)


def _calls(source: Source, called: set[int]) -> Iterator[tuple[str, Node]]:
    """Each with its chain; fills `called`."""
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


def _uses(source: Source, known: set[bytes], called: set[int]) -> Iterator[Node]:
    """Of all names only those that mean something of this file or an import: the rest are locals."""
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
