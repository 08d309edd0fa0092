"""Every command explains itself, on the command line and in docs/cli.md."""

import re
from pathlib import Path

import click
import pytest

from recollect.interfaces.cli.main import GROUPS, cli

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = [name for section in GROUPS.values() for name in section]


def lookup(path: str) -> click.Command:
    """By its name, or that of its group and its own."""
    command: click.Command | None = cli
    for name in path.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    return command


def subcommands() -> list[str]:
    groups = [(name, command) for name in COMMANDS if isinstance(command := lookup(name), click.Group)]
    return [f"{name} {each}" for name, group in groups for each in group.list_commands(click.Context(group))]


@pytest.fixture(params=[*COMMANDS, *subcommands()])
def path(request) -> str:
    return str(request.param)


@pytest.fixture
def command(path) -> click.Command:
    found = lookup(path)
    assert found.name == path.split()[-1]
    return found


def test_every_command_has_help_that_fits_a_line(command):
    assert command.help
    assert 10 < len(command.get_short_help_str(200)) <= 80


def test_every_option_is_explained(command):
    silent = [param.name for param in command.params if isinstance(param, click.Option) and not param.help]

    assert silent == []


def test_every_command_takes_the_shared_options(command):
    names = {name for param in command.params for name in param.opts}

    assert {"--home", "--project", "--json", "--no-color"} <= names


def test_every_command_and_option_is_on_the_page(path, command):
    section = re.search(rf"^### {path.split()[0]}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    assert section, f"docs/cli.md has no section for {path}"
    assert f"recollect {path}" in section[1]
    shared = {"--home", "--project", "--json", "--no-color"}
    options = {param.opts[-1] for param in command.params if isinstance(param, click.Option)} - shared

    assert [option for option in sorted(options) if f"`{option}" not in section[1]] == []


def test_help_lists_the_commands_in_sections(run):
    told = run("--help")

    assert told.code == 0
    headings = [line for line in told.out.splitlines() if line in {f"{name}:" for name in GROUPS}]
    assert headings == [f"{name}:" for name in GROUPS]
    assert all(re.search(rf"^  {name} ", told.out, re.M) for name in COMMANDS)
