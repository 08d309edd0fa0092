"""The cost of exploring: tokens that a session reads and searches before its first edit. Pure functions."""

from recollect.text import tokens
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import EDIT, READ, SEARCH, WRITE, family_of

_LOOKS = (READ, SEARCH)
_CHANGES = (EDIT, WRITE)


class Discovery:
    """Counts the exploration in the events of one session."""

    def __init__(self) -> None:
        self.tokens = 0
        self.looks = 0  # searches and reads
        self.edited = False
        self._calls: dict[str, str] = {}  # family of each call without a result so far

    def add(self, event: Event) -> None:
        if self.edited:
            return
        if event.is_call:
            family = family_of(event)
            if family in _CHANGES:
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
    """Return the tokens of the whole text, estimated if only its ends were stored."""
    stored = len(event.text)
    counted = tokens.count(event.text)
    return round(counted * event.size / stored) if event.size > stored > 0 else counted
