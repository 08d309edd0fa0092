"""Memories one by one: remember, list, show, edit, forget, restore, wrong, pin."""

import sys
from typing import Any

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import (
    KIND,
    MAX_LIMIT,
    MEMORY,
    SCOPE,
    STATE,
    VISIBILITY,
    CliContext,
    links_of,
    open_engine,
    read_text,
    refuse_both,
    shared_options,
    shared_options_with_whole_project,
)

SHOWN = 20  # memories `list` prints for people unless told otherwise
AUDIT_SHOWN = 10


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "-k",
    "--kind",
    type=KIND,
    help="What sort of statement: fact, gotcha, decision… [fact; procedure with --step].",
)
@click.option(
    "--scope",
    type=SCOPE,
    help="For whom: project, global (all your projects) or session [project; global outside of one].",
)
@click.option("-t", "--tag", "tags", multiple=True, help="A tag; repeat for more.")
@click.option("-f", "--file", "file_paths", multiple=True, help="A file it is about; repeat for more.")
@click.option(
    "--trigger",
    "triggers",
    multiple=True,
    help="Words that make a procedure or a negative surface; repeat for more.",
)
@click.option("--step", "steps", multiple=True, help="A step of a procedure; repeat in order.")
@click.option(
    "--prerequisite", "prerequisites", multiple=True, help="What the procedure needs first; repeat for more."
)
@click.option(
    "--warning", "warnings", multiple=True, help="What can go wrong with the procedure; repeat for more."
)
@click.option("--season", help="A time in which it counts more, like release-week.")
@click.option("--branch", help="The git branch it is true on [every branch].")
@click.option("--importance", type=float, help="From 0 to 1 [0.5].")
@click.option(
    "--created-by", metavar="WHO", help="user, or agent:NAME, which may write to this project only [user]."
)
@click.option("--session", help="The agent's session it comes from.")
@click.option("--visibility", type=VISIBILITY, help="private, project or team [private; project for agents].")
@click.option(
    "--correction", is_flag=True, help="You are correcting the agent: this wins over what it believes."
)
@shared_options
@click.pass_obj
def remember(cli: CliContext, /, text: tuple[str, ...], **details: Any) -> None:
    """Keep a statement.

    TEXT is a sentence or two; - reads it from standard input.

    \b
    recollect remember "Tests need a running Redis" --kind gotcha --tag testing
    recollect remember "Release" --step "make test" --step "git tag" --step "make publish"
    git log -1 --format=%B | recollect remember - --kind decision
    """
    who = details["created_by"]
    if details["correction"] and m.is_agent(who or "user"):
        refuse_both(**{"correction": True, f"created-by {who}": True})
    given = {name: value for name, value in details.items() if value not in (None, ())}
    with open_engine(cli) as engine:
        receipt = engine.remember(read_text(text), **given)
        _say_receipt(cli, receipt)


def _say_receipt(cli: CliContext, receipt: m.Receipt, extra: dict[str, Any] | None = None) -> None:
    if cli.json:
        output.print_json({**m.as_json(receipt), **(extra or {})})
        return
    verb = "Changed" if extra else "Reinforced" if receipt.is_duplicate else "Remembered"
    click.echo(f"{verb} {click.style(receipt.id, fg='cyan')}")
    if receipt.message not in ("Remembered.", "Changed."):
        click.echo(output.one_line(receipt.message))
    if receipt.redactions:
        types = ", ".join(dict.fromkeys(redaction.type for redaction in receipt.redactions))
        were = "was" if len(receipt.redactions) == 1 else "were"
        click.echo(f"{output.count(len(receipt.redactions), 'secret')} {were} taken out: {types}")
    output.print_notes(receipt.notes)


@click.command(name="list")
@click.option("-k", "--kind", type=KIND, help="Only this kind.")
@click.option("--scope", type=SCOPE, help="Only this scope: project, global or session.")
@click.option(
    "--state", type=STATE, help="active, superseded, deprecated, archived, deleted or all [active]."
)
@click.option("--all", "every_state", is_flag=True, help="In whatever state; the same as --state all.")
@click.option("-t", "--tag", help="Only with this tag.")
@click.option("-f", "--file", help="Only about this file.")
@click.option("--branch", help="Also what is true on this branch only [the current one].")
@click.option("--session", help="Also what belongs to this session only.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(0, MAX_LIMIT),
    help="At most this many; 0 for all [20; all with --json].",
)
@click.option("--all-projects", is_flag=True, help="Those of all your projects.")
@shared_options
@click.pass_obj
def list_(cli: CliContext, /, every_state: bool, limit: int | None, **filters: Any) -> None:
    """List memories, newest first: this project's and the global ones.

    \b
    recollect list --kind gotcha
    recollect list --file src/auth.py --limit 0
    recollect list --all-projects --json
    """
    refuse_both(state=filters["state"], all=every_state)
    if every_state:
        filters["state"] = "all"
    if limit is None and not cli.json:
        limit = SHOWN
    with open_engine(cli) as engine:
        memories = engine.list(limit=limit or None, **filters)
        total = engine.count(**filters) if limit and len(memories) == limit else len(memories)
    if cli.json:
        output.print_json({"memories": list(map(output.memory_json, memories)), "total": total})
        return
    for line in output.memory_table(memories):
        click.echo(line)
    if not memories:
        click.echo('Nothing is remembered here yet. `recollect remember "…"` begins.', err=True)
    if total > len(memories):
        click.echo(f"{total - len(memories):,} more; --limit 0 shows all.", err=True)


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@shared_options
@click.pass_obj
def show(cli: CliContext, memory_id: str) -> None:
    """Show all that is known of a memory.

    Where it is from, how often it was said, what it is linked to and what happened to it.
    """
    with open_engine(cli) as engine:
        memory = engine.get(memory_id)
        links, audit = links_of(engine, memory), engine.audit(limit=AUDIT_SHOWN, name=memory.id)
        if cli.json:
            told = {
                "memory": output.memory_json(memory),
                "links": [link for link, _ in links],
                "audit": audit,
            }
            output.print_json(told)
            return
        output.print_memory(memory)
        if links:
            click.echo("\nLinks")
            output.print_links(links)
        if audit:
            click.echo("\nHistory")
            output.print_audit(audit)


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@click.argument("text", nargs=-1)
@click.option("-k", "--kind", type=KIND, help="Another kind.")
@click.option(
    "-t", "--tag", "tags", multiple=True, help="These tags instead; `recollect tag` adds and removes."
)
@click.option("-f", "--file", "file_paths", multiple=True, help="These files instead.")
@click.option("--trigger", "triggers", multiple=True, help="These triggers instead.")
@click.option("--season", help='Another season; "" for none.')
@click.option("--branch", help='Another branch; "" for every branch.')
@click.option("--importance", type=float, help="From 0 to 1.")
@click.option("--visibility", type=VISIBILITY, help="private, project or team.")
@shared_options
@click.pass_obj
def edit(cli: CliContext, /, memory_id: str, text: tuple[str, ...], **changes: Any) -> None:
    """Change a memory. Without TEXT and options it opens in your editor; - reads standard input."""
    given = {name: value for name, value in changes.items() if value not in (None, ())}
    if text:
        given["content"] = read_text(text)
    with open_engine(cli) as engine:
        memory = engine.get(memory_id)
        if not given and not cli.json and sys.stdin.isatty() and sys.stdout.isatty():
            given["content"] = from_editor(memory, encrypted=engine.store.info().encrypted)
        if not given:
            raise Refused("Nothing to change was given.", f"Give a text, or {_options()}.")
        if given.get("content") == memory.content and len(given) == 1:
            raise Refused("Nothing was changed: the text is the same.", "Give another text, or an option.")
        memory, receipt = engine.edit(memory.id, **given)
        _say_receipt(cli, receipt, {"memory": output.memory_json(memory)})


def _options() -> str:
    """Those of this command that change something."""
    own = [each for each in click.get_current_context().command.params if each.expose_value]
    *names, last = [each.opts[-1] for each in own if isinstance(each, click.Option)]
    return f"{', '.join(names)} or {last}"


def from_editor(memory: m.Memory, *, encrypted: bool) -> str:
    """Its text as the user leaves it there."""
    if encrypted:
        raise Refused(
            "An editor would put this memory's text into a file in the clear.",
            f"`recollect edit {memory.id} -` reads the new text from standard input.",
        )
    return (click.edit(memory.content, extension=".md") or memory.content).strip()


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY, required=False)
@click.option("--everything", is_flag=True, help="All you have, in every project; asks first.")
@click.option("--yes-i-am-sure", "sure", is_flag=True, help="Do not ask: for programs, with --everything.")
@shared_options_with_whole_project
@click.pass_obj
def forget(cli: CliContext, name: str | None, everything: bool, sure: bool) -> None:
    """Put a memory out of sight. It can be restored for 30 days.

    A KEYWORD does where only one memory has it. With --project alone, all that is remembered of this project goes:
    memories, messages, sessions, findings, aliases.

    \b
    recollect forget 1m7gk3
    recollect forget --project
    """
    _one_of(name, cli, everything)
    with open_engine(cli) as engine:
        if name is not None:
            memory = engine.forget(name)
            _say_memory(cli, "Forgotten", memory)
            if not cli.json:
                click.echo(f"`recollect restore {memory.id}` brings it back, for 30 days.")
            return
        if everything and not sure:
            _confirm_everything(cli, engine.count(all_projects=True))
        change, cleared = engine.care.forget_everything() if everything else engine.care.forget_project()
    if cli.json:
        output.print_json({"change": change.id, **m.as_json(cleared)})
        return
    click.echo(
        f"Forgotten: {output.count(cleared.memories, 'memory', 'memories')}, {output.count(cleared.messages, 'message')}"
        f" and {output.count(cleared.sessions, 'session')}."
    )
    if cleared.anything:
        click.echo(f"`recollect undo {change.id}` brings everything back, for 30 days.")


def _one_of(name: str | None, cli: CliContext, everything: bool = False) -> None:
    """Refuse all but one of an id, this project and everything."""
    refuse_both(project=cli.whole_project, everything=everything)
    if (name is not None) == (cli.whole_project or everything):
        wanted = "an ID, or --project alone for all of this project"
        raise click.UsageError(f"Give {wanted}.", click.get_current_context())


def _confirm_everything(cli: CliContext, number: int) -> None:
    words = "forget everything"
    if cli.json:
        raise Refused(
            "Nothing was forgotten: nobody could be asked.", "--yes-i-am-sure says that you mean it."
        )
    click.echo(
        f"This forgets {output.count(number, 'memory', 'memories')}: all you have, in every project.",
        err=True,
    )
    typed = click.prompt(f"Type {words!r} to do it", default="", show_default=False, err=True)
    if typed.strip() != words:
        raise Refused("Nothing was forgotten.", f"To do it, type {words!r} when you are asked.")


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY, required=False)
@shared_options_with_whole_project
@click.pass_obj
def restore(cli: CliContext, memory_id: str | None) -> None:
    """Bring back a memory that was forgotten, archived, deprecated or superseded.

    With --project alone, this project as it was when all of it was forgotten.
    """
    _one_of(memory_id, cli)
    with open_engine(cli) as engine:
        if memory_id is not None:
            _say_memory(cli, "Restored", engine.restore(memory_id))
            return
        undone = engine.care.restore_project()
    if cli.json:
        output.print_json(undone)
        return
    click.echo(
        f"Restored {output.count(len(undone.restored), 'memory', 'memories')}, and what belongs to them."
    )
    if undone.left_alone:
        click.echo(f"Changed since, and left alone: {', '.join(output.short_ids(undone.left_alone))}.")


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@click.option("--because", default="", help="Why; kept with the memory.")
@click.option("--instead", help="What is right: kept as your correction, in its place.")
@click.option("--restore-previous", is_flag=True, help="Bring back what it had taken the place of.")
@shared_options
@click.pass_obj
def wrong(cli: CliContext, memory_id: str, because: str, instead: str | None, restore_previous: bool) -> None:
    """Say that a memory is wrong, and what is right instead.

    It is no longer shown to anyone. What was made of it waits on the review list.

    \b
    recollect wrong 1m7gk3 --instead "Mail is sent by cron"
    """
    refuse_both(instead=instead, restore_previous=restore_previous)
    if instead is not None and not instead.strip():
        raise Refused(
            "The correction is empty: nothing was changed.", "Say it in a sentence, or leave --instead out."
        )
    with open_engine(cli) as engine:
        found = engine.wrong(memory_id, because, instead or "", restore_previous)
    if cli.json:
        previous = list(map(output.memory_json, found.previous))
        output.print_json(
            {**m.as_json(found), "memory": output.memory_json(found.memory), "previous": previous}
        )
        return
    _say_memory(cli, "Wrong", found.memory)
    if found.correction:
        _say_receipt(cli, found.correction)
    if found.previous:
        click.echo("Restored:" if found.restored else "It had taken the place of:")
        for line in output.memory_table(found.previous):
            click.echo(line)
        if not found.restored:
            click.echo("`recollect restore ID` brings one back.")
    if found.review:
        click.echo(
            f"{output.count(len(found.review), 'memory was', 'memories were')} made of it: `recollect review`."
        )
    click.echo(f"`recollect undo {found.change}` takes it back.")


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@click.option("--on", is_flag=True, help="Pin it, also if it is pinned.")
@click.option("--off", is_flag=True, help="Unpin it, also if it is not pinned.")
@shared_options
@click.pass_obj
def pin(cli: CliContext, name: str, on: bool, off: bool) -> None:
    """Pin a memory, or unpin a pinned one.

    Pinned ones never fade, and up to five stand in every briefing. A KEYWORD does where only one memory has it.
    """
    refuse_both(on=on, off=off)
    with open_engine(cli) as engine:
        memory = engine.pin(name, on=True if on else False if off else None)
        _say_memory(cli, "Pinned" if memory.pinned else "Unpinned", memory)


def _say_memory(cli: CliContext, verb: str, memory: m.Memory) -> None:
    if cli.json:
        output.print_json({"memory": output.memory_json(memory)})
        return
    text = output.cut(output.one_line(memory.content), 60)
    click.echo(f"{verb} {click.style(memory.id, fg='cyan')}: {text}")
