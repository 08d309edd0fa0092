"""Memories that may be compared: those of one project, scope and branch. Across that, alike is not the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.store import Store
from recollect.llm.protocol import StatementRelation
from recollect.memory.maintenance.consolidate.neighbours import Breathe, by_meaning, by_words
from recollect.memory.write import contradict
from recollect.memory.write.contradict import Comparison

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

CLOSEST = 4  # neighbours whose words are compared, however far they are beyond `contradict.NEAR`
_PAGE = 1_000
Judge = Callable[[str, str, float | None], Comparison]


@dataclass(frozen=True, slots=True)
class Alike:
    """Two memories, the older first, and how the newer relates to the older."""

    older: str
    newer: str
    texts: tuple[str, str]  # what they said when they were compared
    cosine: float | None  # None where one has no vector
    verdict: Comparison


@dataclass(slots=True)
class Matter:
    """`ids` are in order, and so are `texts` and the rows of `vectors`."""

    name: str  # tells it from others, the same in every run
    project_id: str | None
    ids: list[str]
    texts: list[str]
    sessions: list[str | None]
    vectors: "Matrix"  # zero where there is none
    _nearest: tuple[Any, Any, Any] | None = None
    _known: list[Alike] = field(default_factory=list)  # pairs judged in this run
    _all_known: bool = False

    def nearest(self, breathe: Breathe) -> tuple[Any, Any, Any]:
        """Rows, their neighbours and the cosines, as `by_meaning` finds them among those that have a vector."""
        if self._nearest is None:
            here = self.has_vector.nonzero()[0]
            rows, others, cosines = by_meaning(self.vectors[here], contradict.NEAR, breathe)
            self._nearest = here[rows], here[others], cosines
        return self._nearest

    @property
    def has_vector(self) -> Any:
        return (self.vectors != 0).any(axis=1)

    def judged(self, after: str, judge: Judge, breathe: Breathe) -> Iterator[Alike]:
        """Pairs that say the same, probably do, or contradict each other; of those the older of which is `after` or later."""
        if self._all_known:
            yield from (pair for pair in self._known if pair.older >= after)
            return
        self._known.clear()
        for count, (one, other, cosine) in enumerate(self._candidates(breathe)):
            if count % 64 == 0:
                breathe()
            if self.ids[one] < after:
                continue
            verdict = judge(self.texts[other], self.texts[one], cosine)
            if verdict.relation in (StatementRelation.RELATED, StatementRelation.UNRELATED):
                continue
            texts = self.texts[one], self.texts[other]
            pair = Alike(self.ids[one], self.ids[other], texts, cosine, verdict)
            self._known.append(pair)
            yield pair
        self._all_known = not after

    def _candidates(self, breathe: Breathe) -> Iterator[tuple[int, int, float | None]]:
        """Rows, the lower first, in order, with their cosine."""
        import numpy as np

        size = len(self.ids)
        rows, others, cosines = self.nearest(breathe)
        order = np.lexsort((-cosines, rows))
        rank = np.empty(len(rows), np.int64)
        rank[order] = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
        chosen = (rank < CLOSEST) | (cosines >= contradict.ALIKE)
        lower, upper = np.minimum(rows, others)[chosen], np.maximum(rows, others)[chosen]
        by_word, words = by_words(self.texts, breathe)
        close = by_word[:, 0] * size + by_word[:, 1]
        keys = np.union1d(lower * size + upper, close)
        near_in_words = np.isin(keys, close, assume_unique=True)
        has_vector = self.has_vector
        for start in range(0, len(keys), _PAGE):
            one, other = np.divmod(keys[start : start + _PAGE], size)
            measured = np.vecdot(self.vectors[one], self.vectors[other])
            known = has_vector[one] & has_vector[other]
            page = (one.tolist(), other.tolist(), measured.tolist(), known.tolist())
            for a, b, cosine, has, is_close in zip(*page, near_in_words[start:].tolist(), strict=False):
                if is_close or cosine >= contradict.ALIKE or _share_most(words[a], words[b]):
                    yield a, b, cosine if has else None


def _share_most(one: frozenset[str], other: frozenset[str]) -> bool:
    """Quickly told; what shares less hardly ever repeats or contradicts the other."""
    return 3 * len(one & other) >= 2 * min(len(one), len(other))


def load_matters(store: Store, user_id: str, view: m.View, model: str, breathe: Breathe) -> list[Matter]:
    """All active memories of the user, in the order of their names."""
    import numpy as np

    found: dict[str, list[tuple[str, str, str | None]]] = {}
    projects: dict[str, str | None] = {}
    for count, row in enumerate(store.texts_since(-1)):
        if count % _PAGE == 0:
            breathe()
        owner, project_id, scope, branch, _, state, _, session = row.key
        if owner != user_id or state != m.State.ACTIVE:
            continue
        within = session if scope == m.Scope.SESSION else None
        name = m.fingerprint(m.dumps([project_id, scope, within, branch]))
        projects[name] = project_id
        found.setdefault(name, []).append((row.id, row.content, session))
    place = {row[0]: (name, at) for name, rows in found.items() for at, row in enumerate(sorted(rows))}
    matrices: dict[str, Any] = {}
    for count, (memory_id, vector) in enumerate(store.vectors(view, model)):
        if count % _PAGE == 0:
            breathe()
        if memory_id in place:
            name, at = place[memory_id]
            dim = len(vector) // 4
            if name not in matrices:
                matrices[name] = np.zeros((len(found[name]), dim), np.float32)
            if matrices[name].shape[1] == dim:  # `check` tells of others
                matrices[name][at] = np.frombuffer(vector, "<f4")
    made = []
    for name, rows in sorted(found.items()):
        ids, texts, sessions = (list(column) for column in zip(*sorted(rows), strict=True))
        vectors = matrices.get(name, np.zeros((len(rows), 1), np.float32))
        made.append(Matter(name, projects[name], ids, texts, sessions, vectors))
    return made
