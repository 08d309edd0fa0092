"""What a file takes from others: `import`, `require`, and what it exports of theirs."""

from collections.abc import Iterator

from tree_sitter import Node

from recollect.code.facts import Import
from recollect.code.parse.script.definitions import Definitions
from recollect.code.parse.script.source import EXPORTS, Source


def imports_of(source: Source, definitions: Definitions) -> list[Import]:
    found = [*_stated(source), *_exported_again(source), *_required(source, definitions)]
    modules = {said.module for said in found}
    for node in source.nodes("call"):
        if (module := source.loaded(node)) and module not in modules:
            modules.add(module)
            scope = definitions.scope_at(node.start_byte)
            found.append(Import(module, line=node.start_point[0] + 1, scope=scope))
    return found


def _stated(source: Source) -> Iterator[Import]:
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


def _clause(source: Source, clause: Node) -> Iterator[tuple[str, str]]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield "default", source.text(part)
        elif part.type == "namespace_import" and part.named_child_count:
            yield "", source.text(part.named_children[0])
        elif part.type == "named_imports":
            yield from source.specifiers(part)


def _exported_again(source: Source) -> Iterator[Import]:
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


def _required(source: Source, definitions: Definitions) -> Iterator[Import]:
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
