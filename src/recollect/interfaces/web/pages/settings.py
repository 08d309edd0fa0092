"""*Settings*: every setting with its meaning and source, what a project sets, agents, export, backup and encryption.

What is changed here is no change to memories and cannot be undone with a click, so the page asks first.
"""

import io
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from recollect.config import expand_home, explain_settings
from recollect.errors import Refused
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.llm import spending
from recollect.memory.briefing.budget import CEILING
from recollect.store.keys import read_note
from recollect.work.hosts.registry import HOSTS, host_named
from recollect.work.sessions.promote import PRESETS

if TYPE_CHECKING:
    from recollect.interfaces.install.plan import Plan

SCOPES = ("user", "project")


def show(request: WebRequest) -> Response:
    """Show all settings of this machine and of the project."""
    from recollect.interfaces.install.installations import installations
    from recollect.interfaces.install.ledger import Ledger

    engine = request.engine
    store, settings = engine.store, engine.settings
    note = read_note(settings.database)
    now = engine.context.clock()
    age = store.backup_age(now)
    return request.render(
        "settings.html",
        settings=explain_settings(settings),
        budget=engine.preferences.budget(),
        usual_budget=CEILING,
        preset=engine.sessions.preset(),
        presets=PRESETS,
        aliases=engine.preferences.aliases(),
        seasons=engine.preferences.seasons(),
        memory_on=engine.context.is_on("memory"),
        auto_on=engine.context.is_on("auto"),
        connected=installations(Ledger(settings.home).records()),
        hosts=HOSTS.values(),
        info=store.info(),
        key_at=note.where if note else "",
        backed_up_at=None if age is None else now - timedelta(hours=age),
        costs=spending.costs(settings, store, now),
    )


# what a project sets


def set_budget(request: WebRequest) -> Response:
    """Set the most tokens that a briefing may take; an empty field restores the default."""
    wanted = request.field("tokens").strip()
    if wanted and not wanted.isdigit():
        raise Refused(
            f"{wanted[:40]!r} is not a number of tokens.", "Give a whole number, or leave it empty."
        )
    question = (
        text("Give agents at most %s tokens at once?") % wanted
        if wanted
        else text("Use the default budget of %s tokens?") % CEILING
    )
    if answer := request.ask(question):
        return answer
    request.engine.preferences.set_budget(int(wanted) if wanted else None)
    return request.done(text("The budget is %s tokens.") % request.engine.preferences.budget())


def set_preset(request: WebRequest) -> Response:
    """Set how readily findings become memories."""
    name = request.field("preset")
    if answer := request.ask(text("Promote findings as the preset %s does?") % name):
        return answer
    request.engine.sessions.set_preset(name, everywhere=request.all_projects)
    return request.done(text("The preset is %s.") % name)


def add_alias(request: WebRequest) -> Response:
    """Make words find each other in searches."""
    name, words = request.field("name").strip(), _words(request.field("words"))
    if answer := request.ask(text("Let a search for %s also find %s?") % (name, ", ".join(words))):
        return answer
    alias = request.engine.preferences.add_alias(name, words)
    return request.done(text("A search for %s now also finds %s.") % (alias.name, ", ".join(alias.words)))


def remove_alias(request: WebRequest) -> Response:
    name = request.field("name")
    if answer := request.ask(text("Remove the alias %s?") % name):
        return answer
    removed = request.engine.preferences.remove_alias(name)
    return request.done(text("A search for %s no longer finds %s.") % (name, ", ".join(removed)))


def start_season(request: WebRequest) -> Response:
    name = request.field("name").strip()
    if answer := request.ask(text("Start the season %s? Its memories rank higher until it ends.") % name):
        return answer
    request.engine.preferences.start_season(name)
    return request.done(text("The season %s has begun.") % name)


def end_season(request: WebRequest) -> Response:
    name = request.field("name")
    if answer := request.ask(text("End the season %s?") % name):
        return answer
    request.engine.preferences.end_season(name)
    return request.done(text("The season %s is over.") % name)


def _words(field: str) -> list[str]:
    return [part.strip() for part in field.split(",") if part.strip()]


# agents


def show_host(request: WebRequest) -> Response:
    """Show what connecting or disconnecting an agent changes, file by file, before anything is changed."""
    plan = _plan(request, dict(request.query))
    return request.render(
        "host.html",
        plan=plan,
        scope=plan.scope,
        does_install=request.get("do") != "uninstall",
        digest=_digest(plan),
    )


def change_host(request: WebRequest) -> Response:
    """Connect or disconnect an agent, if the changes are still those that were shown."""
    from recollect.interfaces.install.ledger import Ledger
    from recollect.interfaces.install.plan import carry_out

    plan = _plan(request, dict(request.form))
    if _digest(plan) != request.field("digest"):
        raise Refused("The files have changed since the page was shown.", "Look at the changes again.")
    carry_out(plan, Ledger(request.engine.settings.home))
    verb = text("%s is disconnected.") if request.field("do") == "uninstall" else text("%s is connected.")
    return request.done(" ".join((verb % plan.host.title, *plan.notes)))


def _plan(request: WebRequest, values: Mapping[str, str]) -> "Plan":
    from recollect.interfaces.install.ledger import Ledger
    from recollect.interfaces.install.machine import this_machine
    from recollect.interfaces.install.plan import plan_install, plan_uninstall

    host = host_named(values.get("host", ""))
    scope = values.get("scope", "user")
    if scope not in SCOPES:
        raise Refused(f"{scope[:40]!r} is not a scope.", "Use user or project.")
    root = Path(values.get("root", "")) if scope == "project" else expand_home("~")
    known = {Path(project.root) for project in request.engines.projects()}
    if scope == "project" and root not in known:  # no other folder of the machine
        raise Refused("This folder is not a known project.", "Choose a project first.")
    planner = plan_uninstall if values.get("do") == "uninstall" else plan_install
    return planner(host, scope, root, this_machine(), Ledger(request.engine.settings.home))


def _digest(plan: "Plan") -> str:
    return sha256("\0".join(f"{change.path}\n{change.diff}" for change in plan.changes).encode()).hexdigest()


# a team


def show_migration(request: WebRequest) -> Response:
    """Show what would go to a team, by project and kind, and who would see it. Nothing is sent."""
    from recollect.remote.migration import MARK, Migration

    engine = request.engine
    plans = Migration(engine.store, engine.context.user_id, engine.settings.home / "teams").preview()
    moved = engine.store.setting(None, MARK)
    return request.render("migration.html", plans=plans, moved_to=moved["to"] if moved else "")


# the store


def export_json(request: WebRequest) -> Response:
    """Return all memories, or those of the project, as a file that `recollect import` reads."""
    out = io.StringIO()
    request.engine.export(out, this_project=not request.all_projects)
    return _file(out.getvalue(), "recollect.json", "application/json")


def export_markdown(request: WebRequest) -> Response:
    """Return the active memories as Markdown."""
    from recollect.memory.transfer.markdown import pages

    view = request.engine.context.full_view(this_project=not request.all_projects)
    return _file(
        "\n".join(page.text for page in pages(request.engine.store, view)), "recollect.md", "text/markdown"
    )


def _file(content: str, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=f"{media_type}; charset=utf-8", headers=headers)


def back_up(request: WebRequest) -> Response:
    return request.done(text("Backed up to %s.") % request.engine.backup())


PAGE = Page(
    "settings",
    text("Settings"),
    "/settings",
    show,
    key="t",
    icon="settings",
    more={
        "/settings/host": show_host,
        "/settings/migration": show_migration,
        "/settings/export.json": export_json,
        "/settings/export.md": export_markdown,
    },
    actions={
        "/settings/budget": set_budget,
        "/settings/preset": set_preset,
        "/settings/alias": add_alias,
        "/settings/alias/remove": remove_alias,
        "/settings/season": start_season,
        "/settings/season/end": end_season,
        "/settings/host/change": change_host,
        "/settings/backup": back_up,
    },
)
