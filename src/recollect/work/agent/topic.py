"""What is known of a conversation that is followed: what it is about, what was shown, what was taken up."""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.errors import EmbedderUnavailable, RecollectError
from recollect.llm.protocol import Sidecar
from recollect.work.agent.context import Context
from recollect.work.agent.triggers import Seen, reasons, seen
from recollect.work.agent.used import used

if TYPE_CHECKING:
    from recollect.engine import Engine

logger = logging.getLogger(__name__)

MOST_HITS = 10  # looked at
MOST_SHOWN = 5  # of them
TOPIC_CHANGE = 0.3  # cosine of two contexts below which they are about different things
TURNS = 50  # after which what was shown may be shown again
SAYS_ENOUGH = (
    60  # characters of a request that is looked for alone: what surrounds it costs more than it brings
)
SURROUNDINGS = 240  # characters that help a shorter one
_RECENTLY = 20  # memories shown last that may yet turn out to have been used


@dataclass(frozen=True, slots=True)
class Pending:
    """What is ready for the agent: memories with their reasons, and why they were looked for."""

    hits: tuple[m.Hit, ...] = ()
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.hits)


class Topic:
    """Of one session. One look at a time."""

    def __init__(self, engine: "Engine", session: str, sidecar: Sidecar | None = None) -> None:
        self.session = session
        self.engine = engine
        self._sidecar = sidecar
        self._last = Seen()
        self._vector: Any = None  # of the last context; None = nothing to compare with yet
        self._surfaced: set[str] = set()
        self._turns = 0
        self._shown: deque[m.Memory] = deque(maxlen=_RECENTLY)
        self._before = ""  # what had been said when they were shown
        self._rejected: list[str] = []

    def look(self, context: Context) -> Pending | None:
        """What this turn brings that was not shown before; None for a turn that is not worth a look."""
        self._turns += 1
        if self._turns > TURNS:
            self._turns = 1
            self._surfaced.clear()
        self._notice_use(context)
        why = reasons(context, self._last)
        if not why or not context.text:
            return None
        self._last = seen(context)
        self._follow(context)
        answer = self.engine.search(_query(context), MOST_HITS, files=context.files)
        fresh = [hit for hit in answer.results if hit.memory.id not in self._surfaced]
        chosen = self._verify(context, fresh)
        if chosen:
            self.show([hit.memory for hit in chosen], context.text)
        return Pending(tuple(chosen), why)

    def show(self, memories: Sequence[m.Memory], before: str) -> None:
        """They are shown now, and not again while the talk is about this."""
        self._surfaced |= {memory.id for memory in memories}
        self._shown.extend(memories)
        self.engine.measures.injected((memory.id for memory in memories), self.session)
        self._before = before

    def forget_shown(self) -> None:
        """The agent no longer sees what it was shown."""
        self._surfaced.clear()

    def tidy(self) -> None:
        """Note what did not fit at all. For when nobody waits."""
        if self._rejected:
            rejected, self._rejected = self._rejected, []
            self.engine.note_use((), self.session, rejected=rejected)

    def _follow(self, context: Context) -> None:
        """A request far from the last is another topic, and what was shown may be needed anew."""
        try:
            vector = self.engine.embedder.embed([context.request or context.text])[0]
        except EmbedderUnavailable:
            return
        if self._vector is not None and float(vector @ self._vector) < TOPIC_CHANGE:
            self._surfaced.clear()
        self._vector = vector

    def _verify(self, context: Context, hits: Sequence[m.Hit]) -> list[m.Hit]:
        """Those worth showing. The others are kept in mind as not being about this."""
        if not hits:
            return []
        sidecar: Sidecar = self._sidecar or self.engine.sidecar
        verified = sidecar.verify(context.text, hits)
        if verified is None:
            return []
        for source, target, relation in verified.relations:
            self._tell_relation(source, target, relation)
        by_id = {hit.memory.id: hit for hit in hits}
        self._rejected += [name for name in by_id if name not in verified.relevant]
        return [by_id[name] for name in verified.relevant if name in by_id][:MOST_SHOWN]

    def _tell_relation(self, source: str, target: str, relation: m.Relation) -> None:
        """Once: a conflict that was settled is not opened again, nor a weight that has grown set back."""
        known = self.engine.store.links(source)
        if any(
            {each.source, each.target} == {source, target} and each.relation == relation for each in known
        ):
            return
        try:
            self.engine.link(source, target, relation, 0.5)
        except RecollectError as error:
            logger.info("a relation was not kept: %s", error.message)

    def _notice_use(self, context: Context) -> None:
        """What was shown earlier and turns up in what the agent has done since."""
        if not self._shown or not context.answered:
            return
        taken = used(self._shown, context.answered, self._before)
        if taken:
            self.engine.note_use(taken, self.session)
            self._shown = deque((each for each in self._shown if each.id not in taken), maxlen=_RECENTLY)


def _query(context: Context) -> str:
    """The request says most; what surrounds it helps where the request says little."""
    if len(context.request) >= SAYS_ENOUGH:
        return context.request
    return f"{context.request}\n{context.text[-SURROUNDINGS:]}"
