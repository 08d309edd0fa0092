"""Commands that decide where the memories are: login, logout, whoami."""

import os
import socket
from typing import TYPE_CHECKING, Any

import click

from recollect import __version__
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import refuse_both
from recollect.model.team import CONSENT

if TYPE_CHECKING:
    from recollect.remote.client import TeamClient
    from recollect.remote.results import WhoAmI

AGREEMENT = """\
From now on the memories of this home are stored on {address}, for the team {team}.
What you say yourself is private, unless you share it; what your agents learn is shown to those who work on the same
project. {vectors} Sessions, code and tool output stay on this machine.
The local store is not touched, and `recollect logout` returns to it."""


@click.command()
@click.argument("address", metavar="URL")
@click.option("--code", help="An invitation code, as an admin gave it to you. It works once.")
@click.option("--token", help="A token that you already have [RECOLLECT_TOKEN].")
@click.option("--oidc", is_flag=True, help="Sign in at the team's identity provider, in a browser.")
@click.option("--private-mode", is_flag=True, help="Keep your private memories on this machine.")
@click.option(
    "--embeddings",
    type=click.Choice(["server", "client"]),
    default="server",
    show_default=True,
    help="Where vectors are made. Both must use the same model.",
)
@click.option("-y", "--yes", "sure", is_flag=True, help="Agree without being asked.")
@rendered()
def login(
    cli: CliContext,
    address: str,
    code: str | None,
    token: str | None,
    oidc: bool,
    private_mode: bool,
    embeddings: str,
    sure: bool,
) -> CommandResult:
    """Log in to a team server, which then stores your memories.

    Says what leaves this machine, and asks first. Commands, hooks, agents and the memory browser use the server until you
    log out.

    \b
    recollect login https://memory.example.com --code rci_…
    recollect login https://memory.example.com --oidc
    """
    from recollect.interfaces.daemon_client.control import stop
    from recollect.remote.client import TeamClient
    from recollect.remote.login import Login, read_login, write_login

    refuse_both(code=code, token=token)
    refuse_both(oidc=oidc, token=token)
    home = cli.settings.home
    if (known := read_login(home)) is not None:
        raise Refused(f"You are logged in to {known.address}.", "Run `recollect logout` first.")
    token = token or os.environ.get("RECOLLECT_TOKEN")
    if not code and not token and not oidc:
        given = click.prompt("Invitation code or token", hide_input=True, err=True)
        code, token = (given, None) if given.startswith("rci_") else (None, given)
    _agree(address, embeddings, sure)
    if oidc:
        token = _sign_in(address, code or "")
    elif code:
        token = _join(address, code)
    client = _closed_at_exit(TeamClient(address, token or ""))
    me: WhoAmI = client.call("whoami", {})
    client.call("consent", {"what": CONSENT})
    client.call("consent", {"what": "embeddings", "on": embeddings == "server"})
    written = write_login(
        home,
        Login(client.address, me.team, me.tenant, me.user, me.name, me.role, "", private_mode, embeddings),
        token or "",
    )
    stop(home)  # a running daemon would go on with the local store
    local = _local_memories(cli)

    def text() -> None:
        click.echo(output.one_line(f"Logged in to {me.team} as {me.name} ({me.role})."))
        if written.where != "keychain":
            click.echo(f"This machine has no keychain: the token is in {written.where}.", err=True)
        if local:
            count = output.count(local, "memory is", "memories are")
            click.echo(
                f"{count} in the local store. Run `recollect team migrate` to see what could be moved."
            )

    return CommandResult({"login": _login_json(me, client.address), "local_memories": local}, text)


def _agree(address: str, embeddings: str, sure: bool) -> None:
    if sure:
        return
    vectors = (
        "The server makes the vectors." if embeddings == "server" else "Vectors are made on this machine."
    )
    click.echo(AGREEMENT.format(address=address, team="that you join", vectors=vectors), err=True)
    click.confirm("Do you agree?", abort=True, err=True)


def _join(address: str, code: str) -> str:
    from recollect.remote.client import TeamClient

    return _closed_at_exit(TeamClient(address, "")).join(code, socket.gethostname())


def _sign_in(address: str, code: str) -> str:
    """Return a token for somebody who signs in at the identity provider that the server names."""
    from recollect.remote.client import TeamClient
    from recollect.remote.sign_in import Prompt, sign_in

    def ask(prompt: Prompt) -> None:
        words = f"Open {prompt.address} in a browser and enter {prompt.code}"
        click.echo(output.one_line(words), err=True)

    anyone = _closed_at_exit(TeamClient(address, ""))
    where = anyone.provider()
    id_token = sign_in(where.issuer, where.client_id, where.scope, ask)
    return anyone.sign_in(id_token, code, socket.gethostname())


def _local_memories(cli: CliContext) -> int:
    """Return how many memories the local store has; 0 if it cannot be read."""
    import recollect.model as m
    from recollect.errors import RecollectError
    from recollect.store import open_store_to_read
    from recollect.store.keys import find_key

    settings = cli.settings
    try:
        store = open_store_to_read(settings.database, settings.user, find_key(settings.database, os.environ))
    except RecollectError:
        return 0
    try:
        return store.count(m.View(settings.user, None, all_projects=True, all_sessions=True))
    finally:
        store.close()


@click.command()
@rendered()
def logout(cli: CliContext) -> CommandResult:
    """Return to the local store.

    The token on this machine is revoked and deleted. What waits for the server stays encrypted, and is delivered when
    you log in again.
    """
    from recollect.errors import RecollectError
    from recollect.interfaces.daemon_client.control import stop
    from recollect.remote.login import read_login, remove_login

    home = cli.settings.home
    known = read_login(home)
    if known is None:
        raise Refused("You are not logged in.", "Run `recollect login URL` to use a team server.")
    try:
        client = client_of(cli)
        mine = client.call("tokens", {})
        current = client.call("whoami", {})
        revoked = _revoke_this(client, current, mine)
    except RecollectError:
        revoked = False  # it is deleted here in any case
    remove_login(home)
    stop(home)

    def text() -> None:
        click.echo(output.one_line(f"Logged out of {known.team}. Memories are in the local store again."))
        if not revoked:
            click.echo("The token was not revoked on the server; an admin can do that.", err=True)

    return CommandResult({"logged_out": known.address, "revoked": revoked}, text)


def _revoke_this(client: "TeamClient", me: "WhoAmI", mine: Any) -> bool:
    if not me.token or not any(token.id == me.token for token in mine):
        return False
    client.call("revoke_token", {"token": me.token})
    return True


@click.command()
@rendered()
def whoami(cli: CliContext) -> CommandResult:
    """Show where the memories are, and who you are there."""
    from recollect.remote.login import read_login

    known = read_login(cli.settings.home)
    if known is None:
        user = cli.settings.user
        value = {"login": None, "user": user}
        return CommandResult(
            value, lambda: click.echo(f"{user}, with the local store. Not logged in to a team.")
        )
    client = client_of(cli)
    me: WhoAmI = client.call("whoami", {})
    there = client.server_version()

    def text() -> None:
        click.echo(output.one_line(f"{me.name} ({me.role}) in {me.team}, on {known.address}"))
        click.echo(output.one_line(f"Recollect {__version__} here, {there} on the server."))
        if me.agent:
            click.echo(output.one_line(f"As the agent {me.agent}."))
        click.echo(output.one_line(f"The token allows: {', '.join(me.actions)}."))

    login = _login_json(me, known.address)
    return CommandResult({"login": login, "user": me.user, "server_version": there}, text)


def _login_json(me: "WhoAmI", address: str) -> dict[str, Any]:
    return {"address": address, "team": me.team, "name": me.name, "role": me.role, "user": me.user}


def client_of(cli: CliContext) -> "TeamClient":
    """Return a client with the token of this home's login. Raise `Refused` if there is none."""
    from recollect.remote.client import TeamClient
    from recollect.remote.login import read_login, token_of

    home = cli.settings.home
    known = read_login(home)
    if known is None:
        raise Refused("You are not logged in to a team.", "Run `recollect login URL` first.")
    return _closed_at_exit(TeamClient(known.address, token_of(home, known, os.environ)))


def _closed_at_exit(client: "TeamClient") -> "TeamClient":
    click.get_current_context().call_on_close(client.close)
    return client
