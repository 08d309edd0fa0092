"""The command line: which commands there are, and how their errors are shown."""

import difflib
import errno
import importlib
import os
import sys
from typing import Any

import click

from recollect.errors import RecollectError
from recollect.interfaces.cli.command import CliContext, shared_options
from recollect.interfaces.cli.output import print_error

# The commands in the order of `--help`; a command's module is imported when it is called.
SECTIONS = {
    "Memories": {
        "remember": "memories",
        "recall": "recall",
        "search": "recall",
        "similar": "recall",
        "list": "memories",
        "show": "memories",
        "edit": "memories",
        "forget": "memories",
        "restore": "memories",
        "wrong": "memories",
        "pin": "memories",
        "feedback": "recall",
        "link": "graph",
        "links": "graph",
        "tag": "graph",
        "conflicts": "graph",
        "resolve": "graph",
        "gaps": "recall",
        "alias": "settings",
        "season": "settings",
    },
    "Code": {"init": "init", "map": "map", "graph": "code"},
    "Work": {"session": "session", "extract": "extract", "task": "task", "history": "history"},
    "Care": {
        "consolidate": "consolidate",
        "review": "review",
        "changes": "changes",
        "undo": "changes",
        "export": "transfer",
        "import": "transfer",
        "mirror": "mirror",
        "backup": "care",
        "vacuum": "care",
        "encrypt": "care",
        "audit": "care",
        "doctor": "care",
    },
    "Settings": {
        "on": "switches",
        "off": "switches",
        "auto": "switches",
        "preset": "switches",
        "budget": "settings",
        "cost": "cost",
        "stats": "stats",
    },
    "Doors": {
        "install": "install",
        "uninstall": "install",
        "hook": "daemon",
        "daemon": "daemon",
        "mcp": "mcp",
        "demo": "demo",
        "completion": "completion",
    },
}
_MODULES = {name: module for section in SECTIONS.values() for name, module in section.items()}
# Names that Python keeps for itself.
_FUNCTIONS = {"import": "import_", "list": "list_"}


class Commands(click.Group):
    """Loads a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        module = importlib.import_module(f"recollect.interfaces.cli.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _MODULES and not name.startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, _MODULES, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such command {name[:60]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, names in SECTIONS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(section):
                formatter.write_dl(
                    [(name, command.get_short_help_str(80)) for name, command in commands if command]
                )


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="recollect", message="recollect %(version)s")
@shared_options
def cli() -> None:
    """Long-term memory for coding agents: local, offline, explained.

    \b
    recollect remember "Tests need a running Redis" --kind gotcha
    recollect search "why do the tests fail"
    """


def run(arguments: list[str]) -> int:
    """Carry out one command line; its exit code."""
    _mend_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        return _output_lost(error)
    return code


def _run(arguments: list[str]) -> int:
    context = CliContext()
    settings: dict[str, Any] = {"color": False} if os.environ.get("NO_COLOR") else {}
    try:
        code = cli.main(arguments, "recollect", standalone_mode=False, obj=context, **settings)
    except RecollectError as error:
        print_error(error, as_json=context.json)
        code = 1
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (text := _text_after_dash(error, arguments)):
            return _run([f" {each}" if each == text else each for each in arguments])
        if context.json or "--json" in arguments:
            print_error(RecollectError(error.format_message(), _usage(error)), "UsageError", as_json=True)
        else:
            error.show()
        code = error.exit_code
    except click.Abort:
        code = 130
    return code if isinstance(code, int) else 0


def _text_after_dash(error: click.NoSuchOption, arguments: list[str]) -> str | None:
    """What was taken for an option and is a text, like "--strict is ignored": no option has a blank in its name."""
    blank = error.option_name[1:].isspace()  # of "-h is for help", where -h is an option
    for each in arguments:
        name = each.partition("=")[0]
        if name.startswith("-" if blank else error.option_name) and len(name.split()) > 1:
            return each
    return None


def _usage(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{ctx.command_path} --help` shows how it is used." if ctx else ""


def _mend_streams() -> None:
    """No text may crash the printing of it: not on an ASCII terminal, not if it is no text at all."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed: take its number, or the next file that is opened gets it
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: PTH123, SIM115 - for good
        elif name != "stdin" and hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")


def _output_lost(error: OSError) -> int:
    """Whoever reads is gone, or there is no room for what we say; nothing more may fail on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if error.errno != errno.EPIPE:
        click.echo(f"The output could not be written: {error.strerror}.", err=True)
    return 1
