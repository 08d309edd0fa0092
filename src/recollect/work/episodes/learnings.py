"""What sessions have taught: what a file is for, which error is common, which way of working works."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from recollect.store.episode_rows import Execution, Learning, Pattern, Task
from recollect.work.episodes.patterns import WORKFLOW
from recollect.work.episodes.record import clean

FILE_PURPOSE, COMMON_ERROR, WORKFLOW_LEARNT = "file_purpose", "common_error", "workflow"
OFTEN = 3
_HEAD = 4000  # characters of a file in which it says what it is
_DOC = (
    re.compile(r'^(?:#![^\n]*\n)?(?:\s*#[^\n]*\n)*\s*[rR]?"""\s*(.+?)(?:\n\s*\n|""")', re.DOTALL),
    re.compile(r"^\s*/\*\*?\s*(.+?)\*/", re.DOTALL),
    re.compile(r"^(?:#![^\n]*\n)?((?:\s*(?://[/!]?|#|--|;;)[^\n]*\n)+)"),
    re.compile(r"^\s*#\s+([^\n]+)"),
)


def purpose_of(text: str) -> str:
    """What a file says of itself at its beginning; "" where it does not."""
    for pattern in _DOC:
        if found := pattern.match(text[:_HEAD]):
            said = re.sub(r"^\s*(?://[/!]?|#+|--|;;|\*+)\s?", "", found[1], flags=re.MULTILINE)
            sentence = re.split(r"(?<=[.!?])\s", " ".join(said.split()), maxsplit=1)[0]
            if len(sentence) >= 12 and not re.match(
                r"(?i)copyright|spdx|licen|vim:|-\*-|eslint|@ts-|coding", sentence
            ):
                return clean(sentence, 160)
    return ""


def file_purposes(root: Path | None, tasks: Sequence[Task]) -> Iterator[Learning]:
    """Of files that came up in several tasks: what they say they are, and what they were touched for."""
    uses: dict[str, list[Task]] = {}
    for task in tasks:
        for path in task.files:
            uses.setdefault(path, []).append(task)
    for path, those in uses.items():
        if len(those) < OFTEN:
            continue
        said = purpose_of(_head(root / path)) if root is not None else ""
        data = {
            "path": path,
            "says": said,
            "tasks": [task.description for task in those[:3]],
            "times": len(those),
        }
        yield Learning(FILE_PURPOSE, path, data, 0.8 if said else 0.5, those[0].session)


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_HEAD)
    except (OSError, ValueError):  # it has gone, or was never in this folder
        return ""


class Errors:
    """Counts failures that are the same but for what changes from run to run."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._last: dict[str, Execution] = {}

    def see(self, executions: Iterable[Execution]) -> None:
        for each in executions:
            failure = (each.result or {}).get("failure")
            if failure and not each.success:
                name = f"{failure['head'].partition(' ')[0]}: {failure['lines'][0][0]}"
                self._times[name] += 1
                self._last[name] = each

    def learnings(self, known: dict[str, int]) -> Iterator[Learning]:
        """`known` says how often each had been seen before."""
        for name, times in self._times.items():
            total, last = times + known.get(name, 0), self._last[name]
            data = {"error": last.error, "command": last.parameters.get("command"), "times": total}
            yield Learning(COMMON_ERROR, name[:200], data, round(total / (total + 2), 3), last.session)


def workflows(patterns: Iterable[Pattern], session: str) -> Iterator[Learning]:
    for each in patterns:
        if each.kind == WORKFLOW and each.count >= OFTEN:
            data = {"steps": each.data["steps"], "times": each.count}
            yield Learning(WORKFLOW_LEARNT, each.name[:200], data, each.confidence, session)
