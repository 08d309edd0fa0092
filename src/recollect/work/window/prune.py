"""Which items leave a window that is nearly full, and what stays in their place. Pure: the clock is an argument."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.errors import Refused
from recollect.text import tokens
from recollect.work.window.gist import gist_of
from recollect.work.window.item import OVERHEAD, ContextItem, ItemType, Text, Thought, short, weigh
from recollect.work.window.pairs import Unit, units_of
from recollect.work.window.relevance import relevance
from recollect.work.window.trim import trimmed

THRESHOLD = 0.8  # of the window, above which it is pruned
SHARE = 0.3  # of the tokens that go then, at least
LATEST = 6  # items that are kept whatever they are
STUB = 64  # tokens that one takes at most
STUB_ENDS = "-stub"  # of its id, which begins with that of the first it stands for
_GISTS = 3  # of what a stub stands for are told

_ORDINARY, _RECENT, _KEPT, _STICKY = range(4)  # in this order they go; the last never do


@dataclass(frozen=True, slots=True)
class Pruned:
    items: tuple[ContextItem, ...]
    removed: tuple[Unit, ...] = ()  # in their order; a stub has the id of each
    trimmed: tuple[ContextItem, ...] = ()  # as they were before they were cut short


def prune(
    items: Sequence[ContextItem],
    max_tokens: int,
    now: datetime,
    current_task: str | None = None,
    *,
    threshold: float = THRESHOLD,
    restorable: bool = True,
) -> Pruned:
    """Above the threshold, at least 30 % of the tokens go, least relevant first; never more than `max_tokens` stay.

    Kept are sticky items, the current task's state, the last user message and the last items; they are cut short only
    where they would not fit otherwise. Raises `Refused` where sticky items alone are too much.
    """
    total = sum(item.tokens for item in items)
    if total <= threshold * max_tokens:
        return Pruned(tuple(items))
    pruning = _Pruning(items, now, current_task, restorable)
    for level in (_ORDINARY, _RECENT):
        pruning.remove(level, min((1 - SHARE) * total, threshold * max_tokens))
    for also in ((), (_ORDINARY, _RECENT), (_ORDINARY, _RECENT, _KEPT)):
        pruning.remove_all(also)
        done = _trim(pruning.result(), max_tokens, restorable)
        if sum(item.tokens for item in done.items) <= max_tokens:
            return done
    sticky = sum(item.tokens for item in items if item.sticky)
    raise Refused(
        f"{max_tokens:,} tokens are too few: items that may not be removed take {sticky:,}, a line for others up to {STUB}.",
        "Give the window more room, or make fewer items sticky.",
    )


class _Pruning:
    """The units of a window, those that are gone, and about how much that leaves."""

    def __init__(
        self, items: Sequence[ContextItem], now: datetime, current_task: str | None, restorable: bool
    ) -> None:
        last_said = max((n for n, item in enumerate(items) if item.type is ItemType.USER), default=-1)
        kept = {
            item.id
            for number, item in enumerate(items)
            if number == last_said
            or number >= len(items) - LATEST
            or (item.type is ItemType.TASK and item.task is not None and item.task == current_task)
        }
        recent = {item.id for item in items[last_said + 1 :]} if last_said >= 0 else set()
        self._units = units_of(_without_old_thoughts(items, last_said))
        self._restorable = restorable
        self._levels = [_level(unit, kept, recent) for unit in self._units]
        dependents = Counter(name for item in items for name in set(item.dependencies))
        scores = [
            max(relevance(item, now, current_task, dependents[item.id]) for item in unit.items)
            for unit in self._units
        ]
        self._order = sorted(range(len(self._units)), key=lambda number: (scores[number], number))
        self._gone: set[int] = set()
        # A stub may grow when others are merged with it, so each counts as the longest.
        self._left = sum(STUB if unit.is_stub else unit.tokens for unit in self._units)

    def remove(self, level: int, enough: float) -> None:
        """Units of a level, least relevant first, until no more than `enough` is left.

        One that is no larger than its stub goes only beside another that went, until nothing else is left to go.
        """
        for small_too in (False, True):
            for number in self._order:
                if self._left <= enough:
                    return
                unit = self._units[number]
                if self._levels[number] != level or number in self._gone or unit.is_stub:
                    continue
                joins = self._is_gone(number - 1) or self._is_gone(number + 1)
                if joins or small_too or unit.tokens > STUB:
                    self._gone.add(number)
                    self._left -= unit.tokens - (0 if joins else STUB)

    def _is_gone(self, number: int) -> bool:
        return number in self._gone or (0 <= number < len(self._units) and self._units[number].is_stub)

    def remove_all(self, levels: Sequence[int]) -> None:
        self._gone |= {number for number, level in enumerate(self._levels) if level in levels}

    def result(self) -> Pruned:
        items: list[ContextItem] = []
        run: list[Unit] = []
        for number, unit in enumerate(self._units):
            if self._is_gone(number):
                run.append(unit)
                continue
            items += _stubs(run, self._restorable)
            items += unit.items
            run = []
        items += _stubs(run, self._restorable)
        gone = (self._units[number] for number in sorted(self._gone))
        return Pruned(tuple(items), tuple(unit for unit in gone if not unit.is_stub))


def _level(unit: Unit, kept: set[str], recent: set[str]) -> int:
    if unit.sticky:
        return _STICKY
    names = {item.id for item in unit.items}
    return _KEPT if names & kept else _RECENT if names & recent else _ORDINARY


def _without_old_thoughts(items: Sequence[ContextItem], last_said: int) -> list[ContextItem]:
    """Reasoning from before the last user message: no API asks for that."""
    bare: list[ContextItem] = []
    for number, item in enumerate(items):
        if number < last_said and any(isinstance(part, Thought) for part in item.parts):
            item = item.having(part for part in item.parts if not isinstance(part, Thought))
        if item.parts:
            bare.append(item)
    return bare


def _stubs(run: Sequence[Unit], restorable: bool) -> list[ContextItem]:
    """One for all that is missing in a row, with whatever stubs stood there; none for an empty row."""
    if not run or (len(run) == 1 and run[0].is_stub):
        return [item for unit in run for item in unit.items]
    names: list[str] = []
    gists: list[str] = []
    gone = 0
    for unit in run:
        first = unit.items[0]
        names += first.stands_for or [item.id for item in unit.items]
        gists += first.gists or [f"{short(unit.id)} {gist_of(unit)}" if restorable else gist_of(unit)]
        gone += first.gone or unit.tokens
    last = tuple(gists[-_GISTS:])
    text = (Text(_line(len(names), gone, last)),)
    first = run[0].items[0]
    return [
        ContextItem(
            f"{first.id}{STUB_ENDS}" if not first.is_stub else first.id,
            ItemType.GRAPH,
            text,
            first.timestamp,
            weigh(text),
            stands_for=tuple(names),
            gists=last,
            gone=gone,
        )
    ]


def _line(count: int, gone: int, gists: Iterable[str]) -> str:
    what = "1 item" if count == 1 else f"{count:,} items"
    line = f"[left out: {what}, {gone:,} tokens. Last: {'; '.join(reversed(tuple(gists)))}"
    return f"{tokens.clip(line, STUB - OVERHEAD - 2)}]"


def _trim(pruned: Pruned, max_tokens: int, restorable: bool) -> Pruned:
    """The largest that are not sticky cut down, all to the same size, until everything fits."""
    over = sum(item.tokens for item in pruned.items) - max_tokens
    if over <= 0:
        return pruned
    sizes = sorted(item.tokens for item in pruned.items if not item.sticky and not item.is_stub)
    most = _level_off(sizes, sum(sizes) - over)
    before = [item for item in pruned.items if item.tokens > most and not item.sticky and not item.is_stub]
    after = {item.id: trimmed(item, most, restorable) for item in before}
    return replace(
        pruned, items=tuple(after.get(item.id, item) for item in pruned.items), trimmed=tuple(before)
    )


def _level_off(sizes: Sequence[int], room: int) -> int:
    """The height to which the larger of `sizes` (in ascending order) must be cut for all to fit."""
    for number, size in enumerate(sizes):
        share = room // (len(sizes) - number)
        if size > share:
            return max(share, 0)
        room -= size
    return sizes[-1] if sizes else 0
