"""Turning memory and its learning on and off, and how eager it is."""

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, Name, open_engine, shared_options


def _presets() -> list[str]:
    from recollect.work.sessions.promote import PRESETS

    return list(PRESETS)


_everywhere = click.option(
    "--everywhere", is_flag=True, help="For all projects that have no word of their own."
)


def _turn(cli: CliContext, name: str, on: bool, everywhere: bool) -> None:
    with open_engine(cli) as engine:
        engine.set_switch(name, on, everywhere=everywhere)
        where = "everywhere" if everywhere or engine.project is None else f"in {engine.project.name}"
    if cli.json:
        output.print_json({name: on, "everywhere": everywhere})
        return
    what = "Memory" if name == "memory" else "Learning from sessions"
    click.echo(f"{what} is {'on' if on else 'off'} {output.one_line(where)}.")


@click.command()
@_everywhere
@shared_options
@click.pass_obj
def on(cli: CliContext, everywhere: bool) -> None:
    """Turn memory on again, here or everywhere."""
    _turn(cli, "memory", True, everywhere)


@click.command()
@_everywhere
@shared_options
@click.pass_obj
def off(cli: CliContext, everywhere: bool) -> None:
    """Turn memory off: nothing is recorded, learnt or given to agents.

    What is stored stays, and you can still look at it.
    """
    _turn(cli, "memory", False, everywhere)


@click.command()
@click.argument("state", type=click.Choice(["on", "off"]))
@_everywhere
@shared_options
@click.pass_obj
def auto(cli: CliContext, state: str, everywhere: bool) -> None:
    """Turn learning from sessions on or off."""
    _turn(cli, "auto", state == "on", everywhere)


@click.command()
@click.argument("name", required=False, type=Name("preset", _presets))
@_everywhere
@shared_options
@click.pass_obj
def preset(cli: CliContext, name: str | None, everywhere: bool) -> None:
    """Show or set how eagerly findings become memories."""
    with open_engine(cli) as engine:
        if name is not None:
            engine.set_preset(name, everywhere=everywhere)
        current = engine.sessions.preset()
    if cli.json:
        output.print_json({"preset": current})
        return
    click.echo(f"Preset: {current}.")
