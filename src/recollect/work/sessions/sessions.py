"""Record sessions, learn from them at every turn, and promote findings to memories when they end.

`engine.sessions` is a `Sessions`. An event goes one way: `record` stores it, a checkpoint or `end` reads it once, and on
that way `Episodes` records the work, `Measures` counts, `extract` makes findings, and `Memories` stores the promoted ones.
"""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.config import expand_home
from recollect.context.context import Context
from recollect.context.project import identify, locate
from recollect.errors import (
    ContentRefused,
    MemoryOff,
    RecollectError,
    Refused,
    SessionNotFound,
)
from recollect.frozen import frozen
from recollect.kinds import kind_of
from recollect.llm.protocol import Sidecar
from recollect.memory.memories import Memories
from recollect.memory.write import limits
from recollect.memory.write.draft import clean_text
from recollect.memory.write.messages import bounded
from recollect.model import StoredEvent
from recollect.policy import Operation
from recollect.text.redact import redact
from recollect.text.words import distinctive_words
from recollect.work.episodes.episodes import Episodes
from recollect.work.extract import extract
from recollect.work.hosts.records import Evidence
from recollect.work.hosts.session_files import session_files
from recollect.work.hosts.transcripts import FORMATS
from recollect.work.metrics.measures import Measures
from recollect.work.sessions.events import clean_event, clean_name, stored_event
from recollect.work.sessions.messages import MessageArchive, batches
from recollect.work.sessions.promote import preset_named
from recollect.work.sessions.promotion import Promotion, agent_of, rules_of
from recollect.work.sessions.session_record import SessionRecord
from recollect.work.sessions.spool import EventSpool
from recollect.work.sessions.summary import LINES, SummaryBuilder, summary_builder_for
from recollect.work.sessions.work_done import WorkDone
from recollect.work.transcripts.event import Event

if TYPE_CHECKING:
    from recollect.work.sessions.timeline import SessionTimeline
    from recollect.work.sessions.transcript import LearningReport

logger = logging.getLogger(__name__)

CHECKPOINT = 10  # messages after which a checkpoint is made, if the turn has not ended before
RULES_SECONDS = 0.3  # that a briefing may wait for rules that were stated a moment ago
MOST_OPEN = 8  # sessions, newest first, that are looked at for such rules
LARGEST_RECORD = 4 * 2**20  # bytes of a transcript that is read for them: 104 MB take 6 seconds
NOTHING_READ = Evidence(False, "nothing was read")
NOT_IN_RECORD = Evidence(False, "the host's own record of the session does not have it")
IDLE = timedelta(minutes=30)  # after which a session without an end counts as crashed
EVENTS_KNOWN = timedelta(days=7)  # during which an event delivered twice is recognised
_MAX_TOUCHED = 2000  # files of a session that raise the confidence of their modules
_ANSWERS = 2  # distinctive words that a finding shares with a gap it answers
_GAP_BONUS = 0.2  # importance of a finding that fills a gap


@frozen
class EndedSession:
    """The result of a session."""

    session: m.Session
    findings: int
    promoted: tuple[str, ...]  # ids of the memories that findings became
    left: tuple[tuple[str, str], ...] = ()  # findings that were not promoted, each with the reason


class Sessions:
    """The sessions of one project. Calls take milliseconds and may come from any thread."""

    def __init__(
        self,
        context: Context,
        memory: Memories,
        episodes: Episodes,
        measures: Measures,
        sidecar: Sidecar | None = None,
    ) -> None:
        self.context = context
        self.store = context.store
        self.clock = context.clock
        self.user_id = context.user_id
        self.project_id = context.project_id  # None = outside any project: nothing is promoted there
        self._promotion = Promotion(context, memory)
        self._messages = MessageArchive(context)
        self.recorded = SessionRecord(context.store)
        self._episodes = episodes
        self._measures = measures
        self.sidecar = sidecar  # None = rules alone
        self._new_messages: dict[str, int] = {}  # by session, since its last checkpoint
        settings = context.settings
        folder = settings.home / "spool" / "sessions" / (self.project_id or "none")
        self.spool = EventSpool(folder, database=settings.database)

    # settings

    @property
    def auto(self) -> bool:
        """Whether sessions are learnt from automatically."""
        return self.context.is_on("auto")

    @property
    def on(self) -> bool:
        """Whether memory is on in this project."""
        return self.context.is_on("memory")

    def preset(self) -> str:
        """Return the name of the preset that decides which findings become memories."""
        return self._promotion.preset()

    def set_preset(self, name: str, *, everywhere: bool = False) -> None:
        """Set how readily findings become memories, for this project or everywhere. Raises `UnknownName`."""
        self.context.check(Operation.SET_LEARNING)
        preset_named(name)
        project_id = None if everywhere else self.project_id
        self.store.log(
            "update", self.context.actor, self.clock(), None, {"preset": name, "project": project_id}
        )
        self.store.set_setting(project_id, "preset", name)

    # while a session runs

    def start(
        self,
        session_id: str | None = None,
        *,
        host: str = "",
        agent: str = "",
        branch: str | None = None,
        transcript: str = "",
        at: datetime | None = None,
        resume: bool = True,
    ) -> m.Session:
        """Begin a session, or resume the one with this id. With `resume=False`, one that has ended stays so."""
        now = at or self.clock()
        known = self.store.get_session(session_id) if session_id else None
        if known is not None:
            self._refuse_others(known)
            if resume and known.ended_at is not None:  # resumed: its new events will be learnt from too
                known = replace(known, ended_at=None, extracted_at=None)
                self.store.put_session(known)
            return known
        session = m.Session(
            _name(session_id) if session_id else m.new_id(now),
            self.user_id,
            self.project_id,
            now,
            clean_name(agent or host),
            clean_name(host),
            clean_name(branch) if branch else None,
            transcript=transcript,
            active_at=now,
        )
        self.store.put_session(session)
        return session

    def record(self, session_id: str, events: Sequence[tuple[str, Event]], *, checkpoint: bool = True) -> int:
        """Store `events`, each under an id that counts once, and return how many were new.

        They are on disk when it returns. A checkpoint follows when the user has spoken or enough was said; with
        `checkpoint=False` the caller makes it later.
        """
        if not self.on:
            return 0
        self.get(session_id)
        now = self.clock()
        new = self.store.events.append(
            session_id, [stored_event(event, event_id, now) for event_id, event in events]
        )
        messages = [event for _, event in events if event.is_message]
        count = self._new_messages[session_id] = self._new_messages.get(session_id, 0) + len(messages)
        by_user = any(event.author == "user" for event in messages)
        if checkpoint and (count >= CHECKPOINT or by_user):
            self.checkpoint(session_id)
        return new

    def set_transcript(self, session_id: str, path: str) -> bool:
        """Note where the host says that it records the session; False if that is not one of its own session files."""
        session = self.get(session_id)
        record, evidence = self.recorded.of_host(replace(session, transcript=path))
        if record is None or not evidence.is_confirmed:
            return False
        if not session.transcript:
            self.store.put_session(replace(session, transcript=path))
        return True

    def evidence_in(self, host: str, path: Path) -> Evidence:
        """Return whether what is read from `path` was recorded by the host itself."""
        return self.recorded.of_host(
            m.Session("", self.user_id, None, self.clock(), host=host, transcript=str(path))
        )[1]

    def checkpoint(self, session_id: str) -> int:
        """Extract findings so far and make messages searchable; return how many findings are new.

        What the user states as a rule becomes a memory at once, as soon as the host's own record confirms it.
        """
        session = self.get(session_id)
        self._new_messages.pop(session_id, None)
        if not self.on:
            return 0
        written, evidence = self.recorded.transcript(session)
        if written is not None:
            events = self._observe(session, map(clean_event, written))
        else:
            kept = self.recorded.events(session_id)
            if session.host not in FORMATS:  # otherwise at the end, in the order of the host's transcript
                self._messages.store(kept)
            events = self._observe(session, kept)
        if not self.auto:
            return _read_all(events)
        findings = list(self._findings(events))
        new = self.store.events.put_findings(session_id, findings, since=0 if written is not None else None)
        if evidence.is_confirmed:
            self._promotion.promote_rules(session, findings, evidence)
        return new

    def work_done(self, session_id: str) -> WorkDone:
        """Return what the session has done so far, as far as it was not learnt from."""
        work = WorkDone()
        for event in self.recorded.events(session_id):
            work.read(event)
        return work

    def learn_rules(self, seconds: float = RULES_SECONDS) -> tuple[str, ...]:
        """Store what users have stated as rules in sessions that are still open; return the ids of those memories.

        Call it before a briefing, which then has what was said a moment ago in another window. It takes no longer than
        about `seconds`: the rest comes with the sessions' own checkpoints.
        """
        if not (self.on and self.auto and self.context.project):
            return ()
        until = monotonic() + seconds
        promoted: list[str] = []
        for session in self.newest(MOST_OPEN):
            if session.extracted_at is not None or monotonic() > until:
                continue
            try:
                promoted += self._learn_rules_of(session)
            except RecollectError:
                raise
            except Exception:  # one broken session must not keep the others from being learnt from
                logger.exception("learning rules from session %s failed", session.id)
        return tuple(promoted)

    def _learn_rules_of(self, session: m.Session) -> tuple[str, ...]:
        stored = {finding.fingerprint for finding in self.store.findings(session.id) if finding.promoted_to}
        stated = rules_of(extract(self.recorded.events(session.id), self.clock(), users_only=True))
        if all(finding.fingerprint in stored for finding in stated):
            return ()
        record, evidence = self.recorded.of_host(session)
        if record is None or not evidence.is_confirmed or record.size() > LARGEST_RECORD:
            return ()
        try:
            events = map(clean_event, self.recorded.on_branches(session.id, record.events(session.id)))
            findings = rules_of(extract(events, self.clock(), users_only=True))
        except Refused:
            return ()
        self.store.events.put_findings(session.id, findings)
        return self._promotion.promote_rules(session, findings, evidence)

    def end(self, session_id: str, summary: str = "", at: datetime | None = None) -> EndedSession:
        """Learn from the whole session, summarise it and promote findings. Ending twice changes nothing more.

        A failure is retried once; if it fails again, the session is over and `recover` finds it.
        """
        session = self.get(session_id)
        self._new_messages.pop(session_id, None)
        over = replace(session, ended_at=session.ended_at or at or self.clock())
        # A session may be resumed meanwhile. What it says then is learnt from at its next end, with the record that has it.
        last, events = self.recorded.last(session_id), self.recorded.events(session_id)
        try:
            ended = self._learn_all(over, summary, events)
        except RecollectError:
            raise
        except Exception:  # whatever the session contains
            logger.exception("learning from session %s failed, retrying", session_id)
            self.store.put_session(replace(over, extracted_at=None))
            ended = self._learn_all(over, summary, events)
        self.store.events.mark_processed(session_id, last)
        self.store.events.drop_processed(self.context.confirmed_now() - EVENTS_KNOWN)
        return ended

    def _learn_all(self, session: m.Session, summary: str, events: Sequence[Event]) -> EndedSession:
        """Learn from the host's transcript, or else from the events recorded since the last time."""
        if not self.on:
            return self._learn(session, (), SummaryBuilder(), NOTHING_READ, learning=False)
        written, evidence = self.recorded.transcript(session)
        if written is not None:
            ended = self.learn_from(session, written, evidence, whole=True, learning=self.auto)
            return (
                self._with_unconfirmed_rules(ended, events) if self.auto and self.context.project else ended
            )
        self._messages.store(events)
        since = events[0].order if events else None
        builder = summary_builder_for(events)
        return self._learn(session, events, builder, evidence, summary, since=since, learning=self.auto)

    def _with_unconfirmed_rules(self, ended: EndedSession, events: Sequence[Event]) -> EndedSession:
        """Store the rules that only events have, as observed: the host's record may lag, or nobody typed them."""
        session = ended.session
        known = {finding.fingerprint for finding in self.store.findings(session.id)}
        stated = rules_of(extract(events, self.clock(), users_only=True))
        missing = [finding for finding in stated if finding.fingerprint not in known]
        if not missing:
            return ended
        self.store.events.put_findings(session.id, missing)
        promoted = self._promotion.promote_rules(session, missing, NOT_IN_RECORD)
        return replace(ended, findings=ended.findings + len(missing), promoted=(*ended.promoted, *promoted))

    def _learn(
        self,
        session: m.Session,
        events: Iterable[Event],
        summary_builder: SummaryBuilder,
        evidence: Evidence,
        summary: str = "",
        *,
        since: int | None = None,
        learning: bool,
    ) -> EndedSession:
        """Extract, promote and summarise. `summary_builder` must have seen the events once they are read.

        `evidence` says whether the events are from the host's own record.
        `since` is the position from which `events` is complete; None = other events may exist.
        """
        over = replace(session, ended_at=session.ended_at or self.clock())
        seen = self._observe(over, events) if self.on else events
        read_now: list[m.Finding] = []
        if learning:
            read_now = list(self._findings(seen))
            self.store.events.put_findings(session.id, read_now, since=since)
        else:
            _read_all(seen)  # read them anyway: messages and work are recorded on the way
        if learning and self.sidecar is not None:
            self.store.events.put_findings(session.id, self._findings_of_model(session, summary_builder))
        found = self.store.findings(session.id)
        promoted, left = (
            self._promotion.promote(session, found, read_now, evidence)
            if learning and self.context.project
            else ((), ())
        )
        text = bounded(redact(summary)[0]) or session.summary or self._summary(summary_builder, found)
        done = replace(session, summary=text, extracted_at=self.clock())
        detail = {"session": session.id, "findings": len(found), "promoted": len(promoted)}
        with self.store.transaction():
            self.store.log("finalize", agent_of(session), self.clock(), None, detail)
            self.store.put_session(done)
        return EndedSession(done, len(found), promoted, left)

    # after a crash

    def drain_spool(self, spool: EventSpool | None = None) -> int:
        """Store the events that wait in the spool, in order and once, and return how many. Their sessions may be new."""

        def deliver(session_id: str, events: Sequence[StoredEvent]) -> None:
            if not self.on:
                return
            try:
                if self.store.get_session(session_id) is None:
                    self.start(session_id, at=events[0].at)
                if self.store.events.append(self.get(session_id).id, events):
                    self.start(session_id)  # resume it if it has ended
            except Refused as error:  # the other sessions must still be read
                logger.warning("spooled events were refused: %s", error.message)

        return (spool or self.spool).drain(deliver)

    def recover(
        self, session_id: str | None = None, *, alive: Collection[str] = ()
    ) -> tuple[EndedSession, ...]:
        """End sessions that crashed: the one named, or all that have been idle for half an hour.

        Those that are `alive` are left alone.
        """
        if not self.on:
            return ()
        if session_id is not None:
            lost = [self.get(session_id)]
        else:
            idle = self.store.events.idle_sessions(self.user_id, self.project_id, self.clock() - IDLE)
            lost = [session for session in idle if session.id not in alive]
        ended = []
        for session in lost:
            try:
                ended.append(self.end(session.id, at=session.active_at))
            except RecollectError:
                raise
            except Exception:  # one broken session must not stop the others
                logger.exception("learning from session %s failed", session.id)
        return tuple(ended)

    def fork(self, session_id: str) -> m.Session:
        """Start a new session with the findings of this one; both may promote them."""
        parent = self.get(session_id)
        now = self.clock()
        session = replace(
            parent,
            id=m.new_id(now),
            parent=parent.id,
            started_at=now,
            active_at=now,
            ended_at=None,
            extracted_at=None,
            summary="",
        )
        with self.store.transaction():
            self.store.put_session(session)
            # The messages they cite are the parent's.
            copies = [
                replace(each, id=m.new_id(now), session=session.id, messages=None)
                for each in self.store.findings(parent.id)
            ]
            self.store.events.put_findings(session.id, copies)
        return session

    # transcripts

    def learn_from(
        self,
        session: m.Session,
        events: Iterable[Event],
        evidence: Evidence,
        *,
        whole: bool = False,
        learning: bool = True,
    ) -> EndedSession:
        """Learn from the events of a transcript in one pass, without keeping them in memory.

        `evidence` says whether it is the host's own record. `whole` = there are no other events of the session; without `learning`, only its messages are stored.
        """
        builder = SummaryBuilder()
        last = session.started_at
        mine = session.transcript or not self.store.messages.orders(self.user_id, session.id)

        def passing() -> Iterator[Event]:
            nonlocal last
            for batch in batches(events):
                cleaned = [clean_event(event) for event in batch]
                if mine:  # otherwise they were stored while it ran, in an order of their own
                    self._messages.store(cleaned)
                for event in cleaned:
                    builder.add(event)
                    last = event.at or last
                    yield event

        since = 0 if whole else None
        ended = self._learn(session, passing(), builder, evidence, since=since, learning=learning)
        done = replace(ended.session, active_at=last, ended_at=last)
        self.store.put_session(done)
        return replace(ended, session=done)

    def transcript_files(self, since: datetime | None = None) -> tuple[Path, ...]:
        """Return the session files that hosts have written since then, oldest first."""
        return tuple(file.path for file in session_files(expand_home("~"), since, os.environ))

    def learn_from_files(
        self,
        files: Iterable[Path],
        *,
        own_only: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> "LearningReport":
        """Learn from transcripts. `own_only` skips sessions of other projects; `progress` gets the bytes read.

        Raises `Refused` if memory is off.
        """
        from recollect.work.sessions.transcript import LearningReport, learn_from_file

        if not self.on:
            raise MemoryOff
        self.context.register_project()
        report = LearningReport()
        for path in files:
            learn_from_file(self, path, report, own_only=own_only)
            if progress is not None:
                progress(path.stat().st_size)
        return report

    def is_of_project(self, folder: str) -> bool:
        """Whether `folder` belongs to this project."""
        try:
            project, _ = identify(locate(Path(folder)), self.store)
        except RecollectError:
            return False
        return project.id == self.project_id

    # reading

    def get(self, session_id: str) -> m.Session:
        """Return a session of this project. Raises `SessionNotFound`, or `Refused` for one of another project."""
        session = self.store.get_session(session_id)
        if session is None or session.user_id != self.user_id:
            raise SessionNotFound(session_id)
        self._refuse_others(session)
        return session

    def find(self, name: str) -> m.Session:
        """Return a session by id, or by the beginning or end of one of the newest. Raises `SessionNotFound`."""
        if self.store.get_session(name) is not None:
            return self.get(name)
        fits = [each for each in self.newest(500) if each.id.startswith(name) or each.id.endswith(name)]
        if len(fits) != 1:
            raise SessionNotFound(name)
        return fits[0]

    def newest(self, limit: int = 20) -> tuple[m.Session, ...]:
        """Return the sessions of this project, newest first."""
        return tuple(self.store.sessions(self.user_id, self.project_id, limit))

    def source(self, memory: m.Memory) -> tuple[m.Message, ...]:
        """Return the messages that `memory` came from; empty if they are unknown or no longer stored."""
        for origin in memory.provenance:
            if origin.session and origin.messages:
                return tuple(self.store.messages.span(memory.user_id, origin.session, *origin.messages))
        return ()

    def timeline(self, session_id: str) -> "SessionTimeline":
        """Return what was said, done, told and learnt in a session. Reading writes nothing."""
        from recollect.work.sessions.timeline import read_timeline

        return read_timeline(self.store, self.get(session_id), preset_named(self.preset()))

    def findings(self, session_id: str) -> tuple[m.Finding, ...]:
        return tuple(self.store.findings(self.get(session_id).id))

    # steps

    def _observe(self, session: m.Session, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events; record them as work done and measure them on the way.

        After the last event of a session that is over, the modules it worked on gain confidence.
        """
        over = session.ended_at is not None
        yield from self._measures.watch(session, self._episodes.watch(session.id, events, over=over))
        if over and self.project_id:
            from recollect.code.modules.project_map import mark_used

            touched = self.store.episodes.touches(
                self._episodes.owner, session=session.id, limit=_MAX_TOUCHED
            )
            paths = [touch.path for touch in touched]
            mark_used(self.store.modules, self.project_id, paths, session.id, self.clock())

    def _findings(self, events: Iterable[Event]) -> Iterator[m.Finding]:
        gaps = [set(distinctive_words(gap.context)) for gap in self.store.gaps(self.project_id, 50)]
        for finding in extract(events, self.clock()):
            words = set(distinctive_words(finding.content))
            if any(len(words & gap) >= _ANSWERS for gap in gaps):
                finding = replace(finding, importance=min(1.0, finding.importance + _GAP_BONUS))
            yield finding

    def _findings_of_model(self, session: m.Session, summary_builder: SummaryBuilder) -> Iterator[m.Finding]:
        """Yield what a language model finds worth remembering, checked and redacted like everything else."""
        assert self.sidecar is not None
        gaps = [gap.context for gap in self.store.gaps(self.project_id, 10)]
        now = self.clock()
        for learnt in self.sidecar.extract(summary_builder.digest.text(), gaps) or ():
            try:
                text, _ = clean_text(learnt.content)
                kind = kind_of(learnt.kind).name
            except RecollectError as error:
                logger.info("a finding of the model was refused: %s", error.message)
                continue
            span = None if learnt.first is None else (learnt.first, learnt.last or learnt.first)
            yield m.Finding(
                m.new_id(now),
                session.id,
                m.fingerprint(text),
                kind,
                text,
                now,
                min(max(learnt.importance, 0.0), 1.0),
                file_paths=learnt.file_paths,
                messages=span,
                branch=session.branch,
            )

    def _summary(self, summary_builder: SummaryBuilder, found: Sequence[m.Finding]) -> str:
        if summary_builder.is_empty or not (summary_builder.has_worked or found):
            return ""  # nothing was said, or nothing came of it
        text = (
            self.sidecar.summarise(summary_builder.digest.text(), LINES) if self.sidecar is not None else None
        )
        return bounded(redact(text)[0]) if text else summary_builder.text(found)

    def _refuse_others(self, session: m.Session) -> None:
        if session.user_id != self.user_id or session.project_id != self.project_id:
            raise Refused(
                f"Session {session.id} belongs to another project.",
                "Go to that project's folder; a new session needs an id of its own.",
            )


def _name(session_id: str) -> str:
    """Return the id of a new session. Raises `ContentRefused`."""
    name = limits.plain(limits.short(session_id, "session's id"), "The session's id")
    if clean_name(name) != name:
        raise ContentRefused("The session's id contains a secret.", "Give it another id.")
    return name


def _read_all(events: Iterable[Event]) -> int:
    """Read all events, for what observes them on the way, and return 0 findings."""
    for _ in events:
        pass
    return 0
