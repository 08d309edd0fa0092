"""The `config` command: settings with their meaning and source, and how to change them."""

from collections.abc import Sequence

import click

from recollect.config import (
    MEANINGS,
    ExplainedSetting,
    change_setting,
    explain_settings,
    settings_file,
    unknown_setting,
)
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.options import NameType

_SETTING = NameType("setting", MEANINGS)


@click.group(invoke_without_command=True, subcommand_metavar="[list|get|set|unset] ...")
@shared_options
def config() -> None:
    """Show settings with their meaning and source, or change them.

    Settings are read from config.toml in the home, then from RECOLLECT_ variables. A running daemon follows a change.
    """
    show_state(list_settings)


def _print_settings(settings: Sequence[ExplainedSetting]) -> None:
    rows = [
        (
            setting.name,
            output.one_line(setting.value) or "–",
            output.one_line(setting.source),
            setting.meaning,
        )
        for setting in settings
    ]
    output.print_table(rows, ["cyan", "", "green"], ["setting", "value", "from", "meaning"])


@config.command(name="list")
@click.option("--changed", is_flag=True, help="Only settings that differ from the default.")
@rendered(_print_settings, key="settings", empty="All settings have their default.")
def list_settings(cli: CliContext, changed: bool = False) -> Sequence[ExplainedSetting]:
    """List all settings with their value, source and meaning."""
    return [row for row in explain_settings(cli.settings) if not changed or row.source != "default"]


def _print_value(setting: ExplainedSetting) -> None:
    click.echo(output.one_line(setting.value))


@config.command()
@click.argument("name", type=_SETTING)
@rendered(_print_value)
def get(cli: CliContext, name: str) -> ExplainedSetting:
    """Print the value of a setting."""
    return _explained(cli, name)


@config.command(name="set")
@click.argument("name", type=_SETTING)
@click.argument("value")
@rendered()
def set_setting(cli: CliContext, name: str, value: str) -> CommandResult:
    """Write a setting to config.toml.

    \b
    recollect config set message_days 30
    """
    return _change(cli, name, value)


@config.command()
@click.argument("name", type=_SETTING)
@rendered()
def unset(cli: CliContext, name: str) -> CommandResult:
    """Remove a setting from config.toml, so that the default applies."""
    return _change(cli, name, None)


def _change(cli: CliContext, name: str, value: str | None) -> CommandResult:
    home = cli.settings.home
    change_setting(home, name.lower(), value)
    setting = _explained(cli, name)

    def text() -> None:
        source = "the default" if setting.source == "default" else f"from {output.one_line(setting.source)}"
        click.echo(f"{setting.name} is {output.one_line(setting.value) or 'empty'} ({source}).")
        if value is not None and setting.source != str(settings_file(home)):
            click.echo(f"{setting.source} overrides the file.", err=True)

    return CommandResult(setting, text)


def _explained(cli: CliContext, name: str) -> ExplainedSetting:
    for setting in explain_settings(cli.settings):
        if setting.name == name.lower():
            return setting
    raise unknown_setting(name)
