"""Recall by question: gather, walk the graph, rank, explain. And the same over messages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from math import ceil, isnan
from time import perf_counter
from typing import Any, Protocol, TypeVar

import numpy as np

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import EmbedderUnavailable, Refused
from recollect.memory.search.aliases import Aliases
from recollect.memory.search.cascade import Path
from recollect.memory.search.corpus import MemoryCorpus, MessageCorpus
from recollect.memory.search.fuse import Blend, blend_messages
from recollect.memory.search.gather import ANSWERS_BY, Channels, Relevance, hear, walk, weigh
from recollect.memory.search.lexicon import SESSION
from recollect.memory.search.recipes import Evidence, Recipe, recipe_named
from recollect.memory.search.slo import LatencyWindow
from recollect.store.stale import stale_in

ENGINE_MS = max(ANSWERS_BY.values())  # the model's time and the first reading of a store come on top
LONGEST_QUERY = 20_000  # characters; the rest of a pasted file tells nothing new
FETCHED = 40  # of the candidates, the best are read whole and scored in full
STALE = 0.6  # what is left of the score of a memory whose code has changed
WEAK_TAIL = 0.3  # of the best are dropped again
HISTORY = m.ALL_STATES - {m.State.DELETED}

Ranked = TypeVar("Ranked")


class Reranker(Protocol):
    """A hook for those who have something better than the recipe: hits in, hits out."""

    def __call__(self, query: str, hits: Sequence[m.Hit]) -> Sequence[m.Hit]: ...


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    view: m.View
    limit: int = 10
    recipe: str = "default"
    tag: str | None = None
    file: str | None = None
    files: tuple[str, ...] = ()  # open or named in the task: memories about them count more
    as_of: datetime | None = None  # None = now
    seasons: frozenset[str] = frozenset()  # those that are on
    aliases: Callable[[], Aliases] = dict  # read while the model is at work
    graph: bool = True

    @property
    def narrows(self) -> bool:
        """Whether some of what is read will be left out again, so that more must be."""
        return self.tag is not None or self.file is not None or self.as_of is not None


class Searcher:
    """Keeps what is slow to make between questions: the words of the corpus, threads, the window of latencies."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: m.Clock,
        window: LatencyWindow,
        rerank: Reranker | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._rerank = rerank
        self._vectors_read = False
        self.window = window

    @cached_property
    def _corpus(self) -> MemoryCorpus:
        corpus = MemoryCorpus(self._store)
        with corpus.lock:
            corpus.refresh()
        return corpus

    @cached_property
    def _messages(self) -> MessageCorpus:
        return MessageCorpus(self._store, self._embedder.model)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        # More than one question needs: one that hangs keeps its thread until the store answers.
        return ThreadPoolExecutor(8, thread_name_prefix="recollect-recall")

    def close(self) -> None:
        if "_pool" in self.__dict__:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def search(self, question: Question) -> m.Answer:
        """Best first. Past the deadline the best so far, marked partial. Raises `Refused` for an empty query."""
        begin = perf_counter()
        text = _checked(question.text)
        recipe = recipe_named(question.recipe)
        view = question.view
        if question.as_of is not None:
            view = replace(view, states=HISTORY)
        corpus, pool = self._corpus, self._pool
        words = pool.submit(hear, corpus, view, text, question.aliases)
        vector, notes = self._embed(text)
        self._read_vectors(view, vector)
        started = perf_counter()
        channels = Channels(pool)
        limits = self.window.limits()
        relevance = weigh(self._store, corpus, channels, words, view, self._embedder.model, vector)
        hits: Sequence[m.Hit] = ()
        if relevance is not None:
            top = max(limits.top_k, ceil(question.limit / (1 - WEAK_TAIL)))
            rows = relevance.best(
                limits.scan if question.narrows else min(limits.scan, max(FETCHED, 2 * top))
            )
            paths = walk(self._store, channels, view, relevance, rows) if question.graph else {}
            names = dict.fromkeys((*(relevance.ids[row] for row in rows), *paths))
            reading = channels.ask(lambda: self._store.get_many(list(names)))
            memories = channels.answer("memories", reading) or {}
            scored: Sequence[_Scored] = self._score(question, recipe, relevance, memories, paths)[:top]
            if self._rerank is None:
                scored = _without_tail(scored, question.limit)  # first, as reasons take time
            found = relevance.channels([each.row for each in scored if each.row is not None])
            hits = [_hit(each, recipe, found, paths.get(each.memory.id), text) for each in scored]
            if self._rerank is not None:
                hits = _without_tail(self._rerank(text, hits), question.limit)
        took = perf_counter() - started
        self.window.add(took * 1000)
        if channels.late:
            notes = (
                *notes,
                f"Not everything was looked at in {ENGINE_MS:.0f} ms: {', '.join(channels.late)}.",
            )
        return m.Answer(tuple(hits), bool(notes), round((perf_counter() - begin) * 1000, 2), notes)

    def _read_vectors(self, view: m.View, vector: bytes | None) -> None:
        """The first reading takes seconds at 100,000: within the deadline, a command that asks once would never hear of it."""
        if vector is not None and not self._vectors_read:
            self._store.scan(view, self._embedder.model, vector)
            self._vectors_read = True

    def _embed(self, text: str) -> tuple[bytes | None, tuple[str, ...]]:
        try:
            return self._embedder.embed([text])[0].astype("<f4").tobytes(), ()
        except EmbedderUnavailable as error:
            note = f"By words only: {error.message} {error.hint}".strip()
            return None, () if error.by_choice else (note,)

    def _score(
        self,
        question: Question,
        recipe: Recipe,
        relevance: Relevance,
        memories: Mapping[str, m.Memory],
        paths: Mapping[str, Path],
    ) -> list["_Scored"]:
        """Those that fit, scored in full, best first."""
        now = question.as_of or self._clock()
        stale = stale_in(self._store, question.view.project_id) if question.as_of is None else {}
        scored = []
        for name, memory in memories.items():
            if _fits(memory, question):
                row = relevance.row(name)
                evidence = _evidence(question, relevance, row, memory, paths.get(name), now)
                score, factors = recipe.score(evidence)
                if name in stale:
                    factors = {**factors, "stale": STALE if recipe.multiplies else (STALE - 1) * abs(score)}
                    score = score * STALE if recipe.multiplies else score + factors["stale"]
                scored.append(_Scored(memory, row, round(score, 6), factors))
        return sorted(scored, key=lambda each: (-each.score, each.memory.id))

    # messages

    def search_messages(self, query: str, view: m.View, limit: int) -> tuple[m.MessageHit, ...]:
        """What was said about it, best first."""
        blend, _, said = self._weigh_messages(query, view)
        totals = np.where(said.mask, blend.total, -np.inf)
        order = np.argsort(-totals, kind="stable")[:limit]
        return tuple(
            m.MessageHit(said.messages[row], round(float(totals[row]), 4), _parts(blend.explain(row)))
            for row in order.tolist()
            if np.isfinite(totals[row])
        )

    def search_sessions(
        self, query: str, view: m.View, limit: int, best: int = 3
    ) -> tuple[m.SessionHit, ...]:
        """The sessions it was talked about in, best first, each with its best messages."""
        blend, by_session, said = self._weigh_messages(query, view)
        totals = np.where(said.mask, blend.total, -np.inf)
        of = said.talk.sessions.of
        inside = np.unique(of[said.mask])
        scores = by_session.total
        ranked = sorted(inside.tolist(), key=lambda number: (-scores[number], said.sessions[number]))[:limit]
        hits = []
        for number in ranked:
            rows = np.flatnonzero((of == number) & said.mask)
            rows = rows[np.argsort(-totals[rows], kind="stable")][:best]
            messages = tuple(
                m.MessageHit(said.messages[row], round(float(totals[row]), 4), _parts(blend.explain(row)))
                for row in rows.tolist()
            )
            why = _parts(by_session.explain(number))
            hits.append(m.SessionHit(said.sessions[number], round(float(scores[number]), 4), why, messages))
        return tuple(hits)

    def _weigh_messages(self, query: str, view: m.View) -> "tuple[Blend, Blend, Any]":
        text = _checked(query)
        vector, _ = self._embed(text)
        corpus = self._messages
        with corpus.lock:
            corpus.refresh()
            said = corpus.said(view, vector)
            words = corpus.lexicon.words(text, said.mask)
            match = corpus.lexicon.match(words, said.mask)
            sessions = corpus.lexicon.match(words, said.mask, said.talk.sessions.of, SESSION)
        blend, by_session = blend_messages(
            match.coverage, said.cosines, sessions.scores, said.talk, said.mask
        )
        return blend, by_session, said


def _checked(query: str) -> str:
    text = query[:LONGEST_QUERY].replace("\x00", " ").strip()
    if not text:
        raise Refused(
            "There is nothing to search for: the query is empty.", "`recollect list` shows everything."
        )
    return text


def _fits(memory: m.Memory, question: Question) -> bool:
    if question.tag is not None and question.tag not in memory.tags:
        return False
    if question.file is not None and not _is_about(memory, [question.file]):
        return False
    if question.as_of is None:
        return True
    return memory.valid_from <= question.as_of and (
        memory.valid_to is None or question.as_of < memory.valid_to
    )


def _is_about(memory: m.Memory, files: Iterable[str]) -> bool:
    return any(
        path == file or path.endswith(f"/{file}") or file.endswith(f"/{path}")
        for path in memory.file_paths
        for file in files
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    memory: m.Memory
    row: int | None  # None for one that only the graph led to, and that came after the words were read
    score: float
    factors: Mapping[str, float]


def _evidence(
    question: Question,
    relevance: Relevance,
    row: int | None,
    memory: m.Memory,
    path: Path | None,
    now: datetime,
) -> Evidence:
    cosine = 0.0 if row is None or relevance.cosines is None else float(relevance.cosines[row])
    return Evidence(
        memory,
        now,
        words=float(relevance.match.scores[row]) if row is not None else 0.0,
        cosine=0.0 if isnan(cosine) else cosine,
        parts=relevance.blend.explain(row) if row is not None else {},
        graph=_beyond(path, relevance, row),
        shares_file=_is_about(memory, question.files),
        in_season=memory.season is not None and memory.season in question.seasons,
    )


def _beyond(path: Path | None, relevance: Relevance, row: int | None) -> float:
    """What the graph says beyond the words and the meaning: a hit needs no neighbour to vouch for it."""
    if path is None:
        return 0.0
    return path.score if row is None else max(0.0, path.score - relevance.similarity(row))


def _hit(
    scored: _Scored, recipe: Recipe, found: Mapping[int, dict[str, Any]], path: Path | None, query: str
) -> m.Hit:
    """With everything its score is made of."""
    channels = found[scored.row] if scored.row is not None else {}
    if path is not None:
        channels["graph"] = {"score": round(path.score, 4), "path": path.text(query[:60])}
    why = {
        "recipe": recipe.name,
        "combined": "product" if recipe.multiplies else "sum",
        "parts": _parts(scored.factors),
        "channels": channels,
    }
    return m.Hit(scored.memory, scored.score, why)


def _parts(factors: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in factors.items()}


def _without_tail(hits: Sequence[Ranked], limit: int) -> Sequence[Ranked]:
    """The best, without the weakest 30 % where there are more than were asked for."""
    kept = len(hits) - int(len(hits) * WEAK_TAIL) if len(hits) > limit else len(hits)
    return hits[: min(kept, limit)]
