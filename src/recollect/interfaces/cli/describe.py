"""The `describe` command: say when memories are needed."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

import recollect.model as m
from recollect.errors import AmbiguousId, MemoryNotFound, RecollectError, Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import MEMORY, author_option, limit_option, read_input, usage_error

_MAX_INPUT = 1024 * 1024  # bytes of standard input
_MAX_LINES = 1000  # in it: as many memories as one answer of a team server lists
_REFUSALS = 20  # that are printed

_WANTED = """\
Write two or three situations for each in which somebody needs it, as they would ask then, in other words than its own.
Give them to `recollect describe -` on standard input, a line for each memory: `ID: situation | situation | situation`."""


@click.command()
@click.argument("name", metavar="[ID|KEYWORD]", type=MEMORY, required=False)
@click.option(
    "--when",
    "situations",
    multiple=True,
    help="A situation in which it is needed, in other words than the text; repeatable. It is searched, and not shown.",
)
@limit_option(20)
@author_option
@rendered(failed=lambda result: bool(result.value.get("refused")) and not result.value["described"])
def describe(
    cli: CliContext, name: str | None, situations: tuple[str, ...], limit: int, author: str
) -> CommandResult:
    """Say when memories are needed, or list those that do not say it.

    Without an ID it lists lasting memories of this project that name no situation, those first that matter most. With
    --when it adds situations to one of them; - reads a line for each memory from standard input. Nothing else of a memory
    changes.

    \b
    recollect describe
    recollect describe 1m7gk3 --when "suite hangs on a new laptop" --when "adding a test of the queue"
    echo "1m7gk3: suite hangs on a new laptop | adding a test of the queue" | recollect describe -
    """
    cli.actor = author
    if name == "-" and situations:
        raise usage_error("Give --when or -, not both.")
    if name == "-":
        return _described(cli, list(_lines()))
    if name is None and situations:
        raise usage_error("Give the ID of the memory that --when is about.")
    if name is None:
        return _listed(cli, limit)
    if not situations:
        raise usage_error("Give --when with a situation in which the memory is needed.")
    memory, receipt = cli.engine.memory.describe(cli.engine.memory.find(name).id, situations)
    return _result(cli, [(memory, receipt)], [])


def _listed(cli: CliContext, limit: int) -> CommandResult:
    memories, total = cli.engine.memory.undescribed(limit)

    def text() -> None:
        for id, memory in zip(output.short_ids([each.id for each in memories]), memories, strict=True):
            click.echo(f"{click.style(id, fg='cyan')}  {click.style(memory.kind, fg='green')}")
            click.echo(f"{output.indented(memory.content)}\n")
        if not memories:
            click.echo("No memory of this project is without a situation in which it is needed.", err=True)
            return
        click.echo(_WANTED)
        if total > len(memories):
            output.print_notes([f"{total - len(memories):,} more; --limit lists more at once."])

    return CommandResult({"memories": memories, "total": total}, text)


_Line = tuple[int, str, tuple[str, ...]]  # its number, the id, and the situations


def _described(cli: CliContext, lines: Sequence[_Line]) -> CommandResult:
    """Add the situations of all lines, as one change. A line that is refused stops no other."""
    memory = cli.engine.memory
    summary = "Said when memories are needed." if len(lines) > 1 else ""
    change = cli.engine.context.new_change("describe", summary)
    described, refused = [], []
    for number, name, situations in lines:
        try:
            if not name:
                raise Refused("It has no `ID:` before the situations.", _FORM)
            described.append(memory.describe(name, situations, change=change))
        except (Refused, MemoryNotFound, AmbiguousId) as error:
            refused.append((number, name, error))
    return _result(cli, described, refused)


_FORM = "A line is `ID: situation | situation | situation`."


def _result(
    cli: CliContext,
    described: Sequence[tuple[m.Memory, m.Receipt]],
    refused: Sequence[tuple[int, str, RecollectError]],
) -> CommandResult:
    memories = tuple({memory.id: memory for memory, _ in described}.values())
    redactions = [redaction for _, receipt in described for redaction in receipt.redactions]
    notes = tuple(dict.fromkeys(note for _, receipt in described for note in receipt.notes))
    _, left = cli.engine.memory.undescribed(1)
    value: dict[str, Any] = {
        "described": memories,
        "refused": [
            {"line": number, "id": name, "message": error.message, "hint": error.hint}
            for number, name, error in refused
        ],
        "left": left,
        "redactions": redactions,
        "notes": notes,
    }

    def text() -> None:
        if len(memories) == 1 and not refused:
            click.echo(f"Described {click.style(memories[0].id, fg='cyan')}")
        else:
            click.echo(f"Described {output.count(len(memories), 'memory', 'memories')}.")
        for number, _, error in refused[:_REFUSALS]:
            click.echo(output.one_line(f"Line {number:,}: {error.message} {error.hint}"), err=True)
        if len(refused) > _REFUSALS:
            click.echo(f"{len(refused) - _REFUSALS:,} more lines were refused.", err=True)
        output.print_redactions(redactions)
        output.print_notes(notes)
        click.echo(f"{left:,} left: run `recollect describe`." if left else "None is left.")

    return CommandResult(value, text)


def _lines() -> Iterator[_Line]:
    """Yield the lines of standard input that are not empty. Raise `Refused` if there are none, or too many."""
    text = read_input(_MAX_INPUT)
    if text is None:
        raise Refused(
            f"Standard input is longer than {_MAX_INPUT:,} bytes.",
            f"Give at most {_MAX_LINES:,} lines at once.",
        )
    given = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not given:
        raise Refused("Standard input is empty.", _FORM)
    if len(given) > _MAX_LINES:
        raise Refused(f"Standard input has {len(given):,} lines.", f"Give at most {_MAX_LINES:,} at once.")
    for number, line in given:
        name, colon, situations = line.partition(":")
        yield number, name.strip() if colon else "", tuple(situations.split("|"))
