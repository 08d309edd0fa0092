"""History: what was done before, with which files and tools, and what came of it."""

from copy import copy
from pathlib import Path

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import (
    CliContext,
    limit_option,
    open_engine,
    parse_time,
    read_text,
    shared_options,
)
from recollect.interfaces.cli.task import list_tasks, print_tasks
from recollect.model import FileTouch


@click.group(
    no_args_is_help=False,
    subcommand_metavar="file|tools|tasks|like|coedits|what-was-i-doing|last|fixes|sql|export|output ...",
)
@shared_options
def history() -> None:
    """Ask what was done before: files, tools, tasks, and what came of them."""


@history.command()
@click.argument("path")
@limit_option(5)
@shared_options
@click.pass_obj
def file(cli: CliContext, path: str, limit: int) -> None:
    """Have I worked on this file before?"""
    with open_engine(cli) as engine:
        found = engine.episodes.file(path, limit)
    if cli.json:
        output.print_json(found)
        return
    total = found.total
    if total.last_seen is None:
        click.echo(f"Nothing was done with {output.one_line(path)} yet.", err=True)
        return
    reads, edits = output.count(total.reads, "read"), output.count(total.edits, "edit")
    click.echo(f"{output.one_line(found.path)}: {reads}, {edits}, last {output.moment(total.last_seen)}")
    _say_touches(found.touches, named=False)


def _say_touches(touches: tuple[FileTouch, ...], *, named: bool = True) -> None:
    rows = [
        (
            output.moment(each.at),
            str(each.operation),
            *([output.one_line(each.path)] if named else []),
            f"{each.lines[0]}–{each.lines[1]}" if each.lines else "",
            output.one_line(each.changes or each.context or ""),
        )
        for each in touches
    ]
    for line in output.table(rows, ("", "cyan", "", "") if named else ("", "cyan", "")):
        click.echo(line)


@history.command()
@click.option("--since", default="7d", show_default=True, help="A date, a time, or how long ago.")
@shared_options
@click.pass_obj
def tools(cli: CliContext, since: str) -> None:
    """How often was each tool used, and how often did that go well?"""
    begin = parse_time(since)
    with open_engine(cli) as engine:
        found = engine.episodes.tools(begin)
    if cli.json:
        output.print_json({"since": begin, "tools": found})
        return
    if not found:
        click.echo("No tools were used since then.", err=True)
    rows = [
        (
            output.one_line(each.tool),
            f"{each.total}",
            f"{each.rate:.0%}",
            "" if each.average_ms is None else f"{each.average_ms:.0f} ms",
        )
        for each in found
    ]
    for line in output.table(rows, ("cyan", "", "")):
        click.echo(line)


# The same as `task list`, where one looks for it too.
_tasks = copy(list_tasks)
_tasks.name = "tasks"
history.add_command(_tasks)


@history.command()
@click.argument("words", metavar="TASK...", nargs=-1, required=True)
@limit_option(3)
@shared_options
@click.pass_obj
def like(cli: CliContext, words: tuple[str, ...], limit: int) -> None:
    """Find tasks like TASK, with what came of them, their files and tools.

    \b
    recollect history like "the cart rounds wrongly"
    """
    with open_engine(cli) as engine:
        found = engine.episodes.similar_tasks(read_text(words), limit)
    if cli.json:
        output.print_json({"results": found})
        return
    if not found:
        click.echo("No task like that was done here.", err=True)
    for hit in found:
        each = hit.task
        click.echo(
            f"{hit.score:.2f}  {click.style(f'#{each.number}', fg='cyan')}  {output.one_line(each.description)}"
        )
        told = [str(each.status), each.outcome, ", ".join(each.files[:5]), ", ".join(each.tools)]
        click.echo("      " + output.one_line(" · ".join(filter(None, told))))


@history.command()
@click.argument("path", metavar="[FILE]", required=False)
@limit_option(20)
@shared_options
@click.pass_obj
def coedits(cli: CliContext, path: str | None, limit: int) -> None:
    """Which files are edited together (at least 3 times, within 5 minutes)?"""
    with open_engine(cli) as engine:
        found = engine.episodes.coedits(path, limit)
    if cli.json:
        output.print_json({"pairs": found})
        return
    if not found:
        click.echo("No files were edited together often enough.", err=True)
    rows = [
        (f"{each.count}", output.one_line(each.files[0]), output.one_line(each.files[1])) for each in found
    ]
    for line in output.table(rows, ("cyan", "")):
        click.echo(line)


@history.command("what-was-i-doing")
@limit_option(5)
@shared_options
@click.pass_obj
def what_was_i_doing(cli: CliContext, limit: int) -> None:
    """List tasks that are at work or wait, newest first."""
    with open_engine(cli) as engine:
        found = engine.episodes.what_was_i_doing(limit)
    if cli.json:
        output.print_json({"tasks": found})
        return
    if not found:
        click.echo("Nothing is open here.", err=True)
    print_tasks(found)


@history.command()
@click.argument("words", metavar="TOPIC...", nargs=-1, required=True)
@limit_option(10)
@shared_options
@click.pass_obj
def last(cli: CliContext, words: tuple[str, ...], limit: int) -> None:
    """What was last done with TOPIC: tasks that name it, files named so."""
    with open_engine(cli) as engine:
        found = engine.episodes.last(read_text(words), limit)
    if cli.json:
        output.print_json(found)
        return
    if not found.tasks and not found.touches:
        click.echo("Nothing was done with that.", err=True)
    print_tasks(found.tasks)
    _say_touches(found.touches)


@history.command()
@click.argument("words", metavar="[FAILURE]...", nargs=-1, required=True)
@click.option("--command", "line", default="", help="The command that failed so.")
@limit_option(3)
@shared_options
@click.pass_obj
def fixes(cli: CliContext, words: tuple[str, ...], line: str, limit: int) -> None:
    """What mended failures like this one? - reads it from standard input.

    \b
    pytest 2>&1 | recollect history fixes - --command pytest
    """
    with open_engine(cli) as engine:
        engine.episodes.refresh()
        found = engine.episodes.fixes_for(read_text(words), line, limit)
    if cli.json:
        output.print_json({"fixes": [{**m.as_json(each), "text": each.text} for each in found]})
        return
    if not found:
        click.echo("No failure like that was mended here.", err=True)
    for each in found:
        click.echo(f"{each.confidence:.2f}  {output.one_line(each.text)}")


@history.command()
@click.argument("query")
@click.option("--all-projects", is_flag=True, help="Over all your projects.")
@shared_options
@click.pass_obj
def sql(cli: CliContext, query: str, all_projects: bool) -> None:
    """Answer a SELECT over the six tables, in DuckDB's SQL.

    \b
    recollect history sql "SELECT tool_name, count(*) FROM tool_executions GROUP BY 1"
    recollect history sql "DESCRIBE file_interactions"
    """
    with open_engine(cli) as engine:
        found = engine.episodes.sql(query, all_projects=all_projects)
    if cli.json:
        output.print_json(found)
        return
    rows = [
        tuple("" if value is None else output.one_line(str(value)) for value in row) for row in found.rows
    ]
    for line in output.table([found.columns, *rows], [""] * (len(found.columns) - 1)):
        click.echo(line)
    output.print_notes([found.note] if found.note else [])


@history.command()
@click.option(
    "--parquet",
    "folder",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one Parquet file a table into this folder.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
@shared_options
@click.pass_obj
def export(cli: CliContext, folder: Path, force: bool) -> None:
    """Write the six tables to Parquet files."""
    with open_engine(cli) as engine:
        rows = engine.episodes.export(folder, force=force)
    if cli.json:
        output.print_json({"folder": str(folder), "rows": rows})
        return
    click.echo(
        f"{output.count(sum(rows.values()), 'row')} in {output.count(len(rows), 'file')} in {output.one_line(str(folder))}."
    )


@history.command("output")
@click.argument("name", metavar="ID")
@shared_options
@click.pass_obj
def print_output(cli: CliContext, name: str) -> None:
    """Print all of an output that was shortened, or what left a context window.

    \b
    recollect history output 5f0c1e9ab2d4 | tail -100
    """
    from recollect.work.window.pruned_texts import stored_text

    with open_engine(cli) as engine:
        kept = stored_text(engine, name, anywhere=True)
        days = engine.settings.pruned_days
    if kept is None:
        raise Refused(
            f"No text {output.one_line(name[:60])!r} is kept.",
            f"It may be older than `pruned_days`, which is {output.count(days, 'day')}.",
        )
    if cli.json:
        output.print_json(kept._asdict())
        return
    click.echo(output.printable(kept.text))
