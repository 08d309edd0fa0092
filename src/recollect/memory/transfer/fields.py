"""What a field of a foreign record must be: each kind of field reads one, cleans it, or refuses it by name."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

import recollect.model as m
from recollect.errors import ContentRefused
from recollect.kinds import kind_of
from recollect.memory.transfer.join import NEWEST
from recollect.memory.write import enrich, limits
from recollect.text.redact import redact

LONGEST = 4 * limits.MAX_FIELD  # characters of a text: what a door lets in, and what its redaction made of it
MOST = 4 * limits.MAX_ITEMS  # tags, files… of one memory: memories that were merged have those of all
STORY = 16 * 1024  # characters of what a session was about
_LARGEST = 2**53 - 1  # as far as JSON counts


class Cleaner(Protocol):
    def clean(self, text: str) -> str:
        """`text` without secrets."""


Field = Callable[[str, Any, Cleaner], Any]  # from its name and what the file has, to what is kept
Table = Mapping[str, Field]


def refusal(what: str) -> ContentRefused:
    return ContentRefused(f"{what}.", "Mend it and import again; the other records are kept.")


def read(table: Table, given: Mapping[str, Any], reader: Cleaner, prefix: str) -> dict[str, Any]:
    """The fields that are given: in JSON, null is not."""
    return {
        name: field(prefix + name, given[name], reader)
        for name, field in table.items()
        if given.get(name) is not None
    }


def object_of(make: Callable[..., Any], table: Table, *needed: str) -> Field:
    def field(name: str, value: Any, reader: Cleaner) -> Any:
        return make(**whole(table, value, reader, name, *needed))

    return field


def whole(table: Table, value: Any, reader: Cleaner, name: str, *needed: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise refusal(f"{name} must be an object")
    values = read(table, value, reader, f"{name}.")
    for each in needed:
        if each not in values:
            raise refusal(f"{name}.{each} is missing")
    return values


def list_of(item: Field, most: int = MOST) -> Field:
    def field(name: str, value: Any, reader: Cleaner) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise refusal(f"{name} must be a list")
        if len(value) > most:
            raise refusal(f"{name} has {len(value):,} entries, more than {most}")
        return tuple(item(name, each, reader) for each in value)

    return field


def trail_of(item: Field, first: int = 0) -> Field:
    """A list of which the first ones and the newest are kept."""
    whole = list_of(item, first + NEWEST)

    def field(name: str, value: Any, reader: Cleaner) -> Any:
        if isinstance(value, list | tuple):
            value = [*value[:first], *value[first:][-NEWEST:]]
        return whole(name, value, reader)

    return field


def text(name: str, value: Any, reader: Cleaner) -> str:
    cleaned = reader.clean(short(name, value))
    return short(name, cleaned)  # a mark may be longer than what it stands for


def short(name: str, value: Any, most: int = LONGEST) -> str:
    if not isinstance(value, str):
        raise refusal(f"{name} must be a text")
    if len(value) > most:
        raise refusal(f"{name} has {len(value):,} characters, more than {most:,}")
    return limits.plain(value, name)


def story(name: str, value: Any, reader: Cleaner) -> str:
    """A longer text; what is beyond its limit is left out, as where it was first kept."""
    return reader.clean(short(name, value, 4 * STORY))[:STORY]


def named(name: str, value: Any, reader: Cleaner) -> str:
    """A text that says who."""
    said = text(name, value, reader)
    if not said.strip():
        raise refusal(f"{name} is empty")
    return said


def handle(name: str, value: Any, reader: Cleaner) -> str:
    """A text by which things belong together, so it must not be changed: a secret is refused."""
    text = named(name, value, reader)
    if text != value:
        raise refusal(f"{name} looks like a secret")
    return text


any_texts = list_of(text)


def texts(name: str, value: Any, reader: Cleaner) -> tuple[str, ...]:
    return tuple(each for each in any_texts(name, value, reader) if each.strip())


def tags(name: str, value: Any, reader: Cleaner) -> tuple[str, ...]:
    tags = dict.fromkeys(enrich.normal_tag(each) for each in texts(name, value, reader))
    return tuple(tag for tag in tags if tag)


def time(name: str, value: Any, reader: Cleaner) -> datetime:
    try:
        return m.from_text(short(name, value, 40))
    except ValueError:
        raise refusal(f"{name} is not a time in ISO 8601") from None


def share(name: str, value: Any, reader: Cleaner) -> float:
    if not _is_number(value, int | float) or not 0 <= value <= 1:  # nor is NaN
        raise refusal(f"{name} must be a number from 0 to 1")
    return float(value)


def weight(name: str, value: Any, reader: Cleaner) -> float:
    weight = share(name, value, reader)
    if not weight:
        raise refusal(f"{name} must be above 0")
    return weight


def count(name: str, value: Any, reader: Cleaner) -> int:
    if not _is_number(value, int) or not 0 <= value <= _LARGEST:
        raise refusal(f"{name} must be a whole number, 0 or more")
    return int(value)


def _is_number(value: Any, types: Any) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def span(name: str, value: Any, reader: Cleaner) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise refusal(f"{name} must be two whole numbers")
    return count(name, value[0], reader), count(name, value[1], reader)


def one_of(names: Iterable[str]) -> Field:
    known = {str(name): name for name in names}

    def field(name: str, value: Any, reader: Cleaner) -> str:
        if not isinstance(value, str) or value not in known:
            raise refusal(f"{name} must be one of {', '.join(known)}")
        return known[value]

    return field


def kind(name: str, value: Any, reader: Cleaner) -> str:
    return kind_of(text(name, value, reader)).name


_OUR_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{18}")
_OTHER_ID = re.compile(r"(?!.*[0-9a-f]{20})[0-9a-z]{1,40}")


def identity(name: str, value: Any, reader: Cleaner) -> str:
    text = short(name, value)
    if _OUR_ID.fullmatch(text) or (_OTHER_ID.fullmatch(text) and redact(text)[0] == text):
        return text
    raise refusal(f"{name} cannot be an id: up to 40 lower-case letters and digits, and no secret")


OUR_PROJECT = re.compile(r"p[0-9a-f]{15}")


def project_id(name: str, value: Any, reader: Cleaner) -> str:
    if isinstance(value, str) and OUR_PROJECT.fullmatch(value):
        return value
    return handle(name, value, reader)


def key(name: str, value: Any, reader: Cleaner) -> str:
    if not isinstance(value, str) or not value.startswith(("remote:", "git:", "dir:", "tree:")):
        raise refusal(f"{name} must begin with remote:, git:, dir: or tree:")
    # A folder is only looked up, and may be called anything.
    return handle(name, value, reader) if value.startswith("remote:") else short(name, value, 2 * LONGEST)


def digest(name: str, value: Any, reader: Cleaner) -> str:
    if not re.fullmatch(r"[0-9a-f]{0,64}", short(name, value)):
        raise refusal(f"{name} must be up to 64 hexadecimal digits")
    return str(value)


def named_values(item: Field, most: int = MOST) -> Field:
    """An object with names of its own."""

    def field(name: str, value: Any, reader: Cleaner) -> dict[str, Any]:
        if not isinstance(value, Mapping) or len(value) > most:
            raise refusal(f"{name} must be an object of at most {most:,} names")
        return {named(name, key, reader): item(f"{name}.{key}", each, reader) for key, each in value.items()}

    return field


def data(table: Table, *may_lack: str) -> Field:
    """As it is kept, what is null too."""
    needed = table.keys() - may_lack

    def field(name: str, value: Any, reader: Cleaner) -> dict[str, Any]:
        values = whole(table, value, reader, name, *sorted(needed))
        return {each: values.get(each) for each in table if each in value}

    return field


def pair(item: Field) -> Field:
    whole = list_of(item, 2)

    def field(name: str, value: Any, reader: Cleaner) -> tuple[Any, ...]:
        pair: tuple[Any, ...] = whole(name, value, reader)
        if len(pair) != 2:
            raise refusal(f"{name} must be two")
        return pair

    return field
