"""What the daemon does with hook events: record them, answer in time, and learn from them in the background."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as TooLate
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.context.project import locate
from recollect.embed.heap import trim
from recollect.embed.minilm import FIRST_TEXTS
from recollect.engine import Engine
from recollect.errors import EmbedderUnavailable, RecollectError, StoreError, StoreTooNew, VectorsTurnedOff
from recollect.interfaces.daemon.code_index import CodeIndex
from recollect.interfaces.daemon.hook_session import HookSession, context_limit
from recollect.interfaces.daemon.host_process import HostProcess, host_process
from recollect.interfaces.daemon.outbox import ComposedDelivery
from recollect.interfaces.daemon.status_lines import StatusLines
from recollect.interfaces.daemon.team_follower import TeamFollower
from recollect.interfaces.daemon.watchdog import Abandoned, Watchdog
from recollect.interfaces.daemon_client.protocol import NotRecorded
from recollect.interfaces.daemon_client.spool import Fields, HookSpool, ShownText, SpooledEvent
from recollect.interfaces.engine_pool import EnginePool
from recollect.interfaces.install.rules import write_briefing
from recollect.memory.maintenance.consolidate.run import IDLE, due, last_run
from recollect.memory.maintenance.consolidate.throttle import WorkCounter
from recollect.text import tokens
from recollect.text.redact import redact
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told
from recollect.work.hosts.hook_input import HostEvent, host_event, session_events, transcript_of
from recollect.work.hosts.hook_output import printed
from recollect.work.hosts.host import HookKind, HookReply
from recollect.work.hosts.registry import HOSTS
from recollect.work.sessions.sessions import RULES_SECONDS

logger = logging.getLogger(__name__)

MARGIN = 0.03  # seconds of a hook's deadline that the way back takes
RECORD_SECONDS = 2.0  # that recording an event may take if no host waits for it
# A search by words takes so many seconds, or so much of the deadline on a busy machine: then the model is given up.
WORDS_SECONDS = 0.06
WORDS_SHARE = 0.3
CODE_SECONDS = 0.5  # a deadline from which on a prompt waits for the code to be read: the first prompt's, and no later one's
CODE_FIRST_SECONDS = (
    0.5  # that the model waits for the code, which is usually read sooner than the model is loaded
)
MOST_SESSIONS = 64
CLOSE_AFTER = 600.0  # seconds without use, after which an engine is closed
MAINTAIN_AFTER = 5.0  # seconds without a hook, after which maintenance runs
LOOKUP_SECONDS = 30.0  # after which a lookup or the recording of an event is abandoned
JOB_SECONDS = 600.0  # after which a background job is: reading the code of a large project takes minutes
STOP_SECONDS = 2.5  # that current work has when the daemon stops
RECOVER_EVERY = 300.0  # seconds between two searches for sessions that never ended
ENDING_SECONDS = 0.5  # that the start of a session waits until the one that has just ended is learnt from
GONE_SECONDS = 2.0  # in which events of a host that is gone may still come in
# What goes on after the end of a session resumes it. The end of a turn, which may come late, does not.
RESUMING = frozenset({HookKind.SESSION_START, HookKind.PROMPT, HookKind.BEFORE_TOOL})
HOOK_ACTOR = "agent:hook"
_SHOW_LATE_TEXTS = (HookKind.SESSION_START, HookKind.PROMPT, HookKind.BEFORE_TOOL, HookKind.AFTER_TOOL)
CONSOLIDATION_ACTOR = "user:daemon"  # consolidation is the user's wish, and undone like any change of theirs


class NotReady(Exception):
    """The text for the start of a session is not ready in time."""


@dataclass(slots=True)
class EventAnswer:
    """What a hook prints besides the text, and what the agent is told by it."""

    more: dict[str, Any]
    told: list[ComposedDelivery]
    has_text: bool = True  # False: `more` says what is told

    @property
    def text(self) -> str:
        return "\n".join(composed.delivery.text for composed in self.told) if self.has_text else ""


class HookService:
    """Records hook events, answers them within their deadline, and does slow work in one background thread.

    `now` is a clock in seconds that measures how long no hook has come.
    """

    def __init__(
        self,
        engines: EnginePool,
        spool: HookSpool,
        now: Callable[[], float] = time.monotonic,
        watchdog: Watchdog | None = None,
    ) -> None:
        self._now = now
        self.watchdog = watchdog or Watchdog()
        self.foreground = WorkCounter(LOOKUP_SECONDS)
        self.background = WorkCounter(JOB_SECONDS)
        self.events = 0
        self.last_error = ""  # its type; empty = none yet
        self.engines = engines  # also for MCP sessions
        self._spool = spool
        self._sessions: dict[str, HookSession] = {}
        # by event, what its answer tells, until the hook has confirmed that it received it
        self._answered: dict[str, tuple[HookSession, list[ComposedDelivery]]] = {}
        self._lock = threading.Lock()
        # A project has some of the threads, so that others have theirs if its work does not end.
        self._lookups = self.watchdog.pool("recall", 8, LOOKUP_SECONDS, per_project=4)
        self._status_lines = StatusLines(engines, HOOK_ACTOR, self._lookups)
        self._worker = self.watchdog.pool("learn", 2, JOB_SECONDS, per_project=1)
        # A busy store holds up no answer: what writes to it while a hook waits has threads of its own.
        self._recorder = self.watchdog.pool("record", 4, LOOKUP_SECONDS, per_project=1)
        self._rules = self.watchdog.pool("rules", 2, LOOKUP_SECONDS, per_project=1)
        self._readers = self.watchdog.pool("code", 2, JOB_SECONDS, per_project=1)
        self.code_index = CodeIndex(engines, HOOK_ACTOR, self._attempt, self._readers)
        self.team = TeamFollower(engines, HOOK_ACTOR, self._team_changed)
        self.model_is_ready = threading.Event()
        self.model_is_ready.set()  # until `warm_up` begins to load it
        self._stopping = threading.Event()
        self._changed_folders: set[str] = set()  # in which something has happened
        self._ending: dict[
            str, Future[None]
        ] = {}  # by folder, the last session that ended and is learnt from
        self._recovered: dict[str, float] = {}  # when each folder's lost sessions were last looked for
        self._scheduled: set[str] = set()  # background jobs that are queued already
        self._last_hook = self._now()
        self._maintaining: Future[None] | None = None
        self._trimmed = 0.0  # the `_last_hook` after which unused memory was given back
        self._consolidation_checked = 0.0  # the `_last_hook` for which consolidation was last considered
        self._queued = 0  # background jobs that wait

    # while a hook waits

    def handle(self, fields: Fields, body: dict[str, Any], hook: int | None = None) -> bytes:
        """Record the event and return what the hook prints; when this returns, the event is on disk.

        `hook` is the process that waits for the answer; None if it is unknown.

        Raise `NotRecorded`, with what the hook prints, if the event could not be recorded in time; `NotReady` if the
        start of a session must do without us; and `StoreTooNew`. Call `sent` once the answer is sent.
        What is printed is read from the store while the event is recorded: a busy store costs no answer.
        """
        host, name, event_id, at, seconds, folder = fields
        until = time.monotonic() + float(seconds) - MARGIN
        record_until = until if float(seconds) else time.monotonic() + RECORD_SECONDS
        event = host_event(host, name, event_id, at, folder, body)
        if event.kind is HookKind.STATUS_LINE:
            return self._status_lines.line(event, until).encode() if event.session else b""
        self._last_hook = self._now()
        with self.foreground.working():
            return self._handle(event, until, record_until, host_process(hook))

    def _handle(
        self, event: HostEvent, until: float, record_until: float, process: HostProcess | None
    ) -> bytes:
        if event.hook is None or not event.session:
            return b""
        began = time.monotonic()
        self.events += 1
        drained = None
        try:
            self.watchdog.note(event.cwd, "hook")
            session = self._session_of(event)
            self.watchdog.note(session.folder, "hook")
            if self._spool.waiting(event.session):  # earlier events of a session come first; others can wait
                drained = self._recorder.submit(session.folder, self._attempt, self.drain)
            session.process, session.gone_since = process or session.process, None
            with self.engines.use(session.folder, HOOK_ACTOR) as engine:
                if not engine.sessions.on:
                    return b""
                self.team.follow(engine)
                recording = self._recorder.submit(session.folder, self._record, session, [event])
                session.record(event)
                request = session.request_for(event)
                finding = (
                    self._lookups.submit(session.folder, self._find, session, event, request, drained, until)
                    if request
                    else None
                )
                shortening = self._shortening(engine, session, event, until)
                is_end = event.kind is HookKind.TURN_END and time.monotonic() < until
                worth = session.worth_recording(engine, event) if is_end else ""
                asking = (
                    self._lookups.submit(session.folder, self._ask_to_record, session, event, worth)
                    if worth
                    else None
                )
        except StoreTooNew:
            raise
        except (StoreError, OSError) as error:
            self._failed(error, "an event could not be recorded")
            raise NotRecorded(b"") from error
        except Exception as error:  # a folder that is gone, a session of another project, an odd event
            self._failed(error, "an event was not recorded")
            return b""
        composed = self._in_time(session, event, finding, until) if finding else None
        more = self._shortened_in_time(shortening, until) if shortening else {}
        message_user = HOSTS[event.host].message_user
        if composed and composed.message and message_user:
            more |= message_user(composed.message)
        answer = EventAnswer(more, [composed] if composed else [])
        if composed and composed.delivery.ask and HOSTS[event.host].hold_tool is not None:
            # The reason says it all, also once the tool has run.
            answer = EventAnswer(session.hold(event, composed.delivery.ask), [composed], has_text=False)
        if asking is not None:
            asked, more = self._asked_in_time(session, asking, until)
            answer = EventAnswer(more, [asked] if asked else [], has_text=False)
        output = self._printed(session, event, answer, is_shown=until > began)
        self._answered[event.id] = session, answer.told
        if not self._is_recorded(recording, record_until):
            raise NotRecorded(output)
        self._follow_up(session, event)
        return output

    def sent(self, event_id: str, *, received: bool) -> None:
        """Note whether the hook has received the answer to an event: what it has not received was not told."""
        session, told = self._answered.pop(event_id, (None, []))
        if session is None or not told:
            return
        if not received:
            session.not_received(told)
            return
        with suppress(RecollectError, Abandoned), self.engines.use(session.folder, HOOK_ACTOR) as engine:
            session.received(engine, told)
        name = f"deliveries of {session.folder}"
        self._later_once(name, session.folder, partial(self._note_deliveries, session))

    def _note_deliveries(self, session: HookSession) -> None:
        """Write down what the session was told, so that another daemon does not repeat it."""
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            engine.delivery.flush()

    def _find(
        self,
        session: HookSession,
        event: HostEvent,
        request: DeliveryRequest,
        drained: "Future[None] | None",
        until: float,
    ) -> ComposedDelivery:
        reserve = max(WORDS_SECONDS, WORDS_SHARE * (until - time.monotonic()))

        def left() -> float:
            return max(until - time.monotonic() - reserve, 0.0)

        if drained is not None:  # what the session was told without us counts
            wait([drained], left())
        if request.moment is Moment.START:  # what happened a moment ago in this project, if that is quick
            learning = self._rules.submit(session.folder, self._attempt, self._learn_from_others, session)
            wait([learning], min(left(), RULES_SECONDS))
            ending = self._ending.get(session.folder)
            if ending is not None:
                wait([ending], min(left(), ENDING_SECONDS))
        if request.moment in (Moment.PROMPT, Moment.AFTER_COMPACTION):
            self.code_index.read(session.folder)
            if left() >= CODE_SECONDS:
                self.code_index.wait(session.folder, left())
        if request.needs_model and not self.model_is_ready.wait(left()):
            request = replace(request, use_model=False)
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            # A hook that gets no answer at the start of a session composes it itself.
            return session.compose(engine, request, can_wait=event.kind is not HookKind.SESSION_START)

    def _is_recorded(self, recording: "Future[None]", until: float) -> bool:
        """Return whether the event is on disk by then; if not, the hook keeps it."""
        try:
            recording.result(max(until - time.monotonic(), 0.0))
        except TooLate:
            recording.cancel()
            return False
        except StoreTooNew:
            raise
        except (StoreError, OSError) as error:
            self._failed(error, "an event could not be recorded")
            return False
        except Exception as error:  # a session of another project, an odd event: it never can be
            self._failed(error, "an event was not recorded")
        return True

    def _shortening(
        self, engine: Engine, session: HookSession, event: HostEvent, until: float
    ) -> "Future[dict[str, Any]] | None":
        """Start to shorten a tool's output; return None if outputs are left as they are, or nobody waits."""
        wanted = engine.settings.prune_output and event.kind is HookKind.AFTER_TOOL
        if not wanted or time.monotonic() >= until:
            return None
        return self._lookups.submit(session.folder, self._shorten, session, event)

    def _shorten(self, session: HookSession, event: HostEvent) -> dict[str, Any]:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            return session.shorten(engine, event)

    def _record(self, session: HookSession, events: Sequence[HostEvent]) -> None:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            engine.context.register_project()
            engine.sessions.start(
                session.session,
                host=session.host,
                branch=_branch(events[0], engine),
                at=events[0].at,
                resume=any(event.kind in RESUMING for event in events),
            )
            recorded = [
                (name, replace(each, branch=_branch(event, engine) or ""))
                for event in events
                for name, each in session_events(event)
            ]
            if recorded:
                engine.sessions.record(session.session, recorded, checkpoint=False)
                session.new_events += len(recorded)

    def _session_of(self, event: HostEvent) -> HookSession:
        with self._lock:
            known = self._sessions.pop(event.session, None)
            if known is not None:
                self._sessions[event.session] = known  # most recently used
                return known
        folder, is_known = self._home_of(event)
        session = HookSession(event.session, event.host, folder)
        with self._lock:
            if len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            session = self._sessions.setdefault(event.session, session)
        if is_known:
            self._later(session.folder, self._follow_from_start, session)
        return session

    def _follow_from_start(self, session: HookSession) -> None:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            session.catch_up(engine)

    def _home_of(self, event: HostEvent) -> tuple[str, bool]:
        """Return the folder where the session began, and whether it is known: it may go on elsewhere.

        A session belongs to one project.
        """
        with self.engines.use(event.cwd, HOOK_ACTOR) as engine:
            stored = engine.store.get_session(event.session)
            if stored is None or stored.project_id == engine.sessions.project_id:
                return event.cwd, stored is not None
            roots = {project.id: project.root for project in engine.store.projects()}
            return roots.get(stored.project_id or "", event.cwd), True

    def _in_time(
        self, session: HookSession, event: HostEvent, finding: "Future[ComposedDelivery]", until: float
    ) -> ComposedDelivery | None:
        """Return what the lookup finds; if it takes too long, the text comes with the next event.

        At the start of a session raise `NotReady`: the hook composes the text itself.
        """
        try:
            return finding.result(max(until - time.monotonic(), 0.0))
        except TooLate:
            finding.add_done_callback(lambda done: self._came_late(session, done))
            if event.kind is HookKind.SESSION_START:
                raise NotReady from None
        except Exception as error:
            self._failed(error, "a lookup for an event failed")
        return None

    def _shortened_in_time(self, shortening: "Future[dict[str, Any]]", until: float) -> dict[str, Any]:
        """Return the shorter output; if anything goes wrong, the output stays as it is."""
        try:
            return shortening.result(max(until - time.monotonic(), 0.0))
        except TooLate:
            shortening.cancel()
        except Exception as error:
            self._failed(error, "an output was not shortened")
        return {}

    def _ask_to_record(
        self, session: HookSession, event: HostEvent, worth: str
    ) -> tuple[ComposedDelivery | None, dict[str, Any]]:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            return session.ask_to_record(engine, event, worth)

    def _asked_in_time(
        self,
        session: HookSession,
        asking: "Future[tuple[ComposedDelivery | None, dict[str, Any]]]",
        until: float,
    ) -> tuple[ComposedDelivery | None, dict[str, Any]]:
        """Return the request to record what was learnt; if it takes too long, it counts as not made."""
        try:
            return asking.result(max(until - time.monotonic(), 0.0))
        except TooLate:
            if not asking.cancel():
                asking.add_done_callback(lambda done: self._attempt(self._not_asked, session, done))
        except Exception as error:
            self._failed(error, "an agent could not be asked to record what it learnt")
        return None, {}

    def _not_asked(
        self, session: HookSession, done: "Future[tuple[ComposedDelivery | None, dict[str, Any]]]"
    ) -> None:
        asked, _ = done.result()
        if asked is not None:
            session.not_received([asked])

    def _came_late(self, session: HookSession, done: "Future[ComposedDelivery]") -> None:
        error = done.exception()
        if error is not None:
            self._failed(error, "a lookup for an event failed")
        else:
            session.not_received([done.result()])

    def _printed(
        self, session: HookSession, event: HostEvent, answer: EventAnswer, *, is_shown: bool
    ) -> bytes:
        """Return what the hook prints. A text that came late waits for an event whose answer is shown to the agent."""
        assert event.hook is not None
        if event.hook.reply is HookReply.DECISION and answer.text:
            session.not_received(answer.told)
            answer.told.clear()
        text = answer.text
        if is_shown and event.hook.injects and event.kind in _SHOW_LATE_TEXTS:
            late = session.take_late(context_limit(session.host) - len(text) - 1)
            text = "\n".join(filter(None, (text, *(composed.delivery.text for composed in late))))
            answer.told.extend(late)
        return printed(event.hook, text, answer.more)

    # in the background

    def _follow_up(self, session: HookSession, event: HostEvent) -> None:
        """Schedule what follows: a checkpoint at the end of a turn, learning at the end of a session."""
        kind = event.kind
        self._changed_folders.add(session.folder)
        if kind is HookKind.SESSION_START:
            self.code_index.read(session.folder)
            self._later(session.folder, self._write_rules, session)
        if kind is HookKind.SESSION_END:
            with self._lock:
                self._sessions.pop(session.session, None)
            ending = self._later(session.folder, self._end, session, event)
            if ending is not None:
                self._ending[session.folder] = ending
        elif kind in (HookKind.TURN_END, HookKind.COMPACTION):
            session.turn_ended(event)
            self._later(session.folder, self._note_answer, session)
            if not self._checkpoint_if_due(session):
                self._later(session.folder, self._learn_rules, session)  # what the user stated does not wait

    def _note_answer(self, session: HookSession) -> None:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            session.note_answer(engine)

    def _checkpoint_if_due(self, session: HookSession) -> bool:
        """Schedule the checkpoint of a turn that has ended; one that comes too soon waits for `tick`."""
        with self._lock:
            event = session.due_checkpoint(self._now())
        if event is not None:
            self._later(session.folder, self._checkpoint, session, event)
        return event is not None

    def _end(self, session: HookSession, event: HostEvent) -> None:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            _note_transcript(engine, session, event)
            ended = engine.sessions.end(session.session)
            fields = {
                "session": session.session,
                "findings": ended.findings,
                "promoted": len(ended.promoted),
            }
            logger.info("learnt from a session", extra={"fields": fields})
        self._write_rules(session)

    def _end_silent(self, session: HookSession) -> None:
        """End a session whose host did not tell; does nothing if someone else has done it. A later prompt resumes it."""
        with self._lock:
            if self._sessions.get(session.session) is not session:
                return
            del self._sessions[session.session]
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            stored = engine.sessions.get(session.session)
            if stored.ended_at is None:
                engine.sessions.end(session.session, at=stored.active_at)
                logger.info(
                    "ended a session whose host did not tell", extra={"fields": {"session": stored.id}}
                )

    def _learn_from_others(self, session: HookSession) -> None:
        """Store rules that users have just stated in this project, and end the sessions that may be over."""
        self._learn_rules(session)
        with self._lock:
            others = [other for other in self._sessions.values() if other.folder == session.folder]
        for other in others:
            if other is not session and other.may_be_over():
                self._end_silent(other)
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            engine.sessions.recover(alive=self._alive())

    def _alive(self) -> set[str]:
        """Return the sessions whose host is known to run, however long it has been silent."""
        with self._lock:
            sessions = list(self._sessions.values())
        return {each.session for each in sessions if each.process is not None and each.process.is_alive()}

    def _learn_rules(self, session: HookSession) -> None:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            engine.sessions.learn_rules(RULES_SECONDS)

    def _checkpoint(self, session: HookSession, event: HostEvent) -> None:
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            _note_transcript(engine, session, event)
            begun = self._now()
            try:
                engine.sessions.checkpoint(session.session)
            finally:
                now = self._now()
                session.checkpoint_took(now - begun, now)
        self._write_rules(session)

    def _write_rules(self, session: HookSession) -> None:
        """Write the briefing into the rules file of a host whose hooks cannot add to prompts."""
        if not HOSTS[session.host].project_files.rules:
            return
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            if engine.context.folder is not None:
                request = DeliveryRequest(Moment.START, host=session.host)
                briefing = engine.delivery.compose(request, Told()).text
                write_briefing(session.host, engine.context.folder.root, briefing)

    def _team_changed(self, folder: str) -> None:
        """Renew the rules files of sessions in a folder: somebody in the team has changed what they say."""
        with self._lock:
            sessions = {each.host: each for each in self._sessions.values() if each.folder == folder}
        for session in sessions.values():
            name = f"rules of {session.host} in {folder}"
            self._later_once(name, folder, partial(self._write_rules, session))

    def _later(self, folder: str, job: Callable[..., object], *arguments: Any) -> "Future[None] | None":
        """Queue a job of the project at `folder`; return None if we are closing: recovery does it later."""

        @wraps(job)
        def run() -> None:
            self._queued -= 1
            with self.background.working():
                if not self._stopping.is_set():
                    self._attempt(job, *arguments)

        try:
            queued = self._worker.submit(folder, run)
        except Abandoned:
            return None
        self._queued += 1
        return queued

    def _attempt(self, job: Callable[..., object], *arguments: Any) -> None:
        """Run a job; whatever a session holds, the worker must survive it."""
        try:
            job(*arguments)
        except Exception as error:
            self._failed(error, "a background job failed")

    def settle(self, seconds: float) -> None:
        """Wait until the background jobs queued by now are done. Raise `TimeoutError` after `seconds`."""
        self._worker.settle(seconds)

    def drain(self) -> int:
        """Record what hooks wrote down while no daemon ran; return how many events."""
        return self._spool.drain(self._deliver)

    def _deliver(self, waiting: list[SpooledEvent]) -> None:
        by_session: dict[str, list[tuple[HostEvent, ShownText | None]]] = {}
        for spooled in waiting:
            host, name, event_id, at, _, folder = spooled.fields
            event = host_event(host, name, event_id, at, folder, spooled.body)
            if event.hook is not None and event.session:
                by_session.setdefault(event.session, []).append((event, spooled.shown))
        for events in by_session.values():
            try:
                # In a thread of the project's: one that is stuck must not keep the lock of the spool.
                self._lookups.submit(events[0][0].cwd, self._catch_up, events).result(LOOKUP_SECONDS)
            except (StoreError, OSError):
                raise  # the file stays, for another time
            except Exception as error:
                self._failed(error, "spooled events were not recorded")
            self.events += len(events)

    def _catch_up(self, events: list[tuple[HostEvent, ShownText | None]]) -> None:
        self.watchdog.note(events[0][0].cwd, "drain")
        session = self._session_of(events[0][0])
        self.watchdog.note(session.folder, "drain")
        with self.engines.use(session.folder, HOOK_ACTOR) as engine:
            if not engine.sessions.on:
                return
            self._record(session, [event for event, _ in events])
            for event, shown in events:
                session.record(event)
                if shown is not None:
                    session.was_told(engine, event, shown)
            engine.delivery.flush()
        for event, _ in events:
            self._follow_up(session, event)

    def tick(self) -> None:
        """Schedule whatever is due, and give up what takes too long. The server calls this every second."""
        self.watchdog.abandon_late()
        if self._spool.waiting():
            self._later_once("drain", "", self.drain)
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            self._checkpoint_if_due(session)
            self._end_if_gone(session)
        is_quiet = self._now() - self._last_hook >= MAINTAIN_AFTER and not self.foreground.busy()
        # A job that waits would stop the one that runs.
        if is_quiet and (self._maintaining is None or self._maintaining.done()):
            self._maintaining = self._later("", self._maintain)

    def _end_if_gone(self, session: HookSession) -> None:
        """Schedule the end of a session whose host is gone, once events that were under way have come in."""
        if session.process is None or session.process.is_alive():
            return
        if session.gone_since is None:
            session.gone_since = self._now()
        elif self._now() - session.gone_since >= GONE_SECONDS and not self._spool.waiting():
            self._later_once(f"end {session.session}", session.folder, partial(self._end_silent, session))

    def _later_once(self, name: str, folder: str, job: Callable[[], object]) -> None:
        """Schedule the job unless it is queued already."""
        if name in self._scheduled:
            return
        self._scheduled.add(name)

        @wraps(getattr(job, "func", job))
        def run() -> None:
            self._scheduled.discard(name)
            job()

        self._later(folder, run)

    def _maintain(self) -> None:
        """Work for the projects in which something happened, then for all in use."""
        while self._changed_folders and not self._stopping.is_set():
            folder = self._changed_folders.pop()
            with suppress(RecollectError, Abandoned), self._engine_of(folder, "maintain") as engine:
                engine.schedule.run_idle()
                engine.sessions.drain_spool()  # what agents in Python left there
                if self._now() - self._recovered.get(folder, -RECOVER_EVERY) >= RECOVER_EVERY:
                    self._recovered[folder] = self._now()
                    engine.sessions.recover(alive=self._alive())
        self._consolidate_if_due()
        self.engines.close_idle(CLOSE_AFTER)
        self._update_code_graphs()
        if self._trimmed != self._last_hook:
            self._trimmed = self._last_hook
            trim()

    def _update_code_graphs(self) -> None:
        """Keep the code graphs of projects in use up to date, so that questions need not wait."""
        for folder in self.engines.folders():
            with (
                suppress(RecollectError, Abandoned),
                self._engine_of(folder, "code graph", keep_open=False) as engine,
            ):
                if engine.sessions.on:
                    engine.code.follow(self._now(), self._must_stop)

    @contextmanager
    def _engine_of(self, folder: str, work: str, *, keep_open: bool = True) -> Iterator[Engine]:
        """Yield the engine of a project for maintenance. Raise `Abandoned` if the project is left alone."""
        self.watchdog.note(folder, work)
        with self.engines.use(folder, HOOK_ACTOR, keep_open=keep_open) as engine:
            yield engine

    def _consolidate_if_due(self) -> None:
        """Consolidate if it is due; consider it once per quiet period."""
        idle = timedelta(seconds=self._now() - self._last_hook)
        if idle < IDLE or self._consolidation_checked == self._last_hook:
            return
        self._consolidation_checked = self._last_hook
        for folder in self.engines.folders()[:1]:
            with suppress(RecollectError, Abandoned), self._engine_of(folder, "consolidate") as engine:
                active = engine.store.count(m.View(engine.settings.user, None, all_projects=True))
                why = due(last_run(engine.store), m.utc_now(), active, engine.settings.capacity, idle)
                if why is not None:
                    engine.sessions.recover(alive=self._alive())
                    care = replace(engine.care, context=replace(engine.context, actor=CONSOLIDATION_ACTOR))
                    care.consolidate(stop=self._must_stop, busy=self.foreground.busy)
                    logger.info("consolidated memories", extra={"fields": {"why": why}})

    def _must_stop(self) -> bool:
        """Return whether a long job must stop because other work waits; it resumes another time."""
        return self._stopping.is_set() or self._queued > 0

    def embed(self, model: str, texts: list[str]) -> bytes:
        """Return vectors as rows of 32-bit floats. Raise `EmbedderUnavailable`, also if `model` is not ours."""
        with self.foreground.working(), self.engines.use("/", HOOK_ACTOR) as engine:
            if engine.embedder.model != model:
                raise EmbedderUnavailable(f"The daemon does not have the model {model}.", "Load it yourself.")
            return engine.embedder.embed(texts).astype("<f4").tobytes()

    def warm_up(self, folder: str = "") -> None:
        """Begin to load the project at `folder`, the model and everything else before it is needed, and return at once.

        Until the model is loaded, prompts are answered by words.
        """
        self.model_is_ready.clear()
        thread = threading.Thread(target=self._load, args=(folder,), name="recollect-warm-up", daemon=True)
        thread.start()

    def _load(self, folder: str) -> None:
        # One after the other: at once, each would hold up what the first prompt needs first.
        self._attempt(self._load_project, folder)
        if folder:
            self.code_index.read(folder)
            self.code_index.wait(folder, CODE_FIRST_SECONDS)
        try:
            self._attempt(self._load_model)
        finally:
            self.model_is_ready.set()
        self._attempt(tokens.load)
        self._attempt(self._load_reader)

    def _load_reader(self) -> None:
        with self.engines.use("/", HOOK_ACTOR) as engine:
            if engine.context.reader is not None:
                engine.context.reader.load()

    def _load_project(self, folder: str) -> None:
        with self.engines.use(folder or "/", HOOK_ACTOR) as engine:
            if engine.sessions.on:
                request = DeliveryRequest(Moment.PROMPT, "warm", use_model=False, preview=True)
                engine.delivery.compose(request, Told())
            redact("warm")

    def _load_model(self) -> None:
        with self.engines.use("/", HOOK_ACTOR) as engine:
            if engine.settings.embedder != "http":  # nothing is sent anywhere for this
                with suppress(VectorsTurnedOff):
                    for _ in range(
                        FIRST_TEXTS + 1
                    ):  # until the model is loaded as a process that lives on needs it
                        engine.embedder.embed(["warm"])
                engine.sidecar.verify("warm", ())

    @property
    def sessions(self) -> int:
        return len(self._sessions)

    @property
    def waiting(self) -> bool:
        return self._spool.waiting()

    @property
    def busy(self) -> bool:
        """Whether a hook waits or a background job runs."""
        return self.foreground.busy() or self.background.busy()

    def close(self) -> None:
        """Finish the current work, if it ends soon; the next daemon finds what is left.

        What is acknowledged is on disk already.
        """
        self._stopping.set()
        self.team.close()
        self.code_index.close()
        until = time.monotonic() + STOP_SECONDS
        pools = (self._lookups, self._rules, self._readers, self._recorder, self._worker)
        have_ended = [
            pool.shutdown(max(until - time.monotonic(), 0.0), cancel_futures=pool is not self._recorder)
            for pool in pools
        ]
        if all(have_ended):
            self.engines.close_idle()
        self.watchdog.close()

    def _failed(self, error: BaseException, what: str) -> None:
        self.last_error = type(error).__name__
        logger.warning(what, exc_info=error)


def _branch(event: HostEvent, engine: Engine) -> str | None:
    """Return the branch that the agent is on: in its own folder, which may be another worktree than the session's."""
    try:
        return locate(Path(event.cwd)).branch
    except (RecollectError, OSError, ValueError):
        return engine.context.folder.branch if engine.context.folder else None


def _note_transcript(engine: Engine, session: HookSession, event: HostEvent) -> None:
    """Note the host's transcript of a session, if it is where the host keeps its sessions and nowhere else."""
    if session.transcript or not (named := transcript_of(event)):
        return
    if engine.sessions.set_transcript(session.session, named):
        session.transcript = named
