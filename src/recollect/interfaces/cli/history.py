"""The `history` command: earlier work on files and tasks, tools, fixes, and SQL over all of it."""

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.options import limit_option, parse_time, read_text
from recollect.interfaces.cli.task import list_tasks, print_tasks
from recollect.model import FileTouch, Task

if TYPE_CHECKING:
    from recollect.model import CoEdit
    from recollect.work.episodes.queries import FileHistory, LastWork, PastTask
    from recollect.work.episodes.sql import SqlResult


@click.group(
    invoke_without_command=True,
    subcommand_metavar="[file|tools|tasks|like|coedits|what-was-i-doing|last|fixes|sql|export|output] ...",
)
@shared_options
def history() -> None:
    """Show earlier work: tasks, files, tools and their outcomes."""
    show_state(list_tasks)


def _print_file(found: "FileHistory") -> None:
    total = found.total
    if total.last_seen is None:
        click.echo(f"No earlier work on {output.one_line(found.path)} found.", err=True)
        return
    reads, edits = output.count(total.reads, "read"), output.count(total.edits, "edit")
    click.echo(f"{output.one_line(found.path)}: {reads}, {edits}, last {output.moment(total.last_seen)}")
    _print_touches(found.touches, with_path=False)


def _print_touches(touches: Sequence[FileTouch], *, with_path: bool = True) -> None:
    rows = [
        (
            output.moment(touch.at),
            str(touch.operation),
            *([output.one_line(touch.path)] if with_path else []),
            f"{touch.lines[0]}–{touch.lines[1]}" if touch.lines else "",
            output.one_line(touch.changes or touch.context or ""),
        )
        for touch in touches
    ]
    output.print_table(rows, ("", "cyan", "", "") if with_path else ("", "cyan", ""))


@history.command()
@click.argument("path")
@limit_option(5)
@rendered(_print_file)
def file(cli: CliContext, path: str, limit: int) -> "FileHistory":
    """Show earlier work on a file."""
    return cli.engine.episodes.file(path, limit)


def _print_tools(found: dict[str, Any]) -> None:
    if not found["tools"]:
        click.echo("No tools have been used since then.", err=True)
    rows = [
        (
            output.one_line(use.tool),
            f"{use.total}",
            f"{use.rate:.0%}",
            "" if use.average_ms is None else f"{use.average_ms:.0f} ms",
        )
        for use in found["tools"]
    ]
    output.print_table(rows, ("cyan", "", ""), ("tool", "uses", "success", "average"))


@history.command()
@click.option("--since", default="7d", show_default=True, help="A date, a time, or an age such as 7d.")
@rendered(_print_tools)
def tools(cli: CliContext, since: str) -> dict[str, Any]:
    """Show how often each tool was used, and its success rate."""
    begin = parse_time(since)
    return {"since": begin, "tools": cli.engine.episodes.tools(begin)}


# The same as `task list`, because people look for it here too.
_tasks = copy(list_tasks)
_tasks.name = "tasks"
history.add_command(_tasks)


def _print_similar(hits: "Sequence[PastTask]") -> None:
    for hit in hits:
        task = hit.task
        number = click.style(f"#{task.number}", fg="cyan")
        click.echo(f"{hit.score:.2f}  {number}  {output.one_line(task.description)}")
        details = [str(task.status), task.outcome, ", ".join(task.files[:5]), ", ".join(task.tools)]
        click.echo("      " + output.one_line(" · ".join(filter(None, details))))


@history.command()
@click.argument("words", metavar="TASK...", nargs=-1, required=True)
@limit_option(3)
@rendered(_print_similar, key="results", empty="No similar tasks found.")
def like(cli: CliContext, words: tuple[str, ...], limit: int) -> "Sequence[PastTask]":
    """Find tasks similar to TASK, with their outcome, files and tools.

    \b
    recollect history like "the cart rounds wrongly"
    """
    return cli.engine.episodes.similar_tasks(read_text(words), limit)


def _print_coedits(pairs: "Sequence[CoEdit]") -> None:
    rows = [
        (f"{pair.count}", output.one_line(pair.files[0]), output.one_line(pair.files[1])) for pair in pairs
    ]
    output.print_table(rows, ("cyan", ""))


@history.command()
@click.argument("path", metavar="[FILE]", required=False)
@limit_option(20)
@rendered(_print_coedits, key="pairs", empty="No files edited together found.")
def coedits(cli: CliContext, path: str | None, limit: int) -> "Sequence[CoEdit]":
    """List files that are edited together.

    A pair is listed if both files were edited within 5 minutes at least 3 times.
    """
    return cli.engine.episodes.coedits(path, limit)


@history.command("what-was-i-doing")
@limit_option(5)
@rendered(print_tasks, key="tasks", empty="No active or paused tasks.")
def what_was_i_doing(cli: CliContext, limit: int) -> Sequence[Task]:
    """List active and paused tasks, newest first."""
    return cli.engine.episodes.what_was_i_doing(limit)


def _print_last(found: "LastWork") -> None:
    if not found.tasks and not found.touches:
        click.echo("No earlier work on this topic found.", err=True)
    print_tasks(found.tasks)
    _print_touches(found.touches)


@history.command()
@click.argument("words", metavar="TOPIC...", nargs=-1, required=True)
@limit_option(10)
@rendered(_print_last)
def last(cli: CliContext, words: tuple[str, ...], limit: int) -> "LastWork":
    """Show the latest work on TOPIC: tasks and files that name it."""
    return cli.engine.episodes.last(read_text(words), limit)


@history.command()
@click.argument("words", metavar="FAILURE...", nargs=-1, required=True)
@click.option("--command", "line", default="", help="The command that failed.")
@limit_option(3)
@rendered()
def fixes(cli: CliContext, words: tuple[str, ...], line: str, limit: int) -> CommandResult:
    """Find what fixed failures like this one; - reads standard input.

    \b
    pytest 2>&1 | recollect history fixes - --command pytest
    """
    cli.engine.episodes.refresh()
    fixes = cli.engine.episodes.fixes_for(read_text(words), line, limit)

    def text() -> None:
        if not fixes:
            click.echo("No fix for a similar failure found.", err=True)
        for fix in fixes:
            click.echo(f"{fix.confidence:.2f}  {output.one_line(fix.text)}")

    return CommandResult({"fixes": [{**m.as_json(fix), "text": fix.text} for fix in fixes]}, text)


def _print_sql(table: "SqlResult") -> None:
    rows = [
        tuple("" if value is None else output.one_line(str(value)) for value in row) for row in table.rows
    ]
    output.print_table([table.columns, *rows], [""] * (len(table.columns) - 1))
    output.print_notes([table.note] if table.note else [])


@history.command()
@click.argument("query")
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@rendered(_print_sql)
def sql(cli: CliContext, query: str, all_projects: bool) -> "SqlResult":
    """Run a SELECT over the six tables, in DuckDB's SQL.

    \b
    recollect history sql "SELECT tool_name, count(*) FROM tool_executions GROUP BY 1"
    recollect history sql "DESCRIBE file_interactions"
    """
    return cli.engine.episodes.sql(query, all_projects=all_projects)


@history.command()
@click.option(
    "--parquet",
    "folder",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the files, one for each table.",
)
@click.option("--force", is_flag=True, help="Replace existing files.")
@rendered()
def export(cli: CliContext, folder: Path, force: bool) -> CommandResult:
    """Write the six tables to Parquet files."""
    rows = cli.engine.episodes.export(folder, force=force)
    total, files = output.count(sum(rows.values()), "row"), output.count(len(rows), "file")
    return CommandResult(
        {"folder": str(folder), "rows": rows},
        lambda: click.echo(f"Wrote {total} in {files} to {output.one_line(str(folder))}."),
    )


def _print_text(stored: m.PrunedText) -> None:
    click.echo(output.printable(stored.text))


@history.command("output")
@click.argument("name", metavar="ID")
@rendered(_print_text, json=lambda stored: stored._asdict())
def print_output(cli: CliContext, name: str) -> m.PrunedText:
    """Print a tool output that was shortened, or text pruned from a context.

    \b
    recollect history output 5f0c1e9ab2d4 | tail -100
    """
    from recollect.work.window.pruned_texts import stored_text

    stored = stored_text(cli.engine, name, anywhere=True)
    if stored is None:
        days = output.count(cli.engine.settings.pruned_days, "day")
        raise Refused(
            f"No stored text named {output.one_line(name[:60])!r} found.",
            f"Texts are deleted after {days}; the setting is `pruned_days`.",
        )
    return stored
