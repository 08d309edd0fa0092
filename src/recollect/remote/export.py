"""What a team has stored, in a form that people and programs can read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import recollect.model as m
from recollect.remote.client import TeamClient
from recollect.remote.results import RecordPage


@dataclass
class Exported:
    """Memories, and with those of one person what else is stored of them, by name."""

    memories: list[m.Memory] = field(default_factory=list)
    projects: dict[str, str] = field(default_factory=dict)  # names, by id
    person: dict[str, Any] = field(default_factory=dict)  # empty = memories of all

    @classmethod
    def read(cls, client: TeamClient, mine: bool) -> "Exported":
        """Read everything that the caller may see; with `mine`, everything that is stored of them."""
        found, offset = cls(), 0
        found.projects = {project.id: project.name for project in client.call("projects", {})}
        while True:
            page = client.call("my_data" if mine else "export", {"offset": offset})
            found.memories += page.memories
            if mine and not offset:
                found.person = {"me": json.loads(m.dumps(page.me))}
            if page.next is None:
                break
            offset = page.next
        if mine:
            found.person |= records(lambda offset: client.call("my_records", {"offset": offset}))
        return found


def records(read: Callable[[int], RecordPage]) -> dict[str, list[dict[str, Any]]]:
    """Return everything that is stored of a person beside their memories, by table, a page at a time."""
    found: dict[str, list[dict[str, Any]]] = {}
    offset: int | None = 0
    while offset is not None:
        page = read(offset)
        for table, row in page.records:
            found.setdefault(table, []).append(row)
        offset = page.next
    return found


def as_json_lines(data: Exported) -> str:
    return "".join(m.visible_json(m.dumps(memory)) + "\n" for memory in data.memories)


def as_json(data: Exported) -> str:
    memories = [json.loads(m.dumps(memory)) for memory in data.memories]
    return (
        m.visible_json(json.dumps({**data.person, "memories": memories}, ensure_ascii=False, indent=2)) + "\n"
    )


def as_markdown(data: Exported) -> str:
    lines = ["# Memories", ""]
    by_project = sorted(data.memories, key=lambda memory: (memory.project_id or "", memory.id))
    for project, memories in groupby(by_project, key=lambda memory: memory.project_id):
        lines += [f"## {_line(data.projects.get(project or '', project or 'Everywhere'))}", ""]
        for memory in memories:
            about = f"{memory.kind}, {memory.visibility}, {memory.state}, {m.to_text(memory.created_at)}"
            quoted = memory.content.replace("\n", "\n  ")
            lines.append(f"- {quoted}  \n  *{about}, by {memory.created_by}, {memory.id}*")
        lines.append("")
    for name, value in data.person.items():
        lines += [f"## {name.capitalize()}", "", *_items(value), ""]
    return "\n".join(lines)


def _items(value: Any) -> list[str]:
    """Return lines for a value of a person: an item for each entry or field."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [f"- {_line(json.dumps(each, ensure_ascii=False))}" for each in value] or ["None."]
    if isinstance(value, dict):
        return [f"- {name}: {_line(json.dumps(each, ensure_ascii=False))}" for name, each in value.items()]
    return [_line(str(value))]


def _line(text: str) -> str:
    return " ".join(text.split())
