"""*Overview*: what is known, what was learnt lately, what waits for the user, and whether everything works."""

from starlette.responses import Response

from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.work.metrics.overview import overview

SWITCHES = ("memory", "auto")


def show(request: WebRequest) -> Response:
    engine = request.engine
    figures = overview(engine.context, all_projects=request.all_projects)
    return request.render("overview.html", figures=figures)


def show_health(request: WebRequest) -> Response:
    """Show whether agents, daemon and store work. It comes after the page itself, because it takes longer."""
    from recollect.interfaces.install.connection import check_all

    checks = sorted(check_all(request.engine), key=lambda check: check.ok)
    return request.render("health.html", checks=checks)


def turn(request: WebRequest) -> Response:
    """Turn memory, or learning from sessions, on or off: in this project, or in all."""
    switch, on = request.field("switch"), request.field("on") == "1"
    if switch not in SWITCHES:
        return request.redirect()
    request.engine.preferences.set_switch(switch, on, everywhere=request.all_projects)
    return request.done(_SWITCHED[switch, on])


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
