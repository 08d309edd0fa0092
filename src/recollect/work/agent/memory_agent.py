"""The memory agent: follows a conversation in the background, one step behind, and is never in its way."""

import logging
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.errors import RecollectError
from recollect.llm.protocol import Sidecar
from recollect.work.agent.context import Message, context_of
from recollect.work.agent.topic import MOST_SHOWN, Pending, Topic
from recollect.work.transcripts.live import LiveMessages

if TYPE_CHECKING:
    from recollect.engine import Engine

logger = logging.getLogger(__name__)

QUEUE = 32  # updates that wait; the oldest goes when another comes
FINISH_SECONDS = 2.0  # that a clean end waits for the pass at hand


@dataclass(frozen=True, slots=True)
class _Update:
    messages: Sequence[Message]
    session: str


class MemoryAgent:
    """One per process: asking for a second gives the first, unless that is closed or of another engine.

    `submit` and `take_pending` never wait, whatever the store, the model or the sidecar are doing.
    """

    _living: "weakref.ReferenceType[MemoryAgent] | None" = None
    _choosing = threading.Lock()

    def __new__(cls, engine: "Engine", sidecar: Sidecar | None = None) -> "MemoryAgent":
        with cls._choosing:
            living = cls._living() if cls._living else None
            if living is not None and not living.closed:
                if living.engine is engine:
                    return living
                living._stopping.set()  # its engine is another's now
                living._wake.set()
            agent = super().__new__(cls)
            agent._set_up(engine, sidecar)
            cls._living = weakref.ref(agent)
            return agent

    def _set_up(self, engine: "Engine", sidecar: Sidecar | None) -> None:
        self.engine = engine
        self.dropped = 0  # updates that were never looked at, because newer ones came
        self.passes = 0
        self.last_error: str | None = None  # None = the last pass went well
        self._sidecar = sidecar
        self._queue: deque[_Update] = deque(maxlen=QUEUE)
        self._pending: deque[Pending] = deque(maxlen=QUEUE)
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._stopping = threading.Event()
        self._topic = Topic(engine, "", sidecar)
        self._reading = LiveMessages("")
        self._worker = threading.Thread(target=self._work, name="recollect-memory-agent", daemon=True)
        self._worker.start()

    # the foreground: nothing here waits

    def submit(self, messages: Sequence[Message], session: str = "") -> bool:
        """Hand over the conversation so far, as role and content; whether it was taken. Returns at once."""
        if self._stopping.is_set():
            return False
        if len(self._queue) == QUEUE:
            self.dropped += 1
        self._idle.clear()
        self._queue.append(_Update(tuple(messages), session))
        self._wake.set()
        return True

    def take_pending(self) -> Pending:
        """What has been found since the last call, once; empty if nothing. Returns at once."""
        hits: dict[str, m.Hit] = {}
        why: dict[str, None] = {}
        while self._pending:
            try:
                found = self._pending.popleft()
            except IndexError:  # another thread was quicker
                break
            hits |= {hit.memory.id: hit for hit in found.hits}
            why |= dict.fromkeys(found.reasons)
        return Pending(tuple(hits.values())[:MOST_SHOWN], tuple(why))

    @property
    def closed(self) -> bool:
        return self._stopping.is_set()

    def settle(self, seconds: float = FINISH_SECONDS) -> bool:
        """Wait until all that was submitted has been looked at; False if that takes longer. For tests and clean ends."""
        return self._idle.wait(seconds)

    def close(self, seconds: float = FINISH_SECONDS) -> None:
        """Finish what is at hand, within that time; what was said and not yet dealt with is spooled. Closing twice is fine."""
        if self._stopping.is_set():
            return
        self.settle(seconds)
        self._stopping.set()
        self._wake.set()
        self._worker.join(seconds)
        self._spool_rest()

    def _spool_rest(self) -> None:
        for update in self._queue:
            if update.session:
                events = LiveMessages(update.session).new(update.messages)
                with suppress(OSError):
                    self.engine.spool.append(update.session, events, m.utc_now())
        self._queue.clear()

    def __enter__(self) -> "MemoryAgent":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # the background

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            while self._queue and not self._stopping.is_set():
                self._attempt(self._queue.popleft())
            if not self._queue:
                self._idle.set()
                if self._queue:  # one came just then
                    self._idle.clear()
                    self._wake.set()

    def _attempt(self, update: _Update) -> None:
        try:
            self._pass(update)
            self.last_error = None
        except RecollectError as error:
            self.last_error = error.message
            logger.warning("memory was not asked: %s", error.message)
        except Exception as error:  # the loop must live, whatever a turn holds
            self.last_error = repr(error)
            logger.exception("a pass of the memory agent failed")
        self.passes += 1

    def _pass(self, update: _Update) -> None:
        if not self.engine.sessions.on:
            return
        if update.session != self._topic.session:
            self._pending.clear()
            self._topic = Topic(self.engine, update.session, self._sidecar)
            self._reading = LiveMessages(update.session)
        self._record(update)
        found = self._topic.look(context_of(update.messages))
        if found:
            self._pending.append(found)
        if found is not None:
            self._topic.tidy()
            self.engine.maintain()

    def _record(self, update: _Update) -> None:
        """What is new in the conversation goes to its session, to be learnt from."""
        events = self._reading.new(update.messages)
        if update.session and events:
            self.engine.sessions.start(update.session, agent="python")
            self.engine.sessions.record(update.session, events)
