"""What can be searched, in memory: the words of all memories, or of all messages, kept in step with the store.

The first reading takes 0.2 s for 10,000 units; after that only what has changed is read.
"""

import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.search.fuse import Talk
from recollect.memory.search.lexicon import MEMORY, MESSAGE, Lexicon
from recollect.memory.search.structure import Ints, Mask, Sessions
from recollect.store.visibility import VisibilityClasses

Floats = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]
VIEWS = 8  # whose masks are kept


class MemoryCorpus:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.lock = threading.Lock()  # held while the lexicon is read or written
        self._forget()

    def _forget(self) -> None:
        self._seq = self._purge = -1
        self.lexicon = Lexicon(MEMORY)
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}  # by id
        self._nums = array("q")
        self._row_of: dict[int, int] = {}
        self._class = array("i")
        self._classes = VisibilityClasses()
        self._places: tuple[Longs, Longs, Longs | None] | None = None
        self._changed()

    def _changed(self) -> None:
        self._masks: dict[m.View, Mask] = {}
        self._numbers: Longs | None = None

    @property
    def nums(self) -> Longs:
        """By row: the number the store knows it by. The same object until something changes."""
        if self._numbers is None:
            self._numbers = np.array(self._nums, np.int64)
        return self._numbers

    def refresh(self) -> None:
        """Read what has changed. The caller holds the lock."""
        seq, purge = self._store.change()
        if purge != self._purge:
            self._forget()
        if seq != self._seq:
            self._changed()
            new = []
            for row in self._store.texts_since(self._seq):
                fields = (
                    ("content", row.content),
                    ("tags", " ".join(row.tags)),
                    ("paths", " ".join(row.file_paths)),
                    ("kind", row.kind),
                )
                known = self._row_of.get(row.num)
                if known is None:
                    self._row_of[row.num] = self.rows[row.id] = len(self.ids)
                    self.ids.append(row.id)
                    self._nums.append(row.num)
                    self._class.append(self._classes.code(row.key))
                    new.append(fields)
                else:
                    self._class[known] = self._classes.code(row.key)
                    self.lexicon.replace(known, fields)
            self.lexicon.add(new)
        self._seq, self._purge = seq, purge

    def mask(self, view: m.View) -> Mask:
        """Which rows `view` shows."""
        if not len(self._class):
            return np.empty(0, bool)
        if view not in self._masks:
            if len(self._masks) >= VIEWS:
                self._masks.clear()
            self._masks[view] = self._classes.shown(view)[np.frombuffer(self._class, np.int32)]
        return self._masks[view]

    def places(self, ours: Longs, theirs: Longs) -> Longs | None:
        """Where each of `ours` (as `nums` was) stands in `theirs`, -1 if nowhere; None if both are the same.

        Both stay the same objects while nothing changes, so this is worked out once.
        """
        known = self._places
        if known is None or known[0] is not ours or known[1] is not theirs:
            known = self._places = ours, theirs, _places(ours, theirs)
        return known[2]


def _places(ours: Longs, theirs: Longs) -> Longs | None:
    if np.array_equal(ours, theirs):
        return None
    places = np.full(len(ours), -1, np.int64)
    if len(ours):
        # Ours ascend: the store hands them out like that, and younger ones are greater.
        rows = np.minimum(np.searchsorted(ours, theirs), len(ours) - 1)
        found = np.flatnonzero(ours[rows] == theirs)
        places[rows[found]] = found
    return places


@dataclass(frozen=True, slots=True)
class Said:
    """The messages as arrays, at one moment."""

    messages: Sequence[m.Message]
    sessions: Sequence[str]  # by number
    talk: Talk
    cosines: Floats | None  # NaN where there is no vector; None without a query vector
    mask: Mask


class MessageCorpus:
    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model
        self.lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._last = 0
        self._purge = -1
        self.lexicon = Lexicon(MESSAGE)
        self.messages: list[m.Message] = []
        self._session_of: dict[tuple[str, str | None, str], int] = {}
        self._session = array("i")
        self._order = array("q")
        self._vectors: list[bytes | None] = []
        self._asks = array("b")
        self._assistant = array("b")
        self._matrix: Floats | None = None
        self._sessions: Sessions | None = None

    def refresh(self) -> None:
        """Read what has come. The caller holds the lock."""
        _, purge = self._store.messages.state()
        if purge != self._purge:
            self._forget()
        self._purge = purge
        rows = self._store.messages.after(self._last, self._model)
        if not rows:
            return
        for row in rows:
            message = row.message
            key = (message.user_id, message.project_id, message.session)
            self._session.append(self._session_of.setdefault(key, len(self._session_of)))
            self._order.append(message.order)
            self.messages.append(message)
            self._asks.append(message.text.rstrip().endswith("?"))
            self._assistant.append(_assistant(message))
            self._vectors.append(row.vector)
        self.lexicon.add([("reply" if _assistant(row.message) else "said", row.message.text)] for row in rows)
        self._last = rows[-1].num
        self._sessions = self._matrix = None

    def said(self, view: m.View, vector: bytes | None) -> Said:
        """All messages, those that `view` shows by its mask: one's own, of this project unless it shows all."""
        if self._sessions is None:
            self._sessions = Sessions(self._groups, np.array(self._order, np.int64))
        mine = np.fromiter(
            (
                user == view.user_id and (view.all_projects or project == view.project_id)
                for user, project, _ in self._session_of
            ),
            bool,
            len(self._session_of),
        )
        mask = mine[self._groups] if len(self._session) else np.empty(0, bool)
        talk = Talk(
            sessions=self._sessions,
            lengths=self.lexicon.lengths,
            asks=np.array(self._asks, bool),
            assistant=np.array(self._assistant, bool),
        )
        names = [session for _, _, session in self._session_of]
        return Said(self.messages, names, talk, self._cosines(vector), mask)

    @property
    def _groups(self) -> Ints:
        return np.array(self._session, np.int32)

    def _cosines(self, vector: bytes | None) -> Floats | None:
        have = [each for each in self._vectors if each is not None]
        if vector is None or not have:
            return None
        if self._matrix is None:
            self._matrix = np.frombuffer(b"".join(have), "<f4").reshape(len(have), -1)
        found = np.full(len(self._vectors), np.nan, np.float32)
        if self._matrix.shape[1] * 4 == len(vector):
            there = np.fromiter((each is not None for each in self._vectors), bool, len(self._vectors))
            # Not `@`, which waits for cores that others may be using: see store/vectors.py.
            found[there] = np.vecdot(self._matrix, np.frombuffer(vector, "<f4"))
        return found


def _assistant(message: m.Message) -> bool:
    return message.author == "assistant"
