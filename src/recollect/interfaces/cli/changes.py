"""What was done to memories, and how to take it back: changes, undo."""

import click

import recollect.model as m
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, limit_option, open_engine, shared_options


@click.command()
@limit_option(20)
@shared_options
@click.pass_obj
def changes(cli: CliContext, limit: int) -> None:
    """List what was done to memories, each with the id that undoes it.

    Consolidations, compactions, merges, imports, what was forgotten or found wrong: each can be taken back for 30 days.
    """
    with open_engine(cli) as engine:
        found = engine.care.changes(limit)
    if cli.json:
        output.print_json(found)
        return
    if not found:
        click.echo("Nothing has been changed here yet that could be undone.")
    names = output.short_ids([change.id for change in found])
    rows = [
        (name, output.moment(change.at), change.action, output.one_line(change.summary) + _status(change))
        for name, change in zip(names, found, strict=True)
    ]
    for line in output.table(rows, ("yellow", "", "cyan")):
        click.echo(line)


def _status(change: m.Change) -> str:
    if change.undone_at is not None:
        return " (undone)"
    return "" if change.finished_at else " (cut short)"


@click.command()
@click.argument("change", metavar="ID")
@shared_options
@click.pass_obj
def undo(cli: CliContext, change: str) -> None:
    """Take back a change as a whole: ID as `recollect changes` lists it.

    Memories that have changed since are left alone, and named.
    """
    with open_engine(cli) as engine:
        undone = engine.care.undo(change)
    if cli.json:
        output.print_json(undone)
        return
    click.echo(f"Undone: {output.count(len(undone.restored), 'memory is', 'memories are')} as before.")
    if undone.left_alone:
        names = ", ".join(output.short_ids(undone.left_alone[:10]))
        more = len(undone.left_alone) - 10
        click.echo(f"Changed since, and left alone: {names}{f' and {more} more' if more > 0 else ''}.")
