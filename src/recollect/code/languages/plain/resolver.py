"""Edges for languages that are resolved without following all of their types.

A name is looked up in its scope, among the file's imports, and in its package, or whatever its language has instead. If
that fails, it may be the only function of that name in the project: such an edge is only possible.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from posixpath import commonprefix
from typing import NamedTuple

from recollect.code.facts import CLASS, FILE, FUNCTION, Binding, Definition, FileFacts, Import, Reference
from recollect.code.languages.language import Language, ReadConfig
from recollect.code.languages.resolver import MajorityTypes, StepLimit
from recollect.code.languages.table import LANGUAGES
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
_NAMES = re.compile(r"[^.()\[\]]+").findall
_DEEPEST = 10
_LONGEST_NAME = 40  # parts of the full name of a package
_MANY = 20  # definitions of one name that are compared to find the nearest

_THIS = {"this", "self", "Self", "$this", "static", "@"}
_SUPER = {"super", "base", "parent"}
_WRAPPERS = re.compile(
    r"^(?:Option|Box|Arc|Rc|RefCell|Mutex|RwLock|Cow|Optional|Task|ValueTask|Lazy|Provider|Future|CompletableFuture|"
    r"Result|shared_ptr|unique_ptr|weak_ptr|std::\w+_ptr|std::optional)\s*<(.*)>$"
)
_DECORATION = re.compile(
    r"'\w+\b|\b(?:const|mut|dyn|impl|struct|class|enum|union|final|volatile|readonly|unsigned)\b|[&*?!]"
)
_TYPE = re.compile(r"[\w.:\\$]+")


class _Target(NamedTuple):
    kind: str  # "symbol", "instance", "package", "outside"
    where: str  # a path, a package, or a name outside the project
    number: int = FILE
    rule: str = "scope"

    def by(self, rule: str) -> "_Target":
        return self._replace(rule=rule) if RULES[rule] <= RULES[self.rule] else self


class _VisibleNames(NamedTuple):
    """The names that the imports of a file make visible."""

    aliases: dict[str, Import]  # by name
    opened: dict[str, int]  # packages of which all names are visible, in order
    classes: list[_Target]  # classes of which all members are visible


class _PlainFile:
    def __init__(self, path: str, facts: FileFacts) -> None:
        self.path = path
        self.facts = facts
        self.language = LANGUAGES[facts.language]
        self.definitions = facts.definitions
        self.ids = symbol_ids(path, facts.definitions)
        self.inside: dict[int, dict[str, int]] = defaultdict(dict)
        for number, found in enumerate(facts.definitions):
            self.inside[found.scope].setdefault(found.name, number)
        self.given: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in facts.bindings:
            self.given[binding.scope, binding.name].append(binding)

    @property
    def place(self) -> tuple[str, str]:
        """Its language and the package it declares."""
        declared = self.given.get((FILE, "package"), ())
        return self.language.name, declared[0].value if declared else ""

    def class_around(self, scope: int) -> int:
        while scope != FILE and self.definitions[scope].kind != CLASS:
            scope = self.definitions[scope].scope
        return scope

    def owner(self, number: int) -> str:
        """Return the name of the class that a definition belongs to, wherever that is defined."""
        found = self.definitions[number]
        before = found.name.rpartition(".")[0]
        if before and found.kind == FUNCTION:
            return before
        return self.definitions[found.scope].name if found.scope != FILE else ""


class PlainResolver:
    """`files` may be in several languages: each sees only its own family. `read` returns a configuration file, or None."""

    def __init__(self, files: Mapping[str, FileFacts], read: ReadConfig = lambda path: None) -> None:
        self.majority_types: MajorityTypes = {}  # there are none in these languages
        self._read = read
        self._files = {path: _PlainFile(path, facts) for path, facts in files.items()}
        self._families: dict[str, _LanguageFamily] = {}

    def edges(self, path: str) -> list[CodeEdge]:
        return self._family(self._files[path].language).edges(path)

    def digest(self) -> bytes:
        return b""

    def update(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        old = self._files.pop(path, None)
        new = _PlainFile(path, facts) if facts is not None else None
        if new is not None:
            self._files[path] = new
        if old is not None and new is not None and old.place == new.place:
            if family := self._families.get(_family_name(new.language)):
                family.replace(old, new)
            return
        for file in (old, new):
            if file is not None:
                self._families.pop(_family_name(file.language), None)

    def recount_types(self, names: Collection[str]) -> set[str]:
        return set()

    def is_lone(self, name: str) -> bool:
        languages = {_family_name(file.language): file.language for file in self._files.values()}
        return any(self._family(language).is_lone(name) for language in languages.values())

    def importers(self, path: str) -> set[str]:
        return self._family(self._files[path].language).importers(path) if path in self._files else set()

    def _family(self, language: Language) -> "_LanguageFamily":
        name = _family_name(language)
        if name not in self._families:
            files = {path: file for path, file in self._files.items() if _family_name(file.language) == name}
            self._families[name] = _LanguageFamily(LANGUAGES[name], files, self._read)
        return self._families[name]


def _family_name(language: Language) -> str:
    return language.shares_names_with or language.name


class _LanguageFamily:
    """All files of one language, or of two that see each other's names."""

    def __init__(self, language: Language, files: dict[str, _PlainFile], read: ReadConfig) -> None:
        self._files = files
        self._facts = {path: file.facts for path, file in files.items()}
        assert language.packages is not None, language.name
        self._packages = language.packages(self._facts, read)
        self._top: dict[str, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
        self._members: dict[str, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
        self._classes: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._named: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._in_package: dict[str, list[str]] = defaultdict(list)
        self._homes: dict[str, set[str]] = defaultdict(set)  # the packages that define a name
        self._sights: dict[str, _VisibleNames] = {}
        self._steps = StepLimit()
        self._exports_again = any(found.reexport for file in files.values() for found in file.facts.imports)
        for path, file in sorted(files.items()):
            package = self._packages.of(path)
            self._in_package[package].append(path)
            for places, place in self._entries(file):
                places.append(place)

    def replace(self, old: _PlainFile, new: _PlainFile) -> None:
        """Replace the facts of a file that stays in its package."""
        for places, place in self._entries(old):
            places.remove(place)
        self._files[new.path] = new
        self._facts[new.path] = new.facts
        for places, place in self._entries(new):
            places.append(place)
        self._sights.clear()
        if old.facts.imports != new.facts.imports:
            self.__dict__.pop("_imported_by", None)
            self._exports_again = self._exports_again or any(found.reexport for found in new.facts.imports)

    def _entries(self, file: _PlainFile) -> Iterator[tuple[list[tuple[str, int]], tuple[str, int]]]:
        """Yield each definition of a file with each list it belongs in."""
        package = self._packages.of(file.path)
        for number, found in enumerate(file.definitions):
            place = (file.path, number)
            name = found.name.rpartition(".")[2]
            if owner := file.owner(number):
                yield self._members[owner.rpartition(".")[2]][name], place
            else:
                self._homes[found.name].add(package)
                yield self._top[package][found.name], place
            if found.kind == CLASS:
                yield self._classes[name], place
            elif found.kind == FUNCTION:
                yield self._named[name], place

    def edges(self, path: str) -> list[CodeEdge]:
        self._steps.begin_file()
        file = self._files[path]
        found: dict[tuple[str, str, str], CodeEdge] = {}
        for edge in self._references(file):
            known = found.get(edge[:3])
            if edge.source != edge.target and (known is None or RULES[known.rule] < RULES[edge.rule]):
                found[edge[:3]] = edge
        reached = {
            edge.target.partition("::")[0] for edge in found.values() if RULES[edge.rule] >= RULES["type"]
        }
        for edge in self._imports(file, reached):
            found.setdefault(edge[:3], edge)
        return list(found.values())

    def is_lone(self, name: str) -> bool:
        return len(self._named.get(name, ())) == 1

    def importers(self, path: str) -> set[str]:
        """Return the files of its package, its direct and indirect importers, and, where names are global, the files that use them."""
        together: set[str] = set()
        if self._packages.shared:
            together.update(self._in_package[self._packages.of(path)])
        if self._files[path].language.sees_whole_project:
            names = {found.name for found in self._files[path].definitions}
            for other, file in self._files.items():
                if any(not names.isdisjoint(_NAMES(found.chain)) for found in file.facts.references):
                    together.add(other)
        waiting, seen = [path], {path}
        while waiting:
            here = waiting.pop()
            direct = self._imported_by[here] | self._imported_by[self._packages.of(here)]
            together |= direct.keys()
            passing = {other for other, passes_on in direct.items() if passes_on} - seen
            seen |= passing
            waiting.extend(passing)
        return together - {path}

    @cached_property
    def _imported_by(self) -> dict[str, dict[str, bool]]:
        """By file and by package: its importers, and whether those that import them see it too."""
        importers: dict[str, dict[str, bool]] = defaultdict(dict)
        for other, file in self._files.items():
            for found in file.facts.imports:
                targets: list[str | None] = [*self._packages.files(other, found)]
                if not targets and (package := self._packages.find(other, found)) is not None:
                    targets = [package, self._packages.inner(package, found.name)]
                passes_on = found.reexport or (found.name == "*" and not self._packages.shared)
                for target in targets:
                    if target is not None:
                        importers[target][other] = passes_on or importers[target].get(other, False)
        return importers

    def _imports(self, file: _PlainFile, reached: set[str]) -> Iterator[CodeEdge]:
        for found in file.facts.imports:
            paths = self._packages.files(file.path, found)
            if not paths and (package := self._packages.find(file.path, found)) is not None:
                everything = self._in_package[package]
                named = {path for path, _ in self._top[package].get(found.name, ())}
                inner = self._packages.inner(package, found.name) if found.name and not named else None
                named.update(self._in_package[inner] if inner is not None else ())
                paths = sorted(named or reached.intersection(everything)) or everything[:1]
            if not paths and (owner := self._class_named(found.module)):
                paths = [owner.where]
            for path in paths:
                if path != file.path:
                    yield CodeEdge(file.path, IMPORTS, path, "written", found.line)
            if not paths and (outside := self._packages.outside(found)):
                yield CodeEdge(file.path, IMPORTS, OUTSIDE + outside, "written", found.line)

    def _references(self, file: _PlainFile) -> Iterator[CodeEdge]:
        for number, definition in enumerate(file.definitions):
            for base in definition.bases:
                self._steps.begin()
                target = self._follow(file, definition.scope, base, is_type=True)
                if target is not None and target.kind != "package":
                    yield CodeEdge(file.ids[number], INHERITS, self._id(target), target.rule, definition.line)
        for binding in file.facts.bindings:
            self._steps.begin()
            target = self._typed(file, binding.scope, binding.value) if binding.annotated else None
            if target is not None and target.kind == "instance":
                source = file.path if binding.scope == FILE else file.ids[binding.scope]
                rule = "import" if target.where != file.path else "scope"
                yield CodeEdge(source, REFERENCES, self._id(target), rule, binding.line)
        for reference in file.facts.references:
            self._steps.begin()
            target = self._referenced(file, reference)
            if target is None or target.kind not in ("symbol", "outside"):
                continue
            source = file.path if reference.scope == FILE else file.ids[reference.scope]
            kind = reference.kind
            if target.kind == "symbol":
                definition = self._definition(target)
                if definition.kind == CLASS and kind == CALLS:
                    made = file.language.constructor or definition.name
                    own = self._own_member(target, made)
                    target = _Target("symbol", *own, target.rule) if own is not None else target
                elif definition.kind not in (CLASS, FUNCTION):
                    kind = USES
            yield CodeEdge(source, kind, self._id(target), target.rule, reference.line)

    def _referenced(self, file: _PlainFile, reference: Reference) -> _Target | None:
        """Return what a call or an annotation leads to."""
        if reference.kind == CALLS:
            return self._follow(file, reference.scope, reference.chain) or self._only(file, reference.chain)
        end = file.language.ends_annotations_in
        for chain in (reference.chain + end, reference.chain) if end else (reference.chain,):
            found = self._follow(file, reference.scope, chain, is_type=True)
            if found is not None and found.kind == "symbol":
                return found
        return None

    def _id(self, found: _Target) -> str:
        return (
            OUTSIDE + found.where if found.kind == "outside" else self._files[found.where].ids[found.number]
        )

    def _definition(self, found: _Target) -> Definition:
        return self._at((found.where, found.number))

    def _at(self, place: tuple[str, int]) -> Definition:
        return self._files[place[0]].definitions[place[1]]

    # Chains

    def _follow(
        self, file: _PlainFile, scope: int, chain: str, depth: int = 0, is_type: bool = False
    ) -> _Target | None:
        links = _LINKS.findall(chain)
        if not links or depth > _DEEPEST or links[0] == "?" or self._steps.is_reached():
            return None
        found = self._head(file, scope, links[0], depth, is_type)
        rest = links[1:]
        if found is None:
            found, rest = self._by_full_name(file, links)
        for place, link in enumerate(rest):
            if found is None:
                return None
            is_class = is_type or (
                file.language.calls_without_brackets
                and link[1:2].isupper()
                and rest[place + 1 : place + 2] not in ([], ["()"])
            )
            inner = self._inner_class(found, link) if is_class else None
            found = inner or self._step(file, found, link, depth)
            if (
                file.language.calls_without_brackets
                and found is not None
                and found.kind == "symbol"
                and rest[place + 1 :]
            ):
                is_call = self._definition(found).kind == FUNCTION and rest[place + 1] != "()"
                found = self._called(found, depth) if is_call else found
        return found

    def _by_full_name(self, file: _PlainFile, links: list[str]) -> tuple[_Target | None, list[str]]:
        """Resolve `com.shop.Text.trim` without an import. In C++ a namespace says nothing about the file."""
        name = "".join(links)
        called = next((place for place, link in enumerate(links) if link[0] in "(["), len(links))
        for end in range(min(called, _LONGEST_NAME, len(links) - 1), 0, -1):
            package = "".join(links[:end])
            if "." in package and package in self._top:
                return _Target("package", package, rule="import"), links[end:]
        if file.language.nests_namespaces and len(links) > 1 and "(" not in name:
            found = self._head(file, FILE, links[-2].lstrip("."), _DEEPEST)
            if found is not None:
                return found, links[-1:]
            return self._head(file, FILE, links[-1].lstrip("."), _DEEPEST), []
        return None, []

    def _head(
        self, file: _PlainFile, scope: int, name: str, depth: int, is_type: bool = False
    ) -> _Target | None:
        around = file.class_around(scope)
        if name in _THIS and scope != FILE and (this := self._this(file, scope, around)):
            return this
        if name in _SUPER and around != FILE and not file.language.super_is_module:
            return next(self._bases(_Target("instance", file.path, around, "self"), depth), None)
        here = scope
        while here != FILE:
            found = (self._class_in if is_type else self._in_scope)(file, here, name, depth)
            if found is not None and not (here != around and self._is_hidden(file, here, found)):
                return found
            here = file.definitions[here].scope
        if is_type and around != FILE and file.language.hides_outer_methods:
            inherited = self._member(_Target("symbol", file.path, around), name, depth)
            if inherited is not None and self._definition(inherited).kind == CLASS:
                return inherited
        if (number := file.inside[FILE].get(name)) is not None:
            return _Target("symbol", file.path, number)
        for binding in file.given.get((FILE, name), ()) if not is_type else ():
            if found := self._value(file, binding, depth):
                return found
        return self._from_elsewhere(file, scope, name, depth)

    def _is_hidden(self, file: _PlainFile, scope: int, found: _Target) -> bool:
        """Return whether a name means nothing here: a method of a class around the innermost one, as in Ruby."""
        is_outer = file.language.hides_outer_methods and file.definitions[scope].kind == CLASS
        return is_outer and found.kind == "symbol" and self._definition(found).kind == FUNCTION

    def _this(self, file: _PlainFile, scope: int, around: int) -> _Target | None:
        if around != FILE:
            return _Target("instance", file.path, around, "self")
        owner = file.owner(scope)
        place = self._class(file, owner) if owner else None
        return _Target("instance", *place, "self") if place else None

    def _in_scope(self, file: _PlainFile, scope: int, name: str, depth: int) -> _Target | None:
        holder = file.definitions[scope]
        for binding in file.given.get((scope, name), ()):
            if found := self._value(file, binding, depth):
                owner = file.owner(scope)
                is_receiver = file.language.names_receiver and owner and binding.line == holder.line
                return found._replace(rule="self") if is_receiver and owner in binding.value else found
        if holder.kind == FUNCTION or not file.language.calls_own_methods_by_name:
            number = file.inside[scope].get(name)
            found_here = _Target("symbol", file.path, number) if number is not None else None
            if found_here is None and file.language.calls_own_methods_by_name and "." in holder.name:
                place = self._class(file, file.owner(scope))
                return self._member(_Target("instance", *place, "self"), name, depth) if place else None
            return found_here
        member = self._member(_Target("instance", file.path, scope, "self"), name, depth)
        is_class = member is not None and member.kind == "symbol" and self._definition(member).kind == CLASS
        return member._replace(rule="scope") if member is not None and is_class else member

    def _class_in(self, file: _PlainFile, scope: int, name: str, depth: int) -> _Target | None:
        if file.definitions[scope].kind == CLASS:
            place = self._own_member(_Target("symbol", file.path, scope), name)
        else:
            place = (file.path, file.inside[scope][name]) if name in file.inside[scope] else None
        found = _Target("symbol", *place) if place is not None else None
        return found if found is not None and self._definition(found).kind == CLASS else None

    def _from_elsewhere(self, file: _PlainFile, scope: int, name: str, depth: int) -> _Target | None:
        """Find a name by an import of it, in the package, by imports of everything, or outside the project."""
        sight = self._sight_of(file)
        if (named := sight.aliases.get(name)) is not None:
            return self._imported(file, named, depth)
        for package in self._packages.seen(file.path):
            if target := self._in(package, name, file, "scope", depth):
                return target
        near = sight.opened if self._exports_again else sight.opened.keys() & self._homes.get(name, set())
        for package in sorted(near, key=sight.opened.__getitem__):
            if target := self._in(package, name, file, "import", depth):
                return target
        for owner in sight.classes:
            if target := self._member(owner, name, depth):
                return target
        root = self._packages.root(file.path, scope, name)
        return _Target("package", root, rule="import") if root is not None else None

    def _sight_of(self, file: _PlainFile) -> _VisibleNames:
        if file.path not in self._sights:
            sight = self._sights[file.path] = _VisibleNames({}, {}, [])
            for found in file.facts.imports:
                if found.name != "*":
                    sight.aliases[found.alias or found.name or self._packages.short(found.module)] = found
                    continue
                for package in self._packages.everything(file.path, found):
                    sight.opened.setdefault(package, len(sight.opened))
                if owner := self._class_named(found.module):
                    sight.classes.append(owner)
        return self._sights[file.path]

    def _imported(self, file: _PlainFile, found: Import, depth: int) -> _Target | None:
        package = self._packages.find(file.path, found)
        if package is not None:
            if not found.name:
                return _Target("package", package, rule="import")
            if target := self._in(package, found.name, file, "import", depth):
                return target
            inner = self._packages.inner(package, found.name)
            return _Target("package", inner, rule="import") if inner is not None else None
        owner = self._class_named(found.module)
        if owner is not None and (target := self._member(owner, found.name, depth)):
            return target.by("import")
        outside = self._packages.outside(found)
        return _Target("outside", outside, rule="import") if outside else None

    def _class_named(self, full_name: str) -> _Target | None:
        package, _, name = full_name.rpartition(".")
        places = self._top.get(package, {}).get(name, ())
        return _Target("symbol", *places[0], "import") if places else None

    def _in(self, package: str, name: str, file: _PlainFile, rule: str, depth: int) -> _Target | None:
        """Find a definition of a package, or one that it re-exports. Of several, return the one nearest to the file."""
        places = self._top[package].get(name, []) if package in self._top else []
        if rule == "import" and file.language.imports_exported_only:
            places = [place for place in places if self._at(place).exported]
        elif file.language.sees_whole_project:
            places = [place for place in places if place[0] == file.path or self._at(place).kind != FUNCTION]
        if places:
            return _Target("symbol", *_nearest(places, file.path), rule)
        if self._exports_again and depth < _DEEPEST and not self._steps.is_reached():
            for path in self._in_package.get(package, ()):
                for found in self._files[path].facts.imports:
                    if not found.reexport or (found.name != "*" and (found.alias or found.name) != name):
                        continue
                    inner = self._packages.find(path, found)
                    wanted = name if found.name == "*" else found.name
                    if inner in (None, package) or not wanted:
                        continue
                    if target := self._in(inner, wanted, file, "import", depth + 1):
                        return target
        return None

    def _step(self, file: _PlainFile, found: _Target, link: str, depth: int) -> _Target | None:
        if found.kind == "outside":
            return found._replace(where=found.where + link) if link[0] == "." else found
        if link == "()":
            return self._called(found, depth)
        if link == "[]":
            return None
        name = link.lstrip(".")
        if found.kind == "package":
            target = self._in(found.where, name, file, "import", depth)
            if target is None and (inner := self._packages.inner(found.where, name)) is not None:
                return found._replace(where=inner)
            return target
        if found.kind == "symbol" and self._definition(found).kind == CLASS and name == "new":
            made = self._member(found, name, depth)
            return made or (found if file.language.calls_without_brackets else None)
        if found.kind == "symbol" and self._definition(found).kind != CLASS:
            return None
        return self._member(found, name, depth)

    def _inner_class(self, found: _Target, link: str) -> _Target | None:
        """Find a class in a class. A function may have its name: Ruby's `Integer` and `Integer("3")`."""
        if found.kind != "symbol" or self._definition(found).kind != CLASS or link[0] != ".":
            return None
        place = self._own_member(found, link[1:], of_classes=True)
        return _Target("symbol", *place, found.rule) if place is not None else None

    def _called(self, found: _Target, depth: int) -> _Target | None:
        if found.kind != "symbol":
            return found if found.kind == "outside" else None
        definition = self._definition(found)
        if definition.kind == CLASS:
            return found._replace(kind="instance").by("type")
        file = self._files[found.where]
        if definition.returns in ("Self", "self", "static"):
            this = self._this(file, found.number, file.class_around(found.number))
            return this.by("type") if this else None
        if not definition.returns or depth > _DEEPEST:
            return None
        returned = (
            definition.returns.strip("()").split(",")[0]
            if file.language.returns_several
            else definition.returns
        )
        return self._typed(file, found.number, returned, depth + 1)

    def _value(self, file: _PlainFile, binding: Binding, depth: int) -> _Target | None:
        if binding.annotated:
            return self._typed(file, binding.scope, binding.value, depth + 1)
        if binding.value.partition(".")[0].partition("(")[0] == binding.name:
            return None
        found = self._follow(file, binding.scope, binding.value, depth + 1)
        if file.language.calls_without_brackets and found is not None and found.kind == "symbol":
            found = self._called(found, depth + 1)
        return found.by("type") if found is not None and found.kind in ("instance", "outside") else None

    def _typed(self, file: _PlainFile, scope: int, annotation: str, depth: int = 0) -> _Target | None:
        if depth > _DEEPEST:
            return None
        text = _DECORATION.sub("", annotation).strip()
        while wrapped := _WRAPPERS.match(text):
            text = wrapped[1].split(",")[0].strip()
        text = text.partition("<")[0].strip()
        if not _TYPE.fullmatch(text):
            return None
        chain = text.replace("::", ".").replace("\\", ".").strip(".")
        found = self._follow(file, scope, chain, depth + 1, is_type=True)
        if found is None or found.kind == "outside":
            return found
        if found.kind != "symbol" or self._definition(found).kind != CLASS:
            return None
        return found._replace(kind="instance").by("type")

    # Classes

    def _class(self, file: _PlainFile, name: str) -> tuple[str, int] | None:
        found = self._head(file, FILE, name.partition(".")[0], _DEEPEST) if name else None
        if found is not None and found.kind == "symbol":
            return found.where, found.number
        places = self._classes.get(name.rpartition(".")[2], ())
        return places[0] if len(places) == 1 else None

    def _member(self, found: _Target, name: str, depth: int) -> _Target | None:
        """Find a member of a class, wherever it is defined, or of its bases."""
        waiting = [found]
        seen: set[tuple[str, int]] = set()
        while waiting and not self._steps.is_reached():
            here = waiting.pop(0)
            if here.kind not in ("symbol", "instance") or (here.where, here.number) in seen or len(seen) > 50:
                continue
            seen.add((here.where, here.number))
            file = self._files[here.where]
            rule = here.rule if here.kind == "symbol" or here.rule == "self" else here.by("type").rule
            place = self._own_member(here, name)
            if place is not None:
                member = _Target("symbol", *place, rule)
                if self._definition(member).kind in (FUNCTION, CLASS):
                    return member
            if value := self._field(file, here.number, name, depth):
                return value.by(rule)
            if place is not None:
                return _Target("symbol", *place, rule)
            waiting.extend(self._bases(here, depth))
        return None

    def _own_member(self, found: _Target, name: str, of_classes: bool = False) -> tuple[str, int] | None:
        owner = self._definition(found).name.rpartition(".")[2]
        places = self._members.get(owner, {}).get(name, ())
        own = [place for place in places if self._belongs(place, found, owner)]
        if of_classes:
            own = [place for place in own if self._at(place).kind == CLASS]
        # C++ declares a method twice; the one outside the class has the body.
        return next((place for place in own if "." in self._at(place).name), own[0] if own else None)

    def _belongs(self, place: tuple[str, int], found: _Target, owner: str) -> bool:
        """Return whether a member of a class of that name belongs to this very class."""
        file = self._files[place[0]]
        scope = file.definitions[place[1]].scope
        if scope != FILE and file.definitions[scope].kind == CLASS and not file.language.has_open_classes:
            return (place[0], scope) == found[1:3]
        same_package = self._packages.of(place[0]) == self._packages.of(found.where)
        return same_package or len(self._classes[owner]) == 1

    def _field(self, file: _PlainFile, number: int, name: str, depth: int) -> _Target | None:
        for binding in file.given.get((number, name), ()):
            if found := self._value(file, binding, depth + 1):
                return found
        return None

    def _bases(self, found: _Target, depth: int) -> Iterator[_Target]:
        if found.kind == "outside" or found.number == FILE or depth > _DEEPEST:
            return
        file = self._files[found.where]
        definition = file.definitions[found.number]
        for base in definition.bases:
            target = self._follow(file, definition.scope, base, depth + 1, is_type=True)
            if target is not None and target.kind == "symbol":
                yield target._replace(kind=found.kind, rule=found.rule)

    def _only(self, file: _PlainFile, chain: str) -> _Target | None:
        """Return the only function of that name in the project. In C, where all names are global, that is certain."""
        name = chain.rpartition(".")[2]
        places = self._named.get(name, ())
        if len(places) != 1:
            return None
        found = _Target("symbol", *places[0], "name")
        is_linked = name == chain and file.language.links_by_name and self._definition(found).exported
        return found._replace(rule="import") if is_linked else found


def _nearest(places: list[tuple[str, int]], path: str) -> tuple[str, int]:
    if len(places) == 1:
        return places[0]
    return max(places[:_MANY], key=lambda place: len(commonprefix((path, place[0]))))
