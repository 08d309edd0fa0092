"""A session of a host as the daemon follows it: what was said of late, what is ready for it, what it was warned of."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import recollect.model as m
from recollect.engine import Engine
from recollect.interfaces.install import shapes
from recollect.interfaces.install.answers import limit
from recollect.interfaces.install.events import (
    HostEvent,
    answer_of,
    has_failed,
    input_of,
    output_of,
    prompt_of,
    response_of,
    tool_of,
    words_of,
)
from recollect.memory import ranking
from recollect.memory.briefing.render import Note, format_for, line, memory_note, short_ids
from recollect.memory.search.triggers import matching, warners
from recollect.work.agent.context import Message, context_of
from recollect.work.agent.topic import Topic
from recollect.work.extract.outcomes import telling_line
from recollect.work.window.pruned_texts import store_outputs
from recollect.work.window.rewrite import rewritten

RECENT = 40  # messages that are kept in mind
LONGEST = 4_000  # characters of one
MOST_WARNINGS = 3
MOST_FIXES = 2
TOKENS = 2_400  # of a briefing: no host takes more characters than that makes
CHECKPOINT_EVERY = 30.0  # seconds at least between two
CHECKPOINT_SHARE = 0.05  # of the time that may go into them: each reads all that the host has written down
LARGEST_OUTPUT = 64_000  # characters: taking the secrets out of more takes longer than a hook waits
_MOST_TRIGGERS = 500
_ASKS_FOR_ALL = ("read_source", "history output")  # by a tool's name, by a command

Work = Callable[[Engine], str]  # makes the text to be shown


class Conversation:
    """It hears, and warns, without waiting; of other looks there is one at a time. Its engine is handed in: it may change."""

    def __init__(self, session: str, host: str, folder: str) -> None:
        self.session = session
        self.host = host
        self.folder = folder
        self._looking = threading.Lock()
        self.late: deque[str] = deque(maxlen=4)  # found after the hook had gone
        self.said = 0  # events since the last checkpoint
        self._next_checkpoint = float("-inf")
        self.transcript = ""  # the host's own record, once there is one that may be read
        self._briefed = False
        self._warned: set[str] = set()
        self._heard: deque[Message] = deque(maxlen=RECENT)
        self._size = 0
        self._topic: Topic | None = None  # None until it is asked for

    def hear(self, event: HostEvent) -> None:
        kind = event.shape.kind if event.shape else ""
        if kind == shapes.PROMPT:
            self._warned.clear()  # a turn later it may be needed anew
            self._hear("user", prompt_of(event))
        elif kind in (shapes.TURN, shapes.SAID):
            self._hear("assistant", answer_of(event))
        elif kind in (shapes.AFTER, shapes.FAILED):
            self._hear("tool", "\n".join((*words_of(dict(input_of(event))), output_of(event))))
        elif kind in (shapes.COMPACTING, shapes.START):
            self._briefed = False
            self._warned.clear()
            if self._topic is not None:
                self._topic.forget_shown()

    def wants_checkpoint(self, now: float) -> bool:
        """Whether there is something new to learn from, and the last time is long enough ago; that is then now."""
        if not self.said or now < self._next_checkpoint:
            return False
        self.said, self._next_checkpoint = 0, now + CHECKPOINT_EVERY
        return True

    def checkpoint_took(self, seconds: float, now: float) -> None:
        """The longer the session, the longer each one takes, and the rarer they become."""
        self._next_checkpoint = max(self._next_checkpoint, now + seconds / CHECKPOINT_SHARE)

    def work_for(self, event: HostEvent) -> Work | None:
        """What is to be found for it; None where nothing is, or nobody would hear it."""
        if event.shape is None or event.shape.answer == shapes.SILENT:
            return None
        kind = event.shape.kind
        if kind == shapes.START:
            return self._briefing("")
        if kind == shapes.PROMPT:
            prompt = prompt_of(event)
            return self._look if self._briefed else self._briefing(prompt)
        if kind == shapes.BEFORE:
            text = "\n".join(words_of(dict(input_of(event))))
            return lambda engine: self._warnings(engine, text)
        if kind == shapes.FAILED or (kind == shapes.AFTER and has_failed(event)):
            error, command = output_of(event), str(input_of(event).get("command", ""))
            return lambda engine: self._fixes(engine, error, command)
        return None

    def shorten(self, engine: Engine, event: HostEvent) -> dict[str, Any]:
        """What the host is to show instead of a tool's long output, which is kept; empty to leave it as it is.

        Raises `StoreError`.
        """
        tool = tool_of(event)
        if any(name in word for word in (tool, *words_of(dict(input_of(event)))) for name in _ASKS_FOR_ALL):
            return {}
        made = rewritten(event.host, tool, response_of(event), engine.settings.prune_output)
        if made is None or sum(map(len, made.whole.values())) > LARGEST_OUTPUT:
            return {}
        return made.answer if store_outputs(engine, self.session, tool, made.whole, event.at) else {}

    def _hear(self, role: str, text: str) -> None:
        if text.strip():
            self._size += len(text)
            self._heard.append({"role": role, "content": text[:LONGEST]})

    def _briefing(self, task: str) -> Work:
        def brief(engine: Engine) -> str:
            most, budget = limit(self.host), min(engine.budget(), TOKENS)
            while budget > 0:
                briefing = engine.recall(task, host=self.host, budget=budget, session=self.session)
                if len(briefing.text) <= most:
                    break
                budget = budget * most // len(briefing.text) - 50
            else:
                return ""
            self._briefed = True
            shown = engine.store.get_many(briefing.shown)
            with self._looking:
                self._topic_of(engine).show(list(shown.values()), task)
            return briefing.text

        return brief

    def _look(self, engine: Engine) -> str:
        context = replace(context_of(tuple(self._heard)), size=self._size)
        with self._looking:
            topic = self._topic_of(engine)
            found = topic.look(context)
            topic.tidy()
        return self._rendered(hit.memory for hit in found.hits) if found else ""

    def _warnings(self, engine: Engine, text: str) -> str:
        known = engine.store.with_triggers(warners(engine.view(session=self.session)), _MOST_TRIGGERS)
        fired = [memory for memory, _ in matching(known, text) if memory.id not in self._warned]
        self._warned |= {memory.id for memory in fired[:MOST_WARNINGS]}
        return self._rendered(fired[:MOST_WARNINGS])

    def _fixes(self, engine: Engine, error: str, command: str) -> str:
        """What mended such a failure before, as memories say it, and as it was seen."""
        known = [fix.text for fix in engine.episodes.fixes_for(error, command, MOST_FIXES)]
        told = telling_line(error)
        hits = engine.search(told, MOST_FIXES, kind="error_pattern").results if told else ()
        return rendered(
            self.host, [hit.memory for hit in hits if hit.score >= ranking.KNOWN_ERROR_SCORE], known
        )

    def _topic_of(self, engine: Engine) -> Topic:
        if self._topic is None:
            self._topic = Topic(engine, self.session)
        self._topic.engine = engine
        return self._topic

    def _rendered(self, memories: Iterable[m.Memory]) -> str:
        return rendered(self.host, list(memories))


def rendered(host: str, memories: Sequence[m.Memory], fixes: Sequence[str] = ()) -> str:
    """Empty for none."""
    form, names = format_for(host), short_ids(memory.id for memory in memories)
    entries = [form.write(memory_note(memory, names[memory.id])) for memory in memories]
    entries += [form.write(Note("fix", "SEEN BEFORE", "", text=line(fix))) for fix in fixes]
    return form.document([form.section("found", entries)] if entries else [])
