"""Tasks: what is being worked on, what waits, what came of it."""

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, limit_option, open_engine, read_text, shared_options
from recollect.model import Task, TaskStatus


@click.group(no_args_is_help=False, subcommand_metavar="start|switch|pause|done|fail|list|show ...")
@shared_options
def task() -> None:
    """Say what is being worked on, or see what was."""


@task.command()
@click.argument("words", metavar="DESCRIPTION...", nargs=-1, required=True)
@shared_options
@click.pass_obj
def start(cli: CliContext, words: tuple[str, ...]) -> None:
    """Begin a task; the one that was active in the session waits.

    \b
    recollect task start "fix the login loop"
    """
    with open_engine(cli) as engine:
        begun = engine.episodes.start_task(read_text(words))
    _say(cli, begun)


@task.command()
@click.argument("name", metavar="ID")
@shared_options
@click.pass_obj
def switch(cli: CliContext, name: str) -> None:
    """Go on with a task that waits."""
    with open_engine(cli) as engine:
        found = engine.episodes.switch_task(name)
    _say(cli, found)


@task.command()
@click.option("--id", "name", metavar="ID", help="Another task than the active one.")
@shared_options
@click.pass_obj
def pause(cli: CliContext, name: str | None) -> None:
    """Let the active task wait."""
    with open_engine(cli) as engine:
        found = engine.episodes.pause_task(name)
    _say(cli, found)


@task.command()
@click.argument("words", metavar="[OUTCOME]...", nargs=-1)
@click.option("--id", "name", metavar="ID", help="Another task than the active one.")
@shared_options
@click.pass_obj
def done(cli: CliContext, words: tuple[str, ...], name: str | None) -> None:
    """Finish the active task, and say what came of it."""
    with open_engine(cli) as engine:
        found = engine.episodes.finish_task(name, read_text(words))
    _say(cli, found)


@task.command()
@click.argument("words", metavar="[WHY]...", nargs=-1)
@click.option("--id", "name", metavar="ID", help="Another task than the active one.")
@shared_options
@click.pass_obj
def fail(cli: CliContext, words: tuple[str, ...], name: str | None) -> None:
    """Give the active task up, and say why."""
    with open_engine(cli) as engine:
        found = engine.episodes.fail_task(name, read_text(words))
    _say(cli, found)


@task.command("list")
@click.option(
    "--status", type=click.Choice([str(each) for each in TaskStatus]), help="Only those that are so."
)
@limit_option(20)
@shared_options
@click.pass_obj
def list_tasks(cli: CliContext, status: str | None, limit: int) -> None:
    """List this project's tasks, newest first."""
    with open_engine(cli) as engine:
        found = engine.episodes.tasks(TaskStatus(status) if status else None, limit)
    if cli.json:
        output.print_json({"tasks": found})
        return
    if not found:
        click.echo('No tasks here yet. `recollect task start "…"` begins one.', err=True)
    print_tasks(found)


@task.command()
@click.argument("name", metavar="ID")
@shared_options
@click.pass_obj
def show(cli: CliContext, name: str) -> None:
    """Show a task: what came of it, its files and the tools it took."""
    with open_engine(cli) as engine:
        found = engine.episodes.task(name)
        touches = engine.episodes.files_of(name)
    if cli.json:
        output.print_json({"task": found, "touches": touches})
        return
    print_tasks([found])
    if found.outcome:
        click.echo(output.one_line(found.outcome))
    for path in found.files:
        deeds = sorted({str(each.operation) for each in touches if each.path == path})
        click.echo(f"  {output.one_line(path)}  {', '.join(deeds)}")
    if found.tools:
        click.echo(
            "  " + output.one_line(", ".join(f"{tool} {times}" for tool, times in found.tools.items()))
        )


def _say(cli: CliContext, found: Task) -> None:
    if cli.json:
        output.print_json(found)
        return
    print_tasks([found])


def print_tasks(tasks: "list[Task] | tuple[Task, ...]") -> None:
    rows = [
        (
            f"#{each.number}",
            str(each.status),
            output.moment(each.started_at),
            output.one_line(each.description),
        )
        for each in tasks
    ]
    for line in output.table(rows, ("cyan", "", "")):
        click.echo(line)
