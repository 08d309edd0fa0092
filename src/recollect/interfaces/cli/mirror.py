"""Memories as files to be edited by hand."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, shared_options

if TYPE_CHECKING:
    from recollect.memory.transfer.mirror import MirrorReport


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--plaintext", is_flag=True, help="Although the store is encrypted: the files are not.")
@shared_options
@click.pass_obj
def mirror(cli: CliContext, folder: Path, plaintext: bool) -> None:
    """Keep a JSON file for each project in FOLDER, and take in hand edits.

    Change an entry, take it out to forget it, add one without an id to remember something; the next run brings it in,
    as one change that `recollect undo` takes back, and writes what has changed in the store.

    Exit code 1 if a file could not be read: it is left as it is, and the others are brought up to date.
    """
    with open_engine(cli) as engine:
        report = engine.care.mirror(folder, plaintext=plaintext)
    if cli.json:
        output.print_json(
            {
                **{name: getattr(report, name) for name in ("written", "changed", "remembered", "forgotten")},
                "both": [{"id": name, "what": what} for name, what in report.both],
                "refused": [{"file": name, "why": why} for name, why in report.refused],
                "redacted": report.redacted,
                "change": report.change,
            }
        )
    else:
        _say(report, folder)
    if report.refused:
        click.get_current_context().exit(1)


def _say(report: "MirrorReport", folder: Path) -> None:
    came = {
        "changed": report.changed,
        "remembered": report.remembered,
        "forgotten": report.forgotten,
    }
    if told := [f"{len(ids):,} {what}" for what, ids in came.items() if ids]:
        click.echo(f"Taken in: {', '.join(told)}.")
    if report.redacted:
        click.echo(f"{output.count(report.redacted, 'secret')} taken out.")
    click.echo(f"Wrote {output.count(len(report.written), 'file')} in {output.printable(str(folder))}")
    for name, what in report.both:
        click.echo(f"Changed here and there: {output.one_line(name)}. {output.one_line(what)}", err=True)
    for _, why in report.refused:
        click.echo(f"Not read: {output.one_line(why)}", err=True)
