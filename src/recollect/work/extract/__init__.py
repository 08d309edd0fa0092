"""From a transcript to findings, by rules: no model, no network.

`extract` reads events once, in order, and keeps only what it needs: the last request, the last failures, the sequences
seen. What it makes has gone through `redact`, stands alone, and cites its events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from recollect.memory.write.enrich import infer_tags
from recollect.model import INJECTED_MARK, Finding, fingerprint, new_id
from recollect.text.redact import redact
from recollect.text.sentences import clip
from recollect.work.extract.explained import Explained
from recollect.work.extract.fixes import Fixes
from recollect.work.extract.note import RESOLVED_ERROR, USER_CORRECTION, USER_INTENT, Note
from recollect.work.extract.procedures import Procedures
from recollect.work.extract.said import Said
from recollect.work.transcripts.event import Event

__all__ = ["RESOLVED_ERROR", "USER_CORRECTION", "USER_INTENT", "extract"]

MAX_CONTENT = 500  # characters
_PATHS = 8  # of one finding
_LIVE = 8  # sessions and sub-agents told in turns; past that, the one silent longest is closed

_MARK = re.compile(r"\[REDACTED: [a-z-]+\]")
_PATH = re.compile(r"(?<![\w/.~-])(?:[\w.-]+/)+[\w.-]+\.\w{1,5}\b")


def extract(events: Iterable[Event], now: datetime) -> list[Finding]:
    """What is worth keeping of `events`, in the order it was found; each statement once a session."""
    found: dict[tuple[str, str], Finding] = {}
    for session, note, at in _notes(events):
        made = _finding(session, note, at or now)
        if made is not None:
            found.setdefault((session, made.fingerprint), made)
    return list(found.values())


class _Reader:
    """The rules at work on one session, or on one sub-agent of it."""

    def __init__(self) -> None:
        self._rules = (Said(), Fixes(), Explained())
        self._procedures = Procedures()

    def see(self, event: Event) -> Iterator[Note]:
        self._procedures.see(event)
        for rule in self._rules:
            yield from rule.see(event)

    def end(self) -> Iterator[Note]:
        return self._procedures.end()


def _notes(events: Iterable[Event]) -> Iterator[tuple[str, Note, datetime | None]]:
    live: dict[tuple[str, str], _Reader] = {}
    at: datetime | None = None
    for event in events:
        at = event.at or at
        who = event.session, event.agent
        reader = live.pop(who, None) or _Reader()
        live[who] = reader  # the last one now
        yield from ((event.session, note, at) for note in reader.see(event))
        if len(live) > _LIVE:
            silent = next(iter(live))
            yield from ((silent[0], note, at) for note in live.pop(silent).end())
    for (session, _), reader in live.items():
        yield from ((session, note, at) for note in reader.end())


def _finding(session: str, note: Note, at: datetime) -> Finding | None:
    """None where too little is left once secrets are out, or where the words are Recollect's own."""
    content, _ = redact(note.content)
    content = clip(content, MAX_CONTENT)
    bare = _MARK.sub("", content)
    if INJECTED_MARK in content or len(bare.split()) < 3 or len(bare) < len(content) / 2:
        return None
    named = dict.fromkeys([*note.file_paths, *_PATH.findall(bare)])
    paths = tuple(path for path in named if not redact(path)[1])[:_PATHS]
    return Finding(
        id=new_id(at),
        session=session,
        fingerprint=fingerprint(content),
        kind=note.kind,
        content=content,
        created_at=at,
        importance=note.importance,
        confidence=note.confidence,
        tags=infer_tags(content, paths, ()),
        file_paths=paths,
        messages=(note.first, note.last),
        source=note.source,
        signals=tuple(sorted(note.signals)),
        steps=note.steps,
    )
