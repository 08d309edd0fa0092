"""Groups of memories that may be compared with each other: those of one project, scope and branch.

Similar texts of two projects or two branches are no duplicates, so nothing is compared across groups.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.comparison import ALIKE, NEAR, Comparison
from recollect.memory.maintenance.consolidate.neighbours import Yield, by_meaning, by_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

CLOSEST = 4  # neighbours beyond `NEAR` whose words are compared, whatever their cosine
_PAGE = 1_000
Judge = Callable[[str, str, float | None], Comparison]


@frozen
class SimilarPair:
    """Two memories, and how the newer relates to the older."""

    older: str
    newer: str
    texts: tuple[str, str]  # the texts that were compared, older first
    cosine: float | None  # None = one of them has no vector
    verdict: Comparison


@dataclass(slots=True)
class MemoryGroup:
    """`ids` are sorted; `texts`, `sessions` and the rows of `vectors` have the same order."""

    name: str  # the same in every run
    project_id: str | None
    ids: list[str]
    texts: list[str]
    sessions: list[str | None]
    vectors: "Matrix"  # a row of zeros = no vector
    _nearest: tuple[Any, Any, Any] | None = None
    _judged: list[SimilarPair] = field(default_factory=list)  # pairs judged in this run
    _all_judged: bool = False

    def nearest(self, yield_to_foreground: Yield) -> tuple[Any, Any, Any]:
        """Return rows, their neighbours and the cosines, as `by_meaning` finds them among memories with a vector."""
        if self._nearest is None:
            with_vector = self.has_vector.nonzero()[0]
            rows, others, cosines = by_meaning(self.vectors[with_vector], NEAR, yield_to_foreground)
            self._nearest = with_vector[rows], with_vector[others], cosines
        return self._nearest

    @property
    def has_vector(self) -> Any:
        return (self.vectors != 0).any(axis=1)

    def judged(self, after: str, judge: Judge, yield_to_foreground: Yield) -> Iterator[SimilarPair]:
        """Yield pairs that say the same, probably do, or contradict each other, if the older one is `after` or later."""
        if self._all_judged:
            yield from (pair for pair in self._judged if pair.older >= after)
            return
        self._judged.clear()
        for count, (one, other, cosine) in enumerate(self._candidates(yield_to_foreground)):
            if count % 64 == 0:
                yield_to_foreground()
            if self.ids[one] < after:
                continue
            verdict = judge(self.texts[other], self.texts[one], cosine)
            if verdict.relation in (StatementRelation.RELATED, StatementRelation.UNRELATED):
                continue
            texts = self.texts[one], self.texts[other]
            pair = SimilarPair(self.ids[one], self.ids[other], texts, cosine, verdict)
            self._judged.append(pair)
            yield pair
        self._all_judged = not after

    def _candidates(self, yield_to_foreground: Yield) -> Iterator[tuple[int, int, float | None]]:
        """Yield pairs of rows in order, the lower row first, with their cosine."""
        import numpy as np

        size = len(self.ids)
        rows, others, cosines = self.nearest(yield_to_foreground)
        order = np.lexsort((-cosines, rows))
        rank = np.empty(len(rows), np.int64)
        rank[order] = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
        chosen = (rank < CLOSEST) | (cosines >= ALIKE)
        lower, upper = np.minimum(rows, others)[chosen], np.maximum(rows, others)[chosen]
        by_word, words = by_words(self.texts, yield_to_foreground)
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
                if is_close or cosine >= ALIKE or _share_most(words[a], words[b]):
                    yield a, b, cosine if has else None


def _share_most(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two thirds of the shorter's words are shared; with less, two memories are hardly ever related."""
    return 3 * len(one & other) >= 2 * min(len(one), len(other))


def load_groups(
    store: Store, user_id: str, view: m.View, model: str, yield_to_foreground: Yield
) -> list[MemoryGroup]:
    """Return the groups of the active memories of the user in the projects of `view`, ordered by name."""
    import numpy as np

    members: dict[str, list[tuple[str, str, str | None]]] = {}
    projects: dict[str, str | None] = {}
    for count, row in enumerate(store.texts_since(-1)):
        if count % _PAGE == 0:
            yield_to_foreground()
        owner, project_id, scope, branch, _, state, _, is_proposal, session = row.key
        if owner != user_id or state != m.State.ACTIVE:
            continue
        if not view.all_projects and project_id not in (None, view.project_id):
            continue
        within = session if scope == m.Scope.SESSION else None
        # What a repository proposes is not merged with what somebody said, nor does it contradict that.
        name = m.fingerprint(m.dumps([project_id, scope, within, branch, *["proposal"] * bool(is_proposal)]))
        projects[name] = project_id
        members.setdefault(name, []).append((row.id, row.content, session))
    places = {row[0]: (name, at) for name, rows in members.items() for at, row in enumerate(sorted(rows))}
    matrices: dict[str, Any] = {}
    for count, (memory_id, vector) in enumerate(store.vectors(view, model)):
        if count % _PAGE == 0:
            yield_to_foreground()
        if memory_id in places:
            name, at = places[memory_id]
            dim = len(vector) // 4
            if name not in matrices:
                matrices[name] = np.zeros((len(members[name]), dim), np.float32)
            if matrices[name].shape[1] == dim:  # `check` reports other sizes
                matrices[name][at] = np.frombuffer(vector, "<f4")
    groups = []
    for name, rows in sorted(members.items()):
        ids, texts, sessions = (list(column) for column in zip(*sorted(rows), strict=True))
        vectors = matrices.get(name, np.zeros((len(rows), 1), np.float32))
        groups.append(MemoryGroup(name, projects[name], ids, texts, sessions, vectors))
    return groups
