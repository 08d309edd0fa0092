"""Sessions: what was said in them, what they came to, what a memory came from."""

import click

import recollect.model as m
from recollect.interfaces.cli import show as look
from recollect.interfaces.cli.door import MEMORY, Door, at_most, open_engine, shared, text_of


@click.group(no_args_is_help=False, subcommand_metavar="list|show|search|source|end|fork|recover ...")
@shared
def session() -> None:
    """Look into sessions: what was said, what was learnt, what is still open."""


@session.command("list")
@at_most(20)
@shared
@click.pass_obj
def list_sessions(door: Door, limit: int) -> None:
    """List this project's sessions, newest first."""
    with open_engine(door) as engine:
        found = engine.sessions.newest(limit)
    if door.json:
        look.say_json(found)
        return
    if not found:
        click.echo(
            "No sessions here yet. `recollect extract FILE` learns from a host's transcript.", err=True
        )
    rows = [
        (each.id, look.moment(each.started_at), each.agent or each.host, _first_line(each)) for each in found
    ]
    for line in look.table(rows, ("cyan", "", "")):
        click.echo(line)


def _first_line(session: m.Session) -> str:
    state = "" if session.ended_at else "(open) "
    return state + look.one_line(session.summary.partition("\n")[0].removeprefix("- "))


@session.command()
@click.argument("name", metavar="ID")
@shared
@click.pass_obj
def show(door: Door, name: str) -> None:
    """Show a session: its summary, its findings and what became of them."""
    with open_engine(door) as engine:
        found = engine.sessions.find(name)
        findings = engine.sessions.findings(found.id)
    if door.json:
        look.say_json({"session": found, "findings": findings})
        return
    ended = look.moment(found.ended_at) if found.ended_at else "still open"
    click.echo(
        f"{click.style(look.one_line(found.id), bold=True)}  {look.moment(found.started_at)} – {ended}"
    )
    if found.parent:
        click.echo(f"forked from {look.one_line(found.parent)}")
    click.echo(look.printable(found.summary) or "No summary.")
    for finding in findings:
        fate = f"→ {finding.promoted_to[-look.SHORT_ID :]}" if finding.promoted_to else "not promoted"
        click.echo(f"[{finding.kind}] {look.one_line(finding.content)} ({fate})")


@session.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--by",
    type=click.Choice(["message", "session"]),
    default="message",
    show_default=True,
    help="What to find: single messages, or whole sessions with their best ones.",
)
@at_most(10)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@shared
@click.pass_obj
def search(door: Door, query: tuple[str, ...], by: str, limit: int, all_projects: bool) -> None:
    """Find what was said about QUERY, best first.

    \b
    recollect session search "why did we drop the queue"
    recollect session search login --by session
    """
    with open_engine(door) as engine:
        find = engine.search_messages if by == "message" else engine.search_sessions
        found = find(text_of(query), limit, all_projects=all_projects)
    if door.json:
        look.say_json({"by": by, "results": found})
        return
    if not found:
        click.echo("Nothing found. `recollect import --messages FILE` brings sessions in.", err=True)
    said = [hit for hit in found if isinstance(hit, m.MessageHit)]
    for line in look.message_table(said, sessions=True):
        click.echo(line)
    for hit in found:
        if isinstance(hit, m.SessionHit):
            click.echo(f"{hit.score:.2f}  {click.style(look.one_line(hit.session), fg='cyan')}")
            for line in look.message_table(hit.best, indent="      "):
                click.echo(line)


@session.command()
@click.argument("memory", metavar="ID", type=MEMORY)
@shared
@click.pass_obj
def source(door: Door, memory: str) -> None:
    """Show the messages a memory came from."""
    with open_engine(door) as engine:
        found = engine.get(memory)
        said = engine.sessions.source(found)
    if door.json:
        look.say_json({"memory": found.id, "messages": said})
        return
    if not said:
        click.echo("Nothing of what was said is kept for this memory.", err=True)
    for message in said:
        click.echo(f"{click.style(message.author, bold=True)} ({look.moment(message.created_at)})")
        click.echo(look.printable(message.text))


@session.command()
@click.argument("name", metavar="ID")
@shared
@click.pass_obj
def end(door: Door, name: str) -> None:
    """End a session now: sum it up, and promote what it has learnt."""
    with open_engine(door) as engine:
        ended = engine.sessions.end(engine.sessions.find(name).id)
        saved = engine.measures.saved(ended.session.id)
    if door.json:
        look.say_json({**m.as_json(ended), "saved": saved})
        return
    _say_ended(ended.session, ended.findings, ended.promoted)
    if saved.line:
        click.echo(f"{saved.line} (`recollect stats --explain-saved {ended.session.id}`).")


@session.command()
@click.argument("name", metavar="ID")
@shared
@click.pass_obj
def fork(door: Door, name: str) -> None:
    """Begin a session with the findings of another; both may promote them."""
    with open_engine(door) as engine:
        child = engine.sessions.fork(engine.sessions.find(name).id)
    if door.json:
        look.say_json(child)
        return
    click.echo(f"{child.id} goes on from {look.one_line(child.parent or '')}.")


@session.command()
@click.argument("name", metavar="[ID]", required=False)
@shared
@click.pass_obj
def recover(door: Door, name: str | None) -> None:
    """Learn from sessions that never ended: those idle for half an hour, or ID."""
    with open_engine(door) as engine:
        waiting = engine.sessions.take_in(engine.spool)
        ended = engine.sessions.recover(engine.sessions.find(name).id if name else None)
    if door.json:
        look.say_json({"taken_in": waiting, "recovered": ended})
        return
    if not ended:
        click.echo("No session waits to be recovered.")
    for each in ended:
        _say_ended(each.session, each.findings, each.promoted)


def _say_ended(session: m.Session, findings: int, promoted: tuple[str, ...]) -> None:
    made = f", {look.count(len(promoted), 'memory', 'memories')} of them" if promoted else ""
    click.echo(f"{look.one_line(session.id)}: {look.count(findings, 'finding')}{made}.")
    if session.summary:
        click.echo(look.printable(session.summary))
