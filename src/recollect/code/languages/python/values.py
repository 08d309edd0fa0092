"""What a chain of names means in a Python project: followed through scopes, imports, bases and types.

Nothing here runs code or follows control flow: a name that is bound twice may be either value.
"""

import builtins
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from recollect.code.facts import (
    CLASS,
    FILE,
    FUNCTION,
    RETURNED,
    VARIABLE,
    YIELDED,
    Binding,
    Definition,
    FileFacts,
    Import,
)
from recollect.code.languages.python.annotations import TypeName, alternatives
from recollect.code.languages.python.modules import PythonModules
from recollect.code.languages.python.scopes import Scopes, gets_class, is_property

# What a value can be, beside a definition of the project: a function, a class, or a variable that is not read yet.
MODULE = "module"
INSTANCE = "instance"  # of a class of the project
SUPER = "super"  # a class as its `super()` sees it
SELF = "self"  # the instance or class that a method is called on
OUTSIDE = "outside"  # not in the project; `path` is its dotted name
MADE = "made"  # an instance of a class outside the project
METHOD = "method"  # of such an instance
CALLABLE = "callable"  # its one argument is what it returns
TYPE_VARIABLE = "type variable"  # it stands for a type that only its user knows

_DEEPEST = 16  # steps from one name to the next; code that needs more was generated
_NO_CYCLE = _DEEPEST
_MOST_STEPS = 1000  # steps for one name

# Forms of the typing module, by what they mean.
_ANY_OF = {"Optional", "Union"}
_FIRST_OF = {"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "TypeGuard"}
_LAST_OF = {"Awaitable", "Coroutine"}
_TYPE_VARIABLES = {"TypeVar", "TypeVarTuple", "ParamSpec"}
_NOTHING = {"Any", "None", "Literal", "NoReturn", "Never", "object", "TypeVar", "ParamSpec", "Generic"}

# Methods of containers, by which of the container's arguments they return.
_GIVES_ITEM = {"get", "pop", "setdefault", "popleft", "__next__", "__anext__"}
_GIVES_FIRST = {"__enter__", "__aenter__"}
_GIVES_KEYS = {"__iter__", "__aiter__", "keys"}

_NAME = re.compile(r"\w+").match
_UNREAD = (VARIABLE, FUNCTION)  # values that have to be read; a function may be a property
_TYPED = (INSTANCE, MADE, CALLABLE)
_OF_OWNER = (SELF, TYPE_VARIABLE)  # what a method returns that depends on what it is called on
_ITERATOR = "builtins.Iterator"
_YIELDING = {"Generator", "AsyncGenerator", "Iterator", "AsyncIterator"}


class Value(NamedTuple):
    kind: str
    path: str
    number: int = FILE  # of the definition in its file
    arguments: "tuple[Values, ...]" = ()
    owner: "Value | None" = None  # of a method: what it was found on


Values = tuple[Value, ...]
Found = tuple[Values, str]  # and the weakest rule on the way
ResolvedEdge = tuple[str, str, str]  # the kind, target and rule of an edge

_NONE: Found = ((), "type")
_MOST_MEANINGS = 500  # neighbours share meanings; files far apart have others
_MOST_SCOPES = 1_000  # files, some 20 KB each
_MOST_KNOWN = 100_000  # attributes and other things that were found out, some 300 bytes each


class Meaning:
    """What the first name of a chain means: chains with the same meaning and the same rest are resolved once."""

    __slots__ = ("chains", "found", "resolved")

    def __init__(self, found: Found) -> None:
        self.found = found
        self.chains: dict[str, Found] = {}
        self.resolved: dict[tuple[str, str], list[ResolvedEdge]] = {}  # references, by chain and kind


K = TypeVar("K", bound=tuple[object, ...])
V = TypeVar("V")


class _Scopes(dict[str, Scopes]):
    """The scopes of each file, created on first use."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files

    def __missing__(self, path: str) -> Scopes:
        if len(self) >= _MOST_SCOPES:
            self.clear()
        scopes = self[path] = Scopes(path, self._files[path])
        return scopes


class PythonProject:
    """All Python files of a project, and what chains of names in them mean."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self.modules = PythonModules(self._files)
        self.scopes = _Scopes(files)
        self._forget()

    def _forget(self) -> None:
        self._forget_meanings()
        self._globals: dict[tuple[str, str], Found | None] = {}
        self._attributes: dict[tuple[str, int, str], Values] = {}
        self._given: dict[tuple[str, int, str], Values] = {}  # attributes that the class itself assigns
        self._returns: dict[tuple[str, int], Values] = {}
        self._variables: dict[tuple[str, int], Values] = {}
        self._typed: dict[tuple[str, int, str], Values] = {}
        self._orders: dict[tuple[str, int], Values] = {}
        self._in_progress: dict[tuple[int, object], int] = {}  # what is being worked out, and how deep
        self._cycle = _NO_CYCLE  # the outermost of these that was needed again
        self._spent = 0

    def _forget_meanings(self) -> None:
        self._nothing = Meaning(_NONE)
        self._meanings: dict[Found, Meaning] = {_NONE: self._nothing}
        self._heads: dict[str, dict[tuple[int, str], Meaning]] = {}  # by file; scope and name

    def changed(self, path: str, hidden: Collection[str] | None) -> None:
        """Forget what depends on a file that was added, removed or changed.

        If all that changed are `hidden` names, what is known about other files stays valid.
        """
        self.scopes.pop(path, None)
        if path in self._files:
            self.modules.add(path)
        else:
            self.modules.remove(path)
        if hidden is None:
            self._forget()
            return
        self._forget_meanings()
        self._globals = _without(self._globals, path, hidden)
        self._attributes = _without(self._attributes, path, hidden)
        self._given = _without(self._given, path, hidden)
        self._returns = _without(self._returns, path, hidden)
        self._variables = _without(self._variables, path, hidden)
        self._typed = _without(self._typed, path, hidden)
        self._orders = _without(self._orders, path, hidden)

    def definition(self, value: Value) -> Definition:
        return self.scopes[value.path].definitions[value.number]

    def symbol(self, value: Value) -> str:
        return self.scopes[value.path].ids[value.number]

    def finish(self, path: str) -> None:
        """Forget what was found for this file alone: most of it is not needed again."""
        self._heads.pop(path, None)
        self.scopes.pop(path, None)
        if len(self._attributes) + len(self._globals) + len(self._typed) > _MOST_KNOWN:
            self._forget()
        elif len(self._meanings) > _MOST_MEANINGS:
            self._forget_meanings()

    def find(self, path: str, scope: int, chain: str) -> Found:
        """Return what a chain means where it is written; variables and properties are not read yet."""
        name = head(chain)
        return self.follow(self.meaning(path, self.scopes[path].home(scope, name), name), chain)

    def meaning(self, path: str, scope: int, name: str) -> Meaning:
        """Return the meaning of a name that belongs to `scope`."""
        known = self._heads.get(path)
        if known is None:
            known = self._heads[path] = {}
        key = (scope, name)
        meaning = known.get(key)
        if meaning is None:
            if not name.isidentifier():
                return self._nothing
            if scope != FILE or name == "super":
                return self._work_out(known, key, self._nothing, self._local_meaning, path, scope, name)
            meaning = self._meaning(path, name, self._global(path, name) or self._builtin(name))
            if self._cycle == _NO_CYCLE:
                known[key] = meaning
        return meaning

    def _local_meaning(self, path: str, scope: int, name: str) -> Meaning:
        return self._meaning(path, name, self._name(path, scope, name))

    def _meaning(self, path: str, name: str, found: Found) -> Meaning:
        things = found[0]
        if things and things[0].path == path:
            meaning = Meaning(found)  # hardly anything else needs it
        else:
            meaning = self._meanings.get(found) or self._meanings.setdefault(found, Meaning(found))
        meaning.chains[name] = found
        return meaning

    def follow(self, meaning: Meaning, chain: str) -> Found:
        """Return what a chain means whose first name has that meaning."""
        found = meaning.chains.get(chain)
        if found is None:
            if not meaning.found[0]:
                return _NONE
            found = self._follow(meaning, chain)
            if self._cycle == _NO_CYCLE:
                meaning.chains[chain] = found
        return found

    def _work_out(
        self, cache: dict[K, V], key: K, nothing: V, make: Callable[..., V], *arguments: object
    ) -> V:
        """Return what `make` returns, cached; `nothing` if it is being worked out already.

        A value that such a circle cut short is not cached, unless working it out again has cost too much.
        """
        waiting = self._in_progress
        opened = (id(cache), key)
        depth = len(waiting)
        if opened in waiting:
            self._cycle = min(self._cycle, waiting[opened])
            return nothing
        if depth == _DEEPEST:
            self._cycle = 0
            return nothing
        self._spent = self._spent + 1 if depth else 0
        waiting[opened] = depth
        value = make(*arguments)
        del waiting[opened]
        if self._cycle >= depth:
            self._cycle = _NO_CYCLE
            cache[key] = value
        elif self._spent > _MOST_STEPS:
            cache[key] = value
        return value

    def read(self, found: Found) -> Found:
        """Return the result of reading variables and properties."""
        things, rule = found
        for thing in things:
            if thing.kind in _UNREAD:
                break
        else:
            return found
        values: list[Value] = []
        for thing in things:
            if thing.kind == VARIABLE:
                values += self._variable(thing)
                rule = "type"
            elif thing.kind == FUNCTION and is_property(self.definition(thing)):
                values += self._returned(thing)
                rule = "type"
            else:
                values.append(thing)
        return _unique(values), rule

    def order(self, value: Value) -> Values:
        """Return the class and its bases in the order in which Python searches them (C3)."""
        key = (value.path, value.number)
        known = self._orders.get(key)
        if known is not None:
            return known
        itself = Value(CLASS, *key)
        return self._work_out(self._orders, key, (itself,), self._merge_bases, itself)

    def _merge_bases(self, itself: Value) -> Values:
        bases = self.bases(itself)
        if len(bases) == 1 and bases[0].kind == CLASS and itself not in (order := self.order(bases[0])):
            return (itself, *order)
        orders = [list(self.order(base)) if base.kind == CLASS else [base] for base in bases]
        return (itself, *_merged([*orders, list(bases)], itself))

    def bases(self, value: Value) -> Values:
        definition = self.definition(value)
        found: list[Value] = []
        for chain in definition.bases:
            things, _ = self.read(self.find(value.path, definition.scope, chain))
            classes = [Value(CLASS, *thing[1:3]) for thing in things if thing.kind == CLASS]
            outside = [thing for thing in things if thing.kind == OUTSIDE]
            found += classes[:1] or outside[:1]
        return _unique(found)

    def _follow(self, meaning: Meaning, chain: str) -> Found:
        last = chain[-1:]
        if last == ")":
            things, rule = self.read(self.follow(meaning, chain[:-2]))
            if things and things[0].kind == SUPER:
                return things, rule
            return self._each(things, self.call), "type"
        if last == "]":
            container, _, at = chain[:-1].rpartition("[")
            things, rule = self.read(self.follow(meaning, container))
            return self._each(things, self._item, at), rule
        receiver, dot, name = chain.rpartition(".")
        things, rule = self.read(self.follow(meaning, receiver)) if dot else _NONE
        if not things:
            return _NONE
        found = self._each(things, self.attribute, name)
        if rule != "type":
            for value in found:
                if value.kind in _TYPED:
                    return found, "type"
        return found, rule

    def _each(self, things: Values, step: Callable[..., Values], *arguments: str) -> Values:
        if len(things) == 1:
            return step(things[0], *arguments)
        return _unique(value for thing in things for value in step(thing, *arguments))

    def _name(self, path: str, scope: int, name: str) -> Found:
        scopes = self.scopes[path]
        if name == "super":
            owner = scopes.enclosing_class(scope)
            return ((Value(SUPER, path, owner),), "self") if owner != FILE else _NONE
        while scope != FILE:
            found = self._local(scopes, scope, name)
            if found is not None:
                return found
            scope = scopes.parent(scope)
        return self._global(path, name) or self._builtin(name)

    def _local(self, scopes: Scopes, scope: int, name: str) -> Found | None:
        """Return what a name means in one function or class; None if it is not one of its names."""
        path, within = scopes.path, scopes.definitions[scope]
        number = scopes.defined(scope, name)
        if number is not None:
            return (Value(scopes.definitions[number].kind, path, number),), "scope"
        if imports := scopes.imported(scope, name):
            return _unique(value for entry in imports for value in self._import(path, entry)), "import"
        if within.kind != FUNCTION:
            return None
        if name == scopes.receivers[scope]:
            return (_receiver(path, within),), "self"
        values: list[Value] = []
        known = False
        for written, annotation in within.parameters:
            if written == name or (written[0] == "*" and written.lstrip("*") == name):
                known = True
                values += self._parameter(path, within.scope, written, annotation)
        for binding in scopes.bound(scope, name):
            known = True
            values += self.given(path, binding)
        return (_unique(values), "type") if known else None

    def _parameter(self, path: str, scope: int, written: str, annotation: str) -> Values:
        if not annotation:
            return ()
        values = self._of_annotation(path, scope, annotation)
        if written.startswith("**"):
            return (Value(MADE, "builtins.dict", arguments=(values,)),)
        if written.startswith("*"):
            return (Value(MADE, "builtins.tuple", arguments=(values,)),)
        return values

    def _global(self, path: str, name: str) -> Found | None:
        """Return what a global name means; None if the file has no such name."""
        key = (path, name)
        if key in self._globals:
            return self._globals[key]
        return self._work_out(self._globals, key, None, self._look_up, path, name)

    def _look_up(self, path: str, name: str) -> Found | None:
        scopes = self.scopes[path]
        number, imports = scopes.defined(FILE, name), scopes.imported(FILE, name)
        values: list[Value] = []
        for entry in imports:
            values += self._import(path, entry)
        if number is not None:
            values.append(Value(scopes.definitions[number].kind, path, number))
            return _unique(values), "scope"
        if imports:
            return _unique(values), "import"
        if bindings := scopes.bound(FILE, name):
            return _unique(value for entry in bindings for value in self.given(path, entry)), "type"
        for star in scopes.stars:
            module = self.modules.imported(star.module, path)
            if module and self._is_exported(module, name) and (found := self._global(module, name)):
                return found[0], "import"
        outside = [star.module for star in scopes.stars if not self.modules.imported(star.module, path)]
        if len(outside) == 1 and not outside[0].startswith(".") and not hasattr(builtins, name):
            return (Value(OUTSIDE, f"{outside[0]}.{name}"),), "import"
        return None

    def _is_exported(self, module: str, name: str) -> bool:
        """Return whether `from module import *` imports that name."""
        exports = self.scopes[module].exports
        return name in exports if exports else not name.startswith("_")

    def _builtin(self, name: str) -> Found:
        return ((Value(OUTSIDE, f"builtins.{name}"),), "scope") if hasattr(builtins, name) else _NONE

    def _import(self, path: str, entry: Import) -> Values:
        if not entry.name:
            name = entry.module if entry.alias else entry.module.partition(".")[0]
            module = self.modules.imported(name, path)
            return (Value(MODULE, module) if module else Value(OUTSIDE, name),)
        module = self.modules.imported(entry.module, path)
        if module:
            return self._member(module, entry.name)
        within = entry.module if entry.module.endswith(".") else f"{entry.module}."
        if submodule := self.modules.imported(within + entry.name, path):
            return (Value(MODULE, submodule),)
        return () if entry.module.startswith(".") else (Value(OUTSIDE, within + entry.name),)

    def _member(self, module: str, name: str) -> Values:
        found = self._global(module, name)
        if found and found[0]:
            return found[0]
        submodule = self.modules.inside(module, name)
        return (Value(MODULE, submodule),) if submodule else ()

    def given(self, path: str, binding: Binding) -> Values:
        """Return what a binding assigns, read."""
        if binding.annotated:
            return self._of_annotation(path, binding.scope, binding.value)
        return self.read(self.find(path, binding.scope, binding.value))[0]

    def _variable(self, variable: Value) -> Values:
        key = (variable.path, variable.number)
        known = self._variables.get(key)
        return self._work_out(self._variables, key, (), self._read_variable, *key) if known is None else known

    def _read_variable(self, path: str, number: int) -> Values:
        scopes = self.scopes[path]
        variable = scopes.definitions[number]
        bindings = scopes.bound(variable.scope, variable.name)
        if variable.scope == FILE:
            return self._declared(path, bindings)
        owner = Value(CLASS, path, variable.scope)
        if any(base.path.startswith("enum.") for base in self.order(owner)):
            return (Value(INSTANCE, path, variable.scope),)
        values = self._declared(path, [*bindings, *scopes.attributes(variable.scope, variable.name)])
        return _unique(given for value in values for given in self._described(value))

    def _described(self, value: Value) -> Values:
        """Return what a class variable gives when it is read on an instance and is a descriptor."""
        getters = self.attribute(value, "__get__") if value.kind == INSTANCE else ()
        if getters and getters[0].kind == FUNCTION:
            return self.call(getters[0])
        return (value,)

    def _declared(self, path: str, bindings: list[Binding]) -> Values:
        """Return the annotated type if there is one, else all that is assigned."""
        declared = [binding for binding in bindings if binding.annotated] or bindings
        return _unique(value for binding in declared for value in self.given(path, binding))

    def call(self, value: Value) -> Values:
        """Return what calling it returns."""
        if value.kind == CLASS:
            return (value._replace(kind=INSTANCE),)
        if value.kind == FUNCTION:
            return self._returned(value)
        if value.kind == CALLABLE:
            return value.arguments[0]
        if value.kind == METHOD:
            return _given_by(value)
        if value.kind == INSTANCE:
            return _unique(
                given
                for method in self.attribute(value, "__call__")
                if method.kind == FUNCTION
                for given in self._returned(method)
            )
        if value.kind == OUTSIDE and _looks_like_class(value.path):
            return (Value(MADE, value.path),)
        return ()

    def _returned(self, function: Value) -> Values:
        key = (function.path, function.number)
        known = self._returns.get(key)
        if known is None:
            known = self._work_out(self._returns, key, (), self._read_returns, *key)
        if any(value.kind in _OF_OWNER for value in known):
            owner = function.owner
            itself = (owner._replace(kind=INSTANCE),) if owner and owner.kind != MODULE else ()
            given = {SELF: itself, TYPE_VARIABLE: self._type_argument(function)}
            return _unique(one for value in known for one in given.get(value.kind, (value,)))
        return known

    def _type_argument(self, method: Value) -> Values:
        """Return what a type variable of a method stands for: the argument of its class, if that has just one."""
        owner = method.owner
        if owner is None or owner.kind != INSTANCE or len(owner.arguments) != 1:
            return ()
        is_own = (owner.path, owner.number) == (method.path, self.definition(method).scope)
        return owner.arguments[0] if is_own else ()

    def _read_returns(self, path: str, number: int) -> Values:
        scopes = self.scopes[path]
        function = scopes.definitions[number]
        receiver = scopes.receivers[number]
        kind = function.parameters[0][1] if receiver else ""
        yielded = scopes.bound(number, YIELDED)
        if function.returns:
            if function.returns == kind:  # a type variable that stands for the receiver
                return (Value(SELF, path),)
            values = self._of_annotation(path, function.scope, function.returns)
        elif yielded:
            items = _unique(value for binding in yielded for value in self.given(path, binding))
            values = (Value(MADE, _ITERATOR, arguments=(items,)),)
        else:
            values = _unique(
                value
                for binding in scopes.bound(number, RETURNED)
                for value in (
                    (Value(SELF, path),) if binding.value == receiver else self.given(path, binding)
                )
            )
        if any(decorator.endswith("contextmanager") for decorator in function.decorators):
            return tuple(
                value._replace(path="builtins.contextmanager") for value in values if value.kind == MADE
            )
        return values

    def _item(self, value: Value, at: str) -> Values:
        """Return what an index, or a step of a loop, gives."""
        if value.kind in (CLASS, OUTSIDE):  # a generic with its arguments
            return (value,)
        if value.kind == MADE and value.arguments:
            last = value.path.rpartition(".")[2]
            if last in _YIELDING:
                return value.arguments[0]
            if last in ("tuple", "Tuple") and at:
                return value.arguments[min(int(at), len(value.arguments) - 1)]
            return value.arguments[-1]
        if value.kind == INSTANCE:
            getters = self.attribute(value, "__getitem__")
            return _unique(given for getter in getters for given in self.call(getter))
        return ()

    def attribute(self, value: Value, name: str) -> Values:
        """Return what an attribute is."""
        if value.kind == MODULE:
            return self._member(value.path, name)
        if value.kind in (INSTANCE, CLASS, SUPER):
            if name == "__class__":
                return (value._replace(kind=CLASS),)
            found = self._inherited(value, name)
            for one in found:
                if one.kind == FUNCTION:
                    break
            else:
                return found
            return tuple(
                [
                    Value(FUNCTION, one.path, one.number, (), value) if one.kind == FUNCTION else one
                    for one in found
                ]
            )
        if value.kind == OUTSIDE:
            return (Value(OUTSIDE, f"{value.path}.{name}"),)
        if value.kind == MADE:
            return (Value(METHOD, f"{value.path}.{name}", arguments=value.arguments),)
        return ()

    def _inherited(self, value: Value, name: str) -> Values:
        key = (value.path, value.number if value.kind != SUPER else -2 - value.number, name)
        known = self._attributes.get(key)
        if known is not None:
            return known
        order = self.order(value)[1 if value.kind == SUPER else 0 :]
        found = self._first_with(order, name)
        if self._cycle == _NO_CYCLE:
            self._attributes[key] = found
        return found

    def _first_with(self, order: Values, name: str) -> Values:
        assigned: Values | None = None  # to `self`; a property in a base takes precedence
        for base in order:
            if base.kind != CLASS:
                continue
            scopes = self.scopes[base.path]
            number = scopes.defined(base.number, name)
            if number is not None:
                definition = scopes.definitions[number]
                if assigned is not None and not is_property(definition):
                    return assigned
                return (Value(definition.kind, base.path, number),)
            if assigned is None and (bindings := scopes.attributes(base.number, name)):
                assigned = self._assigned(base, name, bindings)
        if assigned is not None:
            return assigned
        for base in order:
            if base.kind == OUTSIDE and base.path.rpartition(".")[2] not in ("object", "Generic", "Protocol"):
                return (Value(OUTSIDE, f"{base.path}.{name}"),)
        return ()

    def _assigned(self, owner: Value, name: str, bindings: list[Binding]) -> Values:
        key = (owner.path, owner.number, name)
        known = self._given.get(key)
        if known is None:
            known = self._work_out(self._given, key, (), self._declared, owner.path, bindings)
        return known

    def _of_annotation(self, path: str, scope: int, annotation: str) -> Values:
        key = (path, scope, annotation)
        known = self._typed.get(key)
        if known is not None:
            return known
        return self._work_out(self._typed, key, (), self._any_of, path, scope, alternatives(annotation))

    def _any_of(self, path: str, scope: int, types: Iterable[TypeName]) -> Values:
        return _unique(value for named in types for value in self._of_type(path, scope, named))

    def _of_type(self, path: str, scope: int, named: TypeName) -> Values:
        things, _ = self.read(self.find(path, scope, named.name))
        values: list[Value] = []
        for thing in things:
            if thing.kind == CLASS:
                arguments = tuple(self._any_of(path, scope, one) for one in named.arguments)
                values.append(Value(INSTANCE, thing.path, thing.number, arguments))
            elif thing.kind == OUTSIDE:
                values += self._of_form(path, scope, thing.path, named)
            elif (
                thing.kind == MADE
            ):  # an object that stands for a type; what it is made of says nothing about that type
                if thing.path.rpartition(".")[2] in _TYPE_VARIABLES:
                    values.append(Value(TYPE_VARIABLE, thing.path))
            else:
                values.append(thing)
        return _unique(values)

    def _of_form(self, path: str, scope: int, name: str, named: TypeName) -> Values:
        last = name.rpartition(".")[2]
        if last in _NOTHING:
            return ()
        if last == "Self":
            return (Value(SELF, path),)
        arguments = tuple(self._any_of(path, scope, one) for one in named.arguments)
        if last in _ANY_OF:
            return _unique(value for argument in arguments for value in argument)
        if last in _FIRST_OF or last in _LAST_OF:
            return arguments[0 if last in _FIRST_OF else -1] if arguments else ()
        if last in ("type", "Type"):
            made = arguments[0] if arguments else ()
            return tuple(value._replace(kind=CLASS) for value in made if value.kind == INSTANCE)
        if last == "Callable":
            return (Value(CALLABLE, "", arguments=arguments[-1:] or ((),)),)
        return (Value(MADE, name, arguments=arguments),)


def head(chain: str) -> str:
    """Return the first name of a chain."""
    name = chain.partition(".")[0]
    if name.isidentifier():
        return name
    found = _NAME(chain)
    return found[0] if found else ""


def _receiver(path: str, method: Definition) -> Value:
    return Value(CLASS if gets_class(method) else INSTANCE, path, method.scope)


def _given_by(method: Value) -> Values:
    """Return what a container's method returns, where its arguments say."""
    container, _, name = method.path.rpartition(".")
    if not method.arguments:
        return (Value(MADE, container),) if name in _GIVES_FIRST else ()
    first, last = method.arguments[0], method.arguments[-1]
    if name in _GIVES_FIRST:
        return first
    if name in _GIVES_ITEM:
        return last
    if name in _GIVES_KEYS:
        return (Value(MADE, _ITERATOR, arguments=(first,)),)
    if name == "values":
        return (Value(MADE, _ITERATOR, arguments=(last,)),)
    if name == "items":
        return (
            Value(MADE, _ITERATOR, arguments=((Value(MADE, "builtins.tuple", arguments=method.arguments),),)),
        )
    if name == "copy":
        return (Value(MADE, container, arguments=method.arguments),)
    return ()


def _looks_like_class(name: str) -> bool:
    module, _, last = name.rpartition(".")
    return last[:1].isupper() or (module == "builtins" and isinstance(getattr(builtins, last, None), type))


def _merged(orders: list[list[Value]], itself: Value) -> list[Value]:
    """Merge by C3; where the bases contradict each other, take the first that is left."""
    found: list[Value] = []
    orders = [order for order in orders if order]
    while orders:
        head = next(
            (order[0] for order in orders if not any(order[0] in other[1:] for other in orders)), orders[0][0]
        )
        if head != itself:
            found.append(head)
        orders = [rest for order in orders if (rest := [value for value in order if value != head])]
    return found


def _without(cache: dict[K, V], path: str, names: Collection[str]) -> dict[K, V]:
    return {key: value for key, value in cache.items() if key[0] != path and key[-1] not in names}


def _unique(values: Iterable[Value]) -> Values:
    found = tuple(values)
    return found if len(found) < 2 else tuple(dict.fromkeys(found))
