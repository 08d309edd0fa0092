"""Reinforce a memory that is stated again."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.memory.judgement.compare import content_words

MAX_REINFORCEMENTS = 50  # the newest are kept; `strength` counts all


def reinforced(known: m.Memory, memory: m.Memory, now: datetime) -> m.Memory:
    """Return `known` after `memory` has said the same."""
    text = memory.content if memory.fingerprint != known.fingerprint else ""
    latest = m.Reinforcement(at=now, by=memory.created_by, session=memory.session, said=text)
    provenance = known.provenance
    if memory.trust > known.trust:  # a better source than before
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
        reinforcements=(*known.reinforcements, latest)[-MAX_REINFORCEMENTS:],
        updated_at=now,
    )


def with_richer_text(known: m.Memory, memory: m.Memory, merged: m.Memory) -> m.Memory:
    """Return `merged`, which is `known` reinforced by `memory`, with the text of `memory` if it says more and is trusted as much."""
    richer = len(content_words(memory.content)) > len(content_words(known.content))
    if not richer or memory.trust < known.trust:
        return merged
    return replace(
        merged,
        content=memory.content,
        summary=memory.summary,
        fingerprint=memory.fingerprint,
        reinforcements=(*merged.reinforcements[:-1], replace(merged.reinforcements[-1], said=known.content)),
    )
