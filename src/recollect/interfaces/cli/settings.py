"""Commands that show and change how memory works: alias, season, budget, on, off, auto, preset, kinds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.options import KIND, NameType, usage_error

if TYPE_CHECKING:
    from recollect.kinds import Kind
    from recollect.memory.search.aliases import Alias


@click.group(invoke_without_command=True, subcommand_metavar="[add|list|remove] ...")
@shared_options
def alias() -> None:
    """List words that mean the same in searches, or change them.

    A search for one word of an alias also finds the others. Some are built in: auth finds authentication, db finds
    database.
    """
    show_state(list_aliases)


def _print_alias(alias: "Alias") -> None:
    words = ", ".join(alias.words)
    click.echo(output.one_line(f"A search for {alias.name} now also finds {words}, and vice versa."))


@alias.command(name="add")
@click.argument("name")
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@rendered(_print_alias, key="alias")
def add_alias(cli: CliContext, name: str, words: tuple[str, ...]) -> "Alias":
    """Make NAME and each WORD find each other.

    \b
    recollect alias add billing invoice "tax engine"
    """
    return cli.engine.preferences.add_alias(name, words)


def _print_aliases(aliases: "Sequence[Alias]") -> None:
    rows = [
        (output.one_line(alias.name), "" if alias.ours else "yours", output.one_line(", ".join(alias.words)))
        for alias in aliases
    ]
    output.print_table(rows, ["cyan", "green"], ["word", "whose", "also finds"])


@alias.command(name="list")
@rendered(_print_aliases, key="aliases")
def list_aliases(cli: CliContext) -> "Sequence[Alias]":
    """List your aliases and the built-in ones."""
    return cli.engine.preferences.aliases()


@alias.command(name="remove")
@click.argument("name")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@rendered()
def remove_alias(cli: CliContext, name: str, words: tuple[str, ...]) -> CommandResult:
    """Remove WORDs from the alias NAME, or the whole alias.

    This also works for built-in ones.
    """
    removed = cli.engine.preferences.remove_alias(name, words)
    text = f"A search for {name} no longer finds {', '.join(removed)}."
    return CommandResult({"name": name, "removed": removed}, lambda: click.echo(output.one_line(text)))


@click.group(invoke_without_command=True, subcommand_metavar="[start|end|list] ...")
@shared_options
def season() -> None:
    """List the active seasons, such as release-week, or start and end one.

    Memories of a season (`recollect remember --season NAME`) rank higher while it is active.
    """
    show_state(list_seasons)


def _print_seasons(seasons: Sequence[str]) -> None:
    for name in seasons:
        click.echo(output.one_line(name))


_season_command = rendered(
    _print_seasons, key="seasons", empty="No active seasons. Start one: `recollect season start release-week`"
)


@season.command(name="start")
@click.argument("name")
@_season_command
def start_season(cli: CliContext, name: str) -> Sequence[str]:
    """Start a season."""
    cli.engine.preferences.start_season(name)
    return cli.engine.preferences.seasons()


@season.command(name="end")
@click.argument("name")
@_season_command
def end_season(cli: CliContext, name: str) -> Sequence[str]:
    """End a season. Its memories are kept and rank as usual."""
    cli.engine.preferences.end_season(name)
    return cli.engine.preferences.seasons()


@season.command(name="list")
@_season_command
def list_seasons(cli: CliContext) -> Sequence[str]:
    """List the active seasons."""
    return cli.engine.preferences.seasons()


@click.command(context_settings={"ignore_unknown_options": True})  # so that -5 is refused as a number
@click.argument("tokens", type=int, required=False)
@click.option("--default", is_flag=True, help="Restore the default.")
@rendered()
def budget(cli: CliContext, tokens: int | None, default: bool) -> CommandResult:
    """Show or set the token budget of a briefing in this project."""
    from recollect.memory.briefing.budget import CEILING

    if tokens is not None and default:
        raise usage_error("TOKENS and --default cannot be used together.")
    if tokens is not None or default:
        cli.engine.preferences.set_budget(tokens)
    budget = cli.engine.preferences.budget()
    origin = "the default" if budget == CEILING else f"the default is {CEILING:,}"
    text = f"A briefing has at most {budget:,} tokens ({origin}), and at most 8 % of the agent's remaining context."
    return CommandResult({"budget": budget, "default": budget == CEILING}, lambda: click.echo(text))


_everywhere = click.option(
    "--everywhere", is_flag=True, help="For all projects without a setting of their own."
)


def _set_switch(cli: CliContext, name: str, on: bool, everywhere: bool) -> CommandResult:
    cli.engine.preferences.set_switch(name, on, everywhere=everywhere)
    return _switch_state(cli, name, on, everywhere)


def _switch_state(cli: CliContext, name: str, on: bool, everywhere: bool) -> CommandResult:
    project = cli.engine.project
    where = "everywhere" if everywhere or project is None else f"in {output.one_line(project.name)}"
    what = "Memory" if name == "memory" else "Learning from sessions"
    text = f"{what} is {'on' if on else 'off'} {where}."
    return CommandResult({name: on, "everywhere": everywhere}, lambda: click.echo(text))


@click.command()
@_everywhere
@rendered()
def on(cli: CliContext, everywhere: bool) -> CommandResult:
    """Turn memory on, in this project or everywhere."""
    return _set_switch(cli, "memory", True, everywhere)


@click.command()
@_everywhere
@rendered()
def off(cli: CliContext, everywhere: bool) -> CommandResult:
    """Turn memory off: nothing is recorded, learnt or given to agents.

    `remember`, `recall` and `search` are refused as well, because agents use them too. Stored memories are kept: list,
    show, edit, forget, export and review work as before.
    """
    return _set_switch(cli, "memory", False, everywhere)


@click.command()
@click.argument("state", type=click.Choice(["on", "off"]), required=False)
@_everywhere
@rendered()
def auto(cli: CliContext, state: str | None, everywhere: bool) -> CommandResult:
    """Show whether Recollect learns from sessions, or turn it on or off."""
    if state is not None:
        return _set_switch(cli, "auto", state == "on", everywhere)
    return _switch_state(cli, "auto", cli.engine.context.is_on("auto"), everywhere=False)


def _print_preset(name: str) -> None:
    others = [f"{other} ({meaning})" for other, meaning in _PRESETS.items() if other != name]
    click.echo(f"Preset: {name}. Others: {', '.join(others)}.")


_PRESETS = {"conservative": "fewer memories", "balanced": "the default", "aggressive": "more memories"}


@click.command()
@click.argument("name", required=False, type=NameType("preset", "recollect.work.sessions.promote:PRESETS"))
@_everywhere
@rendered(_print_preset, key="preset")
def preset(cli: CliContext, name: str | None, everywhere: bool) -> Any:
    """Show or set how readily findings become memories."""
    if name is not None:
        cli.engine.sessions.set_preset(name, everywhere=everywhere)
    return cli.engine.sessions.preset()


def _print_kinds(kinds: "Sequence[Kind]") -> None:
    rows = [
        (kind.name, kind.family, "never" if kind.half_life is None else f"{kind.half_life:g} d", kind.meaning)
        for kind in kinds
    ]
    output.print_table(
        rows, ["cyan", "green", "bright_black"], ["kind", "family", "half-life", "what it is for"]
    )


@click.command()
@click.argument("name", metavar="[KIND]", type=KIND, required=False)
@rendered(_print_kinds, key="kinds")
def kinds(cli: CliContext, name: str | None) -> "Sequence[Kind]":
    """List the kinds of memories, and what each is for.

    The half-life says how fast the confidence of a memory falls when nobody uses it. With KIND, only that one.
    """
    from recollect.kinds import KINDS, kind_of

    return [kind_of(name)] if name else list(KINDS.values())
