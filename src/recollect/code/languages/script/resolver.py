"""Edges of JavaScript and TypeScript.

A chain is followed link by link from its head to a symbol, an instance of a class, items of one, a module, or something
outside the project. The rule of an edge is the weakest of its links.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from recollect.code.facts import CLASS, FILE, FUNCTION, VARIABLE, Binding, Definition, FileFacts, Import
from recollect.code.languages.resolver import MajorityTypes, StepLimit
from recollect.code.languages.script.modules import ScriptModules
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

_LINKS = re.compile(r"\.?[^.()\[\]]+|\(\)|\[\]")
_DEEPEST = 12  # a chain may lead to a binding, that to another chain, and so on
_FEWEST_BINDINGS = 2  # bindings at least, and the share of them that must have one class
_MAJORITY = 0.8

_UNWRAPPED = set(
    "Promise PromiseLike Awaited Readonly Partial Required NonNullable Ref ShallowRef Observable".split()
)
_MANY = set(
    "Array ReadonlyArray Set ReadonlySet Iterable Iterator AsyncIterable Generator AsyncGenerator".split()
)
_NOTHING = set(
    "null undefined void never any unknown string number boolean object symbol bigint true false".split()
)
_GENERIC = re.compile(r"^([\w$.]+)\s*<(.*)>$", re.DOTALL)
_NAME = re.compile(r"^[\w$.]+$")


class _ScriptTarget(NamedTuple):
    kind: str  # "symbol", "instance", "items" of a class, "module", "outside"
    path: str  # of a file; a name, if outside the project
    number: int = FILE  # of the definition
    rule: str = "scope"

    def by(self, rule: str) -> "_ScriptTarget":
        return self._replace(rule=_weaker(self.rule, rule))


def _weaker(one: str, other: str) -> str:
    return one if RULES[one] < RULES[other] else other


class _ScriptFile:
    """The definitions, bindings and imports of one file, indexed for look-ups."""

    def __init__(self, path: str, facts: FileFacts) -> None:
        self.path = path
        self.facts = facts
        self.definitions = facts.definitions
        self.ids = symbol_ids(path, facts.definitions)
        self.inside: dict[int, dict[str, int]] = defaultdict(dict)
        for number, definition in enumerate(facts.definitions):
            self.inside[definition.scope].setdefault(definition.name, number)
        self.imported: dict[tuple[int, str], Import] = {}
        self.reexported: dict[str, Import] = {}
        self.stars: list[Import] = []
        for found in facts.imports:
            name = found.alias or found.name
            if found.reexport and found.name == "*":
                self.stars.append(found)
            elif found.reexport:
                self.reexported.setdefault(name, found)
            elif name:
                self.imported.setdefault((found.scope, name), found)
        self.exported: dict[str, str] = {}
        self.given: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in facts.bindings:
            if binding.name == "module.exports" or binding.name.startswith("exports."):
                self.exported.setdefault(binding.name.removeprefix("exports."), binding.value)
            elif binding.name.startswith("this."):
                self.given[self.owner(binding.scope), binding.name].append(binding)
            else:
                self.given[binding.scope, binding.name].append(binding)

    def owner(self, scope: int) -> int:
        """Return what `this` is in a scope: the class or object around it, else the constructor function."""
        outermost = scope
        while scope != FILE:
            found = self.definitions[scope]
            if found.kind == CLASS or (found.kind == VARIABLE and scope != outermost):
                return scope
            outermost, scope = scope, found.scope
        return outermost

    def name_of(self, scope: int) -> str:
        return self.path if scope == FILE else self.ids[scope]


class ScriptResolver:
    """`files` are in JavaScript and TypeScript; `read` returns the contents of a configuration file, or None."""

    def __init__(
        self, files: Mapping[str, FileFacts], read: Callable[[str], bytes | None] = lambda path: None
    ) -> None:
        self.majority_types: MajorityTypes = {}  # not kept: finding them takes no time
        self._files = {path: _ScriptFile(path, facts) for path, facts in files.items()}
        self._modules = ScriptModules(self._files, read)
        self._bound_types: dict[str, list[tuple[str, str]]] = {}
        self._known_majorities: dict[str, str] | None = None
        self._methods: dict[str, list[tuple[str, int]]] | None = None
        self._returning: set[tuple[str, int]] = set()  # functions whose result is being found out
        self._steps = StepLimit()

    def digest(self) -> bytes:
        return b""

    def update(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        old = self._files.get(path)
        if old is None or facts is None or old.facts.imports != facts.imports:
            self.__dict__.pop("_imported_by", None)
        self._modules.changed(path, facts is not None)
        if facts is None:
            self._files.pop(path, None)
        else:
            self._files[path] = _ScriptFile(path, facts)
        self._bound_types.pop(path, None)
        self._known_majorities = self._methods = None

    def recount_types(self, names: Collection[str]) -> set[str]:
        return set()

    def is_lone(self, name: str) -> bool:
        return len(self._by_name().get(name, ())) == 1

    def importers(self, path: str) -> set[str]:
        """Return the direct importers, and those that import it through a re-export."""
        direct, passing = self._imported_by
        importers: set[str] = set()
        waiting = [path]
        seen = {path}
        while waiting:
            here = waiting.pop()
            importers |= direct[here]
            waiting.extend(passing[here] - seen)
            seen |= passing[here]
        return importers - {path}

    @cached_property
    def _imported_by(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """By file: its importers, and those of them that re-export it."""
        direct: dict[str, set[str]] = defaultdict(set)
        passing: dict[str, set[str]] = defaultdict(set)
        for other, file in self._files.items():
            for found in file.facts.imports:
                if target := self._modules.find(other, found.module):
                    direct[target].add(other)
                    if found.reexport:
                        passing[target].add(other)
        return direct, passing

    def edges(self, path: str) -> list[CodeEdge]:
        self._majority_types()  # which counts the steps of each file by itself
        self._steps.begin_file()
        file = self._files[path]
        found: dict[tuple[str, str, str], CodeEdge] = {}
        for edge in self._all_edges(file):
            known = found.get(edge[:3])
            if edge.source != edge.target and (known is None or RULES[known.rule] < RULES[edge.rule]):
                found[edge[:3]] = edge
        return list(found.values())

    def _all_edges(self, file: _ScriptFile) -> Iterator[CodeEdge]:
        for found in file.facts.imports:
            target = self._modules.find(file.path, found.module)
            if target is not None or not found.module.startswith("."):
                yield CodeEdge(file.path, IMPORTS, target or OUTSIDE + found.module, "written", found.line)
        for number, definition in enumerate(file.definitions):
            for base in definition.bases:
                self._steps.begin()
                based = self._follow(file, definition.scope, base)
                if based is not None and (name := self._target(based)):
                    kind = REFERENCES if "type" in definition.decorators else INHERITS
                    yield CodeEdge(file.ids[number], kind, name, based.rule, definition.line)
        for reference in file.facts.references:
            self._steps.begin()
            used = self._follow(file, reference.scope, reference.chain)
            if used is None and reference.kind == CALLS:
                used = self._guess(reference.chain)
            if used is not None:
                yield from self._edge(file.name_of(reference.scope), used, reference.kind, reference.line)

    def _edge(self, source: str, target: _ScriptTarget, kind: str, line: int) -> Iterator[CodeEdge]:
        if target.kind == "outside":
            yield CodeEdge(source, kind if kind == CALLS else USES, OUTSIDE + target.path, target.rule, line)
        elif target.kind == "symbol":
            definition = self._definition(target)
            if kind == CALLS and definition.kind == CLASS:
                own = self._files[target.path].inside[target.number].get("constructor")
                target = target._replace(number=own) if own is not None else target
            elif kind != CALLS:
                kind = USES if definition.kind == VARIABLE else REFERENCES
            yield CodeEdge(source, kind, self._files[target.path].ids[target.number], target.rule, line)

    def _target(self, found: _ScriptTarget) -> str:
        if found.kind == "outside":
            return OUTSIDE + found.path
        return self._files[found.path].ids[found.number] if found.kind == "symbol" else ""

    def _definition(self, found: _ScriptTarget) -> Definition:
        return self._files[found.path].definitions[found.number]

    # Chains

    def _follow(self, file: _ScriptFile, scope: int, chain: str, depth: int = 0) -> _ScriptTarget | None:
        if depth > _DEEPEST or self._steps.is_reached():
            return None
        links = _LINKS.findall(chain)
        if not links:
            return None
        found = self._head(file, scope, links[0], depth)
        if links[0] == "super" and len(links) == 1 and found is not None:
            return found._replace(kind="symbol")
        for link in links[1:]:
            if found is None:
                return None
            found = self._step(found, link, depth)
        return found

    def _head(self, file: _ScriptFile, scope: int, name: str, depth: int) -> _ScriptTarget | None:
        if name in ("this", "super"):
            owner = file.owner(scope)
            if owner == FILE:
                return None
            kind = "symbol" if file.definitions[owner].kind == VARIABLE else "instance"
            this = _ScriptTarget(kind, file.path, owner, "self")
            return this if name == "this" else next(self._bases(this, depth), None)
        here = scope
        while True:
            if found := self._in_scope(file, here, name, depth):
                return found if found.number != FILE or found.kind != "symbol" else None
            if here == FILE:
                return None
            here = file.definitions[here].scope

    def _in_scope(self, file: _ScriptFile, scope: int, name: str, depth: int) -> _ScriptTarget | None:
        """Return what `name` is in this very scope. A symbol without a number is a local that cannot be resolved."""
        holder = file.definitions[scope] if scope != FILE else None
        is_seen = holder is None or holder.kind == FUNCTION or "namespace" in holder.decorators
        if is_seen and (number := file.inside[scope].get(name)) is not None:
            return _ScriptTarget("symbol", file.path, number)
        if found := file.imported.get((scope, name)):
            return self._imported(file, found, depth)
        if holder is not None:
            for parameter, annotation in holder.parameters:
                if parameter == name:
                    return self._typed(file, scope, annotation, depth) or _ScriptTarget("symbol", file.path)
        for binding in file.given.get((scope, name), ()):
            if binding.value.partition(".")[0] != name and (found_value := self._value(file, binding, depth)):
                return found_value
        if (scope, name) in file.given and scope != FILE:
            return _ScriptTarget("symbol", file.path)
        return None

    def _value(self, file: _ScriptFile, binding: Binding, depth: int) -> _ScriptTarget | None:
        if binding.annotated:
            return self._typed(file, binding.scope, binding.value, depth)
        found = self._follow(file, binding.scope, binding.value, depth + 1)
        if found is None:
            return None
        return found if found.kind == "outside" else found.by("type")

    def _step(self, found: _ScriptTarget, link: str, depth: int) -> _ScriptTarget | None:
        if found.kind == "outside":
            return found._replace(path=found.path + link) if link[0] == "." else found
        if link == "()":
            return self._called(found, depth)
        if link == "[]":
            held = self._held(found, depth)
            return held._replace(kind="instance") if held is not None and held.kind == "items" else None
        name = link[1:]
        if found.kind == "module":
            return self._export(found.path, name, depth)
        held = found
        if found.kind == "symbol" and self._definition(found).kind != CLASS:
            if (member := self._member(found, name)) is not None:
                return member
            held_value = self._held(found, depth)
            if held_value is None or held_value == found:
                return None
            held = held_value
            if held.kind in ("outside", "module"):
                return self._step(held, link, depth + 1)
        if held.kind not in ("symbol", "instance"):
            return None
        return self._member(held, name, depth)

    def _called(self, found: _ScriptTarget, depth: int) -> _ScriptTarget | None:
        if found.kind != "symbol":
            return None
        definition = self._definition(found)
        if definition.kind == CLASS:
            return found._replace(kind="instance").by("type")
        if definition.kind == VARIABLE:
            held = self._held(found, depth)
            return self._called(held, depth + 1) if held and held != found and depth < _DEEPEST else None
        return self._returned(found, definition, depth)

    def _returned(self, found: _ScriptTarget, definition: Definition, depth: int) -> _ScriptTarget | None:
        file = self._files[found.path]
        if definition.returns:
            if definition.returns == "this":
                return _ScriptTarget("instance", found.path, file.owner(found.number), "type")
            typed = self._typed(file, found.number, definition.returns, depth)
            return typed.by(found.rule) if typed else None
        function = found.path, found.number
        if function in self._returning:  # a call of itself says nothing
            return None
        self._returning.add(function)
        try:
            for binding in file.given.get((found.number, "return"), ()):
                if value := self._follow(file, found.number, binding.value, depth + 1):
                    return value.by("type").by(found.rule) if value.kind != "outside" else None
        finally:
            self._returning.remove(function)
        return None

    def _held(self, found: _ScriptTarget, depth: int) -> _ScriptTarget | None:
        """Return what a variable, field or getter holds; anything else is itself."""
        if found.kind != "symbol" or depth > _DEEPEST:
            return found
        definition = self._definition(found)
        if "get" in definition.decorators:
            return self._returned(found, definition, depth)
        if definition.kind != VARIABLE:
            return found
        file = self._files[found.path]
        name = definition.name if definition.scope == FILE else f"this.{definition.name}"
        for binding in file.given.get((definition.scope, name), ()):
            if value := self._value(file, binding, depth + 1):
                return value.by(found.rule)
        return found

    def _member(self, found: _ScriptTarget, name: str, depth: int = 0) -> _ScriptTarget | None:
        """Find a member of a class, through its bases, or of an object or a function's prototype."""
        waiting, seen = [found], set()
        while waiting and not self._steps.is_reached():
            here = waiting.pop(0)
            if here.kind not in ("symbol", "instance") or here[1:3] in seen:
                continue
            seen.add(here[1:3])
            file = self._files[here.path]
            rule = here.rule if here.kind == "symbol" or here.rule == "self" else _weaker(here.rule, "type")
            if (number := file.inside[here.number].get(name)) is not None and here.number != FILE:
                return _ScriptTarget("symbol", here.path, number, rule)
            for binding in file.given.get((here.number, f"this.{name}"), ()):
                if value := self._value(file, binding, depth + 1):
                    return value.by(rule)
            if name != "prototype" and file.definitions[here.number].kind == CLASS:
                waiting.extend(self._bases(here, depth))
        return None

    def _bases(self, found: _ScriptTarget, depth: int) -> Iterator[_ScriptTarget]:
        if found.kind == "outside" or found.number == FILE:
            return
        file = self._files[found.path]
        definition = file.definitions[found.number]
        for base in definition.bases:
            target = self._follow(file, definition.scope, base, depth + 1)
            if target is not None and target.kind == "symbol":
                yield target._replace(kind=found.kind, rule=found.rule)

    # Imports and exports

    def _imported(self, file: _ScriptFile, found: Import, depth: int) -> _ScriptTarget | None:
        path = self._modules.find(file.path, found.module)
        if path is None and found.module.startswith("."):
            return None  # not code, or not in the project
        if path is None:
            named = found.name and found.name != "default"
            return _ScriptTarget(
                "outside", f"{found.module}.{found.name}" if named else found.module, rule="import"
            )
        if not found.name:
            whole = self._whole(path, depth)
            if whole is not None and whole.kind == "symbol" and self._definition(whole).kind != VARIABLE:
                return whole
            return _ScriptTarget("module", path, rule="import")
        exported = self._export(path, found.name, depth)
        if exported is None and found.name == "default":
            return _ScriptTarget(
                "module", path, rule="import"
            )  # CommonJS, imported as if it had a default export
        return exported

    def _export(self, path: str, name: str, depth: int) -> _ScriptTarget | None:
        if depth > _DEEPEST or self._steps.is_reached():
            return None
        file = self._files[path]
        if name in file.exported:
            target = self._follow(file, FILE, file.exported[name], depth + 1)
            return target.by("import") if target else None
        if (number := file.inside[FILE].get(name)) is not None:
            return _ScriptTarget("symbol", path, number, "import")
        if found := file.reexported.get(name):
            target = self._imported(file, found, depth + 1)
            return target.by("import") if target else None
        whole = self._whole(path, depth)
        if whole is not None:
            return whole if name == "default" else self._step(whole, f".{name}", depth + 1)
        for star in file.stars:
            inner = self._modules.find(path, star.module)
            if inner is not None and name != "default" and (target := self._export(inner, name, depth + 1)):
                return target.by("import")
        return None

    def _whole(self, path: str, depth: int) -> _ScriptTarget | None:
        """Return what CommonJS exports for the whole file, even if that comes from another file."""
        file = self._files[path]
        if whole := file.exported.get("module.exports"):
            target = self._follow(file, FILE, whole, depth + 1)
            return target.by("import") if target else None
        inner = [found for star in file.stars if (found := self._modules.find(path, star.module))]
        return self._whole(inner[0], depth + 1) if len(inner) == 1 and depth < _DEEPEST else None

    # Types

    def _typed(self, file: _ScriptFile, scope: int, annotation: str, depth: int) -> _ScriptTarget | None:
        """Return an instance of what an annotation names, if it names one thing."""
        if depth > _DEEPEST:
            return None
        text = annotation.strip().removeprefix("readonly ").strip("() ")
        options = [
            option for part in _split(text, "|") if (option := part.strip()) and option not in _NOTHING
        ]
        if len(options) != 1:
            return None
        text = options[0]
        if text.endswith("[]"):
            return self._many(self._typed(file, scope, text[:-2], depth + 1))
        if text.startswith("typeof "):
            return self._follow(file, scope, text.removeprefix("typeof ").strip(), depth + 1)
        if "&" in text:
            parts = (self._typed(file, scope, part, depth + 1) for part in _split(text, "&"))
            return next((part for part in parts if part), None)
        if generic := _GENERIC.match(text):
            text, inner = generic.groups()
            if text in _UNWRAPPED or text in _MANY:
                first = self._typed(file, scope, _split(inner, ",")[0], depth + 1)
                return self._many(first) if text in _MANY else first
        if not _NAME.match(text):
            return None
        target = self._follow(file, scope, text, depth + 1)
        if target is None or target.kind == "outside":
            return target
        if target.kind != "symbol" or self._definition(target).kind != CLASS:
            return None
        return target._replace(kind="instance").by("type")

    @staticmethod
    def _many(found: _ScriptTarget | None) -> _ScriptTarget | None:
        return found._replace(kind="items") if found is not None and found.kind == "instance" else None

    # Guesses

    def _guess(self, chain: str) -> _ScriptTarget | None:
        """Guess by what receivers of that name are elsewhere, else by the only method of that name."""
        links = _LINKS.findall(chain)
        if len(links) < 2 or links[-1][0] != "." or "super" in links:
            return None
        name, receiver = links[-1][1:], links[-2].removeprefix(".")
        if majority := self._majority_types().get(receiver):
            path = majority.partition("::")[0]
            number = self._files[path].ids.index(majority) if path in self._files else FILE
            if found := self._member(_ScriptTarget("instance", path, number, "vote"), name):
                return found if found.kind == "symbol" else None
        named = self._by_name().get(name, [])
        if len(named) == 1:
            path, number = named[0]
            return _ScriptTarget("symbol", path, number, "name")
        return None

    def _majority_types(self) -> dict[str, str]:
        if self._known_majorities is None:
            types: dict[str, Counter[str]] = defaultdict(Counter)
            for path, file in self._files.items():
                if path not in self._bound_types:
                    self._bound_types[path] = list(self._types_bound_in(file))
                for name, bound_type in self._bound_types[path]:
                    types[name][bound_type] += 1
            self._known_majorities = {}
            for name, counts in types.items():
                bound_type, most = counts.most_common(1)[0]
                if bound_type and most >= _FEWEST_BINDINGS and most >= _MAJORITY * counts.total():
                    self._known_majorities[name] = bound_type
        return self._known_majorities

    def _types_bound_in(self, file: _ScriptFile) -> Iterator[tuple[str, str]]:
        """Yield the names that are bound in this file, each with its class; "" for any other type."""
        self._steps.begin_file()
        for number, definition in enumerate(file.definitions):
            for name, annotation in definition.parameters:
                if annotation:
                    self._steps.begin()
                    yield name, self._instance(self._typed(file, number, annotation, 0))
        for (_, name), bindings in file.given.items():
            for binding in bindings:
                if binding.annotated or binding.value.endswith("()"):
                    self._steps.begin()
                    yield name.removeprefix("this."), self._instance(self._value(file, binding, 0))

    def _instance(self, found: _ScriptTarget | None) -> str:
        return (
            self._files[found.path].ids[found.number]
            if found is not None and found.kind == "instance"
            else ""
        )

    def _by_name(self) -> dict[str, list[tuple[str, int]]]:
        """The methods of classes, by name."""
        if self._methods is None:
            self._methods = defaultdict(list)
            for path, file in self._files.items():
                for number, found in enumerate(file.definitions):
                    if (
                        found.kind == FUNCTION
                        and found.scope != FILE
                        and file.definitions[found.scope].kind == CLASS
                    ):
                        self._methods[found.name].append((path, number))
        return self._methods


def _split(text: str, mark: str) -> list[str]:
    """Split at the marks that are not in brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "<([{":
            depth += 1
        elif letter in ">)]}":
            depth -= 1
        elif letter == mark and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
