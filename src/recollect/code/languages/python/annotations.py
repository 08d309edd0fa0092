"""Parse annotations into trees: `dict[str, App] | None` is a `dict` of `str` and `App`, or `None`."""

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W\d][\w.]*|[\[\],|]")
_DEEPEST = 20


class TypeName(NamedTuple):
    name: str  # dotted, as written
    arguments: tuple[tuple["TypeName", ...], ...] = ()  # each may be one of several types


@lru_cache(maxsize=4096)
def alternatives(annotation: str) -> tuple[TypeName, ...]:
    """Return the types that an annotation allows. Leaves out what is not a type, such as a number or `...`."""
    tokens = _TOKEN.findall(annotation)
    tokens.reverse()
    return _union(tokens, 0)


def _union(tokens: list[str], depth: int) -> tuple[TypeName, ...]:
    found: list[TypeName] = []
    while tokens and tokens[-1] not in ("]", ","):
        token = tokens.pop()
        if token == "|":
            continue
        if token == "[":  # the parameters of a Callable
            _arguments(tokens, depth + 1)
        elif tokens and tokens[-1] == "[":
            tokens.pop()
            found.append(TypeName(token, _arguments(tokens, depth + 1)))
        else:
            found.append(TypeName(token))
    return tuple(found)


def _arguments(tokens: list[str], depth: int) -> tuple[tuple[TypeName, ...], ...]:
    """Parse up to the closing bracket."""
    found = []
    while tokens and tokens[-1] != "]":
        if tokens[-1] == ",":
            tokens.pop()
        elif depth > _DEEPEST:
            tokens.clear()
        else:
            found.append(_union(tokens, depth))
    if tokens:
        tokens.pop()
    return tuple(found)
