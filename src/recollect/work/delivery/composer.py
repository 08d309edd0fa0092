"""Decide what an agent is told. `engine.delivery` is a `Composer`, and every interface asks it."""

import logging
import os
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import RecollectError, Refused
from recollect.kinds import kind_of
from recollect.memory import ranking
from recollect.memory.anchors.stale import refresh_changed
from recollect.memory.briefing.briefing import Briefing, BriefingContent, ProjectCard, compose
from recollect.memory.briefing.budget import Allocation, allocate
from recollect.memory.briefing.content import (
    LIVE,
    Role,
    conflicts_of,
    fired_warnings,
    fresh_findings,
    is_users,
    missing_files,
    recent_sessions,
    role_named,
    rules_in,
    with_open_tasks,
    without_lines,
)
from recollect.memory.preferences import Preferences
from recollect.memory.search.usefulness import Usefulness, judge_hits
from recollect.memory.seeds.hosts import is_for_host
from recollect.text.shapes import looks_like_path
from recollect.text.tokens import count
from recollect.work.delivery.delivery import Delivery, DeliveryRequest, Moment, is_memory
from recollect.work.delivery.material import Material
from recollect.work.delivery.moments import PLANS, MomentPlan
from recollect.work.delivery.project import project_card
from recollect.work.delivery.told import Told
from recollect.work.delivery.waiting import is_about
from recollect.work.hosts.registry import briefing_format
from recollect.work.metrics.saved import ASKED, ASKED_TOKENS, USED

if TYPE_CHECKING:
    from recollect.code.codebase import Codebase
    from recollect.code.modules.module_map import ModuleCard
    from recollect.code.relevant.evidence import FileToShow
    from recollect.llm.protocol import Sidecar
    from recollect.memory.memories import Memories
    from recollect.memory.retrieval import Retrieval
    from recollect.work.delivery.replay import Replay
    from recollect.work.episodes.episodes import Episodes
    from recollect.work.metrics.measures import Measures
    from recollect.work.project_code import ProjectCode

logger = logging.getLogger(__name__)

# What an agent is asked at the end of a turn. The mark keeps a host's record of it from being read as the user's words.
REQUEST = (
    "[{mark}] In this session {worth}, and you recorded nothing for the next one. If there is something that a later"
    " session should know and cannot read from the code (a rule of the user's, the cause of a failure, a decision and its"
    ' reason), record it now with the tool record_memory, or with `recollect remember --created-by agent:{host} "…"` if'
    " you may not use that tool, each as one sentence that is understood by itself, with two situations in which it is"
    " needed (when, --when); otherwise just finish."
)
SEARCHED = 40  # memories that a search returns (`ranking.USEFUL` was fitted on as many), of which
MOST_MATCHES = 5  # are shown at most
MOST_WAITING = 20  # memories of which it is noted that they may be useful where their files are opened
MOST_OF_FILES = 2  # of them are shown at once
MOST_WARNINGS = 3
MOST_FIXES = 2
MOST_FINDINGS = 3
MOST_OPEN_TASKS = 2
_SESSIONS_READ = 20
# Moments at which an agent is not told what its own session has learnt: it has read that in the conversation.
_HEARD = frozenset({Moment.START, Moment.PROMPT, Moment.FILE_OPENED})
_QUOTED = re.compile("“[^“”]+”")  # the error, in what is learnt from a failure
_TASKS_READ = 10


class DeliveryParts(Protocol):
    """The parts of an engine that the composer uses, each created on first use: a start needs the store only."""

    context: Context
    preferences: Preferences

    @property
    def memory(self) -> "Memories": ...

    @property
    def retrieval(self) -> "Retrieval": ...

    @property
    def sidecar(self) -> "Sidecar": ...

    @property
    def codebase(self) -> "Codebase": ...

    @property
    def code(self) -> "ProjectCode": ...

    @property
    def episodes(self) -> "Episodes": ...

    @property
    def measures(self) -> "Measures": ...


class Composer:
    """Composes what an agent is told at each moment. It can be used from any thread."""

    def __init__(self, parts: DeliveryParts) -> None:
        self._parts = parts
        self._context = parts.context
        self._store = parts.context.store
        # what `flush` writes
        self._unwritten: list[m.DeliveryRecord] = []
        self._used: list[tuple[str, tuple[str, ...]]] = []  # session and keys
        self._rejected: list[str] = []
        self._relations: list[tuple[str, str, m.Relation]] = []
        self._lock = threading.Lock()

    def compose(
        self, request: DeliveryRequest, told: Told, sidecar: "Sidecar | None" = None, *, noted: bool = True
    ) -> Delivery:
        """Return what the agent is told at this moment, and note that it was told; nothing is said twice.

        A preview is not noted. With `noted=False`, call `note` once the agent has received it.

        `sidecar` verifies the memories that match instead of the engine's. Raise `Refused` for a budget below 1, and `UnknownName` for an unknown host or role.
        If memory is off, nothing is said; a request raises `MemoryOff`.
        """
        if not self._context.is_on("memory"):
            if request.moment is Moment.ON_REQUEST:
                self._context.refuse_if_off()
            return Delivery("", 0, ())
        if request.moment is Moment.FILE_OPENED and not self._waiting_for(request, told).matches:
            return Delivery("", 0, ())  # as for most files: many are opened, so this is quick
        refresh_changed(self._context)
        if request.moment is Moment.AFTER_COMPACTION:
            told.forget()
        # A start that is still on its way may add to `told` meanwhile, and be given up: a prompt in its place says it all.
        before, starting = told.keys, _is_starting(request, told)
        format = briefing_format(request.host)
        plan = _plan_for(request.moment, starting)
        budget = self._budget(request, plan)
        if plan.of_files:
            material = self._about_files(request, told)
        else:
            material = self.material(request, starting=starting, sidecar=sidecar)
            told.waiting.add(material)
        content, forbidding = self._content(request, plan, material)
        repeated = {memory.id for memory in forbidding}  # why the user is asked is said each time
        known = (before if starting else told.keys) - repeated
        if request.moment in _HEARD and not (request.preview or told.has_forgotten):
            known |= _said_in(request.session, content)
        if request.moment is Moment.ON_REQUEST:
            known = frozenset()
        briefing = _fitted(content, budget, format, request, known)
        shown = {item.key for item in briefing.shown}
        delivery = Delivery(
            text=briefing.text,
            tokens=briefing.tokens,
            shown=briefing.shown,
            ask=_reason(forbidding),
            host=request.host,
            by_tier=briefing.by_tier,
            conflicts=briefing.conflicts,
            budget=briefing.budget,
            notes=material.notes,
            hits=tuple(hit for hit in content.task if hit.memory.id in shown),
            starts=plan.rules,
        )
        told.has_started |= plan.rules  # before its keys: whoever sees these sees that too
        told.add(shown)
        if noted and not request.preview:
            self.note(request, delivery, self._context.clock())
        return delivery

    def recall(
        self,
        task: str = "",
        *,
        files: Sequence[str] = (),
        host: str = "gemini",  # Markdown, which every agent reads
        remaining: int = 100_000,
        budget: int | None = None,
        role: str | None = None,
        session: str | None = None,
    ) -> Delivery:
        """Return all that an agent should know for `task`, rendered for `host`, within a budget of tokens.

        `remaining` is what is left of the agent's context, of which 8 % may be used; `budget` is a ceiling, by default the
        project's. Raises `Refused` for a budget below 1, and `UnknownName` for an unknown host or role.
        """
        request = DeliveryRequest(
            Moment.ON_REQUEST,
            task,
            files=tuple(files),
            session=session,
            host=host,
            role=role,
            remaining=remaining,
            budget=budget,
        )
        return self.compose(request, Told())

    def replay(self, session: m.Session) -> "Replay":
        """Return what a past session was told and what it would be told today. It writes nothing and asks no model."""
        from recollect.memory.sidecar import LocalSidecar
        from recollect.work.delivery.replay import replay

        messages = self._store.messages.session(session.user_id, session.id)
        told = self._store.deliveries.of_session(session.user_id, session.id)
        return replay(self, LocalSidecar(self._context.embedder), session, messages, told)

    def ask_to_record(self, session: str, host: str, worth: str) -> Delivery | None:
        """Return the request to record what a session learnt; None if it was made before. It is not noted."""
        if self._was_asked(session):
            return None
        text = REQUEST.format(mark=m.INJECTED_MARK, worth=worth, host=host)
        return Delivery(text, count(text), (), host=host)

    def _was_asked(self, session: str) -> bool:
        with self._lock:
            records = [record for record in self._unwritten if record.session == session]
        records += self._store.deliveries.of_session(self._context.user_id, session)
        return any(record.moment == Moment.TURN_END for record in records)

    # what sessions were told

    def told(self, session: str) -> Told:
        """Return what the session was told since its last compaction, by whichever process."""
        told = Told()
        for record in self.of_session(session):
            if record.moment == Moment.AFTER_COMPACTION:
                told.forget()
            if record.moment not in (Moment.ON_REQUEST, Moment.TURN_END):
                told.add(item.key for item in record.items)
                told.has_started |= record.moment not in (Moment.BEFORE_TOOL, Moment.FILE_OPENED)
        return told

    def of_session(self, session: str) -> tuple[m.DeliveryRecord, ...]:
        """Return all that the session was told, oldest first, by whichever process."""
        with self._lock:
            unwritten = [record for record in self._unwritten if record.session == session]
        return (*self._store.deliveries.of_session(self._context.user_id, session), *unwritten)

    def note(self, request: DeliveryRequest, delivery: Delivery, at: datetime) -> None:
        """Note that an agent has received a delivery; `flush` writes it down."""
        measures = self._parts.measures
        if request.moment is Moment.TURN_END:
            measures.note(ASKED, 1, request.session)
            measures.note(ASKED_TOKENS, delivery.tokens, request.session)
        elif delivery.text and request.moment is not Moment.ON_REQUEST:
            measures.injected(delivery.memories, request.session)
        if request.session and (
            delivery.text or delivery.starts
        ):  # that a session was told nothing at its start is kept too
            self._keep(request, delivery, at)

    def note_used(self, session: str, keys: Sequence[str]) -> None:
        """Note that the session has used what it was told; `flush` writes it down."""
        if keys:
            memories = [key for key in keys if is_memory(key)]
            self._parts.measures.note(USED, len(memories), session)
            with self._lock:
                self._used.append((session, tuple(keys)))

    def flush(self) -> None:
        """Write down what was told, used and rejected. Call this when nobody waits.

        Raise `StoreError` and keep what was told if that fails.
        """
        with self._lock:
            records, self._unwritten = self._unwritten, []
            used, self._used = self._used, []
            rejected, self._rejected = self._rejected, []
            relations, self._relations = self._relations, []
        if records:
            try:
                self._store.deliveries.put(records)
            except BaseException:
                with self._lock:
                    self._unwritten = [*records, *self._unwritten]
                raise
        now = self._context.clock()
        for session, keys in used:
            self._store.deliveries.mark_used(self._context.user_id, session, keys, now)
            self._parts.retrieval.note_use(filter(is_memory, keys), session)
        if rejected:
            self._parts.retrieval.note_use((), None, rejected=rejected)
        for source, target, relation in relations:
            self._link(source, target, relation)

    def _link(self, source: str, target: str, relation: m.Relation) -> None:
        """Link two memories once: a settled conflict is not reopened, and a weight that has grown is not reset."""
        if any(
            {link.source, link.target} == {source, target} and link.relation == relation
            for link in self._parts.memory.links(source)
        ):
            return
        try:
            self._parts.memory.link(source, target, relation, 0.5)
        except RecollectError as error:
            logger.info("a relation was not stored: %s", error.message)

    def _keep(self, request: DeliveryRequest, delivery: Delivery, at: datetime) -> None:
        context = self._context
        assert request.session is not None
        record = m.DeliveryRecord(
            m.new_id(at),
            context.user_id,
            context.project_id,
            request.session,
            request.moment,
            request.host,
            at,
            delivery.tokens,
            delivery.text,
            delivery.shown,
        )
        with self._lock:
            self._unwritten.append(record)

    # content

    def _budget(self, request: DeliveryRequest, plan: MomentPlan) -> Allocation:
        ceiling = request.budget if request.budget is not None else self._parts.preferences.budget()
        if ceiling < 1:
            raise Refused(f"A budget of {ceiling} tokens is too small for a briefing.", "Give 1 or more.")
        share = allocate(request.remaining, ceiling)
        return share if plan.budget is None else plan.budget.within(share.total)

    def material(
        self, request: DeliveryRequest, *, starting: bool = False, sidecar: "Sidecar | None" = None
    ) -> Material:
        """Return what memory has to say at this moment; `starting` = the session was not told its rules yet."""
        store, role, plan = self._store, role_named(request.role), _plan_for(request.moment, starting)
        view = self._context.view(session=request.session, proposals=self._context.is_trusted)
        text = _text_of(request)
        always = rules_in(store, view) if plan.rules else ()
        fired = (
            fired_warnings(store, view, "\n".join((text, *request.files))) if plan.triggers and text else []
        )
        found = self._matches(request, role, text, sidecar) if plan.matches and text else Material()
        known_errors = self._known_errors(request) if plan.fixes else []
        bridge = plan.matches and role.bridge
        hits = (*fired[:MOST_WARNINGS], *found.matches, *found.waiting, *known_errors)
        return replace(
            found,
            always=always,
            fired=tuple(fired),
            known_errors=tuple(known_errors),
            findings=self._findings(request, view) if bridge else (),
            conflicts=conflicts_of(store, view, (*always, *(hit.memory for hit in hits))),
            stale=frozenset(refresh_changed(self._context)),
        )

    def _waiting_for(self, request: DeliveryRequest, told: Told) -> Material:
        """Return what waits for the files of the request and was not told."""
        material = told.waiting.about(self._inside(request)) if told.waiting else Material()
        new = tuple(hit for hit in material.matches if hit.memory.id not in told.keys)
        return replace(material, matches=new)

    def _about_files(self, request: DeliveryRequest, told: Told) -> Material:
        """Return what waits for the files of the request, as it is now. Nothing is searched."""
        material = self._waiting_for(request, told)
        paths, branches = self._inside(request), self._context.view().branches or ()
        disputed = (memory for _, *pair in material.conflicts for memory in pair)
        named = {memory.id for memory in (*(hit.memory for hit in material.matches), *disputed)}
        found = self._parts.memory.get_many(named)
        current = {name: memory for name, memory in found.items() if memory.state is m.State.ACTIVE}
        hits = (
            replace(hit, memory=current[hit.memory.id])
            for hit in material.matches
            if hit.memory.id in current
        )
        still_true = (
            hit for hit in hits if hit.memory.branch in (None, *branches) and is_about(hit.memory, paths)
        )
        return replace(
            material,
            matches=tuple(islice(still_true, MOST_OF_FILES)),
            conflicts=tuple(
                (link, current[one.id], current[other.id])
                for link, one, other in material.conflicts
                if one.id in current and other.id in current
            ),
            stale=material.stale | frozenset(refresh_changed(self._context)),
        )

    def _inside(self, request: DeliveryRequest) -> frozenset[str]:
        """Return the files of the request as memories name them: relative to the project's folder."""
        root = self._context.root
        return frozenset(_relative(path, root) for path in request.files) if root else frozenset()

    def _content(
        self, request: DeliveryRequest, plan: MomentPlan, material: Material
    ) -> tuple[BriefingContent, list[m.Memory]]:
        """Return what could be said, and the user's rules that forbid what is about to happen."""
        role, text = role_named(request.role), _text_of(request)
        always = material.always
        forbidding = [
            hit.memory
            for hit in material.fired
            if request.moment is Moment.BEFORE_TOOL
            and kind_of(hit.memory.kind).forbids
            and is_users(hit.memory)
        ]
        found = (*material.fired[:MOST_WARNINGS], *material.matches)
        hits = list({hit.memory.id: hit for hit in found}.values())
        fixes: tuple[str, ...] = ()
        if plan.fixes:
            known = self._parts.episodes.fixes_for(request.text, request.command, MOST_FIXES)
            fixes = tuple(fix.text for fix in known)
            hits = [hit for hit in material.known_errors if not _is_said_in(fixes, hit.memory)]
        context = self._context
        sessions = self._store.sessions(context.user_id, context.project_id, _SESSIONS_READ)
        said = (*always, *(hit.memory for hit in hits))
        content = BriefingContent(
            always=always,
            project=self._project(always) if plan.project else None,
            modules=self._modules(request, text) if plan.matches and text else (),
            files=self._files(request, text) if plan.matches and text else (),
            bridge=material.findings,
            task=tuple(hits),
            fixes=fixes,
            summaries=self._last_sessions(request, plan, sessions, said) if role.summaries else (),
            conflicts=material.conflicts,
            stale=material.stale,
            missing=missing_files(context.root, said),
            probabilities=material.probabilities,
            names=material.names,
        )
        return content, forbidding

    def _matches(
        self, request: DeliveryRequest, role: Role, text: str, sidecar: "Sidecar | None"
    ) -> Material:
        """Return the memories that are likely to be useful now, and those that are if their files are opened."""
        from recollect.memory.briefing.diversity import diverse, vectors_of

        answer = self._parts.retrieval.search(
            text,
            SEARCHED,
            files=request.files,
            session=request.session,
            meaning=request.use_model,
            task=True,
            proposals=self._context.is_trusted,
            noted=not request.preview,
        )
        answer = replace(
            answer, results=tuple(hit for hit in answer.results if is_for_host(hit.memory, request.host))
        )
        usefulness = judge_hits(text, answer.results)
        hits = self._verified(request, text, answer.results, usefulness, sidecar)
        if role.own_files_only and request.files:
            hits = [hit for hit in hits if "file" in hit.why["parts"]] or hits
        vectors = vectors_of(self._store, self._context.embedder.model, hits)
        values = [usefulness.probabilities[hit.memory.id] for hit in hits]
        chosen = diverse(hits, values, vectors, MOST_MATCHES)
        waiting = usefulness.in_files(answer.results)  # also the chosen ones, which may not fit
        return Material(
            matches=tuple(chosen),
            waiting=tuple(replace(hit, why={}) for hit in waiting[:MOST_WAITING]),
            notes=answer.notes,
            probabilities=dict(usefulness.probabilities),
        )

    def _verified(
        self,
        request: DeliveryRequest,
        text: str,
        hits: Sequence[m.Hit],
        usefulness: Usefulness,
        sidecar: "Sidecar | None",
    ) -> list[m.Hit]:
        """Return the hits that are likely to be useful, as the sidecar sees it.

        A hit that a language model rejects although it was likely to be useful loses confidence; one that was found
        through a link does not, because being linked must not cost anything.
        """
        verified = (sidecar or self._parts.sidecar).verify(text, hits)
        if verified is None:
            return []
        rejected = [
            hit.memory.id
            for hit in usefulness.select(hits)
            if hit.memory.id not in verified.relevant and not hit.why.get("parts", {}).get("graph")
        ]
        if not request.preview:
            with self._lock:
                self._rejected += rejected
                self._relations += verified.relations
        return [hit for hit in hits if hit.memory.id in verified.relevant]

    def _findings(self, request: DeliveryRequest, view: m.View) -> tuple[m.Finding, ...]:
        """Return what other running sessions have found, on this branch or for all."""
        from recollect.work.sessions.promote import branch_of

        now = self._context.clock()
        running = self._store.live_sessions(self._context.project_id, now - LIVE)
        found = fresh_findings(self._store, running, request.session)
        here = {None, *(view.branches or ())}
        is_here = (
            finding
            for finding in found
            if finding.branch in here or branch_of(finding, self._context.folder) in here
        )
        return tuple(islice(is_here, MOST_FINDINGS))

    def _known_errors(self, request: DeliveryRequest) -> list[m.Hit]:
        """Return memories of what fixed this very failure before: meaning alone would bring what fixed another one."""
        from recollect.work.episodes.failures import is_about
        from recollect.work.extract.outcomes import error_line

        query = error_line(request.text)
        if not query:
            return []
        found = self._parts.retrieval.search(
            query,
            MOST_FIXES,
            kind="error_pattern",
            session=request.session,
            meaning=request.use_model,
            proposals=self._context.is_trusted,
        )
        return [
            hit
            for hit in found.results
            if hit.score >= ranking.KNOWN_ERROR_SCORE and is_about(query, hit.memory.content)
        ]

    def _last_sessions(
        self,
        request: DeliveryRequest,
        plan: MomentPlan,
        sessions: Sequence[m.Session],
        said: Sequence[m.Memory],
    ) -> tuple[m.Session, ...]:
        """Return the last sessions that did something besides what is `said` anyway, the latest with what it left open."""
        stated = frozenset(memory.fingerprint for memory in said)
        here = {None, *(self._context.view().branches or ())}
        others = [without_lines(session, stated) for session in sessions]
        last = [
            replace(session, branch=None) if session.branch in here else session
            for session in recent_sessions(others, request.session, plan.sessions)
        ]
        if not last:
            return ()
        owner = m.Owner(self._context.user_id, self._context.project_id)
        unfinished = self._store.episodes.tasks(
            owner, (m.TaskStatus.ACTIVE, m.TaskStatus.PAUSED), _TASKS_READ
        )
        open_tasks = [task for task in unfinished if task.session == last[0].id and _is_left_open(task)]
        return (with_open_tasks(last[0], open_tasks[:MOST_OPEN_TASKS]), *last[1:])

    def _project(self, rules: Sequence[m.Memory]) -> ProjectCard | None:
        project = self._context.project
        trusted = self._context.is_trusted
        return project_card(self._store, project, rules, trusted=trusted) if project else None

    def _modules(self, request: DeliveryRequest, text: str) -> "tuple[ModuleCard, ...]":
        """Return the modules of a task that is asked about; at a prompt, files say more."""
        if request.moment is not Moment.ON_REQUEST or self._context.project is None:
            return ()
        return self._parts.code.maps.cards(text, request.files, trusted=self._context.is_trusted)

    def _files(self, request: DeliveryRequest, text: str) -> "tuple[FileToShow, ...]":
        """Return the files to look at first, if a graph of the code is there; only a request waits for it to be read."""
        if self._context.project is None or not self._parts.codebase.exists:
            return ()
        found = self._parts.code.files_to_show(text, wait=request.moment is Moment.ON_REQUEST)
        return tuple(card for card in found if looks_like_path(card.path))


def _is_starting(request: DeliveryRequest, told: Told) -> bool:
    """Whether this is the first prompt of a session whose start nobody heard: it is told now what it missed."""
    return request.moment is Moment.PROMPT and not told.has_started and bool(request.session)


def _relative(path: str, root: Path) -> str:
    """Return a path as memories have it. A host may name the project's folder by a link."""
    named = Path(os.path.normpath(path))
    if named.is_absolute() and not named.is_relative_to(root):
        with suppress(OSError, ValueError, RuntimeError):  # no path of a file, or links in a circle
            named = named.resolve()
    return (named.relative_to(root) if named.is_relative_to(root) else named).as_posix()


def _plan_for(moment: Moment, starting: bool) -> MomentPlan:
    return PLANS[Moment.AFTER_COMPACTION if starting else moment]


def _is_left_open(task: m.Task) -> bool:
    """Whether work on a task was begun and not finished: a session that only talked has left nothing open."""
    return task.status is m.TaskStatus.ACTIVE or bool(task.outcome)


def _said_in(session: str | None, content: BriefingContent) -> frozenset[str]:
    """Return the ids of the memories that come from this very session: its agent has read them in the conversation."""
    memories = (*content.always, *(hit.memory for hit in content.task))
    return frozenset(memory.id for memory in memories if session and memory.session == session)


def _is_said_in(fixes: Sequence[str], memory: m.Memory) -> bool:
    """Whether what helped before says already what a memory of the same error says."""
    quoted = _QUOTED.search(memory.content)
    return quoted is not None and any(quoted[0] in fix for fix in fixes)


def _text_of(request: DeliveryRequest) -> str:
    return request.text.strip() or " ".join(request.files)


def _fitted(
    content: BriefingContent, budget: Allocation, format: str, request: DeliveryRequest, told: frozenset[str]
) -> Briefing:
    """Compose within the budget and within the characters that the host shows."""
    while True:
        briefing = compose(content, budget, format, host=request.host, told=told)
        if request.longest is None or len(briefing.text) <= request.longest:
            return briefing
        budget = budget.within(briefing.tokens * request.longest // len(briefing.text) - 50)


def _reason(forbidding: Sequence[m.Memory]) -> str:
    rules = (memory.summary or memory.content for memory in forbidding[:MOST_WARNINGS])
    return " ".join(f"Your rule: {rule.rstrip('.')}." for rule in rules)
