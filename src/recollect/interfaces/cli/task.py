"""The `task` command: start, switch, finish and list tasks."""

import os
from collections.abc import Sequence

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.options import limit_option, read_text
from recollect.model import Task, TaskStatus


@click.group(invoke_without_command=True, subcommand_metavar="[start|switch|pause|done|fail|list|show] ...")
@shared_options
def task() -> None:
    """List tasks, or start, switch and finish one."""
    show_state(list_tasks)


def _print_task(task: Task) -> None:
    print_tasks([task])


def print_tasks(tasks: Sequence[Task]) -> None:
    rows = [
        (f"#{task.number}", task.status, output.moment(task.started_at), output.one_line(task.description))
        for task in tasks
    ]
    output.print_table(rows, ("cyan", "", ""), ("task", "status", "started", "description"))


def this_terminal() -> str:
    """Return a name of the terminal that the command was typed in; "" if there is none, as for an agent."""
    for stream in (0, 1, 2):
        try:
            return f"{os.ttyname(stream)} {os.getsid(0)}"
        except (OSError, AttributeError):  # no terminal; Windows
            continue
    return ""


_other_task = click.option("--id", "name", metavar="ID", help="A task other than the active one.")


@task.command()
@click.argument("words", metavar="DESCRIPTION...", nargs=-1, required=True)
@rendered(_print_task)
def start(cli: CliContext, words: tuple[str, ...]) -> Task:
    """Start a task, and pause the session's active one.

    \b
    recollect task start "fix the login loop"
    """
    return cli.engine.episodes.start_task(read_text(words), terminal=this_terminal())


@task.command()
@click.argument("name", metavar="ID")
@rendered(_print_task)
def switch(cli: CliContext, name: str) -> Task:
    """Resume a paused task."""
    return cli.engine.episodes.switch_task(name)


@task.command()
@_other_task
@rendered(_print_task)
def pause(cli: CliContext, name: str | None) -> Task:
    """Pause the active task."""
    return cli.engine.episodes.pause_task(name, this_terminal())


@task.command()
@click.argument("words", metavar="[OUTCOME]...", nargs=-1)
@_other_task
@rendered(_print_task)
def done(cli: CliContext, words: tuple[str, ...], name: str | None) -> Task:
    """Mark the active task as completed, with its outcome.

    In a terminal this is the task that you started there, whatever agents are doing meanwhile.
    """
    return cli.engine.episodes.finish_task(name, read_text(words), this_terminal())


@task.command()
@click.argument("words", metavar="[REASON]...", nargs=-1)
@_other_task
@rendered(_print_task)
def fail(cli: CliContext, words: tuple[str, ...], name: str | None) -> Task:
    """Mark the active task as failed, with the reason."""
    return cli.engine.episodes.fail_task(name, read_text(words), this_terminal())


@task.command("list")
@click.option(
    "--status", type=click.Choice([str(status) for status in TaskStatus]), help="Only tasks with this status."
)
@limit_option(20)
@rendered(
    print_tasks,
    key="tasks",
    empty='No tasks found. Sessions of agents become tasks; run `recollect task start "…"` to start one yourself.',
)
def list_tasks(cli: CliContext, status: str | None, limit: int) -> Sequence[Task]:
    """List this project's tasks, newest first."""
    return cli.engine.episodes.tasks(TaskStatus(status) if status else None, limit)


@task.command()
@click.argument("name", metavar="ID")
@rendered()
def show(cli: CliContext, name: str) -> CommandResult:
    """Show a task with its outcome, files and tools."""
    task = cli.engine.episodes.task(name)
    touches = cli.engine.episodes.files_of(name)

    def text() -> None:
        print_tasks([task])
        if task.outcome:
            click.echo(output.one_line(task.outcome))
        for path in task.files:
            operations = sorted({str(touch.operation) for touch in touches if touch.path == path})
            click.echo(f"  {output.one_line(path)}  {', '.join(operations)}")
        if task.tools:
            tools = ", ".join(f"{tool} {number}" for tool, number in task.tools.items())
            click.echo(f"  {output.one_line(tools)}")

    return CommandResult({"task": task, "touches": touches}, text)
