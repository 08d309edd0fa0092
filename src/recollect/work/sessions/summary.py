"""What a session came to, in three to five lines. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

import recollect.model as m
from recollect.work.sessions.digest import Digest
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import EDIT, WRITE, family_of, path_of

LINES = 5
MOST_LEARNT = 3
MOST_FILES = 5
LONGEST = 160  # characters of a line


class Story:
    """Watches the events of a session go by."""

    def __init__(self) -> None:
        self._asked = ""
        self._files: Counter[str] = Counter()
        self.digest = Digest()  # for a model, where one is asked

    def watch(self, event: Event) -> None:
        self.digest.watch(event)
        if not self._asked and event.author == "user" and event.is_message and not event.injected:
            self._asked = " ".join(event.text.split())
        if event.is_call and family_of(event) in (EDIT, WRITE):
            path = path_of(event)
            if path:
                self._files[_relative(path, event.cwd)] += 1

    @property
    def empty(self) -> bool:
        return not self._asked and not self._files

    def told(self, findings: Sequence[m.Finding]) -> str:
        """As bullets: what was asked for, what was learnt, which files changed."""
        lines = [f"Asked: {self._asked}"] if self._asked else []
        best = sorted(findings, key=lambda each: (-each.importance, each.created_at, each.id))
        lines += [each.content for each in best[:MOST_LEARNT]]
        if self._files:
            names = [name for name, _ in self._files.most_common(MOST_FILES)]
            more = len(self._files) - len(names)
            lines.append(f"Changed: {', '.join(names)}{f' and {more} more' if more else ''}")
        return "\n".join(f"- {_cut(' '.join(line.split()))}" for line in lines)


def watched(events: Iterable[Event]) -> Story:
    story = Story()
    for event in events:
        story.watch(event)
    return story


def _relative(path: str, cwd: str) -> str:
    return path.removeprefix(cwd.rstrip("/") + "/") if cwd else path


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
