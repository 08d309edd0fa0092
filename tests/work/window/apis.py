"""What the APIs' own SDKs say of a list of messages, and our rules.

The SDKs are imported when a test needs them: every test process collects all tests, and both together take two seconds.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from pydantic import TypeAdapter

from recollect.work.window.rules import problems


@cache
def _type(form):
    if form == "anthropic":
        from anthropic.types import MessageParam

        return TypeAdapter(list[MessageParam])
    from openai.types.chat import ChatCompletionMessageParam

    return TypeAdapter(list[ChatCompletionMessageParam])


def is_accepted(messages, form):
    """Raises pydantic's error where the SDK's types do not fit."""
    _read(_type(form).validate_python(messages))
    return problems(messages, form) == []


def _read(value):
    """The types say Iterable for lists, which pydantic checks only while they are read."""
    if isinstance(value, Mapping):
        for each in value.values():
            _read(each)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            _read(each)
