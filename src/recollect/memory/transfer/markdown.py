"""Memories as Markdown pages: one per project and one for global memories, grouped by kind."""

from collections.abc import Iterator
from dataclasses import replace

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.kinds import KINDS


@frozen
class MarkdownPage:
    project: m.Project | None  # None = global memories
    text: str
    count: int  # memories on it


def pages(store: Store, view: m.View) -> Iterator[MarkdownPage]:
    """Yield a page of active memories for each project that has any, global memories first."""
    active = replace(view, states=frozenset({m.State.ACTIVE}), all_sessions=False)
    projects: list[m.Project | None] = [None, *store.projects()]
    for project in projects:
        if project is not None and not view.all_projects and project.id != view.project_id:
            continue
        project_id = project.id if project else None
        visible = store.iter_memories(replace(active, project_id=project_id, all_projects=False))
        memories = [memory for memory in visible if memory.project_id == project_id]
        if memories:
            name = project.name if project else "Everywhere"
            yield MarkdownPage(project, _page(name, memories), len(memories))


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
    """Replace control characters, which a terminal would obey."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
