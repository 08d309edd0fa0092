"""The review list: questions that a program did not decide alone. Each answer is one change; undoing it asks again."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import Refused, ReviewNotFound, UnknownName
from recollect.frozen import frozen
from recollect.memory.maintenance import states
from recollect.memory.maintenance.merge import merge
from recollect.memory.maintenance.undo import one_change
from recollect.memory.write.precedence import supersede
from recollect.memory.write.reinforce import MAX_REINFORCEMENTS
from recollect.memory.write.writer import MemoryWriter


class AnswerContext(NamedTuple):
    """What carrying out an answer needs, in its transaction."""

    store: Store
    model: str
    actor: str
    now: datetime


Memories = Sequence[m.Memory]
Answer = Callable[[AnswerContext, Memories], None]


@frozen
class ReviewKind:
    """One kind of question: the roles of its memories, in order, and what the answers do."""

    about: tuple[str, ...]
    one: str  # wording for one such question, and for several
    many: str
    accept: Answer
    reject: Answer
    accepting: str  # what the answers mean, shown to the user
    rejecting: str
    edited: str  # the answer that a new text for the first memory counts as
    is_open: Callable[[Store, Memories], bool]


@frozen
class OpenReview:
    """A question with its memories, ready to be shown."""

    review: m.Review
    memories: tuple[m.Memory, ...]

    @property
    def kind(self) -> ReviewKind:
        return KINDS[self.review.kind]


@frozen
class ReviewDecision:
    review: str
    decision: str  # accepted, rejected or edited
    change: str  # for `undo`
    notes: tuple[str, ...] = ()  # for the user, such as a missing vector


def questions(
    store: Store, user_id: str, project_id: str | None, kind: str | None, now: datetime, *, tidy: bool
) -> list[OpenReview]:
    """Return open questions, oldest first. Questions that no longer apply are skipped, and closed if `tidy` is set."""
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of question", kind, list(KINDS))
    questions, moot = _still_open(store, store.reviews.open(user_id, project_id, kind))
    if moot and tidy:
        with store.transaction():
            for review in moot:
                store.reviews.decide(review.id, "moot", now)
    return questions


def find(store: Store, user_id: str, name: str) -> OpenReview:
    """Return the open question with this id, or the beginning or end of one. Raise `ReviewNotFound`."""
    questions, _ = _still_open(store, [store.reviews.get(user_id, name)])
    if not questions:
        raise ReviewNotFound(name)
    return questions[0]


def _still_open(store: Store, waiting: Iterable[m.Review]) -> tuple[list[OpenReview], list[m.Review]]:
    """Return questions that can be answered, and those that no longer apply."""
    known = [review for review in waiting if review.kind in KINDS]
    current = store.get_many([name for review in known for name in review.memories])
    questions, moot = [], []
    for review in known:
        memories = tuple(current[name] for name in review.memories if name in current)
        complete = len(memories) == len(review.memories)
        if complete and KINDS[review.kind].is_open(store, memories):
            questions.append(OpenReview(review, memories))
        else:
            moot.append(review)
    return questions, moot


def headline(questions: Iterable[OpenReview]) -> str:
    """Return how many questions of each kind are open, as a sentence."""
    counts = Counter(question.review.kind for question in questions)
    parts = [
        f"{count} {kind.one if count == 1 else kind.many}"
        for name, kind in KINDS.items()
        if (count := counts[name])
    ]
    return f"{'; '.join(parts)}." if parts else "Nothing to review."


def decide(
    store: Store,
    writer: MemoryWriter,
    question: OpenReview,
    answer: str,
    change: m.Change,
    model: str,
    text: str = "",
) -> ReviewDecision:
    """Carry out an answer, "accept", "reject" or "edit", as one change. Raise `Refused` if it has been answered in the meantime."""
    review, kind = question.review, question.kind
    answers = {"accept": "accepted", "reject": "rejected", "edit": "edited"}
    if answer not in answers:
        raise UnknownName("answer", answer, list(answers))
    done = answers[answer]
    change = replace(
        change, project_id=review.project_id, summary=f"Reviewed {', '.join(review.memories)}: {done}."
    )
    notes: tuple[str, ...] = ()
    if answer == "edit":  # the vector of the new text is made before the transaction
        _, receipt = writer.rewrite(
            review.memories[0], lambda memory: replace(memory, content=text), change.actor, change
        )
        notes = receipt.notes
    with one_change(store, change):
        memories = [store.get(name) for name in review.memories]
        is_open = kind.is_open(store, memories)
        if not store.reviews.decide(review.id, done, change.at) or not (is_open or answer == "edit"):
            raise Refused(
                f"Question {review.id} has been answered in the meantime.",
                "Run `recollect review` to list the open questions.",
            )
        detail = {"review": review.id, "decision": done}
        store.log("update", change.actor, change.at, review.memories[0], detail)
        if is_open:  # a new text may have settled it by itself
            accepting = (kind.edited if answer == "edit" else answer) == "accept"
            carry_out = kind.accept if accepting else kind.reject
            carry_out(AnswerContext(store, model, change.actor, change.at), memories)
    store.changes.finish(replace(change, finished_at=change.at))
    return ReviewDecision(review.id, done, change.id, notes)


def _merge(context: AnswerContext, memories: Memories) -> None:
    survivor, other = memories
    merge(context.store, survivor, other, context.model, context.actor, context.now)


def _replace(context: AnswerContext, memories: Memories) -> None:
    newer, older = memories
    supersede(context.store, older, newer, "decided in review", context.actor, context.now)


def _settle(context: AnswerContext, memories: Memories) -> None:
    """Resolve the conflict: both memories are right."""
    first, second = memories
    conflicts = states.conflicts_between(context.store, first.id, second.id)
    if any(link.resolved_at is None for link in conflicts):
        states.resolve(context.store, first.id, second.id, None, context.actor, context.now)


def _forget(context: AnswerContext, memories: Memories) -> None:
    states.forget(context.store, memories[0].id, context.actor, context.now, "rejected in review")


def _forget_proposed(context: AnswerContext, memories: Memories) -> None:
    states.forget(context.store, memories[0].id, context.actor, context.now, "forgotten in review")


def _deprecate(context: AnswerContext, memories: Memories) -> None:
    states.deprecate(context.store, memories[0], "deprecated in review", context.actor, context.now)


def _confirm(context: AnswerContext, memories: Memories) -> None:
    context.store.put(confirmed(memories[0], context.actor, context.now))


def _leave(context: AnswerContext, memories: Memories) -> None:
    """Change nothing."""


def confirmed(memory: m.Memory, actor: str, now: datetime) -> m.Memory:
    """Return the memory after a person confirmed it, which counts as stating it again."""
    trust = max(memory.trust, m.TRUST[m.Source.USER_STATED])
    confirmation = m.Provenance(m.Source.USER_STATED, now, reason="confirmed in review")
    return replace(
        memory,
        standing=memory.standing if memory.pinned else m.Standing.CONFIRMED,
        promoted_at=None,
        anchors=(),  # consolidation anchors it to the code as it is now
        trust=trust,
        confidence=max(memory.confidence, trust),
        provenance=(memory.provenance[0], *(*memory.provenance[1:], confirmation)[-MAX_REINFORCEMENTS:]),
        reinforcements=(*memory.reinforcements, m.Reinforcement(now, actor))[-MAX_REINFORCEMENTS:],
        updated_at=now,
    )


def _all_active(store: Store, memories: Memories) -> bool:
    return all(memory.state is m.State.ACTIVE for memory in memories)


def _not_said_since(store: Store, memories: Memories) -> bool:
    """Return whether no person has stated the same in the meantime, which answers the question."""
    said = (stated.by for memory in memories for stated in memory.reinforcements)
    return _all_active(store, memories) and all(map(m.is_agent, said))


def _unsettled(store: Store, memories: Memories) -> bool:
    known = states.conflicts_between(store, memories[0].id, memories[1].id)
    return _all_active(store, memories) and (not known or any(link.resolved_at is None for link in known))


def _cause_is_gone(store: Store, memories: Memories) -> bool:
    memory, cause = memories
    return memory.state is m.State.ACTIVE and cause.state is not m.State.ACTIVE


KINDS = {
    "forget": ReviewKind(
        ("memory",),
        "memory is to be forgotten, an agent proposes",
        "memories are to be forgotten, agents propose",
        accept=_forget_proposed,
        reject=_leave,
        accepting="forget it",
        rejecting="keep it",
        edited="reject",
        is_open=_all_active,
    ),
    "merge": ReviewKind(
        ("survivor", "other"),
        "pair of memories may say the same",
        "pairs of memories may say the same",
        accept=_merge,
        reject=_leave,
        accepting="merge them",
        rejecting="keep both",
        edited="accept",
        is_open=_all_active,
    ),
    "contradiction": ReviewKind(
        ("newer", "older"),
        "contradiction is open",
        "contradictions are open",
        accept=_replace,
        reject=_settle,
        accepting="the first replaces the second",
        rejecting="both are right",
        edited="reject",
        is_open=_unsettled,
    ),
    "seed": ReviewKind(
        ("memory",),
        "convention was found in your project",
        "conventions were found in your project",
        accept=_confirm,
        reject=_forget,
        accepting="it is right",
        rejecting="forget it",
        edited="accept",
        is_open=_not_said_since,
    ),
    "stale": ReviewKind(
        ("memory",),
        "memory may no longer be true",
        "memories may no longer be true",
        accept=_deprecate,
        reject=_confirm,
        accepting="it is out of date",
        rejecting="it is still right",
        edited="reject",
        is_open=_all_active,
    ),
    "derived": ReviewKind(
        ("memory", "cause"),
        "memory is based on one that was marked as wrong",
        "memories are based on others that were marked as wrong",
        accept=_deprecate,
        reject=_leave,
        accepting="it is wrong too",
        rejecting="keep it",
        edited="reject",
        is_open=_cause_is_gone,
    ),
}
