"""What a task is about, when a new one begins, and what it came to. Pure."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from recollect.store.episode_rows import Execution, Intent, Status
from recollect.text.stem import stem
from recollect.text.terms import terms
from recollect.text.words import telling_words
from recollect.work.episodes.record import clean
from recollect.work.extract.commands import parse
from recollect.work.transcripts.event import Event

LONGEST = 200  # characters of a description
TOPIC_CHANGE = 0.3  # cosine of two requests below which they are about different things
_SAYS_ENOUGH = 3  # telling words of a request that can begin a task of its own
_MOST_NAMED = 3  # files in an outcome

_INTENTS = (
    (
        Intent.FIXING,
        r"fix|bug|error|fail|crash|broken?|regress|issue|wrong|debug|repair|hang|leak|flaky|traceback|exception|doesn'?t work|not work",
    ),
    (
        Intent.WRITING,
        r"add|implement|write|creat|build|refactor|renam|chang|updat|migrat|support|introduc|remov|delet|replac|improv|extend|convert|make|port|upgrad|set up|extract|move",
    ),
    (
        Intent.EXPLORING,
        r"explor|overview|find|where|list|structure|investigat|look (?:around|for)|search|map|survey|which",
    ),
    (Intent.READING, r"explain|what|how|read|review|understand|why|describ|summar|show|document|walk"),
)
_CHECK = re.compile(r"test|spec|lint|check|build|compile|tsc|mypy|ruff|clippy|vet|make")


class Requests:
    """Names the requests of a session as it is told: the same, whoever tells them and however often."""

    def __init__(self, session: str, begin: int) -> None:
        """`begin` is the place of the first event told: not 0 where what came before was learnt from already."""
        self._telling = f"{session}\0{begin}"
        self._times: Counter[str] = Counter()

    def name(self, request: Event) -> str:
        """By its words: a host's record counts what lies between two requests, its hooks do not tell all of it."""
        words = " ".join(request.text.split())
        self._times[words] += 1
        told = f"{self._telling}\0{self._times[words]}\0{words}"
        return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def description_of(text: str) -> str:
    """The first thing a request says."""
    lines = (line.strip(" #*->\t") for line in text.splitlines())
    return clean(next((line for line in lines if re.search(r"\w{2}", line)), text), LONGEST)


def says_enough(text: str) -> bool:
    """Whether it can be told what it is about: "yes, go on" begins nothing."""
    return len(telling_words(text)) >= _SAYS_ENOUGH


def intent_of(description: str) -> Intent | None:
    """By its words, the first of them that says something; None where none does."""
    found = [
        (match.start(), intent)
        for intent, words in _INTENTS
        if (match := re.search(rf"\b(?:{words})", description, re.IGNORECASE))
    ]
    fixing = [place for place, intent in found if intent is Intent.FIXING]
    if fixing:  # "add a test for the bug" is about the bug all the same
        return Intent.FIXING
    return min(found)[1] if found else None


def intent_from(executions: Iterable[Execution]) -> Intent | None:
    """By what was done, where words did not say."""
    changed = read = looked = 0
    for each in executions:
        shape = each.result or {}
        changed += bool(shape.get("files"))
        tool = each.tool.lower()
        looked += any(word in tool for word in ("grep", "glob", "search", "find", "list", "ls"))
        read += "read" in tool or "view" in tool or "open" in tool
    if changed:
        return Intent.WRITING
    if looked > read:
        return Intent.EXPLORING
    return Intent.READING if read else None


def words_of(description: str) -> str:
    """As they are looked for."""
    return " ".join(dict.fromkeys(stem(word) for word in terms(description)))


def settled(executions: Sequence[Execution]) -> tuple[Status, str]:
    """What a task came to that nobody has declared done: completed where its last check passed or it was committed."""
    files: dict[str, None] = {}
    committed = False
    check: tuple[str, bool] | None = None
    for each in executions:
        for path in (each.result or {}).get("files", ()) if each.success else ():
            files.setdefault(path)
            committed = False
        heads = parse(str(each.parameters.get("command") or each.parameters.get("cmd") or "")).heads
        if any(head.startswith("git commit") for head in heads) and each.success:
            committed = True
        elif heads and any(_CHECK.search(head) for head in heads):
            check = (heads[-1], each.success)
    parts = []
    if files:
        names = list(files)
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        parts.append(f"changed {', '.join(names[:_MOST_NAMED])}{more}")
    if check:
        parts.append(f"{check[0]} {'passed' if check[1] else 'failed'} last")
    if committed:
        parts.append("committed")
    done = committed or (check is not None and check[1]) or (not files and check is None and bool(executions))
    told = "; ".join(parts) or ("looked at, nothing changed" if executions else "")
    return (Status.COMPLETED if done else Status.PAUSED), clean(told[:1].upper() + told[1:], 300)
