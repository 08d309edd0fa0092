"""What a store promises, in the words of the domain. Every backend passes the same contract tests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import recollect.model as m

if TYPE_CHECKING:
    from recollect.store.changes import ChangeLog
    from recollect.store.episodes import EpisodeShelf
    from recollect.store.events import EventShelf
    from recollect.store.ledger import LedgerShelf
    from recollect.store.messages import MessageShelf
    from recollect.store.modules import ModuleShelf
    from recollect.store.purge import Cleared, Purged
    from recollect.store.reviews import ReviewShelf
    from recollect.store.vectors import Scan


# User, project, scope, branch, visibility, state, kind and session of a memory: what a view decides by.
Key = tuple[str, str | None, str, str | None, str, str, str, str | None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the store that does not agree with something else."""

    what: str
    hint: str


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """How far the audit log was found to hold together."""

    lines: int  # that follow from one another, archived ones included
    archived: int
    problem: Problem | None  # None = it holds to the end


@dataclass(frozen=True, slots=True)
class StoreInfo:
    location: str
    version: int
    size: int  # bytes
    encrypted: bool
    free: int = 0  # bytes of it that hold nothing


class TextRow(NamedTuple):
    """The words of a memory, and who may see them."""

    num: int  # the same for ever, greater for younger memories
    id: str
    content: str
    tags: tuple[str, ...]
    file_paths: tuple[str, ...]
    kind: str
    key: Key


class Edge(NamedTuple):
    """A hop from one memory to another, by a link or by something both have."""

    source: str
    target: str
    relation: str  # of a link; or "tag" or "cluster"
    name: str  # of the tag, the cluster's label; "" for a link
    weight: float
    degree: int  # how many memories lie one such hop from `source`: all its links, or all others with the tag
    forward: bool  # False where a link is walked against its direction


class Store(Protocol):
    """Keeps and finds memories; never ranks, embeds or forgets by itself.

    Each call is one transaction, except between `with store.transaction():`, where all calls of
    that thread are one: together or not at all. Calls may come from any thread.
    """

    def close(self) -> None: ...

    def transaction(self) -> AbstractContextManager[None]:
        """All that happens inside is one transaction, and no other writer comes between."""

    def seq(self) -> int:
        """Grows with every write to memories, by whatever process."""

    def change(self) -> tuple[int, int]:
        """`seq`, and a number that changes when a memory or a vector is gone for good."""

    # memories

    def put(self, memory: m.Memory) -> None:
        """Keep `memory` with its full text and tags, replacing any that has its id. Vectors of another text go."""

    def get(self, memory_id: str) -> m.Memory:
        """Raises `MemoryNotFound`."""

    def get_many(self, ids: Sequence[str]) -> dict[str, m.Memory]:
        """Those that exist."""

    def resolve(self, view: m.View, name: str) -> str:
        """The id that begins with `name`, or ends with its six or more characters.

        Raises `MemoryNotFound`, `AmbiguousId`.
        """

    def newest(
        self,
        view: m.View,
        *,
        tag: str | None = None,
        file: str | None = None,
        standing: m.Standing | None = None,
        limit: int | None = None,
    ) -> list[m.Memory]:
        """What `view` shows, newest first."""

    def each(self, view: m.View) -> Iterator[m.Memory]:
        """All, oldest first, a page at a time: for exports."""

    def count(self, view: m.View) -> int: ...

    def counts(self, view: m.View, field: str) -> dict[str, int]:
        """How many per kind, state, scope or standing."""

    def twins(self, view: m.View, fingerprint: str) -> list[m.Memory]:
        """Memories that say the same, word for word."""

    def written_in(self, session: str | None, created_by: str, since: datetime) -> int:
        """How many memories `created_by` wrote in `session` since then."""

    def ageing(self, view: m.View, now: datetime, capacity: int) -> list[m.Memory]:
        """Memories that a program kept and `tend` may have to decide on: all of those it will, and few others.

        Their quarantine, their kind's time or their session may be over, or nobody believes them any more; and all of
        a project that holds more than `capacity`, if that is not 0.
        """

    def delete(self, memory_id: str) -> None:
        """Take it out for good: row, words, vectors, links, tags."""

    # finding

    def match(self, view: m.View, query: str, limit: int) -> list[tuple[str, float]]:
        """Ids of memories sharing words with `query`, best first. A query is words and never syntax."""

    def near(
        self, view: m.View, model: str, vector: bytes, limit: int, floor: float = -1.0
    ) -> list[tuple[str, float]]:
        """Ids of memories whose vector by `model` is nearest, with the cosine, best first."""

    def scan(self, view: m.View, model: str, vector: bytes) -> "Scan | None":
        """The cosine of every memory, for who wants to know the mean and spread; None where there are no vectors."""

    def texts_since(self, seq: int) -> Iterator[TextRow]:
        """What there is to read of all memories written after `seq`, in the order they were first kept."""

    @property
    def messages(self) -> "MessageShelf":
        """What was said in sessions."""

    @property
    def ledger(self) -> "LedgerShelf":
        """What calls of a sidecar have cost."""

    @property
    def episodes(self) -> "EpisodeShelf":
        """What was done in sessions: tools, files, tasks, and the patterns in them."""

    @property
    def modules(self) -> "ModuleShelf":
        """The module map of each project."""

    @property
    def events(self) -> "EventShelf":
        """What happened in sessions that have not been learnt from yet."""

    @property
    def changes(self) -> "ChangeLog":
        """What was done to memories, act by act, so that it can be undone."""

    @property
    def reviews(self) -> "ReviewShelf":
        """What waits for a person's word."""

    def with_triggers(self, view: m.View, limit: int) -> list[m.Memory]:
        """Those that have triggers, or steps with one; newest first."""

    # vectors

    def put_vector(self, memory_id: str, model: str, vector: bytes) -> None: ...

    def vector(self, memory_id: str, model: str) -> bytes | None:
        """None where it has not been embedded by `model` yet."""

    def vectors(self, view: m.View, model: str) -> Iterator[tuple[str, bytes]]:
        """Ids and vectors of what `view` shows, oldest first, a page at a time."""

    def without_vector(self, model: str, limit: int) -> list[tuple[str, str]]:
        """Ids and contents still to be embedded by `model`, newest first; deleted ones left out."""

    def count_without_vector(self, model: str) -> int: ...

    def drop_vectors(self, keep: str) -> int:
        """Take out the vectors of every model but `keep`; how many."""

    # the graph

    def put_link(self, link: m.Link) -> None:
        """Keep `link`, replacing one with the same ends and relation."""

    def drop_link(self, source: str, target: str, relation: m.Relation) -> bool: ...

    def links(self, memory_id: str) -> list[m.Link]:
        """Those that leave it and those that reach it."""

    def all_links(self, view: m.View) -> list[m.Link]:
        """Those with both ends in `view`."""

    def each_link(self, view: m.View) -> Iterator[m.Link]:
        """The same by their ends, a page at a time: for exports."""

    def used_together(self, user_id: str, since: datetime | None) -> list[m.Link]:
        """Links `relates_to`, not yet as strong as can be, of two active memories of the user's that were last used in the
        same moment, after `since` (None = ever)."""

    def neighbours(self, view: m.View, memory_ids: Sequence[str], fan_out: int) -> list[Edge]:
        """All hops from `memory_ids` to others in `view`, at most the `fan_out` strongest links of each.

        A tag or cluster with more than `fan_out` others in the view is a hub and leads nowhere. Links are walked
        both ways, save `supersedes`, which leads to the newer memory.
        """

    def conflicts(self, view: m.View, ids: Sequence[str] | None = None) -> list[m.Link]:
        """Contradictions not yet resolved, both sides in `view`; of `ids` only, if given."""

    def tags(self, view: m.View) -> list[m.Tag]:
        """Commonest first."""

    def describe_tag(self, name: str, description: str) -> None: ...

    def orphan_tags(self) -> list[str]:
        """Names of tags that no memory has and nobody has described."""

    def drop_tag(self, name: str) -> bool:
        """Take it out if it is an orphan; whether it was."""

    def put_clusters(self, project_id: str | None, clusters: Iterable[m.Cluster]) -> None:
        """Replace all clusters of the project."""

    def put_cluster(self, cluster: m.Cluster) -> None:
        """Keep `cluster` beside the others of its project, replacing one with its id."""

    def drop_cluster(self, cluster_id: str) -> bool: ...

    def clusters(self, project_id: str | None) -> list[m.Cluster]: ...

    # work

    def put_session(self, session: m.Session) -> None: ...

    def get_session(self, session_id: str) -> m.Session | None: ...

    def sessions(self, user_id: str, project_id: str | None, limit: int) -> list[m.Session]:
        """Newest first."""

    def each_session(self, view: m.View) -> Iterator[m.Session]:
        """The user's in the projects that `view` shows and in none, by id, a page at a time; so are the next two."""

    def each_finding(self, view: m.View) -> Iterator[m.Finding]: ...

    def each_gap(self, view: m.View) -> Iterator[m.Gap]:
        """Open ones, whosever they are."""

    def put_finding(self, finding: m.Finding) -> bool:
        """Keep it, unless its session has one with the same fingerprint; whether it was kept."""

    def findings(self, session: str) -> list[m.Finding]: ...

    def put_gap(self, gap: m.Gap) -> None: ...

    def adopt_gap(self, gap: m.Gap) -> None:
        """Keep it as open, unless it is known: one that has been closed here stays closed."""

    def gaps(self, project_id: str | None, limit: int) -> list[m.Gap]:
        """Open ones, newest first."""

    # projects and settings

    def project_for(self, keys: Sequence[str]) -> str | None:
        """The project known by one of `keys`, the first that is known."""

    def project_keys(self, project_id: str) -> list[str]: ...

    def put_project(self, project: m.Project, keys: Sequence[str]) -> None:
        """Keep `project`; from now on `keys` mean it."""

    def adopt_project(self, project: m.Project, keys: Sequence[str]) -> None:
        """Keep `project` if there is none with its id, under those of `keys` that mean no other yet."""

    def projects(self) -> list[m.Project]: ...

    def setting(self, project_id: str | None, name: str) -> Any:
        """None where it was never set."""

    def set_setting(self, project_id: str | None, name: str, value: Any) -> None: ...

    # audit

    def log(
        self, action: str, actor: str, at: datetime, memory_id: str | None, detail: Mapping[str, Any]
    ) -> None:
        """Append a line, before the change it announces and in the same transaction."""

    def audit(self, limit: int, memory_id: str | None = None) -> list[m.AuditLine]:
        """Newest first."""

    def verify_audit(self) -> AuditCheck:
        """Whether every line, archived or not, follows from the one before. Reads everything."""

    # forgetting

    def clear(self, user_id: str, project_id: str | None, at: datetime) -> "Cleared":
        """Forget all the user has in the project, None for everywhere: memories and messages softly, all else is taken out."""

    def purge_due(self, before: datetime) -> bool:
        """Whether `purge` would find something. Quick."""

    def purge(self, before: datetime, actor: str, at: datetime) -> "Purged":
        """Take out for good what was forgotten before then, and what changes older than that kept of their rows."""

    def vacuum(self, patience: float = 30.0) -> int:
        """Rewrite the file without its free pages; how many bytes smaller it is. Raises `StoreBusy`."""

    # care

    def trim_audit(self, keep: int = 5000, down_to: int = 4000) -> int:
        """Move the oldest lines into the archive once there are more than `keep`; how many."""

    def backup(self) -> str:
        """Make a backup now; where it is. The oldest of more than three goes."""

    def backup_age(self, now: datetime) -> float | None:
        """Hours since the newest backup; None if there is none."""

    def check(self) -> list[Problem]:
        """Whether rows, full text, vectors, links and audit agree. Reads everything."""

    def info(self) -> StoreInfo: ...
