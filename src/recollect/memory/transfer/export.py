"""Write memories, and everything that belongs to them, as one JSON document."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import IO, Any

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.transfer.import_file import FORMAT, SETTINGS, VERSION
from recollect.model import Owner

_EVERY = 1_000_000_000


def export(
    store: Store,
    view: m.View,
    out: IO[str],
    now: datetime,
    *,
    messages: bool = False,
    model: str | None = None,
) -> int:
    """Write all that `view` shows, one record per line; return the number of memories."""
    count = 0
    for section, text in export_lines(store, view, now, messages=messages, model=model):
        out.write(text)
        count += section == "memories"
    return count


def export_lines(
    store: Store, view: m.View, now: datetime, *, messages: bool = False, model: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the lines of an export, each with the section of its record; "" for lines between records.

    Messages are included if `messages` is set, vectors if `model` is given.
    """
    head = {"format": FORMAT, "version": VERSION, "exported_at": m.to_text(now), "user": view.user_id}
    yield "", _as_head(head)
    projects = [p for p in store.projects() if view.all_projects or p.id == view.project_id]
    sections: dict[str, Iterable[Any]] = {
        "projects": (
            {"id": p.id, "name": p.name, "keys": _portable(store.project_keys(p.id))} for p in projects
        ),
        "settings": _settings(store, [None, *(p.id for p in projects)]),
        "tags": _described(store, view),
        "sessions": (replace(session, transcript="") for session in store.iter_sessions(view)),
        "memories": store.iter_memories(view) if model is None else _with_vectors(store, view, model),
        "links": store.iter_links(view),
        "findings": store.iter_findings(view),
        "gaps": store.iter_gaps(view),
        "reviews": store.reviews.iterate(view),
        "maps": _maps(store, projects),
        "patterns": _patterns(store, view.user_id, projects),
        "learnings": _learnings(store, view.user_id, projects),
        **({"messages": store.messages.iterate(view)} if messages else {}),
    }
    for name, records in sections.items():
        yield "", f'"{name}": [\n'
        held = ""
        for record in records:
            if held:
                yield name, f"{held},\n"
            held = m.visible_json(m.dumps(record))
        if held:
            yield name, f"{held}\n"
        yield "", "]}\n" if name == [*sections][-1] else "],\n"


def _as_head(values: Mapping[str, Any]) -> str:
    """Return the beginning of the document. Its first characters identify the format."""
    pairs = ", ".join(f"{m.dumps(name)}: {m.dumps(value)}" for name, value in values.items())
    return m.visible_json("{" + pairs + ",\n")


def _portable(keys: Iterable[str]) -> list[str]:
    """Return the remotes: a folder means nothing on another machine, and may be private."""
    return [key for key in keys if key.startswith("remote:")]


def _settings(store: Store, places: Iterable[str | None]) -> Iterator[dict[str, Any]]:
    for place in places:
        for name in SETTINGS:
            if value := store.setting(place, name):
                yield {"name": name, "project_id": place, "value": value}


def _maps(store: Store, projects: Iterable[m.Project]) -> Iterator[dict[str, Any]]:
    for project in projects:
        if document := store.modules.get(project.id):
            yield {"project_id": project.id, **json.loads(document)}


def _patterns(store: Store, user_id: str, projects: Iterable[m.Project]) -> Iterator[dict[str, Any]]:
    for owner in _owners(user_id, projects):
        patterns = store.episodes.patterns(owner, limit=_EVERY)
        for pattern in sorted(patterns, key=lambda pattern: (pattern.kind, pattern.name)):
            yield {"project_id": owner.project_id, **m.as_json(pattern)}


def _learnings(store: Store, user_id: str, projects: Iterable[m.Project]) -> Iterator[dict[str, Any]]:
    for owner in _owners(user_id, projects):
        learnings = store.episodes.learnings(owner)
        for learning in sorted(learnings, key=lambda learning: (learning.kind, learning.name)):
            yield {"project_id": owner.project_id, **m.as_json(learning)}


def _owners(user_id: str, projects: Iterable[m.Project]) -> list[Owner]:
    return [Owner(user_id), *(Owner(user_id, project.id) for project in projects)]


def _described(store: Store, view: m.View) -> list[dict[str, str]]:
    tags = sorted(store.tags(view), key=lambda tag: tag.name)
    return [{"name": tag.name, "description": tag.description} for tag in tags if tag.description]


def _with_vectors(store: Store, view: m.View, model: str) -> Iterator[dict[str, Any]]:
    for memory in store.iter_memories(view):
        vector = store.vector(memory.id, model)
        values = {"model": model, "values": base64.b64encode(vector).decode()} if vector else None
        yield {**m.as_json(memory), "vector": values}
