"""What a project sets for recall: aliases, seasons, the budget."""

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, shared_options


@click.group(no_args_is_help=False, subcommand_metavar="add|list|remove ...")
@shared_options
def alias() -> None:
    """Tell which words mean the same here.

    Who searches for one finds the other. Some come with Recollect: auth finds authentication, db finds database.
    """


@alias.command(name="add")
@click.argument("name")
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@shared_options
@click.pass_obj
def add_alias(cli: CliContext, name: str, words: tuple[str, ...]) -> None:
    """Let NAME stand for WORDs, and each of them for NAME.

    \b
    recollect alias add billing invoice "tax engine"
    """
    with open_engine(cli) as engine:
        made = engine.add_alias(name, words)
    if cli.json:
        output.print_json({"alias": made})
        return
    click.echo(
        output.one_line(f"{made.name} now also finds {', '.join(made.words)}, and the other way round.")
    )


@alias.command(name="list")
@shared_options
@click.pass_obj
def list_aliases(cli: CliContext) -> None:
    """List the aliases that hold here.

    Your own, and those that come with Recollect.
    """
    with open_engine(cli) as engine:
        found = engine.aliases()
    if cli.json:
        output.print_json({"aliases": found})
        return
    rows = [
        (output.one_line(each.name), "" if each.ours else "yours", output.one_line(", ".join(each.words)))
        for each in found
    ]
    for line in output.table(rows, ["cyan", "green"]):
        click.echo(line)


@alias.command(name="remove")
@click.argument("name")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@shared_options
@click.pass_obj
def remove_alias(cli: CliContext, name: str, words: tuple[str, ...]) -> None:
    """Untie NAME from WORDs, or from all of them.

    Also from those that come with Recollect.
    """
    with open_engine(cli) as engine:
        gone = engine.remove_alias(name, words)
    if cli.json:
        output.print_json({"name": name, "removed": gone})
        return
    click.echo(output.one_line(f"{name} no longer finds {', '.join(gone)}."))


@click.group(no_args_is_help=False, subcommand_metavar="start|end|list ...")
@shared_options
def season() -> None:
    """Say which times are on, like release-week.

    Memories of a season (`recollect remember --season NAME`) weigh more while it is on.
    """


@season.command(name="start")
@click.argument("name")
@shared_options
@click.pass_obj
def start_season(cli: CliContext, name: str) -> None:
    """Begin a season."""
    with open_engine(cli) as engine:
        engine.start_season(name)
        _say_seasons(cli, engine.seasons())


@season.command(name="end")
@click.argument("name")
@shared_options
@click.pass_obj
def end_season(cli: CliContext, name: str) -> None:
    """End a season. Its memories stay, and weigh no more than others."""
    with open_engine(cli) as engine:
        engine.end_season(name)
        _say_seasons(cli, engine.seasons())


@season.command(name="list")
@shared_options
@click.pass_obj
def list_seasons(cli: CliContext) -> None:
    """List the seasons that are on."""
    with open_engine(cli) as engine:
        _say_seasons(cli, engine.seasons())


def _say_seasons(cli: CliContext, seasons: tuple[str, ...]) -> None:
    if cli.json:
        output.print_json({"seasons": seasons})
        return
    for name in seasons:
        click.echo(output.one_line(name))
    if not seasons:
        click.echo("No season is on.", err=True)


@click.command(
    context_settings={"ignore_unknown_options": True}
)  # so that -5 is a number, and refused as one
@click.argument("tokens", type=int, required=False)
@click.option("--default", is_flag=True, help="Go back to the default.")
@shared_options
@click.pass_obj
def budget(cli: CliContext, tokens: int | None, default: bool) -> None:
    """Show or set how many tokens a briefing may take in this project."""
    if tokens is not None and default:
        raise click.UsageError("TOKENS and --default exclude each other.", click.get_current_context())
    from recollect.memory.briefing.budget import CEILING

    with open_engine(cli) as engine:
        if tokens is not None or default:
            engine.set_budget(tokens)
        ceiling = engine.budget()
    if cli.json:
        output.print_json({"budget": ceiling, "default": ceiling == CEILING})
        return
    of_context = "and at most 8 % of what remains of the agent's context"
    whence = "the default" if ceiling == CEILING else f"the default is {CEILING:,}"
    click.echo(f"A briefing takes at most {ceiling:,} tokens ({whence}), {of_context}.")
