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
from recollect.model.team import ACTIONS, Erasure, Person, Role, TeamProject

if TYPE_CHECKING:
    from recollect.context.team import TeamBackend
    from recollect.remote.results import IssuedToken, TeamAnalytics

ROLES = click.Choice([str(role) for role in (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.READER)])
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
@click.option(
    "--admin-database", metavar="URL", required=True, help="The same database as the owner of its tables."
)
@rendered()
def upgrade(cli: CliContext, database: str | None, admin_database: str) -> CommandResult:
    """Update the tables for this version of Recollect.

    Run it once with the new version, then replace the servers one by one. Servers of the previous version keep working meanwhile.
    """
    from recollect.store import migrate_team

    if not database:
        raise BadSetting("No database is named.", "Give --database, or set RECOLLECT_TEAM_DATABASE.")
    migrate_team(admin_database, database)
    return CommandResult({"upgraded": True}, lambda: click.echo("The tables are up to date."))


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
@click.option("--oidc-issuer", metavar="URL", help="An identity provider with which people can sign in.")
@click.option("--oidc-client", metavar="ID", help="The client id of this server at the identity provider.")
@click.option(
    "--requests", type=float, metavar="N", help="Requests per second of a person; 0 for no limit [50]."
)
@click.option("--writes", type=int, metavar="N", help="Writes per day of a person; 0 for no limit [10000].")
@click.option("--agent-writes", type=int, metavar="N", help="Writes per day of one agent of a person [5000].")
@click.option("--team-writes", type=int, metavar="N", help="Writes per day of a team [200000].")
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
    oidc_issuer: str | None,
    oidc_client: str | None,
    requests: float | None,
    writes: int | None,
    agent_writes: int | None,
    team_writes: int | None,
) -> None:
    """Run the team server until it is interrupted.

    It listens on this machine only, unless you give a certificate or put a proxy in front of it. Any number of servers can
    use one database. Logs go to standard error, a JSON object per line, without texts.
    """
    from recollect.embed.open import embedder_for
    from recollect.interfaces.team.limits import Rates
    from recollect.interfaces.team.server import PORT, Listening, TeamServer, build, log_to_stderr

    if (oidc_issuer is None) != (oidc_client is None):
        raise BadSetting("An identity provider needs an issuer and a client id.", "Give both or none.")
    backend = _backend(database)
    try:
        settings = cli.settings
        limits = {
            "person": requests,
            "person_day": writes,
            "agent_day": agent_writes,
            "tenant_day": team_writes,
        }
        rates = Rates(**{name: value for name, value in limits.items() if value is not None})  # type: ignore[arg-type]
        provider = None
        if oidc_issuer and oidc_client:
            from recollect.interfaces.team.oidc import OpenIdProvider

            provider = OpenIdProvider(oidc_issuer, oidc_client)
        app = build(backend, settings, embedder_for(settings, ()), rates, provider=provider)
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
@click.option(
    "--role", type=ROLES, default=str(Role.MEMBER), show_default=True, help="What the person may do."
)
@click.option(
    "--days", type=click.IntRange(1, 90), default=7, show_default=True, help="How long the code is valid."
)
@click.option("--withdraw", is_flag=True, help="Withdraw an invitation that nobody has used.")
@rendered()
def invite(cli: CliContext, name: str, role: str, days: int, withdraw: bool) -> CommandResult:
    """Invite a person. Prints a code that works once.

    \b
    recollect team invite Ben
    recollect team invite Rita --role reader
    recollect team invite Ben --withdraw
    """
    client = client_of(cli)
    if withdraw:
        client.call("withdraw_invite", {"name": name})
        return CommandResult(
            {"withdrawn": name}, lambda: click.echo(f"The invitation of {name} is withdrawn.")
        )
    made = client.call("invite", {"name": name, "role": role, "days": days})

    def text() -> None:
        click.echo(f"Send this to {name}; it works once, until {output.moment(made.expires_at)}:")
        click.echo(f"  recollect login {client.address} --code {output.one_line(made.code)}")

    return CommandResult(made, text)


@team.command()
@rendered()
def usage(cli: CliContext) -> CommandResult:
    """Show how much was written today, and the daily limits."""
    used: dict[str, tuple[int, int]] = client_of(cli).call("usage", {})

    def text() -> None:
        rows = [
            (who, f"{count:,}", f"of {limit:,} writes" if limit else "writes")
            for who, (count, limit) in used.items()
        ]
        output.print_table(rows, ["cyan", "green"])

    return CommandResult(
        {who: {"writes": count, "limit": limit} for who, (count, limit) in used.items()}, text
    )


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
    output.print_table(rows, ["cyan", "green", ""])


@team.command()
@click.option("--left", is_flag=True, help="Those who have left. For admins.")
@rendered(_print_people, key="members", empty="Nobody.")
def members(cli: CliContext, left: bool) -> "Sequence[Person]":
    """List the people in the team."""
    people: Sequence[Person] = client_of(cli).call("members", {"left": True} if left else {})
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
    """Hide what a person's agents write from everybody else.

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
@click.option("--agent", default="", help="For an agent or a job with this name, which acts in its own name.")
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
    output.print_table(rows, ["cyan", "green", "", ""])


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
@click.argument("name", metavar="PROJECT")
@click.argument("people", nargs=-1)
@rendered()
def restrict(cli: CliContext, name: str, people: tuple[str, ...]) -> CommandResult:
    """Let only PEOPLE see a project; without PEOPLE, open it to the whole team."""
    arguments: dict[str, Any] = {"project": name}
    if people:
        arguments["people"] = people
    client_of(cli).call("restrict_project", arguments)
    who = ", ".join(people) if people else "everybody in the team"
    return CommandResult(
        {"project": name, "people": list(people)}, lambda: click.echo(f"{name} is open to {who}.")
    )


@team.command()
@rendered()
def analytics(cli: CliContext) -> CommandResult:
    """Show what the team runs into most: gotchas, and searches without an answer.

    Gotchas are memories that are shared. Searches are private: they are shown where five or more people made them.
    """
    found: TeamAnalytics = client_of(cli).call("analytics", {})

    def text() -> None:
        if found.gotchas:
            click.echo("Gotchas that are used most:")
            rows = [
                (memory.id[-6:], str(memory.access_count), output.one_line(memory.content))
                for memory in found.gotchas
            ]
            output.print_table(rows, ["cyan", "green"])
        if found.questions:
            click.echo("Searches without an answer:")
            output.print_table(
                [(f"{each.people}+ people", output.one_line(each.question)) for each in found.questions],
                ["cyan"],
            )
        if found.unanswered is None:
            click.echo(
                "Fewer than five people searched without an answer in 30 days: nothing is said about them."
            )
        else:
            click.echo(f"{found.unanswered} searches without an answer in 30 days.")

    return CommandResult(found, text)


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
            f"Moved {output.count(report.sent, 'memory', 'memories')} and {output.count(report.links, 'link')};"
            f" {report.known} were there already."
        )
        for name, why in report.refused:
            click.echo(output.one_line(f"Refused {name}: {why}"), err=True)
        for name in report.missing:
            click.echo(output.one_line(f"Not as it was sent: {name}"), err=True)
        if report.note:
            click.echo(report.note, err=True)

    return CommandResult({"projects": plans, "report": report}, text)


@team.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--mine", is_flag=True, help="Everything that is stored about you, and nothing about others.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "json", "markdown"]),
    help="How to write it [by the name of FILE: .json, .md, else JSON lines].",
)
@rendered()
def export(cli: CliContext, file: Path, mine: bool, form: str | None) -> CommandResult:
    """Write all memories that you may see to FILE.

    `recollect import` reads it; JSON has the links between memories too. With --mine, JSON and Markdown have everything that is stored of you: also your
    tokens without their secrets, consents, sessions, findings, searches without an answer, changes, what you have hidden,
    and your lines of the audit log.
    """
    from recollect.remote.export import Exported, as_json, as_json_lines, as_markdown

    client = client_of(cli)
    data = Exported.read(client, mine)
    form = form or {".json": "json", ".md": "markdown"}.get(file.suffix, "jsonl")
    written = {"json": as_json, "markdown": as_markdown, "jsonl": as_json_lines}[form](data)
    with output.replacing(file) as out:
        out.write(written)
    count = len(data.memories)
    note = data.note if form == "json" else ""  # the others have no links anyway
    words = f"Wrote {output.count(count, 'memory', 'memories')} to {file}."

    def text() -> None:
        click.echo(words)
        if note:
            click.echo(note, err=True)

    return CommandResult({"memories": count, "file": str(file), **({"note": note} if note else {})}, text)


@team.command(name="private-mode")
@click.argument("switch", type=click.Choice(["on", "off"]), required=False)
@rendered()
def private_mode(cli: CliContext, switch: str | None) -> CommandResult:
    """Keep your private memories on this machine, or send them to the server.

    With private mode they are in an encrypted store of this machine, are found here only, and never reach the server.
    `recollect edit ID --visibility project` shares one. What is stored already stays where it is; without private mode, what is on
    this machine is not found until you turn it on again.
    """
    from recollect.interfaces.daemon_client.control import stop
    from recollect.remote.login import read_login, set_private_mode

    home = cli.settings.home
    client_of(cli)  # refuses without a login
    login = read_login(home)
    assert login is not None
    is_on = login.private_mode if switch is None else switch == "on"
    kept = 0 if is_on else _count_on_this_machine(cli)
    if is_on != login.private_mode:
        set_private_mode(home, login, is_on)
        stop(home)  # a running daemon would go on as before
    words = "stay on this machine" if is_on else "are sent to the server"

    def text() -> None:
        click.echo(f"From now on your private memories {words}.")
        if kept:
            found = output.count(kept, "memory", "memories")
            click.echo(f"On this machine: {found}, not found until `recollect team private-mode on`.")

    return CommandResult({"private_mode": is_on, "on_this_machine": kept}, text)


def _count_on_this_machine(cli: CliContext) -> int:
    """Return how many private memories were kept here."""
    context = cli.engine.context
    view = m.View(context.user_id, None, all_projects=True, all_sessions=True)
    return context.store.count(view)


@team.command(name="erase-me")
@click.option("--confirm", metavar="NAME", help="Your name, as `recollect whoami` shows it.")
@click.option("--now", "at_once", is_flag=True, help="Do not wait for 30 days.")
@click.option("--cancel", is_flag=True, help="Cancel the deletion.")
@rendered()
def erase_me(cli: CliContext, confirm: str | None, at_once: bool, cancel: bool) -> CommandResult:
    """Delete all your data from the team, in 30 days or now.

    Your memories go, with their vectors, links and undo images, your share of merged ones, your sessions, and your name.
    Until then you can keep working, and --cancel stops the deletion; afterwards it cannot be undone. Run `recollect team export FILE
    --mine` first.
    """
    if cancel:
        client_of(cli).call("keep_me", {})
        return CommandResult({"erasure": None}, lambda: click.echo("Nothing of yours will be erased."))
    if confirm is None:
        raise click.UsageError("Give your name with --confirm.")
    erasure = client_of(cli).call("erase_me", {"confirm": confirm, "at_once": at_once})

    def text() -> None:
        if erasure.done_at is None:
            click.echo(f"Everything of yours will be erased on {output.moment(erasure.due_at)}.")
            click.echo("Run `recollect team erase-me --cancel` to keep it.")
            return
        for table, rows in sorted(erasure.rows.items()):
            click.echo(output.one_line(f"{table}: {rows}"))
        click.echo("Everything of yours is deleted. Run `recollect logout` to finish.")

    return CommandResult(erasure, text)


@team.command()
@click.argument("name")
@click.option("--confirm", metavar="NAME", required=True, help="The same name again.")
@rendered()
def erase(cli: CliContext, name: str, confirm: str) -> CommandResult:
    """Delete all data of a person who has left. It cannot be undone.

    People who are still there do this themselves, with `recollect team erase-me`. Run it too for whoever was erased after
    a backup that you restore, once you have removed them again.
    """
    erasure = client_of(cli).call("erase_member", {"person": name, "confirm": confirm})

    def text() -> None:
        for table, rows in sorted(erasure.rows.items()):
            click.echo(output.one_line(f"{table}: {rows}"))
        click.echo(output.one_line(f"Everything of {name} is deleted."))

    return CommandResult(erasure, text)


def _print_erasures(erasures: Sequence[Erasure]) -> None:
    rows = [
        (
            each.user,
            f"asked for {output.moment(each.requested_at)}",
            f"done {output.moment(each.done_at)}" if each.done_at else f"due {output.moment(each.due_at)}",
            ", ".join(f"{table}: {count}" for table, count in sorted(each.rows.items())),
        )
        for each in erasures
    ]
    output.print_table(rows, ["cyan", "", ""])


@team.command()
@rendered(_print_erasures, key="erasures", empty="Nobody has asked to be erased.")
def erasures(cli: CliContext) -> Sequence[Erasure]:
    """List who asked to be erased, and what was erased. Others than admins see their own request."""
    found: Sequence[Erasure] = client_of(cli).call("erasures", {})
    return found


@team.command()
@click.argument("what", required=False)
@click.option("--revoke", is_flag=True, help="Withdraw the consent.")
@rendered()
def consent(cli: CliContext, what: str | None, revoke: bool) -> CommandResult:
    """Show your consents, give one, or withdraw one.

    `server`: your memories are stored on the server. If you revoke it, nothing more of yours is stored; what is there stays
    until you erase it. `embeddings`: the server makes the vectors of your texts; see `recollect login --embeddings`.
    """
    client = client_of(cli)
    if what is not None:
        client.call("consent", {"what": what, "on": not revoke})
    consents = client.call("whoami", {}).consents

    def text() -> None:
        for name, since in sorted(consents.items()):
            click.echo(f"{output.one_line(name)}: since {output.moment(since)}")
        if not consents:
            click.echo("You agree to nothing.")

    return CommandResult({"consents": consents}, text)


@team.command()
@click.option(
    "--forgotten",
    type=click.IntRange(1, 3650),
    metavar="DAYS",
    help="Delete memories this many days after they were forgotten.",
)
@click.option(
    "--unused",
    type=click.IntRange(0, 3650),
    metavar="DAYS",
    help="Forget memories that nobody has used or changed for this many days; 0 for never.",
)
@rendered()
def retention(cli: CliContext, forgotten: int | None, unused: int | None) -> CommandResult:
    """Show or change how long the team keeps memories. Only admins change it.

    \b
    recollect team retention --forgotten 7 --unused 365
    """
    client = client_of(cli)
    kept = client.call("retention", {})
    if forgotten is not None or unused is not None:
        days = kept.unused_days if unused is None else unused or None
        kept = client.call(
            "set_retention", {"forgotten_days": forgotten or kept.forgotten_days, "unused_days": days}
        )

    def text() -> None:
        click.echo(f"What was forgotten is deleted after {output.count(kept.forgotten_days, 'day', 'days')}.")
        if kept.unused_days is None:
            click.echo("What nobody uses stays.")
        else:
            days = output.count(kept.unused_days, "day", "days")
            click.echo(f"What nobody uses or changes for {days} is forgotten, unless it is pinned.")

    return CommandResult(kept, text)
