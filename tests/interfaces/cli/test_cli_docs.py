"""Every command explains itself, on the command line and in docs/cli.md."""

import re
import subprocess
import sys
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


def test_no_two_parameters_of_a_command_have_the_same_name(command):
    names = [param.name for param in command.params]

    assert len(names) == len(set(names))


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


def test_help_lists_the_commands_in_groups(run):
    printed = run("--help")

    assert printed.code == 0
    headings = [line for line in printed.out.splitlines() if line in {f"{name}:" for name in GROUPS}]
    assert headings == [f"{name}:" for name in GROUPS]
    assert all(re.search(rf"^  {name} ", printed.out, re.M) for name in COMMANDS)


def test_every_command_is_in_exactly_one_of_the_seven_groups():
    titles = ["Memories", "Code", "Work", "Maintenance", "Settings", "Team", "Integrations"]

    assert list(GROUPS) == titles
    assert sorted(COMMANDS) == sorted(set(COMMANDS))


def test_the_page_has_the_groups_of_the_help_in_their_order():
    sections = re.findall(r"^(##|###) (.+)$", PAGE, re.M)

    expected = [
        heading
        for title, group in GROUPS.items()
        for heading in (("##", title), *(("###", name) for name in group))
    ]
    assert sorted(sections) == sorted(expected)
    assert [name for mark, name in sections if mark == "##"] == list(GROUPS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_table_is_the_first_of_the_docstring(name):
    [summary] = [group[name][1] for group in GROUPS.values() if name in group]

    assert lookup(name).help.partition("\n")[0].strip() == summary


def test_help_imports_no_command():
    script = "import sys; from recollect.__main__ import main; main(['--help']); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    prefix = "recollect.interfaces.cli."
    loaded = {name.removeprefix(prefix) for name in done.stdout.split() if name.startswith(prefix)}
    assert loaded == {"main", "command", "output"}
