"""The daemon, for people: whether it is there, what it has done; and what hosts call."""

import json
from pathlib import Path
from typing import Any

import click

import recollect.model as m
from recollect.config import load_settings
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, limit_option, shared_options
from recollect.interfaces.daemon import client
from recollect.interfaces.daemon.log import NAME


@click.group()
@shared_options
def daemon() -> None:
    """The process in the background that hooks talk to."""


@daemon.command()
@shared_options
@click.pass_obj
def status(cli: CliContext) -> None:
    """Show whether it is running, since when, and what it has done."""
    home = load_settings(cli.home).home
    said = client.status(home)
    if cli.json:
        output.print_json({"running": client.is_running(home), **(said or {})})
        return
    if said is None:
        stuck = client.is_running(home)
        click.echo("It is running and does not answer." if stuck else "It is not running. A hook starts it.")
        return
    since = output.moment(m.from_text(said["since"]))
    click.echo(f"Process {said['pid']}, version {said['version']}, since {since}, {said['memory_mb']} MB.")
    click.echo(
        f"{output.count(said['events'], 'event')} in {output.count(said['sessions'], 'open session')}."
    )
    if said["waiting"]:
        click.echo("Events wait to be taken in.")
    if said["refused"]:
        click.echo(f"{output.count(said['refused'], 'request')} refused or cut off.")
    if said["last_error"]:
        click.echo(
            f"The last thing that went wrong: {output.one_line(said['last_error'])}; `recollect daemon logs`."
        )


@daemon.command()
@shared_options
@click.pass_obj
def stop(cli: CliContext) -> None:
    """Let it finish what is at hand and leave. The next hook starts it anew."""
    stopped = client.stop(load_settings(cli.home).home)
    if cli.json:
        output.print_json({"stopped": stopped})
        return
    click.echo("It has left." if stopped else "It was not running.")


@daemon.command()
@limit_option(20)
@shared_options
@click.pass_obj
def logs(cli: CliContext, limit: int) -> None:
    """Print its last lines. What is said or remembered is never in them."""
    lines = _last(load_settings(cli.home).home / NAME, limit)
    if cli.json:
        output.print_json({"lines": lines})
        return
    for line in lines:
        more = {key: value for key, value in line.items() if key not in ("at", "level", "what", "pid")}
        told = " ".join(f"{key}={value}" for key, value in more.items())
        click.echo(output.one_line(f"{line.get('at', '')}  {line.get('what', '')}  {told}".rstrip()))


def _last(file: Path, limit: int) -> list[dict[str, Any]]:
    try:
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - 400 * limit - 10_000))
            data = log.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}.", "Check its permissions.") from error
    found = []
    for line in data.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:  # where we began to read
            continue
    return found[-limit:]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("host")
@click.argument("event")
@shared_options
@click.pass_obj
def hook(cli: CliContext, host: str, event: str) -> None:
    """Take one event of a host from standard input. Hosts call this.

    Prints what the host should add to its context, if anything, and always exits 0.
    """
    from recollect.interfaces.hooks.program import main  # `recollect hook` gets there without coming by here

    main([host, event])
