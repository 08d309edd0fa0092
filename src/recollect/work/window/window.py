"""A context window that never fills up: what matters least leaves it, can be found again, and comes back when asked.

    window = ContextWindow(engine)
    window.add("You fix bugs in a web shop.", ItemType.SYSTEM)
    messages = window.prepare("Why does checkout round wrongly?")

Without an engine it works too: what leaves it is then kept as long as the process lives.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import recollect.model as m
from recollect.errors import Refused
from recollect.model import PrunedText
from recollect.text import tokens
from recollect.work.window.adapters import checked, items_of, messages_of
from recollect.work.window.anthropic import system_of
from recollect.work.window.backing import Backing
from recollect.work.window.diary import Diary, EngineDiary
from recollect.work.window.forms import ANTHROPIC, form_of
from recollect.work.window.gist import gist_of
from recollect.work.window.item import Call, ContextItem, ItemType, Part, Result, Text, short, weigh
from recollect.work.window.kept import Kept, KeptHere, KeptInStore
from recollect.work.window.pairs import Unit, mended
from recollect.work.window.prune import STUB_ENDS, Pruned, prune
from recollect.work.window.sources import EngineSources, Found, Sources, gather

MAX_TOKENS = 180_000  # of 200,000: the rest is room for an answer
EXTRAS = 4_000  # tokens of code, past work and memories that are added to a message, at most
DEADLINE = 0.5  # seconds that looking for them may take
_SHARES = {"code": 0.5, "past work": 0.2, "memories": 0.3}  # of EXTRAS


class ContextWindow:
    """Items in their order, never more than `max_tokens` of them in what `messages` and `prepare` return."""

    def __init__(
        self,
        engine: Backing | None = None,
        max_tokens: int = MAX_TOKENS,
        session: str | None = None,
        clock: m.Clock = m.utc_now,
        sources: Sources | None = None,
    ) -> None:
        self.session = session or m.new_id()
        self.max_tokens = max_tokens
        self.tokens = 0
        self.prunings = 0
        self._clock = clock
        self._task: str | None = None
        self._items: list[ContextItem] = []
        self._positions: dict[str, int] = {}
        self._next = 0
        self._saved: dict[str, ContextItem | None] = {}  # None = to be written again
        # Where the text of an item is kept if not under its own id: of a result under that of the response it
        # left with, of what was brought back under the one it had before.
        self._homes: dict[str, str] = {}
        self._kept: Kept = KeptInStore(engine, self.session, clock) if engine else KeptHere()
        self._diary: Diary | None = EngineDiary(engine, self.session) if engine else None
        self._sources = sources or (EngineSources(engine, self.session) if engine else None)

    @classmethod
    def recover(
        cls, engine: Backing, session: str, max_tokens: int = MAX_TOKENS, clock: m.Clock = m.utc_now
    ) -> "ContextWindow":
        """The window of a session as it was last saved, redacted. Raises `Refused` where none was."""
        window = cls(engine, max_tokens, session, clock)
        items = window._kept.load()
        if not items:
            raise Refused(
                f"No window of session {session!r} is kept.", "Begin a new one: ContextWindow(engine)."
            )
        for item in items:
            window._append(item)
        window._saved = dict.fromkeys(item.id for item in items)  # their positions are new
        window._task = next((item.task for item in reversed(items) if item.task), None)
        return window

    @property
    def items(self) -> tuple[ContextItem, ...]:
        return tuple(self._items)

    @property
    def current_task(self) -> str | None:
        """None = none."""
        return self._task

    @current_task.setter
    def current_task(self, task: str | None) -> None:
        if task != self._task:
            self._task = task
            self.snapshot("task_switch")

    @property
    def system(self) -> str | list[dict[str, Any]]:
        """The system prompt, for Anthropic's parameter of that name."""
        return system_of(self._items)

    def add(
        self,
        content: str,
        type: ItemType = ItemType.USER,
        *,
        relevance: float = 1.0,
        task: str | None = None,
        dependencies: Sequence[str] = (),
        sticky: bool | None = None,
        calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
        call: str = "",
        failed: bool = False,
        path: str = "",
        lines: tuple[int, int] | None = None,
    ) -> ContextItem:
        """Put an item at the end. Of the current task and, if a system prompt, sticky, unless told otherwise.

        `calls` are those an assistant's response makes (id, tool, input); `call` is the one a tool's result answers.
        """
        kind = ItemType(type)  # its name will do
        if (kind is ItemType.TOOL_RESULT) != bool(call):
            raise Refused(
                "A tool's result, and only that, answers a call.", "Give `call`, the id of the call."
            )
        said: list[Part] = [Result(call, content, failed)] if call else [Text(content)] if content else []
        parts = (*said, *(Call(*each) for each in calls))
        return self._append(
            ContextItem(
                m.new_id(),
                kind,
                parts,
                self._clock(),
                weigh(parts),
                relevance=relevance,
                task=self._task if task is None else task,
                dependencies=tuple(dependencies),
                sticky=kind is ItemType.SYSTEM if sticky is None else sticky,
                path=path,
                lines=lines,
            )
        )

    def extend(self, messages: Sequence[Any], form: str | None = None) -> list[ContextItem]:
        """Put messages of an API at the end, objects of its SDK among them. Raises `Refused`."""
        items = items_of(messages, form or form_of(messages), self._clock(), self._task)
        return [self._append(item) for item in items]

    def messages(self, form: str = ANTHROPIC) -> list[dict[str, Any]]:
        """What to send next, pruned where it must be."""
        checked(form)
        self.maybe_prune()
        return messages_of(mended(self._items), form)

    def prepare(self, user_message: str, form: str = ANTHROPIC) -> list[dict[str, Any]]:
        """What to send with this message: pruned, with code, past work and memories that bear on it before it."""
        checked(form)
        self.maybe_prune()
        for found in self._found_for(user_message):
            self.add(found.text, found.type, relevance=found.relevance, path=found.path, lines=found.lines)
        self.add(user_message)
        sent = self.messages(form)
        self._save()
        return sent

    def maybe_prune(self) -> Pruned:
        """Above 80 % of the window, at least 30 % of the tokens leave it: kept by id, noted, and a line in their place."""
        pruned = prune(self._items, self.max_tokens, self._clock(), self._task)
        if pruned.items != tuple(self._items):
            self._keep(pruned)
            self._replace(pruned.items)
            self.prunings += 1
            self.snapshot("pruning", pruned)
        return pruned

    def find(self, query: str, limit: int = 3) -> list[PrunedText]:
        """What left the window and has most in common with `query`, best first; an id finds what it names."""
        name = query.strip()
        named = self._kept.get(self._homes.get(name, name))
        return [named] if named else self._kept.find(query, limit)

    def restore(self, name: str) -> ContextItem:
        """Bring back what left the window: by its id as a stub shows it. Raises `Refused`."""
        text = self._kept.get(self._homes.get(name, name))
        if text is None:
            for item in self._items:
                if name in (item.id, short(item.id)) and not item.is_stub:
                    return item
            raise Refused(f"No text {name!r} is kept of this session.", "Look for it by words: `find`.")
        back = self.add(f"[brought back {short(text.id)}]\n{text.text}", ItemType.GRAPH, task=text.task)
        self._homes[back.id] = self._homes[short(back.id)] = text.id
        return back

    def snapshot(self, reason: str = "manual_snapshot", pruned: Pruned | None = None) -> None:
        """Save the window, redacted, so that `recover` can go on with it, and note what is in it."""
        self._save()
        if self._diary is not None:
            self._diary.snapshot(self._items, pruned.removed if pruned else (), self._task, reason)

    def _append(self, item: ContextItem) -> ContextItem:
        self._items.append(item)
        self._positions[item.id] = self._next
        self._next += 1
        self.tokens += item.tokens
        return item

    def _replace(self, items: Sequence[ContextItem]) -> None:
        places = self._positions
        self._positions = {
            item.id: places.get(item.id, places.get(item.id.removesuffix(STUB_ENDS), 0)) for item in items
        }
        self._items = list(items)
        self.tokens = sum(item.tokens for item in items)

    def _keep(self, pruned: Pruned) -> None:
        now = self._clock()
        if self._diary is not None:
            self._diary.removed(pruned.removed)
        shortened = (Unit((item,)) for item in pruned.trimmed if not item.cut)
        self._kept.put(
            [
                PrunedText(unit.id, self.session, unit.items[0].task, now, gist_of(unit), text, unit.tokens)
                for unit in (*pruned.removed, *shortened)
                if unit.id not in self._homes and (text := "\n".join(map(self._whole, unit.items)))
            ]
        )
        for unit in pruned.removed:
            self._homes.update(dict.fromkeys((item.id for item in unit.items[1:]), unit.id))

    def _whole(self, item: ContextItem) -> str:
        kept = self._kept.get(item.id) if item.cut else None
        return kept.text if kept else item.content

    def _save(self) -> None:
        now: dict[str, ContextItem | None] = {item.id: item for item in self._items}
        changed = {
            item.id: (self._positions[item.id], item)
            for item in self._items
            if self._saved.get(item.id) is not item
        }
        self._kept.save(changed, self._saved.keys() - now.keys())
        self._saved = now

    def _found_for(self, text: str) -> list[Found]:
        """Not what is in the window already, nor more than there is room for."""
        sources = self._sources
        room = min(EXTRAS, (self.max_tokens - self.tokens - tokens.count(text)) // 2)
        if sources is None or room <= 0:
            return []
        looks = {"code": sources.code, "past work": sources.past_work, "memories": sources.memories}
        budgets = {name: int(room * share) for name, share in _SHARES.items()}
        found = gather({name: partial(look, text, budgets[name]) for name, look in looks.items()}, DEADLINE)
        there = {item.content for item in self._items if item.type in (ItemType.CODE, ItemType.GRAPH)}
        chosen: list[Found] = []
        for name, these in found.items():
            left = budgets[name]
            for each in these:
                left -= tokens.count(each.text)
                if left >= 0 and each.text not in there:
                    chosen.append(each)
        return chosen
