"""*Review*: questions that only a person can decide, one at a time, one keystroke each."""

import difflib
from dataclasses import dataclass

from starlette.responses import Response

from recollect.errors import Refused
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.interfaces.web.pages.memories import ShownMemory, cards
from recollect.memory.maintenance.review import KINDS, OpenReview

SHOWN = 50
ANSWERS = {
    "accept": text("Accepted."),
    "reject": text("Rejected."),
    "edit": text("Edited."),
}


@dataclass(frozen=True, slots=True)
class ReviewCard:
    """A question with its memories, and where the texts of two differ."""

    question: OpenReview
    cards: list[ShownMemory]
    texts: tuple[
        tuple[tuple[str, bool], ...], ...
    ]  # of each memory: parts, and whether only this text has it


def show(request: WebRequest) -> Response:
    kind = request.get("kind")
    questions = request.engine.care.questions(
        kind if kind in KINDS else None, all_projects=request.all_projects, tidy=False
    )
    skipped = request.get("after")
    ordered = [question for question in questions if question.review.id > skipped] if skipped else questions
    return request.render(
        "review.html",
        reviews=[_card(request, question) for question in ordered[:SHOWN]],
        total=len(questions),
        kinds=KINDS,
        kind=kind,
        gaps=request.engine.gaps(20),
    )


def _card(request: WebRequest, question: OpenReview) -> ReviewCard:
    shown = cards(request, question.memories)
    contents = [memory.content for memory in question.memories]
    return ReviewCard(question, shown, tuple(differences(contents)))


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
    decision = request.engine.decide(request.params["id"], chosen, request.field("text"))
    return request.done(" ".join((ANSWERS[chosen], *decision.notes)), decision.change)


PAGE = Page(
    "review",
    text("Review"),
    "/review",
    show,
    key="r",
    icon="inbox",
    actions={"/review/{id}": answer},
)
