"""Commands that connect coding agents to memory and disconnect them: install, uninstall."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.errors import NoSuchFolder, Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import NameType, refuse_both, usage_error

if TYPE_CHECKING:
    from recollect.interfaces.install.change import FileChange
    from recollect.interfaces.install.installations import Installation
    from recollect.interfaces.install.ledger import Ledger
    from recollect.interfaces.install.machine import Machine
    from recollect.interfaces.install.plan import Plan
    from recollect.work.hosts.host import Host

    _Planner = Callable[[Host, str, Path, Machine, Ledger], Plan]

_HOST = NameType("host", "recollect.work.hosts.registry:HOSTS")
_user = click.option("--user", is_flag=True, help="For you, in all projects. The default without --project.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show every change without making it.")
_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")


@click.command()
@click.argument("host", metavar="[HOST]", type=_HOST, required=False)
@_user
@_dry_run
@_yes
@click.option(
    "--allow-tools/--no-allow-tools",
    default=None,
    help="Whether agents may search memory without asking you. Asked in a terminal; else it stays as it is.",
)
@click.option(
    "--status-line/--no-status-line",
    default=None,
    help="Whether Claude Code shows memory in its status line. Asked in a terminal; else it stays as it is.",
)
@rendered(whole_project=True)
def install(
    cli: CliContext,
    host: str | None,
    user: bool,
    dry_run: bool,
    yes: bool,
    allow_tools: bool | None,
    status_line: bool | None,
) -> CommandResult | None:
    """Connect a coding agent: hooks, MCP server, slash commands, skill.

    Shows the changes and asks before writing. Existing settings are kept, and `recollect uninstall` removes exactly what
    was added. Files that only an older version installed are removed. Without HOST it looks for installed
    agents.

    Claude Code and Gemini CLI ask you before an agent uses a tool of the MCP server, and refuse it where nobody can be
    asked (`claude -p`). --allow-tools allows the tools that only read; writing still needs your approval.

    --status-line shows in Claude Code how many memories the session used, what memory saved, and what waits for your
    review. A status line of your own is kept.

    \b
    recollect install claude-code
    recollect install cursor --project
    """
    from recollect.interfaces.install.plan import plan_install

    installer = _Installer(cli, user, dry_run, yes)
    if host is not None:
        installer.allow_tools(host, allow_tools)
        installer.show_status_line(host, status_line)
        return installer.apply(host, plan_install, "Connected", installer.target)
    found = _installed_agents(installer.machine)
    connected = {installation.host.name for installation in installer.installations()}
    if cli.json or not (yes or _is_interactive()):
        value = [
            {"host": host.name, "title": host.title, "connected": host.name in connected} for host in found
        ]
        return CommandResult({"found": value}, lambda: _print_agents(found, connected))
    if not found:
        _say_that_none_is_found()
    for agent in found:
        known = " It is already connected; this updates it." if agent.name in connected else ""
        question = f"Found {agent.title}.{known} Connect it?"
        if yes or click.confirm(question, default=agent.name not in connected):
            installer.allow_tools(agent.name, allow_tools)
            installer.show_status_line(agent.name, status_line if agent.status_line else None)
            installer.apply_and_continue(agent.name, plan_install, "Connected", installer.target)
    return None


@click.command()
@click.argument("host", metavar="[HOST]", type=_HOST, required=False)
@_user
@_dry_run
@_yes
@rendered(whole_project=True)
def uninstall(
    cli: CliContext, host: str | None, user: bool, dry_run: bool, yes: bool
) -> CommandResult | None:
    """Disconnect a coding agent: remove exactly what `install` added.

    Files that have not changed since are restored byte for byte. Your memories are kept. Without HOST it offers every
    connected agent.
    """
    from recollect.interfaces.install.plan import plan_uninstall

    installer = _Installer(cli, user, dry_run, yes)
    if host is not None:
        return installer.apply(host, plan_uninstall, "Disconnected", installer.target)
    connected = installer.installations()
    if cli.json:
        value = [{"host": each.host.name, "scope": each.scope, "root": _root(each)} for each in connected]
        return CommandResult({"connected": value}, lambda: None)
    if not connected:
        click.echo("No connected agents found.", err=True)
    for installation in connected:
        name = output.one_line(installation.name)
        if not (yes or _is_interactive()):
            click.echo(f"{name}: {output.one_line(installation.uninstall_command)}")
        elif yes or click.confirm(f"Disconnect {name}?"):
            target = (installation.scope, installation.root)
            installer.apply_and_continue(installation.host.name, plan_uninstall, "Disconnected", target)
    return None


class _Installer:
    """Plans the changes for a host, shows them, asks, and carries them out."""

    def __init__(self, cli: CliContext, user: bool, dry_run: bool, yes: bool) -> None:
        from recollect.interfaces.install.ledger import Ledger
        from recollect.interfaces.install.machine import this_machine

        refuse_both(user=user, project=cli.project or cli.whole_project)
        self.machine: Machine = this_machine()
        self.ledger: Ledger = Ledger(cli.settings.home)
        self._cli, self._dry_run, self._yes = cli, dry_run, yes
        self.target = _target(cli)

    def installations(self) -> list["Installation"]:
        from recollect.interfaces.install.installations import installations

        return installations(self.ledger.records())

    def allow_tools(self, name: str, wanted: bool | None) -> None:
        """Decide whether agents may use the tools that only read; ask the user who did not say, if there is one."""
        from recollect.interfaces.install.edits import allows_tools, permissions_path
        from recollect.interfaces.install.entries import READ_TOOLS
        from recollect.work.hosts.registry import host_named

        host = host_named(name)
        path = permissions_path(host, *self.target, self.machine)
        is_open = path is not None and not allows_tools(host, *self.target, self.machine)
        if wanted is None and is_open and self._may_ask():
            click.echo(f"{host.title} asks you before each search of memory.")
            click.echo(f"Recollect can allow the tools that only read, in {path}: {', '.join(READ_TOOLS)}.")
            wanted = click.confirm("Allow them?", default=True)
        self.machine = replace(self.machine, allows_tools=wanted)

    def show_status_line(self, name: str, wanted: bool | None) -> None:
        """Decide whether the host shows our status line; ask the user who did not say and has none."""
        from recollect.interfaces.install.edits import status_line_now
        from recollect.work.hosts.registry import host_named

        host = host_named(name)
        if wanted and host.status_line is None:
            raise Refused(f"{host.title} has no status line that a command can write.", "Omit --status-line.")
        current = status_line_now(host, *self.target, self.machine)
        if wanted is None and host.status_line is not None and not current and self._may_ask():
            click.echo(f"{host.title} can show in its status line what memory did for a session.")
            wanted = click.confirm("Show it?", default=True)
        if wanted and current == "other":
            words = output.one_line(self.machine.command_line(self.machine.hook_words(host, "StatusLine")))
            click.echo(f"Your status line is kept. To add ours, run `{words}` in it.", err=True)
        self.machine = replace(self.machine, status_line=wanted)

    def _may_ask(self) -> bool:
        return _is_interactive() and not (self._yes or self._dry_run or self._cli.json)

    def apply_and_continue(self, name: str, planner: "_Planner", verb: str, target: tuple[str, Path]) -> None:
        """Do the same as `apply`, but print a refusal instead of raising it."""
        try:
            self.apply(name, planner, verb, target).text()
        except Refused as error:
            output.print_error(error, as_json=False)

    def apply(self, name: str, planner: "_Planner", verb: str, target: tuple[str, Path]) -> CommandResult:
        from recollect.interfaces.install.plan import carry_out
        from recollect.work.hosts.registry import host_named

        plan = planner(host_named(name), *target, self.machine, self.ledger)
        if self._dry_run and not self._cli.json:
            _print_lines(plan)
        elif not self._cli.json:
            _print_files(plan)
        agreed = not self._dry_run and (not plan.changes or self._confirm(plan))
        if agreed and (plan.changes or plan.forget or plan.shared):
            carry_out(plan, self.ledger)

        def text() -> None:
            output.print_notes(plan.notes)
            self._print_result(plan, verb, agreed=agreed)

        return CommandResult(_plan_json(plan, done=agreed and bool(plan.changes)), text)

    def _confirm(self, plan: "Plan") -> bool:
        if self._yes:
            return True
        if self._cli.json or not _is_interactive():
            raise Refused(
                "Nothing was changed: there is no terminal to ask for confirmation.",
                "Add --yes to confirm, or --dry-run to see the changes.",
            )
        while True:
            answer = click.prompt(
                "Write these changes? [Y/n, d shows them line by line]", "y", show_default=False
            )
            match answer.strip().lower():
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
                case "d" | "diff":
                    output.paged(lambda: _print_lines(plan))

    def _print_result(self, plan: "Plan", verb: str, *, agreed: bool) -> None:
        from recollect.interfaces.install.edits import allows_tools

        where = output.one_line(plan.where)
        if not plan.changes:
            click.echo(f"{plan.host.title}, {where}: nothing to change.")
            for installation in self.installations() if verb == "Disconnected" else ():
                if installation.host == plan.host:
                    click.echo(output.one_line(f"{installation.name}: {installation.uninstall_command}"))
        elif not agreed:
            click.echo("Nothing was changed.")
        else:
            click.echo(f"{verb}: {plan.host.title}, {where}.")
            if verb == "Connected":
                click.echo(plan.host.after_install)
                if not allows_tools(plan.host, plan.scope, plan.root, self.machine):
                    click.echo(
                        f"{plan.host.title} asks before an agent searches memory; --allow-tools allows it."
                    )
                if self._cli.home:
                    click.echo("Agents use RECOLLECT_HOME of their own environment, not --home.")
                if plan.scope == "project":
                    click.echo("The files contain paths of this machine. Do not commit them.")


def _target(cli: CliContext) -> tuple[str, Path]:
    """Return the scope and its folder: the user's home, the given folder, or the current repository."""
    from recollect.config import expand_home
    from recollect.context.project import locate
    from recollect.work.hosts.registry import HOSTS

    if cli.project in HOSTS and not Path(cli.project).is_dir():
        raise usage_error(f"Give the host before --project: {cli.project} --project.")
    if cli.project:
        folder = expand_home(cli.project)
        if not folder.is_dir():
            raise NoSuchFolder(folder)
        return "project", folder.resolve()
    if cli.whole_project:
        return "project", locate(Path.cwd()).root
    return "user", expand_home("~")


def _is_interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _installed_agents(machine: "Machine") -> list["Host"]:
    from recollect.work.hosts.registry import HOSTS

    path = machine.environment.get("PATH")
    return [
        host
        for host in HOSTS.values()
        if machine.path(host, host.folder, machine.user).is_dir() or shutil.which(host.program, path=path)
    ]


def _print_agents(found: list["Host"], connected: set[str]) -> None:
    if not found:
        _say_that_none_is_found()
    rows = [
        (host.title, "connected" if host.name in connected else "found", f"recollect install {host.name}")
        for host in found
    ]
    output.print_table(rows, ["", "green"])


def _say_that_none_is_found() -> None:
    from recollect.work.hosts.registry import HOSTS

    click.echo("No supported agents found. Name one to connect it anyway:", err=True)
    for name in HOSTS:
        click.echo(f"  recollect install {name}", err=True)


def _print_files(plan: "Plan") -> None:
    """Print a line for each file that would change."""
    rows = [
        (
            "deleted" if change.after is None else _kind(change),
            f"{output.one_line(str(change.path))}{_line_counts(change)}",
        )
        for change in plan.changes
    ]
    output.print_table(rows, ["green"])


def _line_counts(change: "FileChange") -> str:
    if change.after is None:
        return ""
    if change.before is None:
        lines = change.after.count(b"\n")
        return f" ({output.count(lines, 'line')})"
    counts = zip(change.counts(), ("added", "removed"), strict=True)
    parts = [f"{output.count(number, 'line')} {verb}" for number, verb in counts if number]
    return f" ({', '.join(parts)})"


def _print_lines(plan: "Plan") -> None:
    """Print every line that would change."""
    for change in plan.changes:
        for line in change.diff.split("\n"):
            color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            click.echo(click.style(output.printable(line), fg=color))


def _plan_json(plan: "Plan", *, done: bool) -> dict[str, object]:
    return {
        "host": plan.host.name,
        "scope": plan.scope,
        "root": _root(plan),
        "done": done,
        "files": [
            {"path": str(change.path), "change": _kind(change), "diff": change.diff}
            for change in plan.changes
        ],
        "notes": plan.notes,
    }


def _kind(change: "FileChange") -> str:
    return "new" if change.before is None else "gone" if change.after is None else "changed"


def _root(installed: "Plan | Installation") -> str | None:
    return str(installed.root) if installed.scope == "project" else None
