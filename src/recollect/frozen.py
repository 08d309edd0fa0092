"""`frozen`: a frozen dataclass with slots, whose class is made in a quarter of the time.

`@dataclass(frozen=True, slots=True)` writes and compiles six functions per class. A command loads over a hundred such
classes, which took a third of the time of `recollect list`. Here only `__init__` is compiled, and all other methods are
shared. `field` (default, default_factory, compare, repr), `fields`, `replace`, `asdict`, pickle and pattern matching work as with
`dataclass`; what else it offers is refused.
"""

from collections.abc import Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_set = object.__setattr__


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class of values: compared by content, hashable if all its fields are, and never changed."""
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # otherwise `dataclass` inspects the signature to write one
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    all_fields = fields(made)
    if hasattr(made, "__post_init__") or not all(map(_is_plain, all_fields)):
        raise TypeError(f"{cls.__name__} needs dataclass(frozen=True, slots=True): see recollect.frozen")
    made.__init__ = _init(made, all_fields)
    _share_methods(made, all_fields)
    return made  # type: ignore[no-any-return]


def _is_plain(part: Field[Any]) -> bool:
    """Return whether `__init__` takes the field by its place and name, and equality and hash agree about it."""
    return part.init and not part.kw_only and part.hash is None


def _init(cls: type, all_fields: Sequence[Field[Any]]) -> Any:
    names: dict[str, Any] = {"_set": _set, "_missing": MISSING}
    parameters, lines = ["self"], ["pass"]
    for part in all_fields:
        name, given = part.name, part.name
        if part.default is not MISSING:
            names[f"_default_{name}"] = part.default
            parameters.append(f"{name}=_default_{name}")
        elif part.default_factory is not MISSING:
            names[f"_make_{name}"] = part.default_factory
            parameters.append(f"{name}=_missing")
            given = f"_make_{name}() if {name} is _missing else {name}"
        else:
            parameters.append(name)
        lines.append(f"_set(self, {name!r}, {given})")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines), names)
    function = names["__init__"]
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    function.__module__ = cls.__module__
    function.__annotations__ = {part.name: part.type for part in all_fields} | {"return": None}
    return function


def _share_methods(cls: Any, all_fields: Sequence[Field[Any]]) -> None:
    compared = [part.name for part in all_fields if part.compare]
    content: Any = attrgetter(*compared) if compared else lambda self: ()
    shown = [part.name for part in all_fields if part.repr]

    def __eq__(self: object, other: object) -> Any:
        return content(self) == content(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(content(self))

    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    for method in (__eq__, __hash__, __repr__):
        if (
            vars(cls).get(method.__name__) is None
        ):  # a class that defines only `__eq__` has a `__hash__` of None
            setattr(cls, method.__name__, method)
    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__
    cls.__getstate__, cls.__setstate__ = __getstate__, __setstate__


def __setattr__(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def __getstate__(self: Any) -> list[Any]:
    return [getattr(self, part.name) for part in fields(self)]


def __setstate__(self: Any, state: Sequence[Any]) -> None:
    for part, content in zip(fields(self), state, strict=True):
        _set(self, part.name, content)
