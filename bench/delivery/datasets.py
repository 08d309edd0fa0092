"""Read the projects of bench/data/delivery, and build their stores."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.engine import Engine

DATA = Path(__file__).resolve().parents[1] / "data" / "delivery"
NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)  # ages are counted back from here
SPLITS = ("dev", "unseen", "blind")  # no project is in `unseen` any more, but half of the commits are
_MEMORIES = ".memories.jsonl"
AGE = 30  # days, where a memory has no age
# Whose memories say when they are needed: everybody's, those that an agent recorded, or nobody's. What a person types, a rule reads in a session or
# a repository says has no such lines unless an agent or a person adds them.
SITUATIONS = ("all", "agents", "none")


@dataclass(frozen=True, slots=True)
class DeliveryTask:
    id: str
    prompt: str
    useful: frozenset[str]  # empty = nothing is known about it
    acceptable: frozenset[str]
    opens: tuple[str, ...] | None = None  # files that a competent agent opens for it; None = not labelled


@dataclass(frozen=True, slots=True)
class DeliveryProject:
    name: str
    split: str
    memories: tuple[dict[str, Any], ...]  # as in the file
    tasks: tuple[DeliveryTask, ...]

    @property
    def has_opens(self) -> bool:
        return all(task.opens is not None for task in self.tasks)

    @property
    def pinned(self) -> frozenset[str]:
        return frozenset(row["id"] for row in self.memories if row.get("standing"))


def load(split: str, folder: Path = DATA) -> list[DeliveryProject]:
    """Return the projects of a split, or all of them. Raise `ValueError` for a file that breaks the format.

    In a folder without `split.json` all projects are blind.
    """
    names: dict[str, list[str]] = {
        "blind": sorted(path.name.removesuffix(_MEMORIES) for path in folder.glob(f"*{_MEMORIES}"))
    }
    if (folder / "split.json").exists():
        names = json.loads((folder / "split.json").read_text(encoding="utf-8"))
    wanted = SPLITS if split == "all" else (split,)
    return [_project(folder, name, part) for part in wanted for name in names.get(part, ())]


def import_memories(engine: Engine, project: DeliveryProject, situations: str = "agents") -> dict[str, str]:
    """Store a project's memories as they would be after months of work; return our id of each by the store's.

    `situations` is one of `SITUATIONS`.
    """
    ids = engine.import_memories(_record(row, situations) for row in project.memories)
    engine.embed_missing()
    if None in ids:
        refused = project.memories[ids.index(None)]["id"]
        raise ValueError(f"{project.name}: {refused} was refused")
    return {str(ours): row["id"] for ours, row in zip(ids, project.memories, strict=True)}


def _record(row: dict[str, Any], situations: str) -> dict[str, Any]:
    """Return a record for the import, with what the writer of each source sets."""
    born = (NOW - timedelta(days=row.get("age_days", AGE))).isoformat()
    source = row["source"]
    by_user = source.startswith("user_")
    says_when = situations == "all" or (situations == "agents" and source == "observed")
    record = {
        "content": row["content"],
        "kind": row["kind"],
        "created_at": born,
        "file_paths": row.get("files", []),
        "tags": row.get("tags", []),
        "triggers": row.get("triggers", []),
        "when_needed": row.get("when", []) if says_when else [],
        "provenance": [{"source": source, "at": born}],
        "created_by": "user" if by_user else "recollect:seeds" if source == "seeded" else "agent:claude-code",
        "visibility": "private" if by_user else "project",
        "standing": "candidate" if source in ("seeded", "extracted") else "confirmed",
    }
    if row.get("standing"):
        record["standing"] = "pinned"
    if not by_user:
        record |= {"promoted_at": born, "settled_at": born}
    return record


def _project(folder: Path, name: str, split: str) -> DeliveryProject:
    memories = tuple(_rows(folder / f"{name}{_MEMORIES}"))
    tasks = tuple(
        DeliveryTask(
            row["id"],
            row["prompt"],
            frozenset(row["useful"]),
            frozenset(row.get("acceptable", ())),
            tuple(row["opens"]) if "opens" in row else None,
        )
        for row in _rows(folder / f"{name}.tasks.jsonl")
    )
    ids = {row["id"] for row in memories}
    if len(ids) < len(memories):
        raise ValueError(f"{name}: two memories have the same id")
    for task in tasks:
        if unknown := (task.useful | task.acceptable) - ids:
            raise ValueError(f"{task.id}: no memory {min(unknown)}")
        if both := task.useful & task.acceptable:
            raise ValueError(f"{task.id}: {min(both)} is both useful and acceptable")
    return DeliveryProject(name, split, memories, tasks)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)
