"""One memory: its text and history, where it came from and was shown, and everything that can be done to it."""

from datetime import datetime, timedelta

from starlette.responses import Response

import recollect.model as m
from recollect.errors import ChangedMeanwhile
from recollect.frozen import frozen
from recollect.interfaces.web.history import in_words
from recollect.interfaces.web.language import text, texts
from recollect.interfaces.web.page import Page, WebRequest
from recollect.interfaces.web.pages.memories import KNOWN_BY, cards, lines, words
from recollect.interfaces.web.pages.sessions import MOMENTS, REASONS
from recollect.kinds import KINDS
from recollect.memory.decay import confidence_now, half_life
from recollect.memory.memories import edition

HISTORY = 50  # lines of the audit log
CHANGES = 200  # edits that are looked through for earlier texts
SIMILAR = 10
CHART_POINTS = 60
_LEAST_CHART_DAYS = 30


@frozen
class ConfidenceChart:
    """How the confidence falls from the day it was first known, as points of a picture of 300 × 80."""

    points: str
    now_x: float
    days: int  # that the chart spans
    now: float
    half_life: float | None  # days; None = it does not fade


@frozen
class LinkedMemory:
    link: m.Link
    other: m.Memory
    is_outgoing: bool


@frozen
class Origin:
    """A step of where a memory comes from, in words."""

    step: m.Provenance
    how: str
    trust: float
    reason: str


@frozen
class EarlierText:
    """A text that the memory had until a change."""

    change: m.Change
    text: str


def show(request: WebRequest) -> Response:
    return _render(request, request.engine.get(request.params["id"]))


def _render(request: WebRequest, memory: m.Memory, status: int = 200, **more: object) -> Response:
    engine = request.engine_of(memory)
    (card,) = cards(request, (memory,))
    deliveries = engine.memory.shown(memory.id)
    links = _links(request, memory)
    replaced = [
        each.other for each in links if each.is_outgoing and each.link.relation == m.Relation.SUPERSEDES
    ]
    return request.render(
        "memory.html",
        status,
        memory=memory,
        card=card,
        edition=edition(memory),
        chart=chart_of(memory, engine.context.clock()),
        links=links,
        replaced=next(iter(replaced), None),
        deliveries=[
            (record, next(item for item in record.items if item.key == memory.id)) for record in deliveries
        ],
        messages=engine.sessions.source(memory),
        origins=[_origin(step) for step in memory.provenance],
        history=[in_words(line) for line in engine.audit(HISTORY, memory.id)],
        earlier=_earlier_texts(request, memory),
        titles={each.other.id: each.other.summary for each in links},
        kinds=tuple(KINDS),
        visibilities=tuple(m.Visibility),
        relations=tuple(m.Relation),
        moments=MOMENTS,
        reasons_told=REASONS,
        **{"yours": None, **more},
    )


def _origin(step: m.Provenance) -> Origin:
    """Return a step with what its reason adds: the reason begins with the source and how much it is trusted."""
    source = f"{step.source.replace('_', ' ')}: {m.TRUST[step.source]}"
    return Origin(
        step, KNOWN_BY[step.source], m.TRUST[step.source], step.reason.removeprefix(source).strip("; ")
    )


def _earlier_texts(request: WebRequest, memory: m.Memory) -> list[EarlierText]:
    """Return the texts that edits replaced, newest first, for as long as the edits can be undone."""
    engine = request.engine_of(memory)
    edits = [
        change
        for change in engine.store.changes.newest(
            engine.context.user_id, None, CHANGES, all_projects=True, actions=("edit", "review")
        )
        if memory.id in change.summary
    ]
    texts = ((change, engine.store.changes.texts_before(change.id).get(memory.id)) for change in edits)
    return [EarlierText(change, text) for change, text in texts if text]


def _links(request: WebRequest, memory: m.Memory) -> list[LinkedMemory]:
    links = request.engine.links(memory.id)
    names = [link.target if link.source == memory.id else link.source for link in links]
    others = request.engine.store.get_many(names)
    return [
        LinkedMemory(link, others[name], link.source == memory.id)
        for link, name in zip(links, names, strict=True)
        if name in others
    ]


def chart_of(memory: m.Memory, now: datetime) -> ConfidenceChart:
    """Return the chart, from the first day to as far ahead as it has been known, thirty days at least."""
    age = max(now - memory.created_at, timedelta())
    span = max(2 * age, timedelta(days=_LEAST_CHART_DAYS))
    values = [
        confidence_now(memory, memory.created_at + span * step / CHART_POINTS)
        for step in range(CHART_POINTS + 1)
    ]
    points = " ".join(
        f"{300 * step / CHART_POINTS:.1f},{78 - 74 * value:.1f}" for step, value in enumerate(values)
    )
    return ConfidenceChart(
        points, 300 * (age / span), span.days, confidence_now(memory, now), half_life(memory)
    )


# what can be done to it


def _found(request: WebRequest) -> "tuple[m.Memory, m.Change]":
    memory = request.engine.get(request.params["id"])
    return memory, request.engine_of(memory).context.new_change("edit")


def edit(request: WebRequest) -> Response:
    """Save what the person wrote, unless somebody else changed the memory meanwhile: then both texts are shown."""
    memory, change = _found(request)
    fields = {
        "content": request.field("content"),
        "kind": request.field("kind"),
        "tags": words(request.field("tags")),
        "file_paths": lines(request.field("files")),
        "triggers": lines(request.field("triggers")),
        "when_needed": lines(request.field("when_needed")),
        "steps": lines(request.field("steps")),
        "season": request.field("season").strip(),
        "visibility": request.field("visibility"),
    }
    before = {
        "content": memory.content,
        "kind": memory.kind,
        "tags": memory.tags,
        "file_paths": memory.file_paths,
        "triggers": memory.triggers,
        "when_needed": memory.when_needed,
        "steps": memory.procedure.steps if memory.procedure else (),
        "season": memory.season or "",
        "visibility": memory.visibility,
    }
    changed = {name: value for name, value in fields.items() if value != before[name]}
    try:
        if edition(memory) != request.field("edition"):
            raise ChangedMeanwhile(memory.id)
        if not changed:
            return request.done(text("Nothing was changed."))
        _, receipt = request.engine_of(memory).memory.edit(
            memory.id, expected=request.field("edition"), change=change, **changed
        )
    except ChangedMeanwhile:
        return _render(request, request.engine.get(memory.id), 409, yours=fields)
    return request.done(" ".join((text("Saved."), *receipt.notes)), change.id)


def pin(request: WebRequest) -> Response:
    memory, change = _found(request)
    on = request.field("on") == "1"
    request.engine_of(memory).memory.pin(memory.id, on, change=change)
    return request.done(text("Pinned: agents are always told.") if on else text("Unpinned."), change.id)


def feedback(request: WebRequest) -> Response:
    memory, change = _found(request)
    helpful = request.field("helpful") == "1"
    after = request.engine_of(memory).memory.feedback(memory.id, helpful, change=change)
    if helpful:
        return request.done(
            text("Noted that it helped: confidence %.0f %%.") % (100 * after.confidence), change.id
        )
    return request.done(
        text("Noted that it did not help: confidence %.0f %%.") % (100 * after.confidence), change.id
    )


def wrong(request: WebRequest) -> Response:
    memory, _ = _found(request)
    result = request.engine_of(memory).wrong(
        memory.id,
        because=request.field("because").strip(),
        instead=request.field("instead").strip(),
        restore=request.field("restore") == "1",
    )
    message = (
        text("Corrected: agents are told this from now on, and the old text no longer.")
        if result.correction
        else text("Marked as wrong: agents are no longer told.")
    )
    others = len(set(result.correction.supersedes) - {memory.id}) if result.correction else 0
    if others:
        more = texts("It replaces %d other memory too.", "It replaces %d other memories too.", others)
        message += " " + more % others
    if result.review:
        message += " " + text("What is based on it waits in the review.")
    target = request.here(f"/memories/{result.correction.id}") if result.correction else ""
    return request.done(message, result.change, target)


def forget(request: WebRequest) -> Response:
    memory, change = _found(request)
    request.engine_of(memory).memory.forget(memory.id, change=change)
    return request.done(text("Forgotten. You can restore it for 30 days."), change.id)


def restore(request: WebRequest) -> Response:
    memory, change = _found(request)
    request.engine_of(memory).memory.restore(memory.id, change=change)
    return request.done(text("Restored."), change.id)


def tag(request: WebRequest) -> Response:
    memory, change = _found(request)
    request.engine_of(memory).memory.tag(
        memory.id, add=words(request.field("add")), remove=request.fields("remove"), change=change
    )
    return request.done(text("Changed the tags."), change.id)


def move(request: WebRequest) -> Response:
    """Move it to another scope, another branch, or both."""
    memory, change = _found(request)
    changes = {"scope": request.field("scope") or memory.scope, "branch": request.field("branch").strip()}
    engine = request.engine_of(memory) if memory.project_id else request.engine
    engine.memory.edit(memory.id, change=change, **changes)
    return request.done(text("Moved."), change.id)


def link(request: WebRequest) -> Response:
    memory, change = _found(request)
    request.engine_of(memory).memory.link(
        memory.id, request.field("target").strip(), request.field("relation"), change=change
    )
    return request.done(text("Linked."), change.id)


def unlink(request: WebRequest) -> Response:
    memory, change = _found(request)
    source, target = request.field("source"), request.field("target")
    request.engine_of(memory).memory.unlink(source, target, request.field("relation"), change=change)
    return request.done(text("Removed the link."), change.id)


def merge(request: WebRequest) -> Response:
    memory, change = _found(request)
    kept = request.engine_of(memory).memory.merge(memory.id, request.field("other").strip(), change=change)
    return request.done(text("Merged."), change.id, request.here(f"/memories/{kept.id}"))


def resolve(request: WebRequest) -> Response:
    """Settle a contradiction: one of the two, or both are right."""
    memory, change = _found(request)
    request.engine_of(memory).memory.resolve(
        memory.id, request.field("other"), request.field("keep"), change=change
    )
    return request.done(text("Settled."), change.id)


def show_similar(request: WebRequest) -> Response:
    """Show memories to link or merge this one with: those most like it, or those that a search finds."""
    memory = request.engine.get(request.params["id"])
    retrieval, query = request.engine_of(memory).retrieval, request.get("q").strip()
    hits = (
        retrieval.search(query, SIMILAR + 1, noted=False).results
        if query
        else retrieval.similar(memory.id, SIMILAR)
    )
    found = {hit.memory.id: hit for hit in hits if hit.memory.id not in {memory.id, *request.login.hidden}}
    shown = cards(request, tuple(hit.memory for hit in found.values()), found)
    return request.render(
        "similar.html", memory=memory, cards=shown, query=query, relations=tuple(m.Relation)
    )


def show_code(request: WebRequest) -> Response:
    """Show how the code that the memory is about has changed. It comes after the page itself, because it reads git's history."""
    memory = request.engine.get(request.params["id"])
    found = request.engine_of(memory).care.code_differences(memory)
    return request.render("code_difference.html", memory=memory, differences=found)


PAGE = Page(
    "memory",
    text("Memory"),
    "/memories/{id}",
    show,
    more={"/memories/{id}/similar": show_similar, "/memories/{id}/code": show_code},
    actions={
        f"/memories/{{id}}/{name}": act
        for name, act in {
            "edit": edit,
            "pin": pin,
            "feedback": feedback,
            "wrong": wrong,
            "forget": forget,
            "restore": restore,
            "tag": tag,
            "move": move,
            "link": link,
            "unlink": unlink,
            "merge": merge,
            "resolve": resolve,
        }.items()
    },
)
