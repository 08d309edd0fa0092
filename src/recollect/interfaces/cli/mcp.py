"""The MCP server, for agents that speak the protocol."""

import os

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, shared_options


@click.command()
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Listen on this port of this machine instead of standard input; 0 for any that is free.",
)
@click.option("--token", is_flag=True, help="Print the token that clients of --http need, and exit.")
@shared_options
@click.pass_obj
def mcp(cli: CliContext, port: int | None, token: bool) -> None:
    """Serve memory to an agent by the Model Context Protocol.

    Agents start it themselves; `recollect install` tells them how. The project is the one the client works in, else
    the current folder, or --project.

    \b
    recollect mcp
    recollect mcp --http 8765
    """
    from recollect.config import expand_home
    from recollect.interfaces.daemon.log import write_log

    # Without reading settings: a broken file must not stop the handshake.
    home = expand_home(cli.home or os.environ.get("RECOLLECT_HOME") or "~/.recollect")
    if token:
        from recollect.interfaces.mcp.http import read_token

        kept = read_token(home)
        if cli.json:
            output.print_json({"token": kept})
        else:
            click.echo(kept)
        return
    from recollect.interfaces.mcp.requests import McpRequests

    write_log(home)
    requests = McpRequests(str(home), cli.project)
    if port is None:
        from recollect.interfaces.mcp.server import serve_stdio

        serve_stdio(requests)
    else:
        from recollect.interfaces.mcp.http import serve_http

        serve_http(requests, home, port, lambda address: click.echo(f"Listening on {address}", err=True))
