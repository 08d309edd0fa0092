"""Follow the topic of one conversation, and find the memories that each turn needs."""

import logging
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import EmbedderUnavailable, RecollectError
from recollect.llm.protocol import Sidecar
from recollect.text.words import distinctive_words
from recollect.work.agent.triggers import Baseline, baseline, reasons
from recollect.work.agent.turn import Turn
from recollect.work.metrics.saved import USED

if TYPE_CHECKING:
    from recollect.memory.memories import Memories
    from recollect.memory.retrieval import Retrieval
    from recollect.work.metrics.measures import Measures
    from recollect.work.schedule import Schedule
    from recollect.work.sessions.sessions import Sessions

logger = logging.getLogger(__name__)

MAX_HITS = 10  # memories that the sidecar verifies
MAX_SHOWN = 5
TOPIC_CHANGE = 0.3  # cosine of two requests below which they are about different things
FORGET_AFTER = 50  # turns, after which a memory may be shown again
LONG_REQUEST = (
    60  # characters from which a request is searched for alone: its context costs more than it brings
)
CONTEXT_SIZE = 240  # characters of context that are added to a shorter request
SHOWN_ID = 6  # characters of an id that are shown
USED_WORDS = 0.6  # share of its distinctive words that make a memory used
MIN_WORDS = 3  # distinctive words that a memory must have for that
_MAX_WATCHED = 20  # memories shown last, which may still turn out to have been used


class AgentEngine(Protocol):
    """The parts of an engine that the memory agent uses. An `Engine` is one."""

    context: Context

    @property
    def memory(self) -> "Memories": ...

    @property
    def retrieval(self) -> "Retrieval": ...

    @property
    def measures(self) -> "Measures": ...

    @property
    def sessions(self) -> "Sessions": ...

    @property
    def schedule(self) -> "Schedule": ...

    @property
    def sidecar(self) -> Sidecar: ...

    def search(self, query: str, limit: int = 10, **options: Any) -> m.Answer: ...


@dataclass(frozen=True, slots=True)
class Pending:
    """Memories that are ready to be shown, and why they were looked for."""

    hits: tuple[m.Hit, ...] = ()
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.hits)


class TopicTracker:
    """What one session is about, what it was shown and what it used. Call it from one thread at a time."""

    def __init__(self, engine: AgentEngine, session: str, sidecar: Sidecar | None = None) -> None:
        self.session = session
        self.engine = engine
        self._sidecar = sidecar
        self._last = Baseline()
        self._vector: Any = None  # of the last request; None = no request yet
        self._surfaced: set[str] = set()
        self._turns = 0
        self._watched: deque[m.Memory] = deque(maxlen=_MAX_WATCHED)
        self._before = ""  # the conversation when they were shown
        self._rejected: list[str] = []

    def find_memories(self, turn: Turn) -> Pending | None:
        """Return the memories for this turn that were not shown before; None if the turn needs no search."""
        self._turns += 1
        if self._turns > FORGET_AFTER:
            self._turns = 1
            self._surfaced.clear()
        self._notice_use(turn)
        why = reasons(turn, self._last)
        if not why or not turn.text:
            return None
        self._last = baseline(turn)
        self._follow(turn)
        answer = self.engine.search(_query(turn), MAX_HITS, files=turn.files)
        new = [hit for hit in answer.results if hit.memory.id not in self._surfaced]
        chosen = self._verify(turn, new)
        if chosen:
            self.show([hit.memory for hit in chosen], turn.text)
        return Pending(tuple(chosen), why)

    def show(self, memories: Sequence[m.Memory], before: str) -> None:
        """Note that memories are shown now, after the text `before`; they are not shown again on this topic."""
        self._surfaced |= {memory.id for memory in memories}
        self._watched.extend(memories)
        self.engine.measures.injected((memory.id for memory in memories), self.session)
        self._before = before

    def forget_shown(self) -> None:
        """Allow everything to be shown again, because the agent no longer sees what it was shown."""
        self._surfaced.clear()

    def flush_rejected(self) -> None:
        """Record the memories that did not fit. Call this when nobody waits."""
        if self._rejected:
            rejected, self._rejected = self._rejected, []
            self.engine.retrieval.note_use((), self.session, rejected=rejected)

    def _follow(self, turn: Turn) -> None:
        """Start a new topic if the request is far from the last one: what was shown may be needed again."""
        try:
            vector = self.engine.context.embedder.embed([turn.request or turn.text])[0]
        except EmbedderUnavailable:
            return
        if self._vector is not None and float(vector @ self._vector) < TOPIC_CHANGE:
            self._surfaced.clear()
        self._vector = vector

    def _verify(self, turn: Turn, hits: Sequence[m.Hit]) -> list[m.Hit]:
        """Return the hits that the sidecar finds relevant; the others are noted as rejected."""
        if not hits:
            return []
        sidecar: Sidecar = self._sidecar or self.engine.sidecar
        verified = sidecar.verify(turn.text, hits)
        if verified is None:
            return []
        for source, target, relation in verified.relations:
            self._link(source, target, relation)
        by_id = {hit.memory.id: hit for hit in hits}
        self._rejected += [memory_id for memory_id in by_id if memory_id not in verified.relevant]
        return [by_id[memory_id] for memory_id in verified.relevant if memory_id in by_id][:MAX_SHOWN]

    def _link(self, source: str, target: str, relation: m.Relation) -> None:
        """Link two memories once: a settled conflict is not reopened, and a weight that has grown is not reset."""
        links = self.engine.context.store.links(source)
        if any(
            {link.source, link.target} == {source, target} and link.relation == relation for link in links
        ):
            return
        try:
            self.engine.memory.link(source, target, relation, 0.5)
        except RecollectError as error:
            logger.info("a relation was not stored: %s", error.message)

    def _notice_use(self, turn: Turn) -> None:
        """Record the memories shown earlier that the agent has used since."""
        if not self._watched or not turn.answered:
            return
        used = used_memories(self._watched, turn.answered, self._before)
        if used:
            self.engine.measures.note(USED, len(used), self.session)
            self.engine.retrieval.note_use(used, self.session)
            self._watched = deque(
                (memory for memory in self._watched if memory.id not in used), maxlen=_MAX_WATCHED
            )


def _query(turn: Turn) -> str:
    if len(turn.request) >= LONG_REQUEST:
        return turn.request
    return f"{turn.request}\n{turn.text[-CONTEXT_SIZE:]}"


def used_memories(memories: Iterable[m.Memory], after: str, before: str = "") -> list[str]:
    """Return the ids of the memories that `after` uses: it has their id, their file or their distinctive words.

    Words that were in `before`, the text that preceded the memories, prove nothing.
    """
    text = after.lower()
    words = set(distinctive_words(after))
    words_before = set(distinctive_words(before))
    return [memory.id for memory in memories if _is_used(memory, text, words, words_before, before.lower())]


def _is_used(memory: m.Memory, text: str, words: set[str], words_before: set[str], before: str) -> bool:
    if memory.id in text or re.search(rf"\b{memory.id[-SHOWN_ID:]}\b", text):
        return True
    if any(path.lower() in text and path.lower() not in before for path in memory.file_paths if "." in path):
        return True
    distinctive = set(distinctive_words(memory.content)) - words_before
    return len(distinctive) >= MIN_WORDS and len(distinctive & words) >= USED_WORDS * len(distinctive)
