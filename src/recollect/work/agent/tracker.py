"""Follow the topic of one conversation, and find the memories that each turn needs."""

from typing import TYPE_CHECKING, Any, Protocol

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import EmbedderUnavailable
from recollect.frozen import frozen
from recollect.llm.protocol import Sidecar
from recollect.work.agent.triggers import Baseline, baseline, reasons
from recollect.work.agent.turn import Turn
from recollect.work.delivery.delivery import Delivery, DeliveryRequest, Moment
from recollect.work.delivery.told import Told
from recollect.work.delivery.use import UseWatch

if TYPE_CHECKING:
    from recollect.work.delivery.composer import Composer
    from recollect.work.schedule import Schedule
    from recollect.work.sessions.sessions import Sessions

TOPIC_CHANGE = 0.3  # cosine of two requests below which they are about different things
FORGET_AFTER = 50  # turns, after which a memory may be shown again
LONG_REQUEST = (
    60  # characters from which a request is searched for alone: its context costs more than it brings
)
CONTEXT_SIZE = 240  # characters of context that are added to a shorter request


class AgentEngine(Protocol):
    """The parts of an engine that the memory agent uses. An `Engine` is one."""

    context: Context

    @property
    def delivery(self) -> "Composer": ...

    @property
    def sessions(self) -> "Sessions": ...

    @property
    def schedule(self) -> "Schedule": ...


@frozen
class Pending:
    """Memories that are ready to be shown, and why they were looked for."""

    hits: tuple[m.Hit, ...] = ()
    reasons: tuple[str, ...] = ()
    text: str = ""  # all that the agent is told, rendered and fenced: memories, files, findings

    def __bool__(self) -> bool:
        return bool(self.hits or self.text)


class TopicTracker:
    """What one session is about, what it was told and what it used. Call it from one thread at a time."""

    def __init__(self, engine: AgentEngine, session: str, sidecar: Sidecar | None = None) -> None:
        self.session = session
        self.engine = engine
        self._sidecar = sidecar
        self._last = Baseline()
        self._vector: Any = None  # of the last request; None = no request yet
        self._told = Told(has_started=True)
        self._turns = 0
        self._use = UseWatch()

    def find_memories(self, turn: Turn) -> Pending | None:
        """Return what this turn needs and was not told before; None if the turn needs no search."""
        self._turns += 1
        if self._turns > FORGET_AFTER:
            self._turns = 1
            self._told.forget()
        used = self._use.used(turn.answered)
        self.engine.delivery.note_used(self.session, used)
        why = reasons(turn, self._last)
        if not why or not turn.text:
            return self._about_files(turn)
        self._last = baseline(turn)
        self._follow(turn)
        self._told.has_started = True  # an agent in Python asks for what a session is told at its start
        request = DeliveryRequest(
            Moment.PROMPT, _query(turn), files=turn.files, session=self.session or None, host="claude-code"
        )
        delivery = self.engine.delivery.compose(request, self._told, self._sidecar)
        self._watch(delivery, turn.text)
        more = self._about_files(turn)
        if more is None:
            return Pending(delivery.hits, why, delivery.text)
        text = "\n".join(filter(None, (delivery.text, more.text)))
        return Pending((*delivery.hits, *more.hits), (*why, *more.reasons), text)

    def _about_files(self, turn: Turn) -> Pending | None:
        """Return what the files of the last messages make likely to be useful, if there is anything new."""
        request = DeliveryRequest(
            Moment.FILE_OPENED,
            turn.request,
            files=turn.files,
            session=self.session or None,
            host="claude-code",
        )
        delivery = self.engine.delivery.compose(request, self._told)
        self._watch(delivery, "\n".join((turn.text, *turn.files)))
        return Pending(delivery.hits, ("opened file",), delivery.text) if delivery.text else None

    def _watch(self, delivery: Delivery, before: str) -> None:
        memories = self.engine.context.store.get_many(delivery.memories)
        self._use.show(delivery, memories.values(), before)

    def _follow(self, turn: Turn) -> None:
        """Start a new topic if the request is far from the last one: what was shown may be needed again."""
        try:
            vector = self.engine.context.embedder.embed([turn.request or turn.text])[0]
        except EmbedderUnavailable:
            return
        if self._vector is not None and float(vector @ self._vector) < TOPIC_CHANGE:
            self._told.forget()
        self._vector = vector


def _query(turn: Turn) -> str:
    if len(turn.request) >= LONG_REQUEST:
        return turn.request
    return f"{turn.request}\n{turn.text[-CONTEXT_SIZE:]}"
