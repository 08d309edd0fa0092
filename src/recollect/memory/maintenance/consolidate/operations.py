"""The operations of consolidation in their order, and those that look at one memory, tag or cluster at a time."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

import recollect.model as m
from recollect.errors import EmbedderUnavailable
from recollect.frozen import frozen
from recollect.memory.decay import confidence_now
from recollect.memory.maintenance.clusters import find_clusters, join_near
from recollect.memory.maintenance.consolidate.context import (
    CLUSTERS,
    PRUNED,
    STALE,
    TAGS,
    TIED,
    VECTORS,
    Action,
    OperationContext,
)
from recollect.memory.maintenance.consolidate.links import link_across_sessions, strengthen_used_together
from recollect.memory.maintenance.consolidate.pairs import find_contradictions, merge_duplicates
from recollect.memory.maintenance.states import forget
from recollect.memory.maintenance.vectors import models_of, text_for
from recollect.memory.write.enrich import ENTITIES, normal_tag

_BATCH = 8  # texts embedded at a time: some 50 ms

PRUNE_CONFIDENCE = 0.05  # archived memories below it are forgotten…
PRUNE_STRENGTH = 1  # …if they were stated only once

# Words that end in s and are no plural of the rest.
_NO_PLURALS = ENTITIES | frozenset(
    "https tls dns aws css sass less news series status always pandas express".split()
)


def make_vectors(context: OperationContext, position: str) -> Iterator[Action]:
    """Embed memories that have no vector, newest first. Does nothing without an embedder."""
    for model in models_of(context.embedder):
        missing = iter([name for name, _ in context.store.without_vector(model, -1)])
        while names := list(islice(missing, _BATCH)):
            context.throttle.yield_to_foreground()
            memories = [memory for memory in context.store.get_many(names).values() if context.owns(memory)]
            try:
                rows = context.embedder.embed([text_for(model, memory) for memory in memories])
            except EmbedderUnavailable:
                return
            for memory, row in zip(memories, rows, strict=True):
                put = partial(_put_vector, context, memory, model, row.astype("<f4").tobytes())
                yield Action(VECTORS, (memory.id,), "had none", put)


def _put_vector(context: OperationContext, memory: m.Memory, model: str, vector: bytes) -> bool:
    current = context.store.get_many([memory.id]).get(memory.id)
    if current is None or text_for(model, current) != text_for(model, memory):  # edited or purged since
        return False
    context.store.put_vector(memory.id, model, vector)
    return True


def tie_to_code(context: OperationContext, position: str) -> Iterator[Action]:
    """Anchor memories that name code and have no anchor.

    They were written before the project had a code graph, or confirmed since the code changed.
    """
    for memory in context.store.iter_memories(context.everything):
        context.throttle.yield_to_foreground()
        if memory.id <= position or not context.owns(memory) or memory.anchors or memory.branch is not None:
            continue
        verifier = context.verifier(memory)
        if verifier is not None and (anchors := verifier.tie(memory)):
            places = ", ".join(f"{anchor.path}::{anchor.symbol}".removesuffix("::") for anchor in anchors)
            yield Action(TIED, (memory.id,), places, partial(_tie, context, memory, anchors), memory.id)


def _tie(context: OperationContext, memory: m.Memory, anchors: tuple[m.Anchor, ...]) -> bool:
    current = context.store.get_many([memory.id]).get(memory.id)
    if current is None or current.anchors or current.content != memory.content:
        return False
    context.store.put(replace(current, anchors=anchors))
    return True


def check_facts(context: OperationContext, position: str) -> Iterator[Action]:
    """Ask about memories that the project's files no longer support."""
    for memory in context.store.iter_memories(context.everything):
        context.throttle.yield_to_foreground()
        if memory.id <= position or not context.owns(memory):
            continue
        verifier = context.verifier(memory)
        if verifier is not None and (why := verifier.check(memory)):
            # A confirmed memory was tied to the code of that day, so a later change is a new question.
            since = context.now if verifier.changed(memory) else None
            ask = partial(context.ask, "stale", why, memory, since=since)
            yield Action(STALE, (memory.id,), why, ask, memory.id)


def prune(context: OperationContext, position: str) -> Iterator[Action]:
    """Forget archived memories with low confidence. Like all forgotten memories they can be restored for 30 days."""
    archived = replace(context.everything, states=frozenset({m.State.ARCHIVED}))
    for memory in context.store.iter_memories(archived):
        context.throttle.yield_to_foreground()
        if memory.id > position and context.owns(memory) and _can_prune(context, memory):
            yield Action(
                PRUNED,
                (memory.id,),
                f"archived, confidence {confidence_now(memory, context.confirmed_now):.2f}",
                partial(_prune, context, memory.id),
                memory.id,
            )


def _can_prune(context: OperationContext, memory: m.Memory) -> bool:
    return (
        memory.state is m.State.ARCHIVED
        and memory.strength <= PRUNE_STRENGTH
        and confidence_now(memory, context.confirmed_now) < PRUNE_CONFIDENCE
    )


def _prune(context: OperationContext, memory_id: str) -> bool:
    memory = context.store.get_many([memory_id]).get(memory_id)
    if memory is None or not _can_prune(context, memory):
        return False
    forget(context.store, memory_id, context.actor, context.now, "pruned")
    return True


def unify_tags(context: OperationContext, position: str) -> Iterator[Action]:
    """Rename tags that differ only in spelling to the most common spelling; drop tags that no memory has."""
    every_state = replace(context.everything, states=m.ALL_STATES)
    spellings: dict[str, list[m.Tag]] = {}
    for tag in context.store.tags(every_state):  # most common first
        spellings.setdefault(tag_root(tag.name), []).append(tag)
    for main, *others in spellings.values():
        for other in others:
            for memory in context.store.newest(every_state, tag=other.name):
                if context.owns(memory):
                    yield Action(
                        TAGS,
                        (memory.id,),
                        f"{other.name} → {main.name}",
                        partial(_rename_tag, context, memory.id, other.name, main.name),
                    )
            if other.description and not main.description:
                yield Action(
                    TAGS,
                    (),
                    f"{main.name} gets the description of {other.name}",
                    partial(_describe_tag, context, main, other.description),
                )
    for name in context.store.orphan_tags():
        yield Action(TAGS, (), f"no memory has {name}", partial(context.store.drop_tag, name))


def tag_root(tag: str) -> str:
    """Return a key that is the same for all spellings of a tag: case, hyphens, singular or plural."""
    plain = normal_tag(tag)
    last = plain.rpartition("-")[2]
    if last not in _NO_PLURALS and len(last) > 3 and last.isalpha():
        plain = plain.removesuffix(last) + _singular(last)
    return re.sub(r"[-_.\s]", "", plain) or tag


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _rename_tag(context: OperationContext, memory_id: str, old: str, new: str) -> bool:
    memory = context.store.get_many([memory_id]).get(memory_id)
    if memory is None or old not in memory.tags:
        return False
    names = tuple(dict.fromkeys(new if name == old else name for name in memory.tags))
    context.store.log("update", context.actor, context.now, memory.id, {"fields": ["tags"]})
    context.store.put(replace(memory, tags=names, updated_at=context.now))
    context.store.drop_tag(old)  # if this was the last memory that had it
    return True


def _describe_tag(context: OperationContext, tag: m.Tag, text: str) -> bool:
    context.store.describe_tag(tag.name, text)
    return True


def refresh_clusters(context: OperationContext, position: str) -> Iterator[Action]:
    """Find the clusters of each project again. A cluster that keeps its members is left as it is."""
    projects = sorted({group.project_id or "" for group in context.groups()})
    for number, name in enumerate(projects):
        if name >= position:
            context.throttle.yield_to_foreground()
            project = name or None
            view = m.View(context.user_id, project)
            clusters = join_near(
                find_clusters(context.store, context.embedder.model, view, project, context.now)
            )
            new = {cluster.id: cluster for cluster in clusters}
            old = {cluster.id for cluster in context.store.clusters(project)}
            for cluster_id in old - new.keys():
                drop = partial(context.store.drop_cluster, cluster_id)
                yield Action(CLUSTERS, (), "no longer", drop, name)
            for cluster_id in new.keys() - old:
                put = partial(_put_cluster, context, new[cluster_id])
                yield Action(CLUSTERS, (), new[cluster_id].label, put, name)
        context.advance((number + 1) / len(projects))


def _put_cluster(context: OperationContext, cluster: m.Cluster) -> bool:
    context.store.put_cluster(cluster)
    return True


@frozen
class ConsolidationStep:
    """One operation. `plan` yields actions from a position on, and may yield some again after an interruption."""

    plan: Callable[[OperationContext, str], Iterator[Action]]
    batch: int = 32  # actions in one transaction, so that another writer waits for 50 ms at most


OPERATIONS = {
    "vectors": ConsolidationStep(make_vectors),
    "merge": ConsolidationStep(merge_duplicates, batch=8),
    "contradictions": ConsolidationStep(find_contradictions, batch=8),
    "coaccess": ConsolidationStep(strengthen_used_together),
    "links": ConsolidationStep(link_across_sessions),
    "ties": ConsolidationStep(tie_to_code),
    "facts": ConsolidationStep(check_facts),
    "prune": ConsolidationStep(prune, batch=16),
    "tags": ConsolidationStep(unify_tags, batch=16),
    "clusters": ConsolidationStep(refresh_clusters, batch=1),
}
