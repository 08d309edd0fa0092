"""Learning from transcripts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, parse_time, shared_options

if TYPE_CHECKING:
    from recollect.work.sessions.transcript import Learning


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--since", metavar="TIME", help="The hosts' own session files since then: 30d, 2026-05-01.")
@shared_options
@click.pass_obj
def extract(cli: CliContext, files: tuple[Path, ...], since: str | None) -> None:
    """Learn from the transcripts that agents leave behind.

    \b
    recollect extract ~/.claude/projects/-home-me-shop/*.jsonl
    recollect extract --since 30d

    With --since, only sessions that were held in this project are learnt from. Reading a file twice does no harm.
    """
    if bool(files) == (since is not None):
        raise click.UsageError("Give files, or --since.", click.get_current_context())
    with open_engine(cli) as engine:
        paths = list(files) if since is None else engine.session_files(parse_time(since))
        missing = [path for path in files if not path.is_file()]
        if missing:
            raise Refused(f"There is no file {str(missing[0])!r}.", "Check the path.")
        with output.progress("Reading", sum(path.stat().st_size for path in paths)) as advance:
            learning = engine.learn_from(paths, own_only=since is not None, progress=advance)
    if cli.json:
        output.print_json(_as_json(learning))
        return
    _say(learning, len(paths))


def _as_json(learning: "Learning") -> dict[str, object]:
    report = learning.report
    return {
        "files": learning.files,
        "sessions": learning.sessions,
        "findings": learning.findings,
        "promoted": learning.promoted,
        "elsewhere": learning.elsewhere,
        "refused": learning.refused,
        "events": report.events,
        "skipped": report.skipped,
        "problems": [str(problem) for problem in report.problems],
    }


def _say(learning: "Learning", asked: int) -> None:
    if not asked:
        click.echo("No host has left session files since then.")
        return
    click.echo(
        f"{output.count(learning.files, 'file')}, {output.count(len(learning.sessions), 'session')},"
        f" {output.count(learning.findings, 'finding')};"
        f" {output.count(len(learning.promoted), 'memory', 'memories')} made of them."
    )
    if learning.elsewhere:
        click.echo(f"{output.count(learning.elsewhere, 'session')} of other projects passed over.")
    for line in learning.refused:
        click.echo(f"Not read: {output.one_line(line)}", err=True)
    if learning.report.skipped:
        click.echo(f"{output.count(learning.report.skipped, 'line')} could not be read:", err=True)
    for problem in learning.report.problems:
        click.echo(f"  {output.one_line(str(problem))}", err=True)
    if learning.promoted:
        click.echo(f"Next: recollect show {learning.promoted[0][-output.SHORT_ID :]}")
