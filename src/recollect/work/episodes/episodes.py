"""The episodes part: records what agents do as it happens, answers questions about it, and learns patterns."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.context import Context
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import EmbedderUnavailable, RecollectError, Refused, UnknownName
from recollect.frozen import frozen
from recollect.model import (
    CO_EDIT,
    COMMON_ERROR,
    ERROR_FIX,
    WORKFLOW,
    FileOperation,
    FileTouch,
    Owner,
    Pattern,
    PatternSighting,
    SessionLearning,
    Task,
    TaskStatus,
    ToolExecution,
)
from recollect.policy import Operation
from recollect.work.episodes import learnings, queries, tasks
from recollect.work.episodes.patterns import Fix, fix_from, fixes_among, sightings
from recollect.work.episodes.record import CallPairing, bounded, clean, executed, project_path
from recollect.work.episodes.recorder import Recorder
from recollect.work.episodes.tables import EpisodeTables
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event

if TYPE_CHECKING:
    from recollect.work.episodes.sql import SqlResult

logger = logging.getLogger(__name__)

MOST_ROWS = 1_500_000  # of tools and files together; older rows are aggregated by day
ACTIVE_FOR = timedelta(minutes=30)  # after its last event, a session without an end counts as active
_ROLL_UP_EVERY = timedelta(days=1)
_MAX_FOLLOWED = 64  # sessions
_BATCH = 64  # rows per transaction
_PAGE = 5_000  # executions searched for patterns at once
_OVERLAP = 60  # earlier executions of a session that are read again, for failures still open
_EMBEDDED = 64  # tasks per batch
_PURPOSE_TASKS = 500  # newest tasks that show what files are for
_CONFIDENT = 0.5  # lowest confidence of a learning that is shown
# Names of settings: the last execution searched for patterns, and when rows were last aggregated.
_SEEN, _ROLLED = "episodes_seen", "episodes_rolled"
_TERMINAL = "task of terminal "  # a setting, with the name of a terminal: the task that was started there


@dataclass(slots=True)
class _FollowedSession:
    """The state of a session whose events are being recorded."""

    pairing: CallPairing
    requests: set[str] = field(default_factory=set)  # ids of those processed already
    vector: Any = None  # of the last specific request; None = none yet, or no embedder


@frozen
class _QueuedCall:
    """The arguments of one call of `record`."""

    call: Event
    answer: Event
    key: str
    at: datetime
    task: str | None
    error: str
    duration_ms: int | None
    context_tokens: int | None
    touches: tuple[FileTouch, ...]


@dataclass(slots=True)
class Episodes:
    """`engine.episodes`. Thread-safe."""

    context: Context
    store: Store = field(init=False)
    embedder: Embedder = field(init=False)
    clock: m.Clock = field(init=False)
    _followed: dict[str, _FollowedSession] = field(default_factory=dict)
    _recorder: Recorder[_QueuedCall] = field(init=False)

    def __post_init__(self) -> None:
        self.store = self.context.store
        self.embedder = self.context.embedder
        self.clock = self.context.clock
        self._recorder = Recorder(self._write)

    @property
    def owner(self) -> Owner:
        return Owner(self.context.user_id, self.context.project_id)

    @property
    def on(self) -> bool:
        """Whether memory is on, so that work is recorded and shown to agents."""
        return self.context.is_on("memory")

    @property
    def root(self) -> str:
        return self.context.project.root if self.context.project else ""

    # recording

    def record(
        self,
        tool: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        session: str = "",
        success: bool = True,
        output: str = "",
        error: str = "",
        duration_ms: int | None = None,
        context_tokens: int | None = None,
        files: Iterable[tuple[str, str]] = (),
        task: str | None = None,
        key: str | None = None,
        at: datetime | None = None,
    ) -> bool:
        """Record that a tool ran. Return at once: True if queued, False if the queue is full and the call is dropped.

        `files` are pairs of a path and an operation: read, write, edit, search or analyze. Only the shape of `output`
        is stored. Without a `task`, the call belongs to the active one. Calls with the same `key` are stored once.
        """
        now = at or self.clock()
        name = key or m.new_id(now)
        call = Event(session, 0, ASSISTANT, "", at=now, tool=tool, call=name, input=dict(parameters or {}))
        answer = Event(session, 1, TOOL, output or error, tool=tool, call=name, failed=not success)
        touches = tuple(
            FileTouch(f"{name}/{number}", now, session, path, _operation(operation), success)
            for number, (path, operation) in enumerate(files)
        )
        queued = _QueuedCall(call, answer, name, now, task, error, duration_ms, context_tokens, touches)
        return self._recorder.put(queued)

    @property
    def dropped(self) -> int:
        """Return how many calls were dropped because the queue was full."""
        return self._recorder.dropped

    def flush(self) -> None:
        """Wait until everything given to `record` is in the store."""
        self._recorder.flush()

    def close(self) -> None:
        """Write what is queued. Closing twice is fine."""
        self._recorder.close()

    def _write(self, batch: Sequence[_QueuedCall]) -> None:
        if not self.on:
            return
        executions, touches = [], []
        active: dict[str, str | None] = {}
        for queued in batch:
            session = clean(queued.call.session, 120)
            if session not in active:
                active[session] = self._active(session)
            execution, detected = executed(
                queued.call, queued.answer, session, queued.key, queued.at, self.root
            )
            task = queued.task or active[session]
            timed = queued.duration_ms is not None
            executions.append(
                replace(
                    execution,
                    task=task,
                    error=clean(queued.error, 200) if queued.error else execution.error,
                    duration_ms=queued.duration_ms if timed else execution.duration_ms,
                    context_tokens=queued.context_tokens,
                )
            )
            given = [
                replace(touch, session=session, path=project_path(touch.path, self.root))
                for touch in queued.touches
            ]
            touches += [replace(touch, task=task) for touch in given or detected]
        self.store.episodes.add(self.owner, executions, touches)

    def watch(self, session: str, events: Iterable[Event], *, over: bool = False) -> Iterator[Event]:
        """Yield the same events and record them on the way. Events of a session that were recorded before count once.

        What cannot be recorded is logged and does not stop the caller; the next call brings it again. With `over`,
        these are the last events of the session, and its task is closed after them.
        """
        followed = self._follow(session)
        requests: tasks.RequestIds | None = None
        pending: list[tuple[ToolExecution, list[FileTouch]]] = []
        try:
            for event in events:
                with _logging_errors(session):
                    requests = requests or tasks.RequestIds(session, event.order)
                    self._process(session, event, followed, requests, pending)
                yield event
        finally:
            with _logging_errors(session):
                self._store(session, followed, pending)
        if over:
            self._followed.pop(session, None)
            with _logging_errors(session):
                self.close_task(session)

    def _process(
        self,
        session: str,
        event: Event,
        followed: _FollowedSession,
        requests: tasks.RequestIds,
        pending: list[tuple[ToolExecution, list[FileTouch]]],
    ) -> None:
        if event.author == USER and event.is_message:
            if _is_request(event) and (request_id := requests.id_of(event)) not in followed.requests:
                self._store(session, followed, pending)
                self._process_request(session, event, request_id, followed)
                followed.requests.add(request_id)
        elif (done := followed.pairing.add(event, self.clock())) is not None:
            pending.append(done)
            if len(pending) >= _BATCH:
                self._store(session, followed, pending)

    def _follow(self, session: str) -> _FollowedSession:
        followed = self._followed.pop(session, None) or _FollowedSession(CallPairing(session, self.root))
        self._followed[session] = followed  # in order of use: the least recently used one goes first
        if len(self._followed) > _MAX_FOLLOWED:
            del self._followed[next(iter(self._followed))]
        return followed

    def _store(
        self, session: str, followed: _FollowedSession, pending: list[tuple[ToolExecution, list[FileTouch]]]
    ) -> None:
        if not pending:
            return
        batch = list(pending)
        pending.clear()
        oldest = self._oldest()
        task = self._active(session)
        fresh = [(done, touches) for done, touches in batch if oldest is None or done.at >= oldest]
        self.store.episodes.add(
            self.owner,
            [replace(done, task=task) for done, _ in fresh],
            [replace(touch, task=task) for _, touches in fresh for touch in touches],
        )
        followed.pairing.known.update(done.key for done, _ in batch)

    def _oldest(self) -> datetime | None:
        """Return the time before which rows are aggregated, or None. Older rows must not be counted again."""
        days = self.context.settings.episode_days
        return self.context.confirmed_now() - timedelta(days=min(days, 36_500)) if days else None

    def _process_request(
        self, session: str, event: Event, request_id: str, followed: _FollowedSession
    ) -> None:
        """Begin a task with the first request, and with each request about another topic."""
        active = self.store.episodes.active(self.owner, session)
        if active is not None and not tasks.is_specific(event.text):
            return
        vector = self._vector(event.text)
        before, followed.vector = followed.vector, vector if vector is not None else followed.vector
        moved = vector is not None and before is not None and float(vector @ before) < tasks.TOPIC_CHANGE
        if active is None or moved:
            self._begin(request_id, tasks.description_of(event.text), session, event.at or self.clock())

    def _vector(self, text: str) -> Any:
        try:
            return self.embedder.embed([text[:2000]])[0]
        except EmbedderUnavailable:
            return None

    def _active(self, session: str) -> str | None:
        task = self.store.episodes.active(self.owner, session)
        return task.id if task else None

    def touch(
        self,
        path: str,
        operation: str = "read",
        *,
        session: str = "",
        lines: tuple[int, int] | None = None,
        context: str | None = None,
    ) -> None:
        """Record work on a file without a tool; for example, part of it was pruned from a context window."""
        if not self.on:
            return
        now = self.clock()
        touch = FileTouch(
            m.new_id(now),
            now,
            session,
            project_path(path, self.root),
            _operation(operation),
            True,
            self._active(session),
            lines,
            clean(context, 160) if context else None,
        )
        self.store.episodes.add(self.owner, (), [touch])

    def snapshot(
        self,
        session: str,
        items: Sequence[Mapping[str, Any]],
        total_tokens: int,
        *,
        pruned: Sequence[Mapping[str, Any]] = (),
        reason: str = "manual_snapshot",
        task: str | None = None,
    ) -> int:
        """Record what a context window held, by item: id, type, tokens, relevance, never text. Return its number."""
        return self.store.episodes.put_snapshot(
            self.owner,
            session,
            self.clock(),
            [bounded(item) for item in items],
            total_tokens,
            [bounded(item) for item in pruned],
            clean(reason, 60),
            task or self._active(session),
        )

    # tasks

    def start_task(self, description: str, *, session: str | None = None, terminal: str = "") -> Task:
        """Begin a task in `session`, or in the active one here. The session's current task is paused.

        `terminal` is where a person typed it: `finish_task` and its kin end that one there.
        """
        if not description.strip():
            raise Refused("A task needs a description.", 'For example: task start "fix the login loop".')
        task = self._begin(
            m.new_id(self.clock()), tasks.description_of(description), self._session(session), self.clock()
        )
        if terminal:
            self.store.set_setting(self.owner.project_id, _TERMINAL + terminal, task.id)
        return task

    def _begin(self, name: str, description: str, session: str, at: datetime) -> Task:
        task = Task(name, session, description, at, intent=tasks.intent_of(description))
        self.store.episodes.start(self.owner, task, tasks.words_of(description))
        return self.store.episodes.task(self.owner, name) or task

    def _session(self, given: str | None) -> str:
        if given is not None:
            return given
        newest = self.store.sessions(self.context.user_id, self.owner.project_id, 1)
        if newest and not newest[0].ended_at:
            last = newest[0].active_at or newest[0].started_at
            return newest[0].id if self.clock() - last < ACTIVE_FOR else ""
        return ""

    def task(self, name: str) -> Task:
        """Return a task by number or id. Raise `Refused` if there is none."""
        task = self.store.episodes.task(self.owner, name.lstrip("#"))
        if task is None:
            raise Refused(
                f"No task {name[:60]!r} in this project.", "Run `recollect task list` to list the tasks."
            )
        return task

    def switch_task(self, name: str) -> Task:
        """Resume a task. The active task of its session is paused."""
        return self._set_status(self.task(name), TaskStatus.ACTIVE)

    def pause_task(self, name: str | None = None, terminal: str = "") -> Task:
        return self._set_status(self._task_or_active(name, terminal), TaskStatus.PAUSED)

    def finish_task(self, name: str | None = None, outcome: str = "", terminal: str = "") -> Task:
        return self._set_status(self._task_or_active(name, terminal), TaskStatus.COMPLETED, outcome)

    def fail_task(self, name: str | None = None, why: str = "", terminal: str = "") -> Task:
        return self._set_status(self._task_or_active(name, terminal), TaskStatus.FAILED, why)

    def _task_or_active(self, name: str | None, terminal: str) -> Task:
        """Return the task called `name`, the active task of this terminal, or the active task started last."""
        if name is not None:
            return self.task(name)
        if terminal and (own := self.store.setting(self.owner.project_id, _TERMINAL + terminal)):
            task = self.store.episodes.task(self.owner, str(own))
            if task is not None and task.status is TaskStatus.ACTIVE:
                return task
        active = self.store.episodes.tasks(self.owner, [TaskStatus.ACTIVE], 1)
        if not active:
            raise Refused(
                "No task is active in this project.", "Name one. Run `recollect task list` to list them."
            )
        return active[0]

    def _set_status(self, task: Task, status: TaskStatus, outcome: str = "") -> Task:
        over = status in (TaskStatus.COMPLETED, TaskStatus.FAILED)
        done = replace(
            task,
            status=status,
            completed_at=self.clock() if over else None,
            intent=task.intent or tasks.intent_from(self._executions_of(task)),
            outcome=clean(outcome, 300) or task.outcome,
        )
        if over and not done.outcome:
            done = replace(done, outcome=tasks.outcome_of(self._executions_of(task))[1])
        self.store.episodes.update(self.owner, done)
        return done

    def close_task(self, session: str) -> Task | None:
        """Complete the task of a session that is over if it looks done, else pause it. Return None if it has none."""
        task = self.store.episodes.active(self.owner, session)
        if task is None or task.session != session:
            return None
        status, outcome = tasks.outcome_of(self._executions_of(task))
        return self._set_status(task, status, outcome)

    def _executions_of(self, task: Task) -> list[ToolExecution]:
        return self.store.episodes.executions(self.owner, task=task.id, limit=2000)

    # queries

    def file(self, path: str, limit: int = 5) -> queries.FileHistory:
        """Return past work on a file."""
        return queries.file_history(self.store.episodes, self.owner, project_path(path, self.root), limit)

    def tools(self, since: datetime) -> tuple[queries.ToolUse, ...]:
        """Return how often each tool was used since then, and how often it succeeded."""
        return queries.tool_use(self.store.episodes, self.owner, since)

    def tool_days(self, since: datetime) -> tuple[queries.ToolDay, ...]:
        """Return how often tools succeeded and failed on each day since then."""
        return queries.tool_days(self.store.episodes, self.owner, since)

    def tasks(self, status: TaskStatus | None = None, limit: int = 20) -> tuple[Task, ...]:
        """Return tasks, newest first."""
        statuses = tuple(TaskStatus) if status is None else (status,)
        return tuple(self.store.episodes.tasks(self.owner, statuses, limit))

    def similar_tasks(self, text: str, limit: int = 3) -> tuple[queries.PastTask, ...]:
        """Return similar past tasks with their outcomes, best first."""
        return queries.similar_tasks(self.store.episodes, self.embedder, self.owner, text, limit)

    def coedits(self, path: str | None = None, limit: int = 20) -> tuple[m.CoEdit, ...]:
        """Return files edited together: at least 3 times, within 5 minutes, in the same task."""
        return queries.co_edits(
            self.store.episodes, self.owner, project_path(path, self.root) if path else None, limit
        )

    def what_was_i_doing(self, limit: int = 5) -> tuple[Task, ...]:
        """Return active and paused tasks, newest first."""
        return queries.open_tasks(self.store.episodes, self.owner, limit)

    def last(self, topic: str, limit: int = 10) -> queries.LastWork:
        """Return the last work on a topic."""
        return queries.last_work(self.store.episodes, self.owner, topic, limit)

    def files_of(self, task: str) -> tuple[FileTouch, ...]:
        """Return the work on files in a task, newest first."""
        return tuple(self.store.episodes.touches(self.owner, task=self.task(task).id, limit=1000))

    def sql(self, query: str, *, all_projects: bool = False) -> "SqlResult":
        """Run a query over the six episode tables. Raise `Refused` for anything but reading.

        Only a person may ask about all projects.
        """
        if all_projects:
            self.context.check(Operation.READ_ALL_PROJECTS)
        from recollect.work.episodes.sql import select

        project_id = None if all_projects else self.owner.project_id or ""
        return select(self.context.settings.database, self.context.user_id, project_id, query)

    def export(self, folder: Path, *, force: bool = False) -> dict[str, int]:
        """Write the six tables as Parquet files into `folder` and return the number of rows in each."""
        from recollect.work.episodes.export import export_parquet

        tables = EpisodeTables(self.store.episodes, self.context.user_id, self.owner.project_id or "")
        return export_parquet(tables, folder, force=force)

    # learning

    def fixes_for(self, failure: str, command: str = "", limit: int = 3) -> list[Fix]:
        """Return what fixed similar failures, most confident first; nothing if no past failure is similar enough."""
        known = self.store.episodes.patterns(self.owner, ERROR_FIX, 5000)
        return fixes_among(known, failure, command, limit)

    def known_fixes(self, limit: int = 20) -> list[Fix]:
        """Return what fixed failures, the most confident, most frequent and most recent first."""
        return [fix_from(pattern) for pattern in self.store.episodes.patterns(self.owner, ERROR_FIX, limit)]

    def patterns(self, kind: str | None = None) -> tuple[Pattern, ...]:
        return tuple(self.store.episodes.patterns(self.owner, kind))

    def learnings(self, kind: str | None = None) -> tuple[SessionLearning, ...]:
        """Return learnings, most confident first, without those seen only once."""
        learnt = self.store.episodes.learnings(self.owner, kind)
        return tuple(learning for learning in learnt if learning.confidence >= _CONFIDENT)

    def refresh(self) -> bool:
        """Search new executions for patterns, in the background. Return whether more remain."""
        rows = self.store.episodes
        seen = int(self.store.setting(self.owner.project_id, _SEEN) or 0)
        new = rows.executions(self.owner, after=seen, limit=_PAGE)
        if not new:
            return False
        by_session: dict[str, list[ToolExecution]] = {}
        for execution in new:
            by_session.setdefault(execution.session, []).append(execution)
        patterns: list[PatternSighting] = []
        for session, executions in by_session.items():
            earlier = rows.executions(self.owner, session=session, before=executions[0].id, limit=_OVERLAP)
            patterns += sightings([*earlier, *executions])
        pairs: tuple[m.CoEdit, ...] = ()
        if any((execution.result or {}).get("files") for execution in new):
            pairs = self.coedits(limit=500)
        with self.store.transaction():
            for sighting in patterns:
                rows.add_sighting(self.owner, sighting)
            rows.put_patterns(self.owner, CO_EDIT, map(queries.as_pattern, pairs))
            for learnt in self._learnt(new):
                rows.put_learning(self.owner, learnt)
            self.store.set_setting(self.owner.project_id, _SEEN, new[-1].id)
        return len(new) == _PAGE

    def _learnt(self, new: Sequence[ToolExecution]) -> Iterator[SessionLearning]:
        errors = learnings.ErrorCounts()
        errors.add(new)
        known = {
            learning.name: int(learning.data["times"])
            for learning in self.store.episodes.learnings(self.owner, COMMON_ERROR)
        }
        root = Path(self.root) if self.root else None
        yield from errors.learnings(known)
        yield from learnings.file_purposes(root, self.store.episodes.tasks(self.owner, limit=_PURPOSE_TASKS))
        yield from learnings.workflows(self.patterns(WORKFLOW), new[-1].session)

    def embed_tasks(self) -> bool:
        """Embed tasks that have no vector, in the background. Return whether more remain."""
        missing = self.store.episodes.without_vector(self.owner, self.embedder.model, _EMBEDDED)
        if not missing:
            return False
        try:
            vectors = self.embedder.embed([text for _, text in missing])
        except EmbedderUnavailable:
            return False
        pairs = (
            (number, row.astype("<f4").tobytes()) for (number, _), row in zip(missing, vectors, strict=True)
        )
        self.store.episodes.put_vectors(self.embedder.model, pairs)
        return len(missing) == _EMBEDDED

    # retention

    def roll_up_if_due(self) -> int:
        """Aggregate rows that are too old or too many, at most once a day. Return how many rows were removed."""
        now = self.clock()
        last = self.store.setting(None, _ROLLED)
        if last is not None and abs(now - m.from_text(last)) < _ROLL_UP_EVERY:
            return 0
        cuts = [self._oldest(), self._oldest_that_fits()]
        removed = max((self.store.episodes.roll_up(cut) for cut in cuts if cut is not None), default=0)
        with contextlib.suppress(RecollectError):  # a read-only home
            self.store.set_setting(None, _ROLLED, m.to_text(now))
        return removed

    def _oldest_that_fits(self) -> datetime | None:
        """Return the time before which rows exceed the limit, or None if all fit."""
        over = self.store.episodes.size() - MOST_ROWS
        return self.store.episodes.time_of_row(over) if over > 0 else None


def _is_request(event: Event) -> bool:
    return not event.injected and not event.agent and bool(event.text.strip())


@contextlib.contextmanager
def _logging_errors(session: str) -> Iterator[None]:
    """Log any error of recording: it must not stop the session's other processing."""
    try:
        yield
    except RecollectError as error:
        logger.warning("some episodes of session %s were not recorded: %s", session, error.message)
    except Exception:  # a host's events can hold anything
        logger.exception("some episodes of session %s were not recorded", session)


def _operation(name: str) -> FileOperation:
    """Return the operation called `name`. Raise `UnknownName` if there is none."""
    try:
        return FileOperation(name)
    except ValueError:
        raise UnknownName("operation", name, list(FileOperation)) from None
