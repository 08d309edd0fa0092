"""Conversion of messages to items and back for either API, and `fit`, which shortens a list of messages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.errors import UnknownName
from recollect.work.window import anthropic, openai
from recollect.work.window.forms import ANTHROPIC, OPENAI, form_of
from recollect.work.window.item import ContextItem
from recollect.work.window.pairs import repaired
from recollect.work.window.prune import prune

_READ = {ANTHROPIC: anthropic.items_of, OPENAI: openai.items_of}
_WRITE = {ANTHROPIC: anthropic.messages_of, OPENAI: openai.messages_of}
_END = datetime(2000, 1, 1, tzinfo=UTC)  # lists have no times, so each item counts as a minute younger


def items_of(messages: Sequence[Any], form: str, now: datetime, task: str | None = None) -> list[ContextItem]:
    """Return the items of API messages. Raise `Refused` for an invalid message, `UnknownName` for another API."""
    return _READ[checked(form)](messages, now, task)


def messages_of(items: Iterable[ContextItem], form: str) -> list[dict[str, Any]]:
    """Return items as messages of an API. Raise `UnknownName` for another API."""
    return _WRITE[checked(form)](items)


def checked(form: str) -> str:
    """Return `form` if it names a supported API, else raise `UnknownName`."""
    if form not in _READ:
        raise UnknownName("form", form, list(_READ))
    return form


def fit(messages: Sequence[Any], max_tokens: int, *, form: str | None = None) -> list[dict[str, Any]]:
    """Return `messages` unchanged if they fit, else without the least relevant ones, valid for their API.

    One line stands in place of what was removed, which cannot be restored; `ContextWindow` can. `form` is
    "anthropic" or "openai"; None detects it. Raise `Refused` if the system messages alone are too long.
    """
    form = form or form_of(messages)
    items = items_of(messages, form, _END)
    aged = [
        replace(item, timestamp=_END - timedelta(minutes=number))
        for number, item in enumerate(reversed(items))
    ][::-1]
    pruned = prune(aged, max_tokens, _END, threshold=1.0, restorable=False)
    if pruned.items == tuple(aged):
        return messages_of(items, form)
    return messages_of(repaired(pruned.items), form)
