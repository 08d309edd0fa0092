"""Store the findings of a session that are worth it as memories, in the name of the user or of the agent."""

from collections.abc import Iterable, Sequence

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import Refused
from recollect.memory.memories import Memories
from recollect.policy import USER_SOURCES
from recollect.work.hosts.records import Evidence
from recollect.work.sessions.promote import DEFAULT_PRESET, branch_of, judge, preset_named

_MOST_RECORDED = 64  # memories of agents that a finding is compared with, the newest
# Of the words of what an agent recorded, a finding about the same shares 60 % or more, one about another matter 40 % or less.
_REPEATS = 0.55
_SHARED = 3


class Promotion:
    """Promotes findings by the preset of the project."""

    def __init__(self, context: Context, memory: Memories) -> None:
        self._context = context
        self._store = context.store
        self._memory = memory

    def preset(self) -> str:
        """Return the name of the preset that decides which findings become memories."""
        return str(
            self._store.setting(self._context.project_id, "preset")
            or self._store.setting(None, "preset")
            or DEFAULT_PRESET
        )

    def promote_rules(
        self, session: m.Session, findings: Sequence[m.Finding], evidence: Evidence
    ) -> tuple[str, ...]:
        """Store the rules among the findings at once, without waiting for the end of the session."""
        rules = {finding.fingerprint for finding in rules_of(findings)}
        if not rules or not self._context.project:
            return ()
        found = [each for each in self._store.findings(session.id) if each.fingerprint in rules]
        return self.promote(session, found, findings, evidence)[0]

    def promote(
        self,
        session: m.Session,
        findings: Sequence[m.Finding],
        read_now: Sequence[m.Finding],
        evidence: Evidence,
    ) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Store the findings that are worth it. Those `read_now` from the host's own record are the user's word."""
        preset = preset_named(self.preset())
        typed = {finding.fingerprint for finding in rules_of(read_now)} if evidence.is_confirmed else set()
        promoted: list[str] = []
        left: list[tuple[str, str]] = []
        recorded = self._recorded(session)
        for finding in findings:
            is_typed = finding.fingerprint in typed
            if finding.promoted_to is not None and not (is_typed and self._is_unconfirmed(finding)):
                continue
            sightings = self._store.events.count_sightings(
                self._context.user_id, self._context.project_id, finding.fingerprint
            )
            verdict = judge(finding, preset, *sightings)
            if not verdict.promoted:
                left.append((finding.id, verdict.reason))
                continue
            if not is_typed and (twin := _told_by(finding, recorded)):
                left.append((finding.id, f"the agent recorded it: {twin.id}"))
                continue
            draft = _draft(
                finding, session, verdict.reason, evidence, is_typed, branch_of(finding, self._context.folder)
            )
            try:
                before = None if is_typed else self._memory.said_before(session.id, finding.fingerprint)
                name = before or self._memory.add_finding(draft).id
            except Refused as error:
                left.append((finding.id, error.message))
                continue
            self._store.events.mark_promoted(finding.id, name)
            promoted.append(name)
        return tuple(dict.fromkeys(promoted)), tuple(left)

    def _recorded(self, session: m.Session) -> list[m.Memory]:
        """Return what agents recorded in this project by the memory tool since the session began."""
        view = m.View(self._context.user_id, self._context.project_id)
        return [
            memory
            for memory in self._store.newest(view, limit=_MOST_RECORDED)
            if memory.created_by.startswith("agent:")
            and memory.provenance[0].messages is None  # what was learnt from a session cites it
            and memory.created_at >= session.started_at
        ]

    def _is_unconfirmed(self, finding: m.Finding) -> bool:
        """Return whether the memory that a finding became does not count as the user's word, and is still in use."""
        memory = self._memory.get_many([finding.promoted_to or ""]).get(finding.promoted_to or "")
        return memory is not None and memory.state is m.State.ACTIVE and memory.source not in USER_SOURCES


def _told_by(finding: m.Finding, recorded: Sequence[m.Memory]) -> m.Memory | None:
    """Return the memory in which the agent told in its own words what the finding is about."""
    if not recorded:
        return None
    from recollect.memory.judgement.compare import content_words  # its tables cost 60 ms

    words = content_words(finding.content)
    for memory in recorded:
        told = content_words(memory.content)
        shared = len(words & told)
        if shared >= _SHARED and shared >= _REPEATS * min(len(words), len(told)):
            return memory
    return None


def agent_of(session: m.Session) -> str:
    """Return the actor in whose name the session stores what it learns."""
    return f"agent:{session.agent or session.host or 'session'}"


def rules_of(findings: Iterable[m.Finding]) -> list[m.Finding]:
    """Return the findings that are rules in a user's own words."""
    return [finding for finding in findings if finding.source in USER_SOURCES]


def _draft(
    finding: m.Finding,
    session: m.Session,
    reason: str,
    evidence: Evidence,
    is_typed: bool,
    branch: str | None,
) -> m.Draft:
    """Return what to store. With `is_typed` it is written in the user's name, else in that of the agent."""
    is_rule = finding.source in USER_SOURCES
    return m.Draft(
        finding.content,
        kind=finding.kind,
        tags=finding.tags,
        file_paths=finding.file_paths,
        steps=finding.steps,
        importance=finding.importance,
        created_by=f"user:{session.host}" if is_typed else agent_of(session),
        correction=finding.source is m.Source.USER_CORRECTED,
        session=session.id,
        source=finding.source,
        messages=finding.messages,
        snippet=reason,
        evidence=evidence.reason if is_rule else "",
        said_at=finding.created_at if is_typed else None,
        branch=branch,
        standing=None if is_typed else m.Standing.CANDIDATE,
    )
