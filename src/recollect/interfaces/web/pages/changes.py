"""*Changes*: what was done to memories, newest first, each with *Undo*."""

import re
from collections.abc import Mapping

from starlette.responses import Response

import recollect.model as m
from recollect.errors import MemoryNotFound
from recollect.interfaces.web.language import text, texts
from recollect.interfaces.web.page import Page, WebRequest
from recollect.memory.maintenance.undo import GRACE, UNDO

SHOWN = 100
_EDITS = ("edit", "review")
MOST_NAMED = 3  # memories whose texts are shown with a change
_TITLES = {
    "describe": text("Said when it is needed"),
    "edit": text("Edited"),
    "forget": text("Forgotten"),
    "learn": text("Learnt"),
    "link": text("Linked"),
    "merge": text("Merged"),
    "remember": text("Remembered"),
    "resolve": text("Contradiction settled"),
    "restore": text("Restored"),
    "review": text("Reviewed"),
    "tag": text("Tags changed"),
    "unlink": text("Link removed"),
    "wrong": text("Marked as wrong"),
}  # for summaries with ids, by action
_UNDID = re.compile(r"Undid (\w+) (\w+)")
_WORD = re.compile(r"\b[0-9a-z]{18,26}\b")  # a summary has ids, never texts


def show(request: WebRequest) -> Response:
    changes = request.engine.care.changes(SHOWN, all_projects=request.all_projects)
    summaries = {change.id: change.summary for change in changes}
    named = {
        change.id: list(dict.fromkeys(_WORD.findall(_undone_summary(change.summary, summaries))))[:MOST_NAMED]
        for change in changes
    }
    known = request.engine.store.get_many(sorted({name for names in named.values() for name in names}))
    mine = request.engine.context.user_id
    memories = {
        change: [known[name] for name in names if name in known and known[name].user_id == mine]
        for change, names in named.items()
    }
    return request.render(
        "changes.html",
        changes=changes,
        memories=memories,
        titles={change.id: _title(change) for change in changes},
        before={change.id: _texts_before(request, change) for change in changes},
        grace=GRACE,
    )


def _undone_summary(summary: str, summaries: Mapping[str, str]) -> str:
    """Return what was done at first: an undo names only the change that it undid."""
    while undid := _UNDID.match(summary):
        summary = summaries.get(undid[2], "")
    return summary


def _title(change: m.Change) -> str:
    """Return what was done in a few words, without ids: the page shows the memories themselves."""
    undid = _UNDID.match(change.summary)
    if change.action == UNDO and undid:
        return text("Undone: %s") % _TITLES.get(undid[1], undid[1])
    if change.action in _TITLES and _WORD.search(change.summary):
        details = change.summary.rpartition(":")[2].strip(" .") if change.action in _EDITS else ""
        return f"{_TITLES[change.action]}: {details.replace('_', ' ')}" if details else _TITLES[change.action]
    return " ".join(_WORD.sub("", change.summary).split()).replace(" .", ".")


def _texts_before(request: WebRequest, change: m.Change) -> dict[str, str]:
    """Return the texts that an edit replaced, by memory."""
    return request.engine.store.changes.texts_before(change.id) if change.action in _EDITS else {}


def undo(request: WebRequest) -> Response:
    """Undo one change; the undo is a change too, so the notice offers to undo that."""
    undone = request.engine.care.undo(request.params["id"])
    count = len(undone.restored)
    if not count:  # a module, say
        return request.done(text("Undone."), undone.undo, _page_after(request, undone))
    message = texts("Undone: %d memory is as it was.", "Undone: %d memories are as they were.", count) % count
    if undone.left_alone:
        left = len(undone.left_alone)
        message += " " + (
            texts(
                "%d has changed since and was left alone.", "%d have changed since and were left alone.", left
            )
            % left
        )
    return request.done(message, undone.undo, _page_after(request, undone))


def _page_after(request: WebRequest, undone: m.Undone) -> str:
    """Return another page than the one the form was on if that showed a memory that the undo took away; else ""."""
    shown = re.match(r"/memories/(\w+)", request.field("next"))
    if shown is None or shown[1] == "new":
        return ""
    try:
        request.engine.get(shown[1])
    except MemoryNotFound:
        kept = request.engine.store.get_many(undone.restored)
        return request.here(f"/memories/{min(kept)}" if kept else "/memories")
    return ""


PAGE = Page(
    "changes",
    text("Changes"),
    "/changes",
    show,
    key="c",
    icon="history",
    actions={"/changes/{id}/undo": undo},
)
