"""Tags that are spelt differently and mean the same become one; those nobody has go."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import recollect.model as m
from recollect.memory.maintenance.consolidate.act import TAGS, Act
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.write.enrich import ENTITIES, normal_tag

# Words that end in s and are no plural of the rest.
_NAMES = ENTITIES | frozenset(
    "https tls dns aws css sass less news series status always pandas express".split()
)


def tags(work: Work, position: str) -> Iterator[Act]:
    every_state = replace(work.everything, states=frozenset(m.State))
    alike: dict[str, list[m.Tag]] = {}
    for tag in work.store.tags(every_state):  # commonest first
        alike.setdefault(root(tag.name), []).append(tag)
    for main, *others in alike.values():
        for other in others:
            for memory in work.store.newest(every_state, tag=other.name):
                if work.own(memory):
                    yield Act(
                        TAGS,
                        (memory.id,),
                        f"{other.name} → {main.name}",
                        partial(_rename, work, memory.id, other.name, main.name),
                    )
            if other.description and not main.description:
                yield Act(
                    TAGS,
                    (),
                    f"{main.name} is described as {other.name} was",
                    partial(_describe, work, main, other.description),
                )
    for name in work.store.orphan_tags():
        yield Act(TAGS, (), f"nobody has {name}", partial(work.store.drop_tag, name))


def root(tag: str) -> str:
    """The same for a tag however it is spelt: case, hyphens, one or several."""
    plain = normal_tag(tag)
    last = plain.rpartition("-")[2]
    if last not in _NAMES and len(last) > 3 and last.isalpha():
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


def _rename(work: Work, memory_id: str, old: str, new: str) -> bool:
    memory = work.store.get_many([memory_id]).get(memory_id)
    if memory is None or old not in memory.tags:
        return False
    names = tuple(dict.fromkeys(new if name == old else name for name in memory.tags))
    work.store.log("update", work.actor, work.now, memory.id, {"fields": ["tags"]})
    work.store.put(replace(memory, tags=names, updated_at=work.now))
    work.store.drop_tag(old)  # if this was the last that had it
    return True


def _describe(work: Work, tag: m.Tag, text: str) -> bool:
    work.store.describe_tag(tag.name, text)
    return True
