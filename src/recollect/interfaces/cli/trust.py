"""The `trust` command: let agents read what a repository says of itself, without a review of each statement."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import refuse_both

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.maintenance.review import OpenReview
    from recollect.memory.preferences import TrustedRepository


@click.command()
@click.option("--off", is_flag=True, help="Stop trusting it: agents see only what you accept.")
@click.option("--list", "listing", is_flag=True, help="List the repositories that you trust.")
@click.option("-y", "--yes", "sure", is_flag=True, help="Do not ask for confirmation.")
@rendered()
def trust(cli: CliContext, off: bool, listing: bool, sure: bool) -> CommandResult:
    """Trust this repository: agents may read its conventions.

    What `recollect init` finds in a repository (AGENTS.md, README, settings, commit messages) is a proposal, and no agent
    sees it until you accept it with `recollect review --kind seed`, or trust the repository. Shows what agents would
    see, and asks first. Trust holds for this copy of the repository.

    \b
    recollect trust
    recollect trust --off
    """
    refuse_both(off=off, list=listing)
    engine = cli.engine
    if listing:
        repositories = engine.preferences.trusted()
        return CommandResult({"trusted": list(repositories)}, lambda: _print_trusted(repositories))
    if off:
        engine.preferences.distrust()
        own = engine.context.is_trusted
        return CommandResult({"trusted": own, "proposals": proposals_json(engine)}, lambda: _print_off(own))
    proposals = engine.questions("seed")
    before = engine.context.is_trusted
    if not before:
        if not sure and not _is_agreed(cli, proposals):
            value = {"trusted": False, "proposals": proposals_json(engine)}
            return CommandResult(
                value, lambda: click.echo("Not trusted. Add `--yes` to trust it without being asked.")
            )
        engine.preferences.trust()

    def text() -> None:
        if sure or before:
            print_proposals(proposals)
        count = output.count(len(proposals), "proposal")
        click.echo(f"{'Already trusted' if before else 'Trusted'}. Agents see {count} of this repository.")

    return CommandResult({"trusted": True, "proposals": proposals_json(engine)}, text)


def proposals_json(engine: "Engine") -> list[dict[str, Any]]:
    """Return what agents read if the repository is trusted: each statement with its source."""
    return [
        {
            "id": memory.id,
            "kind": memory.kind,
            "content": memory.content,
            "source": memory.provenance[0].snippet,
        }
        for question in engine.questions("seed")
        for memory in question.memories
    ]


def print_proposals(proposals: "Sequence[OpenReview]", most: int | None = None) -> None:
    """Print a line for each statement, with the file that it comes from."""
    rows = [
        (memory.kind, output.one_line(memory.provenance[0].snippet), output.one_line(memory.content))
        for question in proposals
        for memory in question.memories
    ]
    output.print_table(rows[:most], ["green", "bright_black"])
    if most is not None and len(rows) > most:
        click.echo(f"{len(rows) - most:,} more; run `recollect review --kind seed` to see all.")


def _is_agreed(cli: CliContext, proposals: "Sequence[OpenReview]") -> bool:
    """Show what agents would read, and ask; without a terminal the answer is no."""
    if cli.json:
        return False
    project = cli.engine.project
    if project is None:
        raise Refused("This folder belongs to no project.", "Go into the project's folder.")
    print_proposals(proposals)
    count = output.count(len(proposals), "proposal")
    click.echo(f"Agents would see {count} of {output.one_line(project.name)}, unreviewed.")
    return sys.stdin.isatty() and sys.stdout.isatty() and click.confirm("Trust this repository?")


def _print_trusted(repositories: "Sequence[TrustedRepository]") -> None:
    rows = [
        (output.one_line(each.project), f"{each.since:%Y-%m-%d}", output.one_line(each.place))
        for each in repositories
    ]
    output.print_table(rows, ["cyan", "bright_black"])
    if not rows:
        click.echo("You trust no repository by command.")


def _print_off(own: bool) -> None:
    click.echo(
        "It is still trusted by your settings: trusted_remotes or trusted_authors."
        if own
        else "Not trusted. Agents see only what you accept in `recollect review --kind seed`."
    )
