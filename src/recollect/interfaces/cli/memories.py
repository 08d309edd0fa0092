"""Commands for single memories: remember, list, show, edit, forget, restore, wrong, pin."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import MemoryNotFound, Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import (
    KIND,
    MAX_LIMIT,
    MEMORY,
    SCOPE,
    STATE,
    TAG,
    VISIBILITY,
    author_option,
    given,
    read_text,
    refuse_both,
    usage_error,
)

if TYPE_CHECKING:
    from recollect.engine import Engine

_LISTED = 20  # memories that `list` prints for people unless --limit is given
_AUDIT_LINES = 10  # shown below a memory


def _print_receipt(receipt: m.Receipt) -> None:
    _print_outcome("Reinforced" if receipt.is_duplicate else "Remembered", receipt)


# What an agent is told below the memories that are close to what it stored.
_RELATE = (
    "If it takes the place of one of these, run `recollect link {id} ID --relation supersedes --created-by {author}`; "
    "if both cannot hold and you do not know which does, the same with `--relation contradicts`; "
    "if one says the same, run `recollect forget {id} --created-by {author}`; otherwise do nothing."
)


def _print_close(receipt: m.Receipt, close: Sequence[m.CloseMemory], author: str) -> None:
    if close:
        from recollect.memory.briefing.render import PLAIN, close_document, short_ids

        names = short_ids([receipt.id, *(each.memory.id for each in close)])
        click.echo(close_document(PLAIN, close, names))
        click.echo(_RELATE.format(id=names[receipt.id], author=shlex.quote(output.one_line(author))))


def _close_json(close: Sequence[m.CloseMemory]) -> list[dict[str, str]]:
    return [
        {"id": each.memory.id, "said_by": each.said_by, "text": output.one_line(each.memory.content)}
        for each in close
    ]


def _print_outcome(verb: str, receipt: m.Receipt) -> None:
    click.echo(f"{verb} {click.style(receipt.id, fg='cyan')}")
    if receipt.message not in ("Remembered.", "Changed."):
        click.echo(output.one_line(receipt.message))
    output.print_redactions(receipt.redactions)
    output.print_notes(receipt.notes)


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "-k",
    "--kind",
    type=KIND,
    help="The kind: fact, gotcha, decision, … [preference for an order of yours, else fact; procedure with --step].",
)
@click.option(
    "--scope",
    type=SCOPE,
    help="Where it applies: project, global (all your projects) or session [project; global outside a project].",
)
@click.option("-t", "--tag", "tags", type=TAG, multiple=True, help="A tag; repeatable.")
@click.option("-f", "--file", "file_paths", multiple=True, help="A file it is about; repeatable.")
@click.option(
    "--trigger",
    "triggers",
    multiple=True,
    help="Words that bring up this procedure or negative memory; repeatable.",
)
@click.option(
    "--when",
    "when_needed",
    multiple=True,
    help="A situation in which it is needed, in other words than the text; repeatable. It is searched, and not shown.",
)
@click.option("--step", "steps", multiple=True, help="A step of a procedure; repeatable, in order.")
@click.option(
    "--prerequisite", "prerequisites", multiple=True, help="What the procedure requires; repeatable."
)
@click.option(
    "--warning", "warnings", multiple=True, help="What can go wrong with the procedure; repeatable."
)
@click.option("--season", help="A period in which it ranks higher, such as release-week.")
@click.option("--branch", help="The git branch on which it is true [all branches].")
@click.option("--importance", type=float, help="The importance, from 0 to 1 [0.5].")
@click.option(
    "--created-by", metavar="AUTHOR", help="user, or agent:NAME, which can write only to this project [user]."
)
@click.option("--session", help="The agent session that it comes from.")
@click.option(
    "--visibility",
    type=VISIBILITY,
    help="The visibility: private, project or team [private; project for agents].",
)
@click.option("--correction", is_flag=True, help="This corrects the agent and overrides what contradicts it.")
@rendered()
def remember(cli: CliContext, /, text: tuple[str, ...], **details: Any) -> CommandResult:
    """Store a statement as a memory.

    TEXT is one or two sentences; - reads it from standard input.

    \b
    recollect remember "Tests need a running Redis" --kind gotcha --tag testing
    recollect remember "Release" --step "make test" --step "git tag" --step "make publish"
    git log -1 --format=%B | recollect remember - --kind decision
    """
    author = details["created_by"] or "user"
    if details["correction"] and m.is_agent(author):
        refuse_both(**{"correction": True, f"created-by {author}": True})
    receipt = cli.engine.remember(read_text(text), **given(details))
    close = (
        cli.engine.close_to(receipt) if m.is_agent(author) else ()
    )  # searching costs people 20 ms to import

    def show() -> None:
        _print_receipt(receipt)
        _print_close(receipt, close, author)

    return CommandResult({**m.as_json(receipt), "close_to": _close_json(close)}, show)


def _print_list(found: dict[str, Any]) -> None:
    memories, total = found["memories"], found["total"]
    for line in output.memory_table(memories, headers=True):
        click.echo(line)
    if not memories:
        click.echo('No memories found. Run `recollect remember "…"` to add one.', err=True)
    if total > len(memories):
        click.echo(f"{total - len(memories):,} more; use --limit 0 to list all.", err=True)


@click.command(name="list")
@click.option("-k", "--kind", type=KIND, help="Only this kind.")
@click.option("--scope", type=SCOPE, help="Only this scope: project, global or session.")
@click.option(
    "--state",
    type=STATE,
    help="The state: active, superseded, deprecated, archived, deleted or all [active].",
)
@click.option("--all", "every_state", is_flag=True, help="In any state; the same as --state all.")
@click.option("-t", "--tag", type=TAG, help="Only with this tag.")
@click.option("-f", "--file", help="Only about this file.")
@click.option("--branch", help="Include memories that hold only on this branch [the current one].")
@click.option("--session", help="Include memories of this session.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(0, MAX_LIMIT),
    help="The maximum number of memories; 0 for all [20; all with --json].",
)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@rendered(_print_list)
def list_(cli: CliContext, /, every_state: bool, limit: int | None, **filters: Any) -> dict[str, Any]:
    """List memories of this project and global ones, newest first.

    \b
    recollect list --kind gotcha
    recollect list --file src/auth.py --limit 0
    recollect list --all-projects --json
    """
    refuse_both(state=filters["state"], all=every_state)
    if every_state:
        filters["state"] = "all"
    if limit is None and not cli.json:
        limit = _LISTED
    memories = cli.engine.list(limit=limit or None, **filters)
    total = cli.engine.memory.count(**filters) if limit and len(memories) == limit else len(memories)
    return {"memories": memories, "total": total}


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@rendered()
def show(cli: CliContext, name: str) -> CommandResult:
    """Show everything that is stored about a memory.

    This includes its source, how often it was stated and used, its links and its history. A KEYWORD works if only one
    memory contains it.
    """
    return memory_report(cli, cli.engine.memory.find(name))


def memory_report(cli: CliContext, memory: m.Memory) -> CommandResult:
    """Return everything that is stored about a memory, as `recollect show` prints it."""
    links = links_of(cli.engine, memory)
    audit = cli.engine.audit(limit=_AUDIT_LINES, name=memory.id)
    stale = cli.engine.care.stale().get(memory.id)

    def text() -> None:
        output.print_memory(memory, stale)
        if links:
            click.echo("\nLinks")
            output.print_links(links)
        if audit:
            click.echo("\nHistory")
            output.print_audit(audit)

    value = {"memory": memory, "stale": stale, "links": [link for link, _ in links], "audit": audit}
    return CommandResult(value, text)


def links_of(engine: "Engine", memory: m.Memory) -> list[tuple[m.Link, m.Memory]]:
    """Return the links of a memory, each with the memory at its other end if the user may see that one."""
    links = []
    for link in engine.links(memory.id):
        with suppress(MemoryNotFound):
            links.append((link, engine.get(link.target if link.source == memory.id else link.source)))
    return links


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@click.argument("text", nargs=-1)
@click.option("-k", "--kind", type=KIND, help="The new kind.")
@click.option(
    "-t",
    "--tag",
    "tags",
    multiple=True,
    help="Replace the tags; `recollect tag` adds and removes single ones.",
)
@click.option("-f", "--file", "file_paths", multiple=True, help="Replace the files; repeatable.")
@click.option("--trigger", "triggers", multiple=True, help="Replace the triggers; repeatable.")
@click.option(
    "--when", "when_needed", multiple=True, help="Replace the situations in which it is needed; repeatable."
)
@click.option("--season", help='The new season; "" for none.')
@click.option("--branch", help='The new branch; "" for all branches.')
@click.option("--importance", type=float, help="The new importance, from 0 to 1.")
@click.option("--visibility", type=VISIBILITY, help="The new visibility: private, project or team.")
@rendered()
def edit(cli: CliContext, /, name: str, text: tuple[str, ...], **changes: Any) -> CommandResult:
    """Change a memory's text or attributes.

    Without TEXT and options it opens in your editor; - reads the text from standard input. A KEYWORD works if only one
    memory contains it.
    """
    changes = given(changes)
    if text:
        changes["content"] = read_text(text)
    memory = cli.engine.memory.find(name)
    if not changes and not cli.json and sys.stdin.isatty() and sys.stdout.isatty():
        changes["content"] = from_editor(memory, encrypted=cli.engine.store.info().encrypted)
    if not changes:
        raise Refused("No change was given.", f"Give a text, or {_option_names()}.")
    if changes.get("content") == memory.content and len(changes) == 1:
        raise Refused("The text is unchanged.", "Give a different text, or an option.")
    memory, receipt = cli.engine.edit(memory.id, **changes)
    return CommandResult({**m.as_json(receipt), "memory": memory}, lambda: _print_outcome("Changed", receipt))


def _option_names() -> str:
    """Name the options of the current command that change something."""
    options = [
        option
        for option in click.get_current_context().command.params
        if isinstance(option, click.Option) and option.expose_value
    ]
    *names, last = [option.opts[-1] for option in options]
    return f"{', '.join(names)} or {last}"


def from_editor(memory: m.Memory, *, encrypted: bool) -> str:
    """Return the memory's text after the user has edited it. Raises `Refused` on an encrypted store."""
    if encrypted:
        raise Refused(
            "An editor would write this memory's text to an unencrypted file.",
            f"Run `recollect edit {memory.id} -` to read the new text from standard input.",
        )
    return (click.edit(memory.content, extension=".md") or memory.content).strip()


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY, required=False)
@click.option(
    "--everything", is_flag=True, help="Forget all memories in every project, after a confirmation."
)
@click.option(
    "--yes-i-am-sure", "sure", is_flag=True, help="Skip the confirmation of --project and --everything."
)
@author_option
@rendered(whole_project=True)
def forget(cli: CliContext, name: str | None, everything: bool, sure: bool, author: str) -> CommandResult:
    """Forget a memory. You can restore it for 30 days.

    A KEYWORD works if only one memory contains it. --project without a folder forgets the whole project: memories,
    messages, sessions, findings and aliases.

    \b
    recollect forget 1m7gk3
    recollect forget --project
    """
    _require_one(name, cli, everything)
    cli.actor = author
    if name is not None:
        memory = cli.engine.forget(name)

        def text() -> None:
            if memory.state is not m.State.DELETED:
                _print_line("Kept", memory)
                click.echo(
                    "It is not the agent's to forget. The user is asked: `recollect review --kind forget`."
                )
                return
            _print_line("Forgotten", memory)
            click.echo(f"Run `recollect restore {memory.id}` within 30 days to restore it.")

        return CommandResult({"memory": memory}, text)
    if not sure:
        _confirm(cli, everything)
    care = cli.engine.care
    change, cleared = care.forget_everything() if everything else care.forget_project()

    def text_of_all() -> None:
        click.echo(
            f"Forgotten: {output.count(cleared.memories, 'memory', 'memories')},"
            f" {output.count(cleared.messages, 'message')} and {output.count(cleared.sessions, 'session')}."
        )
        if cleared.anything:
            click.echo(f"Run `recollect undo {change.id}` within 30 days to restore everything.")

    return CommandResult({"change": change.id, **m.as_json(cleared)}, text_of_all)


def _require_one(name: str | None, cli: CliContext, everything: bool = False) -> None:
    refuse_both(project=cli.whole_project, everything=everything)
    if (name is not None) == (cli.whole_project or everything):
        raise usage_error("Give an ID, or only --project for the whole project.")


def _count(cli: CliContext, everything: bool) -> int:
    return (
        cli.engine.memory.count(all_projects=True) if everything else cli.engine.memory.count(scope="project")
    )


def _confirm(cli: CliContext, everything: bool) -> None:
    """Ask a person to type what is about to happen. Raise `Refused` if nobody can be asked, or it is not typed."""
    project = cli.engine.project
    name = output.one_line(project.name) if project else "this project"
    words = "forget everything" if everything else f"forget {name}"
    option = "everything" if everything else "project"
    if cli.json:
        raise Refused(f"--{option} needs a confirmation.", "Add --yes-i-am-sure to skip it.")
    number = output.count(_count(cli, everything), "memory", "memories")
    what = "everything you have, in every project" if everything else f"all of {name} and its sessions"
    click.echo(f"This forgets {number}: {what}.", err=True)
    typed = click.prompt(f"Type {words!r} to confirm", default="", show_default=False, err=True)
    if typed.strip() != words:
        raise Refused("Nothing was forgotten.", f"Type {words!r} when asked to confirm.")


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY, required=False)
@rendered(whole_project=True)
def restore(cli: CliContext, memory_id: str | None) -> CommandResult:
    """Restore a memory that is forgotten, archived, deprecated or superseded.

    --project without a folder restores the whole project as it was before it was forgotten.
    """
    _require_one(memory_id, cli)
    if memory_id is not None:
        return _memory_answer("Restored", cli.engine.restore(memory_id))
    undone = cli.engine.care.restore_project()

    def text() -> None:
        number = output.count(len(undone.restored), "memory", "memories")
        click.echo(f"Restored {number} and everything that belongs to them.")
        print_skipped(undone.left_alone)

    return CommandResult(undone, text)


def print_skipped(ids: Sequence[str]) -> None:
    """Name the memories that undoing or restoring left unchanged because they have changed since."""
    if ids:
        more = f" and {len(ids) - 10:,} more" if len(ids) > 10 else ""
        click.echo(
            f"Not restored, because they have changed since: {', '.join(output.short_ids(ids[:10]))}{more}."
        )


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@click.option("--because", default="", help="The reason, stored with the memory.")
@click.option("--instead", help="The correct statement, stored as your correction.")
@click.option("--restore-previous", is_flag=True, help="Restore the memories that it superseded.")
@rendered()
def wrong(
    cli: CliContext, name: str, because: str, instead: str | None, restore_previous: bool
) -> CommandResult:
    """Mark a memory as wrong, and optionally correct it.

    It is no longer shown. Memories derived from it are added to `recollect review`. A KEYWORD works if only one memory
    contains it.

    \b
    recollect wrong 1m7gk3 --instead "Mail is sent by cron"
    """
    refuse_both(instead=instead, restore_previous=restore_previous)
    if instead is not None and not instead.strip():
        raise Refused("The text of --instead is empty.", "Give a sentence, or omit --instead.")
    result = cli.engine.wrong(cli.engine.memory.find(name).id, because, instead or "", restore_previous)

    def text() -> None:
        _print_line("Marked as wrong", result.memory)
        if result.correction:
            _print_receipt(result.correction)
        if result.previous:
            click.echo("Restored:" if result.restored else "It had superseded:")
            for line in output.memory_table(result.previous):
                click.echo(line)
            if not result.restored:
                click.echo("Run `recollect restore ID` to restore one.")
        if result.review:
            number = output.count(len(result.review), "memory was", "memories were")
            click.echo(f"{number} derived from it. Run `recollect review` to check.")
        click.echo(f"Run `recollect undo {result.change}` to undo this.")

    return CommandResult(result, text)


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@click.option("--on", is_flag=True, help="Pin the memory, even if it is pinned already.")
@click.option("--off", is_flag=True, help="Unpin the memory, even if it is not pinned.")
@rendered()
def pin(cli: CliContext, name: str, on: bool, off: bool) -> CommandResult:
    """Pin a memory, or unpin a pinned one.

    Pinned memories never decay, and up to five are part of every briefing. A KEYWORD works if only one memory contains
    it.
    """
    refuse_both(on=on, off=off)
    wanted = True if on else False if off else None
    memory = cli.engine.memory.pin(name, wanted)
    return _memory_answer("Pinned" if memory.pinned else "Unpinned", memory)


def _memory_answer(verb: str, memory: m.Memory) -> CommandResult:
    return CommandResult({"memory": memory}, lambda: _print_line(verb, memory))


def _print_line(verb: str, memory: m.Memory) -> None:
    text = output.cut(output.one_line(memory.content), 60)
    click.echo(f"{verb} {click.style(memory.id, fg='cyan')}: {text}")
