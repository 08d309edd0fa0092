"""The APIs' own validators: the types of their SDKs."""

from collections.abc import Iterable, Mapping
from typing import Any

from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter, ValidationError

_TYPES = {
    "anthropic": TypeAdapter(list[MessageParam]),
    "openai": TypeAdapter(list[ChatCompletionMessageParam]),
}


def accepts(messages: list[dict[str, Any]], form: str) -> bool:
    try:
        _read(_TYPES[form].validate_python(messages))
    except ValidationError:
        return False
    return True


def _read(value: Any) -> None:
    """The types say Iterable for lists, which pydantic checks only while they are read."""
    if isinstance(value, Mapping):
        for each in value.values():
            _read(each)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            _read(each)
