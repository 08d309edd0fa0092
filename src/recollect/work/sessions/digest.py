"""A digest of a session in about 2,000 tokens, which a language model reads to learn from it. Pure functions."""

from collections import deque

from recollect.text.tokens import clip
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import command_of, path_of

TOKENS = 2000
LINE = 400  # characters
_FIRST = 12  # lines from the beginning
_LAST = 120  # lines from the end, of which as many are used as fit


class SessionDigest:
    """Collects messages, commands, failures and changed files from the events of a session."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=_LAST)

    def add(self, event: Event) -> None:
        line = _line(event)
        if line:
            (self._first if len(self._first) < _FIRST else self._last).append(line)

    def text(self) -> str:
        """Return the beginning and the end of the session; the numbers are the orders of events."""
        first = clip("\n".join(self._first), TOKENS // 3)
        last: list[str] = []
        room = TOKENS - TOKENS // 3
        for line in reversed(self._last):
            room -= len(line) // 3  # a line's tokens, on the safe side
            if room < 0:
                break
            last.append(line)
        return clip(
            "\n".join([first, *(["…"] if len(last) < len(self._last) else []), *reversed(last)]), TOKENS
        )


def _line(event: Event) -> str:
    if event.injected or event.agent:
        return ""
    if event.is_message:
        text = " ".join(event.text.split())
        return f"{event.order} {event.author}: {text[:LINE]}" if text else ""
    if event.is_answer:
        return f"{event.order} failed: {_end(event.text)}" if event.failed else ""
    action = command_of(event) or path_of(event)
    return f"{event.order} {event.tool}: {' '.join(action.split())[:LINE]}" if action else ""


def _end(text: str) -> str:
    """Return the end of a tool's output, where errors are."""
    return " ".join(text.split())[-LINE // 2 :]
