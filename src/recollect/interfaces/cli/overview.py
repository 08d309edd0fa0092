"""What `recollect` alone shows: where you are, what is known, what waits for you, and what to do next."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered

if TYPE_CHECKING:
    from recollect.work.metrics.overview import Overview

_HELP = "Run `recollect --help` to list the commands."
_MOST_KINDS = 5
# The commands that show what waits for the user.
_REVIEW, _CONFLICTS, _GAPS = "recollect review", "recollect conflicts", "recollect gaps"


@rendered()
def show_overview(cli: CliContext) -> CommandResult:
    """Show where you are, what is known and what waits for you. Creates no store."""
    if not cli.settings.database.exists():
        value = {"memories": 0, "agents": [], "next": "recollect init"}
        return CommandResult(value, _print_welcome)
    from recollect.interfaces.install.installations import installations
    from recollect.interfaces.install.ledger import Ledger
    from recollect.work.metrics.overview import overview

    figures = overview(cli.engine.context)
    agents = [found.host.title for found in installations(Ledger(cli.settings.home).records())]
    following = _next_step(figures, agents)
    project = cli.engine.project

    def text() -> None:
        where = (
            f"Project {output.one_line(project.name)} ({output.one_line(project.why)})."
            if project
            else "No project."
        )
        click.echo(where if figures.memory_on else f"{where} Memory is off here: `recollect on` turns it on.")
        rows = [
            ("known", _known(figures)),
            ("new", _new(figures)),
            ("waiting", _waiting(figures)),
            ("agents", ", ".join(dict.fromkeys(agents)) or "none connected"),
            ("saved", _saved(figures)),
        ]
        output.print_table([row for row in rows if row[1]], ["bright_black"])
        click.echo(f"Next: {following}")
        output.print_notes([_HELP])

    value = {
        "project": project.name if project else None,
        "memories": figures.memories,
        "learnt": figures.learnt,
        "reviews": figures.reviews,
        "conflicts": figures.conflicts,
        "stale": figures.stale,
        "gaps": figures.gaps,
        "saved": figures.saved,
        "memory": figures.memory_on,
        "auto": figures.auto_on,
        "agents": agents,
        "next": following,
    }
    return CommandResult(value, text)


def _print_welcome() -> None:
    click.echo("Recollect is long-term memory for coding agents. Nothing is stored yet.")
    rows = [
        (
            "recollect install",
            "connect Claude Code, Codex, Gemini CLI, OpenCode, Cursor, VS Code or Windsurf",
        ),
        ("recollect init", "read this project: its modules, its code and its conventions"),
        ("recollect demo", "see it work on a sample project"),
    ]
    output.print_table(rows, ["cyan"])
    output.print_notes([_HELP])


def _next_step(figures: "Overview", agents: list[str]) -> str:
    """Return the command that helps most now."""
    if not figures.memory_on:
        return "recollect on"
    if not agents:
        return "recollect install   # connect an agent"
    if not figures.memories and not figures.reviews:
        return "recollect init      # read this project's code and conventions"
    if sum(figures.reviews.values()):
        return f"{_REVIEW}    # answer what only you can decide"
    return 'recollect recall "<your task>"   # what an agent would be told'


def _known(figures: "Overview") -> str:
    if not figures.memories:
        return "nothing yet"
    kinds = sorted(
        ((kind, count) for family in figures.families for kind, count in family.kinds),
        key=lambda row: -row[1],
    )
    listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds[:_MOST_KINDS])
    more = ", …" if len(kinds) > _MOST_KINDS else ""
    return f"{output.count(figures.memories, 'memory', 'memories')}: {listed}{more}"


def _new(figures: "Overview") -> str:
    if not figures.learnt:
        return ""
    newest = f", last: {output.one_line(figures.newest[0].summary)}" if figures.newest else ""
    return f"{figures.learnt:,} this week{newest}"


def _waiting(figures: "Overview") -> str:
    waits: Mapping[str, tuple[int, str]] = {
        _REVIEW: (sum(figures.reviews.values()), "question"),
        _CONFLICTS: (max(figures.conflicts - figures.reviews.get("contradiction", 0), 0), "contradiction"),
        _GAPS: (figures.gaps, "unanswered search"),
    }
    parts = [
        f"{output.count(number, noun, 'unanswered searches' if command is _GAPS else None)} (`{command}`)"
        for command, (number, noun) in waits.items()
        if number
    ]
    if figures.stale:
        parts.append(f"{output.count(figures.stale, 'memory', 'memories')} whose code has changed")
    return ", ".join(parts) or "nothing"


def _saved(figures: "Overview") -> str:
    if figures.saved is None:
        return ""
    return f"about {figures.saved:,} tokens in {output.count(figures.sessions_compared, 'session')} (`recollect stats`)"
