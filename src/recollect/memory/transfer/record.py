"""Read one record of a foreign file as a memory, a link, a project, a session…

The models below say what every field must be. Fields that they do not name are not read, so nothing comes in
unchecked; every text is redacted.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

import recollect.memory.transfer.fields as f
import recollect.model as m
from recollect.code.modules import module_map as maps
from recollect.code.paths import FileRole
from recollect.kinds import DEFAULT
from recollect.memory.write import enrich, limits
from recollect.text.redact import redact

_CACHED = 64  # characters: short texts are mostly names, which repeat; statements do not
_CACHE_SIZE = 10_000

# Nine characters of an id hold milliseconds from the first of these to beyond the second.
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)


class ForeignProvenance(f.ForeignRecord):
    source: m.Source
    at: f.Time
    session: f.Text | None = None
    messages: f.Pair[f.Count] | None = None
    agent: f.Text | None = None
    branch: f.Text | None = None
    snippet: f.Text | None = None
    reason: f.Text | None = None


class ForeignReinforcement(f.ForeignRecord):
    at: f.Time
    by: f.Name
    session: f.Text | None = None
    said: f.Text | None = None


class ForeignAnchor(f.ForeignRecord):
    path: f.Name
    symbol: f.Text | None = None
    digest: f.Digest | None = None


class ForeignProcedure(f.ForeignRecord):
    name: f.Text
    trigger: f.Text | None = None
    steps: f.Texts | None = None
    prerequisites: f.Texts | None = None
    warnings: f.Texts | None = None


class ForeignMemory(f.ForeignRecord):  # `content` is read before, and `fingerprint` computed again
    id: f.Identity | None = None
    user_id: f.Handle | None = None
    project_id: f.ProjectId | None = None
    scope: m.Scope | None = None
    kind: f.Kind | None = None
    summary: f.Text | None = None
    created_at: f.Time | None = None
    updated_at: f.Time | None = None
    valid_from: f.Time | None = None
    provenance: (
        Annotated[f.Many[Annotated[ForeignProvenance, f.made(m.Provenance)]], f.newest_of(first=1)] | None
    ) = None
    created_by: f.Name | None = None
    visibility: m.Visibility | None = None
    standing: m.Standing | None = None
    state: m.State | None = None
    state_reason: f.Text | None = None
    superseded_by: f.Identity | None = None
    tags: f.Tags | None = None
    file_paths: f.Texts | None = None
    anchors: f.Many[Annotated[ForeignAnchor, f.made(m.Anchor)]] | None = None
    triggers: f.Texts | None = None
    when_needed: f.Situations | None = None
    procedure: Annotated[ForeignProcedure, f.made(m.Procedure)] | None = None
    season: f.Text | None = None
    branch: f.Text | None = None
    importance: f.Share | None = None
    confidence: f.Share | None = None
    trust: f.Share | None = None
    strength: f.Count | None = None
    access_count: f.Count | None = None
    last_accessed_at: f.Time | None = None
    valid_to: f.Time | None = None
    deleted_at: f.Time | None = None
    reinforcements: (
        Annotated[f.Many[Annotated[ForeignReinforcement, f.made(m.Reinforcement)]], f.newest_of()] | None
    ) = None
    order: f.Count | None = None
    promoted_at: f.Time | None = None
    settled_at: f.Time | None = None
    session: f.Text | None = None  # this and the next are for plain lines, which have no provenance
    author: Literal["user", "assistant"] | None = None


class ForeignVector(f.ForeignRecord):
    model: f.Handle
    values: f.Vector  # little-endian float32, unit length


class ForeignWithVector(f.ForeignRecord):
    vector: ForeignVector | None = None


class ForeignLink(f.ForeignRecord):
    source: f.Identity
    target: f.Identity
    relation: m.Relation
    created_at: f.Time
    weight: f.Weight | None = None
    reason: f.Text | None = None
    verdict: Literal["contradictory", "superseded", "ambiguous"] | None = None
    resolved_at: f.Time | None = None


class ForeignProject(f.ForeignRecord):
    """A project as a file describes it."""

    id: f.ProjectId
    name: f.Name
    keys: f.Many[f.ProjectKey] | None = None

    @property
    def remotes(self) -> list[str]:
        return [key for key in self.keys or () if key.startswith("remote:")]


class ForeignSession(f.ForeignRecord):  # `transcript` is a file of the machine it was on
    id: f.Handle
    user_id: f.Handle | None = None
    project_id: f.ProjectId | None = None
    started_at: f.Time
    agent: f.Text | None = None
    host: f.Text | None = None
    branch: f.Text | None = None
    parent: f.Text | None = None
    ended_at: f.Time | None = None
    summary: f.Story | None = None
    active_at: f.Time | None = None
    extracted_at: f.Time | None = None


class ForeignFinding(f.ForeignRecord):  # `fingerprint` is computed again
    id: f.Identity
    session: f.Handle
    kind: f.Kind
    content: f.Story
    created_at: f.Time
    importance: f.Share | None = None
    confidence: f.Share | None = None
    tags: f.Texts | None = None
    file_paths: f.Texts | None = None
    messages: f.Pair[f.Count] | None = None
    promoted_to: f.Identity | None = None
    source: m.Source | None = None
    signals: f.Texts | None = None
    steps: f.Texts | None = None
    branch: f.Text | None = None


class ForeignGap(f.ForeignRecord):
    id: f.Identity
    project_id: f.ProjectId | None = None
    context: f.Story
    created_at: f.Time
    session: f.Text | None = None


class ForeignReview(f.ForeignRecord):
    id: f.Identity
    user_id: f.Handle | None = None
    project_id: f.ProjectId | None = None
    kind: f.Name
    memories: f.Many[f.Identity]
    reason: f.Text | None = None
    created_at: f.Time
    decided_at: f.Time | None = None
    decision: f.Text | None = None


class ForeignTag(f.ForeignRecord):
    name: f.Name
    description: f.Text


class ForeignPlaced(f.ForeignRecord):
    key: f.Text
    by: f.Name


class ForeignModule(f.ForeignRecord):
    key: f.Name
    name: f.Name
    kind: FileRole | None = None
    description: f.Text | None = None
    core_files: f.ManyFiles[f.Name] | None = None
    entry_points: f.ManyFiles[f.Name] | None = None
    test_files: f.ManyFiles[f.Name] | None = None
    dependencies: f.ManyFiles[f.Name] | None = None
    related: f.ManyFiles[f.Name] | None = None
    terms: f.ManyFiles[f.Name] | None = None
    confidence: maps.Confidence | None = None
    sessions: f.Texts | None = None
    said: f.Named[f.Name] | None = None


class ForeignFramework(f.ForeignRecord):
    tool: f.Name
    config_file: f.Text | None = None
    run_command: f.Text | None = None


class ForeignTools(f.ForeignRecord):
    path: f.Text
    tool: f.Name
    commands: f.Named[f.Text] | None = None
    test: Annotated[ForeignFramework, f.made(maps.TestFramework)] | None = None
    linters: f.Texts | None = None


class ForeignMap(f.ForeignRecord):
    project_id: f.ProjectId
    version: f.Count
    modules: f.ManyFiles[Annotated[ForeignModule, f.made(maps.Module)]]
    tools: f.ManyFiles[Annotated[ForeignTools, f.made(maps.ProjectTools)]] | None = None
    files: f.NamedFiles[Annotated[ForeignPlaced, f.made(maps.Placement)]] | None = None
    merged: f.NamedFiles[Annotated[ForeignPlaced, f.made(maps.Placement)]] | None = None
    updated_at: f.Time | None = None


class ForeignFailure(f.ForeignRecord):
    head: f.Text
    # Each line has its words and the names in them.
    lines: Annotated[tuple[tuple[f.Name, f.Texts], ...], Field(min_length=1, max_length=f.MOST)]


class ForeignCoEdit(f.ForeignRecord):
    files: f.Pair[f.Name]
    operations: f.Texts
    within_seconds: f.Count


class ForeignErrorFix(f.ForeignRecord):
    failure: ForeignFailure
    error: f.Text
    command: f.Text
    files: f.Texts
    commands: f.Texts
    instead: f.Text


class ForeignRefactor(f.ForeignRecord):
    rename: f.Pair[f.Name]
    files: f.ManyFiles[f.Name]


class ForeignWorkflow(f.ForeignRecord):
    steps: f.Texts


class ForeignFilePurpose(f.ForeignRecord):
    path: f.Name
    says: f.Text
    tasks: f.Texts
    times: f.Count


class ForeignCommonError(f.ForeignRecord):
    error: f.Text | None = None
    command: f.Text | None = None
    times: f.Count


class ForeignLearntWorkflow(f.ForeignRecord):
    steps: f.Texts
    times: f.Count


_PATTERNS: Mapping[str, type[f.ForeignRecord]] = {
    m.CO_EDIT: ForeignCoEdit,
    m.ERROR_FIX: ForeignErrorFix,
    m.REFACTOR: ForeignRefactor,
    m.WORKFLOW: ForeignWorkflow,
}
_LEARNINGS: Mapping[str, type[f.ForeignRecord]] = {
    m.FILE_PURPOSE: ForeignFilePurpose,
    m.COMMON_ERROR: ForeignCommonError,
    m.WORKFLOW_LEARNT: ForeignLearntWorkflow,
}


class ForeignPattern(f.ForeignRecord):
    project_id: f.ProjectId | None = None
    name: f.PatternName
    confidence: f.Share
    count: f.Count
    first_seen: f.Time
    last_seen: f.Time


class ForeignLearning(f.ForeignRecord):
    project_id: f.ProjectId | None = None
    name: f.Name
    confidence: f.Share
    session: f.Text


class ForeignAliases(f.ForeignRecord):
    """Aliases that were added, and defaults that were removed."""

    added: f.Named[f.Texts] | None = None
    removed: Annotated[tuple[f.Pair[f.Text], ...], Field(max_length=10 * f.MOST)] | None = None


class ForeignSetting(f.ForeignRecord):
    """A setting that travels with an export, for one project or for all."""

    name: Literal["aliases", "seasons", "budget"]
    project_id: f.ProjectId | None = None
    value: Any = None


_SETTINGS: Mapping[str, TypeAdapter[Any]] = {
    "aliases": TypeAdapter(ForeignAliases),
    "seasons": TypeAdapter(f.Texts),
    "budget": TypeAdapter(Annotated[f.Count, Field(gt=0)]),
}


R = TypeVar("R", bound=f.ForeignRecord)


class RecordReader:
    """Reads foreign records for one user, whose name in the file is `exporter` if that is not None.

    Raises `ContentRefused` or `UnknownName` with the field.
    """

    def __init__(
        self, user_id: str, project: m.Project | None, clock: m.Clock, exporter: str | None = None
    ) -> None:
        self.user_id = user_id
        self._exporter = exporter
        self._project = project
        self._clock = clock
        self._cleaned: dict[str, tuple[str, int]] = {user_id: (user_id, 0)}
        self.redacted = 0  # secrets removed from the last record

    def memory(self, record: object, projects: Mapping[str, str]) -> m.Memory:
        """Return the memory. `projects` maps project ids of the file to ours."""
        given = self._start(record)
        text = self.clean(limits.clean(given.get("content")))
        limits.check_size(text)
        folded = " ".join(text.split())
        self._cleaned[folded] = folded, 0  # a short memory is its own summary
        values = self._owned(self._parse(ForeignMemory, given, "").given(), projects)
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
        if (
            "project_id" not in values
            and self._project is not None
            and values.get("scope") is not m.Scope.GLOBAL
        ):
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

    def vector(self, record: Mapping[str, Any]) -> ForeignVector | None:
        """Return the vector that came with a memory, or None."""
        return self._parse(ForeignWithVector, record, "").vector

    def link(self, record: object) -> m.Link:
        return m.Link(**self._read(ForeignLink, record, "link").given())

    def project(self, record: object) -> ForeignProject:
        return self._read(ForeignProject, record, "project")

    def session(self, record: object, projects: Mapping[str, str]) -> m.Session:
        values = self._owned(self._read(ForeignSession, record, "session").given(), projects)
        return m.Session(**{"user_id": self.user_id, "project_id": None} | values)

    def finding(self, record: object) -> m.Finding:
        values = self._read(ForeignFinding, record, "finding").given()
        return m.Finding(fingerprint=m.fingerprint(values["content"]), **values)

    def gap(self, record: object, projects: Mapping[str, str]) -> m.Gap:
        values = self._owned(self._read(ForeignGap, record, "gap").given(), projects)
        return m.Gap(**{"project_id": None} | values)

    def review(self, record: object, projects: Mapping[str, str]) -> m.Review:
        values = self._owned(self._read(ForeignReview, record, "review").given(), projects)
        return m.Review(**{"user_id": self.user_id, "project_id": None, "reason": ""} | values)

    def module_map(self, record: object, projects: Mapping[str, str]) -> tuple[str, maps.ModuleMap]:
        """Return the id of the project, and its map."""
        values = self._owned(self._read(ForeignMap, record, "map").given(), projects)
        if values.pop("version") != maps.VERSION:
            raise f.refusal("map.version is not the one this Recollect reads: scan the project again")
        return values.pop("project_id"), maps.ModuleMap(**values)

    def pattern(self, record: object, projects: Mapping[str, str]) -> tuple[m.Owner, m.Pattern]:
        owner, values = self._learnt(ForeignPattern, _PATTERNS, record, "pattern", projects)
        return owner, m.Pattern(**values)

    def learning(self, record: object, projects: Mapping[str, str]) -> tuple[m.Owner, m.SessionLearning]:
        owner, values = self._learnt(ForeignLearning, _LEARNINGS, record, "learning", projects)
        return owner, m.SessionLearning(**values)

    def _learnt(
        self,
        model: type[f.ForeignRecord],
        kinds: Mapping[str, type[f.ForeignRecord]],
        record: object,
        name: str,
        projects: Mapping[str, str],
    ) -> tuple[m.Owner, dict[str, Any]]:
        """Read a pattern or a learning, whose `data` depends on its kind."""
        given = self._start(record)
        kind = given.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise f.refusal(f"{name}.kind must be one of {', '.join(kinds)}")
        values = self._owned(self._parse(model, given, name).given(), projects)
        data = self._parse(kinds[kind], given.get("data"), f"{name}.data").model_dump(exclude_unset=True)
        owner = m.Owner(self.user_id, values.pop("project_id", None))
        return owner, {"kind": kind, "data": data, **values}

    def tag(self, record: object) -> tuple[str, str]:
        """Return the name and the description of a tag."""
        tag = self._read(ForeignTag, record, "tag")
        return enrich.normal_tag(tag.name), tag.description

    def setting(self, record: object, projects: Mapping[str, str]) -> ForeignSetting:
        values = self._owned(self._read(ForeignSetting, record, "setting").given(), projects)
        if "value" not in values:
            raise f.refusal("setting.value is missing")
        try:
            value = _SETTINGS[values["name"]].validate_python(values["value"], context=self)
        except ValidationError as error:
            raise f.explained(error, "setting.value") from None
        if isinstance(value, ForeignAliases):
            value = {
                "added": {name: list(words) for name, words in (value.added or {}).items()},
                "removed": [list(pair) for pair in value.removed or ()],
            }
        return ForeignSetting.model_construct(**{**values, "value": value})

    def clean(self, text: str) -> str:
        """Return `text` without secrets, and count them."""
        cleaned = self._cleaned.get(text)
        if cleaned is None:
            without, redactions = redact(text)
            cleaned = without, len(redactions)
            if len(self._cleaned) > _CACHE_SIZE:
                self._cleaned = {self.user_id: (self.user_id, 0)}
            if len(text) <= _CACHED:
                self._cleaned[text] = cleaned
        self.redacted += cleaned[1]
        return cleaned[0]

    def _read(self, model: type[R], record: object, name: str) -> R:
        return self._parse(model, self._start(record), name)

    def _start(self, record: object) -> Mapping[str, Any]:
        self.redacted = 0
        if not isinstance(record, Mapping):
            raise f.refusal("It is not an object")
        return record

    def _parse(self, model: type[R], given: object, name: str) -> R:
        try:
            return model.model_validate(given, context=self)
        except ValidationError as error:
            raise f.explained(error, name) from None

    def _owned(self, values: dict[str, Any], projects: Mapping[str, str]) -> dict[str, Any]:
        """Replace the exporter and the projects of the file by ours: a user may have another name on each machine."""
        if self._exporter is not None and values.get("user_id") == self._exporter:
            values["user_id"] = self.user_id
        if "project_id" in values:
            values["project_id"] = projects.get(values["project_id"], values["project_id"])
        return values
