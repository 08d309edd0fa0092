"""What a rule has observed in a session, before it becomes a finding."""

from __future__ import annotations

import re
from collections import deque

from recollect.frozen import frozen
from recollect.model import Source

# Signals that promotion counts.
USER_INTENT = "user-intent"  # the user wants it remembered
USER_CORRECTION = "user-correction"  # the user corrects what the agent did
RESOLVED_ERROR = "error-resolution"

_REMEMBERED = 50
_PREFIX = 5  # letters by which a word is recognised in all its forms


@frozen
class Observation:
    """A statement that can be understood alone, and the events that support it."""

    kind: str
    content: str
    source: Source
    first: int  # order of the first event
    last: int
    importance: float
    confidence: float
    signals: frozenset[str] = frozenset()
    file_paths: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()  # of a procedure
    withdrawn: bool = False  # it was observed before, and the user has objected to it


class SeenTexts:
    """The last texts of a session, so that one in other words is not observed again."""

    def __init__(self, similarity: float) -> None:
        self._similarity = similarity  # share of the shorter text's words from which two are the same
        self._texts: deque[set[str]] = deque(maxlen=_REMEMBERED)

    def add(self, text: str) -> bool:
        """Add `text` and return whether it is new."""
        words = stems_of(text)
        for seen in self._texts:
            if len(words & seen) >= self._similarity * min(len(words), len(seen)):
                return False
        self._texts.append(words)
        return True


def stems_of(text: str) -> set[str]:
    """Return the beginnings of the words of `text`."""
    return {word[:_PREFIX] for word in re.findall(r"[\w'=.-]{3,}", text.lower())}


def relative(path: str, cwd: str) -> str:
    """Return `path` relative to `cwd` if it is inside it."""
    return path.removeprefix(cwd.rstrip("/") + "/") if cwd else path


def relative_in(text: str, cwd: str) -> str:
    """Return `text` with the paths inside `cwd` made relative to it."""
    return text.replace(cwd.rstrip("/") + "/", "") if len(cwd) > 1 else text
