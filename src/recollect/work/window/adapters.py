"""From and to the messages of either API, by its name."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from recollect.errors import UnknownName
from recollect.work.window import anthropic, openai
from recollect.work.window.forms import ANTHROPIC, OPENAI
from recollect.work.window.item import ContextItem

_READ = {ANTHROPIC: anthropic.items_of, OPENAI: openai.items_of}
_WRITE = {ANTHROPIC: anthropic.messages_of, OPENAI: openai.messages_of}


def items_of(messages: Sequence[Any], form: str, now: datetime, task: str | None = None) -> list[ContextItem]:
    """Raises `Refused` for what is no message, `UnknownName` for another API."""
    return _READ[checked(form)](messages, now, task)


def messages_of(items: Iterable[ContextItem], form: str) -> list[dict[str, Any]]:
    """Raises `UnknownName` for another API."""
    return _WRITE[checked(form)](items)


def checked(form: str) -> str:
    if form not in _READ:
        raise UnknownName("form", form, list(_READ))
    return form
