"""The memory agent: follows a conversation in a background thread, and never makes it wait."""

import atexit
import logging
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import recollect.model as m
from recollect.errors import RecollectError
from recollect.frozen import frozen
from recollect.llm.protocol import Sidecar
from recollect.work.agent.tracker import AgentEngine, Pending, TopicTracker
from recollect.work.agent.turn import Message, current_turn
from recollect.work.transcripts.messages import LiveMessages

logger = logging.getLogger(__name__)

QUEUE = 32  # updates that wait; a new one replaces the oldest
FINISH_SECONDS = 2.0  # that `close` waits for the current pass
EXIT_SECONDS = (
    10.0  # that an exiting process waits for it: a thread that is cut off inside a model aborts the process
)


@frozen
class _Update:
    messages: Sequence[Message]
    session: str


class MemoryAgent:
    """One per process: creating a second returns the first, unless that is closed or uses another engine.

    `submit` and `take_pending` never wait, whatever the store, the model or the sidecar are doing.
    """

    _living: "weakref.ReferenceType[MemoryAgent] | None" = None
    _choosing = threading.Lock()

    def __new__(cls, engine: AgentEngine, sidecar: Sidecar | None = None) -> "MemoryAgent":
        with cls._choosing:
            living = cls._living() if cls._living else None
            if living is not None and not living.closed:
                if living.engine is engine:
                    return living
                living._stopping.set()  # the new agent uses another engine
                living._wake.set()
            agent = super().__new__(cls)
            agent._set_up(engine, sidecar)
            cls._living = weakref.ref(agent)
            return agent

    def _set_up(self, engine: AgentEngine, sidecar: Sidecar | None) -> None:
        self.engine = engine
        self.dropped = 0  # updates that newer ones replaced
        self.passes = 0
        self.last_error: str | None = None  # None = the last pass succeeded
        self._sidecar = sidecar
        self._queue: deque[_Update] = deque(maxlen=QUEUE)
        self._pending: deque[Pending] = deque(maxlen=QUEUE)
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._stopping = threading.Event()
        self._tracker = TopicTracker(engine, "", sidecar)
        self._reading = LiveMessages("")
        self._worker = threading.Thread(target=self._work, name="recollect-memory-agent", daemon=True)
        self._worker.start()

    # called by the conversation: nothing here waits

    def submit(self, messages: Sequence[Message], session: str = "") -> bool:
        """Queue the conversation so far, as role and content. Returns at once; False if the agent is closed."""
        if self._stopping.is_set():
            return False
        if len(self._queue) == QUEUE:
            self.dropped += 1
        self._idle.clear()
        self._queue.append(_Update(tuple(messages), session))
        self._wake.set()
        return True

    def take_pending(self) -> Pending:
        """Return what was found since the last call, once; empty if nothing. Returns at once."""
        hits: dict[str, m.Hit] = {}
        why: dict[str, None] = {}
        texts: list[str] = []
        while self._pending:
            try:
                pending = self._pending.popleft()
            except IndexError:  # another thread took the last one
                break
            hits |= {hit.memory.id: hit for hit in pending.hits}
            why |= dict.fromkeys(pending.reasons)
            texts.append(pending.text)
        return Pending(tuple(hits.values()), tuple(why), "\n".join(filter(None, texts)))

    @property
    def closed(self) -> bool:
        return self._stopping.is_set()

    def settle(self, seconds: float = FINISH_SECONDS) -> bool:
        """Wait until everything submitted is processed; return False if that takes longer than `seconds`."""
        return self._idle.wait(seconds)

    def close(self, seconds: float = FINISH_SECONDS) -> None:
        """Finish the current pass within `seconds`, and spool the messages that are not recorded yet. Closing twice does nothing."""
        if self._stopping.is_set():
            return
        self.settle(seconds)
        self._stopping.set()
        self._wake.set()
        self._worker.join(seconds)
        self._spool_queue()

    def _spool_queue(self) -> None:
        for update in self._queue:
            if update.session:
                events = LiveMessages(update.session).new(update.messages)
                with suppress(OSError):
                    self.engine.sessions.spool.append(update.session, events, m.utc_now())
        self._queue.clear()

    def __enter__(self) -> "MemoryAgent":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # in the worker thread

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            while self._queue and not self._stopping.is_set():
                self._attempt(self._queue.popleft())
            if not self._queue:
                self._idle.set()
                if self._queue:  # one was submitted meanwhile
                    self._idle.clear()
                    self._wake.set()

    def _attempt(self, update: _Update) -> None:
        try:
            self._pass(update)
            self.last_error = None
        except RecollectError as error:
            self.last_error = error.message
            logger.warning("memory was not searched: %s", error.message)
        except Exception as error:  # the worker must survive any turn
            self.last_error = repr(error)
            if self._stopping.is_set():  # an exiting interpreter starts no threads: `close` spools the update
                self._queue.appendleft(update)
            else:
                logger.exception("a pass of the memory agent failed")
        self.passes += 1

    def _pass(self, update: _Update) -> None:
        if not self.engine.sessions.on:
            return
        if update.session != self._tracker.session:
            self._pending.clear()
            self._tracker = TopicTracker(self.engine, update.session, self._sidecar)
            self._reading = LiveMessages(update.session)
        self._record(update)
        pending = self._tracker.find_memories(current_turn(update.messages))
        if pending:
            self._pending.append(pending)
        if pending is not None:
            self.engine.delivery.flush()
            self.engine.schedule.run_idle()

    def _record(self, update: _Update) -> None:
        """Record the new messages in their session."""
        events = self._reading.new(update.messages)
        if update.session and events:
            self.engine.sessions.start(update.session, agent="python")
            self.engine.sessions.record(update.session, events)


@atexit.register
def _stop_living() -> None:
    """Stop the agent that a program has left open; what it has not recorded yet goes to the spool."""
    living = MemoryAgent._living() if MemoryAgent._living else None
    if living is not None and not living.closed:
        living._stopping.set()
        living._wake.set()
        living._worker.join(EXIT_SECONDS)
        living._spool_queue()
