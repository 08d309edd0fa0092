"""A context window that never overflows: the least relevant items leave it and can be found and restored.

    window = ContextWindow(engine)
    window.add("You fix bugs in a web shop.", ItemType.SYSTEM)
    messages = window.prepare("Why does checkout round wrongly?")

It also works without an engine; texts that leave it are then kept as long as the process lives.
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
from recollect.work.window.backing import WindowEngine
from recollect.work.window.forms import ANTHROPIC, form_of
from recollect.work.window.gist import gist_of
from recollect.work.window.item import (
    ContentPart,
    ContextItem,
    ItemType,
    Text,
    ToolCall,
    ToolResult,
    short,
    token_count,
)
from recollect.work.window.pairs import Unit, repaired
from recollect.work.window.prune import STUB_ENDS, Pruned, prune
from recollect.work.window.pruned_texts import InMemoryTexts, PrunedTexts, StoredTexts
from recollect.work.window.sources import EngineSources, Extra, ExtraSources, gather
from recollect.work.window.window_log import EngineWindowLog, WindowLog

MAX_TOKENS = 180_000  # of 200,000: the rest is room for the answer
EXTRAS = 4_000  # tokens of code, past work and memories added to a message, at most
DEADLINE = 0.5  # seconds for finding them
FIRST_DEADLINE = 10.0  # seconds for finding them the first time, when models and indexes are loaded
_SHARES = {"code": 0.5, "past work": 0.2, "memories": 0.3}  # of EXTRAS


class ContextWindow:
    """Items in order; what `messages` and `prepare` return never exceeds `max_tokens`."""

    def __init__(
        self,
        engine: WindowEngine | None = None,
        max_tokens: int = MAX_TOKENS,
        session: str | None = None,
        clock: m.Clock = m.utc_now,
        sources: ExtraSources | None = None,
    ) -> None:
        self.session = session or m.new_id()
        self.max_tokens = max_tokens
        self.tokens = 0
        self.prunings = 0
        self._is_first = True
        self._clock = clock
        self._task: str | None = None
        self._items: list[ContextItem] = []
        self._positions: dict[str, int] = {}
        self._next = 0
        self._saved: dict[str, ContextItem | None] = {}  # None = must be written again
        # Ids under which texts are stored if not under the item's own: a result is stored with the response it
        # left with, a restored text under the id it had before.
        self._stored_under: dict[str, str] = {}
        self._kept: PrunedTexts = StoredTexts(engine, self.session, clock) if engine else InMemoryTexts()
        self._log: WindowLog | None = EngineWindowLog(engine, self.session) if engine else None
        self._sources = sources or (EngineSources(engine, self.session) if engine else None)

    @classmethod
    def recover(
        cls, engine: WindowEngine, session: str, max_tokens: int = MAX_TOKENS, clock: m.Clock = m.utc_now
    ) -> "ContextWindow":
        """Return the window of a session as it was last saved, redacted. Raise `Refused` if there is none."""
        window = cls(engine, max_tokens, session, clock)
        items = window._kept.load()
        if not items:
            raise Refused(
                f"No saved window for session {session!r}.", "Create a new one: ContextWindow(engine)."
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
        """Return the id of the current task, if any."""
        return self._task

    @current_task.setter
    def current_task(self, task: str | None) -> None:
        if task != self._task:
            self._task = task
            self.snapshot("task_switch")

    @property
    def system(self) -> str | list[dict[str, Any]]:
        """Return the system prompt for the parameter `system` of Anthropic's API."""
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
        """Append an item. By default it belongs to the current task, and only a system prompt is sticky.

        `calls` are the tool calls of an assistant's response (id, tool, input); `call` is the id of the call whose
        result this is.
        """
        kind = ItemType(type)  # accepts the name too
        if (kind is ItemType.TOOL_RESULT) != bool(call):
            raise Refused(
                "A tool result, and nothing else, needs `call`.", "Give the id of the call as `call`."
            )
        body: list[ContentPart] = (
            [ToolResult(call, content, failed)] if call else [Text(content)] if content else []
        )
        parts = (*body, *(ToolCall(*tool_call) for tool_call in calls))
        return self._append(
            ContextItem(
                m.new_id(),
                kind,
                parts,
                self._clock(),
                token_count(parts),
                relevance=relevance,
                task=self._task if task is None else task,
                dependencies=tuple(dependencies),
                sticky=kind is ItemType.SYSTEM if sticky is None else sticky,
                path=path,
                lines=lines,
            )
        )

    def extend(self, messages: Sequence[Any], form: str | None = None) -> list[ContextItem]:
        """Append messages of an API, as dicts or SDK objects. Raise `Refused` for an invalid message."""
        items = items_of(messages, form or form_of(messages), self._clock(), self._task)
        return [self._append(item) for item in items]

    def messages(self, form: str = ANTHROPIC) -> list[dict[str, Any]]:
        """Return the messages to send next, pruned if necessary."""
        checked(form)
        self.maybe_prune()
        return messages_of(repaired(self._items), form)

    def prepare(self, user_message: str, form: str = ANTHROPIC) -> list[dict[str, Any]]:
        """Append a user message after related code, past work and memories, and return the messages to send.

        The first call waits until these are found, up to 10 seconds, because it loads models and indexes; later calls
        go on without what is not found in half a second.
        """
        checked(form)
        self.maybe_prune()
        for extra in self._extras_for(user_message):
            self.add(extra.text, extra.type, relevance=extra.relevance, path=extra.path, lines=extra.lines)
        self.add(user_message)
        sent = self.messages(form)
        self._save()
        return sent

    def maybe_prune(self) -> Pruned:
        """Above 80 % of the window, remove 30 % of the tokens: stored by id, with a stub in their place."""
        pruned = prune(self._items, self.max_tokens, self._clock(), self._task)
        if pruned.items != tuple(self._items):
            self._store(pruned)
            self._replace(pruned.items)
            self.prunings += 1
            self.snapshot("pruning", pruned)
        return pruned

    def find(self, query: str, limit: int = 3) -> list[PrunedText]:
        """Return removed texts that match `query`, best first; an id returns the text it names."""
        name = query.strip()
        named = self._kept.get(self._stored_under.get(name, name))
        return [named] if named else self._kept.find(query, limit)

    def restore(self, name: str) -> ContextItem:
        """Append a removed text again, by its id as a stub shows it. Raise `Refused` if there is none."""
        text = self._kept.get(self._stored_under.get(name, name))
        if text is None:
            for item in self._items:
                if name in (item.id, short(item.id)) and not item.is_stub:
                    return item
            raise Refused(f"No text {name!r} is stored for this session.", "Search for it with `find`.")
        restored = self.add(f"[restored {short(text.id)}]\n{text.text}", ItemType.GRAPH, task=text.task)
        self._stored_under[restored.id] = self._stored_under[short(restored.id)] = text.id
        return restored

    def snapshot(self, reason: str = "manual_snapshot", pruned: Pruned | None = None) -> None:
        """Save the window, redacted, for `recover`, and log what is in it."""
        self._save()
        if self._log is not None:
            self._log.snapshot(self._items, pruned.removed if pruned else (), self._task, reason)

    def _append(self, item: ContextItem) -> ContextItem:
        self._items.append(item)
        self._positions[item.id] = self._next
        self._next += 1
        self.tokens += item.tokens
        return item

    def _replace(self, items: Sequence[ContextItem]) -> None:
        before = self._positions
        self._positions = {
            item.id: before.get(item.id, before.get(item.id.removesuffix(STUB_ENDS), 0)) for item in items
        }
        self._items = list(items)
        self.tokens = sum(item.tokens for item in items)

    def _store(self, pruned: Pruned) -> None:
        now = self._clock()
        if self._log is not None:
            self._log.removed(pruned.removed)
        shortened = (Unit((item,)) for item in pruned.trimmed if not item.cut)
        self._kept.put(
            [
                PrunedText(unit.id, self.session, unit.items[0].task, now, gist_of(unit), text, unit.tokens)
                for unit in (*pruned.removed, *shortened)
                if unit.id not in self._stored_under and (text := "\n".join(map(self._whole, unit.items)))
            ]
        )
        for unit in pruned.removed:
            self._stored_under.update(dict.fromkeys((item.id for item in unit.items[1:]), unit.id))

    def _whole(self, item: ContextItem) -> str:
        stored = self._kept.get(item.id) if item.cut else None
        return stored.text if stored else item.content

    def _save(self) -> None:
        now: dict[str, ContextItem | None] = {item.id: item for item in self._items}
        changed = {
            item.id: (self._positions[item.id], item)
            for item in self._items
            if self._saved.get(item.id) is not item
        }
        self._kept.save(changed, self._saved.keys() - now.keys())
        self._saved = now

    def _extras_for(self, text: str) -> list[Extra]:
        """Return extras that fit the window and are not in it already."""
        sources = self._sources
        room = min(EXTRAS, (self.max_tokens - self.tokens - tokens.count(text)) // 2)
        if sources is None or room <= 0:
            return []
        searches = {"code": sources.code, "past work": sources.past_work, "memories": sources.memories}
        budgets = {name: int(room * share) for name, share in _SHARES.items()}
        deadline = FIRST_DEADLINE if self._is_first else DEADLINE
        self._is_first = False
        results = gather(
            {name: partial(search, text, budgets[name]) for name, search in searches.items()}, deadline
        )
        present = {item.content for item in self._items if item.type in (ItemType.CODE, ItemType.GRAPH)}
        chosen: list[Extra] = []
        for name, extras in results.items():
            left = budgets[name]
            for extra in extras:
                left -= tokens.count(extra.text)
                if left >= 0 and extra.text not in present:
                    chosen.append(extra)
        return chosen
