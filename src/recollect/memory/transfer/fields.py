"""Pydantic types of the fields of foreign records.

Each type checks a value, removes secrets from it, or refuses it. Secrets are removed by the `Cleaner` that is passed as
pydantic's validation context. pydantic takes about 100 ms to import, so only `record` imports this module, and only
code that reads foreign records imports `record`.
"""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    Strict,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

import recollect.model as m
from recollect.errors import ContentRefused
from recollect.kinds import kind_of
from recollect.memory.transfer.join import NEWEST
from recollect.memory.write import enrich, limits
from recollect.text.redact import redact

LONGEST = 4 * limits.MAX_FIELD  # characters of a text: what a field holds, and what redaction makes of it
MOST = 4 * limits.MAX_ITEMS  # tags, files… of one memory: a merged memory has those of several
MOST_FILES = 60_000  # files of a module: all that a project can have
STORY = 16 * 1024  # characters of a session's summary
_LARGEST = 2**53 - 1  # the largest integer that JSON numbers hold exactly

_OUR_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{18}")
_OTHER_ID = re.compile(r"(?!.*[0-9a-f]{20})[0-9a-z]{1,40}")
OUR_PROJECT = re.compile(r"p[0-9a-f]{15}")

T = TypeVar("T")


class Cleaner(Protocol):
    def clean(self, text: str) -> str:
        """Return `text` without secrets."""


class ForeignRecord(BaseModel):
    """An object of foreign JSON. Fields that no model names are ignored; null means not given."""

    def given(self) -> dict[str, Any]:
        """Return the fields that were given."""
        return {name: value for name, value in self if value is not None}


def made(kind: Callable[..., Any]) -> AfterValidator:
    """Return a validator that makes a `kind` of the fields that were given."""
    return AfterValidator(lambda record: kind(**record.given()))


def refusal(what: str) -> ContentRefused:
    return ContentRefused(f"{what}.", "Correct the record and import again; the other records were imported.")


_REASONS: dict[str, str] = {  # by pydantic's type of error, with the values that its context has
    "missing": "is missing",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "tuple_type": "must be a list",
    "string_type": "must be a text",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "enum": "must be one of {expected}",
    "literal_error": "must be one of {expected}",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_long": "has more than {max_length:,} entries",
    "too_short": "has fewer than {min_length} entries",
    "string_unicode": "is not valid UTF-8",
    "refused": "{why}",
}


def explained(error: ValidationError, name: str) -> ContentRefused:
    """Return a refusal that names the first wrong field below `name`, and what is wrong with it.

    Names in an object of the file's own making are not shown: they may hold a secret.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    names = [part for part in first["loc"] if isinstance(part, str) and part in _field_names()]
    short_list = first["type"] == "missing" and first["loc"] and isinstance(first["loc"][-1], int)
    reason = "has too few entries" if short_list else _REASONS.get(first["type"], "is not valid")
    path = ".".join(part for part in (name, *names) if part)
    return refusal(f"{path} {reason.format(**first.get('ctx', {}))}")


def _field_names() -> set[str]:
    return {name for model in ForeignRecord.__subclasses__() for name in model.model_fields}


def refused(why: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{why}", {"why": why})


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise refused("must be a text")
    return value


def _bounded(text: str, most: int = LONGEST) -> str:
    if len(text) > most:
        raise refused(f"has {len(text):,} characters, more than {most:,}")
    try:
        return limits.plain(text, "")
    except ContentRefused as error:
        raise refused(error.message.strip(" .")) from None


def _text(text: str, info: ValidationInfo[Cleaner]) -> str:
    return _bounded(info.context.clean(_bounded(text)))  # a redaction mark may be longer than the secret


def _story(text: str, info: ValidationInfo[Cleaner]) -> str:
    cleaned: str = info.context.clean(_bounded(text, 4 * STORY))
    return cleaned[:STORY]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise refused("is empty")
    return text


def _handle(text: str, info: ValidationInfo[Cleaner]) -> str:
    if _not_blank(_text(text, info)) != text:
        raise refused("looks like a secret")
    return text


def _identity(text: str) -> str:
    _bounded(text)
    if _OUR_ID.fullmatch(text) or (_OTHER_ID.fullmatch(text) and redact(text)[0] == text):
        return text
    raise refused("cannot be an id: up to 40 lower-case letters and digits, and no secret")


def _project_id(text: str, info: ValidationInfo[Cleaner]) -> str:
    return text if OUR_PROJECT.fullmatch(text) else _handle(text, info)


def _project_key(text: str, info: ValidationInfo[Cleaner]) -> str:
    if not text.startswith(("remote:", "git:", "dir:", "tree:")):
        raise refused("must begin with remote:, git:, dir: or tree:")
    # A folder is only looked up, so its name may look like a secret.
    return _handle(text, info) if text.startswith("remote:") else _bounded(text, 2 * LONGEST)


def _digest(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{0,64}", _bounded(text)):
        raise refused("must be up to 64 hexadecimal digits")
    return text


def _pattern_name(text: str, info: ValidationInfo[Cleaner]) -> str:
    """A pattern is named by words, or by a digest, which is no secret."""
    return text if re.fullmatch(r"[0-9a-f]{24}", text) else _not_blank(_text(text, info))


def _time(value: Any) -> datetime:
    try:
        return m.from_text(_bounded(_string(value), 40))
    except ValueError as error:
        if isinstance(error, PydanticCustomError):
            raise
        raise refused("is not a time in ISO 8601") from None


def _vector(value: Any) -> bytes:
    import numpy as np

    try:
        data = base64.b64decode(_bounded(_string(value), 64 * LONGEST), validate=True)
        length = float(np.linalg.norm(np.frombuffer(data, "<f4")))
    except (binascii.Error, ValueError):
        length = 0.0
    if not abs(length - 1) < 0.01:  # also refuses NaN
        raise refused("must be a vector of length 1, as base64 of 32-bit floats")
    return data


def _without_blank(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())


def _normal_tags(texts: tuple[str, ...]) -> tuple[str, ...]:
    tags = dict.fromkeys(enrich.normal_tag(text) for text in texts)
    return tuple(tag for tag in tags if tag)


def _situations(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Keep what a memory may have: an import leaves out the others instead of refusing the memory."""
    short = (limits.in_one_line(text) for text in texts)
    kept = dict.fromkeys(text for text in short if len(text) <= limits.MAX_SITUATION)
    return tuple(kept)[: limits.MAX_SITUATIONS]


def newest_of(first: int = 0) -> BeforeValidator:
    """Return a validator that keeps the `first` entries of a list and the newest of the others."""

    def shorten(value: Any) -> Any:
        return [*value[:first], *value[first:][-NEWEST:]] if isinstance(value, list | tuple) else value

    return BeforeValidator(shorten)


_Str = Annotated[str, Strict()]

Text = Annotated[_Str, AfterValidator(_text)]
Story = Annotated[_Str, AfterValidator(_story)]  # longer, and shortened to its limit
Name = Annotated[Text, AfterValidator(_not_blank)]
Handle = Annotated[_Str, AfterValidator(_handle)]  # connects records, so it is refused rather than changed
Identity = Annotated[_Str, AfterValidator(_identity)]
ProjectId = Annotated[_Str, AfterValidator(_project_id)]
ProjectKey = Annotated[_Str, AfterValidator(_project_key)]
Digest = Annotated[_Str, AfterValidator(_digest)]
PatternName = Annotated[_Str, AfterValidator(_pattern_name)]
Kind = Annotated[Text, AfterValidator(lambda text: kind_of(text).name)]
Vector = Annotated[bytes, PlainValidator(_vector)]
Time = Annotated[datetime, PlainValidator(_time)]
Share = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Strict(), Field(gt=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Strict(), Field(ge=0, le=_LARGEST)]

Many = Annotated[tuple[T, ...], Field(max_length=MOST, fail_fast=True)]
ManyFiles = Annotated[tuple[T, ...], Field(max_length=MOST_FILES, fail_fast=True)]
Pair = Annotated[tuple[T, ...], Field(min_length=2, max_length=2)]
Named = Annotated[dict[Name, T], Field(max_length=MOST)]  # an object with names of its own
NamedFiles = Annotated[dict[Name, T], Field(max_length=MOST_FILES)]
Texts = Annotated[Many[Text], AfterValidator(_without_blank)]
Situations = Annotated[Texts, AfterValidator(_situations)]
Tags = Annotated[Texts, AfterValidator(_normal_tags)]
