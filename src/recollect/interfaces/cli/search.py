"""Commands that find memories: recall, search, similar, feedback, gaps."""

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.explain import first_because, print_parts
from recollect.interfaces.cli.options import (
    HOST,
    KIND,
    MEMORY,
    RECIPE,
    ROLE,
    STATE,
    TAG,
    SpreadsFiles,
    given,
    limit_option,
    parse_time,
    read_text,
    refuse_both,
    usage_error,
)
from recollect.text import tokens

if TYPE_CHECKING:
    from recollect.work.delivery.delivery import Delivery


_CHOICES = 200  # memories that --interactive offers


@click.command(cls=SpreadsFiles)
@click.argument("words", metavar="[TASK]...", nargs=-1)
@click.option("--task", help="The task, instead of TASK.")
@click.option(
    "-f",
    "--file",
    "--files",
    "files",
    metavar="FILE...",
    multiple=True,
    help="Files that the task involves; memories about them rank higher.",
)
@click.option(
    "--host",
    type=HOST,
    help="The format: claude-code, codex, gemini, opencode, cursor, vscode, windsurf or json [gemini].",
)
@click.option(
    "--remaining",
    type=click.IntRange(min=0),
    help="Tokens left in the agent's context; a briefing uses up to 8 % of them [100000].",
)
@click.option("--budget", type=int, help="The maximum number of tokens [as set by `recollect budget`].")
@click.option("--role", type=ROLE, help="The agent's role: planner, coder or qa.")
@click.option(
    "--session", help="The agent's session: its memories are included, its own findings are left out."
)
@click.option(
    "--write",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the briefing to FILE, for agents that read their context from a file.",
)
@rendered()
def recall(
    cli: CliContext, /, words: tuple[str, ...], task: str | None, write: Path | None, **options: Any
) -> CommandResult:
    """Print the briefing that an agent gets for TASK.

    The text is exactly what the agent gets, followed by a newline. Without TASK it is about the given files, and
    without files it has only what always applies. - reads the task from standard input.

    \b
    recollect recall "fix the login loop" --files src/auth.py
    recollect recall --task "fix the login loop" --host claude-code --remaining 20000
    """
    if words and task is not None:
        raise usage_error("Give TASK or --task, not both.")
    about = read_text(words if task is None else [task])
    is_counted = cli.json or options["budget"] is not None or sys.stdout.isatty()
    with contextlib.nullcontext() if is_counted else tokens.estimated():
        briefing = cli.engine.recall(about, **given(options))
    is_empty = not briefing.text and cli.engine.memory.count() == 0
    if write is not None:
        _write_briefing(write, briefing.text)

    def text() -> None:
        if briefing.text and write is None:
            output.standard_output().write(briefing.text + "\n")
        _print_briefing_notes(briefing, is_empty)

    names = ("text", "host", "tokens", "by_tier", "conflicts", "budget", "notes")
    value = {name: getattr(briefing, name) for name in names} | {"shown": briefing.memories}
    return CommandResult(value, text)


def _write_briefing(path: Path, text: str) -> None:
    """Replace an empty file or an earlier briefing. Raises `Refused` for any other file."""
    try:
        before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise Refused(f"Cannot read {path}: {error.strerror}.", "Choose another file.") from error
    if before.strip() and m.INJECTED_MARK not in before:
        raise Refused(f"{path} exists and is not a briefing, so it was not replaced.", "Choose another file.")
    with output.replacing(path) as file:
        file.write(f"{text}\n" if text else "")


def _print_briefing_notes(briefing: "Delivery", is_empty: bool) -> None:
    total = briefing.budget.total
    notes = list(briefing.notes)
    if is_empty:
        notes.append('No memories yet. Run `recollect remember "…"` to add one.')
    elif total == 0:
        notes.append("No budget for a briefing: 8 % of the remaining context is less than one token.")
    elif not briefing.text:
        notes.append(f"The briefing is empty: no memory is relevant, or none fits into {total:,} tokens.")
    elif sys.stdout.isatty():
        memories = output.count(len(briefing.memories), "memory", "memories")
        notes.append(f"{briefing.tokens:,} of {total:,} tokens, {memories}.")
    output.print_notes(notes)


@click.command(cls=SpreadsFiles)
@click.argument("query", metavar="[QUERY]...", nargs=-1)
@limit_option(10)
@click.option(
    "-i", "--interactive", is_flag=True, help="Choose one of the results in the terminal, and show it."
)
@click.option("-k", "--kind", type=KIND, help="Only this kind.")
@click.option("-t", "--tag", type=TAG, help="Only with this tag.")
@click.option("-f", "--file", help="Only about this file.")
@click.option(
    "--files",
    metavar="FILE...",
    multiple=True,
    help="Files that you work on; memories about them rank higher.",
)
@click.option("--branch", help="Include memories that hold only on this branch [the current one].")
@click.option("--session", help="Include memories of this session.")
@click.option(
    "--state",
    type=STATE,
    help="The state: active, superseded, deprecated, archived, deleted or all [active].",
)
@click.option(
    "--as-of",
    metavar="TIME",
    help="Search what was valid at this time: 2026-05-01, 2026-05-01T12:30, or an age such as 30d.",
)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@click.option(
    "--recipe", type=RECIPE, help="The scoring recipe: default, seed-000, seed-002 or seed-003 [default]."
)
@click.option("--no-graph", is_flag=True, help="Leave out memories that are only linked to a hit.")
@click.option(
    "--explain", is_flag=True, help="Explain why the first result is first, and the parts of each score."
)
@rendered()
def search(
    cli: CliContext,
    /,
    query: tuple[str, ...],
    as_of: str | None,
    no_graph: bool,
    explain: bool,
    interactive: bool,
    **options: Any,
) -> CommandResult | None:
    """Find memories relevant to QUERY, best first.

    Search matches words and meaning, and follows links from the hits; --explain shows what each contributed. QUERY is
    plain text without syntax; - reads it from standard input.

    \b
    recollect search "why do the tests fail"
    recollect search deploy --kind procedure --explain
    recollect search "token lifetime" --as-of 30d
    """
    if interactive:
        return _choose(cli, read_text(query))
    if not query:
        raise usage_error("Missing argument 'QUERY...'.")
    refuse_both(as_of=as_of, state=options["state"])
    filters = given(options)
    if as_of is not None:
        filters["as_of"] = parse_time(as_of)
    found = cli.engine.search(read_text(query), graph=not no_graph, **filters)
    stale = cli.engine.care.stale()
    shown = {hit.memory.id for hit in found.results}
    disputed = [
        (link, one, other)
        for link, one, other in cli.engine.conflicts()
        if not shown.isdisjoint((one.id, other.id))
    ]

    def text() -> None:
        if not found.results:
            click.echo("No memories found. Run `recollect list` to see what is stored.", err=True)
        elif explain:
            click.echo(first_because(found.results))
        lines = _hit_table(found.results)
        headers = len(lines) - len(found.results)
        for hit, line in zip([*[None] * headers, *found.results], lines, strict=True):
            click.echo(line)
            if explain and hit:
                print_parts(hit)
        outdated = [
            f"{hit.memory.id[-output.SHORT_ID :]} may be out of date: {stale[hit.memory.id].why}."
            for hit in found.results
            if hit.memory.id in stale
        ]
        disagreeing = [
            f"{one.id[-output.SHORT_ID :]} and {other.id[-output.SHORT_ID :]} disagree:"
            f" “{output.one_line(one.content)}”, “{output.one_line(other.content)}”"
            f"{f' ({output.one_line(link.reason)})' if explain and link.reason else ''}."
            for link, one, other in disputed
        ]
        output.print_notes([*found.notes, *outdated, *disagreeing])

    value = {name: getattr(found, name) for name in ("results", "partial", "took_ms", "notes")}
    return CommandResult(value, text)


def _choose(cli: CliContext, query: str) -> CommandResult | None:
    """Let a person choose among the hits of a query, or among the newest memories, and show the chosen one."""
    from recollect.interfaces.cli.memories import memory_report
    from recollect.interfaces.cli.select import select

    if cli.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused("--interactive needs a terminal.", "Leave it out to print the results.")
    if query:
        memories = [hit.memory for hit in cli.engine.search(query, limit=_CHOICES).results]
    else:
        memories = list(cli.engine.list(limit=_CHOICES))
    if not memories:
        click.echo("No memories found. Run `recollect list` to see what is stored.", err=True)
        return None
    chosen = select([f"{memory.kind}: {output.one_line(memory.content)}" for memory in memories])
    return None if chosen is None else memory_report(cli, memories[chosen])


def _hit_table(hits: Sequence[m.Hit]) -> list[str]:
    scores = [f"{hit.score:.2f}" for hit in hits]
    return output.memory_table([hit.memory for hit in hits], scores, headers=True)


def _print_similar(hits: Sequence[m.Hit]) -> None:
    for line in _hit_table(hits):
        click.echo(line)
    if any("words" in hit.why["parts"] for hit in hits):
        output.print_notes(
            [
                "Compared by words only: the memory has no vector. Run `recollect init` to make missing vectors."
            ]
        )


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@limit_option(10)
@rendered(_print_similar, key="results", empty="No similar memories found.")
def similar(cli: CliContext, name: str, limit: int) -> Sequence[m.Hit]:
    """Find memories with a similar meaning, most similar first.

    A KEYWORD works if only one memory contains it; `recollect search` takes any words.
    """
    return cli.engine.similar(cli.engine.memory.find(name).id, limit)


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@click.option("--helpful", is_flag=True, help="It helped: raise its confidence.")
@click.option("--not-helpful", is_flag=True, help="It did not help: lower its confidence.")
@rendered()
def feedback(cli: CliContext, name: str, helpful: bool, not_helpful: bool) -> CommandResult:
    """Record whether a memory was helpful.

    A KEYWORD works if only one memory contains it.
    """
    refuse_both(helpful=helpful, not_helpful=not_helpful)
    if not helpful and not not_helpful:
        raise usage_error("Give --helpful or --not-helpful.")
    memory = cli.engine.memory.feedback(cli.engine.memory.find(name).id, helpful)
    verb = "Raised" if helpful else "Lowered"
    return CommandResult(
        {"memory": memory},
        lambda: click.echo(f"{verb} the confidence of {memory.id} to {memory.confidence:.2f}."),
    )


def _print_gaps(gaps: Sequence[m.Gap]) -> None:
    now = m.utc_now()
    rows = [(output.age(gap.created_at, now), output.one_line(gap.context)) for gap in gaps]
    output.print_table(rows, ["bright_black"])


@click.command()
@limit_option(20)
@rendered(_print_gaps, key="gaps", empty="No unanswered questions.")
def gaps(cli: CliContext, limit: int) -> Sequence[m.Gap]:
    """List questions that memory could not answer, newest first."""
    return cli.engine.gaps(limit)
