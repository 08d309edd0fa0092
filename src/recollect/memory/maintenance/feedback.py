"""Learn from use: what a person says about a memory, and which memories a retrieval used or rejected.

All changes of one retrieval are one short transaction, and reporting the same retrieval again changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Any

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.memory.maintenance.clusters import clusters_due
from recollect.memory.maintenance.states import can_link
from recollect.policy import Operation, Permission, on_memory
from recollect.text.lookalikes import has_mark
from recollect.text.words import distinctive_words

# Confidence, from 0 to 1: what one report adds or takes.
RAISED = 0.05
LOWERED = 0.1
REJECTED = 0.02

# Weight of a link, above 0 and up to 1.
NEW_LINK = 0.5
STRONGER = 0.1
MOST_LINKED = 8  # memories used at once whose pairs are linked: more are a list, not a coincidence

# Gaps: questions that memory could not answer.
MOST_CONTEXT = 500  # characters
FEWEST_WORDS = 3  # distinctive words that a question needs to be recorded
ALIKE = 0.8  # share of distinctive words from which two questions are the same

# Tags from words that used memories share with the question.
TAGGED_TOGETHER = 3  # memories that must share the word
COMMONEST = 30  # memories that may have the word: a tag on more distinguishes nothing

_FEEDBACK_KEPT = 500  # reports of agents in a project that are recognised when given again
_RECENT = 200  # retrievals of a project that are recognised when reported again
_GAPS_COMPARED = 100


@frozen
class MaintenanceReport:
    """What was changed after a retrieval."""

    used: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    linked: tuple[tuple[str, str, float], ...] = ()  # both ends and the weight now
    tagged: tuple[tuple[str, str], ...] = ()  # memory and tag
    gap: m.Gap | None = None  # None = something was relevant, or the gap is known
    clusters_due: bool = False
    repeated: bool = False  # the retrieval was reported before: nothing was changed


def after_retrieval(
    store: Store,
    clock: m.Clock,
    view: m.View,
    *,
    retrieval: str,
    shown: Sequence[str],
    used: Iterable[str] = (),
    rejected: Iterable[str] = (),
    context: str = "",
    session: str | None = None,
    actor: str = "agent:memory",
) -> MaintenanceReport:
    """Learn from one retrieval. `retrieval` identifies it, so that it counts once.

    Ids outside `view` are ignored, and a memory that was used is not rejected.
    """
    now = clock()
    used, rejected = dict.fromkeys(used), dict.fromkeys(rejected)
    nothing = not used and set(shown) <= set(rejected)
    # Outside the transaction, because redaction is slow; and not at all where there is no gap to note or to close.
    question = _gap_text(context) if nothing or store.gaps(view.project_id, 1) else None
    with store.transaction():
        if not _first_time(store, view.project_id, retrieval):
            return MaintenanceReport(clusters_due=clusters_due(store, view.project_id), repeated=True)
        known = {
            name: memory
            for name, memory in store.get_many([*used, *rejected]).items()
            if view.shows_memory(memory)
        }
        good = [known[name] for name in used if name in known]
        bad = [known[name] for name in rejected if name in known and name not in used]
        tag = _shared_word(store, view, good, context)
        tagged = tuple(_use(store, memory, tag, actor, now) for memory in good)
        for memory in bad:
            _reject(store, memory, actor, now)
        linked = tuple(_link_pairs(store, good[:MOST_LINKED], actor, now))
        gap = _note_gap(store, view.project_id, question, session, actor, now) if nothing else None
        if not nothing and question is not None:
            _close_gaps(store, view.project_id, question, actor, now)
        due = clusters_due(store, view.project_id)
    return MaintenanceReport(
        used=tuple(memory.id for memory in good),
        rejected=tuple(memory.id for memory in bad),
        linked=linked,
        tagged=tuple((name, tag) for name in tagged if name is not None and tag is not None),
        gap=gap,
        clusters_due=due,
    )


def _first_time(store: Store, project_id: str | None, retrieval: str) -> bool:
    """Count the retrieval; return False if it was counted before."""
    counted: Mapping[str, Any] = store.setting(project_id, "retrievals") or {}
    recent: list[str] = counted.get("recent", [])
    if retrieval in recent:
        return False
    recent = [*recent, retrieval][-_RECENT:]
    store.set_setting(project_id, "retrievals", {"count": counted.get("count", 0) + 1, "recent": recent})
    return True


def _use(store: Store, memory: m.Memory, tag: str | None, actor: str, now: datetime) -> str | None:
    """Record the use. Add `tag` if the memory has that word, and return its id in that case."""
    fits = tag is not None and tag in distinctive_words(memory.content)
    after = replace(
        memory,
        access_count=memory.access_count + 1,
        last_accessed_at=now,
        confidence=raised(memory.confidence),
        tags=(*memory.tags, tag) if tag is not None and fits else memory.tags,
    )
    detail = {"used": after.access_count, "confidence": after.confidence}
    store.log("update", actor, now, memory.id, {**detail, "tag": tag} if fits else detail)
    store.put(after)
    return memory.id if fits else None


def _reject(store: Store, memory: m.Memory, actor: str, now: datetime) -> None:
    """Lower the confidence, unless it is a person's word, which programs do not lower."""
    if on_memory(actor, Operation.DOUBT, memory, memory.project_id).permission is not Permission.ALLOW:
        return
    after = replace(memory, confidence=lowered(memory.confidence, REJECTED))
    if after != memory:
        store.log("update", actor, now, memory.id, {"rejected": True, "confidence": after.confidence})
        store.put(after)


def _link_pairs(
    store: Store, used: Sequence[m.Memory], actor: str, now: datetime
) -> Iterator[tuple[str, str, float]]:
    """Link each pair that was used together, or strengthen its link; yield both ends and the weight."""
    related = {
        frozenset((link.source, link.target)): link
        for memory in used
        for link in store.links(memory.id)
        if link.relation is m.Relation.RELATES_TO
    }
    for first, second in combinations(sorted(used, key=lambda memory: memory.id), 2):
        if not can_link(first, second):
            continue
        old = related.get(frozenset((first.id, second.id)))
        if old is None:
            link = m.Link(first.id, second.id, m.Relation.RELATES_TO, now, NEW_LINK, "used together")
        elif old.weight < 1.0:
            link = replace(old, weight=round(min(old.weight + STRONGER, 1.0), 6))
        else:
            continue
        detail = {"link": link.relation, "to": link.target, "weight": link.weight}
        store.log("update", actor, now, link.source, detail)
        store.put_link(link)
        yield link.source, link.target, link.weight


def _shared_word(store: Store, view: m.View, used: Sequence[m.Memory], context: str) -> str | None:
    """Return a word that the context and at least three used memories have, few others have, and none has as a tag.

    Return None if those memories share a tag already.
    """
    if len(used) < TAGGED_TOGETHER:
        return None
    asked = set(distinctive_words(context))
    having = Counter(word for memory in used for word in set(distinctive_words(memory.content)) & asked)
    taken = {tag for memory in used for tag in memory.tags}
    shared = [word for word, count in having.items() if count >= TAGGED_TOGETHER and word not in taken]
    for word in sorted(shared, key=lambda word: (-having[word], -len(word), word)):
        theirs = [set(memory.tags) for memory in used if word in distinctive_words(memory.content)]
        if not set.intersection(*theirs) and len(store.match(view, word, COMMONEST + 1)) <= COMMONEST:
            return word
    return None


def _gap_text(context: str) -> str | None:
    """Return the context as it may be stored; None if it says too little or is text that Recollect injected."""
    if has_mark(context):
        return None
    from recollect.text.cuts import start_of
    from recollect.text.redact import redact  # importing the rules takes 30 ms

    # Redact before shortening: half a secret is not recognised.
    text = redact(" ".join(start_of(context, 20 * MOST_CONTEXT).split()))[0][:MOST_CONTEXT].strip()
    return text if len(distinctive_words(text)) >= FEWEST_WORDS else None


def _note_gap(
    store: Store, project_id: str | None, text: str | None, session: str | None, actor: str, now: datetime
) -> m.Gap | None:
    """Record the question; return None if there is none, or an open gap asks the same."""
    if text is None or any(_alike(text, gap.context) for gap in store.gaps(project_id, _GAPS_COMPARED)):
        return None
    gap = m.Gap(m.new_id(now), project_id, text, now, session)
    store.log("update", actor, now, None, {"gap": gap.id})
    store.put_gap(gap)
    return gap


def _close_gaps(store: Store, project_id: str | None, text: str, actor: str, now: datetime) -> None:
    """Close the open gaps that ask the same as `text`, which a memory has answered."""
    for gap in store.gaps(project_id, _GAPS_COMPARED):
        if _alike(text, gap.context):
            store.log("update", actor, now, None, {"gap": gap.id, "closed": True})
            store.close_gap(gap.id, now)


def _alike(first: str, second: str) -> bool:
    a, b = set(distinctive_words(first)), set(distinctive_words(second))
    return len(a & b) >= ALIKE * len(a | b)


def feedback(
    store: Store, memory: m.Memory, helpful: bool, actor: str, now: datetime, once: str | None = None
) -> m.Memory:
    """Record whether a memory helped, and return it. Raise `MemoryNotFound` if it was purged.

    Feedback with a `once` that was recorded before changes nothing.
    """
    with store.transaction():
        before = store.get(memory.id)  # it may have been used since it was shown
        if once is not None and not _is_new_feedback(store, before.project_id, once):
            return before
        if helpful:
            after = replace(
                before,
                access_count=before.access_count + 1,
                last_accessed_at=now,
                strength=before.strength + 1,
                confidence=raised(before.confidence),
            )
        else:
            after = replace(before, confidence=lowered(before.confidence, LOWERED))
        detail = {"feedback": "helpful" if helpful else "not_helpful", "confidence": after.confidence}
        store.log("update", actor, now, memory.id, detail)
        store.put(after)
    return after


def _is_new_feedback(store: Store, project_id: str | None, once: str) -> bool:
    """Note the feedback of an agent; return False if it was noted before."""
    given: list[str] = store.setting(project_id, "agent_feedback") or []
    if once in given:
        return False
    store.set_setting(project_id, "agent_feedback", [*given, once][-_FEEDBACK_KEPT:])
    return True


def raised(confidence: float) -> float:
    return round(min(confidence + RAISED, 1.0), 6)


def lowered(confidence: float, by: float) -> float:
    return round(max(confidence - by, 0.0), 6)
