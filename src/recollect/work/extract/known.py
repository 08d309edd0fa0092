"""What was noticed before in a session, so that another wording of it is not noticed again."""

from __future__ import annotations

import re
from collections import deque

_REMEMBERED = 50
_STEM = 5  # letters that tell a word in all its endings


class Known:
    def __init__(self, alike: float) -> None:
        self._alike = alike  # the share of the shorter one's words that makes two the same
        self._before: deque[set[str]] = deque(maxlen=_REMEMBERED)

    def add(self, text: str) -> bool:
        """Whether `text` is new."""
        words = {word[:_STEM] for word in re.findall(r"[\w'=.-]{3,}", text.lower())}
        for before in self._before:
            if len(words & before) >= self._alike * min(len(words), len(before)):
                return False
        self._before.append(words)
        return True
