"""Queries over past work. The store looks rows up and counts them."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from recollect.context.embedder import Embedder
from recollect.context.store import EpisodeStore
from recollect.errors import EmbedderUnavailable
from recollect.frozen import frozen
from recollect.model import CoEdit, FileTotal, FileTouch, Owner, Pattern, Task, TaskStatus
from recollect.text.words import query_terms
from recollect.work.episodes.tasks import words_of

WITHIN = timedelta(minutes=5)  # between two edits of a pair, in either order
_PAIRS = 3  # times that two files were edited together, at least
_SIMILAR = 0.35  # lowest score of a similar task
_CANDIDATES = 50


@frozen
class ToolDay:
    """How often tools succeeded and failed on one day."""

    day: str
    successes: int
    failures: int

    @property
    def rate(self) -> float:
        return self.successes / (self.successes + self.failures)


@frozen
class FileHistory:
    path: str
    total: FileTotal
    touches: tuple[FileTouch, ...]  # newest first


@frozen
class ToolUse:
    tool: str
    total: int
    successes: int
    average_ms: float | None  # None = not known

    @property
    def rate(self) -> float:
        return self.successes / self.total if self.total else 0.0


@frozen
class PastTask:
    task: Task
    score: float


@frozen
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


def tool_use(store: EpisodeStore, owner: Owner, since: datetime) -> tuple[ToolUse, ...]:
    """Return the use of each tool since then, most used first. Days that were summed up count as whole days."""
    uses = [
        ToolUse(tool, total, successes, duration / timed if timed else None)
        for tool, total, successes, timed, duration in store.tool_use(owner, since)
    ]
    return tuple(sorted(uses, key=lambda use: (-use.total, use.tool)))


def tool_days(store: EpisodeStore, owner: Owner, since: datetime) -> tuple[ToolDay, ...]:
    """Return each day since then on which a tool was used, oldest first. Days that were summed up are not among them."""
    return tuple(ToolDay(*row) for row in store.tool_days(owner, since))


def co_edits(store: EpisodeStore, owner: Owner, path: str | None, limit: int) -> tuple[CoEdit, ...]:
    """Return pairs of files that were edited together in a task, most frequent first."""
    return tuple(store.co_edits(owner, WITHIN, _PAIRS, path, limit))


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
