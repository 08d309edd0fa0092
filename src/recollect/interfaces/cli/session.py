"""Sessions: what was said in them, what they came to, what a memory came from."""

import click

import recollect.model as m
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import (
    MEMORY,
    CliContext,
    limit_option,
    open_engine,
    read_text,
    shared_options,
)


@click.group(no_args_is_help=False, subcommand_metavar="list|show|search|source|end|fork|recover ...")
@shared_options
def session() -> None:
    """Look into sessions: what was said, what was learnt, what is still open."""


@session.command("list")
@limit_option(20)
@shared_options
@click.pass_obj
def list_sessions(cli: CliContext, limit: int) -> None:
    """List this project's sessions, newest first."""
    with open_engine(cli) as engine:
        found = engine.sessions.newest(limit)
    if cli.json:
        output.print_json(found)
        return
    if not found:
        click.echo(
            "No sessions here yet. `recollect extract FILE` learns from a host's transcript.", err=True
        )
    rows = [
        (each.id, output.moment(each.started_at), each.agent or each.host, _first_line(each))
        for each in found
    ]
    for line in output.table(rows, ("cyan", "", "")):
        click.echo(line)


def _first_line(session: m.Session) -> str:
    state = "" if session.ended_at else "(open) "
    return state + output.one_line(session.summary.partition("\n")[0].removeprefix("- "))


@session.command()
@click.argument("name", metavar="ID")
@shared_options
@click.pass_obj
def show(cli: CliContext, name: str) -> None:
    """Show a session: its summary, its findings and what became of them."""
    with open_engine(cli) as engine:
        found = engine.sessions.find(name)
        findings = engine.sessions.findings(found.id)
    if cli.json:
        output.print_json({"session": found, "findings": findings})
        return
    ended = output.moment(found.ended_at) if found.ended_at else "still open"
    click.echo(
        f"{click.style(output.one_line(found.id), bold=True)}  {output.moment(found.started_at)} – {ended}"
    )
    if found.parent:
        click.echo(f"forked from {output.one_line(found.parent)}")
    click.echo(output.printable(found.summary) or "No summary.")
    for finding in findings:
        fate = f"→ {finding.promoted_to[-output.SHORT_ID :]}" if finding.promoted_to else "not promoted"
        click.echo(f"[{finding.kind}] {output.one_line(finding.content)} ({fate})")


@session.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--by",
    type=click.Choice(["message", "session"]),
    default="message",
    show_default=True,
    help="What to find: single messages, or whole sessions with their best ones.",
)
@limit_option(10)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@shared_options
@click.pass_obj
def search(cli: CliContext, query: tuple[str, ...], by: str, limit: int, all_projects: bool) -> None:
    """Find what was said about QUERY, best first.

    \b
    recollect session search "why did we drop the queue"
    recollect session search login --by session
    """
    with open_engine(cli) as engine:
        find = engine.search_messages if by == "message" else engine.search_sessions
        found = find(read_text(query), limit, all_projects=all_projects)
    if cli.json:
        output.print_json({"by": by, "results": found})
        return
    if not found:
        click.echo("Nothing found. `recollect import --messages FILE` brings sessions in.", err=True)
    said = [hit for hit in found if isinstance(hit, m.MessageHit)]
    for line in output.message_table(said, sessions=True):
        click.echo(line)
    for hit in found:
        if isinstance(hit, m.SessionHit):
            click.echo(f"{hit.score:.2f}  {click.style(output.one_line(hit.session), fg='cyan')}")
            for line in output.message_table(hit.best, indent="      "):
                click.echo(line)


@session.command()
@click.argument("memory", metavar="ID", type=MEMORY)
@shared_options
@click.pass_obj
def source(cli: CliContext, memory: str) -> None:
    """Show the messages a memory came from."""
    with open_engine(cli) as engine:
        found = engine.get(memory)
        said = engine.sessions.source(found)
    if cli.json:
        output.print_json({"memory": found.id, "messages": said})
        return
    if not said:
        click.echo("Nothing of what was said is kept for this memory.", err=True)
    for message in said:
        click.echo(f"{click.style(message.author, bold=True)} ({output.moment(message.created_at)})")
        click.echo(output.printable(message.text))


@session.command()
@click.argument("name", metavar="ID")
@shared_options
@click.pass_obj
def end(cli: CliContext, name: str) -> None:
    """End a session now: sum it up, and promote what it has learnt."""
    with open_engine(cli) as engine:
        ended = engine.sessions.end(engine.sessions.find(name).id)
        saved = engine.measures.saved(ended.session.id)
    if cli.json:
        output.print_json({**m.as_json(ended), "saved": saved})
        return
    _say_ended(ended.session, ended.findings, ended.promoted)
    if saved.line:
        click.echo(f"{saved.line} (`recollect stats --explain-saved {ended.session.id}`).")


@session.command()
@click.argument("name", metavar="ID")
@shared_options
@click.pass_obj
def fork(cli: CliContext, name: str) -> None:
    """Begin a session with the findings of another; both may promote them."""
    with open_engine(cli) as engine:
        child = engine.sessions.fork(engine.sessions.find(name).id)
    if cli.json:
        output.print_json(child)
        return
    click.echo(f"{child.id} goes on from {output.one_line(child.parent or '')}.")


@session.command()
@click.argument("name", metavar="[ID]", required=False)
@shared_options
@click.pass_obj
def recover(cli: CliContext, name: str | None) -> None:
    """Learn from sessions that never ended: those idle for half an hour, or ID."""
    with open_engine(cli) as engine:
        waiting = engine.sessions.take_in(engine.spool)
        ended = engine.sessions.recover(engine.sessions.find(name).id if name else None)
    if cli.json:
        output.print_json({"taken_in": waiting, "recovered": ended})
        return
    if not ended:
        click.echo("No session waits to be recovered.")
    for each in ended:
        _say_ended(each.session, each.findings, each.promoted)


def _say_ended(session: m.Session, findings: int, promoted: tuple[str, ...]) -> None:
    made = f", {output.count(len(promoted), 'memory', 'memories')} of them" if promoted else ""
    click.echo(f"{output.one_line(session.id)}: {output.count(findings, 'finding')}{made}.")
    if session.summary:
        click.echo(output.printable(session.summary))
