"""The edges of a Python project."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping, Sequence

from recollect.code.facts import CLASS, FILE, FUNCTION, VARIABLE, Definition, FileFacts
from recollect.code.languages.python import values
from recollect.code.languages.python.project_names import ProjectNames, binding
from recollect.code.languages.python.scopes import is_property
from recollect.code.languages.python.values import Meaning, PythonProject, ResolvedEdge, Value, Values, head
from recollect.code.languages.resolver import MajorityTypes
from recollect.code.nodes import (
    CALLS,
    IMPORTS,
    INHERITS,
    OUTSIDE,
    REFERENCES,
    RULES,
    USES,
    CodeEdge,
    symbol_ids,
)

_FEWEST_BINDINGS = 2  # bindings with a known type before a majority counts
_MAJORITY = 0.9  # of them must have the same type
_MOST_EXAMINED = 40  # bindings that are examined; of more, a sample
_MOST_RECOUNTED = 50  # majority types that are found again after one change; each takes a few files
_BUILTIN = "builtins."
_WORDS = re.compile(r"\w+").findall
_ATTRIBUTE = re.compile(r"\.(\w+)").finditer

# A method name that Python's own types have says nothing, even if only one class of the project has it.
_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float, object) for name in dir(kind)
) | {"close", "flush", "open", "put", "read", "run", "send", "set", "start", "stop", "wait", "write"}

# By file: its importers, each with the imported name ("" = the whole file) and its name there.
_Importers = defaultdict[str, dict[str, set[tuple[str, str]]]]

_EdgeRow = tuple[str, str, str, str, int]  # the fields of an edge; there are many

_DEFINED = (VARIABLE, FUNCTION, CLASS)


class PythonResolver:
    """Tries every rule in turn, the surest first. Builtins make no edges."""

    def __init__(
        self,
        files: MutableMapping[str, FileFacts],
        read: Callable[[str], bytes | None] = lambda path: None,
        digest: bytes = b"",
        stale: Collection[str] = (),
    ) -> None:
        self._files = files
        self._project = PythonProject(files)
        self._names = ProjectNames.unpacked(digest, files, stale) if digest else ProjectNames()
        for path in () if digest else files:
            self._names.add(path, files[path])
        self.majority_types: MajorityTypes = {}
        self._removed_types: set[str] = set()  # names whose majority type is gone
        self._importers: _Importers | None = None

    def digest(self) -> bytes:
        return self._names.packed()

    def update(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        before = self._files.pop(path, None)
        if before is not None:
            self._names.drop(path)
        if facts is not None:
            self._files[path] = facts
            self._names.add(path, facts)
        if before is None or facts is None:
            self._importers = None  # imports of other files may lead elsewhere now
            hidden = None
        else:
            if self._importers is not None:
                for importers in self._importers.values():
                    importers.pop(path, None)
                self._add_importers(self._importers, path, self._names.imports_of(path))
            if not _numbered_alike(before.definitions, facts.definitions):
                hidden = None
        if hidden is None and before is not None:
            self._renumber_majority_types(path, before, facts)
        self._project.changed(path, hidden)

    def _renumber_majority_types(self, path: str, before: FileFacts, after: FileFacts | None) -> None:
        """Keep majority types that are classes of this file, whatever their new numbers are."""
        ids = symbol_ids(path, before.definitions)
        now = {id: number for number, id in enumerate(symbol_ids(path, after.definitions if after else ()))}
        for name, one in list(self.majority_types.items()):
            if one is None or one[0] != path:
                continue
            if (number := now.get(ids[one[1]])) is not None:
                self.majority_types[name] = path, number
            else:
                del self.majority_types[name]
                self._removed_types.add(name)

    def recount_types(self, names: Collection[str]) -> set[str]:
        """See `Resolver`. If more than a few are affected, they are found again when they are needed, and no name is returned."""
        retyped, self._removed_types = self._removed_types, set()
        for name in retyped:  # so that later changes of it are noticed
            self._majority_type(name)
        before = {name: self.majority_types.pop(name) for name in self.majority_types.keys() & names}
        if len(before) <= _MOST_RECOUNTED:
            for name, one in before.items():
                self._majority_type(name)
                if self.majority_types[name] != one:
                    retyped.add(name)
        return retyped

    def is_lone(self, name: str) -> bool:
        return len(self._names.methods(name)) == 1 and name not in _COMMON

    def importers(self, path: str) -> set[str]:
        """Return the direct importers, and those that import from them what they have imported.

        A package gives access to its modules, and where these are found depends on the package.
        """
        if self._importers is None:
            self._importers = defaultdict(dict)
            for importer, imports in self._names.imports():
                self._add_importers(self._importers, importer, imports)
        reached = {path: {"*"}}  # by file: the names in it that come from `path`
        for package, module in self._project.modules.packages(path):
            reached[package] = {module}
        for module in self._project.modules.below(path):
            reached[module] = {"*"}
        waiting = list(reached)
        while waiting:
            target = waiting.pop()
            names = reached[target]
            for importer, imported in self._importers.get(target, {}).items():
                there = reached.setdefault(importer, set())
                count = len(there)
                for name, alias in imported:
                    if name == "*":
                        there |= names
                    elif not name or "*" in names or name in names:
                        there.add(alias)
                if len(there) > count:
                    waiting.append(importer)
        return {importer for importer, names in reached.items() if names} - {path}

    def _add_importers(
        self, importers: _Importers, path: str, imports: Iterable[tuple[str, str, str]]
    ) -> None:
        for module, name, alias in imports:
            if found := self._imported(path, module, name):
                target, is_module = found
                here = alias or name or module.partition(".")[0]
                importers[target].setdefault(path, set()).add(("" if is_module else name, here))

    def edges(self, path: str) -> list[CodeEdge]:
        """Return one edge for each source, target and kind, by the surest rule."""
        best: dict[tuple[str, str, str], _EdgeRow] = {}
        for edge in self._all_edges(path, self._files[path]):
            key = edge[:3]
            known = best.setdefault(key, edge)
            if known is not edge and RULES[known[3]] < RULES[edge[3]]:
                best[key] = edge
        self._project.finish(path)
        return list(map(CodeEdge._make, best.values()))

    def _all_edges(self, path: str, facts: FileFacts) -> Iterator[_EdgeRow]:
        for entry in facts.imports:
            if imported := self._imported(path, entry.module, entry.name):
                yield path, IMPORTS, imported[0], "written", entry.line
        scopes = self._project.scopes[path]
        ids = scopes.ids
        for source, definition in zip(ids, facts.definitions, strict=True):
            for chain in definition.bases:
                for target, rule in self._named(path, definition.scope, chain):
                    yield source, INHERITS, target, rule, definition.line
            for chain in definition.decorators:
                for target, rule in self._named(path, definition.scope, chain.removesuffix("()")):
                    if not target.startswith(OUTSIDE):
                        yield source, REFERENCES, target, rule, definition.line
        bases = {number: each.bases for number, each in enumerate(facts.definitions) if each.bases}
        chain = kind = name = ""
        may_resolve = False
        everywhere: Meaning | None = None  # of the name, if no scope has its own
        meanings: dict[int, Meaning] = {}  # of the name, by scope
        resolved: dict[Meaning, list[ResolvedEdge]] = {}
        for each, use, line, scope in facts.references:
            if each != chain or use != kind:  # they are sorted
                chain, kind, resolved = each, use, {}
                may_resolve = self._may_resolve(chain, kind)
                if may_resolve and (first := head(chain)) != name:
                    name, meanings = first, {}
                    everywhere = None if scopes.is_local(name) else self._project.meaning(path, FILE, name)
            if not may_resolve or (scope in bases and chain in bases[scope]):
                continue
            meaning = everywhere or meanings.get(scope)
            if meaning is None:
                meaning = meanings[scope] = self._project.meaning(path, scopes.home(scope, name), name)
            found = resolved.get(meaning)
            if found is None:
                found = resolved[meaning] = self._resolved(meaning, chain, kind)
            for edge_kind, target, rule in found:
                yield path if scope == FILE else ids[scope], edge_kind, target, rule, line

    def _imported(self, path: str, module: str, name: str) -> tuple[str, bool] | None:
        """Return the imported file, or an external name, and whether the import means the whole of it."""
        modules = self._project.modules
        target = modules.imported(module, path)
        inside = None
        if name and name != "*":
            within = module if module.endswith(".") else f"{module}."
            inside = modules.inside(target, name) if target else modules.imported(within + name, path)
        if found := inside or target:
            return found, bool(inside or not name)
        return None if module.startswith(".") else (OUTSIDE + module, True)

    def _named(self, path: str, scope: int, chain: str) -> Iterator[tuple[str, str]]:
        """Yield what a base or a decorator is."""
        things, rule = self._project.find(path, scope, chain)
        for thing in things:
            if thing.kind == values.OUTSIDE:
                if not thing.path.startswith(_BUILTIN):
                    yield OUTSIDE + thing.path, rule
            elif thing.number != FILE:
                yield self._project.symbol(thing), rule

    def _may_resolve(self, chain: str, kind: str) -> bool:
        """Return whether a reference can be resolved at all. Most attributes are not defined in the project, as their names show."""
        if kind == CALLS or "." not in chain:
            return True
        words = _WORDS(chain)
        return self._names.is_defined(words[-1]) or not self._names.properties.isdisjoint(words)

    def _resolved(self, meaning: Meaning, chain: str, kind: str) -> list[ResolvedEdge]:
        """Return the edges of a reference, cached by meaning."""
        resolved = meaning.resolved.get((chain, kind))
        if resolved is None:
            resolved = meaning.resolved[chain, kind] = self._resolve(meaning, chain, kind)
        return resolved

    def _resolve(self, meaning: Meaning, chain: str, kind: str) -> list[ResolvedEdge]:
        _, dot, name = chain.rpartition(".")
        resolved: list[ResolvedEdge] = []
        if dot:
            resolved += self._properties(meaning, chain)
        if kind == USES and dot and not self._names.is_defined(name):
            return resolved
        things, rule = self._project.follow(meaning, chain)
        if kind == CALLS:
            resolved += self._called(things, rule) if things else self._guess(meaning, chain)
            return resolved
        for thing in things:
            if thing.kind not in _DEFINED or (dot and self._project.definition(thing).name != name):
                continue  # found under another name: an edge would depend on a name that this file does not contain
            resolved.append(
                (USES if thing.kind == VARIABLE else REFERENCES, self._project.symbol(thing), rule)
            )
        return resolved

    def _properties(self, meaning: Meaning, chain: str) -> Iterator[ResolvedEdge]:
        """Yield calls of properties: reading one calls it, anywhere in the chain."""
        properties = self._names.properties
        if properties.isdisjoint(_WORDS(chain)):
            return
        for end in [found.end() for found in _ATTRIBUTE(chain) if found[1] in properties]:
            things, rule = self._project.follow(meaning, chain[:end])
            for thing in things:
                if thing.kind == FUNCTION and is_property(self._project.definition(thing)):
                    yield CALLS, self._project.symbol(thing), rule

    def _called(self, things: Values, rule: str) -> Iterator[ResolvedEdge]:
        """Yield the functions that a call runs: of a class its constructor, and the class if it inherits that or has none."""
        project = self._project
        callees, rule = project.read((things, rule))
        for thing in callees:
            if thing.kind == FUNCTION:
                yield CALLS, project.symbol(thing), rule
            elif thing.kind == CLASS:
                made = [one for one in project.attribute(thing, "__init__") if one.kind == FUNCTION]
                for one in made:
                    yield CALLS, project.symbol(one), rule
                if not any(
                    one.path == thing.path and project.definition(one).scope == thing.number for one in made
                ):
                    yield CALLS, project.symbol(thing), rule
            elif thing.kind == values.INSTANCE:
                for one in project.attribute(thing, "__call__"):
                    if one.kind == FUNCTION:
                        yield CALLS, project.symbol(one), "type"
            elif thing.kind in (values.OUTSIDE, values.METHOD) and not thing.path.startswith(_BUILTIN):
                yield CALLS, OUTSIDE + thing.path, rule

    def _guess(self, meaning: Meaning, chain: str) -> Iterator[ResolvedEdge]:
        """Guess by the majority type of the receiver's name, else by the method's name alone."""
        receiver, _, name = chain.rpartition(".")
        methods = self._names.methods(name)
        if not receiver or not methods:
            return
        read, _ = self._project.read(self._project.follow(meaning, receiver))
        receiving = [one for one in read if one.kind != values.TYPE_VARIABLE]
        if not receiving and (majority := self._majority_type(receiver.rpartition(".")[2])):
            found = [one for one in self._project.attribute(majority, name) if one.kind == FUNCTION]
            if found:
                yield CALLS, self._project.symbol(found[0]), "vote"
                return
        if (
            len(methods) == 1
            and name not in _COMMON
            and all(one.kind == values.INSTANCE for one in receiving)
        ):
            yield CALLS, self._project.symbol(Value(FUNCTION, *methods[0])), "name"

    def _majority_type(self, receiver: str) -> Value | None:
        """Return the one class of the project that nearly all receivers of that name are instances of, if there is one."""
        if receiver not in self.majority_types:
            self.majority_types[receiver] = self._find_majority_type(receiver)
        majority = self.majority_types[receiver]
        return Value(values.INSTANCE, *majority) if majority else None

    def _find_majority_type(self, receiver: str) -> tuple[str, int] | None:
        given = self._names.given(receiver)
        examined = given[:: len(given) // _MOST_EXAMINED + 1]
        types: Counter[Value] = Counter()
        first, most = None, 0
        for left, (path, place) in zip(range(len(examined), 0, -1), examined, strict=True):
            if most + left < max(_FEWEST_BINDINGS, (types.total() + left) * _MAJORITY):
                return None  # whatever the others are
            for one in self._project.given(path, binding(self._files[path], place)):
                if one.kind in (values.INSTANCE, values.MADE):
                    one = one._replace(arguments=())
                    types[one] += 1
                    if types[one] > most:
                        first, most = one, types[one]
        if first is None or first.kind != values.INSTANCE:
            return None
        return (
            (first.path, first.number) if most >= max(_FEWEST_BINDINGS, types.total() * _MAJORITY) else None
        )


def _numbered_alike(before: Sequence[Definition], after: Sequence[Definition]) -> bool:
    """Return whether all earlier definitions still have their numbers."""
    return len(before) <= len(after) and all(
        old[:2] == new[:2] and old.scope == new.scope for old, new in zip(before, after, strict=False)
    )
