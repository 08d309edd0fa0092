"""A session of a host as the daemon follows it: its recent messages, late answers, and the warnings it has had."""

import os
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.engine import Engine
from recollect.interfaces.daemon.host_process import HostProcess
from recollect.interfaces.daemon.outbox import ComposedDelivery, Outbox
from recollect.interfaces.daemon_client.spool import ShownText
from recollect.text.cuts import start_of
from recollect.text.tokens import count
from recollect.work.agent.turn import Message, current_turn
from recollect.work.delivery.delivery import Delivery, DeliveryRequest, Moment
from recollect.work.delivery.told import Told
from recollect.work.delivery.use import UseWatch
from recollect.work.delivery.waiting import Waiting
from recollect.work.episodes.record import call_failed, only_shows_files, opened_files
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
    transcript_of,
    words_of,
)
from recollect.work.hosts.host import CONTEXT_LIMIT, HookKind, HookReply
from recollect.work.hosts.registry import HOSTS
from recollect.work.metrics.glance import look_back
from recollect.work.metrics.saved import ASKED_TOKENS
from recollect.work.sessions.work_done import WorkDone
from recollect.work.window.pruned_texts import store_outputs
from recollect.work.window.rewrite import rewritten

RECENT = 40  # messages that a look takes into account
LONGEST = 4_000  # characters of one
CHECKPOINT_EVERY = 30.0  # seconds at least between two
CHECKPOINT_SHARE = 0.05  # of the time that checkpoints may take: each reads the whole transcript
PROMPT_SECONDS = 2.0  # that a prompt waits for the answer to the one before
LARGEST_LOOK = 4 * 1024 * 1024  # bytes of a transcript that are looked at while a prompt waits
LARGEST_OUTPUT = 64_000  # characters: redacting more takes longer than a hook waits
_ASKS_FOR_ALL = ("read_source", "history output")  # a tool's name, a command: what asks for a whole output
_READS = "memory"  # the end of the name of a tool that asks for one with the action "read"

# What an agent reads whose call was refused.
HELD = "It was not run. Ask the user before you repeat it; a repeated call runs."


class HookSession:
    """Recording and warning never wait; prompts are answered one at a time. The engine is passed in: it may change."""

    def __init__(self, session: str, host: str, folder: str) -> None:
        self.session = session
        self.host = host
        self.folder = folder
        self._outbox = Outbox()
        self.new_events = 0  # since the last checkpoint
        self._next_checkpoint = float("-inf")
        self._ended_turn: HostEvent | None = None  # the end of a turn that no checkpoint has followed yet
        self.process: HostProcess | None = None  # the host's; None = unknown
        self.gone_since: float | None = None  # when that process was first missed
        self.is_waiting = False  # for its user: the turn is over
        self.transcript = ""  # the host's own, once it names one that may be read
        self._told: Told | None = None  # None until it is read from the store
        self._waiting = Waiting()
        self._told_lock = threading.Lock()
        self._prompt_lock = threading.Lock()
        self._is_compacted = False  # and nothing was said since
        self._transcript_read: int | None = None  # bytes of it that were looked at; None until it is named
        self._held: set[tuple[str, str]] = set()  # calls that were refused: tool, words of its input
        self._work = WorkDone()
        self._work_lock = threading.Lock()
        self._is_asked = (
            False  # to record what it learnt; known here too, in case a busy store could not keep it
        )
        self._request: ComposedDelivery | None = None  # to record what it learnt, until the turn ends
        self._done_since: list[str] = []  # what the agent said and did about it
        self._recent: deque[Message] = deque(maxlen=RECENT)
        self._use = UseWatch()
        self._use_lock = threading.Lock()

    def record(self, event: HostEvent) -> None:
        """Remember what was said and done, and that the agent has forgotten what it was told."""
        kind = event.kind
        if kind is not None:
            self.is_waiting = kind is HookKind.TURN_END or (
                self.is_waiting and kind is HookKind.AGENT_MESSAGE
            )
        with self._work_lock:
            happened = [each for _, each in session_events(event)]
            for each in happened:
                self._work.read(each)
            if self._request is not None:
                self._done_since += (each.text for each in happened)
                self._done_since += (text for each in happened for text in words_of(dict(each.input)))
        if self._transcript_read is None and (named := transcript_of(event)):
            self._transcript_read = _size_of(named)  # what was there before is not news
        if kind is HookKind.PROMPT:
            self._is_compacted = self._is_compacted or self._transcript_tells_compaction()
            self._remember("user", prompt_of(event))
        elif kind in (HookKind.TURN_END, HookKind.AGENT_MESSAGE):
            self._remember("assistant", answer_of(event))
        elif kind in (HookKind.AFTER_TOOL, HookKind.TOOL_FAILED):
            self._remember("tool", "\n".join((*words_of(dict(input_of(event))), output_of(event))))
        elif kind is HookKind.COMPACTION and not self._transcript_tells():
            self._is_compacted = True

    def _transcript_tells(self) -> bool:
        """Return whether compactions are to be read in the host's transcript, whatever its events say."""
        return HOSTS[self.host].compaction_line is not None and self._transcript_read is not None

    def _transcript_tells_compaction(self) -> bool:
        """Return whether the host's transcript has told of a compaction since the last look."""
        line = HOSTS[self.host].compaction_line
        if line is None or not self.transcript or self._transcript_read is None:
            return False
        try:
            with Path(self.transcript).open("rb") as file:
                file.seek(max(self._transcript_read, file.seek(0, os.SEEK_END) - LARGEST_LOOK))
                news = file.read(LARGEST_LOOK)
                self._transcript_read = file.tell()
        except OSError:
            return False
        return line.search(news) is not None

    def may_be_over(self) -> bool:
        """Return whether its host is gone, or has finished its turn and would not tell that the user has quit."""
        if self.process is not None and not self.process.is_alive():
            return True
        return self.is_waiting and HOSTS[self.host].quits_silently

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

    def request_for(self, event: HostEvent) -> DeliveryRequest | None:
        """Return the moment that an event is; None if it is none, or the host would not show what is said."""
        if event.hook is None or event.hook.reply is HookReply.NONE:
            return None
        request = DeliveryRequest(
            Moment.PROMPT, session=self.session, host=self.host, longest=context_limit(self.host)
        )
        kind = event.kind
        if kind is HookKind.SESSION_START:
            if not self._was_compacted() and event.body.get("source") != "compact":
                return replace(request, moment=Moment.START)
            return replace(request, moment=Moment.AFTER_COMPACTION, text=self._last_prompt())
        if kind is HookKind.PROMPT:
            moment = Moment.AFTER_COMPACTION if self._was_compacted() else Moment.PROMPT
            return replace(request, moment=moment, text=prompt_of(event))
        if kind is HookKind.BEFORE_TOOL:
            text = "\n".join(words_of(dict(input_of(event))))
            return replace(request, moment=Moment.BEFORE_TOOL, text=text, tool=tool_of(event))
        if kind in (HookKind.AFTER_TOOL, HookKind.TOOL_FAILED) and _is_failure(event):
            command = str(input_of(event).get("command", ""))
            return replace(request, moment=Moment.AFTER_FAILURE, text=output_of(event), command=command)
        if kind is HookKind.AFTER_TOOL and (files := _opened_by(event)):
            return replace(request, moment=Moment.FILE_OPENED, text=self._last_prompt(), files=files)
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
        if len(output_of(event)) > LARGEST_OUTPUT:
            return {}
        short = rewritten(event.host, tool, response_of(event), engine.settings.prune_output)
        if short is None or sum(map(len, short.whole.values())) > LARGEST_OUTPUT:
            return {}
        return short.answer if store_outputs(engine, self.session, tool, short.whole, event.at) else {}

    def hold(self, event: HostEvent, reason: str) -> dict[str, Any]:
        """Return what keeps the tool of the event from running; empty if it may run.

        A host that cannot ask the user refuses the call, but only once: the agent can ask, and repeat it.
        """
        tool_hold = HOSTS[event.host].hold_tool
        if tool_hold is None or tool_hold.asks_user:
            return tool_hold.answer(reason) if tool_hold else {}
        call = (tool_of(event), "\n".join(words_of(dict(input_of(event)))))
        if call in self._held:
            return {}
        self._held.add(call)
        return tool_hold.answer(f"{reason} {HELD}")

    def worth_recording(self, engine: Engine, event: HostEvent) -> str:
        """Return what in the session is worth keeping if its agent may be asked to record it; empty if it may not."""
        if (
            HOSTS[event.host].continue_turn is None
            or event.hook is None
            or event.hook.reply is not HookReply.DECISION
            or engine.settings.ask_to_record == "off"
            or not engine.sessions.auto
            or event.body.get("stop_hook_active")
            or event.body.get("permission_mode") == "plan"
        ):
            return ""
        with self._work_lock:
            return "" if self._work.has_recorded else self._work.worth

    def catch_up(self, engine: Engine) -> None:
        """Read what the session did before we followed it."""
        with self._work_lock:
            self._work = engine.sessions.work_done(self.session)

    def ask_to_record(
        self, engine: Engine, event: HostEvent, worth: str
    ) -> tuple[ComposedDelivery | None, dict[str, Any]]:
        """Return the request to record what was learnt, and what the hook prints for it; nothing the second time."""
        continue_turn = HOSTS[event.host].continue_turn
        if continue_turn is None or self._is_asked:
            return None, {}
        delivery = engine.delivery.ask_to_record(self.session, self.host, worth)
        if delivery is None:
            return None, {}
        self._is_asked = True
        request = DeliveryRequest(Moment.TURN_END, session=self.session, host=self.host)
        self._request = self._sending(engine, request, delivery, can_wait=False)
        return self._request, continue_turn(delivery.text)

    def note_answer(self, engine: Engine) -> None:
        """Count what the agent has said and done about the request as part of what it cost."""
        with self._work_lock:
            done, self._done_since = self._done_since, []
            if done:
                self._request = None
        if done:
            engine.measures.note(ASKED_TOKENS, count("\n".join(done)), self.session)

    def _remember(self, role: str, text: str) -> None:
        if text.strip():
            self._recent.append({"role": role, "content": start_of(text, LONGEST)})

    def _was_compacted(self) -> bool:
        """Return whether the agent has forgotten what it was told, once."""
        compacted, self._is_compacted = self._is_compacted, False
        return compacted

    def _last_prompt(self) -> str:
        return next((each["content"] for each in reversed(self._recent) if each["role"] == "user"), "")

    def was_told(self, engine: Engine, event: HostEvent, shown: ShownText) -> None:
        """Note what a hook has told the session because no daemon answered."""
        request = DeliveryRequest(Moment(shown.moment), session=self.session, host=self.host)
        tokens = count(shown.text) if shown.text else shown.tokens  # a hook has no time to count
        delivery = Delivery(shown.text, tokens, shown.items, host=self.host, starts=True)
        with self._told_lock:
            known = engine.delivery.told(self.session)
            is_known = known.has_started and {item.key for item in shown.items} <= known.keys
            if request.moment is not Moment.START or not is_known:  # else it was spooled twice
                engine.delivery.note(request, delivery, event.at)
            self._told = None

    def compose(self, engine: Engine, request: DeliveryRequest, *, can_wait: bool = True) -> ComposedDelivery:
        """Return what the session is told at this moment. It counts as told once it is `received`.

        Prompts and opened files are answered one after the other: two at once would be told the same.
        """
        if request.moment not in (Moment.PROMPT, Moment.FILE_OPENED):
            return self._compose(engine, request, can_wait=can_wait)
        is_alone = self._prompt_lock.acquire(timeout=PROMPT_SECONDS)
        try:
            return self._compose(engine, request, can_wait=can_wait)
        finally:
            if is_alone:
                self._prompt_lock.release()

    def _compose(self, engine: Engine, request: DeliveryRequest, *, can_wait: bool) -> ComposedDelivery:
        if request.moment is Moment.AFTER_COMPACTION:
            self._outbox.drop_late()  # it is composed anew with the rest
        told = self._told_by(engine)
        is_new = request.moment is Moment.START and not told.has_started
        message = look_back(engine.context, self.session) if is_new and HOSTS[self.host].message_user else ""
        delivery = engine.delivery.compose(request, told, noted=False)
        if request.moment is Moment.PROMPT:
            with self._use_lock:
                used = self._use.used(current_turn(tuple(self._recent)).answered)
            engine.delivery.note_used(self.session, used)
        return self._sending(engine, request, delivery, can_wait=can_wait, message=message)

    def _sending(
        self,
        engine: Engine,
        request: DeliveryRequest,
        delivery: Delivery,
        *,
        can_wait: bool,
        message: str = "",
    ) -> ComposedDelivery:
        composed = ComposedDelivery(request, delivery, engine.context.clock(), can_wait, message)
        self._outbox.add(composed)
        return composed

    def received(self, engine: Engine, told: Sequence[ComposedDelivery]) -> None:
        """Note what the agent has received."""
        for composed in told:
            engine.delivery.note(composed.request, composed.delivery, composed.at)
            self._outbox.remove(composed)
            memories = engine.memory.get_many(composed.delivery.memories)
            with self._use_lock:
                before = "\n".join((composed.request.text, *composed.request.files))
                self._use.show(composed.delivery, memories.values(), before)

    def not_received(self, told: Sequence[ComposedDelivery]) -> None:
        """Keep what nobody has received for the next event; what cannot wait was never told."""
        for composed in told:
            dropped = self._outbox.postpone(composed)
            if dropped is not None:
                self._give_up(dropped)

    def _give_up(self, composed: ComposedDelivery) -> None:
        if composed is self._request:
            self._request, self._is_asked = None, False
        if composed.request.moment is Moment.AFTER_COMPACTION:
            self._is_compacted = True  # and the agent still has nothing of what it forgot
        with self._told_lock:
            self._told = None

    def take_late(self, characters: int) -> list[ComposedDelivery]:
        """Return what came too late for earlier events and fits into so many characters."""
        return self._outbox.take_late(characters)

    def _told_by(self, engine: Engine) -> Told:
        """Return what the session has been told, with what is on its way."""
        with self._told_lock:
            if self._told is None:
                told = engine.delivery.told(self.session)
                told.waiting = self._waiting
                for composed in self._outbox.pending:
                    if composed.request.moment is Moment.AFTER_COMPACTION:
                        told.forget()
                    told.add(item.key for item in composed.delivery.shown)
                    told.has_started |= composed.delivery.starts
                self._told = told
            return self._told


def _size_of(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def _opened_by(event: HostEvent) -> tuple[str, ...]:
    call, _ = (each for _, each in session_events(event))
    return opened_files(call)


def _is_failure(event: HostEvent) -> bool:
    """Return whether the tool of the event failed, as far as the host or the output tells.

    Codex hands on what a command printed and not how it exited; an error in it is worth a look at the known fixes, unless
    the command did nothing but print files.
    """
    call, answer = (each for _, each in session_events(event))
    if answer.failed is None and only_shows_files(call):
        return False
    return call_failed(call, answer) or (answer.failed is None and bool(error_line(answer.text)))


def context_limit(host: str) -> int:
    """Return how many characters of ours a host shows its model at once."""
    return HOSTS[host].context_limit if host in HOSTS else CONTEXT_LIMIT
