"""*Work*: tasks, files that are edited together, failures and what fixed them, and how well tools work."""

from datetime import timedelta

from starlette.responses import Response

import recollect.model as m
from recollect.interfaces.web.charts import bars
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest

SPANS = (7, 30, 90)  # days that can be chosen
TASKS = 30
PAIRS = 15
FIXES = 15


def show(request: WebRequest) -> Response:
    """Show the work in one project."""
    episodes = request.engine.episodes
    days = int(request.get("days") or 30) if request.get("days") in map(str, SPANS) else 30
    status = request.get("status")
    since = request.engine.context.clock() - timedelta(days=days)
    if request.engine.project is None:
        return request.render("work.html", has_project=False)
    used = episodes.tool_days(since)
    return request.render(
        "work.html",
        has_project=True,
        tasks=episodes.tasks(m.TaskStatus(status) if status in set(m.TaskStatus) else None, TASKS),
        open_tasks=episodes.what_was_i_doing(),
        statuses=tuple(m.TaskStatus),
        chosen=status,
        pairs=episodes.coedits(limit=PAIRS),
        fixes=episodes.known_fixes(FIXES),
        tools=episodes.tools(since),
        used=used,
        chart=bars([(day.day, day.successes, day.failures) for day in used]),
        days=days,
        spans=SPANS,
    )


PAGE = Page("work", text("Work"), "/work", show, key="w", icon="work")
