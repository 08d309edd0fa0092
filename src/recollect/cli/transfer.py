"""Memories out to a file, and back in; messages in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.cli import show as look
from recollect.cli.door import Door, open_engine, shared
from recollect.cli.files import read_text, replacing, standard_output
from recollect.errors import BadImport

if TYPE_CHECKING:
    from recollect.learn.messages import MessageReport
    from recollect.tend.transfer import ImportReport, Parcel

_REASONS_SHOWN = 10


@click.command()
@click.argument("file", default="-", type=click.Path(allow_dash=True))
@click.option("--this-project", is_flag=True, help="Only this project's memories and the global ones.")
@shared
@click.pass_obj
def export(door: Door, file: str, this_project: bool) -> None:
    """Write all memories as JSON to a file or standard output.

    `recollect import` takes it back. The file is not encrypted, whatever the store is; only you can read it (mode 0600).
    """
    with open_engine(door) as engine:
        if file == "-":
            engine.export(standard_output(), this_project=this_project)
            return
        with replacing(Path(file)) as out:
            written = engine.export(out, this_project=this_project)
    if door.json:
        look.say_json({"exported": written, "file": str(Path(file).absolute())})
        return
    click.echo(f"Exported {look.count(written, 'memory', 'memories')} to {look.printable(file)}")


@click.command(name="import")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--messages",
    is_flag=True,
    help="FILE has messages of sessions: session, order, author, text, created_at.",
)
@shared
@click.pass_obj
def import_(door: Door, file: str, messages: bool) -> None:
    """Bring in memories from a file, or messages of sessions.

    FILE (- for standard input) is an export, or JSON lines with at least "content"; with --messages, JSON lines with
    at least "session", "order" and "text".

    They are kept as given: secrets are taken out, nothing is merged. A record that breaks a rule is refused and told;
    a file that is not JSON changes nothing.

    \b
    recollect import memories.json
    recollect import --messages talk.jsonl
    """
    name = "standard input" if file == "-" else file
    if messages:
        kept, refused = _bring_messages(door, file, name)
    else:
        kept, refused = _bring_memories(door, file, name)
    if refused and not kept:
        click.get_current_context().exit(1)


def _bring_memories(door: Door, file: str, name: str) -> tuple[int, int]:
    from recollect.tend.transfer import read_parcel

    parcel = read_parcel(read_text(file, "Name a file that `recollect export` wrote."), name)
    with open_engine(door) as engine:
        with look.progress("Importing", len(parcel.records)) as advance:
            report = engine.bring_in(parcel.records, parcel, advance)
        if door.json:
            look.say_json(_as_json(report, parcel))
        else:
            _say_report(report, parcel)
    return report.kept, len(report.refused)


def _as_json(report: "ImportReport", parcel: "Parcel") -> dict[str, object]:
    return {
        "kept": report.kept,
        "refused": [{parcel.unit: parcel.lines[number], "why": why} for number, why in report.refused],
        "redacted": report.redacted,
        "links": report.links,
        "ids": report.ids,
        "notes": report.notes,
    }


def _say_report(report: "ImportReport", parcel: "Parcel") -> None:
    click.echo(
        f"Imported {look.count(report.kept, 'memory', 'memories')}, {look.count(report.links, 'link')}."
    )
    _say_rest(report, parcel.lines, parcel.unit)


def _say_rest(report: "ImportReport | MessageReport", lines: Sequence[int], unit: str) -> None:
    if report.redacted:
        click.echo(f"{look.count(report.redacted, 'secret')} taken out.")
    if report.refused:
        click.echo(f"{len(report.refused):,} refused:", err=True)
    for number, why in report.refused[:_REASONS_SHOWN]:
        click.echo(f"  {unit} {lines[number]}: {look.one_line(why)}", err=True)
    if len(report.refused) > _REASONS_SHOWN:
        click.echo(f"  … and {len(report.refused) - _REASONS_SHOWN:,} more", err=True)
    look.say_notes(report.notes)


def _bring_messages(door: Door, file: str, name: str) -> tuple[int, int]:
    hint = "Name a file of JSON lines with session, order, author, text and created_at."
    records, lines = _read_messages(read_text(file, hint), name)
    with open_engine(door) as engine:
        with look.progress("Importing", len(records)) as advance:
            report = engine.import_messages(records, advance)
        if door.json:
            refused = [{"line": lines[number], "why": why} for number, why in report.refused]
            look.say_json(
                {"kept": report.kept, "refused": refused, "redacted": report.redacted, "notes": report.notes}
            )
        else:
            click.echo(f"Imported {look.count(report.kept, 'message')}.")
            _say_rest(report, lines, "line")
    return report.kept, len(report.refused)


def _read_messages(text: str, name: str) -> tuple[list[dict[str, Any]], list[int]]:
    """The records, and the line each stands on. Raises `BadImport` with the line of the first that is none."""
    records, lines = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadImport(
                f"{name}, line {number}: not JSON ({error}).", "Mend it; nothing was imported."
            ) from error
        if not isinstance(record, dict) or not {"session", "order", "text"} <= record.keys():
            raise BadImport(
                f'{name}, line {number}: not an object with "session", "order" and "text".',
                "Mend it; nothing was imported.",
            )
        records.append(record)
        lines.append(number)
    return records, lines
