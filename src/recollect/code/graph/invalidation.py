"""How far a change in one file reaches: whose edges may be different now."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping, Sequence

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
from recollect.code.terms import count_terms

EVERYTHING = "*"  # the name of an import that does not say what
_MANY = 200  # files
_MANY_NAMES = 20  # from here on, most files say one of them


def changed_names(before: FileFacts | None, after: FileFacts | None) -> set[str]:
    """The names that other files can see and that are new, gone or different. None: the file was, or is, not there."""
    return _differing(_outward(before), _outward(after))


_Outward = set[tuple[object, ...]]


def _differing(before: _Outward, after: _Outward) -> set[str]:
    return {_word(str(item[0])) for item in before ^ after}


def _outward(facts: FileFacts | None) -> _Outward:
    """What other files can see of one, each with its name first: if it stays the same, so do their edges."""
    if facts is None:
        return set()
    ids = symbol_ids("", facts.definitions)
    outermost = _outermost(facts.definitions)
    inner = _inner(facts, outermost)
    seen: list[bool] = []
    for number, each in enumerate(facts.definitions):
        in_seen = each.scope == FILE or (seen[each.scope] and facts.definitions[each.scope].kind == CLASS)
        seen.append(in_seen or (outermost[number], each.name) in inner)
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
    outward |= {(_seen_name(each, facts), *each[:2], _id(each.scope, ids)) for each in facts.imports}
    outward |= {
        (_bound_name(each, facts), each.name, each.value, each.annotated, _id(each.scope, ids))
        for each in _outward_bindings(facts, outermost, inner)
    }
    if facts.exports:
        outward |= {(name, "listed or not") for name, *_ in outward}  # without a list, all is exported
    return outward | {(name, "exported") for name in facts.exports}


def _outward_bindings(
    facts: FileFacts, outermost: Sequence[int], inner: Collection[tuple[int, str]]
) -> list[Binding]:
    """Of the file, of classes, of attributes, and what functions give back: that may be a local name, and what it was given."""
    return [
        each
        for each in facts.bindings
        if each.scope == FILE
        or facts.definitions[each.scope].kind == CLASS
        or _leaves(each)
        or (outermost[each.scope], each.name) in inner
    ]


def _leaves(binding: Binding) -> bool:
    """Whether what a function binds there can be had outside of it."""
    return binding.name in (RETURNED, YIELDED) or "." in binding.name


def _inner(facts: FileFacts, outermost: Sequence[int]) -> set[tuple[int, str]]:
    """Local names that what leaves a function is made of, be it by way of other ones; with the outermost function."""
    made_of: dict[tuple[int, str], set[str]] = {}
    waiting: list[tuple[int, str]] = []
    for each in facts.bindings:
        if each.scope == FILE or (function := outermost[each.scope]) == FILE:
            continue
        words = _words_in((each.value,))
        if _leaves(each):
            waiting += [(function, word) for word in words]
        else:
            made_of.setdefault((function, each.name), set()).update(words)
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
    """By definition, the function it stands in that stands in no other, or that it is; FILE = there is none."""
    outermost: list[int] = []
    for number, each in enumerate(definitions):
        around = FILE if each.scope == FILE else outermost[each.scope]
        outermost.append(number if around == FILE and each.kind == FUNCTION else around)
    return outermost


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


def _seen_name(each: Import, facts: FileFacts) -> str:
    """What others call it: `import a.b` gives a file an `a`."""
    if facts.language == "python" and not each.name and not each.alias:
        return each.module.partition(".")[0]
    return _imported_name(each)


def _last(chain: str) -> str:
    return re.split(r"\W+", chain.rstrip("()[]"))[-1]


_words = re.compile(r"\w+").findall


def _word(name: str) -> str:
    """As it is looked for: the last word of it, for some languages have names that are more than one."""
    return name if name.isidentifier() else (_words(name) or [EVERYTHING])[-1]


class LazyFacts(MutableMapping[str, FileFacts]):
    """What the files of a family say, fetched when it is first asked for."""

    def __init__(self, paths: Iterable[str], fetch: Callable[[str], FileFacts]) -> None:
        self._known: dict[str, FileFacts | None] = dict.fromkeys(paths)
        self._fetch = fetch

    def __getitem__(self, path: str) -> FileFacts:
        facts = self._known[path]
        if facts is None:
            facts = self._known[path] = self._fetch(path)
        return facts

    def __setitem__(self, path: str, facts: FileFacts) -> None:
        self._known[path] = facts

    def __delitem__(self, path: str) -> None:
        del self._known[path]

    def __contains__(self, path: object) -> bool:
        return path in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class FamilyFiles:
    """The files of one language family, as its resolver knows them."""

    def __init__(
        self,
        resolver: Resolver,
        files: MutableMapping[str, FileFacts],
        terms: Callable[[str], bytes | None] = lambda path: None,
        mentioning: Callable[[Collection[str]], set[str]] | None = None,
    ) -> None:
        self.resolver = resolver
        self._files = files
        self._terms = terms  # of a file, as they are kept for ranking; None = they are not known
        self._mentioning = mentioning  # files in which one of some names stands, without unpacking them
        self._said: dict[str, set[str]] = {}  # all words that a file says
        self._shown: dict[str, _Outward] = {}  # by files that changed: they will again

    def take(self, path: str, facts: FileFacts | None) -> set[str]:
        """Take in a new version of a file, or its end; the files whose edges may be different now, and still there."""
        said = self._files.get(path)
        self._said.pop(path, None)
        before = self._shown.pop(path, None)
        after = _outward(facts)
        names = _differing(_outward(said) if before is None else before, after)
        functions = {name for name, _ in _functions(said) ^ _functions(facts)}
        lone = set(filter(self.resolver.is_lone, functions))
        if facts is not None:
            self._shown[path] = after
        if said is not None and facts is not None:
            touched, known = self._reached_by(names, path, facts, lambda: self._importers(path))
            self._replace(path, facts, known if touched <= {path} else None)
        else:  # an import may lead elsewhere now, whatever it names
            touched, near = self.resolver.importers(path), self._importers(path)
            self._replace(path, facts)
            touched |= self.resolver.importers(path)
            near |= self._importers(path)
            reached, known = self._reached_by(names, path, facts, lambda: near)
            touched |= reached
        lone.update(filter(self.resolver.is_lone, functions))
        touched |= self._calling(lone) | {path}
        turned = self.resolver.recount_types(_given_otherwise(said, facts) | self._given_by(known, touched))
        turned |= self._elected(known, touched)
        elected = {receiver for receiver, one in self.resolver.majority_types.items() if one}
        calling = self._calling_on(turned) | self._calling(functions if elected else (), on=elected)
        return (touched | calling) & self._files.keys()

    def _replace(self, path: str, facts: FileFacts | None, hidden: Collection[str] | None = None) -> None:
        self.resolver.update(path, facts, hidden)
        if facts is not None:
            self._files[path] = facts
        else:
            self._files.pop(path, None)

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

    def _reached_by(
        self, names: Collection[str], path: str, facts: FileFacts | None, importers: Callable[[], set[str]]
    ) -> tuple[set[str], set[str]]:
        """Of the file at `path` and its `importers`, those that say one of `names`, or that say what depends on it
        in another of them, and so on; and all these names. Who imports it is asked only if anybody else says one.
        """
        known = waiting = set(names)
        near: set[str] | None = None
        reached: set[str] = set()
        while waiting:
            if EVERYTHING in waiting:
                return importers(), known
            dependent: set[str] = set()
            for each in self._saying(waiting):
                said = facts if each == path else self._files.get(each)
                if said is None or waiting.isdisjoint(self._words_of(each, said)):
                    continue
                if each != path and near is None:
                    near = importers()
                if each == path or (near and each in near):
                    reached.add(each)
                    dependent |= _depending(said, waiting)
            waiting = dependent - known
            known = known | waiting
        return reached, known

    def _calling(self, names: Collection[str], on: Collection[str] | None = None) -> set[str]:
        """The files, wherever they are, that may call something by one of `names`, be it `on` one of these receivers alone."""
        return self._referring(names, lambda receiver, name: name in names and (on is None or receiver in on))

    def _calling_on(self, receivers: Collection[str]) -> set[str]:
        """Those that call something on one of `receivers`, and may take it for what it mostly is."""
        return self._referring(receivers, lambda receiver, name: receiver in receivers)

    def _referring(self, names: Collection[str], fits: Callable[[str, str], bool]) -> set[str]:
        """Those that say one of `names` in a chain whose last two fit."""
        return {
            path
            for path in (self._saying(names) if names else ())
            if any(fits(*_last_two(each.chain)) for each in self._files[path].references)
        }

    def _given_by(self, names: set[str], paths: set[str]) -> set[str]:
        """What is made of something with one of `names`, in these files."""
        files = paths & self._files.keys() if names else ()
        given = (each for path in files for each in _all_given(self._files[path]))
        return {name for name, _ in given} if EVERYTHING in names else _made_of(names, given)

    def _elected(self, names: set[str], paths: set[str]) -> set[str]:
        """Receivers that are taken for a class with one of `names`, in these files: it may have other methods now."""
        return {
            receiver
            for receiver, one in self.resolver.majority_types.items()
            if one
            and one[0] in paths
            and (EVERYTHING in names or self._files[one[0]].definitions[one[1]].name in names)
        }

    def _words_of(self, path: str, facts: FileFacts) -> set[str]:
        words = self._said.get(path)
        if words is None:
            words = self._said[path] = _words_in(_all_said(facts))
        return words

    def _saying(self, names: Collection[str]) -> Collection[str]:
        """The files that may say one of `names`.

        By their terms, which leave few; but a name of one word is in many. To unpack all of these pays only for one
        who stays: the first time, they are searched as they are.
        """
        wanted = [_terms_in(name) for name in names]
        found = set(self._files)
        if len(wanted) <= _MANY_NAMES and all(wanted):
            found = {path for path in found if path in self._shown or self._may_say(path, wanted)}
        if len(found) > _MANY and self._mentioning is not None:
            found &= self._mentioning(names) | self._shown.keys()
            self._mentioning = None
        return found

    def _may_say(self, path: str, wanted: Sequence[Sequence[bytes]]) -> bool:
        terms = self._terms(path)
        if terms is None:
            return True
        for parts in wanted:
            for part in parts:
                if part not in terms:
                    break
            else:
                return True
        return False


def _last_two(chain: str) -> tuple[str, str]:
    """What something is asked of, and what is called or used there."""
    receiver, _, name = chain.rpartition(".")
    return receiver.rpartition(".")[2], name


def _given_otherwise(before: FileFacts | None, after: FileFacts | None) -> set[str]:
    """Names that were given something in a file that they are not any more, or the other way round."""
    old, new = Counter(_all_given(before)), Counter(_all_given(after))
    names = {name for name, _ in (old - new) + (new - old)} if old != new else set()
    return names | _made_of(names, new)


def _made_of(names: set[str], given: Iterable[tuple[str, str]]) -> set[str]:
    return {name for name, value in given if not names.isdisjoint(_words(value))} if names else set()


def _all_given(facts: FileFacts | None) -> Iterator[tuple[str, str]]:
    """Names, each with the value or type it was given, where that is known."""
    if facts is None:
        return
    for binding in facts.bindings:
        if not binding.value.startswith(UNKNOWN):
            yield binding.name.rpartition(".")[2], binding.value
    for definition in facts.definitions:
        for name, annotation in definition.parameters:
            if annotation:
                yield name, annotation


def _terms_in(name: str) -> list[bytes]:
    """As they stand among the terms of a file, the whole name first: few have that."""
    return [term.to_bytes(4, "little") for term in reversed(count_terms(name))]


def _functions(facts: FileFacts | None) -> set[tuple[str, str]]:
    """Names and ids of all functions, wherever they stand."""
    if facts is None:
        return set()
    ids = symbol_ids("", facts.definitions)
    return {
        (each.name.rpartition(".")[2], id)
        for id, each in zip(ids, facts.definitions, strict=True)
        if each.kind == FUNCTION
    }


def _all_said(facts: FileFacts) -> Iterator[str]:
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


def _depending(facts: FileFacts, names: Collection[str]) -> set[str]:
    """What others may ask this file for that is made of something with such a name, here or by way of another name here."""
    made_of = [(_called(each, facts), _words_in(_types_of(each))) for each in facts.definitions]
    outermost = _outermost(facts.definitions)
    bindings = _outward_bindings(facts, outermost, _inner(facts, outermost))
    made_of += [(_bound_name(each, facts), _words_in((each.value,))) for each in bindings]
    made_of += [(_imported_name(each), _words_in((each.name or each.module,))) for each in facts.imports]
    made_of = [(_word(name), words) for name, words in made_of if words]
    if any(each.name == EVERYTHING for each in facts.imports):  # and who imports all from here gets that
        made_of += [(word, {word}) for word in _words_in(_all_said(facts))]
    found: set[str] = set()
    fresh = set(names)
    while fresh:
        made = {name for name, words in made_of if not fresh.isdisjoint(words)}
        fresh = made - found
        found |= made
    return found


def _words_in(said: Iterable[str]) -> set[str]:
    return set(_words("\n".join(said)))
