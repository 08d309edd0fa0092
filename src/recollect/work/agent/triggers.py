"""Whether a turn is worth looking into memory for, and why. Pure."""

import re
from dataclasses import dataclass

from recollect.work.agent.context import Context, suffixes

NEW_TEXT = 2000  # characters since the last look: some 500 tokens
FEWEST_WORDS = 3  # of a request that says something

_ERROR = re.compile(
    r"\b(error|exception|traceback|failed|failure|fatal|panic|segfault|exit code [1-9]|cannot|undefined)\b",
    re.I,
)
_DESIGN = re.compile(
    r"\b(architect\w*|design\w*|refactor\w*|approach|trade-?offs?|pattern|schema|structure|migrat\w*|convention\w*"
    r"|should we|how should|decide\w*|decision)\b",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_SMALL_TALK = frozenset(
    "thanks thank you great good nice fine okay perfect cool yes yep sure please continue proceed ahead and the that"
    " works looks done for now hello morning bye lgtm".split()
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was there at the last look."""

    request: str = ""
    size: int = 0
    suffixes: frozenset[str] = frozenset()
    failing: bool = False


def seen(context: Context) -> Seen:
    return Seen(context.request, context.size, suffixes(context.files), _fails(context))


def reasons(context: Context, last: Seen) -> tuple[str, ...]:
    """Why this turn is worth a look; none for one that is not."""
    fresh = context.request != last.request
    words = {word.lower() for word in _WORD.findall(context.request)} - _SMALL_TALK
    checks = {
        "a new request": fresh and len(words) >= FEWEST_WORDS,
        "much that is new": context.size - last.size >= NEW_TEXT,
        "another type of file": bool(suffixes(context.files) - last.suffixes) and bool(context.files),
        "an error": _fails(context) and not last.failing,
        "talk of design": fresh and bool(_DESIGN.search(context.request)),
    }
    return tuple(name for name, holds in checks.items() if holds)


def _fails(context: Context) -> bool:
    return bool(_ERROR.search(context.request) or _ERROR.search(context.answered))
