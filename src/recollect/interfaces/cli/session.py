"""Commands for sessions of agents: session, extract."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.options import MEMORY, limit_option, parse_time, read_text, usage_error

if TYPE_CHECKING:
    from recollect.work.sessions.transcript import LearningReport


@click.group(
    invoke_without_command=True,
    subcommand_metavar="[list|show|deliveries|search|source|end|fork|recover] ...",
)
@shared_options
def session() -> None:
    """List, show and search the sessions of agents."""
    show_state(list_sessions)


def _print_sessions(sessions: Sequence[m.Session]) -> None:
    rows = [
        (session.id, output.moment(session.started_at), session.agent or session.host, _first_line(session))
        for session in sessions
    ]
    output.print_table(rows, ("cyan", "", ""), ("session", "started", "agent", "what it did"))


def _first_line(session: m.Session) -> str:
    state = "" if session.ended_at else "(open) "
    return state + output.one_line(session.summary.partition("\n")[0].removeprefix("- "))


def _session(cli: CliContext, name: str | None) -> m.Session:
    """Return the session with this name, or the last one. Raise `RecollectError` if there is none."""
    if name is not None:
        return cli.engine.sessions.find(name)
    newest = cli.engine.sessions.newest(1)
    if not newest:
        raise Refused("No session of this project is known.", "Start an agent in this folder first.")
    return newest[0]


@session.command("list")
@limit_option(20)
@rendered(
    _print_sessions,
    empty="No sessions found. A connected agent records its own (`recollect install`); `recollect extract FILE` imports one.",
)
def list_sessions(cli: CliContext, limit: int) -> Sequence[m.Session]:
    """List this project's sessions, newest first."""
    return cli.engine.sessions.newest(limit)


@session.command()
@click.argument("name", metavar="[ID]", required=False)
@rendered()
def show(cli: CliContext, name: str | None) -> CommandResult:
    """Show a session with its summary and findings; without ID, the last one."""
    session = _session(cli, name)
    findings = cli.engine.sessions.findings(session.id)

    def text() -> None:
        ended = output.moment(session.ended_at) if session.ended_at else "still open"
        id = click.style(output.one_line(session.id), bold=True)
        click.echo(f"{id}  {output.moment(session.started_at)} – {ended}")
        if session.parent:
            click.echo(f"forked from {output.one_line(session.parent)}")
        click.echo(output.printable(session.summary) or "No summary.")
        for finding in findings:
            memory = f"→ {finding.promoted_to[-output.SHORT_ID :]}" if finding.promoted_to else "not promoted"
            click.echo(f"[{finding.kind}] {output.one_line(finding.content)} ({memory})")

    return CommandResult({"session": session, "findings": findings}, text)


@session.command()
@click.argument("name", metavar="[ID]", required=False)
@rendered()
def deliveries(cli: CliContext, name: str | None) -> CommandResult:
    """Show what the agent of a session was told; without ID, the last one."""
    session = _session(cli, name)
    told = [record for record in cli.engine.delivery.of_session(session.id) if record.text or record.items]

    def text() -> None:
        if not told:
            click.echo("This session was told nothing.", err=True)
        for record in told:
            used = sum(item.used_at is not None for item in record.items)
            counts = f"{record.tokens:,} tokens, {used:,} of {len(record.items):,} items used"
            moment = click.style(record.moment.replace("_", " "), bold=True)
            click.echo(f"{moment}  {output.moment(record.at)}  {counts}")
            click.echo(output.printable(record.text) or "(The text was erased with a memory.)")

    as_objects = [{**record._asdict(), "items": [item._asdict() for item in record.items]} for record in told]
    return CommandResult({"session": session.id, "deliveries": as_objects}, text)


@session.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--by",
    type=click.Choice(["message", "session"]),
    default="message",
    show_default=True,
    help="Find single messages, or whole sessions with their best messages.",
)
@limit_option(10)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@rendered()
def search(cli: CliContext, query: tuple[str, ...], by: str, limit: int, all_projects: bool) -> CommandResult:
    """Search the messages of sessions, best first.

    \b
    recollect session search "why did we drop the queue"
    recollect session search login --by session
    """
    find = cli.engine.search_messages if by == "message" else cli.engine.search_sessions
    hits = find(read_text(query), limit, all_projects=all_projects)

    def text() -> None:
        if not hits:
            click.echo(
                "No messages found. Run `recollect import --messages FILE` to import sessions.", err=True
            )
        messages = [hit for hit in hits if isinstance(hit, m.MessageHit)]
        for line in output.message_table(messages, sessions=True):
            click.echo(line)
        for hit in hits:
            if isinstance(hit, m.SessionHit):
                click.echo(f"{hit.score:.2f}  {click.style(output.one_line(hit.session), fg='cyan')}")
                for line in output.message_table(hit.best, indent="      "):
                    click.echo(line)

    return CommandResult({"by": by, "results": hits}, text)


@session.command()
@click.argument("memory", metavar="ID", type=MEMORY)
@rendered()
def source(cli: CliContext, memory: str) -> CommandResult:
    """Show the messages that a memory was extracted from."""
    found = cli.engine.get(memory)
    messages = cli.engine.sessions.source(found)

    def text() -> None:
        if not messages:
            click.echo("No messages are stored for this memory.", err=True)
        for message in messages:
            click.echo(f"{click.style(message.author, bold=True)} ({output.moment(message.created_at)})")
            click.echo(output.printable(message.text))

    return CommandResult({"memory": found.id, "messages": messages}, text)


@session.command()
@click.argument("name", metavar="ID")
@rendered()
def end(cli: CliContext, name: str) -> CommandResult:
    """End a session now: summarise it and promote its findings."""
    ended = cli.engine.sessions.end(cli.engine.sessions.find(name).id)
    saved = cli.engine.measures.saved(ended.session.id)

    def text() -> None:
        _print_ended(ended.session, ended.findings, ended.promoted)
        if saved.line:
            click.echo(
                f"{saved.line} (run `recollect stats --explain-saved {ended.session.id}` for details)."
            )

    return CommandResult({**m.as_json(ended), "saved": saved}, text)


def _print_ended(session: m.Session, findings: int, promoted: Sequence[str]) -> None:
    memories = f", {len(promoted):,} promoted" if promoted else ""
    click.echo(f"{output.one_line(session.id)}: {output.count(findings, 'finding')}{memories}.")
    if session.summary:
        click.echo(output.printable(session.summary))


def _print_fork(session: m.Session) -> None:
    click.echo(f"Started {session.id}, forked from {output.one_line(session.parent or '')}.")


@session.command()
@click.argument("name", metavar="ID")
@rendered(_print_fork)
def fork(cli: CliContext, name: str) -> m.Session:
    """Start a session with the findings of another one.

    Both sessions can promote them.
    """
    return cli.engine.sessions.fork(cli.engine.sessions.find(name).id)


@session.command()
@click.argument("name", metavar="[ID]", required=False)
@rendered()
def recover(cli: CliContext, name: str | None) -> CommandResult:
    """End sessions that were interrupted, and extract their findings.

    Without ID these are the sessions without an event for half an hour.
    """
    sessions = cli.engine.sessions
    events = sessions.drain_spool(cli.engine.sessions.spool)
    recovered = sessions.recover(sessions.find(name).id if name else None)

    def text() -> None:
        if not recovered:
            click.echo("No sessions to recover.")
        for ended in recovered:
            _print_ended(ended.session, ended.findings, ended.promoted)

    return CommandResult({"taken_in": events, "recovered": recovered}, text)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--since", metavar="TIME", help="Read the agents' own session files since this time: 30d, 2026-05-01."
)
@rendered()
def extract(cli: CliContext, files: tuple[Path, ...], since: str | None) -> CommandResult:
    """Extract memories from transcripts of agents.

    \b
    recollect extract ~/.claude/projects/-home-me-shop/*.jsonl
    recollect extract --since 30d

    With --since, only sessions of this project are used. Reading a file twice changes nothing.
    """
    if bool(files) == (since is not None):
        raise usage_error("Give files, or --since.")
    paths = list(files) if since is None else cli.engine.sessions.transcript_files(parse_time(since))
    if missing := [path for path in files if not _is_file(path)]:
        raise Refused(
            f"The file {output.one_line(str(missing[0]))[:200]!r} does not exist.", "Check the path."
        )
    with output.progress("Reading", sum(path.stat().st_size for path in paths)) as advance:
        learning = cli.engine.sessions.learn_from_files(paths, own_only=since is not None, progress=advance)
    value = {
        "files": learning.files,
        "sessions": learning.sessions,
        "findings": learning.findings,
        "promoted": learning.promoted,
        "elsewhere": learning.elsewhere,
        "refused": learning.refused,
        "events": learning.report.events,
        "skipped": learning.report.skipped,
        "problems": [str(problem) for problem in learning.report.problems],
    }
    return CommandResult(value, lambda: _print_extraction(learning, len(paths)))


def _print_extraction(learning: "LearningReport", paths: int) -> None:
    if not paths:
        click.echo("No session files found since that time.")
        return
    click.echo(
        f"Read {output.count(learning.files, 'file')} with {output.count(len(learning.sessions), 'session')}:"
        f" {output.count(learning.findings, 'finding')},"
        f" {output.count(len(learning.promoted), 'memory', 'memories')} stored."
    )
    if learning.elsewhere:
        click.echo(f"Skipped {output.count(learning.elsewhere, 'session')} of other projects.")
    for line in learning.refused:
        click.echo(f"Not read: {output.one_line(line)}", err=True)
    if learning.report.skipped:
        click.echo(f"Cannot read {output.count(learning.report.skipped, 'line')}:", err=True)
    for problem in learning.report.problems:
        click.echo(f"  {output.one_line(str(problem))}", err=True)
    if learning.promoted:
        click.echo(f"Next: recollect show {learning.promoted[0][-output.SHORT_ID :]}")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no file can have this name
        return False
