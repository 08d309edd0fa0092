"""*Changes*: what was done to memories, newest first, each with *Undo*."""

from starlette.responses import Response

from recollect.interfaces.web.language import text, texts
from recollect.interfaces.web.page import Page, WebRequest
from recollect.memory.maintenance.undo import GRACE

SHOWN = 100


def show(request: WebRequest) -> Response:
    changes = request.engine.care.changes(SHOWN, all_projects=request.all_projects)
    return request.render("changes.html", changes=changes, grace=GRACE)


def undo(request: WebRequest) -> Response:
    """Undo one change; the undo is a change too, so the notice offers to undo that."""
    undone = request.engine.care.undo(request.params["id"])
    count = len(undone.restored)
    message = texts("Undone: %d memory is as it was.", "Undone: %d memories are as they were.", count) % count
    if undone.left_alone:
        left = len(undone.left_alone)
        message += " " + (
            texts(
                "%d has changed since and was left alone.", "%d have changed since and were left alone.", left
            )
            % left
        )
    return request.done(message, undone.undo)


PAGE = Page(
    "changes",
    text("Changes"),
    "/changes",
    show,
    key="c",
    icon="history",
    actions={"/changes/{id}/undo": undo},
)
