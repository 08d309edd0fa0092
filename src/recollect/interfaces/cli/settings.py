"""What a project sets for recall: aliases, seasons, the budget."""

import click

from recollect.interfaces.cli import show as look
from recollect.interfaces.cli.door import Door, open_engine, shared


@click.group(no_args_is_help=False, subcommand_metavar="add|list|remove ...")
@shared
def alias() -> None:
    """Tell which words mean the same here.

    Who searches for one finds the other. Some come with Recollect: auth finds authentication, db finds database.
    """


@alias.command(name="add")
@click.argument("name")
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@shared
@click.pass_obj
def add_alias(door: Door, name: str, words: tuple[str, ...]) -> None:
    """Let NAME stand for WORDs, and each of them for NAME.

    \b
    recollect alias add billing invoice "tax engine"
    """
    with open_engine(door) as engine:
        made = engine.add_alias(name, words)
    if door.json:
        look.say_json({"alias": made})
        return
    click.echo(look.one_line(f"{made.name} now also finds {', '.join(made.words)}, and the other way round."))


@alias.command(name="list")
@shared
@click.pass_obj
def list_aliases(door: Door) -> None:
    """List the aliases that hold here.

    Your own, and those that come with Recollect.
    """
    with open_engine(door) as engine:
        found = engine.aliases()
    if door.json:
        look.say_json({"aliases": found})
        return
    rows = [
        (look.one_line(each.name), "" if each.ours else "yours", look.one_line(", ".join(each.words)))
        for each in found
    ]
    for line in look.table(rows, ["cyan", "green"]):
        click.echo(line)


@alias.command(name="remove")
@click.argument("name")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@shared
@click.pass_obj
def remove_alias(door: Door, name: str, words: tuple[str, ...]) -> None:
    """Untie NAME from WORDs, or from all of them.

    Also from those that come with Recollect.
    """
    with open_engine(door) as engine:
        gone = engine.remove_alias(name, words)
    if door.json:
        look.say_json({"name": name, "removed": gone})
        return
    click.echo(look.one_line(f"{name} no longer finds {', '.join(gone)}."))


@click.group(no_args_is_help=False, subcommand_metavar="start|end|list ...")
@shared
def season() -> None:
    """Say which times are on, like release-week.

    Memories of a season (`recollect remember --season NAME`) weigh more while it is on.
    """


@season.command(name="start")
@click.argument("name")
@shared
@click.pass_obj
def start_season(door: Door, name: str) -> None:
    """Begin a season."""
    with open_engine(door) as engine:
        engine.start_season(name)
        _say_seasons(door, engine.seasons())


@season.command(name="end")
@click.argument("name")
@shared
@click.pass_obj
def end_season(door: Door, name: str) -> None:
    """End a season. Its memories stay, and weigh no more than others."""
    with open_engine(door) as engine:
        engine.end_season(name)
        _say_seasons(door, engine.seasons())


@season.command(name="list")
@shared
@click.pass_obj
def list_seasons(door: Door) -> None:
    """List the seasons that are on."""
    with open_engine(door) as engine:
        _say_seasons(door, engine.seasons())


def _say_seasons(door: Door, seasons: tuple[str, ...]) -> None:
    if door.json:
        look.say_json({"seasons": seasons})
        return
    for name in seasons:
        click.echo(look.one_line(name))
    if not seasons:
        click.echo("No season is on.", err=True)


@click.command(
    context_settings={"ignore_unknown_options": True}
)  # so that -5 is a number, and refused as one
@click.argument("tokens", type=int, required=False)
@click.option("--default", is_flag=True, help="Go back to the default.")
@shared
@click.pass_obj
def budget(door: Door, tokens: int | None, default: bool) -> None:
    """Show or set how many tokens a briefing may take in this project."""
    if tokens is not None and default:
        raise click.UsageError("TOKENS and --default exclude each other.", click.get_current_context())
    from recollect.memory.briefing.budget import CEILING

    with open_engine(door) as engine:
        if tokens is not None or default:
            engine.set_budget(tokens)
        ceiling = engine.budget()
    if door.json:
        look.say_json({"budget": ceiling, "default": ceiling == CEILING})
        return
    of_context = "and at most 8 % of what remains of the agent's context"
    whence = "the default" if ceiling == CEILING else f"the default is {CEILING:,}"
    click.echo(f"A briefing takes at most {ceiling:,} tokens ({whence}), {of_context}.")
