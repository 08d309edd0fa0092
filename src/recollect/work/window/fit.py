"""A list of messages made to fit, in one call."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.work.window.adapters import items_of, messages_of
from recollect.work.window.forms import form_of
from recollect.work.window.pairs import mended
from recollect.work.window.prune import prune

_END = datetime(2000, 1, 1, tzinfo=UTC)  # lists have no clock: a minute passes with each item


def fit(messages: Sequence[Any], max_tokens: int, *, form: str | None = None) -> list[dict[str, Any]]:
    """`messages` as they are where they fit; else without what matters least, a line in its place, valid for its API.

    What is left out cannot be had again: for that there is `ContextWindow`. `form` is "anthropic" or "openai"; None
    looks at the messages. Raises `Refused` where system messages alone are too much.
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
    return messages_of(mended(pruned.items), form)
