"""Commands that agents, browsers and shells use: daemon, hook, mcp, web, demo, completion."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.options import limit_option, usage_error


@click.group(invoke_without_command=True, subcommand_metavar="[status|start|stop|logs]")
@shared_options
def daemon() -> None:
    """Inspect, start or stop the background process that hooks talk to."""
    show_state(status)


@daemon.command()
@rendered()
def status(cli: CliContext) -> CommandResult:
    """Show whether the daemon is running, and what it has done."""
    from recollect.interfaces.daemon_client import control

    home = cli.settings.home
    answer, is_running = control.status(home), control.is_running(home)
    return CommandResult({"running": is_running, **(answer or {})}, lambda: _print_status(answer, is_running))


def _print_status(answer: dict[str, Any] | None, is_running: bool) -> None:
    if answer is None:
        click.echo(
            "The daemon is running but does not answer."
            if is_running
            else "The daemon is not running. The next hook starts it."
        )
        return
    since = output.moment(m.from_text(answer["since"]))
    click.echo(
        f"Process {answer['pid']}, version {answer['version']}, since {since}, {answer['memory_mb']} MB."
    )
    click.echo(
        f"{output.count(answer['events'], 'event')} in {output.count(answer['sessions'], 'open session')}."
    )
    if answer["waiting"]:
        click.echo("Events are waiting to be read.")
    if answer.get("spool_refused"):
        click.echo(
            f"{output.count(answer['spool_refused'], 'event')} refused by the spool. Run `recollect doctor`."
        )
    if answer["refused"]:
        click.echo(f"{output.count(answer['refused'], 'request')} refused or interrupted.")
    if answer["last_error"]:
        click.echo(
            f"Last error: {output.one_line(answer['last_error'])}. Run `recollect daemon logs` for details."
        )


@daemon.command()
@rendered()
def start(cli: CliContext) -> CommandResult:
    """Start the daemon, and load the model.

    This is not necessary: hooks and the MCP server start it when they need it. Use it if you want the first answer at once.
    """
    from recollect.interfaces.daemon_client import control

    home = cli.settings.home
    report = control.ensure(home)
    if report is None:
        raise Refused("The daemon does not start.", "Run `recollect daemon logs` to see why.")
    return CommandResult({"running": True, **report}, lambda: _print_status(report, is_running=True))


def _print_stopped(stopped: bool) -> None:
    click.echo("Stopped the daemon." if stopped else "The daemon was not running.")


@daemon.command()
@rendered(_print_stopped, key="stopped")
def stop(cli: CliContext) -> bool:
    """Stop the daemon after its current work.

    The next hook starts it again.
    """
    from recollect.interfaces.daemon_client import control

    return control.stop(cli.settings.home)


def _print_log(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        details = {key: value for key, value in line.items() if key not in ("at", "level", "what", "pid")}
        text = " ".join(f"{key}={value}" for key, value in details.items())
        click.echo(output.one_line(f"{line.get('at', '')}  {line.get('what', '')}  {text}".rstrip()))


@daemon.command()
@limit_option(20)
@rendered(_print_log, key="lines")
def logs(cli: CliContext, limit: int) -> list[dict[str, Any]]:
    """Print the end of the daemon's log.

    The log never contains messages or memories.
    """
    from recollect.interfaces.daemon_client.log import NAME

    return _last_lines(cli.settings.home / NAME, limit)


def _last_lines(file: Path, limit: int) -> list[dict[str, Any]]:
    try:
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - 400 * limit - 10_000))
            data = log.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refused(f"Cannot read {file}: {error.strerror}.", "Check its permissions.") from error
    lines = []
    for line in data.splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:  # the first line may be cut
            continue
    return lines[-limit:]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("host")
@click.argument("event")
@shared_options
def hook(host: str, event: str) -> None:
    """Handle one event of an agent. Agents run this command.

    Reads the event from standard input, prints what the agent should add to its context, and always exits with 0.
    """
    from recollect.interfaces.hooks.program import (
        main,  # `recollect hook` starts there, without this function
    )

    main([host, event])


@click.command()
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Listen on this local port instead of standard input; 0 for any free port.",
)
@click.option("--token", is_flag=True, help="Print the token that clients of --http need, and exit.")
@rendered(click.echo, key="token")
def mcp(cli: CliContext, port: int | None, token: bool) -> str | None:
    """Run the MCP server for an agent.

    Agents start it themselves; `recollect install` configures them. The project is the one that the client works in, or
    --project, or the current folder.

    \b
    recollect mcp
    recollect mcp --http 8765
    """
    from recollect.config import expand_home

    # Settings are not read here: a broken file must not stop the handshake.
    home = expand_home(cli.home or os.environ.get("RECOLLECT_HOME") or "~/.recollect")
    if token:
        from recollect.interfaces.mcp.http import read_token

        return read_token(home)
    if port is None:
        from recollect.interfaces.mcp.relay import main

        main(str(home), cli.project or "")  # as `recollect mcp` without options does, before click is loaded
        return None
    from recollect.interfaces.daemon_client.log import write_log
    from recollect.interfaces.mcp.http import serve_http
    from recollect.interfaces.mcp.requests import McpRequests

    write_log(home)
    requests = McpRequests(str(home), cli.project)
    serve_http(requests, home, port, lambda address: click.echo(f"Listening on {address}", err=True))
    return None


@click.command()
@click.option(
    "--keep",
    is_flag=False,
    flag_value="recollect-demo",
    metavar="[FOLDER]",
    help="Leave the sample project in FOLDER [recollect-demo], to try the examples of the documentation.",
)
@rendered()
def demo(cli: CliContext, keep: str | None) -> None:
    """Run a demonstration on a small sample project.

    It plays two sessions and shows what was learnt, recalled and saved. It uses a temporary folder and does
    not touch your memories.
    """
    from recollect import demo

    if keep is None:
        demo.run(click.echo)
    else:
        demo.keep(Path(keep), click.echo)


_SHELLS = {
    "bash": "recollect completion bash >> ~/.bashrc",
    "zsh": "recollect completion zsh >> ~/.zshrc",
    "fish": "recollect completion fish > ~/.config/fish/completions/recollect.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_SHELLS)), required=False)
@shared_options
@click.pass_context
def completion(ctx: click.Context, shell: str | None) -> None:
    """Print the completion script for your shell.

    It completes commands, options, kinds and ids. Without SHELL, it is for the one in the variable SHELL.

    \b
    recollect completion bash >> ~/.bashrc
    recollect completion zsh >> ~/.zshrc
    recollect completion fish > ~/.config/fish/completions/recollect.fish
    """
    from click.shell_completion import get_completion_class

    shell = shell or os.environ.get("SHELL", "").rpartition("/")[2]
    if shell not in _SHELLS:
        raise usage_error(f"Name your shell: {', '.join(_SHELLS)}.")
    script = get_completion_class(shell)
    if script is None:
        raise usage_error(f"click has no completion for {shell}.")
    source = script(ctx.find_root().command, {}, "recollect", "_RECOLLECT_COMPLETE").source()
    click.echo(f"# To install it, run: {_SHELLS[shell]}\n{source.strip()}")


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The local port [7437, or any other if that is taken]; 0 for any free port.",
)
@click.option("--no-open", is_flag=True, help="Print the link, and open no browser.")
@shared_options
@click.pass_obj
def web(cli: CliContext, port: int | None, no_open: bool) -> None:
    """Open the memory browser: see what Recollect knows, and correct it.

    Serves pages on this machine only, until you press Ctrl-C. A link logs in one browser, once, within two minutes. Run
    the command again for another link. If you are logged in to a team server, it opens the pages of that server.

    \b
    recollect web
    recollect web --no-open
    """
    from recollect.interfaces.cli.login import client_of
    from recollect.interfaces.web.server import WebServer, new_link, running_at
    from recollect.remote.login import read_login
    from recollect.remote.secrets import LINK_TOKEN

    home = cli.settings.home
    if (team := read_login(home)) is not None:
        secret = client_of(cli).call("create_token", {"name": LINK_TOKEN, "days": 1}).secret
        _show_link(cli, team.address, f"{team.address}/login#{secret}", no_open)
        return
    running = running_at(home) if port is None else None
    server = None if running else WebServer(cli.engine, port)
    address = server.address if server else running or ""
    _show_link(cli, address, new_link(home, address), no_open)
    if server is not None:
        click.echo("Press Ctrl-C to stop.", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.run()


def _show_link(cli: CliContext, address: str, link: str, no_open: bool) -> None:
    """Open the link in a browser, or print it."""
    from recollect.interfaces.web.server import open_browser

    if cli.json:
        click.echo(json.dumps({"address": address, "link": link}))
    elif no_open:
        click.echo(f"Open this link within two minutes: {link}")
    elif open_browser(cli.settings.home, link):
        click.echo(f"Opened {address} in your browser. For another link, run `recollect web --no-open`.")
    else:
        click.echo(f"No browser was found. Open this link within two minutes: {link}")
