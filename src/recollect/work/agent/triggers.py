"""Decide whether a turn needs a search, and why. Pure functions."""

import re

from recollect.frozen import frozen
from recollect.work.agent.turn import Turn, suffixes

NEW_TEXT = 2000  # characters since the last search: some 500 tokens
FEWEST_WORDS = 3  # of a request that is more than small talk

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


@frozen
class Baseline:
    """The conversation as it was at the last search."""

    request: str = ""
    size: int = 0
    suffixes: frozenset[str] = frozenset()
    failing: bool = False


def baseline(turn: Turn) -> Baseline:
    return Baseline(turn.request, turn.size, suffixes(turn.files), _fails(turn))


def reasons(turn: Turn, last: Baseline) -> tuple[str, ...]:
    """Return the reasons to search for this turn; empty if there are none."""
    fresh = turn.request != last.request
    words = {word.lower() for word in _WORD.findall(turn.request)} - _SMALL_TALK
    checks = {
        "a new request": fresh and len(words) >= FEWEST_WORDS,
        "much new content": turn.size - last.size >= NEW_TEXT,
        "another type of file": bool(suffixes(turn.files) - last.suffixes) and bool(turn.files),
        "an error": _fails(turn) and not last.failing,
        "a discussion of design": fresh and bool(_DESIGN.search(turn.request)),
    }
    return tuple(name for name, holds in checks.items() if holds)


def _fails(turn: Turn) -> bool:
    return bool(_ERROR.search(turn.request) or _ERROR.search(turn.answered))
