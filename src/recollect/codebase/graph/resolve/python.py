"""The edges of a Python project."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from recollect.codebase.facts import FILE, Binding, FileFacts, Import
from recollect.codebase.graph.nodes import CALLS, IMPORTS, INHERITS, OUTSIDE, REFERENCES, RULES, USES, Edge
from recollect.codebase.graph.resolve import python_values as values
from recollect.codebase.graph.resolve.python_scopes import is_method, is_property
from recollect.codebase.graph.resolve.python_values import Project, Value, Values, head
from recollect.codebase.parse.python import RETURNED, UNKNOWN, YIELDED

_ENOUGH = 2  # votes before they count
_NEARLY_ALL = 0.9  # of them for one type
_ASKED = 40  # voters; of more, some
_BUILTIN = "builtins."
_WORDS = re.compile(r"\w+").findall
_ATTRIBUTE = re.compile(r"\.(\w+)").finditer

# One class of the project having a method that Python's own things have, too, says nothing.
_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float, object) for name in dir(kind)
) | {"close", "flush", "open", "put", "read", "run", "send", "set", "start", "stop", "wait", "write"}

# By file: who imports of it what, under which name. "" = the file as a whole.
_Importers = defaultdict[str, dict[str, set[tuple[str, str]]]]

_Led = tuple[str, str, str]  # where a reference leads: the kind of edge, its target, its rule


class PythonResolver:
    """Every rule in turn, the surest first. Builtins make no edges."""

    def __init__(
        self, files: Mapping[str, FileFacts], read: Callable[[str], bytes | None] = lambda path: None
    ) -> None:
        self._files = dict(files)
        self._project = Project(self._files)
        self._names = _Names()
        for path, facts in self._files.items():
            self._names.add(path, facts)
        self._votes: dict[str, Value | None] = {}
        self._importers: _Importers | None = None

    def changed(self, path: str, facts: FileFacts | None) -> None:
        """Votes stay as they were, but for those that went to this file: one file hardly turns an election."""
        before = self._files.pop(path, None)
        if before is not None:
            self._names.drop(path, before)
        if facts is not None:
            self._files[path] = facts
            self._names.add(path, facts)
        self._votes = {name: one for name, one in self._votes.items() if one is None or one.path != path}
        if before is None or facts is None:
            self._importers = None  # imports of other files may lead elsewhere now
        elif self._importers is not None:
            for importers in self._importers.values():
                importers.pop(path, None)
            self._note_imports(self._importers, path, facts)
        self._project.changed(path)

    def importers(self, path: str) -> set[str]:
        """Those that import it, and those that import from them what they have of it."""
        if self._importers is None:
            self._importers = defaultdict(dict)
            for importer, facts in self._files.items():
                self._note_imports(self._importers, importer, facts)
        reached = {path: {"*"}}  # with the names of it that are there
        waiting = [path]
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

    def _note_imports(self, importers: _Importers, path: str, facts: FileFacts) -> None:
        for entry, target, is_module in self._imports(path, facts):
            name = "" if is_module else entry.name
            alias = entry.alias or entry.name or entry.module.partition(".")[0]
            importers[target].setdefault(path, set()).add((name, alias))

    def edges(self, path: str) -> list[Edge]:
        """One for each two things and kind, by the surest rule."""
        best: dict[tuple[str, str, str], tuple[str, int]] = {}
        for source, kind, target, rule, line in self._all_edges(path, self._files[path]):
            key = (source, kind, target)
            known = best.get(key)
            if known is None or RULES[known[0]] < RULES[rule]:
                best[key] = (rule, line)
        self._project.finish(path)
        return [Edge(*key, *how) for key, how in best.items()]

    def _all_edges(self, path: str, facts: FileFacts) -> Iterator[tuple[str, str, str, str, int]]:
        for entry, target, _ in self._imports(path, facts):
            yield path, IMPORTS, target, "written", entry.line
        scopes = self._project.scopes(path)
        ids = scopes.ids
        for source, definition in zip(ids, facts.definitions, strict=True):
            for chain in definition.bases:
                for target, rule in self._named(path, definition.scope, chain):
                    yield source, INHERITS, target, rule, definition.line
            for chain in definition.decorators:
                for target, rule in self._named(path, definition.scope, chain.removesuffix("()")):
                    if not target.startswith(OUTSIDE):
                        yield source, REFERENCES, target, rule, definition.line
        led: dict[tuple[int, str, str], list[_Led]] = {}  # references that mean the same lead to the same
        name = said = ""
        for chain, kind, line, scope in facts.references:
            if scope != FILE and chain in facts.definitions[scope].bases:
                continue
            source = path if scope == FILE else ids[scope]
            if chain != said:  # they are sorted
                said, name = chain, head(chain)
            meant = (scopes.home(scope, name), chain, kind)
            found = led.get(meant)
            if found is None:
                found = led[meant] = list(self._led(path, *meant))
            for edge_kind, target, rule in found:
                yield source, edge_kind, target, rule, line

    def _imports(self, path: str, facts: FileFacts) -> Iterator[tuple[Import, str, bool]]:
        """Each with the file it leads to, or what is outside, and whether it means that file as a whole."""
        modules = self._project.modules
        for entry in facts.imports:
            target = modules.imported(entry.module, path)
            inside = None
            if entry.name and entry.name != "*":
                within = entry.module if entry.module.endswith(".") else f"{entry.module}."
                inside = (
                    modules.inside(target, entry.name)
                    if target
                    else modules.imported(within + entry.name, path)
                )
            if inside or target:
                yield entry, inside or target or "", bool(inside or not entry.name)
            elif not entry.module.startswith("."):
                yield entry, OUTSIDE + entry.module, True

    def _named(self, path: str, scope: int, chain: str) -> Iterator[tuple[str, str]]:
        """What a base or a decorator is."""
        things, rule = self._project.find(path, scope, chain)
        for thing in things:
            if thing.kind == values.OUTSIDE:
                if not thing.path.startswith(_BUILTIN):
                    yield OUTSIDE + thing.path, rule
            elif thing.number != FILE:
                yield self._project.symbol(thing), rule

    def _led(self, path: str, scope: int, chain: str, kind: str) -> Iterator[_Led]:
        """Where a reference leads."""
        if "." in chain:
            if not self._names.properties.isdisjoint(_WORDS(chain)):
                yield from self._properties(path, scope, chain, kind)
            if kind == USES and chain.rpartition(".")[2] not in self._names.defined:
                return
        things, rule = self._project.find_at(path, scope, chain)
        if kind == CALLS:
            for target, weakest in self._called(things, rule):
                yield CALLS, target, weakest
            if not things:
                yield from self._guesses(path, scope, chain)
            return
        for thing in things:
            if thing.kind == values.VARIABLE:
                yield USES, self._project.symbol(thing), rule
            elif thing.kind in (values.FUNCTION, values.CLASS):
                yield REFERENCES, self._project.symbol(thing), rule

    def _properties(self, path: str, scope: int, chain: str, kind: str) -> Iterator[_Led]:
        """Reading a property calls it, wherever in the chain it stands."""
        ends = [found.end() for found in _ATTRIBUTE(chain) if found[1] in self._names.properties]
        for end in ends:
            if kind == CALLS and end == len(chain):
                continue
            things, rule = self._project.find_at(path, scope, chain[:end])
            for thing in things:
                if thing.kind == values.FUNCTION and is_property(self._project.definition(thing)):
                    yield CALLS, self._project.symbol(thing), rule

    def _called(self, things: Values, rule: str) -> Iterator[tuple[str, str]]:
        """The functions that calling these runs: of a class its constructor, if the project has it."""
        project = self._project
        callees, rule = project.read((things, rule))
        for thing in callees:
            if thing.kind == values.FUNCTION:
                yield project.symbol(thing), rule
            elif thing.kind == values.CLASS:
                made = [one for one in project.attribute(thing, "__init__") if one.kind == values.FUNCTION]
                yield from ((project.symbol(one), rule) for one in made or (thing,))
            elif thing.kind == values.INSTANCE:
                for one in project.attribute(thing, "__call__"):
                    if one.kind == values.FUNCTION:
                        yield project.symbol(one), "type"
            elif thing.kind in (values.OUTSIDE, values.METHOD) and not thing.path.startswith(_BUILTIN):
                yield OUTSIDE + thing.path, rule

    def _guesses(self, path: str, scope: int, chain: str) -> Iterator[_Led]:
        """By what receivers of that name mostly are, else by a method's name alone."""
        receiver, _, name = chain.rpartition(".")
        methods = self._names.methods.get(name)
        if not receiver or not methods:
            return
        receiving, _ = self._project.read(self._project.find_at(path, scope, receiver))
        if not receiving and (voted := self._voted(receiver.rpartition(".")[2])):
            found = [one for one in self._project.attribute(voted, name) if one.kind == values.FUNCTION]
            if found:
                yield CALLS, self._project.symbol(found[0]), "vote"
                return
        if (
            len(methods) == 1
            and name not in _COMMON
            and all(one.kind == values.INSTANCE for one in receiving)
        ):
            yield CALLS, self._project.symbol(methods[0]), "name"

    def _voted(self, receiver: str) -> Value | None:
        """The one type of the project that nearly everything of that name has, if there is one."""
        if receiver not in self._votes:
            votes: Counter[Value] = Counter()
            given = self._names.given.get(receiver, [])
            for path, binding in given[:: len(given) // _ASKED + 1]:
                for one in self._project.given(path, binding):
                    if one.kind in (values.INSTANCE, values.MADE):
                        votes[one._replace(arguments=())] += 1
            most = None
            for one, count in votes.most_common(1):
                if one.kind == values.INSTANCE and count >= max(_ENOUGH, votes.total() * _NEARLY_ALL):
                    most = one
            self._votes[receiver] = most
        return self._votes[receiver]


class _Names:
    """The names of a whole project, wherever they stand."""

    def __init__(self) -> None:
        self.defined: set[str] = set()  # these two keep what is gone: they only save looking
        self.properties: set[str] = set()
        self.methods: dict[str, list[Value]] = defaultdict(list)
        self.given: dict[str, list[tuple[str, Binding]]] = defaultdict(list)  # with the file

    def add(self, path: str, facts: FileFacts) -> None:
        for number, definition in enumerate(facts.definitions):
            self.defined.add(definition.name)
            if is_method(facts.definitions, definition):
                self.methods[definition.name].append(Value(values.FUNCTION, path, number))
                if is_property(definition):
                    self.properties.add(definition.name)
        for name, binding in self._bindings(facts):
            self.given[name].append((path, binding))

    def drop(self, path: str, facts: FileFacts) -> None:
        for name in {definition.name for definition in facts.definitions} & self.methods.keys():
            self.methods[name] = [one for one in self.methods[name] if one.path != path]
        for name in {name for name, _ in self._bindings(facts)}:
            self.given[name] = [one for one in self.given[name] if one[0] != path]

    def _bindings(self, facts: FileFacts) -> Iterator[tuple[str, Binding]]:
        """What names are given by assignment or annotation; of attributes, the last name."""
        for definition in facts.definitions:
            for written, annotation in definition.parameters:
                if annotation and not written.startswith("*"):
                    yield written, Binding(written, annotation, True, definition.line, definition.scope)
        for binding in facts.bindings:
            if not binding.value.startswith(UNKNOWN) and binding.name not in (RETURNED, YIELDED):
                yield binding.name.rpartition(".")[2], binding
