"""What each channel has to say to a query: words, meaning, the graph. Each is asked on its own thread, within a deadline."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.search.aliases import Aliases, widen
from recollect.memory.search.cascade import Path, cascade, choose_seeds, edges_of
from recollect.memory.search.corpus import MemoryCorpus
from recollect.memory.search.fuse import Blend, blend_memories
from recollect.memory.search.lexicon import Match
from recollect.memory.search.slo import Deadline
from recollect.store.vectors import Scan

# Milliseconds after the query was embedded by which each channel must have answered, so that one which hangs leaves time for
# the rest. Words have much of it: without them there is no answer, and on a busy machine a million memories take long.
ANSWERS_BY = {"words": 140.0, "meaning": 145.0, "graph": 165.0, "memories": 200.0}
CHECKED = 2000  # of those with the most words, the cosine is exact even where the store only estimates
NEAR_ENOUGH = 0.25  # below this cosine two texts have nothing to do with each other

Floats = npt.NDArray[np.float32]
_NONE = np.zeros(1)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Relevance:
    """How well every memory in view fits, by words and by meaning. Rows are those of the corpus."""

    ids: Sequence[str]  # may have grown since: rows are those of the mask
    rows: Mapping[str, int]  # by id
    mask: npt.NDArray[np.bool_]
    match: Match
    cosines: (
        Floats | None
    )  # NaN where a memory has no vector or is out of view; None where nobody could be asked
    blend: Blend

    def best(self, count: int) -> list[int]:
        """Rows, best first; only those that share a word or come near enough."""
        fits = (self.match.scores > 0) | (self.blend.parts.get("everyday", _NONE) > 0)
        if self.cosines is not None:
            fits |= self.cosines >= NEAR_ENOUGH
        rows = np.flatnonzero(fits & self.mask)
        totals = Blend({name: part[rows] for name, part in self.blend.parts.items()}).total
        if len(rows) > count:
            best = np.argpartition(-totals, count - 1)[:count]
            rows, totals = rows[best], totals[best]
        ranked = zip((-totals).tolist(), (self.ids[row] for row in rows.tolist()), rows.tolist(), strict=True)
        return [row for _, _, row in sorted(ranked)]

    def similarity(self, row: int) -> float:
        """0 to 1: by meaning or by words, whichever says more."""
        cosine = float(self.cosines[row]) if self.cosines is not None else 0.0
        covered = min(1.0, float(self.match.scores[row]) / (self.match.full or 1.0))
        return max(cosine, covered) if cosine == cosine else covered  # NaN is not equal to itself

    def row(self, memory_id: str) -> int | None:
        """None for one that came after the words were read."""
        row = self.rows.get(memory_id)
        return row if row is not None and row < len(self.mask) else None

    def channels(self, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
        """By row: which channel found it, where it stood there, and why."""
        found: dict[int, dict[str, Any]] = {row: {} for row in rows}
        parts = self.match.explain(rows)
        for row, rank in _ranks(self.match.scores, [row for row in rows if parts[row]]):
            words = dict.fromkeys(part.word for part in parts[row])
            score = round(float(self.match.scores[row]), 4)
            found[row]["words"] = {"rank": rank, "score": score, "terms": ", ".join(list(words)[:8])}
        if self.cosines is not None:
            near = [row for row in rows if self.cosines[row] >= NEAR_ENOUGH]
            for row, rank in _ranks(self.cosines, near):
                found[row]["meaning"] = {"rank": rank, "cosine": round(float(self.cosines[row]), 4)}
        return found


def _ranks(scores: Floats, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each of `rows` with its place. What is out of view scores 0 or NaN, and is above nobody."""
    if not rows:
        return
    values = scores[list(rows)]
    ahead = scores[scores > values.min()]  # all are looked at once, and these few for every row
    for row, value in zip(rows, values, strict=True):
        yield row, 1 + int(np.count_nonzero(ahead > value))


class Channels:
    """Runs questions to the store beside each other; what is not answered by the deadline is left out."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._deadlines = {name: Deadline(ms) for name, ms in ANSWERS_BY.items()}
        self.late: list[str] = []

    def ask(self, work: Callable[[], Result]) -> "Future[Result]":
        return self._pool.submit(work)

    def answer(self, name: str, future: "Future[Result]") -> Result | None:
        """What `future` says; None once time is up, and then `late` has its name."""
        with contextlib.suppress(TimeoutError):
            return future.result(self._deadlines[name].left() / 1000)
        future.cancel()
        self.late.append(name)
        return None


def weigh(
    store: Store,
    corpus: MemoryCorpus,
    channels: Channels,
    words: "Future[Heard]",
    view: m.View,
    model: str,
    vector: bytes | None,
) -> Relevance | None:
    """Words and meaning of all memories; None where not even the words were answered in time."""
    meaning = channels.ask(lambda: store.scan(view, model, vector)) if vector is not None else None
    heard = channels.answer("words", words)
    scan = channels.answer("meaning", meaning) if meaning is not None else None
    if heard is None:
        return None
    match, meant, mask, ids, rows, nums = heard
    cosines = None
    if scan is not None:
        cosines = _in_view(scan, corpus.places(nums, scan.nums), match, mask)
    blend = blend_memories(match.coverage, cosines, mask, meant=meant)
    return Relevance(ids, rows, mask, match, cosines, blend)


class Heard(NamedTuple):
    """What the words say, and the corpus as it was then. It only grows, or is made anew."""

    match: Match
    meant: Floats | None  # how much each has of what everyday words mean; None where there are none
    mask: npt.NDArray[np.bool_]
    ids: list[str]
    rows: dict[str, int]
    nums: npt.NDArray[np.int64]


def _in_view(
    scan: Scan, places: npt.NDArray[np.int64] | None, match: Match, mask: npt.NDArray[np.bool_]
) -> Floats:
    """The cosines by row of the corpus. Where the store only estimates, exact for those that have the most words too."""
    if places is None:
        cosines = np.where(mask, scan.cosines, np.float32(np.nan))
    else:
        cosines = np.where(mask & (places >= 0), scan.cosines[places], np.float32(np.nan))
    if scan.exact is not None:
        rows = np.flatnonzero((match.scores > 0) & ~np.isnan(cosines))
        if len(rows) > CHECKED:
            rows = rows[np.argpartition(-match.scores[rows], CHECKED - 1)[:CHECKED]]
        cosines[rows] = scan.exactly(rows if places is None else places[rows])
    return cosines


def hear(corpus: MemoryCorpus, view: m.View, query: str, aliases: Callable[[], Aliases]) -> Heard:
    """What the words of `query` find. Needs no vector, so it can be asked while the model makes one."""
    with corpus.lock:
        corpus.refresh()
        mask = corpus.mask(view)
        words, meant = widen(query, corpus.lexicon.words(query, mask), aliases(), corpus.lexicon.known)
        match = corpus.lexicon.match(words, mask)
        beside = corpus.lexicon.match(meant, mask).coverage if meant else None
        return Heard(match, beside, mask, corpus.ids, corpus.rows, corpus.nums)


def walk(
    store: Store, channels: Channels, view: m.View, relevance: Relevance, rows: Sequence[int]
) -> dict[str, Path]:
    """Memories that hang together with the best hits, by words or by meaning, each with its path."""
    seeds = choose_seeds((relevance.ids[row], relevance.similarity(row)) for row in rows)
    if not seeds:
        return {}
    future = channels.ask(lambda: cascade(seeds, edges_of(store, view)))
    return channels.answer("graph", future) or {}
