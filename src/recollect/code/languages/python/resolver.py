"""The edges of a Python project."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, MutableMapping, Sequence

from recollect.code.facts import CLASS, FILE, FUNCTION, VARIABLE, Definition, FileFacts
from recollect.code.languages.python import values
from recollect.code.languages.python.project_names import ProjectNames, binding
from recollect.code.languages.python.scopes import is_property
from recollect.code.languages.python.values import Led, Meaning, PythonProject, Value, Values, head
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

_ENOUGH = 2  # votes before they count
_NEARLY_ALL = 0.9  # of them for one type
_ASKED = 40  # voters; of more, some
_RECOUNTED = 50  # elections after one change; each takes a few files to read
_BUILTIN = "builtins."
_WORDS = re.compile(r"\w+").findall
_ATTRIBUTE = re.compile(r"\.(\w+)").finditer

# One class of the project having a method that Python's own things have, too, says nothing.
_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float, object) for name in dir(kind)
) | {"close", "flush", "open", "put", "read", "run", "send", "set", "start", "stop", "wait", "write"}

# By file: who imports of it what, under which name. "" = the file as a whole.
_Importers = defaultdict[str, dict[str, set[tuple[str, str]]]]

_Found = tuple[str, str, str, str, int]  # an edge, in the making: there are many

_DEFINED = (VARIABLE, FUNCTION, CLASS)


class PythonResolver:
    """Every rule in turn, the surest first. Builtins make no edges."""

    def __init__(
        self,
        files: MutableMapping[str, FileFacts],
        read: Callable[[str], bytes | None] = lambda path: None,
        digest: bytes = b"",
        stale: Collection[str] = (),
    ) -> None:
        self._files = files
        self._project = PythonProject(files)
        self._names = ProjectNames.unpacked(digest, stale) if digest else ProjectNames()
        for path in stale if digest else files:
            if path in files:
                self._names.add(path, files[path])
        self.majority_types: MajorityTypes = {}
        self._lost: set[str] = set()  # names that have no type any more, for it is gone
        self._importers: _Importers | None = None

    def digest(self) -> bytes:
        return self._names.packed()

    def update(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        before = self._files.pop(path, None)
        if before is not None:
            self._names.drop(path, before)
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
                self._note_imports(self._importers, path)
            if not _numbered_alike(before.definitions, facts.definitions):
                hidden = None
        if hidden is None and before is not None:
            self._move_votes(path, before, facts)
        self._project.changed(path, hidden)

    def _move_votes(self, path: str, before: FileFacts, after: FileFacts | None) -> None:
        """Those that went to a file go to the same classes in it, whatever their numbers are."""
        ids = symbol_ids(path, before.definitions)
        now = {id: number for number, id in enumerate(symbol_ids(path, after.definitions if after else ()))}
        for name, one in list(self.majority_types.items()):
            if one is None or one[0] != path:
                continue
            if (number := now.get(ids[one[1]])) is not None:
                self.majority_types[name] = path, number
            else:
                del self.majority_types[name]
                self._lost.add(name)

    def recount_types(self, names: Collection[str]) -> set[str]:
        """More than can be held in a moment are held when they matter, and nobody follows."""
        turned, self._lost = self._lost, set()
        for name in turned:  # once it was held, it is known of all that come later
            self._voted(name)
        before = {name: self.majority_types.pop(name) for name in self.majority_types.keys() & names}
        if len(before) <= _RECOUNTED:
            for name, one in before.items():
                self._voted(name)
                if self.majority_types[name] != one:
                    turned.add(name)
        return turned

    def is_lone(self, name: str) -> bool:
        return len(self._names.methods.get(name, ())) == 1 and name not in _COMMON

    def importers(self, path: str) -> set[str]:
        """Those that import it, and those that import from them what they have of it. A package has its modules;
        and where these are found depends on it being there.
        """
        if self._importers is None:
            self._importers = defaultdict(dict)
            for importer in self._names.imports:
                self._note_imports(self._importers, importer)
        reached = {path: {"*"}}  # with the names of it that are there
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

    def _note_imports(self, importers: _Importers, path: str) -> None:
        for module, name, alias in self._names.imports[path]:
            if found := self._imported(path, module, name):
                target, is_module = found
                here = alias or name or module.partition(".")[0]
                importers[target].setdefault(path, set()).add(("" if is_module else name, here))

    def edges(self, path: str) -> list[CodeEdge]:
        """One for each two things and kind, by the surest rule."""
        best: dict[tuple[str, str, str], _Found] = {}
        for edge in self._all_edges(path, self._files[path]):
            key = edge[:3]
            known = best.setdefault(key, edge)
            if known is not edge and RULES[known[3]] < RULES[edge[3]]:
                best[key] = edge
        self._project.finish(path)
        return list(map(CodeEdge._make, best.values()))

    def _all_edges(self, path: str, facts: FileFacts) -> Iterator[_Found]:
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
        may_lead = False
        everywhere: Meaning | None = None  # of the name, if no scope has one of its own
        meanings: dict[int, Meaning] = {}  # of the name, by scope
        led: dict[Meaning, list[Led]] = {}
        for each, use, line, scope in facts.references:
            if each != chain or use != kind:  # they are sorted
                chain, kind, led = each, use, {}
                may_lead = self._may_lead(chain, kind)
                if may_lead and (first := head(chain)) != name:
                    name, meanings = first, {}
                    everywhere = None if scopes.is_local(name) else self._project.meaning(path, FILE, name)
            if not may_lead or (scope in bases and chain in bases[scope]):
                continue
            meaning = everywhere or meanings.get(scope)
            if meaning is None:
                meaning = meanings[scope] = self._project.meaning(path, scopes.home(scope, name), name)
            found = led.get(meaning)
            if found is None:
                found = led[meaning] = self._led(meaning, chain, kind)
            for edge_kind, target, rule in found:
                yield path if scope == FILE else ids[scope], edge_kind, target, rule, line

    def _imported(self, path: str, module: str, name: str) -> tuple[str, bool] | None:
        """The file that an import leads to, or what is outside, and whether it means that file as a whole."""
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
        """What a base or a decorator is."""
        things, rule = self._project.find(path, scope, chain)
        for thing in things:
            if thing.kind == values.OUTSIDE:
                if not thing.path.startswith(_BUILTIN):
                    yield OUTSIDE + thing.path, rule
            elif thing.number != FILE:
                yield self._project.symbol(thing), rule

    def _may_lead(self, chain: str, kind: str) -> bool:
        """Most attributes that are read are nothing of the project: their names tell."""
        if kind == CALLS or "." not in chain:
            return True
        words = _WORDS(chain)
        return words[-1] in self._names.defined or not self._names.properties.isdisjoint(words)

    def _led(self, meaning: Meaning, chain: str, kind: str) -> list[Led]:
        """Where a reference leads."""
        led = meaning.led.get((chain, kind))
        if led is None:
            led = meaning.led[chain, kind] = self._find(meaning, chain, kind)
        return led

    def _find(self, meaning: Meaning, chain: str, kind: str) -> list[Led]:
        receiver, dot, name = chain.rpartition(".")
        led: list[Led] = []
        if "." in (read := receiver if kind == CALLS else chain):
            led += self._properties(meaning, read)
        if kind == USES and dot and name not in self._names.defined:
            return led
        things, rule = self._project.follow(meaning, chain)
        if kind == CALLS:
            led += self._called(things, rule) if things else self._guesses(meaning, chain)
            return led
        for thing in things:
            if thing.kind not in _DEFINED or (dot and self._project.definition(thing).name != name):
                continue  # what has another name there would be found only if something else were called so
            led.append((USES if thing.kind == VARIABLE else REFERENCES, self._project.symbol(thing), rule))
        return led

    def _properties(self, meaning: Meaning, chain: str) -> Iterator[Led]:
        """Reading a property calls it, wherever in the chain it stands."""
        properties = self._names.properties
        if properties.isdisjoint(_WORDS(chain)):
            return
        for end in [found.end() for found in _ATTRIBUTE(chain) if found[1] in properties]:
            things, rule = self._project.follow(meaning, chain[:end])
            for thing in things:
                if thing.kind == FUNCTION and is_property(self._project.definition(thing)):
                    yield CALLS, self._project.symbol(thing), rule

    def _called(self, things: Values, rule: str) -> Iterator[Led]:
        """The functions that calling these runs: of a class its constructor, if the project has it."""
        project = self._project
        callees, rule = project.read((things, rule))
        for thing in callees:
            if thing.kind == FUNCTION:
                yield CALLS, project.symbol(thing), rule
            elif thing.kind == CLASS:
                made = [one for one in project.attribute(thing, "__init__") if one.kind == FUNCTION]
                for one in made or (thing,):
                    yield CALLS, project.symbol(one), rule
            elif thing.kind == values.INSTANCE:
                for one in project.attribute(thing, "__call__"):
                    if one.kind == FUNCTION:
                        yield CALLS, project.symbol(one), "type"
            elif thing.kind in (values.OUTSIDE, values.METHOD) and not thing.path.startswith(_BUILTIN):
                yield CALLS, OUTSIDE + thing.path, rule

    def _guesses(self, meaning: Meaning, chain: str) -> Iterator[Led]:
        """By what receivers of that name mostly are, else by a method's name alone."""
        receiver, _, name = chain.rpartition(".")
        methods = self._names.methods.get(name)
        if not receiver or not methods:
            return
        receiving, _ = self._project.read(self._project.follow(meaning, receiver))
        if not receiving and (voted := self._voted(receiver.rpartition(".")[2])):
            found = [one for one in self._project.attribute(voted, name) if one.kind == FUNCTION]
            if found:
                yield CALLS, self._project.symbol(found[0]), "vote"
                return
        if (
            len(methods) == 1
            and name not in _COMMON
            and all(one.kind == values.INSTANCE for one in receiving)
        ):
            yield CALLS, self._project.symbol(Value(FUNCTION, *methods[0])), "name"

    def _voted(self, receiver: str) -> Value | None:
        """The one type of the project that nearly everything of that name has, if there is one."""
        if receiver not in self.majority_types:
            self.majority_types[receiver] = self._elected(receiver)
        elected = self.majority_types[receiver]
        return Value(values.INSTANCE, *elected) if elected else None

    def _elected(self, receiver: str) -> tuple[str, int] | None:
        given = self._names.given(receiver)
        asked = given[:: len(given) // _ASKED + 1]
        votes: Counter[Value] = Counter()
        first, most = None, 0
        for left, (path, place) in zip(range(len(asked), 0, -1), asked, strict=True):
            if most + left < max(_ENOUGH, (votes.total() + left) * _NEARLY_ALL):
                return None  # whatever the others say
            for one in self._project.given(path, binding(self._files[path], place)):
                if one.kind in (values.INSTANCE, values.MADE):
                    one = one._replace(arguments=())
                    votes[one] += 1
                    if votes[one] > most:
                        first, most = one, votes[one]
        if first is None or first.kind != values.INSTANCE:
            return None
        return (first.path, first.number) if most >= max(_ENOUGH, votes.total() * _NEARLY_ALL) else None


def _numbered_alike(before: Sequence[Definition], after: Sequence[Definition]) -> bool:
    """Whether what was defined before still has its number."""
    return len(before) <= len(after) and all(
        old[:2] == new[:2] and old.scope == new.scope for old, new in zip(before, after, strict=False)
    )
