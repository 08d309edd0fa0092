"""One record of a foreign file as a memory, a link, a project, a session…

The tables at the end say of every field what it must be. What they do not name is not read, so nothing
comes in unchecked; what they call a text is redacted.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import recollect.model as m
from recollect.codebase.modules import map as maps
from recollect.episodes import learnings, patterns
from recollect.errors import ContentRefused
from recollect.kinds import DEFAULT, kind_of
from recollect.learn import enrich, limits
from recollect.learn.redact import redact
from recollect.store.episode_rows import Learning, Owner, Pattern
from recollect.tend.join import NEWEST

LONGEST = 4 * limits.MAX_FIELD  # characters of a text: what a door lets in, and what its redaction made of it
MOST = 4 * limits.MAX_ITEMS  # tags, files… of one memory: memories that were merged have those of all
STORY = 16 * 1024  # characters of what a session was about
_LARGEST = 2**53 - 1  # as far as JSON counts
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


class Reader:
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
        values = _read(_MEMORY, given, self, "")
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
            raise _refusal("superseded_by names the memory itself")
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
        return _read({"vector": _VECTOR}, record, self, "").get("vector")

    def session(self, record: object, projects: Mapping[str, str]) -> m.Session:
        values = self._owned(_SESSION, record, "session", projects, "id", "started_at")
        return m.Session(**{"user_id": self.user_id, "project_id": None} | values)

    def finding(self, record: object) -> m.Finding:
        values = _whole(_FINDING, self._start(record), self, "finding", *_FINDING_NEEDS)
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
            raise _refusal("map.version is another one than ours: the project has to be scanned anew")
        return values.pop("project_id"), maps.ModuleMap(**values)

    def pattern(self, record: object, projects: Mapping[str, str]) -> tuple[Owner, Pattern]:
        owner, values = self._learnt(_PATTERN, _PATTERNS, record, "pattern", projects)
        return owner, Pattern(**values)

    def learning(self, record: object, projects: Mapping[str, str]) -> tuple[Owner, Learning]:
        owner, values = self._learnt(_LEARNING, _LEARNINGS, record, "learning", projects)
        return owner, Learning(**values)

    def _learnt(
        self,
        table: "Table",
        kinds: "Mapping[str, Field]",
        record: object,
        name: str,
        projects: Mapping[str, str],
    ) -> tuple[Owner, dict[str, Any]]:
        """What was learnt from what was done: `data` is read as its kind has it."""
        kind = str(self._start(record).get("kind"))
        fields = {**table, "data": kinds.get(kind, _text), "project_id": _project_id}
        values = self._owned(fields, record, name, projects, *table, "data")
        return Owner(self.user_id, values.pop("project_id", None)), values

    def tag(self, record: object) -> tuple[str, str]:
        """Its name and description."""
        values = _whole(_TAG, self._start(record), self, "tag", "name", "description")
        return enrich.normal_tag(values["name"]), values["description"]

    def setting(self, record: object, projects: Mapping[str, str]) -> ForeignSetting:
        given = self._start(record)
        table = {**_SETTING, "value": _SETTINGS.get(str(given.get("name")), _text)}
        return ForeignSetting(**self._owned(table, record, "setting", projects, "name", "value"))

    def _owned(
        self, table: "Table", record: object, name: str, projects: Mapping[str, str], *needed: str
    ) -> dict[str, Any]:
        values = _whole(table, self._start(record), self, name, *needed)
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
            raise _refusal("It is not an object")
        return record


Field = Callable[[str, Any, Reader], Any]  # from its name and what the file has, to what is kept
Table = Mapping[str, Field]


def _refusal(what: str) -> ContentRefused:
    return ContentRefused(f"{what}.", "Mend it and import again; the other records are kept.")


def _read(table: Table, given: Mapping[str, Any], reader: Reader, prefix: str) -> dict[str, Any]:
    """The fields that are given: in JSON, null is not."""
    return {
        name: field(prefix + name, given[name], reader)
        for name, field in table.items()
        if given.get(name) is not None
    }


def _object(make: Callable[..., Any], table: Table, *needed: str) -> Field:
    def field(name: str, value: Any, reader: Reader) -> Any:
        return make(**_whole(table, value, reader, name, *needed))

    return field


def _whole(table: Table, value: Any, reader: Reader, name: str, *needed: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _refusal(f"{name} must be an object")
    values = _read(table, value, reader, f"{name}.")
    for each in needed:
        if each not in values:
            raise _refusal(f"{name}.{each} is missing")
    return values


def _list(item: Field, most: int = MOST) -> Field:
    def field(name: str, value: Any, reader: Reader) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _refusal(f"{name} must be a list")
        if len(value) > most:
            raise _refusal(f"{name} has {len(value):,} entries, more than {most}")
        return tuple(item(name, each, reader) for each in value)

    return field


def _trail(item: Field, first: int = 0) -> Field:
    """A list of which the first ones and the newest are kept."""
    whole = _list(item, first + NEWEST)

    def field(name: str, value: Any, reader: Reader) -> Any:
        if isinstance(value, list | tuple):
            value = [*value[:first], *value[first:][-NEWEST:]]
        return whole(name, value, reader)

    return field


def _text(name: str, value: Any, reader: Reader) -> str:
    cleaned = reader.clean(_short(name, value))
    return _short(name, cleaned)  # a mark may be longer than what it stands for


def _short(name: str, value: Any, most: int = LONGEST) -> str:
    if not isinstance(value, str):
        raise _refusal(f"{name} must be a text")
    if len(value) > most:
        raise _refusal(f"{name} has {len(value):,} characters, more than {most:,}")
    return limits.plain(value, name)


def _story(name: str, value: Any, reader: Reader) -> str:
    """A longer text; what is beyond its limit is left out, as where it was first kept."""
    return reader.clean(_short(name, value, 4 * STORY))[:STORY]


def _named(name: str, value: Any, reader: Reader) -> str:
    """A text that says who."""
    text = _text(name, value, reader)
    if not text.strip():
        raise _refusal(f"{name} is empty")
    return text


def _handle(name: str, value: Any, reader: Reader) -> str:
    """A text by which things belong together, so it must not be changed: a secret is refused."""
    text = _named(name, value, reader)
    if text != value:
        raise _refusal(f"{name} looks like a secret")
    return text


_any_texts = _list(_text)


def _texts(name: str, value: Any, reader: Reader) -> tuple[str, ...]:
    return tuple(each for each in _any_texts(name, value, reader) if each.strip())


def _tags(name: str, value: Any, reader: Reader) -> tuple[str, ...]:
    tags = dict.fromkeys(enrich.normal_tag(each) for each in _texts(name, value, reader))
    return tuple(tag for tag in tags if tag)


def _time(name: str, value: Any, reader: Reader) -> datetime:
    try:
        return m.from_text(_short(name, value, 40))
    except ValueError:
        raise _refusal(f"{name} is not a time in ISO 8601") from None


def _share(name: str, value: Any, reader: Reader) -> float:
    if not _is_number(value, int | float) or not 0 <= value <= 1:  # nor is NaN
        raise _refusal(f"{name} must be a number from 0 to 1")
    return float(value)


def _weight(name: str, value: Any, reader: Reader) -> float:
    weight = _share(name, value, reader)
    if not weight:
        raise _refusal(f"{name} must be above 0")
    return weight


def _count(name: str, value: Any, reader: Reader) -> int:
    if not _is_number(value, int) or not 0 <= value <= _LARGEST:
        raise _refusal(f"{name} must be a whole number, 0 or more")
    return int(value)


def _is_number(value: Any, types: Any) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def _span(name: str, value: Any, reader: Reader) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise _refusal(f"{name} must be two whole numbers")
    return _count(name, value[0], reader), _count(name, value[1], reader)


def _one_of(names: Iterable[str]) -> Field:
    known = {str(name): name for name in names}

    def field(name: str, value: Any, reader: Reader) -> str:
        if not isinstance(value, str) or value not in known:
            raise _refusal(f"{name} must be one of {', '.join(known)}")
        return known[value]

    return field


def _kind(name: str, value: Any, reader: Reader) -> str:
    return kind_of(_text(name, value, reader)).name


_OUR_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{18}")
_OTHER_ID = re.compile(r"(?!.*[0-9a-f]{20})[0-9a-z]{1,40}")


def _id(name: str, value: Any, reader: Reader) -> str:
    text = _short(name, value)
    if _OUR_ID.fullmatch(text) or (_OTHER_ID.fullmatch(text) and redact(text)[0] == text):
        return text
    raise _refusal(f"{name} cannot be an id: up to 40 lower-case letters and digits, and no secret")


OUR_PROJECT = re.compile(r"p[0-9a-f]{15}")


def _project_id(name: str, value: Any, reader: Reader) -> str:
    if isinstance(value, str) and OUR_PROJECT.fullmatch(value):
        return value
    return _handle(name, value, reader)


def _key(name: str, value: Any, reader: Reader) -> str:
    if not isinstance(value, str) or not value.startswith(("remote:", "git:", "dir:", "tree:")):
        raise _refusal(f"{name} must begin with remote:, git:, dir: or tree:")
    # A folder is only looked up, and may be called anything.
    return _handle(name, value, reader) if value.startswith("remote:") else _short(name, value, 2 * LONGEST)


def _digest(name: str, value: Any, reader: Reader) -> str:
    if not re.fullmatch(r"[0-9a-f]{0,64}", _short(name, value)):
        raise _refusal(f"{name} must be up to 64 hexadecimal digits")
    return str(value)


_PROVENANCE: Table = {
    "source": _one_of(m.Source),
    "at": _time,
    "session": _text,
    "messages": _span,
    "agent": _text,
    "branch": _text,
    "snippet": _text,
    "reason": _text,
}
_REINFORCEMENT: Table = {"at": _time, "by": _named, "session": _text, "said": _text}
_ANCHOR: Table = {"path": _named, "symbol": _text, "digest": _digest}
_PROCEDURE: Table = {
    "name": _text,
    "trigger": _text,
    "steps": _texts,
    "prerequisites": _texts,
    "warnings": _texts,
}
_MEMORY: Table = {  # `content` is read first, and `fingerprint` made anew
    "id": _id,
    "user_id": _handle,
    "project_id": _project_id,
    "scope": _one_of(m.Scope),
    "kind": _kind,
    "summary": _text,
    "created_at": _time,
    "updated_at": _time,
    "valid_from": _time,
    "provenance": _trail(_object(m.Provenance, _PROVENANCE, "source", "at"), first=1),
    "created_by": _named,
    "visibility": _one_of(m.Visibility),
    "standing": _one_of(m.Standing),
    "state": _one_of(m.State),
    "state_reason": _text,
    "superseded_by": _id,
    "tags": _tags,
    "file_paths": _texts,
    "anchors": _list(_object(m.Anchor, _ANCHOR, "path")),
    "triggers": _texts,
    "procedure": _object(m.Procedure, _PROCEDURE, "name"),
    "season": _text,
    "branch": _text,
    "importance": _share,
    "confidence": _share,
    "trust": _share,
    "strength": _count,
    "access_count": _count,
    "last_accessed_at": _time,
    "valid_to": _time,
    "deleted_at": _time,
    "reinforcements": _trail(_object(m.Reinforcement, _REINFORCEMENT, "at", "by")),
    "order": _count,
    "promoted_at": _time,
    "settled_at": _time,
    "session": _text,  # this and the next are for plain lines, which have no provenance
    "author": _one_of(("user", "assistant")),
}
_LINK_FIELDS: Table = {
    "source": _id,
    "target": _id,
    "relation": _one_of(m.Relation),
    "created_at": _time,
    "weight": _weight,
    "reason": _text,
    "verdict": _one_of(("contradictory", "superseded", "ambiguous")),
    "resolved_at": _time,
}
_LINK = _object(m.Link, _LINK_FIELDS, "source", "target", "relation", "created_at")
_PROJECT_FIELDS: Table = {"id": _project_id, "name": _named, "keys": _list(_key)}
_PROJECT = _object(ForeignProject, _PROJECT_FIELDS, "id", "name")


def _floats(name: str, value: Any, reader: Reader) -> bytes:
    import numpy as np

    try:
        data = base64.b64decode(_short(name, value, 64 * LONGEST), validate=True)
        length = float(np.linalg.norm(np.frombuffer(data, "<f4")))
    except (binascii.Error, ValueError):
        length = 0.0
    if not abs(length - 1) < 0.01:  # nor is NaN
        raise _refusal(f"{name} must be a vector of length 1, as base64 of 32-bit floats")
    return data


_VECTOR = _object(ForeignVector, {"model": _handle, "values": _floats}, "model", "values")
_SESSION: Table = {
    "id": _handle,
    "user_id": _handle,
    "project_id": _project_id,
    "started_at": _time,
    "agent": _text,
    "host": _text,
    "branch": _text,
    "parent": _text,
    "ended_at": _time,
    "summary": _story,
    "active_at": _time,
    "extracted_at": _time,
}  # `transcript` is a file on the machine it was on
_FINDING: Table = {  # `fingerprint` is made anew
    "id": _id,
    "session": _handle,
    "kind": _kind,
    "content": _story,
    "created_at": _time,
    "importance": _share,
    "confidence": _share,
    "tags": _texts,
    "file_paths": _texts,
    "messages": _span,
    "promoted_to": _id,
    "source": _one_of(m.Source),
    "signals": _texts,
    "steps": _texts,
}
_FINDING_NEEDS = ("id", "session", "kind", "content", "created_at")
_GAP: Table = {
    "id": _id,
    "project_id": _project_id,
    "context": _story,
    "created_at": _time,
    "session": _text,
}
_REVIEW: Table = {
    "id": _id,
    "user_id": _handle,
    "project_id": _project_id,
    "kind": _named,
    "memories": _list(_id),
    "reason": _text,
    "created_at": _time,
    "decided_at": _time,
    "decision": _text,
}
_TAG: Table = {"name": _named, "description": _text}


_MOST_FILES = 60_000  # of a module: all that a project can have


def _named_values(item: Field, most: int = MOST) -> Field:
    """An object with names of its own."""

    def field(name: str, value: Any, reader: Reader) -> dict[str, Any]:
        if not isinstance(value, Mapping) or len(value) > most:
            raise _refusal(f"{name} must be an object of at most {most:,} names")
        return {_named(name, key, reader): item(f"{name}.{key}", each, reader) for key, each in value.items()}

    return field


_files = _list(_named, _MOST_FILES)
_PLACED = _object(maps.Placed, {"key": _text, "by": _named}, "key", "by")
_MODULE: Table = {
    "key": _named,
    "name": _named,
    "kind": _one_of(maps.Kind),
    "description": _text,
    "core_files": _files,
    "entry_points": _files,
    "test_files": _files,
    "dependencies": _list(_named, _MOST_FILES),
    "related": _list(_named, _MOST_FILES),
    "terms": _list(_named, _MOST_FILES),
    "confidence": _one_of(maps.Confidence),
    "sessions": _texts,
    "said": _named_values(_named),
}
_FRAMEWORK: Table = {"tool": _named, "config_file": _text, "run_command": _text}
_TOOLS: Table = {
    "path": _text,
    "tool": _named,
    "commands": _named_values(_text),
    "test": _object(maps.Framework, _FRAMEWORK, "tool"),
    "linters": _texts,
}
_MAP: Table = {
    "project_id": _project_id,
    "version": _count,
    "modules": _list(_object(maps.Module, _MODULE, "key", "name"), _MOST_FILES),
    "tools": _list(_object(maps.Tools, _TOOLS, "path", "tool"), _MOST_FILES),
    "files": _named_values(_PLACED, _MOST_FILES),
    "merged": _named_values(_PLACED, _MOST_FILES),
    "updated_at": _time,
}


def _data(table: Table, *may_lack: str) -> Field:
    """As it is kept, what is null too."""
    needed = table.keys() - may_lack

    def field(name: str, value: Any, reader: Reader) -> dict[str, Any]:
        values = _whole(table, value, reader, name, *sorted(needed))
        return {each: values.get(each) for each in table if each in value}

    return field


def _pair(item: Field) -> Field:
    whole = _list(item, 2)

    def field(name: str, value: Any, reader: Reader) -> tuple[Any, ...]:
        pair: tuple[Any, ...] = whole(name, value, reader)
        if len(pair) != 2:
            raise _refusal(f"{name} must be two")
        return pair

    return field


def _line(name: str, value: Any, reader: Reader) -> tuple[str, tuple[str, ...]]:
    """Of a failure: its words, and what they spoke of."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise _refusal(f"{name} must be words and names")
    return _named(name, value[0], reader), _texts(name, value[1], reader)


_some_lines = _list(_line)


def _lines(name: str, value: Any, reader: Reader) -> tuple[Any, ...]:
    lines: tuple[Any, ...] = _some_lines(name, value, reader)
    if not lines:
        raise _refusal(f"{name} is empty")
    return lines


_FAILURE = _data({"head": _text, "lines": _lines})
_PATTERNS: Mapping[str, Field] = {
    patterns.CO_EDIT: _data({"files": _pair(_named), "operations": _texts, "within_seconds": _count}),
    patterns.ERROR_FIX: _data(
        {
            "failure": _FAILURE,
            "error": _text,
            "command": _text,
            "files": _texts,
            "commands": _texts,
            "instead": _text,
        }
    ),
    patterns.REFACTOR: _data({"rename": _pair(_named), "files": _list(_named, _MOST_FILES)}),
    patterns.WORKFLOW: _data({"steps": _texts}),
}
_LEARNINGS: Mapping[str, Field] = {
    learnings.FILE_PURPOSE: _data({"path": _named, "says": _text, "tasks": _texts, "times": _count}),
    learnings.COMMON_ERROR: _data({"error": _text, "command": _text, "times": _count}, "error", "command"),
    learnings.WORKFLOW_LEARNT: _data({"steps": _texts, "times": _count}),
}


def _mark(name: str, value: Any, reader: Reader) -> str:
    """What a pattern is known by: words, or a digest, which is no secret."""
    return (
        value
        if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{24}", value)
        else _named(name, value, reader)
    )


_PATTERN: Table = {
    "kind": _one_of(_PATTERNS),
    "name": _mark,
    "confidence": _share,
    "count": _count,
    "first_seen": _time,
    "last_seen": _time,
}
_LEARNING: Table = {"kind": _one_of(_LEARNINGS), "name": _named, "confidence": _share, "session": _text}


def _budget(name: str, value: Any, reader: Reader) -> int:
    tokens = _count(name, value, reader)
    if not tokens:
        raise _refusal(f"{name} must be above 0")
    return tokens


def _aliases(name: str, value: Any, reader: Reader) -> dict[str, Any]:
    """As `recall.aliases` keeps them: what was added, and which of the defaults were taken out."""
    kept = _whole({"added": _added, "removed": _list(_any_texts, 10 * MOST)}, value, reader, name)
    if any(len(pair) != 2 for pair in kept.get("removed", ())):
        raise _refusal(f"{name}.removed must be a list of pairs")
    return {"added": kept.get("added", {}), "removed": [list(pair) for pair in kept.get("removed", ())]}


def _added(name: str, value: Any, reader: Reader) -> dict[str, list[str]]:
    if not isinstance(value, Mapping) or len(value) > MOST:
        raise _refusal(f"{name} must be an object of at most {MOST} names")
    return {_named(name, each, reader): list(_texts(name, words, reader)) for each, words in value.items()}


_SETTINGS: Table = {"aliases": _aliases, "seasons": _texts, "budget": _budget}
SETTINGS = tuple(_SETTINGS)  # what a user has set and would miss; the others are a machine's own
_SETTING: Table = {"name": _one_of(SETTINGS), "project_id": _project_id}
