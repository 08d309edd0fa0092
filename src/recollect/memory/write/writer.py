"""The write path: limits, redaction, duplicates, contradictions and links, in one transaction (docs/writing.md).

Every interface writes through `MemoryWriter`, for users and agents alike.
"""

import contextlib
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import recollect.model as m
from recollect.context.context import Context
from recollect.context.pair_reader import PairReader
from recollect.embed.inference import open_inference
from recollect.errors import ContentRefused, EmbedderUnavailable, LimitReached, OutOfScope
from recollect.frozen import frozen
from recollect.llm.protocol import Judge, StatementRelation
from recollect.memory.index.index import MemoryIndex
from recollect.memory.judgement.candidates import subject_of
from recollect.memory.judgement.compare import compare, content_words, subject_words
from recollect.memory.judgement.comparison import ALIKE, Comparison
from recollect.memory.judgement.reading import READ_AS_SAME, read_neighbours
from recollect.memory.judgement.roles import learn_roles
from recollect.memory.judgement.second_opinion import TimeLimit, asked_of
from recollect.memory.write import enrich
from recollect.memory.write.draft import clean_details, clean_situations, clean_text, memory_from
from recollect.memory.write.limits import MAX_SITUATIONS
from recollect.memory.write.precedence import (
    UNSURE,
    Contradiction,
    Decision,
    decide,
    governs,
    open_conflicts,
    supersede,
)
from recollect.memory.write.reinforce import (
    MAX_REINFORCEMENTS,
    may_enrich,
    reinforced,
    survivor_of,
    with_richer_text,
    with_situations,
)
from recollect.policy import ASK_THE_USER, Operation, Permission, on_memory

PROBABLY_SAME = "probably the same"  # reason of a link
NEIGHBOURS = 12  # by vector, that are compared word by word
WORD_NEIGHBOURS = 8
NEAR = 0.25  # cosine from which two memories may be about the same subject
LINKED = 0.6  # cosine from which a neighbour is linked
MAX_LINKS = 3
BY_SUBJECT = 16  # memories that name the same tool, another of its role, or the same code
MATCHED_WORDS = 3  # all words of a sentence took five times as long at 10,000 memories, and found no more
MAX_ASKED = 2  # uncertain neighbours that a sidecar is asked about: someone is waiting
MIN_DERIVED = 0.6  # cosine from which a procedure counts as derived from a fact


logger = logging.getLogger(__name__)

NO_NOTES: tuple[str, ...] = ()


@frozen
class _WritePlan:
    """How a new memory relates to the stored ones, as of one `seq` of the store."""

    twin: m.Memory | None = None  # has the same words
    same: m.Memory | None = None  # says the same in other words
    contradicted: tuple[Contradiction, ...] = ()
    related: tuple[tuple[m.Memory, float, str], ...] = ()  # with weight and reason
    read_as_same: tuple[tuple[m.Memory, Comparison], ...] = ()  # by a model: a merge is proposed


class MemoryVectors(NamedTuple):
    """The vectors of one memory; None = not available, or not needed."""

    content: bytes | None = None
    when_needed: bytes | None = None
    situations: tuple[str, ...] = ()  # that `when_needed` is the vector of


@frozen
class PreparedWrite:
    """A memory that has passed all checks and only needs to be written."""

    memory: m.Memory
    vectors: MemoryVectors
    plan: _WritePlan
    seq: int  # of the store when the plan was made
    redactions: tuple[m.Redaction, ...]
    notes: tuple[str, ...]


class MemoryWriter:
    """Writes memories for one user and project."""

    def __init__(
        self,
        context: Context,
        index: MemoryIndex,
        sidecar: Judge | None = None,  # None = rules alone
    ) -> None:
        self._store = context.store
        self._index = index
        self._embedder = context.embedder
        self._clock = context.clock
        self._user_id = context.user_id
        self._project = context.project
        self._folder = context.folder.folder if context.folder else None
        self._root = context.root
        self._session_limit = context.settings.session_limit
        self._sidecar = sidecar
        self._reader = context.reader
        self._inference = open_inference(context.settings.nli_folder)
        learn_roles(context.settings.roles_file)

    def prepare(self, draft: m.Draft) -> PreparedWrite:
        """Do what can be done before the transaction, which must not wait for an embedding. Raise `Refused`."""
        memory, redactions = memory_from(
            draft, user_id=self._user_id, project=self._project, now=self._clock(), folder=self._folder
        )
        memory = self._anchored(memory)
        seq = self._store.seq()
        twin = self._twin(memory)
        if twin is None:
            vectors, notes = self.embed(memory)
            plan = self._plan(memory, vectors.content, self._sidecar, self._reader)
        else:  # the same words again need no vector, but what they add to does
            again = reinforced(twin, memory, self._clock())
            is_known = again.when_needed == twin.when_needed
            vectors, notes = (MemoryVectors(), NO_NOTES) if is_known else self.embed(again)
            plan = _WritePlan(twin)
        return PreparedWrite(memory, vectors, plan, seq, redactions, notes)

    def write(self, prepared: PreparedWrite, change: m.Change) -> m.Receipt:
        """Write a prepared memory in one transaction, recorded as `change` or as part of the caller's change.

        Raise `LimitReached`.
        """
        memory, vectors, plan = prepared.memory, prepared.vectors, prepared.plan
        with self._store.transaction():
            self._check_session_limit(memory)
            if self._store.seq() != prepared.seq:  # another process wrote meanwhile; now none can
                plan = self._plan(memory, vectors.content, None)
            self._log_redactions(
                memory.created_by, (plan.twin or plan.same or memory).id, prepared.redactions
            )
            receipt = self._write(plan, memory, vectors, change)
        return replace(receipt, redactions=prepared.redactions, notes=prepared.notes)

    def rewrite(
        self,
        memory_id: str,
        change: Callable[[m.Memory], m.Memory],
        actor: str,
        act: m.Change | None = None,
    ) -> tuple[m.Memory, m.Receipt]:
        """Apply `change` to a memory and check its new text and details like those of a new one. Raise `Refused`.

        `act` is the change that it is recorded as a part of.
        """
        before = self._store.get(memory_id)
        wanted = change(before).content
        text, redactions = clean_text(wanted) if wanted != before.content else (before.content, ())
        edited, _ = clean_details(
            replace(change(before), content=text),
            self._project,
            self._folder,
            by_agent=m.is_agent(actor),
        )  # before the embedder sees it: that may be a server
        is_searched_alike = (text, edited.when_needed) == (before.content, before.when_needed)
        vectors, notes = (MemoryVectors(), NO_NOTES) if is_searched_alike else self.embed(edited)
        with self._store.changes.recorded(act) if act else self._store.transaction():
            memory = self._store.get(memory_id)  # another process may have written since
            self._check(Operation.EDIT, memory, actor)
            changed, more = clean_details(
                change(memory), self._project, self._folder, by_agent=m.is_agent(actor)
            )
            stored = replace(changed, updated_at=self._clock())
            if text != memory.content:
                stored = self._anchored(self._with_text(stored, text, actor))
            plan = self._plan(stored, vectors.content, None) if text != memory.content else _WritePlan()
            if plan.twin is not None:
                raise ContentRefused(
                    f"Memory {plan.twin.id} already says exactly this.",
                    f"Run `recollect forget {memory.id}` if you no longer need this one.",
                )
            redactions = (*redactions, *more)
            self._log_redactions(actor, stored.id, redactions)
            self._log("update", actor, stored.id, {"fields": _differing(memory, stored)})
            self._store.put(stored)
            self._put_vectors(stored, vectors)
            decision = decide(stored, plan.contradicted)
            message = self._settle(stored, decision)
            if text != memory.content:
                self._close_ended(memory, stored)
        receipt = _receipt(stored.id, decision, message or "Changed.")
        return stored, replace(receipt, redactions=redactions, notes=notes)

    def _close_ended(self, before: m.Memory, edited: m.Memory) -> None:
        """Close the conflicts that the text before had and the edited one has no more."""
        for link in self._store.links(edited.id):
            if link.relation is not m.Relation.CONTRADICTS or link.resolved_at is not None:
                continue
            other = self._store.get(link.target if link.source == edited.id else link.source).content
            was, now = (compare(text, other, None).relation for text in (before.content, edited.content))
            if was is StatementRelation.CONTRADICTION and now is not was:
                self._store.put_link(replace(link, resolved_at=self._clock()))

    def describe(
        self, memory_id: str, situations: Iterable[str], actor: str, act: m.Change
    ) -> tuple[m.Memory, m.Receipt]:
        """Add situations in which a memory is needed, and change nothing else of it. Raise `Refused`.

        `act` is the change that it is recorded as a part of.
        """
        added, redactions = clean_situations(situations)
        by_person = not m.is_agent(actor)
        before = self._store.get(memory_id)
        self._check_describe(before, actor)
        expected = with_situations(before.when_needed, added, by_person=by_person)
        is_known = expected == before.when_needed
        vectors, notes = ([], NO_NOTES) if is_known else self._embed((enrich.embedded_situations(expected),))
        with self._store.changes.recorded(act):
            memory = self._store.get(memory_id)  # another process may have written since
            self._check_describe(memory, actor)
            needed = with_situations(memory.when_needed, added, by_person=by_person)
            left_out = len(set(added) - set(needed))
            if left_out == len(added):
                raise LimitReached(
                    f"Memory {memory.id} has {MAX_SITUATIONS} situations already, which is the limit.",
                    "The user can replace them: `recollect edit ID --when …`.",
                )
            if needed != memory.when_needed:
                memory = replace(memory, when_needed=needed, updated_at=self._clock())
                self._log_redactions(actor, memory.id, redactions)
                self._log("update", actor, memory.id, {"fields": ["when_needed"]})
                self._store.put(memory)
                if needed != expected:
                    self._store.set_setting(None, "vectors_pending", True)  # for the situations of both
                elif vectors:
                    self._put_vectors(memory, MemoryVectors(None, vectors[0], expected))
        if left_out:
            notes = (*notes, f"A memory has at most {MAX_SITUATIONS} situations: {left_out} left out.")
        receipt = _receipt(memory.id, Decision(), "Changed.")
        return memory, replace(receipt, redactions=redactions, notes=notes)

    def _check_describe(self, memory: m.Memory, actor: str) -> None:
        """Raise `OutOfScope` if the actor may not say when the memory is needed."""
        self._check(Operation.DESCRIBE, memory, actor)
        if m.is_agent(actor) and memory.user_id != self._user_id:
            raise OutOfScope(
                f"Memory {memory.id} is another person's, and an agent may not say when it is needed.",
                ASK_THE_USER,
            )

    def _check(self, operation: Operation, memory: m.Memory, actor: str) -> None:
        """Raise `OutOfScope` if the actor may not do this, or no longer: a person may have confirmed it since."""
        ruling = on_memory(actor, operation, memory, self._project.id if self._project else None)
        if ruling.permission is not Permission.ALLOW:
            raise OutOfScope(ruling.reason, ruling.hint)

    def _with_text(self, memory: m.Memory, text: str, actor: str) -> m.Memory:
        """Return `memory` with a new text and a new source: a user vouches for any text, an agent only for its own."""
        source = m.Source.OBSERVED if m.is_agent(actor) else m.Source.USER_STATED
        origin = m.Provenance(
            source, self._clock(), agent=actor if m.is_agent(actor) else None, reason="edited"
        )
        trust = max(memory.trust, m.TRUST[source])
        return replace(
            memory,
            content=text,
            summary=enrich.summarise(text),
            fingerprint=m.fingerprint(text),
            provenance=(memory.provenance[0], *(*memory.provenance[1:], origin)[-MAX_REINFORCEMENTS:]),
            trust=trust,
            confidence=max(memory.confidence, trust) if not m.is_agent(actor) else memory.confidence,
        )

    def _anchored(self, memory: m.Memory) -> m.Memory:
        """Return `memory` with anchors to the code it names. Memories of a branch get none: their code may be elsewhere."""
        if self._root is None or memory.project_id is None or memory.branch is not None:
            return memory
        from recollect.memory.anchors.tie import tie  # loads the parsers

        try:
            return replace(memory, anchors=tie(self._root, memory.content, memory.file_paths, quick=True))
        except Exception:  # no file of the project may keep a memory from being stored
            logger.exception("a memory was not anchored to its code")
            return memory

    def _anchored_again(self, before: m.Memory, memory: m.Memory) -> m.Memory:
        """Return `memory` with new anchors if its text or files differ from `before`; anchors it had are kept if none are found."""
        if (memory.content, memory.file_paths) == (before.content, before.file_paths):
            return memory
        anchored = self._anchored(memory)
        return anchored if anchored.anchors else memory

    def _check_session_limit(self, memory: m.Memory) -> None:
        """Raise `LimitReached` if an agent has written its share for this session, or today if it has no session."""
        if not m.is_agent(memory.created_by):
            return
        since = memory.created_at - timedelta(days=1 if memory.session is None else 3650)
        if self._store.count_written(memory.session, memory.created_by, since) >= self._session_limit:
            where = "in this session" if memory.session else "today"
            raise LimitReached(
                f"{memory.created_by} has written {self._session_limit} memories {where}, which is the limit.",
                "Store only what later sessions need, or let the user add it.",
            )

    # compare it with the stored memories

    def embed(self, memory: m.Memory) -> tuple[MemoryVectors, tuple[str, ...]]:
        """Return the vectors of a memory, or none and a note for the user."""
        texts = [enrich.embedded_text(memory.content, memory.tags, memory.file_paths)]
        if memory.when_needed:
            texts.append(enrich.embedded_situations(memory.when_needed))
        vectors, notes = self._embed(texts)
        content, when_needed = (*vectors, None, None)[:2]
        return MemoryVectors(content, when_needed, memory.when_needed), notes

    def _embed(self, texts: Sequence[str]) -> tuple[list[bytes], tuple[str, ...]]:
        """Return a vector for each text, or none and a note for the user."""
        try:
            return [row.astype("<f4").tobytes() for row in self._embedder.embed(texts)], ()
        except EmbedderUnavailable as error:
            note = f"Stored without a vector for now: {error.message} {error.hint}".strip()
            return [], () if error.by_choice else (note,)

    def _plan(
        self,
        memory: m.Memory,
        vector: bytes | None,
        sidecar: Judge | None,
        reader: PairReader | None = None,
    ) -> _WritePlan:
        """Return how `memory` relates to the stored ones. No model is asked in a transaction."""
        view = m.scope_of(memory)
        if twin := self._twin(memory):
            return _WritePlan(twin=twin)
        same: list[tuple[float, m.Memory]] = []
        contradicted: list[Contradiction] = []
        related: list[tuple[m.Memory, float, str]] = []
        read_as_same: list[tuple[m.Memory, Comparison]] = []
        asked = held = 0
        limit = TimeLimit()
        for old, cosine, comparison in self._compared(view, memory, vector, reader):
            may_ask = self._inference is not None and held < MAX_ASKED and limit.has_room
            if self._inference is not None and may_ask and not comparison.certain:
                held += 1
                comparison = limit.held_back(self._inference, comparison, memory.content, old.content)
            if not comparison.certain and sidecar is not None and asked < MAX_ASKED:
                asked += 1
                comparison = asked_of(sidecar, comparison, memory.content, old.content)
            if comparison.relation is StatementRelation.CONTRADICTION:
                if governs(memory, old):
                    contradicted.append((old, comparison))
            elif not m.same_matter(memory, old):
                continue  # a rule for all branches is not merged into what is known on one
            elif comparison.relation is StatementRelation.DUPLICATE and _can_reinforce(memory, old):
                same.append((cosine or 0.0, old))
            elif comparison.relation is StatementRelation.MERGEABLE:
                is_read = reader is not None and comparison.decided_by == reader.name
                surely = is_read and comparison.certain  # then consolidation merges them
                related.append((old, cosine or ALIKE, READ_AS_SAME if surely else PROBABLY_SAME))
                if is_read and not surely and old.user_id == memory.user_id and _can_reinforce(memory, old):
                    read_as_same.append((old, comparison))
            elif (cosine or 0.0) >= LINKED:
                related.append((old, cosine or 0.0, "near in meaning"))
        best = max(same, key=lambda pair: (pair[0], pair[1].id))[1] if same else None
        related.sort(key=lambda link: (-link[1], link[0].id))
        return _WritePlan(
            None, best, tuple(contradicted), tuple(related[:MAX_LINKS]), tuple(read_as_same[:1])
        )

    def _compared(
        self, view: m.View, memory: m.Memory, vector: bytes | None, reader: PairReader | None
    ) -> list[tuple[m.Memory, float | None, Comparison]]:
        """Return the neighbours, each with its cosine and how `memory` relates to it by rules and reading."""
        compared = [
            (old, cosine, compare(memory.content, old.content, cosine))
            for old, cosine in self._neighbours(view, memory, vector)
        ]
        if reader is None:
            return compared
        judged = [(old.content, cosine, comparison) for old, cosine, comparison in compared]
        read = read_neighbours(reader, memory.content, judged)
        return [
            (old, cosine, comparison) for (old, cosine, _), comparison in zip(compared, read, strict=True)
        ]

    def _twin(self, memory: m.Memory) -> m.Memory | None:
        """Return the memory with the same words, active or archived."""
        view = replace(m.scope_of(memory), states=frozenset({m.State.ACTIVE, m.State.ARCHIVED}))
        twins = self._store.with_fingerprint(view, memory.fingerprint)
        return next(
            (
                twin
                for twin in twins
                if twin.id != memory.id and m.same_matter(memory, twin) and _can_reinforce(memory, twin)
            ),
            None,
        )

    def _neighbours(
        self, view: m.View, memory: m.Memory, vector: bytes | None
    ) -> Iterable[tuple[m.Memory, float | None]]:
        """Yield memories of the same scope that may be about the same subject, with the cosine if there is one."""
        cosines: dict[str, float | None] = {}
        if vector is not None:
            cosines |= self._index.near(view, self._embedder.model, vector, NEIGHBOURS, NEAR)
        by_word = [
            name for name, _ in self._store.match(view, _longest_words(memory.content), WORD_NEIGHBOURS)
        ]
        about = subject_of(memory.content)
        by_subject = (
            {name for name, _ in self._store.match(view, about.terms, BY_SUBJECT)} if about.terms else set()
        )
        names = dict.fromkeys((*cosines, *by_word, *sorted(by_subject)))
        found = self._store.get_many(list(names))
        words, subject = content_words(memory.content), subject_words(memory.content)
        plain = _plain_words(memory.content)
        for name, old in found.items():
            if name == memory.id or not (m.same_matter(memory, old) or governs(memory, old)):
                continue
            if old.is_proposal and not _can_reinforce(memory, old):
                continue  # an agent does not see what a repository proposes
            if name in cosines:
                yield old, cosines[name]
            elif (_shares_words(plain, old.content) and _is_word_neighbour(words, subject, old.content)) or (
                name in by_subject and about.concerns(old.content)
            ):
                yield old, self._cosine(vector, name)

    def _cosine(self, vector: bytes | None, memory_id: str) -> float | None:
        other = self._store.vector(memory_id, self._embedder.model) if vector is not None else None
        if vector is None or other is None or len(other) != len(vector):
            return None
        import numpy as np

        return float(np.frombuffer(vector, "<f4") @ np.frombuffer(other, "<f4"))

    # decide contradictions, and write everything at once

    def _write(
        self, plan: _WritePlan, memory: m.Memory, vectors: MemoryVectors, change: m.Change
    ) -> m.Receipt:
        if plan.twin is not None:
            return self._write_twin(plan.twin, memory, vectors, change)
        if plan.same is not None:
            return self._write_merged(plan.same, memory, vectors, plan.contradicted, change)
        return self._write_new(plan, memory, vectors, change)

    def _write_new(
        self, plan: _WritePlan, memory: m.Memory, vectors: MemoryVectors, change: m.Change
    ) -> m.Receipt:
        decision = decide(memory, plan.contradicted)
        if decision.takes_pin:
            memory = replace(memory, standing=m.Standing.PINNED)
        stored = "Learnt" if change.action == "learn" else "Remembered"
        with self._recorded(change, memory, f"{stored} {memory.id}", decision):
            self._log("add", memory.created_by, memory.id, {"kind": memory.kind, "source": memory.source})
            self._store.put(memory)
            self._put_vectors(memory, vectors)
            message = self._settle(memory, decision)
            for old, weight, reason in plan.related:
                made_of = memory.procedure is not None and old.procedure is None and weight >= MIN_DERIVED
                relation = m.Relation.DERIVED_FROM if made_of else m.Relation.RELATES_TO
                self._link(memory, old, relation, weight, reason)
            for old, comparison in plan.read_as_same:
                self._propose(comparison, *survivor_of(old, memory))
        return _receipt(memory.id, decision, message or "Remembered.")

    def _write_twin(
        self, twin: m.Memory, memory: m.Memory, vectors: MemoryVectors, change: m.Change
    ) -> m.Receipt:
        """Reinforce `twin`, which `memory` repeats word for word."""
        stored = self._anchored_again(twin, reinforced(twin, memory, self._clock()))
        decision = (
            decide(stored, open_conflicts(self._store, twin)) if may_enrich(twin, memory) else Decision()
        )
        with self._recorded(change, memory, f"Stated again: {stored.id}", decision):
            self._log("update", memory.created_by, stored.id, {"reinforced": stored.strength})
            self._store.put(stored)
            self._put_vectors(stored, vectors._replace(content=None))
            message = self._settle(stored, replace(decision, conflicts=()))  # those are linked already
        known = f"Already known; stated {stored.strength} times now."
        return _receipt(stored.id, decision, f"{known} {message}".strip(), duplicate=True)

    def _write_merged(
        self,
        same: m.Memory,
        memory: m.Memory,
        vectors: MemoryVectors,
        contradicted: tuple[Contradiction, ...],
        change: m.Change,
    ) -> m.Receipt:
        """Merge `memory` into `same` and keep the richer text; the other text stays in the reinforcements."""
        merged = with_richer_text(same, memory, reinforced(same, memory, self._clock()))
        stored = self._anchored_again(same, merged)
        decision = decide(stored, contradicted) if may_enrich(same, memory) else Decision()
        richer = stored.content != same.content
        with self._recorded(change, memory, f"Stated again in other words: {stored.id}", decision):
            detail: dict[str, object] = {"reinforced": stored.strength, "richer": richer}
            self._log("merge", memory.created_by, stored.id, detail)
            self._store.put(stored)
            self._put_vectors(stored, vectors if richer else vectors._replace(content=None))
            message = self._settle(stored, decision)
        known = f"Already known as {_quote(stored)}; stated {stored.strength} times now."
        return _receipt(stored.id, decision, f"{known} {message}".strip(), duplicate=True)

    def _recorded(
        self, change: m.Change, memory: m.Memory, what: str, decision: Decision
    ) -> contextlib.AbstractContextManager[None]:
        """Record the change, unless the caller records one already. It is the author's: an agent's may come by a command."""
        lost = ", ".join(old.id for old, _ in decision.superseded)
        return self._store.changes.recorded(
            replace(
                change,
                project_id=memory.project_id,
                actor=memory.created_by if m.is_agent(memory.created_by) else change.actor,
                summary=f"{what}, which replaced {lost}." if lost else f"{what}.",
                finished_at=change.at,
            )
        )

    def _settle(self, memory: m.Memory, decision: Decision) -> str:
        """Supersede or link what `memory` contradicts, and return the message for the user."""
        for old, comparison in decision.superseded:
            supersede(self._store, old, memory, comparison.explanation, memory.created_by, self._clock())
        for old, comparison in decision.conflicts:
            self._link(memory, old, m.Relation.CONTRADICTS, 1.0, comparison.explanation, comparison)
            if self._store.may_settle(memory.id, old.id):
                self._ask(memory, old, comparison)
        if decision.superseded:
            return f"Updated: {_quote(decision.superseded[0][0])} → {_quote(memory)}"
        if decision.conflicts:
            old, comparison = decision.conflicts[0]
            if old.user_id != memory.user_id:
                both = f"It contradicts {old.id}, which another person says, so both are stored."
                return f"{both} Run `recollect conflicts` to see them."
            why = (
                "contradicts {}, which is trusted more"
                if comparison.certain
                else f"may contradict {{}} ({comparison.reason})"
            )
            stored = f"It {why.format(old.id)}, so both are stored."
            if m.is_agent(memory.created_by):
                return stored  # it may not settle conflicts, and is shown what it may say
            return f"{stored} Run `recollect resolve {old.id} {memory.id} --keep …` to settle it."
        return ""

    def _ask(self, newer: m.Memory, older: m.Memory, comparison: Comparison) -> None:
        """Ask in review whether two memories contradict each other. A question that was answered is not asked again."""
        self._ask_about("contradiction", comparison, newer, older)

    def _propose(self, comparison: Comparison, survivor: m.Memory, other: m.Memory) -> None:
        """Ask in review whether two memories say the same."""
        self._ask_about("merge", comparison, survivor, other)

    def _ask_about(self, kind: str, comparison: Comparison, one: m.Memory, other: m.Memory) -> None:
        now = self._clock()
        names, reason = (one.id, other.id), comparison.explanation
        self._store.reviews.ask(
            m.Review(m.new_id(now), self._user_id, one.project_id, kind, names, reason, now)
        )

    # one row each

    def _link(
        self,
        source: m.Memory,
        target: m.Memory,
        relation: m.Relation,
        weight: float,
        reason: str,
        comparison: Comparison | None = None,
    ) -> None:
        verdict = None if comparison is None else "contradictory" if comparison.certain else UNSURE
        self._store.put_link(
            m.Link(source.id, target.id, relation, self._clock(), round(min(weight, 1.0), 4), reason, verdict)
        )

    def _put_vectors(self, memory: m.Memory, vectors: MemoryVectors) -> None:
        if vectors.content is not None:
            self._store.put_vector(memory.id, self._embedder.model, vectors.content)
        if not memory.when_needed:
            return
        model = self._embedder.model + m.WHEN_MODEL
        if vectors.when_needed is not None and vectors.situations == memory.when_needed:
            self._store.put_vector(memory.id, model, vectors.when_needed)
        elif any(vectors[:2]) and self._store.vector(memory.id, model) is None:
            self._store.set_setting(None, "vectors_pending", True)  # for situations that were there, too

    def _log_redactions(self, actor: str, memory_id: str, redactions: tuple[m.Redaction, ...]) -> None:
        if redactions:
            self._log(
                "redact", actor, memory_id, {"types": sorted({redaction.type for redaction in redactions})}
            )

    def _log(self, action: str, actor: str, memory_id: str, detail: dict[str, object]) -> None:
        self._store.log(action, actor, self._clock(), memory_id, detail)


def _receipt(memory_id: str, decision: Decision, message: str, *, duplicate: bool = False) -> m.Receipt:
    superseded = tuple(old.id for old, _ in decision.superseded)
    conflicts = tuple(old.id for old, _ in decision.conflicts)
    if duplicate:
        outcome = m.Outcome.REINFORCED
    else:
        outcome = (
            m.Outcome.SUPERSEDED if superseded else m.Outcome.CONFLICT if conflicts else m.Outcome.STORED
        )
    return m.Receipt(memory_id, outcome, duplicate, (), superseded, conflicts, message)


def _can_reinforce(memory: m.Memory, known: m.Memory) -> bool:
    """Return whether `known` may stand for `memory`: what an agent states must not end in something that it does not see.

    That is a person's memory which is archived, and a proposal of the repository. What is private does not become a part
    of what another person shares.
    """
    if known.user_id != memory.user_id and memory.visibility is m.Visibility.PRIVATE:
        return False
    if may_enrich(known, memory):
        return True
    return known.state is m.State.ACTIVE and not (known.is_proposal and not memory.is_proposal)


def _longest_words(text: str) -> str:
    """Return the few longest words: a neighbour shares all but one, and rare words are quick to find."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", text.lower()))
    return " ".join(sorted(words, key=len, reverse=True)[:MATCHED_WORDS])


def _plain_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _shares_words(words: set[str], old: str) -> bool:
    """Return whether a quarter of the words are the same. The close comparison takes 0.3 ms, so this comes first."""
    others = _plain_words(old)
    return 4 * len(words & others) >= min(len(words), len(others))


def _is_word_neighbour(words: frozenset[str], subject: frozenset[str], old: str) -> bool:
    """Return whether they share all content words but one, or the subject."""
    others = content_words(old)
    close = bool(words & others) and len(words - others) <= 1 and len(others - words) <= 1
    return close or (bool(subject) and subject == subject_words(old))


def _differing(before: m.Memory, after: m.Memory) -> list[str]:
    names = [name for name in m.Memory.__dataclass_fields__ if getattr(before, name) != getattr(after, name)]
    return [name for name in names if name != "updated_at"]


def _quote(memory: m.Memory) -> str:
    text = memory.summary
    return f"'{text if len(text) <= 60 else text[:59].rstrip() + '…'}'"
