"""The three channels of a search: words, meaning and the graph. Each runs on its own thread, within a deadline.

A server has many threads already. There they run one after the other on the thread that asks, in its transaction.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

import numpy as np

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.memory import ranking
from recollect.memory.index.bm25 import Bm25Scores
from recollect.memory.index.index import MemoryIndex
from recollect.memory.index.vectors import CosineScan, Floats, Longs, Mask
from recollect.memory.index.words import WordIndex
from recollect.memory.search.activities import activity_words
from recollect.memory.search.aliases import Aliases
from recollect.memory.search.fusion import ScoreParts, combine_memory_scores
from recollect.memory.search.graph import GraphPath, choose_seeds, edges_of, expand
from recollect.memory.search.latency import Deadline
from recollect.memory.search.query_expansion import expand_query

# Milliseconds after the query was embedded by which each channel must have answered, so that one that hangs leaves time for
# the others. Words have most of it: without them there is no answer, and on a busy machine a million memories take long.
DEADLINES_MS = {"words": 140.0, "meaning": 145.0, "graph": 165.0, "memories": 200.0}
STARVED_MS = 800.0  # that may be added to the deadlines on a busy machine; hooks have a deadline of their own
MOST_EXACT = 2000  # memories with the most words whose cosine is exact even where the index only estimates it

_ZERO = np.zeros(1)
Result = TypeVar("Result")


class WordMatches(NamedTuple):
    """What the words of a query match, and the word index as it was then. It only grows, or is rebuilt."""

    scores: Bm25Scores
    meant: Floats | None  # coverage of what the query's everyday words mean; None if it has none
    activity: (
        Floats | None
    )  # BM25 of the words about the kind of work that the query asks for; None if it asks for none
    situations: Bm25Scores | None  # by the situations in which memories are needed; None if none has any
    mask: Mask
    ids: list[str]
    rows: dict[str, int]
    nums: Longs


@frozen
class Relevance:
    """How well every memory in view fits, by words and by meaning. Rows are those of the word index."""

    ids: Sequence[str]  # may have grown since: rows are those of the mask
    rows: Mapping[str, int]  # by id
    mask: Mask
    words: Bm25Scores
    cosines: Floats | None  # NaN for a memory without a vector or out of view; None without a query vector
    parts: ScoreParts
    situations: Bm25Scores | None = None
    situation_cosines: Floats | None = None  # as `cosines`

    def best(self, count: int) -> list[int]:
        """Return the `count` best rows, best first, of those that share a word or are near enough in meaning."""
        fits = self.words.scores > 0
        for name in ("everyday", "activity", "when"):
            fits |= self.parts.parts.get(name, _ZERO) > 0
        for cosines in self._all_cosines:
            fits |= cosines >= ranking.RELATED_COSINE
        rows = np.flatnonzero(fits & self.mask)
        totals = ScoreParts({name: part[rows] for name, part in self.parts.parts.items()}).total
        if len(rows) > count:
            best = np.argpartition(-totals, count - 1)[:count]
            rows, totals = rows[best], totals[best]
        ranked = zip((-totals).tolist(), (self.ids[row] for row in rows.tolist()), rows.tolist(), strict=True)
        return [row for _, _, row in sorted(ranked)]

    @property
    def _all_cosines(self) -> list[Floats]:
        return [cosines for cosines in (self.cosines, self.situation_cosines) if cosines is not None]

    @property
    def is_anything_related(self) -> bool:
        """Whether any memory in view, or what it is needed for, has half of the query's words or is near enough in meaning."""
        is_near = any(bool((cosines >= ranking.RELATED_COSINE).any()) for cosines in self._all_cosines)
        matched = [scores for scores in (self.words, self.situations) if scores is not None]
        return is_near or any(bool((scores.coverage >= ranking.RELATED_COVERAGE).any()) for scores in matched)

    def cosine(self, row: int) -> float:
        """Return the cosine of a memory, or of what it is needed for if that is greater; 0 without a vector."""
        found = [float(cosines[row]) for cosines in self._all_cosines]
        return max(
            (cosine for cosine in found if cosine == cosine), default=0.0
        )  # NaN is not equal to itself

    def similarity(self, row: int) -> float:
        """Return the cosine or the coverage, whichever is greater, 0 to 1."""
        covered = min(1.0, float(self.words.scores[row]) / (self.words.full or 1.0))
        return max(self.cosine(row), covered)

    def row(self, memory_id: str) -> int | None:
        """Return the row of a memory; None if it was written after the words were read."""
        row = self.rows.get(memory_id)
        return row if row is not None and row < len(self.mask) else None

    def channels(self, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return by row which channels found it, at which rank, and why."""
        channels: dict[int, dict[str, Any]] = {row: {} for row in rows}
        terms = self.words.explain(rows)
        for row, rank in _ranks(self.words.scores, [row for row in rows if terms[row]]):
            words = dict.fromkeys(term.word for term in terms[row])
            score = round(float(self.words.scores[row]), 4)
            channels[row]["words"] = {"rank": rank, "score": score, "terms": ", ".join(list(words)[:8])}
        if self.cosines is not None:
            near = [row for row in rows if self.cosines[row] >= ranking.RELATED_COSINE]
            for row, rank in _ranks(self.cosines, near):
                channels[row]["meaning"] = {"rank": rank, "cosine": round(float(self.cosines[row]), 4)}
        if self.situations is not None:
            self._add_situations(channels, rows, self.situations)
        return channels

    def _add_situations(
        self, channels: dict[int, dict[str, Any]], rows: Sequence[int], situations: Bm25Scores
    ) -> None:
        """Add what the situations match in which the memories are needed."""
        terms = situations.explain(rows)
        for row in rows:
            cosine = 0.0 if self.situation_cosines is None else float(self.situation_cosines[row])
            if terms[row] or cosine >= ranking.RELATED_COSINE:
                words = dict.fromkeys(term.word for term in terms[row])
                channels[row]["when"] = {
                    "score": round(float(situations.scores[row]), 4),
                    "cosine": round(cosine, 4) if cosine == cosine else 0.0,
                    "terms": ", ".join(list(words)[:8]),
                }


def _ranks(scores: Floats, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each of `rows` with its rank. A memory out of view scores 0 or NaN and precedes none."""
    if not rows:
        return
    values = scores[list(rows)]
    ahead = scores[scores > values.min()]  # one pass over all, then only these few for every row
    for row, value in zip(rows, values, strict=True):
        yield row, 1 + int(np.count_nonzero(ahead > value))


def waited_for_processor() -> float:
    """Return for how many milliseconds threads of this process were ready to run and did not; 0 where nobody tells."""
    waited = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in os.listdir("/proc/self/task"):  # noqa: PTH208
            with (
                contextlib.suppress(FileNotFoundError, ProcessLookupError),  # it has just ended
                open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as file,  # noqa: PTH123
            ):
                waited += int(file.read().split()[1])
    return waited / 1e6


class CallingThread(Executor):
    """Runs what is submitted at once, on the thread that submits it."""

    def submit(self, work: Callable[..., Result], /, *args: Any, **kwargs: Any) -> "Future[Result]":
        future: Future[Result] = Future()
        future.set_result(work(*args, **kwargs))
        return future


class ChannelRunner:
    """Runs the channels of one search concurrently. A channel that misses its deadline is left out."""

    def __init__(self, pool: Executor, *, has_deadlines: bool = True) -> None:
        self._pool = pool
        self._deadlines = {name: Deadline(ms) for name, ms in DEADLINES_MS.items()} if has_deadlines else None
        self._waited_before = waited_for_processor() if has_deadlines else 0.0
        self._granted = 0.0  # milliseconds that were added to the deadlines
        self.late: list[str] = []

    def _starved(self) -> float:
        """Return the milliseconds that our threads waited for a processor, without those that were added already."""
        waited = min(waited_for_processor() - self._waited_before, STARVED_MS)
        extra, self._granted = waited - self._granted, max(waited, self._granted)
        return extra if extra >= 1.0 else 0.0

    def submit(self, work: Callable[[], Result]) -> "Future[Result]":
        """Start `work` on a thread."""
        return self._pool.submit(work)

    def result(self, name: str, future: "Future[Result]") -> Result | None:
        """Return the result of channel `name`; None past its deadline, and then `late` has its name.

        Time in which our threads waited for a processor does not count, up to `STARVED_MS`: on a busy machine a search
        takes longer, and is no worse.
        """
        if self._deadlines is None:
            return future.result()
        with contextlib.suppress(TimeoutError):
            return future.result(self._deadlines[name].left() / 1000)
        while (extra := self._starved()) > 0:
            with contextlib.suppress(TimeoutError):
                return future.result(extra / 1000)
        future.cancel()
        self.late.append(name)
        return None


def match_words(
    index: WordIndex, view: m.View, query: str, load_aliases: Callable[[], Aliases]
) -> WordMatches:
    """Score all memories by the words of `query`. Needs no vector, so it runs while the model makes one."""
    with index.lock:
        index.refresh()
        mask = index.mask(view)
        bm25 = index.bm25
        words, meant = expand_query(query, bm25.words(query, mask), load_aliases(), bm25.known_terms)
        scores = bm25.score(words, mask)
        meant_coverage = bm25.score(meant, mask).coverage if meant else None
        work = activity_words(query, bm25.known_terms)
        activity = bm25.score(work, mask, measures=ranking.ACTIVITY_MEASURES).scores if work else None
        situations = None
        if bm25.has(ranking.WHEN_FIELD):
            situations = bm25.score(words, mask, measures=ranking.WHEN_MEASURES)
        return WordMatches(
            scores, meant_coverage, activity, situations, mask, index.ids, index.rows, index.nums
        )


def score_all(
    index: MemoryIndex,
    runner: ChannelRunner,
    words: "Future[WordMatches]",
    view: m.View,
    model: str,
    vector: bytes | None,
    weights: ranking.MemoryWeights = ranking.MEMORY_WEIGHTS,
) -> Relevance | None:
    """Score all memories by words and by meaning; None if not even the words were answered in time."""
    models = (model, model + m.WHEN_MODEL)
    scanning = (
        [runner.submit(partial(index.scan, view, name, vector)) for name in models]
        if vector is not None
        else []
    )
    matches = runner.result("words", words)
    scans = [runner.result("meaning", scan) for scan in scanning]
    if matches is None:
        return None
    cosines, situation_cosines = (
        _cosines_by_row(
            scan,
            index.words.align(matches.nums, scan.nums, name),
            matches.scores,
            matches.mask,
        )
        if scan is not None
        else None
        for name, scan in zip_longest(models, scans)
    )
    situations = matches.situations
    parts = combine_memory_scores(
        matches.scores.coverage,
        cosines,
        matches.mask,
        weights,
        matches.meant,
        matches.activity,
        None if situations is None else situations.coverage,
        situation_cosines,
    )
    return Relevance(
        matches.ids,
        matches.rows,
        matches.mask,
        matches.scores,
        cosines,
        parts,
        situations,
        situation_cosines,
    )


def _cosines_by_row(scan: CosineScan, positions: Longs | None, words: Bm25Scores, mask: Mask) -> Floats:
    """Return the cosines by row of the word index; exact also for the memories with the most words."""
    if positions is None:
        cosines = np.where(mask, scan.cosines, np.float32(np.nan))
    else:
        cosines = np.where(mask & (positions >= 0), scan.cosines[positions], np.float32(np.nan))
    if scan.exact is not None:
        rows = np.flatnonzero((words.scores > 0) & ~np.isnan(cosines))
        if len(rows) > MOST_EXACT:
            rows = rows[np.argpartition(-words.scores[rows], MOST_EXACT - 1)[:MOST_EXACT]]
        cosines[rows] = scan.exact_cosines(rows if positions is None else positions[rows])
    return cosines


def expand_graph(
    store: Store, runner: ChannelRunner, view: m.View, relevance: Relevance, rows: Sequence[int]
) -> dict[str, GraphPath]:
    """Return memories that are linked with the best hits, each with its best path."""
    seeds = choose_seeds((relevance.ids[row], relevance.similarity(row)) for row in rows)
    if not seeds:
        return {}
    future = runner.submit(lambda: expand(seeds, edges_of(store, view)))
    return runner.result("graph", future) or {}
