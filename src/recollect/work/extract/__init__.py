"""Find what is worth remembering in a transcript, by rules: no model, no network.

`extract` reads the events once, in order. Each session, and each sub-agent of it, has its own rules, which keep only what
they need: the last request, the last failures, the sequences of commands. Each rule yields observations, and `extract`
turns them into findings.

- `user_statements`: corrections, preferences, conventions, decisions and warnings of the user; `cues` recognises them by
  `data/cues.toml`
- `agent_statements`: lasting facts that the agent states
- `summaries`: what the agent wrote down when its conversation was compacted
- `answers`: what the user chose when the host asked for the agent
- `fixes`: a command failed, something was changed, and it passed; `outcomes` says whether a command failed and why,
  `objections` whether the user then forbade it
- `procedures`: commands that succeed one after another, more than once
- `commands`: a parsed command line, for comparing two of them
- `observation`: what the rules yield

A finding contains no secrets, can be understood by itself, and names the events that support it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from recollect.memory.write.enrich import infer_tags
from recollect.model import Finding, fingerprint, new_id
from recollect.text.lookalikes import has_mark
from recollect.text.redact import redact
from recollect.text.sentences import clip
from recollect.work.extract.agent_statements import AgentStatements
from recollect.work.extract.answers import UserAnswers
from recollect.work.extract.fixes import ErrorFixes
from recollect.work.extract.observation import RESOLVED_ERROR, USER_CORRECTION, USER_INTENT, Observation
from recollect.work.extract.procedures import Procedures
from recollect.work.extract.summaries import CompactionSummaries
from recollect.work.extract.user_statements import UserStatements
from recollect.work.transcripts.event import Event

__all__ = ["RESOLVED_ERROR", "USER_CORRECTION", "USER_INTENT", "extract"]

MAX_CONTENT = 500  # characters
_PATHS = 8  # of one finding
_MAX_OPEN = 8  # sessions and sub-agents read in turns; beyond that, the one idle longest is closed

_MARK = re.compile(r"\[REDACTED: [a-z-]+\]")
_PATH = re.compile(r"(?<![\w/.~-])(?:[\w.-]+/)+[\w.-]+\.\w{1,5}\b")


def extract(events: Iterable[Event], now: datetime, *, users_only: bool = False) -> list[Finding]:
    """Return what is worth remembering of `events`, in order; each statement once per session.

    With `users_only`, only what the user states, which takes a third of the time.
    """
    findings: dict[tuple[str, str], Finding] = {}
    for session, observation, at, branch in _observations(events, users_only):
        finding = _finding(session, observation, at or now, branch)
        if finding is not None and observation.withdrawn:
            findings.pop((session, finding.fingerprint), None)
        elif finding is not None:
            known = findings.get((session, finding.fingerprint))
            if known is None or len(finding.signals) > len(known.signals):  # a user has confirmed it since
                findings[session, finding.fingerprint] = finding
    return list(findings.values())


class _SessionRules:
    """The rules for one session, or for one sub-agent of it."""

    def __init__(self, users_only: bool) -> None:
        self._rules = (
            (UserStatements(),)
            if users_only
            else (UserStatements(), UserAnswers(), ErrorFixes(), AgentStatements(), CompactionSummaries())
        )
        self._users_only = users_only
        self._procedures = Procedures()

    def read(self, event: Event) -> Iterator[Observation]:
        if not self._users_only:
            self._procedures.read(event)
        for rule in self._rules:
            yield from rule.read(event)

    def finish(self) -> Iterator[Observation]:
        return self._procedures.finish()


def _observations(
    events: Iterable[Event], users_only: bool
) -> Iterator[tuple[str, Observation, datetime | None, str | None]]:
    open_sessions: dict[tuple[str, str], _SessionRules] = {}
    at: datetime | None = None
    branch: str | None = None
    for event in events:
        at, branch = event.at or at, event.branch or None
        who = event.session, event.agent
        rules = open_sessions.pop(who, None) or _SessionRules(users_only)
        open_sessions[who] = rules  # the last one now
        yield from ((event.session, observation, at, branch) for observation in rules.read(event))
        if len(open_sessions) > _MAX_OPEN:
            idle = next(iter(open_sessions))
            yield from (
                (idle[0], observation, at, branch) for observation in open_sessions.pop(idle).finish()
            )
    for (session, _), rules in open_sessions.items():
        yield from ((session, observation, at, branch) for observation in rules.finish())


def _finding(session: str, observation: Observation, at: datetime, branch: str | None) -> Finding | None:
    """Return None if too little is left without secrets, or if the text is Recollect's own."""
    content, _ = redact(observation.content)
    content = clip(content, MAX_CONTENT)
    bare = _MARK.sub("", content)
    if has_mark(content) or len(bare.split()) < 3 or len(bare) < len(content) / 2:
        return None
    candidates = dict.fromkeys([*observation.file_paths, *_PATH.findall(bare)])
    paths = tuple(path for path in candidates if not redact(path)[1])[:_PATHS]
    return Finding(
        id=new_id(at),
        session=session,
        fingerprint=fingerprint(content),
        kind=observation.kind,
        content=content,
        created_at=at,
        importance=observation.importance,
        confidence=observation.confidence,
        tags=infer_tags(content, paths, ()),
        file_paths=paths,
        messages=(observation.first, observation.last),
        source=observation.source,
        signals=tuple(sorted(observation.signals)),
        steps=observation.steps,
        branch=branch,
    )
