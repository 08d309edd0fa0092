"""What a text for an agent can contain, read from the store: rules, findings of other sessions, summaries, warnings.

Nothing here searches or loads a model.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import UnknownName
from recollect.frozen import frozen
from recollect.kinds import KINDS, kind_of
from recollect.memory.briefing.briefing import MOST_ALWAYS, Conflict
from recollect.memory.search.triggers import matching, warning_view
from recollect.policy import USER_SOURCES
from recollect.text.shapes import MEMORY_FILES

STANDING_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.standing)
MOST_PINNED = 5
MOST_STANDING = 200  # memories that the rules are chosen from, the newest
MOST_TRIGGERS = 500  # memories with triggers that are compared with a text, the newest
# A session that has not ended counts as running if it did something within this time.
LIVE = timedelta(hours=24)
_ASKED = "asked:"  # how the line begins in which a summary says what was asked


@frozen
class Role:
    """Which tiers an agent with this role reads."""

    bridge: bool
    summaries: bool
    own_files_only: bool  # if it has files, hits for the task must be about them


ROLES = {
    "planner": Role(bridge=False, summaries=False, own_files_only=False),
    "coder": Role(bridge=True, summaries=False, own_files_only=True),
    "qa": Role(bridge=True, summaries=True, own_files_only=False),
}
ANYONE = Role(bridge=True, summaries=True, own_files_only=False)


def role_named(name: str | None) -> Role:
    """Return the role with that name, or the one for everybody. Raise `UnknownName`."""
    if name is None:
        return ANYONE
    if name not in ROLES:
        raise UnknownName("role", name, list(ROLES))
    return ROLES[name]


def rules_in(store: Store, view: m.View) -> tuple[m.Memory, ...]:
    """Return what an agent is always told, the most important first.

    Pinned memories come first, then the user's own corrections, preferences, conventions and decisions, then those that
    use or a review has confirmed. Of equals, what is about some files comes last: a prompt about them brings it up. An
    unreviewed seed or an agent's unconfirmed word is never among them.
    """
    pinned = store.newest(view, standing=m.Standing.PINNED, limit=MOST_PINNED)
    standing = store.newest(replace(view, kinds=STANDING_KINDS), limit=MOST_STANDING)
    rules = [memory for memory in standing if is_users(memory) or is_confirmed(memory)]
    rules.sort(key=_rule_order)  # stable: the newest first among equals
    return tuple({memory.id: memory for memory in (*pinned, *rules)}.values())[: 2 * MOST_ALWAYS]


def _rule_order(memory: m.Memory) -> tuple[bool, bool, bool, float, bool]:
    kind = kind_of(memory.kind)
    is_about_files = bool(memory.file_paths)
    return (
        not is_users(memory),
        not kind.correcting,
        kind.family != "user",
        -memory.importance,
        is_about_files,
    )


def is_users(memory: m.Memory) -> bool:
    """Whether the user said it."""
    return memory.source in USER_SOURCES


def is_confirmed(memory: m.Memory) -> bool:
    """Whether use or a review has confirmed what a program stored."""
    if memory.standing is m.Standing.CANDIDATE:
        return False
    return memory.pinned or memory.access_count > 0 or memory.promoted_at is None


def fired_warnings(store: Store, view: m.View, text: str) -> list[m.Hit]:
    """Return the memories of which `text` contains a trigger, the user's first."""
    fired = matching(store.with_triggers(warning_view(view), MOST_TRIGGERS), text)
    hits = [
        m.Hit(memory, 1.0, {"parts": {"trigger": 1.0}, "channels": {"trigger": {"matched": trigger}}})
        for memory, trigger in fired
    ]
    return sorted(hits, key=lambda hit: not is_users(hit.memory))


def conflicts_of(store: Store, view: m.View, memories: Iterable[m.Memory]) -> tuple[Conflict, ...]:
    """Return the open conflicts of these memories, with both sides."""
    ids = [memory.id for memory in memories]
    links = store.conflicts(view, ids) if ids else []
    return tuple((link, store.get(link.source), store.get(link.target)) for link in links)


def missing_files(root: Path | None, memories: Iterable[m.Memory]) -> frozenset[str]:
    """Return the ids of the memories of agents whose file, as shown, is not in the project."""
    return frozenset(
        memory.id
        for memory in memories
        if memory.file_paths and not is_users(memory) and _is_missing(root, memory.file_paths[0])
    )


def _is_missing(root: Path | None, path: str) -> bool:
    if path.startswith(MEMORY_FILES):
        return False
    try:
        return root is None or not (root / path).exists()
    except (OSError, ValueError):
        return True


def recent_sessions(sessions: Sequence[m.Session], own: str | None, most: int) -> tuple[m.Session, ...]:
    """Return the last sessions that did something, except the agent's own."""
    return tuple(session for session in sessions if session.id != own and did_something(session))[:most]


def did_something(session: m.Session) -> bool:
    """Whether its summary says more than what was asked."""
    lines = (_words_of(line).lower() for line in session.summary.splitlines())
    return any(line and not line.startswith(_ASKED) for line in lines)


def without_lines(session: m.Session, fingerprints: Container[str]) -> m.Session:
    """Return the session without the lines of its summary that say what has one of these fingerprints."""
    lines = [
        line for line in session.summary.splitlines() if m.fingerprint(_words_of(line)) not in fingerprints
    ]
    return replace(session, summary="\n".join(lines))


def with_open_tasks(session: m.Session, tasks: Sequence[m.Task]) -> m.Session:
    """Return the session with a line for each task that it has not finished, which need not say again what was asked."""
    asked = {f"{_ASKED} {task.description}".lower() for task in tasks}
    done = [line for line in session.summary.splitlines() if _words_of(line).lower() not in asked]
    return replace(session, summary="\n".join((*map(_open_line, tasks), *done)))


def _open_line(task: m.Task) -> str:
    """Return what was left open and why it counts as open; the summary names the files that were changed."""
    parts = [part for part in task.outcome.split("; ") if not part.lower().startswith("changed ")]
    return f"- Left open: {task.description}" + (f" ({'; '.join(parts)})" if parts and parts[0] else "")


def _words_of(line: str) -> str:
    return line.strip().lstrip("-*•").strip()


def fresh_findings(store: Store, running: Iterable[m.Session], own: str | None) -> tuple[m.Finding, ...]:
    """Return what other running sessions have found that is not a memory yet, newest first."""
    findings = [
        finding
        for other in running
        if other.id != own
        for finding in store.findings(other.id)
        if finding.promoted_to is None
    ]
    return tuple(sorted(findings, key=lambda finding: finding.created_at, reverse=True))
