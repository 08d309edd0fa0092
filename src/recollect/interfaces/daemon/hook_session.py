"""A session of a host as the daemon follows it: its recent messages, late answers, and the warnings it has had."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import recollect.model as m
from recollect.engine import Engine
from recollect.memory import ranking
from recollect.memory.briefing.render import BriefingEntry, format_named, memory_entry, one_line, short_ids
from recollect.memory.search.triggers import matching, warning_view
from recollect.work.agent.tracker import TopicTracker
from recollect.work.agent.turn import Message, current_turn
from recollect.work.episodes.record import call_failed
from recollect.work.extract.outcomes import error_line
from recollect.work.hosts.hook_input import (
    HostEvent,
    answer_of,
    input_of,
    output_of,
    prompt_of,
    response_of,
    session_events,
    tool_of,
    words_of,
)
from recollect.work.hosts.host import CONTEXT_LIMIT, HookKind, HookReply
from recollect.work.hosts.registry import HOSTS, briefing_format
from recollect.work.window.pruned_texts import store_outputs
from recollect.work.window.rewrite import rewritten

RECENT = 40  # messages that a look takes into account
LONGEST = 4_000  # characters of one
MOST_WARNINGS = 3
MOST_FIXES = 2
TOKENS = 2_400  # of a briefing: no host takes more characters than that makes
CHECKPOINT_EVERY = 30.0  # seconds at least between two
CHECKPOINT_SHARE = 0.05  # of the time that checkpoints may take: each reads the whole transcript
LARGEST_OUTPUT = 64_000  # characters: redacting more takes longer than a hook waits
_MOST_TRIGGERS = 500
_ASKS_FOR_ALL = ("read_source", "history output")  # a tool's name, a command: what asks for a whole output
_READS = "memory"  # the end of the name of a tool that asks for one with the action "read"

Lookup = Callable[[Engine], str]  # finds the text to show


class HookSession:
    """Recording and warning never wait; other lookups run one at a time. The engine is passed in: it may change."""

    def __init__(self, session: str, host: str, folder: str) -> None:
        self.session = session
        self.host = host
        self.folder = folder
        self._topic_lock = threading.Lock()
        self.late: deque[str] = deque(maxlen=4)  # texts found after the hook had exited
        self.new_events = 0  # since the last checkpoint
        self._next_checkpoint = float("-inf")
        self._ended_turn: HostEvent | None = None  # the end of a turn that no checkpoint has followed yet
        self.transcript = ""  # the host's own, once it names one that may be read
        self._briefed = False
        self._warned: set[str] = set()
        self._recent: deque[Message] = deque(maxlen=RECENT)
        self._size = 0
        self._topic: TopicTracker | None = None  # None until it is asked for

    def record(self, event: HostEvent) -> None:
        """Remember what was said, and forget what the agent has forgotten."""
        kind = event.kind
        if kind is HookKind.PROMPT:
            self._warned.clear()  # a turn later it may be needed again
            self._remember("user", prompt_of(event))
        elif kind in (HookKind.TURN_END, HookKind.AGENT_MESSAGE):
            self._remember("assistant", answer_of(event))
        elif kind in (HookKind.AFTER_TOOL, HookKind.TOOL_FAILED):
            self._remember("tool", "\n".join((*words_of(dict(input_of(event))), output_of(event))))
        elif kind in (HookKind.COMPACTION, HookKind.SESSION_START):
            self._briefed = False
            self._warned.clear()
            if self._topic is not None:
                self._topic.forget_shown()

    def turn_ended(self, event: HostEvent) -> None:
        """Ask for a checkpoint, which follows now or as soon as the last one is long enough ago."""
        self._ended_turn = event

    def due_checkpoint(self, now: float) -> HostEvent | None:
        """Return the end of a turn for which a checkpoint is due, and count it as made now; None if none is due."""
        event = self._ended_turn
        if event is None or now < self._next_checkpoint:
            return None
        self._ended_turn = None
        if not self.new_events:
            return None
        self.new_events, self._next_checkpoint = 0, now + CHECKPOINT_EVERY
        return event

    def checkpoint_took(self, seconds: float, now: float) -> None:
        """Delay the next checkpoint by how long this one took, so that long sessions have fewer."""
        self._next_checkpoint = max(self._next_checkpoint, now + seconds / CHECKPOINT_SHARE)

    def lookup_for(self, event: HostEvent) -> Lookup | None:
        """Return what to look up for an event; None if there is nothing, or the host would not show it."""
        if event.hook is None or event.hook.reply is HookReply.NONE:
            return None
        kind = event.kind
        if kind is HookKind.SESSION_START:
            return self._briefing("")
        if kind is HookKind.PROMPT:
            prompt = prompt_of(event)
            return self._look if self._briefed else self._briefing(prompt)
        if kind is HookKind.BEFORE_TOOL:
            text = "\n".join(words_of(dict(input_of(event))))
            return lambda engine: self._warnings(engine, text)
        if kind in (HookKind.AFTER_TOOL, HookKind.TOOL_FAILED) and _is_failure(event):
            error, command = output_of(event), str(input_of(event).get("command", ""))
            return lambda engine: self._fixes(engine, error, command)
        return None

    def shorten(self, engine: Engine, event: HostEvent) -> dict[str, Any]:
        """Return what the host is to show instead of a tool's long output, which is stored; empty to leave it alone.

        Raise `StoreError` if it cannot be stored.
        """
        tool = tool_of(event)
        given = dict(input_of(event))
        if tool.endswith(_READS) and given.get("action") == "read":
            return {}
        if any(name in word for word in (tool, *words_of(given)) for name in _ASKS_FOR_ALL):
            return {}
        short = rewritten(event.host, tool, response_of(event), engine.settings.prune_output)
        if short is None or sum(map(len, short.whole.values())) > LARGEST_OUTPUT:
            return {}
        return short.answer if store_outputs(engine, self.session, tool, short.whole, event.at) else {}

    def _remember(self, role: str, text: str) -> None:
        if text.strip():
            self._size += len(text)
            self._recent.append({"role": role, "content": text[:LONGEST]})

    def _briefing(self, task: str) -> Lookup:
        def brief(engine: Engine) -> str:
            limit, budget = context_limit(self.host), min(engine.preferences.budget(), TOKENS)
            while budget > 0:
                briefing = engine.recall(task, host=self.host, budget=budget, session=self.session)
                if len(briefing.text) <= limit:
                    break
                budget = budget * limit // len(briefing.text) - 50
            else:
                return ""
            self._briefed = True
            shown = engine.store.get_many(briefing.shown)
            with self._topic_lock:
                self._topic_of(engine).show(list(shown.values()), task)
            return briefing.text

        return brief

    def _look(self, engine: Engine) -> str:
        turn = replace(current_turn(tuple(self._recent)), size=self._size)
        with self._topic_lock:
            topic = self._topic_of(engine)
            found = topic.find_memories(turn)
            topic.flush_rejected()
        return self._rendered(hit.memory for hit in found.hits) if found else ""

    def _warnings(self, engine: Engine, text: str) -> str:
        known = engine.store.with_triggers(
            warning_view(engine.context.view(session=self.session)), _MOST_TRIGGERS
        )
        fired = [memory for memory, _ in matching(known, text) if memory.id not in self._warned]
        self._warned |= {memory.id for memory in fired[:MOST_WARNINGS]}
        return self._rendered(fired[:MOST_WARNINGS])

    def _fixes(self, engine: Engine, error: str, command: str) -> str:
        """Return what fixed such a failure before, from memories and from past work."""
        known = [fix.text for fix in engine.episodes.fixes_for(error, command, MOST_FIXES)]
        query = error_line(error)
        hits = engine.search(query, MOST_FIXES, kind="error_pattern").results if query else ()
        return rendered(
            self.host, [hit.memory for hit in hits if hit.score >= ranking.KNOWN_ERROR_SCORE], known
        )

    def _topic_of(self, engine: Engine) -> TopicTracker:
        if self._topic is None:
            self._topic = TopicTracker(engine, self.session)
        self._topic.engine = engine
        return self._topic

    def _rendered(self, memories: Iterable[m.Memory]) -> str:
        return rendered(self.host, list(memories))


def _is_failure(event: HostEvent) -> bool:
    """Return whether the tool of the event failed, as far as the host or the output tells."""
    call, answer = (each for _, each in session_events(event))
    return call_failed(call, answer)


def context_limit(host: str) -> int:
    """Return how many characters of ours a host shows its model at once."""
    return HOSTS[host].context_limit if host in HOSTS else CONTEXT_LIMIT


def rendered(host: str, memories: Sequence[m.Memory], fixes: Sequence[str] = ()) -> str:
    """Return memories and fixes in the host's format; empty if there are none."""
    form, names = format_named(briefing_format(host)), short_ids(memory.id for memory in memories)
    entries = [form.write(memory_entry(memory, names[memory.id])) for memory in memories]
    entries += [form.write(BriefingEntry("fix", "SEEN BEFORE", "", text=one_line(fix))) for fix in fixes]
    return form.document([form.section("found", entries)] if entries else [])
