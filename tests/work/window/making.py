"""Items and messages for tests, and strategies that make whole windows of them."""

from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import strategies as st

from recollect.work.window.item import (
    OVERHEAD,
    ContextItem,
    ItemType,
    Text,
    ToolCall,
    ToolResult,
    token_count,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def item(name="a", type=ItemType.USER, parts=None, minutes=0, **details):
    """Made so many minutes before noon."""
    made = (Text(f"text of {name}"),) if parts is None else tuple(parts)
    details.setdefault("tokens", sum(map(_weight, made)) + OVERHEAD)
    return ContextItem(name, type, made, NOON - timedelta(minutes=minutes), **details)


def _weight(part):
    return token_count((part,)) - OVERHEAD if isinstance(part, ToolCall) else _value_tokens(part)


@cache  # the same few texts make up all windows
def _value_tokens(part):
    return token_count((part,)) - OVERHEAD


def call(name, *ids, minutes=0, **details):
    parts = [ToolCall(each, "Bash", {"command": f"make {each}"}) for each in ids]
    return item(name, ItemType.ASSISTANT, parts, minutes, **details)


def result(name, answers, text="done", minutes=0, **details):
    return item(name, ItemType.TOOL_RESULT, [ToolResult(answers, text)], minutes, **details)


_LINES = ["The till prints twice.\n", "cart.py:12: error: rounds down\n", "1 failed, 3 passed in 0.2 s\n"]


@st.composite
def windows(draw):
    """Some twenty items: things said, calls with their results, some sticky, some that depend on others."""
    items, names = [], []
    for number in range(draw(st.integers(1, 20))):
        name = f"item{number:03}"
        size = draw(st.sampled_from([1, 5, 30, 200]))
        text = draw(st.sampled_from(_LINES)) * size
        details = {
            "minutes": 600 - number * draw(st.integers(0, 20)),
            "relevance": draw(st.floats(0, 1)),
            "task": draw(st.sampled_from([None, "t1", "t2"])),
            "dependencies": tuple(draw(st.lists(st.sampled_from(names), max_size=2))) if names else (),
            "sticky": size < 30 and draw(st.integers(0, 9)) == 0,
        }
        kind = draw(
            st.sampled_from([ItemType.USER, ItemType.ASSISTANT, ItemType.CODE, ItemType.TASK, "calls"])
        )
        if kind == "calls":
            ids = [f"c{number}-{each}" for each in range(draw(st.integers(1, 3)))]
            items.append(call(name, *ids, **details))
            items += [result(f"{name}-{each}", each, text, **details) for each in ids]
        else:
            items.append(item(name, kind, [Text(text)], **details))
        names.append(name)
    return items
