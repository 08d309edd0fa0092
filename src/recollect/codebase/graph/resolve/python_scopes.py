"""The names of one Python file, by the scope they stand in."""

from collections import defaultdict
from collections.abc import Sequence

from recollect.codebase.facts import CLASS, FILE, FUNCTION, VARIABLE, Binding, Definition, FileFacts, Import
from recollect.codebase.graph.names import symbol_ids

# Methods that get the class without saying so.
_OF_CLASS = {"__new__", "__init_subclass__", "__class_getitem__"}


class Scopes:
    def __init__(self, path: str, facts: FileFacts) -> None:
        self.path = path
        self.definitions = facts.definitions
        self.exports = frozenset(facts.exports)
        self.ids = symbol_ids(path, facts.definitions)
        self.stars: list[Import] = []
        self._defined: dict[tuple[int, str], list[int]] = defaultdict(list)
        self._imported: dict[tuple[int, str], list[Import]] = defaultdict(list)
        self._bound: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        self._attributes: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        self._parents: list[int] = []
        for number, definition in enumerate(facts.definitions):
            scope = definition.scope
            self._defined[scope, definition.name].append(number)
            in_class = scope != FILE and facts.definitions[scope].kind == CLASS
            self._parents.append(self._parents[scope] if in_class else scope)
        for entry in facts.imports:
            if entry.name == "*":
                self.stars.append(entry)
            else:
                here = entry.alias or entry.name or entry.module.partition(".")[0]
                self._imported[entry.scope, here].append(entry)
        for binding in facts.bindings:
            receiver, _, attribute = binding.name.rpartition(".")
            if not receiver:
                self._bound[binding.scope, binding.name].append(binding)
            elif (owner := self.owner(binding.scope, receiver)) != FILE:
                self._attributes[owner, attribute].append(binding)
        self._homes = self._all_homes()

    def _all_homes(self) -> dict[tuple[int, str], int]:
        homes = {said: said[0] for said in (*self._bound, *self._defined, *self._imported) if said[0] != FILE}
        first: dict[tuple[int, str, bool], int] = {}
        for number, definition in enumerate(self.definitions):
            receiver = self.receiver(definition)
            if (
                receiver
                and (number, receiver) not in self._defined
                and (number, receiver) not in self._imported
            ):
                alike = (definition.scope, receiver, gets_class(definition))
                homes[number, receiver] = first.setdefault(alike, number)
            for written, _ in definition.parameters:
                homes.setdefault((number, written.lstrip("*")), number)
        return homes

    def home(self, scope: int, name: str) -> int:
        """A scope where `name` means the same as in this one: that whose name it is.

        What a method is called on means the same in all methods of its class: the first of them stands for it.
        """
        if name == "super":
            return self.enclosing_class(scope)
        homes, parents = self._homes, self._parents
        while scope != FILE:
            home = homes.get((scope, name))
            if home is not None:
                return home
            scope = parents[scope]
        return FILE

    def defined(self, scope: int, name: str) -> int | None:
        """The definition that counts: a class or function before a variable, a property before its
        setter, otherwise the last, which is what overloads are followed by."""
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
        return self._bound.get((scope, name), [])

    def attributes(self, owner: int, name: str) -> list[Binding]:
        """What `self.name` was given anywhere in a class."""
        return self._attributes.get((owner, name), [])

    def parent(self, scope: int) -> int:
        """Where a name is looked for next: classes are not looked into from inside."""
        return self._parents[scope]

    def owner(self, scope: int, receiver: str) -> int:
        """The class whose method calls its first parameter `receiver`; FILE = none does."""
        while scope != FILE:
            method = self.definitions[scope]
            if receiver == self.receiver(method):
                return method.scope
            scope = method.scope
        return FILE

    def receiver(self, function: Definition) -> str:
        """What a method calls the thing it is called on; "" = it is no method, or does not get it."""
        if not function.parameters or "staticmethod" in function.decorators:
            return ""
        return function.parameters[0][0] if is_method(self.definitions, function) else ""

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
    """Whether it is called on the class, whatever it is called on."""
    return "classmethod" in method.decorators or method.name in _OF_CLASS


def is_property(definition: Definition) -> bool:
    """Reading it calls it. Decorators of this sort end in `property` wherever they come from."""
    return any(decorator.endswith("property") for decorator in definition.decorators)
