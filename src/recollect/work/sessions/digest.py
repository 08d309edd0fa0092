"""A session told in about two thousand tokens: what a model reads to learn from it. Pure."""

from collections import deque

from recollect.text.tokens import clip
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import command_of, path_of

TOKENS = 2000
LINE = 400  # characters
_FIRST = 12  # lines that are kept from the beginning
_LAST = 120  # and from the end, of which as many stay as fit


class Digest:
    """Watches events go by and keeps what matters: what was said, what was run, what failed, what was changed."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=_LAST)

    def watch(self, event: Event) -> None:
        line = _line(event)
        if line:
            (self._first if len(self._first) < _FIRST else self._last).append(line)

    def text(self) -> str:
        """The beginning and the end, newest first to go last; numbers are the orders of events."""
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
        said = " ".join(event.text.split())
        return f"{event.order} {event.author}: {said[:LINE]}" if said else ""
    if event.is_answer:
        return f"{event.order} failed: {_end(event.text)}" if event.failed else ""
    deed = command_of(event) or path_of(event)
    return f"{event.order} {event.tool}: {' '.join(deed.split())[:LINE]}" if deed else ""


def _end(text: str) -> str:
    """Where tools say what went wrong."""
    return " ".join(text.split())[-LINE // 2 :]
