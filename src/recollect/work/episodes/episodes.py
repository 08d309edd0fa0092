"""Episodes: what was done before, recorded as it happens, asked about, and learnt from. A table of contents."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.config import Settings
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import EmbedderUnavailable, RecollectError, Refused, UnknownName
from recollect.store.episode_rows import (
    Execution,
    Learning,
    Operation,
    Owner,
    Pattern,
    Sighting,
    Status,
    Task,
    Touch,
)
from recollect.work.episodes import ask, learnings, tasks
from recollect.work.episodes.columns import Columns
from recollect.work.episodes.patterns import CO_EDIT, ERROR_FIX, WORKFLOW, Fix, fixes_among, sightings
from recollect.work.episodes.record import Pairing, bounded, clean, executed, place
from recollect.work.episodes.recorder import Recorder
from recollect.work.sessions.switches import is_on
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event

if TYPE_CHECKING:
    from recollect.work.episodes.sql import Table

logger = logging.getLogger(__name__)

MOST_ROWS = 1_500_000  # of tools and files together; the oldest are summed up
AT_WORK = timedelta(minutes=30)  # after which a session without an end is no longer taken to go on
_EVERY = timedelta(days=1)  # between two looks at what has grown old
_FOLLOWED = 64  # sessions
_BATCH = 64  # rows to a transaction
_PAGE = 5_000  # executions that patterns are looked for in at once
_BEFORE = 60  # executions of a session that are read again, for failures that were open
_EMBEDDED = 64  # tasks at once
_LOOKED_AT = 500  # tasks, for what files are for
_SURE = 0.5  # confidence from which on something is learnt
_SEEN, _ROLLED = (
    "episodes_seen",
    "episodes_rolled",
)  # settings: how far patterns have come; when rows were summed up


@dataclass(slots=True)
class _Followed:
    """A session that is being watched."""

    pairing: Pairing
    requests: set[str] = field(default_factory=set)  # names of those that were seen
    vector: Any = None  # of the last request that said enough; None = there was none, or no embedder


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What `record` was given."""

    call: Event
    answer: Event
    key: str
    at: datetime
    task: str | None
    error: str
    duration_ms: int | None
    context_tokens: int | None
    touches: tuple[Touch, ...]


@dataclass(slots=True)
class Episodes:
    """`engine.episodes`. Usable from any thread."""

    store: Store
    embedder: Embedder
    settings: Settings
    clock: m.Clock
    user_id: str
    project: m.Project | None  # None = outside any project
    _followed: dict[str, _Followed] = field(default_factory=dict)
    _recorder: Recorder[_Waiting] = field(init=False)
    _here: Columns = field(init=False)

    def __post_init__(self) -> None:
        self._recorder = Recorder(self._write_down)
        self._here = Columns(self.store.episodes, self.user_id, self.owner.project_id or "")

    @property
    def owner(self) -> Owner:
        return Owner(self.user_id, self.project.id if self.project else None)

    @property
    def _on(self) -> bool:
        return is_on(self.store, self.owner.project_id, "memory")

    @property
    def root(self) -> str:
        return self.project.root if self.project else ""

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
        """A tool has run. Returns at once; False where so much waits already that this is dropped, and counted.

        `files` are pairs of a path and what was done: read, write, edit, search or analyze. Of `output` only its shape
        is kept. Without a `task` it belongs to the one that is active. What comes twice under one `key` counts once.
        """
        now = at or self.clock()
        name = key or m.new_id(now)
        call = Event(session, 0, ASSISTANT, "", at=now, tool=tool, call=name, input=dict(parameters or {}))
        answer = Event(session, 1, TOOL, output or error, tool=tool, call=name, failed=not success)
        touches = tuple(
            Touch(f"{name}/{number}", now, session, path, _operation(operation), success)
            for number, (path, operation) in enumerate(files)
        )
        waiting = _Waiting(call, answer, name, now, task, error, duration_ms, context_tokens, touches)
        return self._recorder.put(waiting)

    @property
    def dropped(self) -> int:
        """How much was not recorded because too much was waiting."""
        return self._recorder.dropped

    def flush(self) -> None:
        """Until everything given to `record` is in the store."""
        self._recorder.flush()

    def close(self) -> None:
        """Write what waits. Closing twice is fine."""
        self._recorder.close()
        self._here.close()

    def _write_down(self, batch: Sequence[_Waiting]) -> None:
        if not self._on:
            return
        executions, touches = [], []
        active: dict[str, str | None] = {}
        for each in batch:
            session = clean(each.call.session, 120)
            if session not in active:
                active[session] = self._active(session)
            done, found = executed(each.call, each.answer, session, each.key, each.at, self.root)
            task = each.task or active[session]
            executions.append(
                replace(
                    done,
                    task=task,
                    error=clean(each.error, 200) if each.error else done.error,
                    duration_ms=each.duration_ms if each.duration_ms is not None else done.duration_ms,
                    context_tokens=each.context_tokens,
                )
            )
            given = [
                replace(touch, session=session, path=place(touch.path, self.root)) for touch in each.touches
            ]
            touches += [replace(touch, task=task) for touch in given or found]
        self.store.episodes.add(self.owner, executions, touches)

    def watch(self, session: str, events: Iterable[Event], *, over: bool = False) -> Iterator[Event]:
        """The same events, recorded as they go by. A session may be told again from its beginning: all counts once.

        What cannot be recorded is logged, and costs nobody else anything: the next telling brings it again.
        `over` says that these are the last of the session: its task is settled when they have gone by.
        """
        followed = self._follow(session)
        requests: tasks.Requests | None = None
        made: list[tuple[Execution, list[Touch]]] = []
        try:
            for event in events:
                with _containing(session):
                    requests = requests or tasks.Requests(session, event.order)
                    self._see(session, event, followed, requests, made)
                yield event
        finally:
            with _containing(session):
                self._keep(session, followed, made)
        if over:
            self._followed.pop(session, None)
            with _containing(session):
                self.settle(session)

    def _see(
        self,
        session: str,
        event: Event,
        followed: _Followed,
        requests: tasks.Requests,
        made: list[tuple[Execution, list[Touch]]],
    ) -> None:
        if event.author == USER and event.is_message:
            if _is_request(event) and (name := requests.name(event)) not in followed.requests:
                self._keep(session, followed, made)
                self._requested(session, event, name, followed)
                followed.requests.add(name)
        elif (done := followed.pairing.see(event, self.clock())) is not None:
            made.append(done)
            if len(made) >= _BATCH:
                self._keep(session, followed, made)

    def _follow(self, session: str) -> _Followed:
        found = self._followed.pop(session, None) or _Followed(Pairing(session, self.root))
        self._followed[session] = found  # the last one asked for is the last to go
        if len(self._followed) > _FOLLOWED:
            del self._followed[next(iter(self._followed))]
        return found

    def _keep(self, session: str, followed: _Followed, made: list[tuple[Execution, list[Touch]]]) -> None:
        if not made:
            return
        batch = list(made)
        made.clear()
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
        """What is older has been summed up, or would be at once: it is not counted again. None = all is kept."""
        days = self.settings.episode_days
        return self.clock() - timedelta(days=min(days, 36_500)) if days else None

    def _requested(self, session: str, event: Event, name: str, followed: _Followed) -> None:
        """A first request begins a task, and so does one about something else."""
        active = self.store.episodes.active(self.owner, session)
        if active is not None and not tasks.says_enough(event.text):
            return
        vector = self._vector(event.text)
        before, followed.vector = followed.vector, vector if vector is not None else followed.vector
        moved = vector is not None and before is not None and float(vector @ before) < tasks.TOPIC_CHANGE
        if active is None or moved:
            self._begin(name, tasks.description_of(event.text), session, event.at or self.clock())

    def _vector(self, text: str) -> Any:
        try:
            return self.embedder.embed([text[:2000]])[0]
        except EmbedderUnavailable:
            return None

    def _active(self, session: str) -> str | None:
        found = self.store.episodes.active(self.owner, session)
        return found.id if found else None

    def touch(
        self,
        path: str,
        operation: str = "read",
        *,
        session: str = "",
        lines: tuple[int, int] | None = None,
        context: str | None = None,
    ) -> None:
        """Something was done with a file, without a tool: a piece of it left a context, say."""
        if not self._on:
            return
        now = self.clock()
        name = place(path, self.root)
        why = clean(context, 160) if context else None
        self.store.episodes.add(
            self.owner,
            (),
            [
                Touch(
                    m.new_id(now),
                    now,
                    session,
                    name,
                    _operation(operation),
                    True,
                    self._active(session),
                    lines,
                    why,
                )
            ],
        )

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
        """What a context window held, item by item: id, type, tokens, relevance; never its text. The snapshot's number."""
        return self.store.episodes.put_snapshot(
            self.owner,
            session,
            self.clock(),
            [bounded(each) for each in items],
            total_tokens,
            [bounded(each) for each in pruned],
            clean(reason, 60),
            task or self._active(session),
        )

    # tasks

    def start_task(self, description: str, *, session: str | None = None) -> Task:
        """Begin a task in a session: the one named, or the one at work here; the one it had before waits."""
        if not description.strip():
            raise Refused("A task needs a description.", 'For example: task start "fix the login loop".')
        return self._begin(
            m.new_id(self.clock()), tasks.description_of(description), self._session(session), self.clock()
        )

    def _begin(self, name: str, description: str, session: str, at: datetime) -> Task:
        task = Task(name, session, description, at, intent=tasks.intent_of(description))
        self.store.episodes.start(self.owner, task, tasks.words_of(description))
        return self.store.episodes.task(self.owner, name) or task

    def _session(self, given: str | None) -> str:
        if given is not None:
            return given
        newest = self.store.sessions(self.user_id, self.owner.project_id, 1)
        if newest and not newest[0].ended_at:
            last = newest[0].active_at or newest[0].started_at
            return newest[0].id if self.clock() - last < AT_WORK else ""
        return ""

    def task(self, name: str) -> Task:
        """By number or id. Raises `Refused`."""
        found = self.store.episodes.task(self.owner, name.lstrip("#"))
        if found is None:
            raise Refused(f"No task {name[:60]!r} here.", "`recollect task list` shows those there are.")
        return found

    def switch_task(self, name: str) -> Task:
        """Go on with a task; the one that was active in its session waits."""
        return self._become(self.task(name), Status.ACTIVE)

    def pause_task(self, name: str | None = None) -> Task:
        return self._become(self._named(name), Status.PAUSED)

    def finish_task(self, name: str | None = None, outcome: str = "") -> Task:
        return self._become(self._named(name), Status.COMPLETED, outcome)

    def fail_task(self, name: str | None = None, why: str = "") -> Task:
        return self._become(self._named(name), Status.FAILED, why)

    def _named(self, name: str | None) -> Task:
        """The one named, or the one started last of those that are active."""
        if name is not None:
            return self.task(name)
        active = self.store.episodes.tasks(self.owner, [Status.ACTIVE], 1)
        if not active:
            raise Refused("No task is active here.", "Name one; `recollect task list` shows them.")
        return active[0]

    def _become(self, task: Task, status: Status, outcome: str = "") -> Task:
        over = status in (Status.COMPLETED, Status.FAILED)
        done = replace(
            task,
            status=status,
            completed_at=self.clock() if over else None,
            intent=task.intent or tasks.intent_from(self._executions_of(task)),
            outcome=clean(outcome, 300) or task.outcome,
        )
        if over and not done.outcome:
            done = replace(done, outcome=tasks.settled(self._executions_of(task))[1])
        self.store.episodes.update(self.owner, done)
        return done

    def settle(self, session: str) -> Task | None:
        """A session is over: its task is completed if it looks done, else it waits. None where it had none."""
        task = self.store.episodes.active(self.owner, session)
        if task is None or task.session != session:
            return None
        status, outcome = tasks.settled(self._executions_of(task))
        return self._become(task, status, outcome)

    def _executions_of(self, task: Task) -> list[Execution]:
        return self.store.episodes.executions(self.owner, task=task.id, limit=2000)

    # asking

    def file(self, path: str, limit: int = 5) -> ask.FileHistory:
        """Have I worked on this file before?"""
        return ask.file_history(self.store.episodes, self.owner, place(path, self.root), limit)

    def tools(self, since: datetime) -> tuple[ask.ToolUse, ...]:
        """How often each tool was used, and how often that went well."""
        return ask.tool_use(self.store.episodes, self._here, self.owner, since)

    def tasks(self, status: Status | None = None, limit: int = 20) -> tuple[Task, ...]:
        """Newest first."""
        statuses = tuple(Status) if status is None else (status,)
        return tuple(self.store.episodes.tasks(self.owner, statuses, limit))

    def similar_tasks(self, text: str, limit: int = 3) -> tuple[ask.PastTask, ...]:
        """Tasks like this one, best first, with what they came to."""
        return ask.similar_tasks(self.store.episodes, self.embedder, self.owner, text, limit)

    def coedits(self, path: str | None = None, limit: int = 20) -> tuple[ask.CoEdit, ...]:
        """What is edited together: at least 3 times, within 5 minutes, in a task."""
        return ask.co_edits(self._here, place(path, self.root) if path else None, limit)

    def what_was_i_doing(self, limit: int = 5) -> tuple[Task, ...]:
        """Tasks that are at work or wait, newest first."""
        return ask.open_tasks(self.store.episodes, self.owner, limit)

    def last(self, topic: str, limit: int = 10) -> ask.LastWork:
        """What did I last do with this?"""
        return ask.last_work(self.store.episodes, self.owner, topic, limit)

    def files_of(self, task: str, limit: int = 1000) -> tuple[Touch, ...]:
        """What was done with which files in a task, newest first."""
        return tuple(self.store.episodes.touches(self.owner, task=self.task(task).id, limit=limit))

    def sql(self, query: str, *, all_projects: bool = False) -> "Table":
        """The answer to a query over the six tables. Raises `Refused` for anything but reading."""
        from recollect.work.episodes.sql import select

        here = None if all_projects else self.owner.project_id or ""
        return select(self.settings.database, self.user_id, here, query)

    def export(self, folder: Path, *, force: bool = False) -> dict[str, int]:
        """The six tables as Parquet files in `folder`; the rows in each."""
        from recollect.work.episodes.export import export_parquet

        return export_parquet(self._here, folder, force=force)

    # learning

    def fixes_for(self, failure: str, command: str = "", limit: int = 3) -> list[Fix]:
        """What mended failures like this one, the surest first; nothing when unsure."""
        known = self.store.episodes.patterns(self.owner, ERROR_FIX, 5000)
        return fixes_among(known, failure, command, limit)

    def patterns(self, kind: str | None = None) -> tuple[Pattern, ...]:
        return tuple(self.store.episodes.patterns(self.owner, kind))

    def learnings(self, kind: str | None = None) -> tuple[Learning, ...]:
        """The surest first; what was seen only once is not learnt yet."""
        return tuple(
            each for each in self.store.episodes.learnings(self.owner, kind) if each.confidence >= _SURE
        )

    def refresh(self) -> bool:
        """Look for patterns in what is new, and learn from them; whether there is more to look at. For the background."""
        shelf = self.store.episodes
        seen = int(self.store.setting(self.owner.project_id, _SEEN) or 0)
        new = shelf.executions(self.owner, after=seen, limit=_PAGE)
        if not new:
            return False
        by_session: dict[str, list[Execution]] = {}
        for each in new:
            by_session.setdefault(each.session, []).append(each)
        found: list[Sighting] = []
        for session, those in by_session.items():
            earlier = shelf.executions(self.owner, session=session, before=those[0].id, limit=_BEFORE)
            found += sightings([*earlier, *those])
        pairs: tuple[ask.CoEdit, ...] = ()
        if any((each.result or {}).get("files") for each in new):
            with contextlib.suppress(Refused):  # no DuckDB: fixes and workflows are learnt all the same
                pairs = self.coedits(limit=500)
        with self.store.transaction():
            for seen_now in found:
                shelf.see_pattern(self.owner, seen_now)
            shelf.put_patterns(self.owner, CO_EDIT, map(ask.as_pattern, pairs))
            for learnt in self._learnt(new):
                shelf.put_learning(self.owner, learnt)
            self.store.set_setting(self.owner.project_id, _SEEN, new[-1].id)
        return len(new) == _PAGE

    def _learnt(self, new: Sequence[Execution]) -> Iterator[Learning]:
        errors = learnings.Errors()
        errors.see(new)
        known = {
            each.name: int(each.data["times"])
            for each in self.store.episodes.learnings(self.owner, learnings.COMMON_ERROR)
        }
        root = Path(self.root) if self.root else None
        yield from errors.learnings(known)
        yield from learnings.file_purposes(root, self.store.episodes.tasks(self.owner, limit=_LOOKED_AT))
        yield from learnings.workflows(self.patterns(WORKFLOW), new[-1].session)

    def embed_tasks(self) -> bool:
        """Make vectors of tasks that have none; whether more are left. For the background."""
        lacking = self.store.episodes.without_vector(self.owner, self.embedder.model, _EMBEDDED)
        if not lacking:
            return False
        try:
            vectors = self.embedder.embed([text for _, text in lacking])
        except EmbedderUnavailable:
            return False
        pairs = (
            (number, row.astype("<f4").tobytes()) for (number, _), row in zip(lacking, vectors, strict=True)
        )
        self.store.episodes.put_vectors(self.embedder.model, pairs)
        return len(lacking) == _EMBEDDED

    # growing old

    def roll_up_if_due(self) -> int:
        """Sum up rows that are too old or too many, at most once a day; how many went."""
        now = self.clock()
        last = self.store.setting(None, _ROLLED)
        if last is not None and abs(now - m.from_text(last)) < _EVERY:
            return 0
        cuts = [self._oldest(), self._crowded_out()]
        gone = max((self.store.episodes.roll_up(cut) for cut in cuts if cut is not None), default=0)
        with contextlib.suppress(RecollectError):  # a read-only home
            self.store.set_setting(None, _ROLLED, m.to_text(now))
        return gone

    def _crowded_out(self) -> datetime | None:
        """When the newest of those ran that there is no room for; None = there is."""
        over = self.store.episodes.size() - MOST_ROWS
        return self.store.episodes.moment_of(over) if over > 0 else None


def _is_request(event: Event) -> bool:
    return not event.injected and not event.agent and bool(event.text.strip())


@contextlib.contextmanager
def _containing(session: str) -> Iterator[None]:
    """What goes wrong with episodes must not keep anybody from learning from the session."""
    try:
        yield
    except RecollectError as error:
        logger.warning("some episodes of session %s were not recorded: %s", session, error.message)
    except Exception:  # whatever a host tells
        logger.exception("some episodes of session %s were not recorded", session)


def _operation(name: str) -> Operation:
    """Raises `UnknownName`."""
    try:
        return Operation(name)
    except ValueError:
        raise UnknownName("operation", name, list(Operation)) from None
