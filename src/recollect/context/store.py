"""What a store promises, in the words of the domain. Every backend passes the same contract tests.

`Store` combines three protocols:

- `MemoryStore`: memories with their vectors, links, tags and clusters; projects, settings, gaps, reviews and module
  maps; the audit log; and changes, which can be undone.
- `WorkStore`: sessions with their events, findings and messages; episodes; what language models have cost; figures;
  what agents were told; and texts that left a context window.
- `StoreMaintenance`: the care of the file behind a store: backup, vacuum, encryption and checks.

Each call is one transaction. Within `with store.transaction():` all calls of that thread are one transaction. You can
call a store from any thread.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, Protocol

import recollect.model as m


class ChangeLog(Protocol):
    """What was done to memories, change by change, so that each change can be listed and undone."""

    def recorded(self, change: m.Change, *, projects: bool = False) -> AbstractContextManager[None]:
        """Open a transaction that records its writes to memories, and all that depends on them, as part of `change`.

        You can pass the same change again: a long run has many transactions, and `finish` ends it. Within a change
        that is being recorded, writes belong to that one. With `projects`, sessions, messages, gaps and settings are
        recorded too.
        """

    def finish(self, change: m.Change) -> None:
        """Mark the change as finished, with its summary and time. A change that wrote nothing leaves no entry."""

    def expire(self, before: datetime) -> int:
        """Delete the rows recorded by changes older than `before`; return how many changes can no longer be undone."""

    def newest(
        self,
        user_id: str,
        project_id: str | None,
        limit: int,
        *,
        all_projects: bool = False,
        actions: Sequence[str] = (),
    ) -> list[m.Change]:
        """Return the user's changes in the project, or in all projects, and outside any, newest first; with `actions` only those."""

    def get(self, user_id: str, name: str) -> m.Change:
        """Return the change whose id is, begins with or ends with `name`. Raise `ChangeNotFound`."""

    def touched(self, change_id: str) -> list[str]:
        """Return the ids of the memories that the change touched and that still exist, oldest first."""

    def texts_before(self, change_id: str) -> dict[str, str]:
        """Return the texts that the change replaced by others, by memory, for as long as it can be undone."""

    def mark_undone(self, change_id: str, at: datetime | None) -> None:
        """Note when a change was undone; None = it is in force again."""

    def undo(self, change_id: str, at: datetime) -> m.Undone:
        """Restore every row, except those of memories that have changed since, which are named.

        Call it within a transaction. Raise `Refused` if nothing can be restored or later memories depend on it.
        """


class ReviewQueue(Protocol):
    """Questions that only a person can decide. Each is asked once, whatever the answer."""

    def ask(self, review: m.Review, since: datetime | None = None) -> bool:
        """Store the question; return False if the same one is open or was decided.

        A question that was decided before `since`, when its reason arose, is asked again.
        """

    def open(self, user_id: str, project_id: str | None, kind: str | None = None) -> list[m.Review]:
        """Return open questions about the project and about global memories, oldest first."""

    def iterate(self, view: m.View) -> Iterator[m.Review]:
        """Yield all questions of the projects that `view` shows and of global memories, by id."""

    def get(self, user_id: str, name: str) -> m.Review:
        """Return the open question whose id is, begins with or ends with `name`. Raise `ReviewNotFound`."""

    def decide(self, review_id: str, decision: str, at: datetime) -> bool:
        """Close the question; return False if it was closed already."""


class ModuleMapStore(Protocol):
    """The module map of each project: one document, replaced as a whole."""

    def get(self, project_id: str) -> str | None:
        """Return the document, or None if there is none yet."""

    def change(self, project_id: str, how: Callable[[str | None], str], at: datetime) -> str:
        """Replace the document by `how(document)` in one transaction, so that no other change is lost; return it."""


class MemoryStore(Protocol):
    """Memories and the graph they form, and everything that says where they belong."""

    # memories

    def put(self, memory: m.Memory) -> None:
        """Store `memory` with its full text and tags, replacing one with its id. Vectors of another text are deleted."""

    def get(self, memory_id: str) -> m.Memory:
        """Return the memory. Raise `MemoryNotFound`."""

    def get_many(self, ids: Sequence[str]) -> dict[str, m.Memory]:
        """Return those that exist, by id."""

    def resolve(self, view: m.View, name: str) -> str:
        """Return the id that begins with `name`, or ends with it if it has six or more characters.

        Raise `MemoryNotFound` or `AmbiguousId`.
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
        """Return what `view` shows, newest first."""

    def page(
        self, view: m.View, which: m.MemoryFilter, order: m.MemoryOrder, limit: int, offset: int = 0
    ) -> list[m.Memory]:
        """Return a part of what `view` shows and `which` lets pass, in this order and then newest first."""

    def count_page(self, view: m.View, which: m.MemoryFilter) -> int:
        """Return how many memories all parts of `page` have together."""

    def undescribed(self, view: m.View, limit: int) -> list[m.Memory]:
        """Return those of `count_described` that do not say when they are needed, those that matter most first.

        That is the user's word and confirmed rules, then by the weight of the kind, then the newest.
        """

    def count_described(self, view: m.View) -> tuple[int, int]:
        """Return how many of the user's memories that `view` shows of its project say when they are needed, and how many there are.

        Only those count to which it matters: not pinned, no proposals, and of no kind that describes a moment.
        """

    def iter_memories(self, view: m.View, after: str = "", user: str | None = None) -> Iterator[m.Memory]:
        """Yield what `view` shows, oldest first, reading a page at a time: after the one with this id, and of this user alone."""

    def count(self, view: m.View) -> int:
        """Return how many memories `view` shows."""

    def counts(self, view: m.View, field: str) -> dict[str, int]:
        """Return how many memories there are per kind, state, scope, standing, project_id, branch or created_by."""

    def with_fingerprint(self, view: m.View, fingerprint: str) -> list[m.Memory]:
        """Return memories with the same text, apart from case and white space."""

    def count_written(self, session: str | None, created_by: str, since: datetime) -> int:
        """Return how many memories `created_by` wrote in `session` since then."""

    def ageing(self, view: m.View, now: datetime, capacity: int) -> list[m.Memory]:
        """Return the memories written by programs that maintenance may have to decide on: all of them, and few others.

        Their quarantine, their session, or the time of what describes a moment may be over. If `capacity` is not 0, all
        memories of a project with more than `capacity` are included.
        """

    def with_triggers(self, view: m.View, limit: int) -> list[m.Memory]:
        """Return memories that have triggers or a procedure, newest first."""

    def delete(self, memory_id: str) -> None:
        """Permanently delete the memory, with its words, vectors, links and tags. Raise `MemoryNotFound`."""

    # search

    def match(self, view: m.View, query: str, limit: int) -> list[tuple[str, float]]:
        """Return ids and scores of memories that share words with `query`, best first. The query has no syntax."""

    # the change feed

    def seq(self) -> int:
        """Return a number that grows with every write to memories, by any process."""

    def change(self) -> tuple[int, object]:
        """Return the position of the change feed: `seq`, and a generation.

        While the generation stays equal, `texts_since` and `vectors_since` tell all that has changed. It changes when a memory
        or a vector is permanently deleted, and when rows that this process has read were rolled back: read all again.
        """

    def texts_since(self, seq: int) -> Iterator[m.TextRow]:
        """Yield the texts of all memories written after `seq`, in the order they were first stored."""

    def vectors_since(self, model: str, seq: int) -> Iterator[m.VectorRow]:
        """Yield the vectors by `model` of all memories written after `seq`, in the order they were first stored.

        A memory without one has None. For a negative `seq`, a first reading, it is left out.
        """

    def read_index(self, name: str) -> tuple[int, memoryview] | None:
        """Return what `write_index` kept, which may be written to, with the number of the last change in it.

        None if there is nothing, or something was deleted for good since then.
        """

    def write_index(
        self, name: str, seq: int, generation: object, parts: Sequence[bytes | memoryview]
    ) -> None:
        """Keep what was made of all memories up to `seq`, for other processes.

        A store may keep nothing. One that was changed meanwhile, so that `generation` is no longer true, does not.
        """

    # vectors

    def put_vector(self, memory_id: str, model: str, vector: bytes) -> None:
        """Store the memory's vector by `model`, replacing any. Raise `MemoryNotFound`."""

    def vector(self, memory_id: str, model: str) -> bytes | None:
        """Return the memory's vector, or None if it has not been embedded by `model` yet."""

    def vectors(self, view: m.View, model: str) -> Iterator[tuple[str, bytes]]:
        """Yield ids and vectors of what `view` shows, oldest first, reading a page at a time."""

    def without_vector(self, model: str, limit: int) -> list[tuple[str, str]]:
        """Return ids and contents of memories not yet embedded by `model`, newest first, without deleted ones; -1 for all."""

    def count_without_vector(self, model: str) -> int:
        """Return how many memories are not yet embedded by `model`."""

    def count_vectors(self, model: str) -> int:
        """Return the number of vectors by `model`."""

    # the graph

    def put_link(self, link: m.Link) -> None:
        """Store `link`, replacing one with the same ends and relation. Raise `MemoryNotFound` if an end is missing."""

    def drop_link(self, source: str, target: str, relation: m.Relation) -> bool:
        """Delete the link; return whether there was one."""

    def may_settle(self, first: str, second: str) -> bool:
        """Return whether the user may end a conflict of the two by saying that both are right: not another person's."""

    def links(self, memory_id: str) -> list[m.Link]:
        """Return the links from and to the memory."""

    def all_links(self, view: m.View) -> list[m.Link]:
        """Return the links with both ends in `view`."""

    def iter_links(self, view: m.View) -> Iterator[m.Link]:
        """Yield the links with both ends in `view`, by their ends, reading a page at a time."""

    def used_together(self, user_id: str, since: datetime | None) -> list[m.Link]:
        """Return links between memories that were last used at the same moment, after `since` (None = ever).

        Only `relates_to` links below full weight count, between two active memories of the user.
        """

    def neighbours(self, view: m.View, memory_ids: Sequence[str], fan_out: int) -> list[m.MemoryEdge]:
        """Return all hops from `memory_ids` to others in `view`, at most the `fan_out` strongest links of each.

        A tag or cluster with more than `fan_out` others in the view is a hub and is not followed. Links are followed
        both ways, except `supersedes`, which leads to the newer memory only.
        """

    def conflicts(self, view: m.View, ids: Sequence[str] | None = None) -> list[m.Link]:
        """Return open contradictions with both ends in `view`; only those of `ids`, if given."""

    def tags(self, view: m.View) -> list[m.Tag]:
        """Return the tags of what `view` shows, most used first."""

    def describe_tag(self, name: str, description: str) -> None:
        """Set the description of a tag, adding the tag if it is new."""

    def orphan_tags(self) -> list[str]:
        """Return the names of tags without a description that no memory has."""

    def drop_tag(self, name: str) -> bool:
        """Delete the tag if it is an orphan; return whether it was."""

    def put_clusters(self, project_id: str | None, clusters: Iterable[m.Cluster]) -> None:
        """Replace all clusters of the project."""

    def put_cluster(self, cluster: m.Cluster) -> None:
        """Store `cluster`, replacing one with its id; other clusters stay."""

    def drop_cluster(self, cluster_id: str) -> bool:
        """Delete the cluster; return whether there was one."""

    def clusters(self, project_id: str | None) -> list[m.Cluster]:
        """Return the clusters of the project, by id."""

    # gaps: questions that memory could not answer

    def put_gap(self, gap: m.Gap) -> None:
        """Store `gap`, replacing one with its id."""

    def adopt_gap(self, gap: m.Gap) -> None:
        """Store `gap` as open unless its id is known: a gap that was closed here stays closed."""

    def close_gap(self, gap_id: str, at: datetime) -> bool:
        """Mark the gap as answered; return False if it is not open."""

    def gaps(self, project_id: str | None, limit: int) -> list[m.Gap]:
        """Return open gaps of the project, newest first."""

    def iter_gaps(self, view: m.View) -> Iterator[m.Gap]:
        """Yield open gaps of the projects that `view` shows and of none, by id, reading a page at a time."""

    # projects and settings

    def project_for(self, keys: Sequence[str]) -> str | None:
        """Return the project of the first of `keys` that is known."""

    def project_keys(self, project_id: str) -> list[str]:
        """Return the keys by which the project is recognised."""

    def put_project(self, project: m.Project, keys: Sequence[str]) -> None:
        """Store `project`; from now on `keys` mean it."""

    def adopt_project(self, project: m.Project, keys: Sequence[str]) -> None:
        """Store `project` unless its id is known, with those of `keys` that mean no other project yet."""

    def projects(self) -> list[m.Project]:
        """Return all projects, by name."""

    def setting(self, project_id: str | None, name: str) -> Any:
        """Return the setting of the project, or the setting for everywhere if `project_id` is None; None if unset."""

    def set_setting(self, project_id: str | None, name: str, value: Any) -> None:
        """Set the setting to a JSON value."""

    # the audit log

    def log(
        self, action: str, actor: str, at: datetime, memory_id: str | None, detail: Mapping[str, Any]
    ) -> None:
        """Append a line. Call it before the change it announces, in the same transaction."""

    def audit(self, limit: int, memory_id: str | None = None) -> list[m.AuditLine]:
        """Return audit lines, newest first."""

    def verify_audit(self) -> m.AuditCheck:
        """Check that every line, archived or not, follows from the one before. Reads the whole log."""

    # forgetting

    def clear(self, user_id: str, project_id: str | None, at: datetime) -> m.Cleared:
        """Forget what the user has in the project, or everywhere if `project_id` is None.

        Memories and messages are marked as deleted; everything else is deleted.
        """

    def purge_due(self, before: datetime) -> bool:
        """Return whether `purge` would delete something. Fast."""

    def purge(self, before: datetime, actor: str, at: datetime) -> m.Purged:
        """Permanently delete what was forgotten before then, and the recorded rows of older changes."""

    # parts

    @property
    def changes(self) -> ChangeLog:
        """What was done to memories, so that it can be undone."""

    @property
    def reviews(self) -> ReviewQueue:
        """Questions that wait for a person's decision."""

    @property
    def modules(self) -> ModuleMapStore:
        """The module map of each project."""


class EventStore(Protocol):
    """Events of sessions, stored until the session has been learnt from, and its findings."""

    def append(self, session: str, events: Sequence[m.StoredEvent]) -> int:
        """Append the events whose id is new, in this order; return how many. The session must exist."""

    def unprocessed(self, session: str) -> list[tuple[int, str]]:
        """Return position and text of the session's events that are not yet processed, in order."""

    def mark_processed(self, session: str, last: int) -> None:
        """Delete the texts of the session's events up to position `last`. Their ids stay, so that none is counted twice."""

    def drop_processed(self, before: datetime) -> int:
        """Delete processed events older than `before`, except each session's last; return how many."""

    def idle_sessions(self, user_id: str, project_id: str | None, idle_since: datetime) -> list[m.Session]:
        """Return the project's sessions that are idle since then and not yet learnt from, oldest first."""

    def put_findings(self, session: str, findings: Iterable[m.Finding], *, since: int | None = None) -> int:
        """Store the findings whose fingerprint is new in the session; return how many.

        With `since`, they are all findings of messages from there on: others are deleted unless they were promoted.
        """

    def mark_promoted(self, finding: str, memory: str) -> None:
        """Record which memory the finding became."""

    def count_sightings(self, user_id: str, project_id: str | None, fingerprint: str) -> tuple[int, int]:
        """Return in how many of the project's sessions a finding was made, and by how many agents.

        A fork counts with its parent, whose findings it has without having made them.
        """


class MessageStore(Protocol):
    """Messages of sessions, in order, with their vectors."""

    def put(
        self,
        messages: Sequence[m.Message],
        model: str | None,
        vectors: Sequence[bytes] | None,
        now: datetime | None = None,
    ) -> None:
        """Store messages with the vectors of `model`, replacing those with the same session and order.

        They are retained from `now`, or from when they were written.
        """

    def put_vector(self, num: int, model: str, vector: bytes) -> None:
        """Store the vector of a message that had none."""

    def state(self) -> tuple[int, int]:
        """Return (seq, purge). While `purge` is the same, messages were only added."""

    def after(self, num: int, model: str) -> list[m.MessageRow]:
        """Return all messages that were stored after number `num`, in that order, with their vectors by `model`."""

    def orders(self, user_id: str, session: str) -> set[int]:
        """Return the positions of the session's messages that are stored."""

    def span(self, user_id: str, session: str, first: int, last: int) -> list[m.Message]:
        """Return the messages from one position to another, both included."""

    def iterate(self, view: m.View) -> Iterator[m.Message]:
        """Yield the user's messages in the projects that `view` shows and in none, reading a page at a time."""

    def count(self, user_id: str, project_id: str | None) -> int:
        """Return how many messages the user has in the project."""

    def session(self, user_id: str, session: str) -> list[m.Message]:
        """Return all messages of a session, in order."""

    def drop_before(self, when: datetime) -> int:
        """Delete messages retained since before then; return how many."""


class EpisodeStore(Protocol):
    """What agents did: tools, files, tasks, snapshots, patterns and learnings of one owner."""

    # tools and files

    def add(
        self, owner: m.Owner, executions: Iterable[m.ToolExecution], touches: Iterable[m.FileTouch]
    ) -> int:
        """Store those whose key is new and update their tasks; return how many executions were new."""

    def touches(
        self,
        owner: m.Owner,
        *,
        path: str | None = None,
        like: str | None = None,
        task: str | None = None,
        session: str | None = None,
        limit: int = 5,
    ) -> list[m.FileTouch]:
        """Return uses of a file, of files with `like` in their names, of a task or of a session, newest first."""

    def paths_ending(self, owner: m.Owner, name: str) -> list[str]:
        """Return the known paths that end with `/name`."""

    def total(self, owner: m.Owner, path: str) -> m.FileTotal:
        """Return all uses of a file, including those that were rolled up."""

    def executions(
        self,
        owner: m.Owner,
        *,
        after: int = 0,
        session: str | None = None,
        task: str | None = None,
        before: int | None = None,
        limit: int,
    ) -> list[m.ToolExecution]:
        """Return executions after a number in order; with `before`, the last ones before that number."""

    # tasks

    def start(self, owner: m.Owner, task: m.Task, words: str) -> bool:
        """Store the task; return whether it is new. The session's active task before it is paused."""

    def update(self, owner: m.Owner, task: m.Task) -> None:
        """Update status, intent, completion and outcome. A task made active is the only active one of its session."""

    def task(self, owner: m.Owner, name: str) -> m.Task | None:
        """Return the task with this number or id."""

    def active(self, owner: m.Owner, session: str) -> m.Task | None:
        """Return the active task of the session, or one that a person started for any session."""

    def tasks(
        self, owner: m.Owner, statuses: Iterable[m.TaskStatus] = tuple(m.TaskStatus), limit: int = 20
    ) -> list[m.Task]:
        """Return tasks, newest first."""

    def tasks_numbered(self, owner: m.Owner, numbers: Iterable[int]) -> list[m.Task]:
        """Return the tasks with these numbers."""

    def tasks_with(self, owner: m.Owner, words: Sequence[str]) -> tuple[int, list[tuple[int, str]]]:
        """Return how many tasks there are, and number and words of those that have one of `words`."""

    def task_vectors(self, owner: m.Owner, model: str) -> tuple[list[int], bytes]:
        """Return task numbers, and their vectors by `model` one after the other."""

    def without_vector(self, owner: m.Owner, model: str, limit: int) -> list[tuple[int, str]]:
        """Return numbers and descriptions of tasks not yet embedded by `model`, newest first."""

    def put_vectors(self, model: str, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Store vectors of tasks by number; those of unknown tasks are ignored."""

    # snapshots, patterns and learnings

    def put_snapshot(
        self,
        owner: m.Owner,
        session: str,
        at: datetime,
        items: Sequence[Mapping[str, Any]],
        total_tokens: int,
        pruned: Sequence[Mapping[str, Any]],
        reason: str,
        task: str | None,
    ) -> int:
        """Store what a context window held; return the snapshot's number."""

    def snapshots(self, owner: m.Owner, session: str, limit: int = 100) -> list[m.ContextSnapshot]:
        """Return what the context window of a session held, oldest first; of more than `limit`, the newest."""

    def add_sighting(self, owner: m.Owner, seen: m.PatternSighting) -> None:
        """Count a sighting of a pattern, once for each key, and replace the pattern's data."""

    def put_patterns(self, owner: m.Owner, kind: str, patterns: Iterable[m.Pattern]) -> None:
        """Store patterns of a kind that is counted again each time; others of the kind stay."""

    def patterns(self, owner: m.Owner, kind: str | None = None, limit: int = 1000) -> list[m.Pattern]:
        """Return patterns, the most confident, most frequent and most recent first."""

    def put_learning(self, owner: m.Owner, learning: m.SessionLearning) -> None:
        """Store the learning, replacing one with its kind and name."""

    def learnings(self, owner: m.Owner, kind: str | None = None) -> list[m.SessionLearning]:
        """Return learnings, the most confident first."""

    # tables for analysis

    def columns(
        self, table: str, names: Sequence[str], user_id: str, project_id: str | None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield pages of the table's rows, as columns. None means all projects."""

    # counts

    def tool_use(self, owner: m.Owner, since: datetime) -> list[tuple[str, int, int, int, int]]:
        """Return for each tool its executions since then, successes, timed executions, and their total duration.

        Days that were rolled up count as whole days.
        """

    def tool_days(self, owner: m.Owner, since: datetime) -> list[tuple[str, int, int]]:
        """Return each day since then that is not rolled up, oldest first, with its successes and failures."""

    def co_edits(
        self, owner: m.Owner, within: timedelta, fewest: int, path: str | None, limit: int
    ) -> list[m.CoEdit]:
        """Return pairs of files edited in the same task `within` that time, at least `fewest` times, most often first.

        With `path`, only pairs of that file.
        """

    # retention

    def size(self) -> int:
        """Return how many rows of tools and files there are."""

    def time_of_row(self, place: int) -> datetime | None:
        """Return the time of the row that has `place` older ones, or None if there are fewer."""

    def roll_up(self, before: datetime) -> int:
        """Replace rows from before then by their sums; return how many rows were deleted."""


class CostLedger(Protocol):
    """Every call of a language model, entered before it is made."""

    def enter(self, call: m.LlmCall, cap: m.SpendingCap) -> bool:
        """Enter the call with the most it may cost; return False, entering nothing, if that could exceed the cap.

        However many threads and processes enter calls at once, together they stay within the cap.
        """

    def finish(self, call: m.LlmCall) -> None:
        """Replace the estimate by what the call came to."""

    def since(self, user_id: str, when: datetime) -> list[m.LlmCall]:
        """Return the user's calls since then, oldest first."""

    def failures(self, user_id: str, place: str) -> tuple[int, datetime | None]:
        """Return how many finished calls have failed since the last answer, and when the last one did."""


class MeasureStore(Protocol):
    """Counts and timings of one user."""

    def add(
        self, user_id: str, project_id: str | None, session: str, values: Mapping[str, float], at: datetime
    ) -> None:
        """Add to the figures with these names."""

    def set(
        self, user_id: str, project_id: str | None, session: str, values: Mapping[str, float], at: datetime
    ) -> None:
        """Replace the figures with these names."""

    def by_session(self, user_id: str, project_id: str | None) -> dict[str, dict[str, float]]:
        """Return the figures of the project's sessions, oldest first."""

    def totals(
        self, user_id: str, project_id: str | None = None, *, everywhere: bool = False
    ) -> dict[str, float]:
        """Return sums over the sessions of a project, or of all projects."""

    def add_timings(
        self, user_id: str, project_id: str | None, day: str, timings: Mapping[tuple[str, int], int]
    ) -> None:
        """Add to the counts of a day: name and size class of a duration, and how often it occurred."""

    def timings(
        self, user_id: str, project_id: str | None, since: str, *, everywhere: bool = False
    ) -> dict[str, dict[str, dict[int, int]]]:
        """Return counts by name, day and size class."""

    def forget_before(self, at: datetime) -> None:
        """Delete figures last written before then."""


class PrunedTextStore(Protocol):
    """Texts that left a context window, found by id or by words, and saved windows."""

    def put(self, user_id: str, project_id: str | None, texts: Iterable[m.PrunedText]) -> None:
        """Store texts, replacing those with the same session and id."""

    def get(self, user_id: str, name: str, session: str | None = None) -> m.PrunedText | None:
        """Return the newest text whose id is or ends with `name`; of any session if `session` is None."""

    def get_in_project(self, user_id: str, project_id: str | None, name: str) -> m.PrunedText | None:
        """Return the project's newest text whose id is or ends with `name`."""

    def find(self, user_id: str, session: str, query: str, limit: int) -> list[m.PrunedText]:
        """Return the session's texts with the passages that share most words with `query`, best first."""

    def drop_before(self, when: datetime) -> int:
        """Delete texts and windows stored before then; return how many texts."""

    def save_window(
        self,
        user_id: str,
        project_id: str | None,
        session: str,
        at: datetime,
        changed: Mapping[str, tuple[int, Mapping[str, Any]]],
        gone: Iterable[str],
    ) -> None:
        """Store the changed items of a window by id, each with its position, and delete those that are gone."""

    def window(self, user_id: str, session: str) -> list[Mapping[str, Any]]:
        """Return the saved items of a window, in order."""


class DeliveryStore(Protocol):
    """What agents were told: each text, with its items and which of them were used."""

    def put(self, deliveries: Iterable[m.DeliveryRecord]) -> None:
        """Store deliveries; one whose id is known is ignored."""

    def of_session(self, user_id: str, session: str) -> list[m.DeliveryRecord]:
        """Return what the session was told, oldest first."""

    def newest(self, user_id: str, project_id: str | None, limit: int) -> list[m.DeliveryRecord]:
        """Return what sessions of the project were told, newest first."""

    def of_item(self, user_id: str, key: str, limit: int) -> list[m.DeliveryRecord]:
        """Return the newest deliveries that contain the item, newest first."""

    def mark_used(self, user_id: str, session: str, keys: Iterable[str], at: datetime) -> int:
        """Note that the session has used items with these keys; return how many were not used before."""

    def drop_before(self, when: datetime) -> int:
        """Delete deliveries made before then; return how many."""


class WorkStore(Protocol):
    """Sessions and what was done in them."""

    def put_session(self, session: m.Session) -> None:
        """Store `session`, replacing one with its id; its user, project and start never change."""

    def get_session(self, session_id: str) -> m.Session | None:
        """Return the session, or None."""

    def sessions(self, user_id: str, project_id: str | None, limit: int) -> list[m.Session]:
        """Return the user's sessions in the project, newest first."""

    def live_sessions(self, project_id: str | None, since: datetime) -> list[m.Session]:
        """Return the project's open sessions that did something since then, newest first.

        They are the user's own, and in a team those that others share.
        """

    def iter_sessions(self, view: m.View) -> Iterator[m.Session]:
        """Yield the user's sessions in the projects that `view` shows and in none, by id, reading a page at a time."""

    def put_finding(self, finding: m.Finding) -> bool:
        """Store `finding` unless its session has one with the same fingerprint; return whether it was stored."""

    def findings(self, session: str) -> list[m.Finding]:
        """Return the findings of a session, oldest first."""

    def iter_findings(self, view: m.View) -> Iterator[m.Finding]:
        """Yield the findings of the sessions that `iter_sessions` yields, by id, reading a page at a time."""

    @property
    def events(self) -> EventStore:
        """Events of sessions that have not been learnt from yet."""

    @property
    def messages(self) -> MessageStore:
        """Messages of sessions."""

    @property
    def episodes(self) -> EpisodeStore:
        """Tools, files, tasks and the patterns in them."""

    @property
    def ledger(self) -> CostLedger:
        """What calls of language models have cost."""

    @property
    def measures(self) -> MeasureStore:
        """Counts and timings."""

    @property
    def deliveries(self) -> DeliveryStore:
        """What agents were told."""

    @property
    def pruned(self) -> PrunedTextStore:
        """Texts that left a context window."""


class StoreMaintenance(Protocol):
    """Maintenance of the file behind a store."""

    def backup(self) -> str:
        """Make a backup and return its path. The oldest of more than three is deleted."""

    def check_backups(self) -> list[m.BackupCheck]:
        """Open and read every backup, newest first; return what is damaged in each."""

    def backup_age(self, now: datetime) -> float | None:
        """Return the hours since the newest backup, or None if there is none."""

    def vacuum(self, patience: float = 30.0) -> int:
        """Rewrite the file without its free pages; return how many bytes smaller it is. Raise `StoreBusy`."""

    def encrypt(self, make_key: Callable[[], tuple[str, m.KeyNote]]) -> m.KeyNote:
        """Rewrite the file and its backups with the key that `make_key` returns; return the note about the key."""

    def decrypt(self) -> None:
        """Rewrite the file and its backups without a key."""

    def check(self) -> list[m.StoreProblem]:
        """Return where rows, full text, vectors, links and audit log disagree. Reads everything."""

    def info(self) -> m.StoreInfo:
        """Return where the store is, its version and size, and whether it is encrypted."""

    def trim_audit(self, keep: int = 5000, down_to: int = 4000) -> int:
        """Move the oldest audit lines to the archive once there are more than `keep`; return how many."""


class Store(MemoryStore, WorkStore, StoreMaintenance, Protocol):
    """One user's handle on a store, open until `close`."""

    @property
    def user_id(self) -> str:
        """The user whose settings, gaps and tags this handle reads and writes."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What happened on opening that the user should know, such as a restored backup."""

    def close(self) -> None:
        """Close the store."""

    def transaction(self) -> AbstractContextManager[None]:
        """Make all calls of this thread inside the block one transaction, with no other writer in between."""
