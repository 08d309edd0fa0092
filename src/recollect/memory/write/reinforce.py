"""What is said again grows stronger, and keeps the richer words."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.memory.write import contradict

BREADCRUMBS = 50  # the newest are kept; `strength` counts them all


def said_again(known: m.Memory, memory: m.Memory, now: datetime) -> m.Memory:
    """`known`, now that `memory` has said the same."""
    said = memory.content if memory.fingerprint != known.fingerprint else ""
    crumb = m.Reinforcement(at=now, by=memory.created_by, session=memory.session, said=said)
    provenance = known.provenance
    if memory.trust > known.trust:  # we know it better now than we did
        provenance = (*provenance, *memory.provenance)
    return replace(
        known,
        state=m.State.ACTIVE,
        state_reason=None,
        importance=min(1.0, known.importance + 0.1),
        strength=known.strength + memory.strength,
        trust=max(known.trust, memory.trust),
        confidence=max(known.confidence, memory.confidence),
        provenance=provenance,
        tags=tuple(dict.fromkeys((*known.tags, *memory.tags))),
        file_paths=tuple(dict.fromkeys((*known.file_paths, *memory.file_paths))),
        triggers=tuple(dict.fromkeys((*known.triggers, *memory.triggers))),
        procedure=known.procedure or memory.procedure,
        reinforcements=(*known.reinforcements, crumb)[-BREADCRUMBS:],
        updated_at=now,
    )


def in_richer_words(known: m.Memory, memory: m.Memory, again: m.Memory) -> m.Memory:
    """`again`, which is `known` said again by `memory`, in the words of the one who says more and is trusted as much."""
    richer = len(contradict.content_words(memory.content)) > len(contradict.content_words(known.content))
    if not richer or memory.trust < known.trust:
        return again
    return replace(
        again,
        content=memory.content,
        summary=memory.summary,
        fingerprint=memory.fingerprint,
        reinforcements=(*again.reinforcements[:-1], replace(again.reinforcements[-1], said=known.content)),
    )
