"""What comes back: recall, search, similar, feedback, gaps."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import (
    HOST,
    KIND,
    MEMORY,
    RECIPE,
    ROLE,
    STATE,
    CliContext,
    SpreadsFiles,
    limit_option,
    open_engine,
    parse_time,
    read_text,
    refuse_both,
    shared_options,
)
from recollect.interfaces.cli.explain import first_because, print_parts
from recollect.interfaces.cli.files import replacing, standard_output

if TYPE_CHECKING:
    from recollect.memory.briefing.briefing import Briefing


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
    help="Files at hand; memories about them weigh more.",
)
@click.option(
    "--host",
    type=HOST,
    help="For whom: claude-code, codex, gemini, opencode, cursor, vscode, windsurf, or json [gemini].",
)
@click.option(
    "--remaining",
    type=click.IntRange(min=0),
    help="Tokens left of the agent's context; 8 % are used [100000].",
)
@click.option("--budget", type=int, help="At most this many tokens [what `recollect budget` says].")
@click.option("--role", type=ROLE, help="Of the agent: planner, coder or qa.")
@click.option(
    "--session", help="The agent's session: adds its memories, and leaves out what it found itself."
)
@click.option(
    "--write",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write it to this file instead, for an agent that reads its context from one.",
)
@shared_options
@click.pass_obj
def recall(
    cli: CliContext, /, words: tuple[str, ...], task: str | None, write: Path | None, **options: Any
) -> None:
    """Print what an agent should know for TASK, within a budget.

    It is the text exactly as the agent gets it, and a newline. Without a TASK it is about the files at hand, and without
    those it holds what is always true; - reads the task from standard input.

    \b
    recollect recall "fix the login loop" --files src/auth.py
    recollect recall --task "fix the login loop" --host claude-code --remaining 20000
    """
    if words and task is not None:
        raise click.UsageError("Give TASK or --task, not both.", click.get_current_context())
    given = {name: value for name, value in options.items() if value not in (None, ())}
    with open_engine(cli) as engine:
        briefing = engine.recall(read_text(words if task is None else [task]), **given)
        empty = not briefing.text and engine.count() == 0
    if write is not None:
        _write(write, briefing.text)
    if cli.json:
        output.print_json(briefing)
        return
    if briefing.text and write is None:
        standard_output().write(briefing.text + "\n")
    _say_aside(briefing, empty)


def _write(path: Path, text: str) -> None:
    """Over a briefing of ours or an empty file, never over what someone else wrote."""
    try:
        before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise Refused(f"Cannot read {path}: {error.strerror}.", "Name another file.") from error
    if before.strip() and m.INJECTED_MARK not in before:
        raise Refused(
            f"{path} holds something else than a briefing, and was left alone.",
            "Name a file of its own for it.",
        )
    with replacing(path) as file:
        file.write(f"{text}\n" if text else "")


def _say_aside(briefing: "Briefing", empty: bool) -> None:
    total = briefing.budget.total
    aside = list(briefing.notes)
    if empty:
        aside.append('Nothing is remembered here yet. `recollect remember "…"` begins.')
    elif total == 0:
        aside.append("There is no room for a briefing: 8 % of what remains is less than a token.")
    elif not briefing.text:
        aside.append(f"Nothing to tell: no memory bears on it, or none fits into {total:,} tokens.")
    elif sys.stdout.isatty():
        told = output.count(len(briefing.shown), "memory", "memories")
        aside.append(f"{briefing.tokens:,} of {total:,} tokens, {told}.")
    output.print_notes(aside)


@click.command(cls=SpreadsFiles)
@click.argument("query", nargs=-1, required=True)
@limit_option(10)
@click.option("-k", "--kind", type=KIND, help="Only this kind.")
@click.option("-t", "--tag", help="Only with this tag.")
@click.option("-f", "--file", help="Only about this file.")
@click.option(
    "--files", metavar="FILE...", multiple=True, help="Files at hand; memories about them weigh more."
)
@click.option("--branch", help="Also what is true on this branch only [the current one].")
@click.option("--session", help="Also what belongs to this session only.")
@click.option(
    "--state", type=STATE, help="active, superseded, deprecated, archived, deleted or all [active]."
)
@click.option(
    "--as-of", metavar="DATE", help="As it was then: 2026-05-01, 2026-05-01T12:30, or how long ago: 30d."
)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@click.option(
    "--recipe", type=RECIPE, help="How to score: default, seed-000, seed-002 or seed-003 [default]."
)
@click.option("--no-graph", is_flag=True, help="Without what only hangs together with a hit.")
@click.option("--explain", is_flag=True, help="Say why the first is first, and what each score is made of.")
@shared_options
@click.pass_obj
def search(
    cli: CliContext,
    /,
    query: tuple[str, ...],
    as_of: str | None,
    no_graph: bool,
    explain: bool,
    **options: Any,
) -> None:
    """Find memories that bear on QUERY, best first.

    It looks for the words, for the meaning, and for what hangs together with the hits; --explain shows what each
    contributed. A query is words and never syntax; - reads it from standard input.

    \b
    recollect search "why do the tests fail"
    recollect search deploy --kind procedure --explain
    recollect search "token lifetime" --as-of 30d
    """
    refuse_both(as_of=as_of, state=options["state"])
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if as_of is not None:
        given["as_of"] = parse_time(as_of)
    with open_engine(cli) as engine:
        answer = engine.search(read_text(query), graph=not no_graph, **given)
        stale = engine.stale()
    if cli.json:
        output.print_json(
            {
                "results": _as_json(answer.results),
                "partial": answer.partial,
                "took_ms": answer.took_ms,
                "notes": answer.notes,
            }
        )
        return
    if not answer.results:
        click.echo("Nothing found. `recollect list` shows what is stored here.", err=True)
    elif explain:
        click.echo(first_because(answer.results))
    for hit, line in zip(answer.results, _table(answer.results), strict=True):
        click.echo(line)
        if explain:
            print_parts(hit)
    changed = [
        f"{hit.memory.id[-output.SHORT_ID :]} may be out of date: {stale[hit.memory.id].why}."
        for hit in answer.results
        if hit.memory.id in stale
    ]
    output.print_notes([*answer.notes, *changed])


def _as_json(hits: Iterable[m.Hit]) -> list[dict[str, Any]]:
    return [{"memory": output.memory_json(hit.memory), "score": hit.score, "why": hit.why} for hit in hits]


def _table(hits: tuple[m.Hit, ...]) -> list[str]:
    return output.memory_table([hit.memory for hit in hits], lead=[f"{hit.score:.2f}" for hit in hits])


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@limit_option(10)
@shared_options
@click.pass_obj
def similar(cli: CliContext, memory_id: str, limit: int) -> None:
    """Find what is like a memory, the nearest in meaning first."""
    with open_engine(cli) as engine:
        hits = engine.similar(memory_id, limit)
    if cli.json:
        output.print_json({"results": _as_json(hits)})
        return
    if not hits:
        click.echo("Nothing here is like it.", err=True)
    for line in _table(hits):
        click.echo(line)
    if any("words" in hit.why["parts"] for hit in hits):
        output.print_notes(["By words only: it has no vector. `recollect init` makes missing ones."])


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@click.option("--helpful", is_flag=True, help="It helped: its confidence rises.")
@click.option("--not-helpful", is_flag=True, help="It did not: its confidence falls.")
@shared_options
@click.pass_obj
def feedback(cli: CliContext, memory_id: str, helpful: bool, not_helpful: bool) -> None:
    """Say whether a memory helped."""
    refuse_both(helpful=helpful, not_helpful=not_helpful)
    if not helpful and not not_helpful:
        raise click.UsageError("Say --helpful or --not-helpful.", click.get_current_context())
    with open_engine(cli) as engine:
        memory = engine.feedback(memory_id, helpful)
    if cli.json:
        output.print_json({"memory": output.memory_json(memory)})
        return
    verdict = "helped" if helpful else "did not help"
    click.echo(f"Noted: {memory.id} {verdict}; its confidence is {memory.confidence:.2f} now.")


@click.command()
@limit_option(20)
@shared_options
@click.pass_obj
def gaps(cli: CliContext, limit: int) -> None:
    """List what was asked for and nothing was known of, newest first."""
    with open_engine(cli) as engine:
        found = engine.gaps(limit)
    if cli.json:
        output.print_json({"gaps": found})
        return
    if not found:
        click.echo("No gaps: what was asked for was found, or nothing was asked for yet.", err=True)
    now = m.utc_now()
    rows = [(output.age(gap.created_at, now), output.one_line(gap.context)) for gap in found]
    for line in output.table(rows, ["bright_black"]):
        click.echo(line)
