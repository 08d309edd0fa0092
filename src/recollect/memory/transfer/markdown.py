"""Memories as pages to read: one for each project and one for what holds everywhere, by kind."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import recollect.model as m
from recollect.context.store import Store
from recollect.kinds import KINDS


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    project: m.Project | None  # None = what holds everywhere
    text: str
    count: int  # memories on it


def pages(store: Store, view: m.View) -> Iterator[MarkdownPage]:
    """What `view` shows that is active, global memories first; none for a project without any."""
    active = replace(view, states=frozenset({m.State.ACTIVE}), all_sessions=False)
    places: list[m.Project | None] = [None, *store.projects()]
    for place in places:
        if place is not None and not view.all_projects and place.id != view.project_id:
            continue
        here = place.id if place else None
        found = store.iter_memories(replace(active, project_id=here, all_projects=False))
        memories = [memory for memory in found if memory.project_id == here]
        if memories:
            yield MarkdownPage(place, _page(place.name if place else "Everywhere", memories), len(memories))


def _page(name: str, memories: list[m.Memory]) -> str:
    parts = [f"# {_plain(' '.join(name.split()))}\n"]
    for kind in KINDS:
        chosen = [memory for memory in reversed(memories) if memory.kind == kind]
        if chosen:
            parts.append(f"\n## {kind.replace('_', ' ').capitalize()}\n\n")
            parts += map(_item, sorted(chosen, key=lambda memory: not memory.pinned))
    return "".join(parts)


def _item(memory: m.Memory) -> str:
    lines = _plain(memory.content).split("\n")
    if memory.procedure:
        lines += [
            f"{number}. {_plain(' '.join(step.split()))}"
            for number, step in enumerate(memory.procedure.steps, start=1)
        ]
    about = [
        *(["pinned"] if memory.pinned else []),
        f"{memory.created_at:%Y-%m-%d}",
        *(f"`{path}`" for path in memory.file_paths),
        *(f"#{tag}" for tag in memory.tags),
        memory.id,
    ]
    lines.append(f"<sub>{_plain(' · '.join(about))}</sub>")
    return "- " + "  \n  ".join(lines) + "\n"  # two spaces: a new line within the item


def _plain(text: str) -> str:
    """Nothing a terminal obeys, should the page be shown in one."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
