"""*Review*: questions that only a person can decide, one at a time, one keystroke each."""

import difflib
import re
from collections import Counter

from starlette.responses import Response

import recollect.model as m
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.interfaces.web.pages.memories import ShownMemory, cards
from recollect.memory.maintenance.review import KINDS, OpenReview, find

SHOWN = 50
GAPS_SHOWN = 20
_DECIDED_BY = re.compile(r" \([^()]*, (?:certain|unsure)\)$")  # as a comparison of two memories ends
ANSWERS = ("accept", "reject", "edit", "older")


@frozen
class Wording:
    """How a kind of question is put to a person."""

    name: str  # of several such questions
    title: str
    roles: tuple[str, ...]  # of the memories, in their order
    accepting: str
    rejecting: str


_ONE = (text("Memory"),)
WORDINGS = {
    "contradiction": Wording(
        text("contradictions"),
        text("These two contradict each other. Which is right?"),
        (text("Newer"), text("Older")),
        text("The newer is right"),
        text("Both are right"),
    ),
    "merge": Wording(
        text("duplicates"),
        text("Do these two say the same?"),
        (text("Stays"), text("Is merged into it")),
        text("Merge them"),
        text("Keep both"),
    ),
    "stale": Wording(
        text("out of date"),
        text("Its code has changed. Is it out of date?"),
        _ONE,
        text("It is out of date"),
        text("It is still right"),
    ),
    "seed": Wording(
        text("found in the project"),
        text("Found in your project. Is it right?"),
        _ONE,
        text("It is right"),
        text("Forget it"),
    ),
    "forget": Wording(
        text("to forget"),
        text("An agent proposes to forget this."),
        _ONE,
        text("Forget it"),
        text("Keep it"),
    ),
    "derived": Wording(
        text("based on a wrong one"),
        text("It is based on something that was marked as wrong."),
        (text("Memory"), text("What was wrong")),
        text("It is wrong too"),
        text("Keep it"),
    ),
}


@frozen
class ReviewCard:
    """A question with its memories, and where the texts of two differ."""

    question: OpenReview
    wording: Wording
    reason: str  # without how it was decided to ask
    cards: list[ShownMemory]
    texts: tuple[
        tuple[tuple[str, bool], ...], ...
    ]  # of each memory: parts, and whether only this text has it


def show(request: WebRequest) -> Response:
    kind = request.get("kind")
    every = request.engine.care.questions(None, all_projects=request.all_projects, tidy=False)
    questions = [question for question in every if kind not in KINDS or question.review.kind == kind]
    skipped = request.get("after")
    ordered = [question for question in questions if question.review.id > skipped] if skipped else questions
    return request.render(
        "review.html",
        reviews=[_card(request, question) for question in ordered[:SHOWN]],
        total=len(questions),
        kinds={name: wording.name for name, wording in WORDINGS.items()},
        counts=Counter(question.review.kind for question in every),
        kind=kind,
        others=len(every) - len(questions),
        gaps=_gaps(request),
    )


def _gaps(request: WebRequest) -> list[m.Gap]:
    """Return the newest questions that memory could not answer."""
    engines = request.engines
    shown = [engines.engine_for(each.id) for each in engines.projects()] if request.all_projects else []
    found = {gap.id: gap for engine in (request.engine, *shown) for gap in engine.gaps(GAPS_SHOWN)}
    return sorted(found.values(), key=lambda gap: gap.created_at, reverse=True)[:GAPS_SHOWN]


def _card(request: WebRequest, question: OpenReview) -> ReviewCard:
    shown = cards(request, question.memories)
    contents = [memory.content for memory in question.memories]
    wording = WORDINGS[question.review.kind]
    reason = _DECIDED_BY.sub("", question.review.reason)
    return ReviewCard(question, wording, reason, shown, tuple(differences(contents)))


def differences(contents: list[str]) -> list[tuple[tuple[str, bool], ...]]:
    """Return each text in parts, with whether only it has the part. One text alone has no differences."""
    if len(contents) != 2:
        return [((content, False),) for content in contents]
    split = [content.split(" ") for content in contents]
    codes = difflib.SequenceMatcher(None, split[0], split[1], autojunk=False).get_opcodes()
    first = tuple((" ".join(split[0][a:b]), code != "equal") for code, a, b, _, _ in codes if b > a)
    second = tuple((" ".join(split[1][c:d]), code != "equal") for code, _, _, c, d in codes if d > c)
    return [first, second]


def answer(request: WebRequest) -> Response:
    """Answer one question, as one change; undoing it asks again."""
    chosen = request.field("answer")
    if chosen not in ANSWERS:
        raise Refused(text("This is not an answer."), text("Accept, reject or edit."))
    if chosen == "older":
        return _keep_older(request)
    question = find(request.engine.store, request.engine.context.user_id, request.params["id"])
    decision = request.engine.decide(question.review.id, chosen, request.field("text"))
    return request.done(" ".join((_said(question, chosen), *decision.notes)), decision.change)


def _said(question: OpenReview, chosen: str) -> str:
    """Return the answer in the words of the button."""
    wording = WORDINGS[question.review.kind]
    labels = {"accept": wording.accepting, "reject": wording.rejecting, "edit": text("Edited")}
    return text("Answered: %s.") % labels[chosen]


def dismiss(request: WebRequest) -> Response:
    """Close a question that memory could not answer and need not."""
    engine = request.engine
    change = engine.context.new_change(
        "gap",
        text("Dismissed a question that memory could not answer."),
        project_id=engine.context.project_id,
    )
    if not engine.care.close_gap(request.params["id"], change):
        return request.done(text("This question was closed already."))
    return request.done(text("Dismissed."), change.id)


def _keep_older(request: WebRequest) -> Response:
    """Settle a contradiction for the older memory, which accepting it would replace. That answers the question."""
    engine = request.engine
    question = find(engine.store, engine.context.user_id, request.params["id"])
    newer, older = question.memories
    change = engine.context.new_change("resolve")
    request.engine_of(newer).memory.resolve(newer.id, older.id, older.id, change=change)
    return request.done(text("Settled: the older one is right."), change.id)


PAGE = Page(
    "review",
    text("Review"),
    "/review",
    show,
    key="r",
    icon="inbox",
    actions={"/review/gaps/{id}": dismiss, "/review/{id}": answer},
)
