"""Conversion of dataclasses to rows of a table and back, from one list of columns per table."""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import recollect.model as m

Item = TypeVar("Item")


class Column(NamedTuple):
    """How the value of a field is stored; None stores or reads it unchanged."""

    write: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None
    field: str = ""  # if the field's name is not the column's
    derived: bool = False  # a property of the object: stored for queries, and not read

    def of(self, field: str) -> "Column":
        """Return the same column for a field of another name."""
        return self._replace(field=field)


class RowMapper(Generic[Item]):
    """Writes objects of one class as rows with these columns, and reads them. A search reads forty, so it must be fast."""

    def __init__(self, make: Callable[..., Item], columns: Mapping[str, Column]) -> None:
        self._make = make
        self._fields = tuple(column.field or name for name, column in columns.items())
        self._values = attrgetter(*self._fields)
        self._derived = [name for name, column in columns.items() if column.derived]
        listed = list(enumerate(columns.values()))
        self._writers = [(number, column.write) for number, column in listed if column.write]
        self._readers = [(number, column.read) for number, column in listed if column.read]

    def row(self, item: Item) -> tuple[Any, ...]:
        values = list(self._values(item))
        for number, write in self._writers:
            values[number] = write(values[number])
        return tuple(values)

    def item(self, row: Sequence[Any]) -> Item:
        values = list(row)
        for number, read in self._readers:
            values[number] = read(values[number])
        fields = dict(zip(self._fields, values, strict=True))
        for name in self._derived:
            del fields[name]
        return self._make(**fields)


def optional(column: Column) -> Column:
    """Return the column for values that may be None, which is stored as NULL."""
    write, read = column.write, column.read
    return Column(
        (lambda value: None if value is None else write(value)) if write else None,
        (lambda value: None if value is None else read(value)) if read else None,
        column.field,
    )


def list_of(read: Callable[[Any], Any]) -> Column:
    """Return a column for a tuple that is stored as a JSON list."""
    return Column(m.dumps, lambda text: tuple(map(read, json.loads(text))) if text != "[]" else ())


def member_of(enum: type[StrEnum]) -> Column:
    """Return a column for a member of `enum`. Looking it up by value takes a tenth of the time of calling the enum."""
    return Column(read={str(member): member for member in enum}.__getitem__)


PLAIN = Column()
BOOLEAN = Column(int, bool)
TIME = Column(m.to_text, m.from_text)
OPTIONAL_TIME = optional(TIME)
JSON = Column(m.dumps, json.loads)
STRINGS = Column(m.dumps, lambda text: tuple(json.loads(text)) if text != "[]" else ())
