"""Units of items that are kept or removed together: a response with tool calls and the results of those."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.frozen import frozen
from recollect.work.window.item import ContextItem, ItemType, Text, ToolCall, ToolResult, token_count

NO_RESULT = "(No result was recorded.)"


@frozen
class Unit:
    """One item, or a response followed by the results of its tool calls."""

    items: tuple[ContextItem, ...]

    @property
    def id(self) -> str:
        return self.items[0].id

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)

    @property
    def is_stub(self) -> bool:
        return self.items[0].is_stub

    @property
    def sticky(self) -> bool:
        return any(item.sticky for item in self.items)

    @property
    def content(self) -> str:
        return "\n".join(item.content for item in self.items)


def units_of(items: Iterable[ContextItem]) -> list[Unit]:
    """Return the units in order, each result moved to its call."""
    groups: list[list[ContextItem]] = []
    callers: dict[str, list[ContextItem]] = {}
    for item in items:
        if item.answers in callers:
            callers[item.answers].append(item)
            continue
        groups.append([item])
        callers.update(dict.fromkeys(item.calls, groups[-1]))
    return [Unit(tuple(group)) for group in groups]


def repaired(items: Sequence[ContextItem]) -> list[ContextItem]:
    """Return items as an API accepts them: each call followed by exactly one result, and no result without a call.

    Calls of the last response may lack results, which are still to come.
    """
    units = units_of(items)
    last = len(units) - 1
    return [item for number, unit in enumerate(units) for item in _repaired(unit, open_ended=number == last)]


def _repaired(unit: Unit, open_ended: bool) -> list[ContextItem]:
    first = unit.items[0]
    if first.answers:
        text = Text(f"Result of a tool:\n{first.content}")
        return [replace(first, type=ItemType.USER, parts=(text,), form="", message="", fields={})]
    answered = Counter(item.answers for item in unit.items[1:])
    if set(answered) == set(first.calls) and max(answered.values(), default=1) == 1:
        return list(unit.items)
    if open_ended and not answered:
        return [first]
    results = {item.answers: item for item in reversed(unit.items[1:])}
    return [
        first,
        *(results.get(call.id) or _blank(first, call) for call in first.parts if isinstance(call, ToolCall)),
    ]


def _blank(item: ContextItem, call: ToolCall) -> ContextItem:
    parts = (ToolResult(call.id, NO_RESULT, failed=True),)
    return ContextItem(
        f"{item.id}-{call.id}",
        ItemType.TOOL_RESULT,
        parts,
        item.timestamp,
        token_count(parts),
        task=item.task,
    )
