"""The words and vectors of all messages of sessions in memory."""

import re
import threading
from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.memory.index.bm25 import Bm25Index, Fields, Ints
from recollect.memory.index.days import date_terms
from recollect.memory.index.instructions import gives_instruction
from recollect.memory.index.vectors import Floats, Mask
from recollect.memory.ranking import MESSAGE_MEASURES, NeighbourWeight

Doubles = npt.NDArray[np.float64]

# Who says what follows, at the beginning of a line, after a date perhaps. Logs keep whole exchanges as one message, which begins
# with a speaker; elsewhere such a line is more likely part of a configuration.
_SPEAKER = re.compile(r"^(?:\[[^\]\n]{1,40}\] ?)?(user|human|assistant|ai): ", re.IGNORECASE | re.MULTILINE)
_PEOPLE = frozenset(["user", "human"])


class SessionLayout:
    """Which messages belong to one session, and in what order. Rebuilt when messages arrive: 10 ms at 100,000."""

    def __init__(self, session: Ints, order: npt.NDArray[np.integer]) -> None:
        """Make the layout of messages whose `session` counts from 0; `order` grows within a session."""
        self.of = session
        self._rows = np.lexsort((np.arange(len(session)), order, session)).astype(np.int32)
        self._sorted = session[self._rows]
        self._begins = np.flatnonzero(np.diff(self._sorted, prepend=-1))
        self.count = int(session.max()) + 1 if len(session) else 0

    def neighbours(self, scores: Doubles, is_question: Mask, weights: Iterable[NeighbourWeight]) -> Doubles:
        """Return for each message the weighted sum of its neighbours' scores; a missing neighbour counts 0."""
        inner, questions = scores[self._rows], is_question[self._rows]
        total = np.zeros(len(inner))
        for neighbour in weights:
            row, other = _shifted(len(inner), neighbour.step)
            weight = neighbour.weight + neighbour.if_question * questions[other]
            total[row] += weight * inner[other] * (self._sorted[row] == self._sorted[other])
        in_order = np.empty_like(total)
        in_order[self._rows] = total
        return in_order

    def longest_around(self, lengths: Doubles) -> Doubles:
        """Return for each message the greatest of its own length and those of the messages just before and after it."""
        inner = lengths[self._rows]
        longest = inner.copy()
        for step in (-1, 1):
            row, other = _shifted(len(inner), step)
            is_same = self._sorted[row] == self._sorted[other]
            longest[row] = np.maximum(longest[row], np.where(is_same, inner[other], 0.0))
        in_order = np.empty_like(longest)
        in_order[self._rows] = longest
        return in_order

    def best(self, scores: Doubles, mask: Mask, top: int) -> Doubles:
        """Return by rank and session the `top` best scores; NaN if a session has fewer messages in `mask`."""
        inner = np.where(mask[self._rows], scores[self._rows], -np.inf)
        numbers = self._sorted[self._begins]
        ranks = np.empty((top, self.count))
        for rank in range(top):
            best = np.full(self.count, -np.inf)
            if len(inner):
                best[numbers] = np.maximum.reduceat(inner, self._begins)
            ranks[rank] = np.where(np.isfinite(best), best, np.nan)
            at = np.flatnonzero((inner == best[self._sorted]) & np.isfinite(inner))
            first = np.diff(self._sorted[at], prepend=-1) != 0  # of equal scores only one is removed
            inner[at[first]] = -np.inf
        return ranks


def _shifted(size: int, step: int) -> tuple[slice, slice]:
    """Return the rows, and the rows `step` places further on."""
    ahead, behind = slice(abs(step), None), slice(0, max(size - abs(step), 0))
    return (behind, ahead) if step > 0 else (ahead, behind)


@frozen
class MessageFeatures:
    """What is known about each message besides its text."""

    sessions: SessionLayout
    lengths: npt.NDArray[np.floating]  # in terms
    is_question: Mask  # ends with a question mark
    by_assistant: Mask
    is_instruction: Mask  # a person says in it what they want from now on


@frozen
class MessageArrays:
    """All messages at one moment, by row."""

    messages: Sequence[m.Message]
    session_ids: Sequence[str]  # by session number
    features: MessageFeatures
    cosines: Floats | None  # NaN for a message without a vector; None without a query vector
    mask: Mask  # what the view shows


class MessageIndex:
    """Rows are messages, in the order they were kept."""

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model
        self.lock = threading.Lock()  # hold it while you read or refresh `bm25`
        self._clear()

    def _clear(self) -> None:
        self._last = 0
        self._generation = -1
        self.bm25 = Bm25Index(MESSAGE_MEASURES)
        self._messages: list[m.Message] = []
        self._sessions: dict[tuple[str, str | None, str], int] = {}  # user, project, session → number
        self._session_of = array("i")
        self._order = array("q")
        self._vectors: list[bytes | None] = []
        self._is_question = array("b")
        self._by_assistant = array("b")
        self._is_instruction = array("b")
        self._matrix: Floats | None = None
        self._layout: SessionLayout | None = None

    def refresh(self) -> None:
        """Read the messages that were added since the last call. The caller holds the lock."""
        _, generation = self._store.messages.state()
        if generation != self._generation:
            self._clear()
        self._generation = generation
        rows = self._store.messages.after(self._last, self._model)
        if not rows:
            return
        units: list[Fields] = []
        for row in rows:
            message = row.message
            key = (message.user_id, message.project_id, message.session)
            self._session_of.append(self._sessions.setdefault(key, len(self._sessions)))
            self._order.append(message.order)
            self._messages.append(message)
            self._is_question.append(message.text.rstrip().endswith("?"))
            fields = fields_of(message)
            self._by_assistant.append(all(name != "person" for name, _ in fields))
            self._is_instruction.append(
                any(name == "person" and gives_instruction(said) for name, said in fields)
            )
            self._vectors.append(row.vector)
            units.append(fields)
        self.bm25.add(units)
        self._last = rows[-1].num
        self._matrix = self._layout = None

    def arrays(self, view: m.View, vector: bytes | None) -> MessageArrays:
        """Return all messages. The mask shows the user's own, of this project unless `view` shows all projects."""
        visible_sessions = np.fromiter(
            (
                user == view.user_id and (view.all_projects or project == view.project_id)
                for user, project, _ in self._sessions
            ),
            bool,
            len(self._sessions),
        )
        if self._layout is None:
            self._layout = SessionLayout(
                np.array(self._session_of, np.int32), np.array(self._order, np.int64)
            )
        session_of = self._layout.of
        return MessageArrays(
            messages=self._messages,
            session_ids=[session for _, _, session in self._sessions],
            features=MessageFeatures(
                sessions=self._layout,
                lengths=self.bm25.lengths,
                is_question=np.array(self._is_question, bool),
                by_assistant=np.array(self._by_assistant, bool),
                is_instruction=np.array(self._is_instruction, bool),
            ),
            cosines=self._cosines(vector),
            mask=visible_sessions[session_of] if len(session_of) else np.empty(0, bool),
        )

    def _cosines(self, vector: bytes | None) -> Floats | None:
        vectors = [row for row in self._vectors if row is not None]
        if vector is None or not vectors:
            return None
        if self._matrix is None:
            self._matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
        cosines = np.full(len(self._vectors), np.nan, np.float32)
        if self._matrix.shape[1] * 4 == len(vector):
            has_vector = np.fromiter((row is not None for row in self._vectors), bool, len(self._vectors))
            # Not `@`, which waits for cores that others may be using: see vectors.py.
            cosines[has_vector] = np.vecdot(self._matrix, np.frombuffer(vector, "<f4"))
        return cosines


def fields_of(message: m.Message) -> Fields:
    """Return what is indexed of a message: what a person and what an assistant says in it, and its date."""
    text = message.text
    speaker = "assistant" if message.author == "assistant" else "person"
    parts, begin = [], 0
    for found in _SPEAKER.finditer(text) if _SPEAKER.match(text) else ():
        parts.append((speaker, text[begin : found.start()]))
        speaker = "person" if found[1].lower() in _PEOPLE else "assistant"
        begin = found.start()
    spoken = [part for part in (*parts, (speaker, text[begin:])) if part[1]]
    return [*spoken, ("date", date_terms(message.created_at))]
