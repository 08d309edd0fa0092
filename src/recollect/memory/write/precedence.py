"""Who wins a contradiction, and what the store then records. This is the only place that decides it.

| situation | the newer memory wins if the verdict is certain and | else |
| --- | --- | --- |
| written, edited or said again: `decide` | a user said it; or it is trusted at least as much as the older, which is no person's word | conflict |
| found by consolidation: `wins_unattended` | trusted as much, and the older is neither pinned nor said by a user | conflict |
| `recollect resolve` | the user names it | both stay |
| `recollect wrong --instead` | always: `maintenance.wrong` takes the older one out of use first | – |

What one person has stored is never superseded by another's word: both stay, and both people see the conflict.

The user's last word wins over everything older: seeds, statements of agents, and what the user said before, on whatever
branch. What an agent reports of a user is a statement of that agent: its trust is capped (decision 4).

The loser is superseded and stays on record. In a conflict both stay active, and a link says that they contradict each
other. A conflict whose verdict is unsure is also a question for `recollect review`. How much a memory is trusted depends on its source: `model.TRUST`.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.kinds import kind_of
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.comparison import Comparison
from recollect.policy import USER_SOURCES, Operation, Permission, on_memory

UNSURE = "ambiguous"  # the verdict of a link between memories that may contradict each other

Contradiction = tuple[m.Memory, Comparison]  # the older memory, and how the newer relates to it


@frozen
class Decision:
    """Which of the memories that a new one contradicts it supersedes, and which stay beside it."""

    superseded: tuple[Contradiction, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()

    @property
    def takes_pin(self) -> bool:
        """Whether the new memory inherits a pin: the user pinned the subject, not the words."""
        return any(old.pinned for old, _ in self.superseded)


def decide(new: m.Memory, contradicted: Iterable[Contradiction]) -> Decision:
    """Return what `new` supersedes. Memories that are no longer active are left alone."""
    active = [(old, comparison) for old, comparison in contradicted if old.state is m.State.ACTIVE]
    superseded = tuple(
        (old, comparison) for old, comparison in active if comparison.certain and _wins(new, old)
    )
    return Decision(superseded, tuple(pair for pair in active if pair not in superseded))


def _wins(new: m.Memory, old: m.Memory) -> bool:
    if new.user_id != old.user_id:
        return False
    if new.provenance[-1].source in USER_SOURCES:
        # A session may be learnt from late: of two statements of the user, the one said later counts.
        return old.source not in USER_SOURCES or new.valid_from >= old.valid_from
    permission = on_memory("agent", Operation.SUPERSEDE, old, old.project_id).permission
    return permission is Permission.ALLOW and new.trust >= old.trust


def governs(new: m.Memory, old: m.Memory) -> bool:
    """Return whether `new` may contradict `old`: they are about one matter, or `new` is a user's rule for all branches.

    What happened contradicts nothing.
    """
    if kind_of(new.kind).reports or kind_of(old.kind).reports:
        return False
    if new.branch is None and new.provenance[-1].source in USER_SOURCES:
        old = replace(old, branch=None)
    return m.same_matter(new, old)


def wins_unattended(new: m.Memory, old: m.Memory) -> bool:
    """Return whether `new` supersedes `old` when no user is there to see it."""
    return (
        new.user_id == old.user_id
        and old.created_at < new.created_at
        and old.trust <= new.trust
        and old.trust < m.TRUST[m.Source.USER_STATED]
        and not old.pinned
    )


def open_conflicts(store: Store, memory: m.Memory) -> tuple[Contradiction, ...]:
    """Return the memories that are in conflict with `memory`: said again, it may win."""
    return tuple(
        (
            store.get(link.target if link.source == memory.id else link.source),
            Comparison(StatementRelation.CONTRADICTION, f"said again; {link.reason}", link.verdict != UNSURE),
        )
        for link in store.links(memory.id)
        if link.relation is m.Relation.CONTRADICTS and link.resolved_at is None
    )


def supersede(store: Store, old: m.Memory, new: m.Memory, reason: str, actor: str, now: datetime) -> None:
    """Record that `new` replaces `old`, and close the conflicts of `old`. Call it within a transaction."""
    store.log("update", actor, now, old.id, {"state": m.State.SUPERSEDED, "by": new.id})
    store.put(
        replace(
            old,
            state=m.State.SUPERSEDED,
            state_reason=f"superseded: {reason}",
            superseded_by=new.id,
            valid_to=now,
            updated_at=now,
        )
    )
    store.put_link(m.Link(new.id, old.id, m.Relation.SUPERSEDES, now, 1.0, reason))
    for link in store.links(old.id):
        if link.relation is m.Relation.CONTRADICTS and link.resolved_at is None:
            store.put_link(replace(link, verdict="superseded", resolved_at=now))
