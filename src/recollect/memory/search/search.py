"""Search: collect candidates, expand them over the graph, score, explain. And the same over messages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from math import ceil, isnan
from time import perf_counter
from typing import Any

import numpy as np

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import EmbedderUnavailable, Refused
from recollect.frozen import frozen
from recollect.memory import ranking
from recollect.memory.anchors.stale import stale_in
from recollect.memory.index.index import MemoryIndex
from recollect.memory.index.instructions import is_request
from recollect.memory.index.messages import MessageArrays, MessageIndex
from recollect.memory.search import topic
from recollect.memory.search.aliases import Aliases
from recollect.memory.search.channels import (
    DEADLINES_MS,
    CallingThread,
    ChannelRunner,
    Relevance,
    expand_graph,
    match_words,
    score_all,
)
from recollect.memory.search.dates import date_words
from recollect.memory.search.fusion import ScoreParts, combine_message_scores
from recollect.memory.search.graph import GraphPath
from recollect.memory.search.latency import LatencyWindow
from recollect.memory.search.recipes import HitEvidence, Recipe, recipe_named

# Milliseconds for a search; embedding the query and the first reading of a store come on top.
DEADLINE_MS = max(DEADLINES_MS.values())
LONGEST_QUERY = 20_000  # characters; the rest of a pasted file adds nothing new
ALIVE_STATES = frozenset(m.State) - {m.State.DELETED}


@frozen
class SearchQuery:
    """What to search for, and in what."""

    text: str
    view: m.View
    limit: int = 10
    recipe: str = "default"
    tag: str | None = None
    file: str | None = None
    files: tuple[str, ...] = ()  # open or named in the task: memories about them count more
    as_of: datetime | None = None  # None = now
    seasons: frozenset[str] = frozenset()  # those that are on
    aliases: Callable[[], Aliases] = dict  # read while the model makes the query's vector
    graph: bool = True
    meaning: bool = True  # False = by words only; no model is loaded
    task: bool = False  # the text is what an agent was asked to do: rules for that kind of work count more
    which: m.MemoryFilter | None = None  # None = no further filter
    timed: bool = True  # counts for the latencies that decide how far recall may go

    @property
    def is_filtered(self) -> bool:
        """Whether candidates will be left out again, so that more of them must be read."""
        return bool(self.tag or self.file or self.as_of or self.which)


class Searcher:
    """Answers queries. Keeps threads and the latencies of past searches between them."""

    def __init__(self, context: Context, index: MemoryIndex, window: LatencyWindow) -> None:
        self._store = context.store
        self._index = index
        self._embedder = context.embedder
        self._clock = context.clock
        self._has_deadlines = context.has_deadlines
        self._has_read_vectors = False
        self.window = window

    @cached_property
    def _messages(self) -> MessageIndex:
        return MessageIndex(self._store, self._embedder.model)

    @cached_property
    def _pool(self) -> Executor:
        if not self._has_deadlines:
            return CallingThread()
        # More than one query needs: a channel that hangs keeps its thread until the store answers.
        return ThreadPoolExecutor(8, thread_name_prefix="recollect-recall")

    def close(self) -> None:
        """Stop the threads without waiting for them."""
        if "_pool" in self.__dict__:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def search(self, query: SearchQuery) -> m.Answer:
        """Return the best hits first. Past the deadline, return the best so far, marked as partial.

        Raise `Refused` for an empty query and `UnknownName` for an unknown recipe.
        """
        begin = perf_counter()
        text = _checked(query.text)
        recipe = recipe_named(query.recipe)
        view = query.view
        if query.as_of is not None:
            view = replace(view, states=ALIVE_STATES)
        words = self._pool.submit(match_words, self._index.words, view, text, query.aliases)
        vector, notes = self._embed(text) if query.meaning else (None, ())
        self._read_vectors(view, vector)
        started = perf_counter()
        runner = ChannelRunner(self._pool, has_deadlines=self._has_deadlines)
        weights = ranking.TASK_WEIGHTS if query.task else ranking.MEMORY_WEIGHTS
        relevance = score_all(self._index, runner, words, view, self._embedder.model, vector, weights)
        hits: Sequence[m.Hit] = ()
        if relevance is not None:
            specific = topic.specificity(self._embedder.model, vector)
            hits = self._hits(query, recipe, text, view, relevance, runner, specific)
        if query.timed:
            self.window.add((perf_counter() - started) * 1000)
        if runner.late:
            late = ", ".join(runner.late)
            notes = (
                *notes,
                f"The search was cut off after {DEADLINE_MS:.0f} ms; not complete: {late}.",
            )
        return m.Answer(tuple(hits), bool(notes), round((perf_counter() - begin) * 1000, 2), notes)

    def _hits(
        self,
        query: SearchQuery,
        recipe: Recipe,
        text: str,
        view: m.View,
        relevance: Relevance,
        runner: ChannelRunner,
        specific: float | None,
    ) -> list[m.Hit]:
        """Read the best candidates, score them in full and explain those that are shown."""
        ranked = max(ranking.SHOWN, ceil(query.limit / (1 - ranking.WEAK_TAIL)))
        fetched = min(ranking.CANDIDATES, max(ranking.FETCHED, 2 * ranked))
        rows = relevance.best(ranking.CANDIDATES if query.is_filtered else fetched)
        paths = expand_graph(self._store, runner, view, relevance, rows) if query.graph else {}
        ids = list(dict.fromkeys((*(relevance.ids[row] for row in rows), *paths)))
        reading = runner.submit(lambda: self._store.get_many(ids))
        memories = runner.result("memories", reading) or {}
        if len(memories) < len(ids) and len(rows) == fetched:  # some are not for this reader: look further
            more = [relevance.ids[row] for row in relevance.best(ranking.CANDIDATES)[fetched:]]
            reading = runner.submit(lambda: self._store.get_many(more))
            further = runner.result("memories", reading)
            memories.update(further or {})
        best_first = self._score(query, recipe, relevance, memories, paths)
        if _is_off_topic(query, relevance, best_first, specific, lambda: self._stored_specificity(view)):
            return []
        scored = _without_tail(best_first[:ranked], query.limit)
        channels = relevance.channels([hit.row for hit in scored if hit.row is not None])
        return [_hit(hit, recipe, channels, paths.get(hit.memory.id), text) for hit in scored]

    def _stored_specificity(self, view: m.View) -> float | None:
        """Return how much the memories in view are about a project, on average."""
        mean = self._index.mean(view, self._embedder.model)
        vector = None if mean is None else mean.astype("<f4").tobytes()
        return topic.specificity(self._embedder.model, vector)

    def _read_vectors(self, view: m.View, vector: bytes | None) -> None:
        """Read all vectors before the deadline starts: at 100,000 that takes seconds, and a command searches only once."""
        if vector is not None and not self._has_read_vectors:
            self._index.scan(view, self._embedder.model, vector)
            self._index.scan(view, self._embedder.model + m.WHEN_MODEL, vector)
            self._has_read_vectors = True

    def _embed(self, text: str) -> tuple[bytes | None, tuple[str, ...]]:
        try:
            query = self._embedder.query_prefix + text
            return self._embedder.embed([query])[0].astype("<f4").tobytes(), ()
        except EmbedderUnavailable as error:
            note = f"By words only: {error.message} {error.hint}".strip()
            return None, () if error.by_choice else (note,)

    def _score(
        self,
        query: SearchQuery,
        recipe: Recipe,
        relevance: Relevance,
        memories: Mapping[str, m.Memory],
        paths: Mapping[str, GraphPath],
    ) -> list["_ScoredMemory"]:
        """Return the memories that pass the filters, scored in full, best first."""
        now = query.as_of or self._clock()
        stale = stale_in(self._store, query.view.project_id) if query.as_of is None else {}
        scored = []
        for name, memory in memories.items():
            if _passes(memory, query):
                row = relevance.row(name)
                evidence = _evidence(query, relevance, row, memory, paths.get(name), now)
                score, factors = recipe.score(evidence)
                if name in stale:
                    share = ranking.STALE_SHARE
                    factors = {**factors, "stale": share if recipe.multiplies else (share - 1) * abs(score)}
                    score = score * share if recipe.multiplies else score + factors["stale"]
                scored.append(_ScoredMemory(memory, row, round(score, 6), factors))
        return sorted(scored, key=lambda hit: (-hit.score, hit.memory.id))

    # messages

    def search_messages(self, query: str, view: m.View, limit: int) -> tuple[m.MessageHit, ...]:
        """Return the messages about `query`, best first."""
        parts, _, arrays = self._score_messages(query, view)
        totals = np.where(arrays.mask, parts.total, -np.inf)
        order = np.argsort(-totals, kind="stable")[:limit]
        return tuple(
            _message_hit(arrays, parts, totals, row) for row in order.tolist() if np.isfinite(totals[row])
        )

    def search_sessions(
        self, query: str, view: m.View, limit: int, best: int = 3
    ) -> tuple[m.SessionHit, ...]:
        """Return the sessions about `query`, best first, each with its `best` messages."""
        parts, by_session, arrays = self._score_messages(query, view)
        totals = np.where(arrays.mask, parts.total, -np.inf)
        session_of = arrays.features.sessions.of
        visible = np.unique(session_of[arrays.mask])
        scores = by_session.total
        ranked = sorted(visible.tolist(), key=lambda number: (-scores[number], arrays.session_ids[number]))[
            :limit
        ]
        hits = []
        for number in ranked:
            rows = np.flatnonzero((session_of == number) & arrays.mask)
            rows = rows[np.argsort(-totals[rows], kind="stable")][:best]
            messages = tuple(_message_hit(arrays, parts, totals, row) for row in rows.tolist())
            why = _rounded(by_session.explain(number))
            score = round(float(scores[number]), 4)
            hits.append(m.SessionHit(arrays.session_ids[number], score, why, messages))
        return tuple(hits)

    def _score_messages(self, query: str, view: m.View) -> tuple[ScoreParts, ScoreParts, MessageArrays]:
        """Return the scores by message and by session, and the messages they belong to."""
        text = _checked(query)
        vector, _ = self._embed(text)
        index = self._messages
        with index.lock:
            index.refresh()
            arrays = index.arrays(view, vector)
            mask, features = arrays.mask, arrays.features
            today = self._clock().astimezone(UTC).date()
            words = [*index.bm25.words(text, mask), *date_words(text, today, index.bm25.known_terms)]
            scores = index.bm25.score(words, mask)
            sessions = index.bm25.score(words, mask, features.sessions.of, ranking.SESSION_MEASURES)
        by_message, by_session = combine_message_scores(
            scores.coverage,
            arrays.cosines,
            sessions.scores,
            features,
            mask,
            instructions=is_request(text),
        )
        return by_message, by_session, arrays


def _checked(query: str) -> str:
    text = query[:LONGEST_QUERY].replace("\x00", " ").strip()
    if not text:
        raise Refused("The query is empty.", "Run `recollect list` to list all memories.")
    return text


def _passes(memory: m.Memory, query: SearchQuery) -> bool:
    """Whether `memory` passes the filters of the query."""
    if query.which is not None and not query.which.passes(memory):
        return False
    if query.tag is not None and query.tag not in memory.tags:
        return False
    if query.file is not None and not _is_about(memory, [query.file]):
        return False
    if query.as_of is None:
        return True
    return memory.valid_from <= query.as_of and (memory.valid_to is None or query.as_of < memory.valid_to)


def _is_about(memory: m.Memory, files: Iterable[str]) -> bool:
    return any(
        path == file or path.endswith(f"/{file}") or file.endswith(f"/{path}")
        for path in memory.file_paths
        for file in files
    )


@frozen
class _ScoredMemory:
    memory: m.Memory
    row: int | None  # None for a memory found over the graph that was written after the words were read
    score: float
    factors: Mapping[str, float]


def _evidence(
    query: SearchQuery,
    relevance: Relevance,
    row: int | None,
    memory: m.Memory,
    path: GraphPath | None,
    now: datetime,
) -> HitEvidence:
    cosine = 0.0 if row is None or relevance.cosines is None else float(relevance.cosines[row])
    return HitEvidence(
        memory,
        now,
        words=float(relevance.words.scores[row]) if row is not None else 0.0,
        cosine=0.0 if isnan(cosine) else cosine,
        parts=relevance.parts.explain(row) if row is not None else {},
        graph=_graph_gain(path, relevance, row),
        shares_file=_is_about(memory, query.files),
        in_season=memory.season is not None and memory.season in query.seasons,
    )


def _graph_gain(path: GraphPath | None, relevance: Relevance, row: int | None) -> float:
    """Return what the graph adds beyond words and meaning: a good hit gains nothing from its neighbours."""
    if path is None:
        return 0.0
    return path.score if row is None else max(0.0, path.score - relevance.similarity(row))


def _hit(
    scored: _ScoredMemory,
    recipe: Recipe,
    channels_by_row: Mapping[int, dict[str, Any]],
    path: GraphPath | None,
    query: str,
) -> m.Hit:
    """Make a hit with everything its score consists of."""
    channels = channels_by_row[scored.row] if scored.row is not None else {}
    if path is not None:
        channels["graph"] = {"score": round(path.score, 4), "path": path.text(query[:60])}
    why = {
        "recipe": recipe.name,
        "combined": "product" if recipe.multiplies else "sum",
        "parts": _rounded(scored.factors),
        "channels": channels,
    }
    return m.Hit(scored.memory, scored.score, why)


def _message_hit(arrays: MessageArrays, parts: ScoreParts, totals: Any, row: int) -> m.MessageHit:
    return m.MessageHit(arrays.messages[row], round(float(totals[row]), 4), _rounded(parts.explain(row)))


def _rounded(factors: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in factors.items()}


def _is_off_topic(
    query: SearchQuery,
    relevance: Relevance,
    hits: "Sequence[_ScoredMemory]",
    specific: float | None,
    stored: Callable[[], float | None],
) -> bool:
    """Return whether nothing found answers the query: then even the best hit is there by chance.

    Only a score with a cosine in it tells, and a small store cannot. Rules for a task are about something else than the task, and who
    filters by tag, file or time wants what there is. `specific` is None for a model without a direction (`topic.py`), and `stored`
    returns the same of the memories in view.
    """
    if not hits or relevance.cosines is None or query.is_filtered or query.recipe != "default":
        return False
    best = hits[0]
    if not query.task and np.count_nonzero(relevance.mask) >= ranking.FEW_HITS:
        is_named = topic.names_project(query.text)
        if specific is not None:
            sounds = max(specific, ranking.NAMED_SPECIFICITY) if is_named else specific
            probability = topic.answer_probability(sounds, best.score, topic.matched_words(relevance))
            if probability >= ranking.ANSWER_FLOOR:
                return False
            is_near = best.row is not None and relevance.cosine(best.row) >= ranking.SAME_MATTER_COSINE
            is_general = topic.may_be_general(query.text, specific, best.score) and not is_near
            if is_general and (stored() or 0.0) >= ranking.PROJECT_SPECIFICITY:
                return True
        if not is_named and best.score < ranking.UNRELATED_SCORE and not relevance.is_anything_related:
            return True
    by_chance = not best.factors.get("everyday") and not best.factors.get("activity")
    return by_chance and best.score < ranking.ANSWERS_SCORE


def _without_tail(hits: "Sequence[_ScoredMemory]", limit: int) -> "Sequence[_ScoredMemory]":
    """Return the best hits; where there are more than `limit`, the weakest 30 % are dropped first."""
    left = len(hits) - int(len(hits) * ranking.WEAK_TAIL) if len(hits) > limit else len(hits)
    return hits[: min(left, limit)]
