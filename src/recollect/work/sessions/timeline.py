"""One session as a person reads it: what was said, done, told and learnt, in the order of time. Reading writes nothing."""

from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.work.metrics.saved import Savings, saved
from recollect.work.sessions.promote import Preset, judge

LONGEST = 2000  # messages, and as many uses of tools, that are read of one session
MOST_TASKS = 500  # of the project, newest first, among which those of the session are looked for

TimelineItem = m.Message | m.ToolExecution | m.DeliveryRecord | m.Finding


@frozen
class TimelineEntry:
    """Something that happened: a message, a use of a tool, what the agent was told, or a finding."""

    at: datetime
    kind: str  # "said", "tool", "told" or "learnt"
    item: TimelineItem


@frozen
class FindingLeft:
    """A finding that did not become a memory, and why."""

    finding: m.Finding
    reason: str


@frozen
class SessionTimeline:
    session: m.Session
    entries: tuple[TimelineEntry, ...]  # oldest first
    told: tuple[m.DeliveryRecord, ...]
    promoted: tuple[m.Finding, ...]
    left: tuple[FindingLeft, ...]
    tasks: tuple[m.Task, ...]  # oldest first
    snapshots: tuple[m.ContextSnapshot, ...]
    saved: Savings

    @property
    def tokens_told(self) -> int:
        return sum(record.tokens for record in self.told)

    @property
    def tools(self) -> int:
        return sum(entry.kind == "tool" for entry in self.entries)


def read_timeline(store: Store, session: m.Session, preset: Preset) -> SessionTimeline:
    """Return the session with everything that is stored about it."""
    owner = m.Owner(session.user_id, session.project_id)
    messages = store.messages.session(session.user_id, session.id)[:LONGEST]
    executions = store.episodes.executions(owner, session=session.id, limit=LONGEST)
    told = store.deliveries.of_session(session.user_id, session.id)
    findings = store.findings(session.id)
    entries = [
        *(TimelineEntry(record.at, "told", record) for record in told if record.text),
        *(TimelineEntry(message.created_at, "said", message) for message in messages),
        *(TimelineEntry(execution.at, "tool", execution) for execution in executions),
        *(TimelineEntry(finding.created_at, "learnt", finding) for finding in findings),
    ]
    tasks = [task for task in store.episodes.tasks(owner, limit=MOST_TASKS) if task.session == session.id]
    return SessionTimeline(
        session=session,
        entries=tuple(sorted(entries, key=lambda entry: entry.at)),
        told=tuple(told),
        promoted=tuple(finding for finding in findings if finding.promoted_to),
        left=tuple(
            FindingLeft(finding, _reason(store, session, finding, preset))
            for finding in findings
            if not finding.promoted_to
        ),
        tasks=tuple(reversed(tasks)),
        snapshots=tuple(store.episodes.snapshots(owner, session.id)),
        saved=_savings(store, session),
    )


def _savings(store: Store, session: m.Session) -> Savings:
    rows = store.measures.by_session(session.user_id, session.project_id)
    return saved(rows.get(session.id, {}), [row for name, row in rows.items() if name != session.id])


def _reason(store: Store, session: m.Session, finding: m.Finding, preset: Preset) -> str:
    """Return why a finding is not a memory, by the rules of today."""
    if session.project_id is None:
        return "the session belongs to no project"
    if session.extracted_at is None:
        return "decided when the session ends"
    sightings = store.events.count_sightings(session.user_id, session.project_id, finding.fingerprint)
    verdict = judge(finding, preset, *sightings)
    if verdict.promoted:
        return f"refused when it was stored; by now it has {verdict.reason}"
    return verdict.reason
