"""The `team` commands: run a team server, and manage people, tokens and projects."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import BadSetting
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options
from recollect.interfaces.cli.login import client_of
from recollect.model.team import ACTIONS, Person, Role, TeamProject

if TYPE_CHECKING:
    from recollect.context.team import TeamBackend
    from recollect.remote.results import IssuedToken

ROLES = click.Choice([Role.OWNER, Role.ADMIN, Role.MEMBER, Role.READER])
_DATABASE = click.option(
    "--database",
    envvar="RECOLLECT_TEAM_DATABASE",
    metavar="URL",
    help="The PostgreSQL database, as postgresql://USER@HOST/NAME [RECOLLECT_TEAM_DATABASE].",
)


@click.group()
@shared_options
def team() -> None:
    """Share memories in a team: run the server, invite people, manage tokens.

    \b
    recollect team init "Web shop" --owner Ada
    recollect team serve
    recollect team invite Ben
    """


def _backend(url: str | None) -> "TeamBackend":
    from recollect.store import open_team

    if not url:
        raise BadSetting("No database is named.", "Give --database, or set RECOLLECT_TEAM_DATABASE.")
    return open_team(url)


@team.command()
@click.argument("name")
@click.option("--owner", required=True, help="The name of the first owner.")
@_DATABASE
@click.option("--admin-database", metavar="URL", help="The same database as its owner, to create the tables.")
@rendered()
def init(
    cli: CliContext, name: str, owner: str, database: str | None, admin_database: str | None
) -> CommandResult:
    """Create a team in the database, and a token with which its owner logs in.

    Run it where the server runs. The tables are created or updated if you give --admin-database.
    """
    from datetime import timedelta

    from recollect.model.team import Token
    from recollect.remote.secrets import new_secret
    from recollect.store import migrate_team

    if admin_database:
        if not database:
            raise BadSetting("No database is named.", "Give --database, or set RECOLLECT_TEAM_DATABASE.")
        migrate_team(admin_database, database)
    backend = _backend(database)
    try:
        at = m.utc_now()
        person = backend.directory.create_team(name, owner, at)
        secret, hashed = new_secret()
        backend.directory.put_token(
            Token(
                m.new_id(at),
                person.tenant,
                person.id,
                "first",
                hashed,
                at,
                expires_at=at + timedelta(days=30),
            )
        )
    finally:
        backend.close()

    def text() -> None:
        click.echo(f"Created {name}. {owner} logs in with:")
        click.echo(f"  recollect login URL --token {secret}")

    return CommandResult({"tenant": person.tenant, "user": person.id, "token": secret}, text)


@team.command()
@_DATABASE
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0 for any free one [7438].")
@click.option(
    "--certificate", type=click.Path(path_type=Path, exists=True), help="A TLS certificate, with its chain."
)
@click.option("--key", type=click.Path(path_type=Path, exists=True), help="The certificate's private key.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of the server terminates TLS.")
@click.option(
    "--address",
    default="",
    help="The address under which browsers reach it, such as https://memory.example [host and port].",
)
@rendered()
def serve(
    cli: CliContext,
    database: str | None,
    host: str,
    port: int | None,
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    address: str,
) -> None:
    """Run the team server until it is interrupted.

    It listens on this machine only, unless you give a certificate or put a proxy in front of it. Any number of servers can
    use one database. Logs go to standard error, a JSON object per line, without texts.
    """
    from recollect.embed.open import embedder_for
    from recollect.interfaces.team.server import PORT, Listening, TeamServer, build, log_to_stderr

    backend = _backend(database)
    try:
        settings = cli.settings
        app = build(backend, settings, embedder_for(settings, ()))
        where = Listening(host, PORT if port is None else port, certificate, key, behind_proxy, address)
        server = TeamServer(app, where)
        log_to_stderr()
        click.echo(f"Serving teams at {server.address}", err=True)
        server.run()
    finally:
        backend.close()


# people


@team.command()
@click.argument("name")
@click.option("--role", type=ROLES, default=Role.MEMBER, show_default=True, help="What the person may do.")
@click.option(
    "--days", type=click.IntRange(1, 90), default=7, show_default=True, help="How long the code is valid."
)
@rendered()
def invite(cli: CliContext, name: str, role: str, days: int) -> CommandResult:
    """Invite a person. Prints a code that works once.

    \b
    recollect team invite Ben
    recollect team invite Rita --role reader
    """
    client = client_of(cli)
    made = client.call("invite", {"name": name, "role": role, "days": days})

    def text() -> None:
        click.echo(f"Send this to {name}; it works once, until {output.moment(made.expires_at)}:")
        click.echo(f"  recollect login {client.address} --code {output.one_line(made.code)}")

    return CommandResult(made, text)


def _print_people(people: Sequence[Person]) -> None:
    rows = [
        (
            output.one_line(person.name),
            person.role,
            output.moment(person.joined_at),
            "in quarantine" if person.is_flagged else "",
        )
        for person in people
    ]
    output.print_table(rows, ["cyan", "green"])


@team.command()
@rendered(_print_people, key="members")
def members(cli: CliContext) -> "Sequence[Person]":
    """List the people in the team."""
    people: Sequence[Person] = client_of(cli).call("members", {})
    return people


@team.command()
@click.argument("name")
@click.argument("role", type=ROLES)
@rendered()
def role(cli: CliContext, name: str, role: str) -> CommandResult:
    """Give a person another role: owner, admin, member or reader."""
    client_of(cli).call("set_role", {"person": name, "role": role})
    return CommandResult({"name": name, "role": role}, lambda: click.echo(f"{name} is now {role}."))


@team.command()
@click.argument("name")
@rendered()
def remove(cli: CliContext, name: str) -> CommandResult:
    """Remove a person. Their tokens end within a minute; what they shared stays."""
    client_of(cli).call("remove_member", {"person": name})
    return CommandResult({"removed": name}, lambda: click.echo(f"{name} is no longer in the team."))


@team.command()
@rendered()
def leave(cli: CliContext) -> CommandResult:
    """Leave the team. The last owner cannot."""
    client_of(cli).call("leave", {})
    return CommandResult(
        {"left": True}, lambda: click.echo("You have left. Run `recollect logout` to finish.")
    )


@team.command()
@click.argument("name")
@click.option("--off", is_flag=True, help="Show it to the others from now on.")
@rendered()
def quarantine(cli: CliContext, name: str, off: bool) -> CommandResult:
    """Keep what a person's agents write from the others.

    New people are in quarantine until you end it: what their agents learn stays private to them. What is private already
    stays so until the person shares it.
    """
    client_of(cli).call("flag_member", {"person": name, "on": not off})
    words = "is shown to the others from now on" if off else "stays private to them from now on"
    return CommandResult(
        {"name": name, "quarantine": not off}, lambda: click.echo(f"What {name}'s agents write {words}.")
    )


@team.command()
@click.argument("memory_id", metavar="ID")
@click.option("--off", is_flag=True, help="Show it again.")
@rendered()
def hide(cli: CliContext, memory_id: str, off: bool) -> CommandResult:
    """Hide a memory for yourself. The others still see it."""
    memory = client_of(cli).call("hide", {"name": memory_id, "on": not off})
    words = "You and your agents see it again" if off else "You and your agents no longer see it"
    return CommandResult(
        {"memory": memory, "hidden": not off}, lambda: click.echo(output.one_line(f"{words}: {memory.id}"))
    )


# tokens


@team.group()
@shared_options
def token() -> None:
    """Create, list and revoke tokens: for other machines, agents and CI jobs."""


@token.command()
@click.argument("name")
@click.option(
    "--agent", default="", help="The token is for an agent or a job with this name, which acts as itself."
)
@click.option(
    "--action",
    "actions",
    multiple=True,
    type=click.Choice(sorted(ACTIONS)),
    help="What it allows; repeatable [all that yours allows].",
)
@click.option(
    "--for",
    "projects",
    multiple=True,
    metavar="PROJECT",
    help="The id of a project it is for; repeatable [all].",
)
@click.option("--days", type=click.IntRange(1, 3650), help="How long it is valid [until it is revoked].")
@rendered()
def create(
    cli: CliContext,
    name: str,
    agent: str,
    actions: tuple[str, ...],
    projects: tuple[str, ...],
    days: int | None,
) -> CommandResult:
    """Create a token of your own. It is printed once.

    \b
    recollect team token create ci --agent ci --action read --action write --days 90
    """
    arguments: dict[str, Any] = {"name": name, "agent": agent, "actions": actions, "days": days}
    if projects:
        arguments["projects"] = projects
    made = client_of(cli).call("create_token", arguments)

    def text() -> None:
        click.echo(output.one_line(made.secret))
        click.echo("This is shown once. Set it as RECOLLECT_TOKEN, or log in with --token.", err=True)

    return CommandResult(made, text)


def _print_tokens(tokens: "Sequence[IssuedToken]") -> None:
    rows = [
        (
            each.id,
            output.one_line(each.name),
            output.one_line(each.agent or "person"),
            output.one_line(",".join(each.actions)),
            "revoked"
            if each.revoked_at
            else f"until {output.moment(each.expires_at)}"
            if each.expires_at
            else "",
        )
        for each in tokens
    ]
    output.print_table(rows, ["cyan", "green"])


@token.command(name="list")
@click.option("--everybody", is_flag=True, help="Those of the whole team. For admins.")
@rendered(_print_tokens, key="tokens")
def list_tokens(cli: CliContext, everybody: bool) -> "Sequence[IssuedToken]":
    """List your tokens."""
    found: Sequence[IssuedToken] = client_of(cli).call("tokens", {"everybody": everybody})
    return found


@token.command()
@click.argument("token_id", metavar="ID")
@rendered()
def revoke(cli: CliContext, token_id: str) -> CommandResult:
    """Revoke a token. It ends within a minute on every server."""
    client_of(cli).call("revoke_token", {"token": token_id})
    return CommandResult({"revoked": token_id}, lambda: click.echo(f"Revoked {token_id}."))


# projects


def _print_projects(projects: Sequence[TeamProject]) -> None:
    rows = [
        (
            project.id,
            output.one_line(project.name),
            "everybody"
            if project.members is None
            else output.count(len(project.members), "person", "people"),
        )
        for project in projects
    ]
    output.print_table(rows, ["cyan", "green"])


@team.command()
@rendered(_print_projects, key="projects", empty="Nobody has stored anything in a project yet.")
def projects(cli: CliContext) -> "Sequence[TeamProject]":
    """List the projects of the team that you may see."""
    found: Sequence[TeamProject] = client_of(cli).call("projects", {})
    return found


@team.command()
@click.argument("project")
@click.argument("people", nargs=-1)
@rendered()
def restrict(cli: CliContext, project: str, people: tuple[str, ...]) -> CommandResult:
    """Let only PEOPLE see a project; without PEOPLE, open it to the whole team."""
    arguments: dict[str, Any] = {"project": project}
    if people:
        arguments["people"] = people
    client_of(cli).call("restrict_project", arguments)
    who = ", ".join(people) if people else "everybody in the team"
    return CommandResult(
        {"project": project, "people": list(people)}, lambda: click.echo(f"{project} is open to {who}.")
    )


# moving in and out


@team.command()
@click.option(
    "--exclude", multiple=True, metavar="PROJECT", help="Leave out a project, by name or id; repeatable."
)
@click.option(
    "--visibility",
    type=click.Choice(["private", "project", "team"]),
    help="Who sees what is moved [as it is now: private for what you said].",
)
@click.option("-y", "--yes", "sure", is_flag=True, help="Move it, after the preview.")
@click.option("--undo", "back", is_flag=True, help="Take back what was moved from here.")
@rendered()
def migrate(
    cli: CliContext, exclude: tuple[str, ...], visibility: str | None, sure: bool, back: bool
) -> CommandResult:
    """Move the memories of the local store to the team.

    Shows what would go, by project and kind, and how others would see it; --yes moves it. Secrets are removed again on
    the way. You can interrupt it and run it again, and --undo takes it back. The local store keeps everything.

    \b
    recollect team migrate
    recollect team migrate --exclude diary --yes
    """
    import os

    from recollect.errors import Refused
    from recollect.remote.login import read_login
    from recollect.remote.migration import Migration
    from recollect.store import open_store
    from recollect.store.keys import find_key

    settings = cli.settings
    client = client_of(cli)
    login = read_login(settings.home)
    assert login is not None
    if not settings.database.exists():
        raise Refused("There is no local store in this home.", "Nothing needs to be moved.")
    store = open_store(settings.database, settings.user, find_key(settings.database, os.environ))
    try:
        migration = Migration(store, settings.user, settings.home / "teams" / login.id)
        if back:
            count = migration.undo(client)
            words = f"Took back {output.count(count, 'memory', 'memories')}."
            return CommandResult({"undone": count}, lambda: click.echo(words))
        plans = migration.preview(exclude)
        report = migration.run(client, exclude, visibility) if sure else None
    finally:
        store.close()

    def text() -> None:
        for plan in plans:
            kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(plan.kinds.items()))
            seen = ", ".join(f"{number} {who}" for who, number in sorted(plan.visibility.items()))
            click.echo(output.one_line(f"{plan.name}: {kinds} ({visibility or seen})"))
            if plan.secrets:
                click.echo(
                    f"  {output.count(plan.secrets, 'memory', 'memories')} with secrets, which are removed"
                )
        if report is None:
            click.echo(
                "Nothing was moved. Add `--yes` to move this, and `--exclude PROJECT` to leave something out."
            )
            return
        click.echo(
            f"Moved {output.count(report.sent, 'memory', 'memories')}; {report.known} were there already."
        )
        for name, why in report.refused:
            click.echo(output.one_line(f"Refused {name}: {why}"), err=True)
        for name in report.missing:
            click.echo(output.one_line(f"Not as it was sent: {name}"), err=True)

    return CommandResult({"projects": plans, "report": report}, text)


@team.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--mine", is_flag=True, help="Only what is stored of you, with your tokens and consents.")
@rendered()
def export(cli: CliContext, file: Path, mine: bool) -> CommandResult:
    """Write all memories that you may see to FILE, which `recollect import` reads."""
    client = client_of(cli)
    count, offset = 0, 0
    with output.replacing(file) as out:
        while True:
            page = client.call("my_data" if mine else "export", {"offset": offset})
            for memory in page.memories:
                out.write(m.visible_json(m.dumps(memory)) + "\n")
            count += len(page.memories)
            if page.next is None:
                break
            offset = page.next
    words = f"Wrote {output.count(count, 'memory', 'memories')} to {file}."
    return CommandResult({"memories": count, "file": str(file)}, lambda: click.echo(words))


@team.command(name="erase-me")
@click.option("--confirm", metavar="NAME", required=True, help="Your name, as `recollect whoami` shows it.")
@rendered()
def erase_me(cli: CliContext, confirm: str) -> CommandResult:
    """Delete everything of yours from the team, permanently.

    Your memories go, with their vectors, links and undo images, your sessions, and your name. It cannot be undone. Run
    `recollect team export FILE --mine` first.
    """
    erased = client_of(cli).call("erase_me", {"confirm": confirm})

    def text() -> None:
        for table, rows in sorted(erased.rows.items()):
            click.echo(output.one_line(f"{table}: {rows}"))
        click.echo("Everything of yours is deleted. Run `recollect logout` to finish.")

    return CommandResult(erased, text)
