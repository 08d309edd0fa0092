"""What a session spends on finding its way: the tokens of what it looks at before its first edit. Pure."""

from recollect.text import tokens
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import EDIT, READ, SEARCH, WRITE, family_of

_LOOKS = (READ, SEARCH)
_DEEDS = (EDIT, WRITE)


class Discovery:
    """Watches the events of a session go by."""

    def __init__(self) -> None:
        self.tokens = 0
        self.looks = 0  # searches and reads
        self.edited = False
        self._calls: dict[str, str] = {}  # what a call was for, until its answer comes

    def watch(self, event: Event) -> None:
        if self.edited:
            return
        if event.is_call:
            family = family_of(event)
            if family in _DEEDS:
                self.edited = True
            elif family in _LOOKS:
                self.looks += 1
                if event.call:
                    self._calls[event.call] = family
        elif event.is_answer and (
            self._calls.pop(event.call, "") or (not event.call and family_of(event) in _LOOKS)
        ):
            self.tokens += tokens_of(event)


def tokens_of(event: Event) -> int:
    """Of the whole text, also where only its ends were kept."""
    kept = len(event.text)
    counted = tokens.count(event.text)
    return round(counted * event.size / kept) if event.size > kept > 0 else counted
