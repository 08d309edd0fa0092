"""Queries over past work. Single rows are looked up in the store; aggregates are computed in DuckDB."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import EpisodeStore
from recollect.errors import EmbedderUnavailable
from recollect.model import FileTotal, FileTouch, Owner, Pattern, Task, TaskStatus
from recollect.text.words import query_terms
from recollect.work.episodes.tables import EpisodeTables
from recollect.work.episodes.tasks import words_of

WITHIN = timedelta(minutes=5)  # between two edits of a pair, in either order; CO_EDITS says the same
_SIMILAR = 0.35  # lowest score of a similar task
_CANDIDATES = 50

CO_EDITS = """
    WITH edits AS (
        SELECT task_id, file_path, timestamp FROM file_interactions
        WHERE operation IN ('edit', 'write') AND success AND task_id IS NOT NULL
    )
    SELECT a.file_path, b.file_path, count(*) AS times, min(a.timestamp), max(b.timestamp)
    FROM edits a JOIN edits b ON a.task_id = b.task_id AND a.file_path < b.file_path
        AND b.timestamp BETWEEN a.timestamp - INTERVAL 5 MINUTE AND a.timestamp + INTERVAL 5 MINUTE
    GROUP BY 1, 2 HAVING count(*) >= 3 ORDER BY times DESC, 1, 2
"""
_TOOLS = """
    SELECT tool_name, count(*), count(*) FILTER (WHERE success), count(duration_ms), coalesce(sum(duration_ms), 0)
    FROM tool_executions WHERE timestamp >= ? GROUP BY 1
"""
_DAYS = """
    SELECT strftime(timestamp, '%Y-%m-%d'), count(*) FILTER (WHERE success), count(*) FILTER (WHERE NOT success)
    FROM tool_executions WHERE timestamp >= ? GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class ToolDay:
    """How often tools succeeded and failed on one day."""

    day: str
    successes: int
    failures: int

    @property
    def rate(self) -> float:
        return self.successes / (self.successes + self.failures)


@dataclass(frozen=True, slots=True)
class FileHistory:
    path: str
    total: FileTotal
    touches: tuple[FileTouch, ...]  # newest first


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: str
    total: int
    successes: int
    average_ms: float | None  # None = not known

    @property
    def rate(self) -> float:
        return self.successes / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class CoEdit:
    files: tuple[str, str]
    count: int
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class PastTask:
    task: Task
    score: float


@dataclass(frozen=True, slots=True)
class LastWork:
    """The last work on a topic, newest first."""

    tasks: tuple[Task, ...]
    touches: tuple[FileTouch, ...]


def file_history(store: EpisodeStore, owner: Owner, path: str, limit: int) -> FileHistory:
    """Return the history of a file, named by its path in the project or by an ending that only one file has."""
    touches = store.touches(owner, path=path, limit=limit)
    if not touches:
        matching = store.paths_ending(owner, path)
        if len(matching) == 1:
            path, touches = matching[0], store.touches(owner, path=matching[0], limit=limit)
    return FileHistory(path, store.total(owner, path), tuple(touches))


def tool_use(
    store: EpisodeStore, columns: EpisodeTables, owner: Owner, since: datetime
) -> tuple[ToolUse, ...]:
    """Return the use of each tool since then, most used first. Days that were summed up count as whole days."""
    totals: dict[str, Counter[str]] = {}
    live = columns.ask(_TOOLS, [since.astimezone(UTC).replace(tzinfo=None)])
    for tool, total, successes, timed, duration in [*live, *store.tool_days(owner, since)]:
        totals.setdefault(tool, Counter()).update(
            total=total, successes=successes, timed=timed, duration=duration
        )
    uses = [
        ToolUse(
            tool,
            count["total"],
            count["successes"],
            count["duration"] / count["timed"] if count["timed"] else None,
        )
        for tool, count in totals.items()
    ]
    return tuple(sorted(uses, key=lambda use: (-use.total, use.tool)))


def tool_days(columns: EpisodeTables, since: datetime) -> tuple[ToolDay, ...]:
    """Return each day since then on which a tool was used, oldest first. Days that were summed up are not among them."""
    rows = columns.ask(_DAYS, [since.astimezone(UTC).replace(tzinfo=None)])
    return tuple(ToolDay(*row) for row in rows)


def co_edits(columns: EpisodeTables, path: str | None, limit: int) -> tuple[CoEdit, ...]:
    """Return pairs of files that were edited together in a task, most frequent first."""
    query = f"SELECT * FROM ({CO_EDITS}) AS t (one, other, times, first, last)"
    params: list[str] = []
    if path is not None:
        query, params = f"{query} WHERE one = ? OR other = ?", [path, path]
    return tuple(
        CoEdit((one, other), times, _aware(first), _aware(last))
        for one, other, times, first, last in columns.ask(f"{query} ORDER BY times DESC", params, limit)
    )


def _aware(when: datetime) -> datetime:
    return m.from_text(when.isoformat())


def as_pattern(pair: CoEdit) -> Pattern:
    data = {
        "files": list(pair.files),
        "operations": ["edit", "edit"],
        "within_seconds": int(WITHIN.total_seconds()),
    }
    confidence = round(pair.count / (pair.count + 2), 3)
    return Pattern(
        "co-edit", "\n".join(pair.files), data, confidence, pair.count, pair.first_seen, pair.last_seen
    )


def similar_tasks(
    store: EpisodeStore, embedder: Embedder, owner: Owner, text: str, limit: int
) -> tuple[PastTask, ...]:
    """Return past tasks similar to `text`, best first: by shared words, rare words weighing more, and by meaning."""
    scores = _by_words(store, owner, words_of(text).split())
    for number, score in _by_meaning(store, embedder, owner, text).items():
        scores[number] = max(scores.get(number, 0.0), score) + 0.2 * min(scores.get(number, 0.0), score)
    best = sorted(scores, key=lambda number: (-scores[number], -number))[:limit]
    tasks = {task.number: task for task in store.tasks_numbered(owner, best)}
    return tuple(
        PastTask(tasks[number], round(min(scores[number], 1.0), 3))
        for number in best
        if number in tasks and scores[number] >= _SIMILAR
    )


def _by_words(store: EpisodeStore, owner: Owner, asked: Sequence[str]) -> dict[int, float]:
    """Return the weighted share of the query's words that each task has."""
    wanted = frozenset(asked)
    total, tasks = store.tasks_with(owner, asked)
    shared = [(number, wanted.intersection(words.split())) for number, words in tasks]
    common = Counter(word for _, words in shared for word in words)
    weight = {word: math.log(1 + total / (1 + common[word])) for word in wanted}
    whole = sum(weight.values()) or 1.0
    scores = {number: sum(weight[word] for word in words) / whole for number, words in shared}
    return dict(sorted(scores.items(), key=lambda item: -item[1])[:_CANDIDATES])


def _by_meaning(store: EpisodeStore, embedder: Embedder, owner: Owner, text: str) -> dict[int, float]:
    numbers, vectors = store.task_vectors(owner, embedder.model)
    if not numbers:
        return {}
    try:
        asked = embedder.embed([text])[0]
    except EmbedderUnavailable:
        return {}
    import numpy as np  # the embedder has loaded it; a query by words does not need it

    scores = np.frombuffer(vectors, "<f4").reshape(len(numbers), -1) @ asked
    return {numbers[place]: float(scores[place]) for place in np.argsort(-scores)[:_CANDIDATES]}


def last_work(store: EpisodeStore, owner: Owner, topic: str, limit: int) -> LastWork:
    """Return the last tasks that have all words of `topic`, and the last files with one of them in their path."""
    asked = words_of(topic).split()
    numbers = [
        number for number, words in store.tasks_with(owner, asked)[1] if set(asked) <= set(words.split())
    ]
    tasks = sorted(
        store.tasks_numbered(owner, numbers[-limit:]), key=lambda task: task.started_at, reverse=True
    )
    names = query_terms(topic) or [topic]
    touches = {
        touch.id: touch for name in names[:4] for touch in store.touches(owner, like=name, limit=limit)
    }
    newest = sorted(touches.values(), key=lambda touch: (touch.at, touch.id), reverse=True)
    return LastWork(tuple(tasks), tuple(newest[:limit]))


def open_tasks(store: EpisodeStore, owner: Owner, limit: int) -> tuple[Task, ...]:
    """Return active tasks, then paused ones, each newest first."""
    return (
        *store.tasks(owner, [TaskStatus.ACTIVE], limit),
        *store.tasks(owner, [TaskStatus.PAUSED], limit),
    )[:limit]
