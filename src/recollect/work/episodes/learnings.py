"""Learnings from many sessions: what a file is for, which errors are common, which workflows succeed."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from recollect.model import (
    COMMON_ERROR,
    FILE_PURPOSE,
    WORKFLOW,
    WORKFLOW_LEARNT,
    Pattern,
    SessionLearning,
    Task,
    ToolExecution,
)
from recollect.work.episodes.record import clean

OFTEN = 3  # times from which something is a learning
_HEAD = 4000  # characters of a file that are searched for its purpose
_DOC = (
    re.compile(
        r'^(?:#![^\n]*\n)?\s*+(?:#[^\n]*+\n\s*+|(?!))*+[rR]?"""\s*+(.+?)(?:\n[ \t]*\n|""")', re.DOTALL
    ),
    re.compile(r"^\s*+/\*\*?\s*+(.+?)\*/", re.DOTALL),
    re.compile(r"^(?:#![^\n]*\n)?((?:\s*(?://[/!]?|#|--|;;)[^\n]*\n)+)"),
    re.compile(r"^\s*#\s+([^\n]+)"),
)


def purpose_of(text: str) -> str:
    """Return the first sentence of a file's leading docstring or comment, or "" if it has none."""
    for pattern in _DOC:
        if match := pattern.match(text[:_HEAD]):
            comment = re.sub(r"^\s*(?://[/!]?|#+|--|;;|\*+)\s?", "", match[1], flags=re.MULTILINE)
            sentence = re.split(r"(?<=[.!?])\s", " ".join(comment.split()), maxsplit=1)[0]
            if len(sentence) >= 12 and not re.match(
                r"(?i)copyright|spdx|licen|vim:|-\*-|eslint|@ts-|coding", sentence
            ):
                return clean(sentence, 160)
    return ""


def file_purposes(root: Path | None, tasks: Sequence[Task]) -> Iterator[SessionLearning]:
    """Yield, for files used in several tasks, what they say about themselves and which tasks used them."""
    uses: dict[str, list[Task]] = {}
    for task in tasks:
        for path in task.files:
            uses.setdefault(path, []).append(task)
    for path, users in uses.items():
        if len(users) < OFTEN:
            continue
        purpose = purpose_of(_head(root / path)) if root is not None else ""
        data = {
            "path": path,
            "says": purpose,
            "tasks": [task.description for task in users[:3]],
            "times": len(users),
        }
        yield SessionLearning(FILE_PURPOSE, path, data, 0.8 if purpose else 0.5, users[0].session)


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_HEAD)
    except (OSError, ValueError):  # deleted, or in another folder
        return ""


class ErrorCounts:
    """Counts failures that are equal except for what changes from run to run."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._last: dict[str, ToolExecution] = {}

    def add(self, executions: Iterable[ToolExecution]) -> None:
        for execution in executions:
            failure = (execution.result or {}).get("failure")
            if failure and not execution.success:
                name = f"{failure['head'].partition(' ')[0]}: {failure['lines'][0][0]}"
                self._times[name] += 1
                self._last[name] = execution

    def learnings(self, known: dict[str, int]) -> Iterator[SessionLearning]:
        """Yield a learning per failure; `known` has the count of earlier occurrences by name."""
        for name, times in self._times.items():
            total, last = times + known.get(name, 0), self._last[name]
            data = {"error": last.error, "command": last.parameters.get("command"), "times": total}
            yield SessionLearning(COMMON_ERROR, name[:200], data, round(total / (total + 2), 3), last.session)


def workflows(patterns: Iterable[Pattern], session: str) -> Iterator[SessionLearning]:
    for pattern in patterns:
        if pattern.kind == WORKFLOW and pattern.count >= OFTEN:
            data = {"steps": pattern.data["steps"], "times": pattern.count}
            yield SessionLearning(WORKFLOW_LEARNT, pattern.name[:200], data, pattern.confidence, session)
