"""*Overview*: what is known, what was learnt lately, what waits for the user, and whether everything works."""

from dataclasses import replace

from starlette.responses import Response

import recollect.model as m
from recollect.frozen import frozen
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.interfaces.web.pages.review import WORDINGS
from recollect.interfaces.web.pages.sessions import newest_sessions
from recollect.work.metrics.overview import overview
from recollect.work.metrics.saved import Savings

SWITCHES = ("memory", "auto")


@frozen
class LastSession:
    """What the newest session cost and saved."""

    session: m.Session
    tokens: int  # that the agent was told
    used: int  # memories of those that it used
    savings: Savings


def show(request: WebRequest) -> Response:
    engine = request.engine
    figures = overview(engine.context, all_projects=request.all_projects)
    newest = tuple(memory for memory in figures.newest if memory.id not in request.login.hidden)
    figures = replace(figures, newest=newest)
    last = next(iter(newest_sessions(request, 1)), None)
    questions = {name: wording.name for name, wording in WORDINGS.items()}
    return request.render(
        "overview.html", figures=figures, questions=questions, last=last and _last(request, last)
    )


def _last(request: WebRequest, session: m.Session) -> LastSession:
    engine = request.engines.engine_for(session.project_id)
    records = engine.store.deliveries.of_session(session.user_id, session.id)
    return LastSession(
        session,
        sum(record.tokens for record in records),
        sum(item.used_at is not None for record in records for item in record.items),
        engine.measures.saved(session.id),
    )


def show_health(request: WebRequest) -> Response:
    """Show whether agents, daemon and store work. It comes after the page itself, because it takes longer."""
    checks = sorted(request.engines.health.get(request.engine), key=lambda check: check.ok)
    return request.render("health.html", checks=checks, pages_of=_PAGES)


_PAGES = {
    "conflicts": ("/memories", {"conflict": 1}, text("See them")),
    "stale": ("/review", {"kind": "stale"}, text("Review them")),
    "host": ("/settings", {}, text("Connect agents")),
}  # where a person does here what a hint would have them do at the command line, by the part of the check


def turn(request: WebRequest) -> Response:
    """Turn memory, or learning from sessions, on or off: in this project, or in all."""
    switch, on = request.field("switch"), request.field("on") == "1"
    if switch not in SWITCHES:
        return request.redirect()
    place = text("in all projects") if request.all_projects else text("in this project")
    if answer := request.ask(_QUESTIONS[switch, on] % place):
        return answer
    request.engine.preferences.set_switch(switch, on, everywhere=request.all_projects)
    return request.done(_SWITCHED[switch, on])


_QUESTIONS = {
    ("memory", True): text(
        "Turn memory on %s? Agents are told again what is known, and Recollect records their sessions."
    ),
    ("memory", False): text(
        "Turn memory off %s? Nothing is recorded, learnt or given to agents until you turn it on."
    ),
    ("auto", True): text("Let Recollect learn from sessions %s?"),
    ("auto", False): text("Stop learning from sessions %s? What is known stays, and agents are still told."),
}
_SWITCHED = {
    ("memory", True): text("Memory is on."),
    ("memory", False): text("Memory is off: nothing is recorded, learnt or given to agents."),
    ("auto", True): text("Recollect learns from sessions."),
    ("auto", False): text("Recollect no longer learns from sessions by itself."),
}

PAGE = Page(
    "overview",
    text("Overview"),
    "/",
    show,
    key="o",
    icon="home",
    more={"/health": show_health},
    actions={"/switch": turn},
)
