"""How far a change in one file reaches: whose edges may be different now."""

import re
from collections.abc import Collection, Iterator, Mapping

from recollect.codebase.facts import CLASS, FILE, Binding, Definition, FileFacts, Import
from recollect.codebase.graph.names import symbol_ids
from recollect.codebase.graph.resolve.protocol import Resolver

EVERYTHING = "*"  # the name of an import that does not say what
_MANY = 200  # files


def changed_names(before: FileFacts | None, after: FileFacts | None) -> set[str]:
    """The names that other files can see and that are new, gone or different. None: the file was, or is, not there."""
    return _differing(_outward(before), _outward(after))


_Outward = set[tuple[object, ...]]


def _differing(before: _Outward, after: _Outward) -> set[str]:
    return {str(item[0]) for item in before ^ after}


def _outward(facts: FileFacts | None) -> _Outward:
    """What other files can see of one, each with its name first: if it stays the same, so do their edges."""
    if facts is None:
        return set()
    ids = symbol_ids("", facts.definitions)
    seen: list[bool] = []
    for each in facts.definitions:
        seen.append(each.scope == FILE or (seen[each.scope] and facts.definitions[each.scope].kind == CLASS))
    outward: _Outward = {
        (
            _called(each, facts),
            id,
            each.kind,
            each.bases,
            each.returns,
            each.decorators,
            each.parameters,
            each.exported,
        )
        for id, each, shown in zip(ids, facts.definitions, seen, strict=True)
        if shown
    }
    outward |= {(_imported_name(each), *each[:2]) for each in facts.imports if each.scope == FILE}
    outward |= {
        (_bound_name(each, facts), each.name, each.value, each.annotated, _id(each.scope, ids))
        for each in _outward_bindings(facts)
    }
    return outward | {(name, "exported") for name in facts.exports}


_RETURN = "return"  # what a function gives back is bound to this


def _outward_bindings(facts: FileFacts) -> list[Binding]:
    """Of the file, of classes, of attributes, and what functions return: that may be a local name, and what it was given."""
    returned = {(each.scope, each.value.split(".")[0]) for each in facts.bindings if each.name == _RETURN}
    return [
        each
        for each in facts.bindings
        if each.scope == FILE
        or facts.definitions[each.scope].kind == CLASS
        or each.name == _RETURN
        or "." in each.name
        or (each.scope, each.name) in returned
    ]


def _called(definition: Definition, facts: FileFacts) -> str:
    """What somebody would say who uses it. Nobody says `__getitem__`: they say what is of that class."""
    hidden = definition.name.startswith("__") and definition.scope != FILE
    return facts.definitions[definition.scope].name if hidden else definition.name


def _id(scope: int, ids: list[str]) -> str:
    return "" if scope == FILE else ids[scope]


def _bound_name(binding: Binding, facts: FileFacts) -> str:
    """What somebody would say who uses the value: the attribute, or the function that returns it."""
    if binding.scope != FILE and "." not in binding.name and facts.definitions[binding.scope].kind != CLASS:
        return _called(facts.definitions[binding.scope], facts)
    return _last(binding.name)


def _imported_name(each: Import) -> str:
    return EVERYTHING if each.name == EVERYTHING else each.alias or _last(each.name or each.module)


def _last(chain: str) -> str:
    return re.split(r"\W+", chain.rstrip("()[]"))[-1]


class Family:
    """The files of one language family, as its resolver knows them."""

    def __init__(self, resolver: Resolver, files: Mapping[str, FileFacts]) -> None:
        self.resolver = resolver
        self._files = dict(files)
        self._said: dict[str, str] = {}  # all names that a file says, as one text
        self._shown: dict[str, _Outward] = {}  # by files that changed: they will again

    def take(self, path: str, facts: FileFacts | None) -> set[str]:
        """Take in a new version of a file, or its end; the files whose edges may be different now, and still there."""
        said = self._files.get(path)
        before = self._shown.pop(path, None)
        after = _outward(facts)
        names = _differing(_outward(said) if before is None else before, after)
        near = self._importers(path) if names else set()
        touched = self.resolver.importers(path) if said is None or facts is None else set()
        self.resolver.changed(path, facts)
        self._said.pop(path, None)
        self._files.pop(path, None)
        if facts is not None:
            self._files[path] = facts
            self._shown[path] = after
        if said is None or facts is None:  # an import may lead elsewhere now, whatever it names
            touched |= self.resolver.importers(path)
        if names:
            touched |= self._reached_by(names, near | self._importers(path))
        return (touched | {path}) & self._files.keys()

    def _importers(self, path: str) -> set[str]:
        """All that import it by any way; everyone, if those are many: it is not worth to tell them apart."""
        found, waiting = {path}, [path]
        while waiting:
            if len(found) > _MANY:
                return set(self._files)
            fresh = self.resolver.importers(waiting.pop()) - found
            found |= fresh
            waiting += fresh
        return found

    def _reached_by(self, names: Collection[str], candidates: Collection[str]) -> set[str]:
        """Those that say one of `names`, or that say what depends on it in another of them, and so on."""
        known = waiting = set(names)
        reached: set[str] = set()
        while waiting:
            if EVERYTHING in waiting:
                return set(candidates)
            word = _any_of(waiting)
            dependent: set[str] = set()
            for path in candidates:
                facts = self._files.get(path)
                if facts is None:
                    continue
                text = self._said.get(path)
                if text is None:
                    text = self._said[path] = "\n".join(_said(facts))
                if any(name in text for name in waiting) and word.search(text):
                    reached.add(path)
                    dependent |= _depending(facts, word)
            waiting = dependent - known
            known = known | waiting
        return reached


def _said(facts: FileFacts) -> Iterator[str]:
    for reference in facts.references:
        yield reference.chain
    for binding in facts.bindings:
        yield binding.value
    for each in facts.imports:
        yield each.name or each.module
        yield each.alias
    for definition in facts.definitions:
        yield from _types_of(definition)


def _types_of(definition: Definition) -> Iterator[str]:
    yield from definition.bases
    yield from definition.decorators
    yield definition.returns
    for _, annotation in definition.parameters:
        yield annotation


def _depending(facts: FileFacts, word: re.Pattern[str]) -> set[str]:
    """What others may ask this file for that is made of something with such a name, here or by way of another name here."""
    found: set[str] = set()
    bindings = _outward_bindings(facts)
    while True:
        made = {_called(each, facts) for each in facts.definitions if any(map(word.search, _types_of(each)))}
        made |= {_bound_name(each, facts) for each in bindings if word.search(each.value)}
        made |= {_imported_name(each) for each in facts.imports if word.search(each.name or each.module)}
        if any(each.name == EVERYTHING for each in facts.imports):  # and who imports all from here gets that
            made |= set(word.findall("\n".join(_said(facts))))
        if made <= found:
            return found
        word = _any_of(made - found)
        found |= made


def _any_of(names: Collection[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")
