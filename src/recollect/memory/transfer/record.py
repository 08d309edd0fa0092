"""One record of a foreign file as a memory, a link, a project, a session…

The tables at the end say of every field what it must be. What they do not name is not read, so nothing
comes in unchecked; what they call a text is redacted.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import recollect.memory.transfer.fields as f
import recollect.model as m
from recollect.code.modules import module_map as maps
from recollect.code.paths import FileRole
from recollect.kinds import DEFAULT
from recollect.memory.write import enrich, limits
from recollect.model import Owner, Pattern, SessionLearning
from recollect.text.redact import redact
from recollect.work.episodes import learnings, patterns

_REMEMBERED = 64  # characters: names come again and again, statements do not

# Nine characters of an id hold milliseconds from the first of these to beyond the second.
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ForeignProject:
    """A project as a file tells of it."""

    id: str
    name: str
    keys: tuple[str, ...] = ()

    @property
    def remotes(self) -> list[str]:
        return [key for key in self.keys if key.startswith("remote:")]


@dataclass(frozen=True, slots=True)
class ForeignSetting:
    """What a user has set, for a project or for all."""

    name: str
    value: Any  # as the table `_SETTINGS` has read it
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignVector:
    model: str
    values: bytes  # little-endian float32, unit length


class RecordReader:
    """Reads records, all in the eyes of one user, who is called `exporter` in the file if that is not None.

    Raises `ContentRefused` or `UnknownName` with the field.
    """

    def __init__(
        self, user_id: str, project: m.Project | None, clock: m.Clock, exporter: str | None = None
    ) -> None:
        self.user_id = user_id
        self._exporter = exporter
        self._project = project
        self._clock = clock
        self._seen: dict[str, tuple[str, int]] = {user_id: (user_id, 0)}
        self.found = 0  # things taken out of the texts of the last record

    def memory(self, record: object, projects: Mapping[str, str]) -> m.Memory:
        """`projects` has our ids for those of the file."""
        given = self._start(record)
        text = self.clean(limits.clean(given.get("content")))
        limits.check_size(text)
        folded = " ".join(text.split())
        self._seen[folded] = folded, 0  # a short memory is its own summary
        values = f.read(_MEMORY, given, self, "")
        self._take_home(values)
        born = values.setdefault("created_at", self._clock())
        session, author = values.pop("session", None), values.pop("author", "user")
        stated = author == "user"
        origin = m.Provenance(
            m.Source.USER_STATED if stated else m.Source.OBSERVED,
            born,
            session=session,
            branch=values.get("branch"),
            reason="imported",
        )
        values["provenance"] = values.get("provenance") or (origin,)
        if "project_id" in values:
            values["project_id"] = projects.get(values["project_id"], values["project_id"])
        elif self._project is not None and values.get("scope") is not m.Scope.GLOBAL:
            values["project_id"] = self._project.id
        home = values.setdefault("project_id", None)
        trust = values.setdefault("trust", m.TRUST[values["provenance"][0].source])
        values["summary"] = values.get("summary") or enrich.summarise(text)
        if "id" not in values:  # one that sorts by when the memory was made
            values["id"] = m.new_id(min(max(born, _EARLIEST), _LATEST))
        if values.get("superseded_by") == values["id"]:
            raise f.refusal("superseded_by names the memory itself")
        if "tags" not in values:
            values["tags"] = enrich.infer_tags(text, values.get("file_paths", ()), ())
        defaults = {
            "user_id": self.user_id,
            "scope": m.Scope.PROJECT if home else m.Scope.GLOBAL,
            "kind": DEFAULT,
            "updated_at": born,
            "valid_from": born,
            "confidence": trust,
            "created_by": "user" if stated else "agent:unknown",
        }
        return m.Memory(content=text, fingerprint=m.fingerprint(text), **(defaults | values))

    def link(self, record: object) -> m.Link:
        link: m.Link = _LINK("link", self._start(record), self)
        return link

    def project(self, record: object) -> ForeignProject:
        project: ForeignProject = _PROJECT("project", self._start(record), self)
        return project

    def vector(self, record: Mapping[str, Any]) -> ForeignVector | None:
        """That of a memory; None where it came without."""
        return f.read({"vector": _VECTOR}, record, self, "").get("vector")

    def session(self, record: object, projects: Mapping[str, str]) -> m.Session:
        values = self._owned(_SESSION, record, "session", projects, "id", "started_at")
        return m.Session(**{"user_id": self.user_id, "project_id": None} | values)

    def finding(self, record: object) -> m.Finding:
        values = f.whole(_FINDING, self._start(record), self, "finding", *_FINDING_NEEDS)
        return m.Finding(fingerprint=m.fingerprint(values["content"]), **values)

    def gap(self, record: object, projects: Mapping[str, str]) -> m.Gap:
        values = self._owned(_GAP, record, "gap", projects, "id", "context", "created_at")
        return m.Gap(**{"project_id": None} | values)

    def review(self, record: object, projects: Mapping[str, str]) -> m.Review:
        values = self._owned(_REVIEW, record, "review", projects, "id", "kind", "memories", "created_at")
        return m.Review(**{"user_id": self.user_id, "project_id": None, "reason": ""} | values)

    def module_map(self, record: object, projects: Mapping[str, str]) -> tuple[str, maps.ModuleMap]:
        """The project, and its map."""
        values = self._owned(_MAP, record, "map", projects, "project_id", "version", "modules")
        if values.pop("version") != maps.VERSION:
            raise f.refusal("map.version is another one than ours: the project has to be scanned anew")
        return values.pop("project_id"), maps.ModuleMap(**values)

    def pattern(self, record: object, projects: Mapping[str, str]) -> tuple[Owner, Pattern]:
        owner, values = self._learnt(_PATTERN, _PATTERNS, record, "pattern", projects)
        return owner, Pattern(**values)

    def learning(self, record: object, projects: Mapping[str, str]) -> tuple[Owner, SessionLearning]:
        owner, values = self._learnt(_LEARNING, _LEARNINGS, record, "learning", projects)
        return owner, SessionLearning(**values)

    def _learnt(
        self,
        table: f.Table,
        kinds: Mapping[str, f.Field],
        record: object,
        name: str,
        projects: Mapping[str, str],
    ) -> tuple[Owner, dict[str, Any]]:
        """What was learnt from what was done: `data` is read as its kind has it."""
        kind = str(self._start(record).get("kind"))
        fields = {**table, "data": kinds.get(kind, f.text), "project_id": f.project_id}
        values = self._owned(fields, record, name, projects, *table, "data")
        return Owner(self.user_id, values.pop("project_id", None)), values

    def tag(self, record: object) -> tuple[str, str]:
        """Its name and description."""
        values = f.whole(_TAG, self._start(record), self, "tag", "name", "description")
        return enrich.normal_tag(values["name"]), values["description"]

    def setting(self, record: object, projects: Mapping[str, str]) -> ForeignSetting:
        given = self._start(record)
        table = {**_SETTING, "value": _SETTINGS.get(str(given.get("name")), f.text)}
        return ForeignSetting(**self._owned(table, record, "setting", projects, "name", "value"))

    def _owned(
        self, table: f.Table, record: object, name: str, projects: Mapping[str, str], *needed: str
    ) -> dict[str, Any]:
        values = f.whole(table, self._start(record), self, name, *needed)
        self._take_home(values)
        if "project_id" in values:
            values["project_id"] = projects.get(values["project_id"], values["project_id"])
        return values

    def _take_home(self, values: dict[str, Any]) -> None:
        """Who moves to another machine may be called otherwise there."""
        if self._exporter is not None and values.get("user_id") == self._exporter:
            values["user_id"] = self.user_id

    def clean(self, text: str) -> str:
        """`text` without secrets, which are counted."""
        seen = self._seen.get(text)
        if seen is None:
            cleaned, redactions = redact(text)
            seen = cleaned, len(redactions)
            if len(self._seen) > 10_000:
                self._seen = {self.user_id: (self.user_id, 0)}
            if len(text) <= _REMEMBERED:
                self._seen[text] = seen
        self.found += seen[1]
        return seen[0]

    def _start(self, record: object) -> Mapping[str, Any]:
        self.found = 0
        if not isinstance(record, Mapping):
            raise f.refusal("It is not an object")
        return record


_PROVENANCE: f.Table = {
    "source": f.one_of(m.Source),
    "at": f.time,
    "session": f.text,
    "messages": f.span,
    "agent": f.text,
    "branch": f.text,
    "snippet": f.text,
    "reason": f.text,
}
_REINFORCEMENT: f.Table = {"at": f.time, "by": f.named, "session": f.text, "said": f.text}
_ANCHOR: f.Table = {"path": f.named, "symbol": f.text, "digest": f.digest}
_PROCEDURE: f.Table = {
    "name": f.text,
    "trigger": f.text,
    "steps": f.texts,
    "prerequisites": f.texts,
    "warnings": f.texts,
}
_MEMORY: f.Table = {  # `content` is read first, and `fingerprint` made anew
    "id": f.identity,
    "user_id": f.handle,
    "project_id": f.project_id,
    "scope": f.one_of(m.Scope),
    "kind": f.kind,
    "summary": f.text,
    "created_at": f.time,
    "updated_at": f.time,
    "valid_from": f.time,
    "provenance": f.trail_of(f.object_of(m.Provenance, _PROVENANCE, "source", "at"), first=1),
    "created_by": f.named,
    "visibility": f.one_of(m.Visibility),
    "standing": f.one_of(m.Standing),
    "state": f.one_of(m.State),
    "state_reason": f.text,
    "superseded_by": f.identity,
    "tags": f.tags,
    "file_paths": f.texts,
    "anchors": f.list_of(f.object_of(m.Anchor, _ANCHOR, "path")),
    "triggers": f.texts,
    "procedure": f.object_of(m.Procedure, _PROCEDURE, "name"),
    "season": f.text,
    "branch": f.text,
    "importance": f.share,
    "confidence": f.share,
    "trust": f.share,
    "strength": f.count,
    "access_count": f.count,
    "last_accessed_at": f.time,
    "valid_to": f.time,
    "deleted_at": f.time,
    "reinforcements": f.trail_of(f.object_of(m.Reinforcement, _REINFORCEMENT, "at", "by")),
    "order": f.count,
    "promoted_at": f.time,
    "settled_at": f.time,
    "session": f.text,  # this and the next are for plain lines, which have no provenance
    "author": f.one_of(("user", "assistant")),
}
_LINK_FIELDS: f.Table = {
    "source": f.identity,
    "target": f.identity,
    "relation": f.one_of(m.Relation),
    "created_at": f.time,
    "weight": f.weight,
    "reason": f.text,
    "verdict": f.one_of(("contradictory", "superseded", "ambiguous")),
    "resolved_at": f.time,
}
_LINK = f.object_of(m.Link, _LINK_FIELDS, "source", "target", "relation", "created_at")
_PROJECT_FIELDS: f.Table = {"id": f.project_id, "name": f.named, "keys": f.list_of(f.key)}
_PROJECT = f.object_of(ForeignProject, _PROJECT_FIELDS, "id", "name")


def _floats(name: str, value: Any, reader: f.Cleaner) -> bytes:
    import numpy as np

    try:
        data = base64.b64decode(f.short(name, value, 64 * f.LONGEST), validate=True)
        length = float(np.linalg.norm(np.frombuffer(data, "<f4")))
    except (binascii.Error, ValueError):
        length = 0.0
    if not abs(length - 1) < 0.01:  # nor is NaN
        raise f.refusal(f"{name} must be a vector of length 1, as base64 of 32-bit floats")
    return data


_VECTOR = f.object_of(ForeignVector, {"model": f.handle, "values": _floats}, "model", "values")
_SESSION: f.Table = {
    "id": f.handle,
    "user_id": f.handle,
    "project_id": f.project_id,
    "started_at": f.time,
    "agent": f.text,
    "host": f.text,
    "branch": f.text,
    "parent": f.text,
    "ended_at": f.time,
    "summary": f.story,
    "active_at": f.time,
    "extracted_at": f.time,
}  # `transcript` is a file on the machine it was on
_FINDING: f.Table = {  # `fingerprint` is made anew
    "id": f.identity,
    "session": f.handle,
    "kind": f.kind,
    "content": f.story,
    "created_at": f.time,
    "importance": f.share,
    "confidence": f.share,
    "tags": f.texts,
    "file_paths": f.texts,
    "messages": f.span,
    "promoted_to": f.identity,
    "source": f.one_of(m.Source),
    "signals": f.texts,
    "steps": f.texts,
}
_FINDING_NEEDS = ("id", "session", "kind", "content", "created_at")
_GAP: f.Table = {
    "id": f.identity,
    "project_id": f.project_id,
    "context": f.story,
    "created_at": f.time,
    "session": f.text,
}
_REVIEW: f.Table = {
    "id": f.identity,
    "user_id": f.handle,
    "project_id": f.project_id,
    "kind": f.named,
    "memories": f.list_of(f.identity),
    "reason": f.text,
    "created_at": f.time,
    "decided_at": f.time,
    "decision": f.text,
}
_TAG: f.Table = {"name": f.named, "description": f.text}


_MOST_FILES = 60_000  # of a module: all that a project can have


_files = f.list_of(f.named, _MOST_FILES)
_PLACED = f.object_of(maps.Placement, {"key": f.text, "by": f.named}, "key", "by")
_MODULE: f.Table = {
    "key": f.named,
    "name": f.named,
    "kind": f.one_of(FileRole),
    "description": f.text,
    "core_files": _files,
    "entry_points": _files,
    "test_files": _files,
    "dependencies": f.list_of(f.named, _MOST_FILES),
    "related": f.list_of(f.named, _MOST_FILES),
    "terms": f.list_of(f.named, _MOST_FILES),
    "confidence": f.one_of(maps.Confidence),
    "sessions": f.texts,
    "said": f.named_values(f.named),
}
_FRAMEWORK: f.Table = {"tool": f.named, "config_file": f.text, "run_command": f.text}
_TOOLS: f.Table = {
    "path": f.text,
    "tool": f.named,
    "commands": f.named_values(f.text),
    "test": f.object_of(maps.TestFramework, _FRAMEWORK, "tool"),
    "linters": f.texts,
}
_MAP: f.Table = {
    "project_id": f.project_id,
    "version": f.count,
    "modules": f.list_of(f.object_of(maps.Module, _MODULE, "key", "name"), _MOST_FILES),
    "tools": f.list_of(f.object_of(maps.ProjectTools, _TOOLS, "path", "tool"), _MOST_FILES),
    "files": f.named_values(_PLACED, _MOST_FILES),
    "merged": f.named_values(_PLACED, _MOST_FILES),
    "updated_at": f.time,
}


def _line(name: str, value: Any, reader: f.Cleaner) -> tuple[str, tuple[str, ...]]:
    """Of a failure: its words, and what they spoke of."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise f.refusal(f"{name} must be words and names")
    return f.named(name, value[0], reader), f.texts(name, value[1], reader)


_some_lines = f.list_of(_line)


def _lines(name: str, value: Any, reader: f.Cleaner) -> tuple[Any, ...]:
    lines: tuple[Any, ...] = _some_lines(name, value, reader)
    if not lines:
        raise f.refusal(f"{name} is empty")
    return lines


_FAILURE = f.data({"head": f.text, "lines": _lines})
_PATTERNS: Mapping[str, f.Field] = {
    patterns.CO_EDIT: f.data({"files": f.pair(f.named), "operations": f.texts, "within_seconds": f.count}),
    patterns.ERROR_FIX: f.data(
        {
            "failure": _FAILURE,
            "error": f.text,
            "command": f.text,
            "files": f.texts,
            "commands": f.texts,
            "instead": f.text,
        }
    ),
    patterns.REFACTOR: f.data({"rename": f.pair(f.named), "files": f.list_of(f.named, _MOST_FILES)}),
    patterns.WORKFLOW: f.data({"steps": f.texts}),
}
_LEARNINGS: Mapping[str, f.Field] = {
    learnings.FILE_PURPOSE: f.data({"path": f.named, "says": f.text, "tasks": f.texts, "times": f.count}),
    learnings.COMMON_ERROR: f.data(
        {"error": f.text, "command": f.text, "times": f.count}, "error", "command"
    ),
    learnings.WORKFLOW_LEARNT: f.data({"steps": f.texts, "times": f.count}),
}


def _mark(name: str, value: Any, reader: f.Cleaner) -> str:
    """What a pattern is known by: words, or a digest, which is no secret."""
    return (
        value
        if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{24}", value)
        else f.named(name, value, reader)
    )


_PATTERN: f.Table = {
    "kind": f.one_of(_PATTERNS),
    "name": _mark,
    "confidence": f.share,
    "count": f.count,
    "first_seen": f.time,
    "last_seen": f.time,
}
_LEARNING: f.Table = {"kind": f.one_of(_LEARNINGS), "name": f.named, "confidence": f.share, "session": f.text}


def _budget(name: str, value: Any, reader: f.Cleaner) -> int:
    tokens = f.count(name, value, reader)
    if not tokens:
        raise f.refusal(f"{name} must be above 0")
    return tokens


def _aliases(name: str, value: Any, reader: f.Cleaner) -> dict[str, Any]:
    """As `recall.aliases` keeps them: what was added, and which of the defaults were taken out."""
    kept = f.whole({"added": _added, "removed": f.list_of(f.any_texts, 10 * f.MOST)}, value, reader, name)
    if any(len(pair) != 2 for pair in kept.get("removed", ())):
        raise f.refusal(f"{name}.removed must be a list of pairs")
    return {"added": kept.get("added", {}), "removed": [list(pair) for pair in kept.get("removed", ())]}


def _added(name: str, value: Any, reader: f.Cleaner) -> dict[str, list[str]]:
    if not isinstance(value, Mapping) or len(value) > f.MOST:
        raise f.refusal(f"{name} must be an object of at most {f.MOST} names")
    return {f.named(name, each, reader): list(f.texts(name, words, reader)) for each, words in value.items()}


_SETTINGS: f.Table = {"aliases": _aliases, "seasons": f.texts, "budget": _budget}
SETTINGS = tuple(_SETTINGS)  # what a user has set and would miss; the others are a machine's own
_SETTING: f.Table = {"name": f.one_of(SETTINGS), "project_id": f.project_id}
