"""What the daemon does with what hooks bring: keep it, answer in time, learn from it when nobody waits."""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.config import expand_home
from recollect.engine import Engine
from recollect.errors import EmbedderUnavailable, NoHome, RecollectError, StoreError
from recollect.interfaces.daemon.conversation import Conversation, Work
from recollect.interfaces.daemon.spool import Fields, HookSpool
from recollect.interfaces.engine_pool import EnginePool
from recollect.interfaces.install import shapes
from recollect.interfaces.install.answers import printed, together
from recollect.interfaces.install.events import HostEvent, host_event, told, transcript_of
from recollect.interfaces.install.rules import renew
from recollect.interfaces.install.table import HOSTS
from recollect.memory.maintenance.consolidate.run import due, last_run
from recollect.memory.maintenance.consolidate.throttle import WorkCounter
from recollect.text.redact import redact
from recollect.work.sessions.kept import keep
from recollect.work.transcripts.find import session_files

logger = logging.getLogger(__name__)

MARGIN = 0.03  # seconds of a hook's deadline that are for the way back
MOST_CONVERSATIONS = 64
CLOSE_AFTER = 600.0  # seconds without a use, after which an engine is closed
TEND_AFTER = 5.0  # seconds of silence, after which we look after what has happened
RECOVER_EVERY = 300.0  # seconds between two looks for sessions that never ended
CONSOLIDATE_AFTER = timedelta(minutes=10)
HOOK_ACTOR = "agent:hook"
CONSOLIDATION_ACTOR = (
    "user:daemon"  # consolidation is the user's own wish, and is undone like any other change
)


class HookService:
    """`now` tells how long nobody has come, in seconds."""

    def __init__(
        self, engines: EnginePool, spool: HookSpool, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._now = now
        self.foreground = WorkCounter()
        self.background = WorkCounter()
        self.events = 0
        self.last_error = ""  # of what type; empty = none yet
        self._engines = engines
        self._spool = spool
        self._conversations: dict[str, Conversation] = {}
        self._lock = threading.Lock()
        self._quick = ThreadPoolExecutor(4, "recollect-recall")
        self._slow = ThreadPoolExecutor(1, "recollect-learn")
        self._stopping = threading.Event()
        self._untended: set[str] = set()  # folders in which something has happened
        self._recovered: dict[str, float] = {}  # folders, and when their lost sessions were looked for
        self._waiting: set[str] = set()  # work in the background that need not be asked for twice
        self._active = self._now()  # when a hook last came
        self._looked_after = 0.0  # the silence after which consolidation was last thought of
        self._queued = 0  # jobs that wait

    # while a hook waits

    def take(self, fields: Fields, body: dict[str, Any]) -> bytes:
        """Keep what happened, for good when this returns, and what is to be printed. Raises `StoreError`, `OSError`."""
        host, name, event_id, at, seconds, folder = fields
        until = time.monotonic() + float(seconds) - MARGIN
        event = host_event(host, name, event_id, at, folder, body)
        self._active = self._now()
        with self.foreground.working():
            if self._spool.waiting():  # what happened before comes first
                self._attempt(self.drain)
            return self._take(event, until)

    def _take(self, event: HostEvent, until: float) -> bytes:
        if event.shape is None or not event.session:
            return b""
        self.events += 1
        try:
            conversation = self._conversation(event)
            with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
                if not engine.sessions.on:
                    return b""
                conversation.hear(event)
                work = conversation.work_for(event)
                finding = self._quick.submit(self._find, conversation, work) if work else None
                shortening = self._shortening(engine, conversation, event, until)
                self._keep(engine, conversation, [event])  # while it is looked for
        except (StoreError, OSError):
            raise
        except Exception as error:  # a folder that is gone, a session of another project, an odd event
            self._failed(error, "an event was not kept")
            return b""
        self._follow_up(conversation, event)
        text = self._in_time(conversation, finding, until) if finding else ""
        more = self._shortened_in_time(shortening, until) if shortening else {}
        return self._printed(conversation, event, text, more)

    def _find(self, conversation: Conversation, work: Work) -> str:
        with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
            return work(engine)

    def _shortening(
        self, engine: Engine, conversation: Conversation, event: HostEvent, until: float
    ) -> "Future[dict[str, Any]] | None":
        """None where outputs are left as they are, or nobody waits."""
        assert event.shape is not None
        wanted = engine.settings.prune_output and event.shape.kind == shapes.AFTER
        if not wanted or time.monotonic() >= until:
            return None
        return self._quick.submit(self._shorten, conversation, event)

    def _shorten(self, conversation: Conversation, event: HostEvent) -> dict[str, Any]:
        with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
            return conversation.shorten(engine, event)

    def _keep(self, engine: Engine, conversation: Conversation, events: Sequence[HostEvent]) -> None:
        engine.register()
        session = conversation.session
        branch = engine.place.branch if engine.place else None
        engine.sessions.start(session, host=conversation.host, branch=branch, at=events[0].at)
        kept = [keep(each, name, event.at) for event in events for name, each in told(event)]
        if kept:
            engine.store.events.append(session, kept)
            conversation.said += len(kept)

    def _conversation(self, event: HostEvent) -> Conversation:
        with self._lock:
            known = self._conversations.pop(event.session, None)
            if known is not None:
                self._conversations[event.session] = known  # the last one now
                return known
        made = Conversation(event.session, event.host, self._home_of(event))
        with self._lock:
            if len(self._conversations) >= MOST_CONVERSATIONS:
                del self._conversations[next(iter(self._conversations))]
            return self._conversations.setdefault(event.session, made)

    def _home_of(self, event: HostEvent) -> str:
        """Where the session began, wherever its agent has gone since: a session is of one project."""
        with self._engines.use(event.cwd, HOOK_ACTOR) as engine:
            session = engine.store.get_session(event.session)
            if session is None or session.project_id == engine.sessions.project_id:
                return event.cwd
            roots = {project.id: project.root for project in engine.store.projects()}
            return roots.get(session.project_id or "", event.cwd)

    def _in_time(self, conversation: Conversation, finding: "Future[str]", until: float) -> str:
        """What is found; if that takes too long it comes with the next event."""
        try:
            return finding.result(max(until - time.monotonic(), 0.0))
        except TooLate:
            finding.add_done_callback(lambda done: self._came_late(conversation, done))
        except Exception as error:
            self._failed(error, "nothing was found for an event")
        return ""

    def _shortened_in_time(self, shortening: "Future[dict[str, Any]]", until: float) -> dict[str, Any]:
        """Whatever goes wrong, the output stays as it is."""
        try:
            return shortening.result(max(until - time.monotonic(), 0.0))
        except TooLate:
            shortening.cancel()
        except Exception as error:
            self._failed(error, "an output was not shortened")
        return {}

    def _came_late(self, conversation: Conversation, done: "Future[str]") -> None:
        error = done.exception()
        if error is not None:
            self._failed(error, "nothing was found for an event")
        elif done.result():
            conversation.late.append(done.result())

    def _printed(
        self, conversation: Conversation, event: HostEvent, text: str, more: dict[str, Any]
    ) -> bytes:
        assert event.shape is not None
        texts = [text]
        if event.shape.answer != shapes.SILENT and event.shape.kind in (shapes.PROMPT, shapes.BEFORE):
            while conversation.late:
                with suppress(IndexError):
                    texts.append(conversation.late.popleft())
        return printed(event.name, event.shape, together(conversation.host, texts), more)

    # when nobody waits

    def _follow_up(self, conversation: Conversation, event: HostEvent) -> None:
        """A turn's end is a time to make findings, a session's end to learn from all of it."""
        kind = event.shape.kind if event.shape else ""
        self._untended.add(conversation.folder)
        if kind == shapes.START:
            self._later(self._renew_rules, conversation)
        if kind == shapes.END:
            with self._lock:
                self._conversations.pop(conversation.session, None)
            self._later(self._end, conversation, event)
        elif kind in (shapes.TURN, shapes.COMPACTING) and conversation.wants_checkpoint(self._now()):
            self._later(self._checkpoint, conversation, event)

    def _end(self, conversation: Conversation, event: HostEvent) -> None:
        with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
            _know_transcript(engine, conversation, event)
            ended = engine.sessions.end(conversation.session)
            fields = {
                "session": conversation.session,
                "findings": ended.findings,
                "promoted": len(ended.promoted),
            }
            logger.info("a session was learnt from", extra={"fields": fields})
        self._renew_rules(conversation)

    def _checkpoint(self, conversation: Conversation, event: HostEvent) -> None:
        with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
            _know_transcript(engine, conversation, event)
            begun = self._now()
            try:
                engine.sessions.checkpoint(conversation.session)
            finally:
                now = self._now()
                conversation.checkpoint_took(now - begun, now)
        self._renew_rules(conversation)

    def _renew_rules(self, conversation: Conversation) -> None:
        """Where prompts cannot carry memory, a file of rules does."""
        if not HOSTS[conversation.host].project.rules:
            return
        with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
            if engine.place is not None:
                renew(conversation.host, engine.place.root, engine.recall(host=conversation.host).text)

    def _later(self, job: Callable[..., object], *arguments: Any) -> None:
        def run() -> None:
            self._queued -= 1
            with self.background.working():
                if not self._stopping.is_set():
                    self._attempt(job, *arguments)

        with suppress(RuntimeError):  # we are closing: recovery will see to it
            self._slow.submit(run)
            self._queued += 1

    def _attempt(self, job: Callable[..., object], *arguments: Any) -> None:
        """The worker must live, whatever a session holds."""
        try:
            job(*arguments)
        except Exception as error:
            self._failed(error, "work in the background failed")

    def settle(self, seconds: float) -> None:
        """Wait until what is to be done in the background by now is done. Raises `TimeoutError`."""
        self._slow.submit(lambda: None).result(seconds)

    def drain(self) -> int:
        """Take in what hooks wrote down while there was no daemon; how many events."""
        return self._spool.drain(self._deliver)

    def _deliver(self, waiting: list[tuple[Fields, dict[str, Any]]]) -> None:
        by_session: dict[str, list[HostEvent]] = {}
        for (host, name, event_id, at, _, folder), body in waiting:
            event = host_event(host, name, event_id, at, folder, body)
            if event.shape is not None and event.session:
                by_session.setdefault(event.session, []).append(event)
        for events in by_session.values():
            try:
                self._catch_up(events)
            except (StoreError, OSError):
                raise  # another time: the file stays
            except Exception as error:
                self._failed(error, "events that waited were not kept")
            self.events += len(events)

    def _catch_up(self, events: list[HostEvent]) -> None:
        conversation = self._conversation(events[0])
        with self._engines.use(conversation.folder, HOOK_ACTOR) as engine:
            if not engine.sessions.on:
                return
            self._keep(engine, conversation, events)
        for event in events:
            conversation.hear(event)
            self._follow_up(conversation, event)

    def tick(self) -> None:
        """Called every second or so: sees to whatever is due."""
        if self._spool.waiting():
            self._later_once("drain", self.drain)
        if self._now() - self._active >= TEND_AFTER and not self.foreground.busy():
            self._later_once("tend", self._tend)

    def _later_once(self, name: str, job: Callable[[], object]) -> None:
        """Unless it waits to be done already."""
        if name in self._waiting:
            return
        self._waiting.add(name)

        def run() -> None:
            self._waiting.discard(name)
            job()

        self._later(run)

    def _tend(self) -> None:
        while self._untended and not self._stopping.is_set():
            folder = self._untended.pop()
            with suppress(RecollectError), self._engines.use(folder, HOOK_ACTOR) as engine:
                engine.maintain()
                engine.sessions.take_in(engine.spool)  # what agents in Python have left
                if self._now() - self._recovered.get(folder, -RECOVER_EVERY) >= RECOVER_EVERY:
                    self._recovered[folder] = self._now()
                    engine.sessions.recover()
        self._consolidate_if_due()
        self._engines.close_idle(CLOSE_AFTER)
        self._follow_code()

    def _follow_code(self) -> None:
        """The code graphs of projects in use are kept up, so that a question finds them ready."""
        for folder in self._engines.folders():
            with suppress(RecollectError), self._engines.use(folder, HOOK_ACTOR, keep_open=False) as engine:
                if engine.sessions.on:
                    engine.follow_code(self._now(), self._must_stop)

    def _consolidate_if_due(self) -> None:
        """Once in a time of silence."""
        idle = timedelta(seconds=self._now() - self._active)
        if idle < CONSOLIDATE_AFTER or self._looked_after == self._active:
            return
        self._looked_after = self._active
        for folder in self._engines.folders()[:1]:
            with suppress(RecollectError), self._engines.use(folder, HOOK_ACTOR) as engine:
                active = engine.store.count(m.View(engine.settings.user, None, all_projects=True))
                why = due(last_run(engine.store), m.utc_now(), active, engine.settings.capacity, idle)
                if why is not None:
                    care = replace(engine.care, actor=CONSOLIDATION_ACTOR)
                    care.consolidate(stop=self._must_stop, busy=self.foreground.busy)
                    logger.info("memories were consolidated", extra={"fields": {"why": why}})

    def _must_stop(self) -> bool:
        """Whether something waits that cannot wait for all of a consolidation; it goes on another time."""
        return self._stopping.is_set() or self._queued > 0

    def embed(self, model: str, texts: list[str]) -> bytes:
        """Rows of 32-bit floats. Raises `EmbedderUnavailable`, also where that is not our model."""
        with self.foreground.working(), self._engines.use("/", HOOK_ACTOR) as engine:
            if engine.embedder.model != model:
                raise EmbedderUnavailable(f"The daemon has no model {model}.", "Use your own.")
            return engine.embedder.embed(texts).astype("<f4").tobytes()

    def warm_up(self) -> None:
        """Load the model and all the rest before anybody needs it."""
        with suppress(RecollectError), self._engines.use("/", HOOK_ACTOR) as engine:
            redact("warm")
            if engine.settings.embedder != "http":  # nothing is sent anywhere for this
                engine.recall("warm")
                engine.sidecar.verify("warm", ())

    @property
    def conversations(self) -> int:
        return len(self._conversations)

    @property
    def waiting(self) -> bool:
        return self._spool.waiting()

    @property
    def busy(self) -> bool:
        """Whether anybody waits, or something is being learnt from."""
        return self.foreground.busy() or self.background.busy()

    def close(self) -> None:
        """Finish what is at hand; what is left is found by whoever comes next."""
        self._stopping.set()
        self._quick.shutdown(wait=True, cancel_futures=True)
        self._slow.shutdown(wait=True, cancel_futures=True)
        self._engines.close_idle()

    def _failed(self, error: BaseException, what: str) -> None:
        self.last_error = type(error).__name__
        logger.warning(what, exc_info=error)


def _know_transcript(engine: Engine, conversation: Conversation, event: HostEvent) -> None:
    """The host's own record is read, if it is where the host keeps its sessions and nowhere else."""
    if conversation.transcript or not (named := transcript_of(event)):
        return
    since = m.utc_now() - timedelta(hours=1)
    kept = []
    with suppress(NoHome):
        kept = session_files(expand_home("~"), since, os.environ)
    if any(found.path == Path(named) for found in kept):
        conversation.transcript = named
        session = engine.sessions.get(conversation.session)
        if not session.transcript:
            engine.store.put_session(replace(session, transcript=named))
