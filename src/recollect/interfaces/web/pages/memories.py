"""*Memories*: the list with its search and filters, new memories, and actions on many at once."""

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from starlette.responses import Response

import recollect.model as m
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.interfaces.web.language import text, texts
from recollect.interfaces.web.page import Page, WebRequest
from recollect.kinds import KINDS
from recollect.memory.decay import confidence_now
from recollect.memory.memories import Memories
from recollect.memory.write.enrich import normal_tag

PER_PAGE = 50
FIRST_HITS = 20  # of a search; a page with more takes longer than the search itself
MAX_HITS = 50
MAX_SELECTED = 500
_FILTERS = (
    "family",
    "kind",
    "standing",
    "state",
    "branch",
    "tag",
    "author",
    "file",
    "stale",
    "conflict",
    "hidden",
)
# What the parts of a score mean, in the words of a person who searches.
PARTS = {
    "words": text("it has the words of your search, rare ones above all"),
    "meaning": text("it says something alike in other words"),
    "when": text("it is needed in situations like the one you describe"),
    "everyday": text("it has the technical name for something you wrote in everyday words"),
    "activity": text("it is about the work that you describe, such as releasing or testing"),
    "graph": text("it is linked to something that was found"),
    "file": text("it is about a file that was edited in this project"),
    "season": text("its season is active"),
    "kind": text("its kind counts more or less than a fact"),
    "confidence": text("how sure we are, which falls with age and grows with use"),
    "stale": text("its code has changed since"),
}
FAMILIES = tuple(dict.fromkeys(kind.family for kind in KINDS.values()))


@frozen
class ShownMemory:
    """A memory as a card shows it."""

    memory: m.Memory
    confidence: float  # today
    stale: m.Stale | None = None  # None = it agrees with the code, or names none
    in_conflict: bool = False
    hit: m.Hit | None = None  # None = it was listed, not found by a search
    author: str = ""  # the name of somebody else whose memory it is

    @property
    def known_by(self) -> str:
        """How we know it, and from whom."""
        if self.author:
            return _KNOWN_FROM.get(self.memory.source, text("from %s")) % self.author
        return KNOWN_BY[self.memory.source]


KNOWN_BY = {
    m.Source.USER_CORRECTED: text("corrected by you"),
    m.Source.USER_STATED: text("stated by you"),
    m.Source.OBSERVED: text("observed"),
    m.Source.EXTRACTED: text("learnt from a session"),
    m.Source.SEEDED: text("found in the project"),
    m.Source.INFERRED: text("inferred"),
}
_KNOWN_FROM = {
    m.Source.USER_CORRECTED: text("corrected by %s"),
    m.Source.USER_STATED: text("stated by %s"),
}


def show(request: WebRequest) -> Response:
    """Show the memories that pass the filters of the address, or those found by its search."""
    engine, query = request.engine, request.get("q").strip()
    view, which = _view(request), _filter(request)
    order = _order(request.get("sort"))
    number = max(int(found[0]), 1) if (found := re.fullmatch("[0-9]{1,6}", request.get("page"))) else 1
    notes: tuple[str, ...] = ()
    hits: dict[str, m.Hit] = {}
    has_more = False
    if query:
        limit = MAX_HITS if request.get("more") == "1" else FIRST_HITS
        answer = engine.retrieval.search(query, limit, noted=False, view=view, which=which)
        hits = {hit.memory.id: hit for hit in answer.results}
        memories: tuple[m.Memory, ...] = tuple(hit.memory for hit in answer.results)
        total, notes = len(memories), answer.notes
        has_more = total == limit < MAX_HITS
    else:
        memories, total = engine.memory.page(view, which, order, PER_PAGE, (number - 1) * PER_PAGE)
    chosen = {name: request.get(name) for name in _FILTERS if request.get(name)}
    opened = bool(chosen.keys() - {"family", "stale", "conflict", "hidden"}) or request.get("filters") == "1"
    return request.render(
        "memories.html",
        cards=cards(request, memories, hits),
        total=total,
        query=query,
        notes=notes,
        has_more=has_more,
        number=number,
        last=max((total + PER_PAGE - 1) // PER_PAGE, 1),
        order=order,
        orders=tuple(m.MemoryOrder),
        families=FAMILIES,
        kinds=tuple(KINDS),
        filters={name: request.get(name) for name in _FILTERS},
        chosen=chosen,
        choices=_choices(request, replace(view, kinds=None)) if opened else None,
        actions=_ACTIONS,
        parts=PARTS,
    )


def _choices(request: WebRequest, view: m.View) -> dict[str, list[str]]:
    """Return what the menus offer. It reads all memories of the view, so a page does it only if the menus are open."""
    store = request.engine.store
    return {
        "standing": [str(standing) for standing in m.Standing],
        "state": [*(str(state) for state in m.State), "all"],
        "branch": [name for name in store.counts(view, "branch") if name],
        "author": list(store.counts(view, "created_by")),
    }


def cards(
    request: WebRequest, memories: "tuple[m.Memory, ...]", hits: dict[str, m.Hit] | None = None
) -> list[ShownMemory]:
    """Return what cards show of the memories, in their order."""
    engine = request.engine
    now, found = engine.context.clock(), hits or {}
    view = engine.context.full_view()
    links = engine.store.conflicts(view, [memory.id for memory in memories]) if memories else []
    ends = {name for link in links for name in (link.source, link.target)}
    stale = _stale(request, {memory.project_id for memory in memories})
    others = {name: person for name, person in request.login.names.items() if name != engine.context.user_id}
    return [
        ShownMemory(
            memory,
            confidence_now(memory, now),
            stale.get(memory.id),
            memory.id in ends,
            found.get(memory.id),
            others.get(memory.user_id, ""),
        )
        for memory in memories
    ]


def _stale(request: WebRequest, projects: "set[str | None]") -> dict[str, m.Stale]:
    return {
        name: why
        for project in projects
        for name, why in request.engines.engine_for(project).care.stale().items()
    }


def _view(request: WebRequest) -> m.View:
    """Return the view of the address: all branches and sessions of the project, active memories unless it says so."""
    view = request.engine.context.full_view(this_project=not request.all_projects)
    state, kind, family = request.get("state"), request.get("kind"), request.get("family")
    if state != "all":
        chosen = m.State(state) if state in list(m.State) else m.State.ACTIVE
        view = replace(view, states=frozenset({chosen}))
    if kind in KINDS:
        view = replace(view, kinds=frozenset({kind}))
    elif family in FAMILIES:
        view = replace(view, kinds=frozenset(name for name, found in KINDS.items() if found.family == family))
    return view


def _filter(request: WebRequest) -> m.MemoryFilter:
    standing, tag = request.get("standing"), request.get("tag")
    ids = None
    if request.get("stale"):
        projects: set[str | None] = {request.engine.context.project_id}
        if request.all_projects:
            projects |= {project.id for project in request.engines.projects()}
        ids = frozenset(_stale(request, projects))
    hidden = request.login.hidden
    if only_hidden := bool(request.get("hidden")):
        ids = hidden if ids is None else ids & hidden
    return m.MemoryFilter(
        but=frozenset() if only_hidden else hidden,
        tag=normal_tag(tag) if tag else None,
        file=request.get("file") or None,
        standing=m.Standing(standing) if standing in list(m.Standing) else None,
        author=request.get("author") or None,
        branch=request.get("branch") or None,
        ids=ids,
        in_conflict=bool(request.get("conflict")),
    )


def _order(name: str) -> m.MemoryOrder:
    return m.MemoryOrder(name) if name in list(m.MemoryOrder) else m.MemoryOrder.NEWEST


# a new memory


def show_new(request: WebRequest) -> Response:
    return request.render(
        "new_memory.html", kinds=tuple(KINDS), question=request.get("question"), gap=request.get("gap")
    )


def remember(request: WebRequest) -> Response:
    """Store a new memory, as the user's word."""
    engine = request.engine
    change = engine.context.new_change("remember")
    receipt = engine.memory.remember(
        request.field("content"),
        change=change,
        kind=request.field("kind") or None,
        scope=request.field("scope") or None,
        tags=words(request.field("tags")),
        file_paths=lines(request.field("files")),
        triggers=lines(request.field("triggers")),
        when_needed=lines(request.field("when_needed")),
        steps=lines(request.field("steps")),
    )
    if gap := request.field("gap"):
        engine.care.close_gap(gap, change)
    message = " ".join((receipt.message, *receipt.notes))
    if receipt.redactions:
        message += " " + text("Something that looks like a secret was removed.")
    return request.done(message, change.id, request.here(f"/memories/{receipt.id}"))


# many at once


def _tag(memory: Memories, name: str, request: WebRequest, change: m.Change) -> object:
    tags = words(request.field("value"))
    if not tags:
        raise Refused(text("No tag was given."), text("Write one or more, with commas between them."))
    return memory.tag(name, add=tags, change=change)


def _move(memory: Memories, name: str, request: WebRequest, change: m.Change) -> object:
    return memory.edit(
        name, scope="global" if request.field("value") == "global" else "project", change=change
    )


@frozen
class BulkAction:
    """What can be done to many memories at once."""

    title: str
    run: Callable[[Memories, str, WebRequest, m.Change], object]
    label: str = ""  # of the value that it takes; empty = none
    choices: Mapping[str, str] = field(
        default_factory=dict
    )  # the values to choose from; empty = it is written


_ACTIONS = {
    "pin": BulkAction(text("Pin"), lambda memory, name, _, change: memory.pin(name, True, change=change)),
    "unpin": BulkAction(
        text("Unpin"), lambda memory, name, _, change: memory.pin(name, False, change=change)
    ),
    "tag": BulkAction(text("Add tags"), _tag, text("Tags, with commas between them")),
    "helped": BulkAction(
        text("Helped"), lambda memory, name, _, change: memory.feedback(name, True, change=change)
    ),
    "move": BulkAction(
        text("Move"), _move, text("To where"), {"project": text("this project"), "global": text("everywhere")}
    ),
    "forget": BulkAction(text("Forget"), lambda memory, name, _, change: memory.forget(name, change=change)),
    "restore": BulkAction(
        text("Restore"), lambda memory, name, _, change: memory.restore(name, change=change)
    ),
}


def preview(request: WebRequest) -> Response:
    """Show what an action would do to the selected memories. Nothing is changed."""
    action, memories = _selected(request)
    return request.render(
        "bulk.html",
        action=action,
        name=request.field("action"),
        next=request.back,
        cards=cards(request, tuple(memories)),
    )


def apply(request: WebRequest) -> Response:
    """Do it, to all or to none, as one change."""
    action, memories = _selected(request)
    engine, count = request.engine, len(memories)
    summary = texts("%(title)s: %(num)d memory.", "%(title)s: %(num)d memories.", count) % {
        "title": action.title,
        "num": count,
    }
    with engine.memory.together(request.field("action"), summary) as change:
        for memory in memories:
            action.run(request.engine_of(memory).memory, memory.id, request, change)
    return request.done(summary, change.id)


def _selected(request: WebRequest) -> tuple[BulkAction, list[m.Memory]]:
    action, names = _ACTIONS.get(request.field("action")), list(dict.fromkeys(request.fields("id")))
    if action is None:
        raise Refused(text("This is not an action for several memories."), "")
    if not 0 < len(names) <= MAX_SELECTED:
        raise Refused(
            text("Select at least one memory, and at most %d.") % MAX_SELECTED, text("Mark them in the list.")
        )
    return action, [request.engine.get(name) for name in names]


def words(given: str) -> tuple[str, ...]:
    """Return what a person wrote with commas between."""
    return tuple(word for part in given.split(",") if (word := part.strip()))


def lines(given: str) -> tuple[str, ...]:
    return tuple(line for part in given.splitlines() if (line := part.strip()))


PAGE = Page(
    "memories",
    text("Memories"),
    "/memories",
    show,
    key="m",
    icon="memories",
    more={"/memories/new": show_new},
    actions={"/memories/new": remember, "/memories/bulk": preview, "/memories/bulk/apply": apply},
)
