"""Summarise a session in three to five lines. Pure functions."""

from collections import Counter
from collections.abc import Iterable, Sequence

import recollect.model as m
from recollect.text.sentences import cut
from recollect.work.extract.observation import relative
from recollect.work.sessions.digest import SessionDigest
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import EDIT, WRITE, family_of, path_of

LINES = 5
MOST_LEARNT = 3
MOST_FILES = 5
LONGEST = 160  # characters of a line
LONGEST_LEARNT = 240  # of what was learnt, which says at its end what helped


class SummaryBuilder:
    """Collects from the events of a session what its summary needs."""

    def __init__(self) -> None:
        self._request = ""
        self.has_worked = False  # the agent has used a tool
        self._files: Counter[str] = Counter()
        self.digest = SessionDigest()  # for a language model, if there is one

    def add(self, event: Event) -> None:
        self.digest.add(event)
        if not self._request and event.author == "user" and event.is_message and not event.injected:
            self._request = " ".join(event.text.split())
        self.has_worked = self.has_worked or event.is_call
        if event.is_call and family_of(event) in (EDIT, WRITE):
            path = path_of(event)
            if path:
                self._files[relative(path, event.cwd)] += 1

    @property
    def is_empty(self) -> bool:
        return not self._request and not self._files

    def text(self, findings: Sequence[m.Finding]) -> str:
        """Return the summary as bullets: the request, the findings, the changed files."""
        lines = [_line(f"Asked: {self._request}")] if self._request else []
        best = sorted(findings, key=lambda finding: (-finding.importance, finding.created_at, finding.id))
        lines += [_line(finding.content, LONGEST_LEARNT) for finding in best[:MOST_LEARNT]]
        if self._files:
            names = [name for name, _ in self._files.most_common(MOST_FILES)]
            more = len(self._files) - len(names)
            lines.append(_line(f"Changed: {', '.join(names)}{f' and {more} more' if more else ''}"))
        return "\n".join(lines)


def _line(text: str, longest: int = LONGEST) -> str:
    return f"- {cut(' '.join(text.split()), longest)}"


def summary_builder_for(events: Iterable[Event]) -> SummaryBuilder:
    """Return a builder that has seen all `events`."""
    builder = SummaryBuilder()
    for event in events:
        builder.add(event)
    return builder
