"""What the APIs' own SDKs say of a list of messages, and our rules."""

from collections.abc import Iterable, Mapping

from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from recollect.work.window.rules import problems

_TYPES = {
    "anthropic": TypeAdapter(list[MessageParam]),
    "openai": TypeAdapter(list[ChatCompletionMessageParam]),
}


def is_accepted(messages, form):
    """Raises pydantic's error where the SDK's types do not fit."""
    _read(_TYPES[form].validate_python(messages))
    return problems(messages, form) == []


def _read(value):
    """The types say Iterable for lists, which pydantic checks only while they are read."""
    if isinstance(value, Mapping):
        for each in value.values():
            _read(each)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            _read(each)
