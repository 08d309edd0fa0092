"""The names of one Python file by scope."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from recollect.code.facts import CLASS, FILE, FUNCTION, VARIABLE, Binding, Definition, FileFacts, Import
from recollect.code.nodes import symbol_ids

# Methods that receive the class without a decorator.
_OF_CLASS = {"__new__", "__init_subclass__", "__class_getitem__"}


_Bound = dict[tuple[int, str], list[Binding]]  # by scope and name


class Scopes:
    """The names of a file. Definitions and imports are sorted at once, the rest on first use: most files never need it."""

    def __init__(self, path: str, facts: FileFacts) -> None:
        self.path = path
        self.definitions = facts.definitions
        self.exports = frozenset(facts.exports)
        self._bindings = facts.bindings
        self.stars: list[Import] = []
        self._defined: dict[tuple[int, str], list[int]] = {}
        self._imported: dict[tuple[int, str], list[Import]] = {}
        for number, definition in enumerate(facts.definitions):
            self._defined.setdefault((definition.scope, definition.name), []).append(number)
        for entry in facts.imports:
            if entry.name == "*":
                self.stars.append(entry)
            else:
                here = entry.alias or entry.name or entry.module.partition(".")[0]
                self._imported.setdefault((entry.scope, here), []).append(entry)

    @cached_property
    def ids(self) -> list[str]:
        return symbol_ids(self.path, self.definitions)

    @cached_property
    def _parents(self) -> list[int]:
        parents: list[int] = []
        for definition in self.definitions:
            scope = definition.scope
            in_class = scope != FILE and self.definitions[scope].kind == CLASS
            parents.append(parents[scope] if in_class else scope)
        return parents

    @cached_property
    def _given(self) -> tuple[_Bound, _Bound]:
        """The bindings of names by scope, and of attributes by class."""
        bound: _Bound = {}
        attributes: _Bound = {}
        for binding in self._bindings:
            name, scope = binding.name, binding.scope
            if "." not in name:
                bound.setdefault((scope, name), []).append(binding)
                continue
            receiver, _, attribute = name.rpartition(".")
            if (owner := self.owner(scope, receiver)) != FILE:
                attributes.setdefault((owner, attribute), []).append(binding)
        return bound, attributes

    @cached_property
    def _homes(self) -> dict[str, dict[int, int]]:
        """By name: the scopes that have it as their own, each with the scope that represents it."""
        homes: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for scope, name in (*self._given[0], *self._defined, *self._imported):
            if scope != FILE:
                homes[name][scope] = scope
        first: dict[tuple[int, str, bool], int] = {}
        for number, (definition, receiver) in enumerate(zip(self.definitions, self.receivers, strict=True)):
            for written, _ in definition.parameters:
                homes[written.lstrip("*")][number] = number
            if (
                receiver
                and (number, receiver) not in self._defined
                and (number, receiver) not in self._imported
            ):
                alike = (definition.scope, receiver, gets_class(definition))
                homes[receiver][number] = first.setdefault(alike, number)
        return homes

    def is_local(self, name: str) -> bool:
        """Return whether a name may belong to a scope."""
        return name in self._homes or name == "super"

    def home(self, scope: int, name: str) -> int:
        """Return a scope in which `name` means the same as in this one: the one that owns the name.

        The receiver means the same in all methods of a class: the first of them represents it.
        """
        if name == "super":
            return self.enclosing_class(scope)
        homes, parents = self._homes.get(name), self._parents
        while homes and scope != FILE:
            home = homes.get(scope)
            if home is not None:
                return home
            scope = parents[scope]
        return FILE

    def defined(self, scope: int, name: str) -> int | None:
        """Return the definition that counts: a class or function before a variable, a property before its setter,
        otherwise the last one, which overloads are followed by.
        """
        found = self._defined.get((scope, name))
        if not found:
            return None
        if len(found) > 1:
            solid = [number for number in found if self.definitions[number].kind != VARIABLE] or found
            for number in solid:
                if is_property(self.definitions[number]):
                    return number
            return solid[-1]
        return found[0]

    def imported(self, scope: int, name: str) -> list[Import]:
        return self._imported.get((scope, name), [])

    def bound(self, scope: int, name: str) -> list[Binding]:
        return self._given[0].get((scope, name), [])

    def attributes(self, owner: int, name: str) -> list[Binding]:
        """Return what `self.name` is bound to anywhere in a class."""
        return self._given[1].get((owner, name), [])

    def parent(self, scope: int) -> int:
        """Return the scope to search next: classes are not visible from inside their methods."""
        return self._parents[scope]

    def owner(self, scope: int, receiver: str) -> int:
        """Return the class whose method has `receiver` as its first parameter; FILE if there is none."""
        while scope != FILE:
            around = self.definitions[scope].scope
            if receiver == self.receivers[scope]:
                return around
            scope = around
        return FILE

    @cached_property
    def receivers(self) -> list[str]:
        """The first parameter of each method; "" if it is no method or has no receiver."""
        return [
            each.parameters[0][0]
            if each.parameters and is_method(self.definitions, each) and "staticmethod" not in each.decorators
            else ""
            for each in self.definitions
        ]

    def enclosing_class(self, scope: int) -> int:
        while scope != FILE and self.definitions[scope].kind != CLASS:
            scope = self.definitions[scope].scope
        return scope


def is_method(definitions: Sequence[Definition], definition: Definition) -> bool:
    return (
        definition.kind == FUNCTION
        and definition.scope != FILE
        and definitions[definition.scope].kind == CLASS
    )


def gets_class(method: Definition) -> bool:
    """Return whether a method receives the class rather than an instance."""
    return "classmethod" in method.decorators or method.name in _OF_CLASS


def is_property(definition: Definition) -> bool:
    """Return whether reading it calls it. Such decorators end in `property`, wherever they come from."""
    return any(decorator.endswith("property") for decorator in definition.decorators)
