"""What a team has stored, in a form that people and programs can read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import recollect.model as m
from recollect.errors import NotOnServer
from recollect.memory.transfer.import_file import FORMAT, VERSION
from recollect.remote.client import TeamClient
from recollect.remote.results import RecordPage


@dataclass
class Exported:
    """Memories, and with those of one person what else is stored of them, by name."""

    memories: list[m.Memory] = field(default_factory=list)
    links: list[m.Link] = field(default_factory=list)  # between memories of all
    projects: dict[str, str] = field(default_factory=dict)  # names, by id
    person: dict[str, Any] = field(default_factory=dict)  # empty = memories of all
    note: str = ""  # what an older server does not give

    @classmethod
    def read(cls, client: TeamClient, mine: bool) -> "Exported":
        """Read everything that the caller may see; with `mine`, everything that is stored of them."""
        found, where, is_first = cls(), dict[str, Any](), True
        found.projects = {project.id: project.name for project in client.call("projects", {})}
        while True:
            page = client.call("my_data" if mine else "export", where)
            found.memories += page.memories
            if mine and is_first:
                found.person = {"me": json.loads(m.dumps(page.me))}
            if page.next is None:
                break
            after = getattr(page, "after", None)
            where, is_first = ({"after": after} if after else {"offset": page.next}), False
        if mine:
            found.person |= records(lambda offset: client.call("my_records", {"offset": offset}))
        else:
            found._read_links(client)
        return found

    def _read_links(self, client: TeamClient) -> None:
        """Read the links between memories; an older server gives none."""
        offset: int | None = 0
        while offset is not None:
            try:
                page = client.call("export_links", {"offset": offset})
            except NotOnServer:
                self.note = "The links between memories are left out: the server needs an upgrade for them."
                return
            self.links += page.links
            offset = page.next


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
    """Return everything as one document; without a person's own records, `recollect import` reads it."""
    memories = [m.as_json(memory) for memory in data.memories]
    document = {**data.person, "memories": memories}
    if not data.person:
        projects = [{"id": project, "name": name, "keys": []} for project, name in data.projects.items()]
        head = {"format": FORMAT, "version": VERSION, "projects": projects}
        document = {**head, **document, "links": [m.as_json(link) for link in data.links]}
    return m.visible_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


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
