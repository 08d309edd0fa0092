"""Pure rules for tasks: their description and intent, when a new one begins, and how one ended."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from recollect.model import TaskIntent, TaskStatus, ToolExecution
from recollect.text.stem import stem
from recollect.text.words import distinctive_words, query_terms
from recollect.work.episodes.record import clean
from recollect.work.extract.commands import parse
from recollect.work.transcripts.event import Event

LONGEST = 200  # characters of a description
TOPIC_CHANGE = 0.3  # cosine of two requests below which they are about different things
_MIN_WORDS = 3  # distinctive words of a request that can begin a task of its own
_MAX_FILES = 3  # named in an outcome

_INTENTS = (
    (
        TaskIntent.FIXING,
        r"fix|bug|error|fail|crash|broken?|regress|issue|wrong|debug|repair|hang|leak|flaky|traceback|exception|doesn'?t work|not work",
    ),
    (
        TaskIntent.WRITING,
        r"add|implement|write|creat|build|refactor|renam|chang|updat|migrat|support|introduc|remov|delet|replac|improv|extend|convert|make|port|upgrad|set up|extract|move",
    ),
    (
        TaskIntent.EXPLORING,
        r"explor|overview|find|where|list|structure|investigat|look (?:around|for)|search|map|survey|which",
    ),
    (TaskIntent.READING, r"explain|what|how|read|review|understand|why|describ|summar|show|document|walk"),
)
_OBJECTS = re.compile(r"\W*(?:no|nope|stop|wait)\s*[,.!:;–—-]", re.IGNORECASE)
_CHECK = re.compile(r"test|spec|lint|check|build|compile|tsc|mypy|ruff|clippy|vet|make")


class RequestIds:
    """Gives the requests of a session stable ids: equal from hooks and transcript, and each time they are read."""

    def __init__(self, session: str, begin: int) -> None:
        """`begin` is the order of the first event: above 0 if earlier events were processed before."""
        self._prefix = f"{session}\0{begin}"
        self._times: Counter[str] = Counter()

    def id_of(self, request: Event) -> str:
        """Return an id made from the words: positions differ, because hooks do not report every event."""
        words = " ".join(request.text.split())
        self._times[words] += 1
        key = f"{self._prefix}\0{self._times[words]}\0{words}"
        return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


def description_of(text: str) -> str:
    """Return the first line of a request that has words, cleaned and shortened."""
    lines = (line.strip(" #*->\t") for line in text.splitlines())
    return clean(next((line for line in lines if re.search(r"\w{2}", line)), text), LONGEST)


def is_specific(text: str) -> bool:
    """Return whether a request says what it is about. "yes, go on" does not, nor "no, use …": they begin no task."""
    return len(distinctive_words(text)) >= _MIN_WORDS and not _OBJECTS.match(text)


def intent_of(description: str) -> TaskIntent | None:
    """Return the intent that the words of a description express first, or None."""
    matches = [
        (match.start(), intent)
        for intent, words in _INTENTS
        if (match := re.search(rf"\b(?:{words})", description, re.IGNORECASE))
    ]
    if any(intent is TaskIntent.FIXING for _, intent in matches):  # "add a test for the bug" is about the bug
        return TaskIntent.FIXING
    return min(matches)[1] if matches else None


def intent_from(executions: Iterable[ToolExecution]) -> TaskIntent | None:
    """Return the intent that the tools used express, for a task whose words express none."""
    changed = read = searched = 0
    for execution in executions:
        changed += bool((execution.result or {}).get("files"))
        tool = execution.tool.lower()
        searched += any(word in tool for word in ("grep", "glob", "search", "find", "list", "ls"))
        read += "read" in tool or "view" in tool or "open" in tool
    if changed:
        return TaskIntent.WRITING
    if searched > read:
        return TaskIntent.EXPLORING
    return TaskIntent.READING if read else None


def words_of(description: str) -> str:
    """Return the stemmed search terms of a description, as they are indexed."""
    return " ".join(dict.fromkeys(stem(word) for word in query_terms(description)))


def outcome_of(executions: Sequence[ToolExecution]) -> tuple[TaskStatus, str]:
    """Return the status and outcome of a task nobody closed: completed if its last check passed or it was committed."""
    files: dict[str, None] = {}
    committed = False
    check: tuple[str, bool] | None = None
    for execution in executions:
        for path in (execution.result or {}).get("files", ()) if execution.success else ():
            files.setdefault(path)
            committed = False
        command = execution.parameters.get("command") or execution.parameters.get("cmd") or ""
        heads = parse(str(command)).heads
        if any(head.startswith("git commit") for head in heads) and execution.success:
            committed = True
        elif heads and any(_CHECK.search(head) for head in heads):
            check = (heads[-1], execution.success)
    parts = []
    if files:
        names = list(files)
        more = f" and {len(names) - _MAX_FILES} more" if len(names) > _MAX_FILES else ""
        parts.append(f"Changed {', '.join(names[:_MAX_FILES])}{more}")
    if check:
        parts.append(f"{check[0]} {'passed' if check[1] else 'failed'} last")
    if committed:
        parts.append("committed" if parts else "Committed")
    elif files and not check:
        parts.append("neither checked nor committed")
    done = committed or (check is not None and check[1]) or (not files and check is None and bool(executions))
    outcome = "; ".join(parts) or ("Looked at, nothing changed" if executions else "")
    return (TaskStatus.COMPLETED if done else TaskStatus.PAUSED), clean(outcome, 300)
