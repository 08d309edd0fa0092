"""What was said in earlier sessions."""

import click

import recollect.model as m
from recollect.cli import show as look
from recollect.cli.door import Door, at_most, open_engine, shared, text_of


@click.group(no_args_is_help=False, subcommand_metavar="search ...")
@shared
def session() -> None:
    """Look into what was said in earlier sessions."""


@session.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--by",
    type=click.Choice(["message", "session"]),
    default="message",
    show_default=True,
    help="What to find: single messages, or whole sessions with their best ones.",
)
@at_most(10)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@shared
@click.pass_obj
def search(door: Door, query: tuple[str, ...], by: str, limit: int, all_projects: bool) -> None:
    """Find what was said about QUERY, best first.

    \b
    recollect session search "why did we drop the queue"
    recollect session search login --by session
    """
    with open_engine(door) as engine:
        find = engine.search_messages if by == "message" else engine.search_sessions
        found = find(text_of(query), limit, all_projects=all_projects)
    if door.json:
        look.say_json({"by": by, "results": found})
        return
    if not found:
        click.echo("Nothing found. `recollect import --messages FILE` brings sessions in.", err=True)
    said = [hit for hit in found if isinstance(hit, m.MessageHit)]
    for line in look.message_table(said, sessions=True):
        click.echo(line)
    for hit in found:
        if isinstance(hit, m.SessionHit):
            click.echo(f"{hit.score:.2f}  {click.style(look.one_line(hit.session), fg='cyan')}")
            for line in look.message_table(hit.best, indent="      "):
                click.echo(line)
