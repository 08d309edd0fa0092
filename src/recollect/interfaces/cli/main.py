"""The command line: the table of commands, and how errors are shown."""

import errno
import importlib
import os
import sys
from itertools import takewhile
from typing import Any

import click

from recollect.errors import RecollectError
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, shared_options

# The commands in the order of `--help`: module and first line of the help. A module is imported when one of its commands
# is called, so `--help` takes the line from here; a test compares it with the docstring.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Memories": {
        "remember": ("memories", "Store a statement as a memory."),
        "recall": ("search", "Print the briefing that an agent gets for TASK."),
        "search": ("search", "Find memories relevant to QUERY, best first."),
        "similar": ("search", "Find memories with a similar meaning, most similar first."),
        "list": ("memories", "List memories of this project and global ones, newest first."),
        "show": ("memories", "Show everything that is stored about a memory."),
        "edit": ("memories", "Change a memory's text or attributes."),
        "describe": ("describe", "Say when memories are needed, or list those that do not say it."),
        "forget": ("memories", "Forget a memory. You can restore it for 30 days."),
        "restore": ("memories", "Restore a memory that is forgotten, archived, deprecated or superseded."),
        "wrong": ("memories", "Mark a memory as wrong, and optionally correct it."),
        "pin": ("memories", "Pin a memory, or unpin a pinned one."),
        "feedback": ("search", "Record whether a memory was helpful."),
        "link": ("links", "Link memory A to memory B."),
        "links": ("links", "List the links of a memory, or export the memory graph."),
        "tag": ("links", "Add tags to a memory, or remove them."),
        "conflicts": ("links", "List unresolved contradictions between memories."),
        "resolve": ("links", "Resolve a contradiction between memories A and B."),
        "gaps": ("search", "List questions that memory could not answer, newest first."),
        "alias": ("settings", "List words that mean the same in searches, or change them."),
        "season": ("settings", "List the active seasons, such as release-week, or start and end one."),
    },
    "Code": {
        "init": ("init", "Set up memory for a project: read its code and conventions."),
        "map": ("map", "Show the project's modules, and its build, test and lint commands."),
        "graph": ("graph", "Query the code graph: callers, dependencies, impact, relevant files."),
    },
    "Work": {
        "session": ("session", "List, show and search the sessions of agents."),
        "extract": ("session", "Extract memories from transcripts of agents."),
        "task": ("task", "List tasks, or start, switch and finish one."),
        "history": ("history", "Show earlier work: tasks, files, tools and their outcomes."),
    },
    "Maintenance": {
        "review": ("review", "Answer open questions: merges, contradictions, seeds, stale memories."),
        "consolidate": ("maintenance", "Merge duplicates, find contradictions, repair links and tags."),
        "changes": ("maintenance", "List changes to memories that you can undo, newest first."),
        "undo": ("maintenance", "Undo your last change, or the change with this id."),
        "export": ("transfer", "Write all memories to a file or standard output, as JSON."),
        "import": ("transfer", "Import memories from a file, or messages of sessions."),
        "mirror": ("transfer", "Synchronise the memories with JSON files in FOLDER."),
        "backup": ("maintenance", "Back up the store."),
        "vacuum": ("maintenance", "Free the disk space of deleted memories."),
        "encrypt": ("maintenance", "Encrypt the store and its backups."),
        "audit": ("maintenance", "Show who changed what, newest first."),
        "doctor": ("maintenance", "Check the installation, from the agents to the store."),
    },
    "Settings": {
        "on": ("settings", "Turn memory on, in this project or everywhere."),
        "off": ("settings", "Turn memory off: nothing is recorded, learnt or given to agents."),
        "auto": ("settings", "Show whether Recollect learns from sessions, or turn it on or off."),
        "preset": ("settings", "Show or set how readily findings become memories."),
        "budget": ("settings", "Show or set the token budget of a briefing in this project."),
        "kinds": ("settings", "List the kinds of memories, and what each is for."),
        "config": ("config", "Show settings with their meaning and source, or change them."),
        "model": ("model", "List the models that compare meanings, add one, or change which is used."),
        "trust": ("trust", "Trust this repository: agents may read its conventions."),
        "cost": ("cost", "Show what the sidecar has cost, and what would be sent to it."),
        "stats": ("stats", "Show statistics about memories, response times and savings."),
    },
    "Team": {
        "login": ("login", "Log in to a team server, which then stores your memories."),
        "logout": ("login", "Return to the local store."),
        "whoami": ("login", "Show where the memories are, and who you are there."),
        "team": ("team", "Share memories in a team: run the server, invite people, manage tokens."),
    },
    "Integrations": {
        "install": ("install", "Connect a coding agent: hooks, MCP server, slash commands, skill."),
        "uninstall": ("install", "Disconnect a coding agent: remove exactly what `install` added."),
        "hook": ("integrations", "Handle one event of an agent. Agents run this command."),
        "daemon": ("integrations", "Inspect, start or stop the background process that hooks talk to."),
        "mcp": ("integrations", "Run the MCP server for an agent."),
        "web": ("integrations", "Open the memory browser: see what Recollect knows, and correct it."),
        "demo": ("integrations", "Run a demonstration on a small sample project."),
        "completion": ("integrations", "Print the completion script for your shell."),
    },
}
_MODULES = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}
_FUNCTIONS = {"import": "import_", "list": "list_"}  # names that Python uses itself


class LazyCommands(click.Group):
    """Imports a command's module when the command is called."""

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
            import difflib

            similar = difflib.get_close_matches(name, _MODULES, n=1)
            hint = f" Did you mean {similar[0]!r}?" if similar else ""
            raise click.UsageError(f"No such command {name[:60]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in group.items()])


@click.group(
    cls=LazyCommands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="recollect", message="recollect %(version)s")
@shared_options
def cli() -> None:
    """Long-term memory for coding agents: local, offline, explained.

    Without a command it shows what is known here, and what waits for you.

    \b
    recollect remember "Tests need a running Redis" --kind gotcha
    recollect search "why do the tests fail"
    """
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        from recollect.interfaces.cli.overview import show_overview

        context.invoke(show_overview)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    _prepare_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        return _output_failed(error)
    return code


def run_command(arguments: list[str], context: CliContext, no_color: bool) -> int:
    """Run one command in `context` and return its exit code. Raise `ClickException` for wrong usage, and `Abort`."""
    settings: dict[str, Any] = {"color": False} if no_color else {}
    try:
        with context:
            code = cli.main(arguments, "recollect", standalone_mode=False, obj=context, **settings)
    except RecollectError as error:
        output.print_error(error, as_json=context.json)
        code = 1
    return code if isinstance(code, int) else 0


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["help"]:  # as in git
        names = takewhile(lambda argument: not argument.startswith("-") and argument != "help", arguments[1:])
        arguments = [*names, "--help"]
    context = CliContext()
    try:
        return run_command(arguments, context, bool(os.environ.get("NO_COLOR")))
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (text := _text_after_dash(error, arguments)):
            return _run([f" {word}" if word == text else word for word in arguments])
        if context.json or "--json" in arguments:
            usage = RecollectError(error.format_message(), _help_hint(error))
            output.print_error(usage, "UsageError", as_json=True)
        else:
            error.show()
        return error.exit_code
    except click.Abort:
        return 130


def _text_after_dash(error: click.NoSuchOption, arguments: list[str]) -> str | None:
    """Return a text that click took for an option, like "--strict is ignored": option names contain no blank."""
    is_blank = error.option_name[1:].isspace()  # as in "-h is for help", where -h is an option
    for word in arguments:
        name = word.partition("=")[0]
        if name.startswith("-" if is_blank else error.option_name) and len(name.split()) > 1:
            return word
    return None


def _help_hint(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f"Run `{ctx.command_path} --help` for the options." if ctx else ""


def _prepare_streams() -> None:
    """Make sure that every text can be printed, on ASCII terminals too, and that closed streams can be used."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed: use its number, or the next file that is opened gets it
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: PTH123, SIM115 - stays open
        elif name != "stdin" and hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")


def _output_failed(error: OSError) -> int:
    """Handle a reader that is gone or a full disk: nothing may fail after that."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if error.errno != errno.EPIPE:
        click.echo(f"Cannot write the output: {error.strerror}.", err=True)
    return 1
