"""Choose the items that leave a window that is nearly full, and put stubs in their place. Pure functions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.text import tokens
from recollect.work.window.gist import gist_of
from recollect.work.window.item import OVERHEAD, ContextItem, ItemType, Text, Thought, short, token_count
from recollect.work.window.pairs import Unit, units_of
from recollect.work.window.relevance import relevance
from recollect.work.window.trim import trimmed

THRESHOLD = 0.8  # share of the window above which it is pruned
SHARE = 0.3  # share of the tokens that is removed then
SPARE = 0.02  # share of the tokens that may be removed beyond that, rather than shorten an item
LATEST = 6  # newest items, which are always kept
STUB = 64  # tokens of a stub, at most
SHORTEST = 4 * STUB  # tokens to which an item is shortened, at least; below that it is removed whole
STUB_ENDS = "-stub"  # suffix of a stub's id, after the id of the first item it stands for
_GISTS = 3  # summaries in a stub

_ORDINARY, _RECENT, _PROTECTED, _STICKY = range(4)  # levels in the order of removal; sticky items never leave


@frozen
class Pruned:
    items: tuple[ContextItem, ...]
    removed: tuple[Unit, ...] = ()  # in order; a stub names the id of each
    trimmed: tuple[ContextItem, ...] = ()  # as they were before they were shortened


def prune(
    items: Sequence[ContextItem],
    max_tokens: int,
    now: datetime,
    current_task: str | None = None,
    *,
    threshold: float = THRESHOLD,
    restorable: bool = True,
) -> Pruned:
    """Above the threshold, remove 30 % of the tokens, least relevant first; at most `max_tokens` remain.

    More is removed only where the rest would still be above the threshold. The last item to go is shortened if removing
    it would remove too much. Sticky items, the current task's state, the last user message and the newest items stay; they
    are shortened only if they would not fit otherwise. Raise `Refused` if sticky items alone do not fit.
    """
    total = sum(item.tokens for item in items)
    if total <= threshold * max_tokens:
        return Pruned(tuple(items))
    pruning = _Pruning(items, now, current_task, restorable)
    for level in (_ORDINARY, _RECENT):
        pruning.remove(level, min((1 - SHARE) * total, threshold * max_tokens))
    for levels in ((), (_ORDINARY, _RECENT), (_ORDINARY, _RECENT, _PROTECTED)):
        pruning.remove_all(levels)
        done = _trim(pruning.result(), max_tokens, restorable)
        if sum(item.tokens for item in done.items) <= max_tokens:
            return done
    sticky = sum(item.tokens for item in items if item.sticky)
    raise Refused(
        f"A window of {max_tokens:,} tokens is too small: sticky items take {sticky:,}, a stub up to {STUB}.",
        "Use a larger window, or make fewer items sticky.",
    )


class _Pruning:
    """The units of a window, those removed so far, and about how many tokens remain."""

    def __init__(
        self, items: Sequence[ContextItem], now: datetime, current_task: str | None, restorable: bool
    ) -> None:
        last_message = max((n for n, item in enumerate(items) if item.type is ItemType.USER), default=-1)
        protected = {
            item.id
            for number, item in enumerate(items)
            if number == last_message
            or number >= len(items) - LATEST
            or (item.type is ItemType.TASK and item.task is not None and item.task == current_task)
        }
        recent = {item.id for item in items[last_message + 1 :]} if last_message >= 0 else set()
        self._units = units_of(_without_old_thoughts(items, last_message))
        self._restorable = restorable
        self._levels = [_level(unit, protected, recent) for unit in self._units]
        dependents = Counter(name for item in items for name in set(item.dependencies))
        scores = [
            max(relevance(item, now, current_task, dependents[item.id]) for item in unit.items)
            for unit in self._units
        ]
        self._order = sorted(range(len(self._units)), key=lambda number: (scores[number], number))
        self._removed: set[int] = set()
        self._shortened: dict[int, int] = {}  # numbers of units, and the tokens that are left of them
        self._spare = SPARE * sum(item.tokens for item in items)
        # A stub grows when others are merged into it, so each counts as the longest possible.
        self._left = sum(STUB if unit.is_stub else unit.tokens for unit in self._units)

    def remove(self, level: int, enough: float) -> None:
        """Remove units of a level, least relevant first, until at most `enough` tokens remain.

        Units no larger than a stub are removed only beside another removed one, unless nothing else is left.
        """
        for small_too in (False, True):
            for number in self._order:
                if self._left <= enough:
                    return
                unit = self._units[number]
                if self._levels[number] != level or number in self._removed or unit.is_stub:
                    continue
                joins = self._is_removed(number - 1) or self._is_removed(number + 1)
                too_much = int(enough - (self._left - unit.tokens))
                if too_much > self._spare and too_much >= SHORTEST and number not in self._shortened:
                    self._shortened[number] = too_much
                    self._left -= unit.tokens - too_much
                elif joins or small_too or unit.tokens > STUB:
                    self._removed.add(number)
                    self._left -= self._shortened.pop(number, unit.tokens) - (0 if joins else STUB)

    def _is_removed(self, number: int) -> bool:
        return number in self._removed or (0 <= number < len(self._units) and self._units[number].is_stub)

    def remove_all(self, levels: Sequence[int]) -> None:
        self._removed |= {number for number, level in enumerate(self._levels) if level in levels}

    def result(self) -> Pruned:
        items: list[ContextItem] = []
        trimmed_items: list[ContextItem] = []
        run: list[Unit] = []
        for number, unit in enumerate(self._units):
            if self._is_removed(number):
                run.append(unit)
                continue
            items += _stubs(run, self._restorable)
            if number in self._shortened:
                changes = _shortened(unit.items, self._shortened[number], self._restorable)
                trimmed_items += [item for item in unit.items if item.id in changes]
                items += [changes.get(item.id, item) for item in unit.items]
            else:
                items += unit.items
            run = []
        items += _stubs(run, self._restorable)
        removed = (self._units[number] for number in sorted(self._removed))
        return Pruned(tuple(items), tuple(unit for unit in removed if not unit.is_stub), tuple(trimmed_items))


def _level(unit: Unit, protected: set[str], recent: set[str]) -> int:
    if unit.sticky:
        return _STICKY
    names = {item.id for item in unit.items}
    return _PROTECTED if names & protected else _RECENT if names & recent else _ORDINARY


def _without_old_thoughts(items: Sequence[ContextItem], last_message: int) -> list[ContextItem]:
    """Return items without the reasoning before the last user message, which no API requires."""
    remaining: list[ContextItem] = []
    for number, item in enumerate(items):
        if number < last_message and any(isinstance(part, Thought) for part in item.parts):
            item = item.with_parts(part for part in item.parts if not isinstance(part, Thought))
        if item.parts:
            remaining.append(item)
    return remaining


def _stubs(run: Sequence[Unit], restorable: bool) -> list[ContextItem]:
    """Return one stub for a run of removed units, merged with the stubs in it; none for an empty run."""
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
            token_count(text),
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
    """Shorten the largest items that are not sticky, all to the same size, until everything fits."""
    over = sum(item.tokens for item in pruned.items) - max_tokens
    if over <= 0:
        return pruned
    loose = [item for item in pruned.items if not item.sticky and not item.is_stub]
    changes = _shortened(loose, sum(item.tokens for item in loose) - over, restorable)
    already = {item.id for item in pruned.trimmed}
    before = (item for item in pruned.items if item.id in changes and item.id not in already)
    return replace(
        pruned,
        items=tuple(changes.get(item.id, item) for item in pruned.items),
        trimmed=(*pruned.trimmed, *before),
    )


def _shortened(items: Sequence[ContextItem], room: int, restorable: bool) -> dict[str, ContextItem]:
    """Return shorter forms of the largest items, all of the same size, by id, so that all items fit into `room`."""
    most = _common_size(sorted(item.tokens for item in items), room)
    return {item.id: trimmed(item, most, restorable) for item in items if item.tokens > most}


def _common_size(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the larger of `sizes` (ascending) must be cut for all to fit."""
    for number, size in enumerate(sizes):
        share = room // (len(sizes) - number)
        if size > share:
            return max(share, 0)
        room -= size
    return sizes[-1] if sizes else 0
