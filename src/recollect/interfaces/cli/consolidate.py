"""Bringing memories together: consolidate."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, Name, open_engine, shared_options

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.maintenance.consolidate.run import Consolidation

_NICE = 10  # who works in the foreground goes first
_MOST_SHOWN = 20  # lines of a plan for each operation


def _operations() -> Iterable[str]:
    from recollect.memory.maintenance.consolidate.operations import OPERATIONS

    return OPERATIONS


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option(
    "--only",
    multiple=True,
    type=Name("operation", _operations),
    help="Only this: vectors, merge, contradictions, coaccess, links, ties, facts, prune, tags, clusters. Repeat it for more.",
)
@shared_options
@click.pass_obj
def consolidate(cli: CliContext, dry_run: bool, only: tuple[str, ...]) -> None:
    """Merge what says the same, find contradictions, mend links and tags.

    In all projects. What is not certain waits for you in `recollect review`. It gives way to other work, may be stopped at
    any time and then goes on where it stopped; `recollect undo` takes a whole run back.
    """
    with open_engine(cli) as engine:
        _give_way()
        try:
            done = _consolidate(engine, only, dry_run)
        except KeyboardInterrupt:
            click.echo("Stopped. The next `recollect consolidate` goes on from here.", err=True)
            raise
    if cli.json:
        output.print_json(done)
        return
    _say(done, dry_run)


def _give_way() -> None:
    if hasattr(os, "nice"):  # Windows has no such thing
        os.nice(max(0, _NICE - os.nice(0)))


def _consolidate(engine: "Engine", only: tuple[str, ...], dry_run: bool) -> "Consolidation":
    from recollect.memory.maintenance.consolidate.run import chosen

    with output.progress("Consolidating", 100 * len(chosen(only))) as advance:
        return engine.care.consolidate(only, dry_run=dry_run, progress=advance)


def _say(done: "Consolidation", dry_run: bool) -> None:
    by_operation: dict[str, list[tuple[str, str, str, str]]] = {}
    for each in done.plan:
        ids = " ".join(name[-output.SHORT_ID :] for name in each.memories)
        by_operation.setdefault(each.operation, []).append(
            (each.operation, each.counts_as, ids, output.one_line(each.why))
        )
    shown = [row for rows in by_operation.values() for row in rows[:_MOST_SHOWN]]
    for line in output.table(shown, ("green", "", "cyan")):
        click.echo(line)
    hidden = len(done.plan) - len(shown)
    if hidden:
        click.echo(f"and {hidden:,} more; --json has them all")
    if dry_run:
        click.echo(f"It would be: {done.summary[0].lower()}{done.summary[1:]}")
        return
    click.echo(f"{'Finished what was cut short: ' if done.resumed else ''}{done.summary}")
    if done.change is not None:
        click.echo(f"`recollect undo {done.change[-output.SHORT_ID :]}` takes it back.")
    if any(done.counts.get(name) for name in ("proposed", "contradictions", "stale")):
        click.echo("`recollect review` shows what waits for you.")
