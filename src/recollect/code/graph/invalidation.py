"""Invalidation: which files need new edges when one file changes.

A file needs new edges if it uses a name that changed in a file it imports, directly or through names that depend on that
name. Two rules reach further: a function that is the only one of its name in the project can be called from anywhere, and
a receiver whose type is not known is taken for the type that most receivers of its name have.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping, Sequence
from sys import intern

from recollect.code.facts import (
    CLASS,
    FILE,
    FUNCTION,
    RETURNED,
    UNKNOWN,
    YIELDED,
    Binding,
    Definition,
    FileFacts,
    Import,
)
from recollect.code.languages.resolver import Resolver
from recollect.code.nodes import symbol_ids

EVERYTHING = "*"  # the name of an import that takes everything
MOST_FACTS = 2_400  # files whose facts are kept: 20 KB each in each of up to four processes
_MANY = 200  # files
_MANY_NAMES = 20  # with more, most files use one of them
_KEPT = 1_500  # files whose dependencies are kept: some 20 KB each


def changed_names(before: FileFacts | None, after: FileFacts | None) -> set[str]:
    """Return the names that other files can see and that are new, gone or different. None means the file does not exist."""
    return _differing(_visible_facts(before), _visible_facts(after))


_VisibleFacts = set[tuple[object, ...]]
_Dependencies = list[tuple[str, frozenset[str]]]  # names of a file, and the words that each is made of


def _differing(before: _VisibleFacts, after: _VisibleFacts) -> set[str]:
    return {_word(str(item[0])) for item in before ^ after}


def _visible_facts(facts: FileFacts | None) -> _VisibleFacts:
    """Return what other files can see of a file, each with its name first: if it stays the same, so do their edges."""
    if facts is None:
        return set()
    ids = symbol_ids("", facts.definitions)
    outermost = _outermost(facts.definitions)
    inner = _returned_locals(facts, outermost)
    seen: list[bool] = []
    for number, definition in enumerate(facts.definitions):
        in_seen = definition.scope == FILE or (
            seen[definition.scope] and facts.definitions[definition.scope].kind == CLASS
        )
        seen.append(in_seen or (outermost[number], definition.name) in inner)
    visible: _VisibleFacts = {
        (
            _public_name(definition, facts),
            id,
            definition.kind,
            definition.bases,
            definition.returns,
            definition.decorators,
            definition.parameters,
            definition.exported,
        )
        for id, definition, is_visible in zip(ids, facts.definitions, seen, strict=True)
        if is_visible
    }
    visible |= {(_added_name(entry, facts), *entry[:2], _id(entry.scope, ids)) for entry in facts.imports}
    visible |= {
        (_bound_name(binding, facts), binding.name, binding.value, binding.annotated, _id(binding.scope, ids))
        for binding in _visible_bindings(facts, outermost, inner)
    }
    if facts.exports:
        visible |= {(name, "listed or not") for name, *_ in visible}  # without a list, everything is exported
    return visible | {(name, "exported") for name in facts.exports}


def _visible_bindings(
    facts: FileFacts, outermost: Sequence[int], inner: Collection[tuple[int, str]]
) -> list[Binding]:
    """Return bindings of the file, of classes and attributes, and those that decide what functions return."""
    return [
        binding
        for binding in facts.bindings
        if binding.scope == FILE
        or facts.definitions[binding.scope].kind == CLASS
        or _escapes(binding)
        or (outermost[binding.scope], binding.name) in inner
    ]


def _escapes(binding: Binding) -> bool:
    """Return whether a binding in a function is visible outside it."""
    return binding.name in (RETURNED, YIELDED) or "." in binding.name


def _returned_locals(facts: FileFacts, outermost: Sequence[int]) -> set[tuple[int, str]]:
    """Return local names that decide what leaves a function, directly or not, each with its outermost function."""
    made_of: dict[tuple[int, str], set[str]] = {}
    waiting: list[tuple[int, str]] = []
    for binding in facts.bindings:
        if binding.scope == FILE or (function := outermost[binding.scope]) == FILE:
            continue
        words = _words(binding.value)
        if _escapes(binding):
            waiting += [(function, word) for word in words]
        else:
            made_of.setdefault((function, binding.name), set()).update(words)
    for number, definition in enumerate(facts.definitions):
        if (function := outermost[number]) not in (FILE, number):
            made_of.setdefault((function, definition.name), set()).update(_words_in(_types_of(definition)))
    inner: set[tuple[int, str]] = set()
    while waiting:
        name = waiting.pop()
        if name in made_of and name not in inner:
            inner.add(name)
            waiting += [(name[0], word) for word in made_of[name]]
    return inner


def _outermost(definitions: Sequence[Definition]) -> list[int]:
    """Return for each definition the outermost function that contains it or that it is; FILE if there is none."""
    outermost: list[int] = []
    for number, definition in enumerate(definitions):
        around = FILE if definition.scope == FILE else outermost[definition.scope]
        outermost.append(number if around == FILE and definition.kind == FUNCTION else around)
    return outermost


def _public_name(definition: Definition, facts: FileFacts) -> str:
    """Return the name by which others use it. Nobody writes `__getitem__`: they use the class."""
    hidden = definition.name.startswith("__") and definition.scope != FILE
    return facts.definitions[definition.scope].name if hidden else definition.name


def _id(scope: int, ids: list[str]) -> str:
    return "" if scope == FILE else ids[scope]


def _bound_name(binding: Binding, facts: FileFacts) -> str:
    """Return the name by which others use the value: the attribute, or the function that returns it."""
    if binding.scope != FILE and "." not in binding.name and facts.definitions[binding.scope].kind != CLASS:
        return _public_name(facts.definitions[binding.scope], facts)
    return _last(binding.name)


def _imported_name(entry: Import) -> str:
    return EVERYTHING if entry.name == EVERYTHING else entry.alias or _last(entry.name or entry.module)


def _added_name(entry: Import, facts: FileFacts) -> str:
    """Return the name that an import adds to the file: `import a.b` adds `a`."""
    if facts.language == "python" and not entry.name and not entry.alias:
        return entry.module.partition(".")[0]
    return _imported_name(entry)


def _last(chain: str) -> str:
    return re.split(r"\W+", chain.rstrip("()[]"))[-1]


_words = re.compile(r"\w+").findall


def _word(name: str) -> str:
    """Return the last word of a name: in some languages a name has several."""
    return name if name.isidentifier() else (_words(name) or [EVERYTHING])[-1]


class LazyFacts(MutableMapping[str, FileFacts]):
    """The facts of a family's files, each fetched when it is used, and kept while it is used again and again."""

    def __init__(self, paths: Iterable[str], fetch: Callable[[str], FileFacts]) -> None:
        self._known: dict[str, FileFacts | None] = dict.fromkeys(paths)  # None = to be fetched
        self._fetch = fetch
        self._fetched: dict[str, FileFacts] = {}
        self._older: dict[str, FileFacts] = {}  # fetched before those; what is not used again is dropped

    def __getitem__(self, path: str) -> FileFacts:
        facts = self._known[path] or self._fetched.get(path)
        if facts is None:
            if len(self._fetched) >= MOST_FACTS // 2:
                self._older, self._fetched = self._fetched, {}
            facts = self._fetched[path] = self._older.get(path) or self._fetch(path)
        return facts

    def __setitem__(self, path: str, facts: FileFacts) -> None:
        self._known[path] = facts
        self._forget(path)

    def __delitem__(self, path: str) -> None:
        del self._known[path]
        self._forget(path)

    def _forget(self, path: str) -> None:
        self._fetched.pop(path, None)
        self._older.pop(path, None)

    def __contains__(self, path: object) -> bool:
        return path in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class FamilyFiles:
    """The files of one language family, their resolver, and which of them a change affects."""

    def __init__(
        self,
        resolver: Resolver,
        files: MutableMapping[str, FileFacts],
        find_words: Callable[[Collection[str]], Collection[str]],
    ) -> None:
        """`find_words` returns the files that had one of some words before any of them changed here."""
        self.resolver = resolver
        self._files = files
        self._find_words = find_words
        self._used_words: dict[str, set[str]] = {}  # all words that a file uses
        self._dependencies: dict[str, _Dependencies] = {}  # of at most _KEPT files
        self._visible_of: dict[
            str, _VisibleFacts
        ] = {}  # of files that changed: they are likely to change again

    def update(self, path: str, facts: FileFacts | None) -> set[str]:
        """Replace the facts of a file, or remove it. Return the existing files whose edges may be different now."""
        old_facts = self._files.get(path)
        self._used_words.pop(path, None)
        self._dependencies.pop(path, None)
        before = self._visible_of.pop(path, None)
        after = _visible_facts(facts)
        names = _differing(_visible_facts(old_facts) if before is None else before, after)
        functions = {name for name, _ in _functions(old_facts) ^ _functions(facts)}
        lone = set(filter(self.resolver.is_lone, functions))
        if facts is not None:
            self._visible_of[path] = after
        if old_facts is not None and facts is not None:
            affected, known = self._affected_by(names, path, facts, lambda: self._importers(path))
            self._replace(path, facts, known if affected <= {path} else None)
        else:  # an import may lead elsewhere now, whatever it names
            affected, near = self.resolver.importers(path), self._importers(path)
            self._replace(path, facts)
            affected |= self.resolver.importers(path)
            near |= self._importers(path)
            affected_files, known = self._affected_by(names, path, facts, lambda: near)
            affected |= affected_files
        lone.update(filter(self.resolver.is_lone, functions))
        affected |= self._calling(lone) | {path}
        retyped = self.resolver.recount_types(
            _rebound_names(old_facts, facts) | self._bound_to(known, affected)
        )
        retyped |= self._with_majority_type(known, affected)
        receivers = {receiver for receiver, one in self.resolver.majority_types.items() if one}
        calling = self._calling_on(retyped) | self._calling(functions if receivers else (), on=receivers)
        return (affected | calling) & self._files.keys()

    def _replace(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        self.resolver.update(path, facts, hidden)
        if facts is not None:
            self._files[path] = facts
        else:
            self._files.pop(path, None)

    def _importers(self, path: str) -> set[str]:
        """Return all direct and indirect importers; all files if there are many, because telling them apart does not pay."""
        found, waiting = {path}, [path]
        while waiting:
            if len(found) > _MANY:
                return set(self._files)
            fresh = self.resolver.importers(waiting.pop()) - found
            found |= fresh
            waiting += fresh
        return found

    def _affected_by(
        self, names: Collection[str], path: str, facts: FileFacts | None, importers: Callable[[], set[str]]
    ) -> tuple[set[str], set[str]]:
        """Find the files that a change of `names` in the file at `path` affects, among it and its `importers`.

        Return them and all names that depend on `names`. `importers` is called only if another file uses one of the names.
        """
        known = waiting = set(names)
        near: set[str] | None = None
        affected_files: set[str] = set()
        while waiting:
            if EVERYTHING in waiting:
                return importers(), known
            dependent: set[str] = set()
            for file in self._files_using(waiting):
                file_facts = facts if file == path else self._files.get(file)
                if file_facts is None or waiting.isdisjoint(self._words_of(file, file_facts)):
                    continue
                if file != path and near is None:
                    near = importers()
                if file == path or (near and file in near):
                    affected_files.add(file)
                    dependent |= _dependent_names(self._dependencies_of(file, file_facts), waiting)
            waiting = dependent - known
            known = known | waiting
        return affected_files, known

    def _calling(self, names: Collection[str], on: Collection[str] | None = None) -> set[str]:
        """Return the files that may call something by one of `names`, on any receiver or on one of those in `on`."""
        return self._referring(names, lambda receiver, name: name in names and (on is None or receiver in on))

    def _calling_on(self, receivers: Collection[str]) -> set[str]:
        """Return the files that call something on one of `receivers`, and may resolve it by its majority type."""
        return self._referring(receivers, lambda receiver, name: receiver in receivers)

    def _referring(self, names: Collection[str], fits: Callable[[str, str], bool]) -> set[str]:
        """Return the files with a reference that contains one of `names` and whose last two names fit."""
        return {
            path
            for path in (self._files_using(names) if names else ())
            if any(fits(*_last_two(reference.chain)) for reference in self._files[path].references)
        }

    def _bound_to(self, names: set[str], paths: set[str]) -> set[str]:
        """Return the names that are bound to something with one of `names` in these files."""
        files = paths & self._files.keys() if names else ()
        given = (pair for path in files for pair in _all_bindings(self._files[path]))
        return {name for name, _ in given} if EVERYTHING in names else _names_bound_to(names, given)

    def _with_majority_type(self, names: set[str], paths: set[str]) -> set[str]:
        """Return receivers whose majority type is a class with one of `names` in these files: it may have other methods now."""
        return {
            receiver
            for receiver, one in self.resolver.majority_types.items()
            if one
            and one[0] in paths
            and (EVERYTHING in names or self._files[one[0]].definitions[one[1]].name in names)
        }

    def _words_of(self, path: str, facts: FileFacts) -> set[str]:
        words = self._used_words.get(path)
        if words is None:
            words = self._used_words[path] = _words_in(_all_used(facts))
        return words

    def _dependencies_of(self, path: str, facts: FileFacts) -> _Dependencies:
        """Return how the names of a file depend on others. A change looks at most files several times, and so does the next."""
        found = self._dependencies.get(path)
        if found is None:
            if len(self._dependencies) >= _KEPT:
                self._dependencies.clear()
            found = self._dependencies[path] = _dependencies(facts)
        return found

    def _files_using(self, names: Collection[str]) -> Collection[str]:
        """Return the files that may use one of `names`: those with such a word, and those that changed."""
        words = set(map(_word, names))
        if EVERYTHING in words or len(words) > _MANY_NAMES:
            return set(self._files)
        return self._files.keys() & (self._visible_of.keys() | self._find_words(words))


def _last_two(chain: str) -> tuple[str, str]:
    """Return the receiver of a call or use, and the name that is called or used."""
    receiver, _, name = chain.rpartition(".")
    return receiver.rpartition(".")[2], name


def _rebound_names(before: FileFacts | None, after: FileFacts | None) -> set[str]:
    """Return names that are bound to something in one version of a file and not in the other."""
    old, new = Counter(_all_bindings(before)), Counter(_all_bindings(after))
    names = {name for name, _ in (old - new) + (new - old)} if old != new else set()
    return names | _names_bound_to(names, new)


def _names_bound_to(names: set[str], given: Iterable[tuple[str, str]]) -> set[str]:
    return {name for name, value in given if not names.isdisjoint(_words(value))} if names else set()


def _all_bindings(facts: FileFacts | None) -> Iterator[tuple[str, str]]:
    """Yield names with the value or type they are bound to, where that is known."""
    if facts is None:
        return
    for binding in facts.bindings:
        if not binding.value.startswith(UNKNOWN):
            yield binding.name.rpartition(".")[2], binding.value
    for definition in facts.definitions:
        for name, annotation in definition.parameters:
            if annotation:
                yield name, annotation


def _functions(facts: FileFacts | None) -> set[tuple[str, str]]:
    """Return names and ids of all functions, wherever they are defined."""
    if facts is None:
        return set()
    ids = symbol_ids("", facts.definitions)
    return {
        (definition.name.rpartition(".")[2], id)
        for id, definition in zip(ids, facts.definitions, strict=True)
        if definition.kind == FUNCTION
    }


def _all_used(facts: FileFacts) -> Iterator[str]:
    for reference in facts.references:
        yield reference.chain
    for binding in facts.bindings:
        yield binding.value
    for entry in facts.imports:
        yield entry.name or entry.module
        yield entry.alias
    for definition in facts.definitions:
        yield from _types_of(definition)


def _types_of(definition: Definition) -> Iterator[str]:
    yield from definition.bases
    yield from definition.decorators
    yield definition.returns
    for _, annotation in definition.parameters:
        yield annotation


def _dependencies(facts: FileFacts) -> _Dependencies:
    """Return the names of this file that are made of others, with these."""
    made_of = [(_public_name(item, facts), _words_in(_types_of(item))) for item in facts.definitions]
    outermost = _outermost(facts.definitions)
    bindings = _visible_bindings(facts, outermost, _returned_locals(facts, outermost))
    made_of += [(_bound_name(item, facts), _words_in((item.value,))) for item in bindings]
    made_of += [(_imported_name(item), _words_in((item.name or item.module,))) for item in facts.imports]
    made_of = [(_word(name), words) for name, words in made_of if words]
    if any(
        item.name == EVERYTHING for item in facts.imports
    ):  # who imports everything from here gets that too
        made_of += [(word, {word}) for word in _words_in(_all_used(facts))]
    return [(intern(name), frozenset(map(intern, words))) for name, words in made_of]


def _dependent_names(made_of: _Dependencies, names: Collection[str]) -> set[str]:
    """Return the names that depend on one of `names`, directly or through another one."""
    found: set[str] = set()
    fresh = set(names)
    while fresh:
        made = {name for name, words in made_of if not fresh.isdisjoint(words)}
        fresh = made - found
        found |= made
    return found


def _words_in(texts: Iterable[str]) -> set[str]:
    return set(_words("\n".join(texts)))
