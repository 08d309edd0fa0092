"""Tasks: what is being worked on, what waits, what came of it."""

import click

from recollect.interfaces.cli import show as look
from recollect.interfaces.cli.door import Door, at_most, open_engine, shared, text_of
from recollect.store.episode_rows import Status, Task


@click.group(no_args_is_help=False, subcommand_metavar="start|switch|pause|done|fail|list|show ...")
@shared
def task() -> None:
    """Say what is being worked on, or see what was."""


@task.command()
@click.argument("words", metavar="DESCRIPTION...", nargs=-1, required=True)
@shared
@click.pass_obj
def start(door: Door, words: tuple[str, ...]) -> None:
    """Begin a task; the one that was active in the session waits.

    \b
    recollect task start "fix the login loop"
    """
    with open_engine(door) as engine:
        begun = engine.episodes.start_task(text_of(words))
    _say(door, begun)


@task.command()
@click.argument("name", metavar="ID")
@shared
@click.pass_obj
def switch(door: Door, name: str) -> None:
    """Go on with a task that waits."""
    with open_engine(door) as engine:
        found = engine.episodes.switch_task(name)
    _say(door, found)


@task.command()
@click.option("--id", "name", metavar="ID", help="Another task than the active one.")
@shared
@click.pass_obj
def pause(door: Door, name: str | None) -> None:
    """Let the active task wait."""
    with open_engine(door) as engine:
        found = engine.episodes.pause_task(name)
    _say(door, found)


@task.command()
@click.argument("words", metavar="[OUTCOME]...", nargs=-1)
@click.option("--id", "name", metavar="ID", help="Another task than the active one.")
@shared
@click.pass_obj
def done(door: Door, words: tuple[str, ...], name: str | None) -> None:
    """Finish the active task, and say what came of it."""
    with open_engine(door) as engine:
        found = engine.episodes.finish_task(name, text_of(words))
    _say(door, found)


@task.command()
@click.argument("words", metavar="[WHY]...", nargs=-1)
@click.option("--id", "name", metavar="ID", help="Another task than the active one.")
@shared
@click.pass_obj
def fail(door: Door, words: tuple[str, ...], name: str | None) -> None:
    """Give the active task up, and say why."""
    with open_engine(door) as engine:
        found = engine.episodes.fail_task(name, text_of(words))
    _say(door, found)


@task.command("list")
@click.option("--status", type=click.Choice([str(each) for each in Status]), help="Only those that are so.")
@at_most(20)
@shared
@click.pass_obj
def list_tasks(door: Door, status: str | None, limit: int) -> None:
    """List this project's tasks, newest first."""
    with open_engine(door) as engine:
        found = engine.episodes.tasks(Status(status) if status else None, limit)
    if door.json:
        look.say_json({"tasks": found})
        return
    if not found:
        click.echo('No tasks here yet. `recollect task start "…"` begins one.', err=True)
    say_tasks(found)


@task.command()
@click.argument("name", metavar="ID")
@shared
@click.pass_obj
def show(door: Door, name: str) -> None:
    """Show a task: what came of it, its files and the tools it took."""
    with open_engine(door) as engine:
        found = engine.episodes.task(name)
        touches = engine.episodes.files_of(name)
    if door.json:
        look.say_json({"task": found, "touches": touches})
        return
    say_tasks([found])
    if found.outcome:
        click.echo(look.one_line(found.outcome))
    for path in found.files:
        deeds = sorted({str(each.operation) for each in touches if each.path == path})
        click.echo(f"  {look.one_line(path)}  {', '.join(deeds)}")
    if found.tools:
        click.echo("  " + look.one_line(", ".join(f"{tool} {times}" for tool, times in found.tools.items())))


def _say(door: Door, found: Task) -> None:
    if door.json:
        look.say_json(found)
        return
    say_tasks([found])


def say_tasks(tasks: "list[Task] | tuple[Task, ...]") -> None:
    rows = [
        (f"#{each.number}", str(each.status), look.moment(each.started_at), look.one_line(each.description))
        for each in tasks
    ]
    for line in look.table(rows, ("cyan", "", "")):
        click.echo(line)
