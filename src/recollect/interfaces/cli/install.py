"""Connecting coding agents to memory, and taking it out again: install, uninstall."""

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.errors import NoSuchFolder, Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, Name, refuse_both, shared_options_with_whole_project

if TYPE_CHECKING:
    from recollect.interfaces.daemon.connection import Installation
    from recollect.interfaces.install.change import Change
    from recollect.interfaces.install.ledger import Ledger
    from recollect.interfaces.install.plan import Plan
    from recollect.interfaces.install.table import Host, Machine

    _Planner = Callable[[Host, str, Path, Machine, Ledger], Plan]


def _names() -> Iterable[str]:
    from recollect.interfaces.install.table import HOSTS

    return HOSTS


_HOST = Name("host", _names)
_user = click.option("--user", is_flag=True, help="For you, in all projects; what is done without --project.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show every change, and make none.")
_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


@click.command()
@click.argument("host", metavar="[HOST]", type=_HOST, required=False)
@_user
@_dry_run
@_yes
@shared_options_with_whole_project
@click.pass_obj
def install(cli: CliContext, host: str | None, user: bool, dry_run: bool, yes: bool) -> None:
    """Give a coding agent memory: hooks, MCP server, slash commands, a skill.

    Shows what it would write and asks. What is there stays; `recollect uninstall` takes out exactly what was put in. Without
    HOST it looks which agents are here.

    \b
    recollect install claude-code
    recollect install cursor --project
    """
    from recollect.interfaces.install.plan import plan_install

    work = _Work(cli, user, dry_run, yes)
    if host is not None:
        work.do(host, plan_install, "Connected", work.where)
        return
    found = _present(work.machine)
    connected = {each.host.name for each in work.installed()}
    if cli.json or not _watched():
        _list_found(cli, found, connected)
        return
    if not found:
        click.echo("No agent that Recollect knows is here.", err=True)
    for each in found:
        known = " It is connected; this brings it up to date." if each.name in connected else ""
        if click.confirm(f"{each.title} is here.{known} Connect it?", default=each.name not in connected):
            work.go_on_after(each.name, plan_install, "Connected", work.where)


@click.command()
@click.argument("host", metavar="[HOST]", type=_HOST, required=False)
@_user
@_dry_run
@_yes
@shared_options_with_whole_project
@click.pass_obj
def uninstall(cli: CliContext, host: str | None, user: bool, dry_run: bool, yes: bool) -> None:
    """Take out of a coding agent what `install` put in, and nothing else.

    A file that nobody has changed since is byte for byte what it was. Your memories stay. Without HOST it goes
    through all that are connected.
    """
    from recollect.interfaces.install.plan import plan_uninstall

    work = _Work(cli, user, dry_run, yes)
    if host is not None:
        work.do(host, plan_uninstall, "Disconnected", work.where)
        return
    connected = work.installed()
    if cli.json:
        rows = [{"host": each.host.name, "scope": each.scope, "root": _root(each)} for each in connected]
        output.print_json({"connected": rows})
        return
    if not connected:
        click.echo("No agent is connected.", err=True)
    for each in connected:
        if not _watched():
            click.echo(output.one_line(f"{each.name}: {each.undoing}"))
        elif click.confirm(f"Disconnect {output.one_line(each.name)}?"):
            work.go_on_after(each.host.name, plan_uninstall, "Disconnected", (each.scope, each.root))


class _Work:
    """Where to install, and how to go about it."""

    def __init__(self, cli: CliContext, user: bool, dry_run: bool, yes: bool) -> None:
        from recollect.config import load_settings
        from recollect.interfaces.install.ledger import Ledger
        from recollect.interfaces.install.table import this_machine

        refuse_both(user=user, project=cli.project or cli.whole_project)
        self.machine: Machine = this_machine()
        self.ledger: Ledger = Ledger(load_settings(cli.home).home)
        self._cli, self._dry_run, self._yes = cli, dry_run, yes
        self.where = _where(cli)

    def installed(self) -> list["Installation"]:
        from recollect.interfaces.daemon.connection import installations

        return installations(self.ledger.records())

    def go_on_after(self, name: str, plan_for: "_Planner", verb: str, where: tuple[str, Path]) -> None:
        """As `do`; a refusal is said, and does not stop those that follow."""
        try:
            self.do(name, plan_for, verb, where)
        except Refused as error:
            output.print_error(error, as_json=False)

    def do(self, name: str, plan_for: "_Planner", verb: str, where: tuple[str, Path]) -> None:
        """Plan it, show it, ask, carry it out."""
        from recollect.interfaces.install.plan import carry_out
        from recollect.interfaces.install.table import host_named

        plan = plan_for(host_named(name), *where, self.machine, self.ledger)
        if not self._cli.json:
            _show(plan, whole=self._dry_run)
        agreed = not self._dry_run and (not plan.changes or self._agreed())
        if agreed and (plan.changes or plan.forget):
            carry_out(plan, self.ledger)
        if self._cli.json:
            output.print_json(_as_json(plan, done=agreed and bool(plan.changes)))
            return
        output.print_notes(plan.notes)
        self._say(plan, verb, agreed=agreed)

    def _agreed(self) -> bool:
        if self._yes:
            return True
        if self._cli.json or not _watched():
            raise Refused(
                "Nothing was changed: nobody could be asked.",
                "--yes says that you agree; --dry-run only shows it.",
            )
        return click.confirm("Write this?", default=True)

    def _say(self, plan: "Plan", verb: str, *, agreed: bool) -> None:
        where = output.one_line(plan.where)
        if not plan.changes:
            click.echo(f"{plan.host.title}, {where}: nothing to do.")
            for each in self.installed() if verb == "Disconnected" else ():
                if each.host == plan.host:
                    click.echo(output.one_line(f"{each.name}: {each.undoing}"))
        elif not agreed:
            click.echo("Nothing was changed.")
        else:
            click.echo(f"{verb}: {plan.host.title}, {where}.")
            if verb == "Connected":
                click.echo(plan.host.after)
                if self._cli.home:
                    click.echo("Agents use the home that RECOLLECT_HOME names where they run, not --home.")
                if plan.scope == "project":
                    click.echo("The files name a program of this machine: they are not for others' clones.")


def _where(cli: CliContext) -> tuple[str, Path]:
    """For the user; or for a project: the folder that was named, else the repository we stand in."""
    from recollect.config import expand_home
    from recollect.context.project import locate

    if cli.project in set(_names()) and not Path(cli.project).is_dir():
        raise click.UsageError(f"Put the host first: {cli.project} --project.", click.get_current_context())
    if cli.project:
        folder = expand_home(cli.project)
        if not folder.is_dir():
            raise NoSuchFolder(folder)
        return "project", folder.resolve()
    if cli.whole_project:
        return "project", locate(Path.cwd()).root
    return "user", expand_home("~")


def _watched() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _present(machine: "Machine") -> list["Host"]:
    from recollect.interfaces.install.table import HOSTS

    path = machine.environment.get("PATH")
    return [
        host
        for host in HOSTS.values()
        if machine.place(host.sign, machine.user).is_dir() or shutil.which(host.program, path=path)
    ]


def _list_found(cli: CliContext, found: list["Host"], connected: set[str]) -> None:
    if cli.json:
        output.print_json(
            {
                "found": [
                    {"host": host.name, "title": host.title, "connected": host.name in connected}
                    for host in found
                ]
            }
        )
        return
    if not found:
        click.echo(
            "No agent that Recollect knows is here. `recollect install HOST` connects one anyway.", err=True
        )
    rows = [
        (host.title, "connected" if host.name in connected else "found", f"recollect install {host.name}")
        for host in found
    ]
    for line in output.table(rows, ["", "green"]):
        click.echo(line)


def _show(plan: "Plan", *, whole: bool) -> None:
    for change in plan.changes:
        if change.before is None and not whole:
            lines = (change.after or b"").count(b"\n")
            click.echo(
                f"{click.style('new', fg='green')}  {output.one_line(str(change.path))} ({output.count(lines, 'line')})"
            )
        elif change.after is None and not whole:
            click.echo(f"{click.style('gone', fg='red')}  {output.one_line(str(change.path))}")
        else:
            for line in change.diff.split("\n"):
                colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
                click.echo(click.style(output.printable(line), fg=colour))


def _as_json(plan: "Plan", *, done: bool) -> dict[str, object]:
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


def _kind(change: "Change") -> str:
    return "new" if change.before is None else "gone" if change.after is None else "changed"


def _root(installed: "Plan | Installation") -> str | None:
    return str(installed.root) if installed.scope == "project" else None
