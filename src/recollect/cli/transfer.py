"""Memories out to a file, and back in."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from recollect.cli import show as look
from recollect.cli.door import Door, open_engine, shared
from recollect.errors import BadImport, RecollectError

if TYPE_CHECKING:
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
            engine.export(_standard_output(), this_project=this_project)
            return
        with _replacing(Path(file)) as out:
            written = engine.export(out, this_project=this_project)
    if door.json:
        look.say_json({"exported": written, "file": str(Path(file).absolute())})
        return
    click.echo(f"Exported {look.count(written, 'memory', 'memories')} to {look.printable(file)}")


def _standard_output() -> IO[str]:
    """Whatever the terminal speaks, an export is UTF-8."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


@contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    """A file that takes the place of `path` when all of it has been written."""
    fresh = path.resolve().with_name(f".{path.name}.{os.getpid()}.new")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is written to, never replaced
            with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
                yield out
            return
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(path.resolve())
    except OSError as error:
        raise RecollectError(f"Cannot write {path}: {error.strerror}.", "Name another file.") from error
    finally:
        with suppress(OSError):  # it is there only if something went wrong
            fresh.unlink()


@click.command(name="import")
@click.argument("file", type=click.Path(allow_dash=True))
@shared
@click.pass_obj
def import_(door: Door, file: str) -> None:
    """Bring in memories from a file.

    FILE (- for standard input) is an export, or JSON lines with at least "content".

    They are kept as given: secrets are taken out, nothing is merged. A file that is not JSON changes nothing.
    """
    from recollect.tend.transfer import read_parcel

    parcel = read_parcel(_read(file), "standard input" if file == "-" else file)
    with open_engine(door) as engine:
        with look.progress("Importing", len(parcel.records)) as advance:
            report = engine.bring_in(parcel.records, parcel, advance)
        if door.json:
            look.say_json(_as_json(report, parcel))
        else:
            _say_report(report, parcel)
    if report.refused and not report.kept:
        click.get_current_context().exit(1)


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadImport(
            f"Cannot read {file}: {error.strerror}.", "Name a file that `recollect export` wrote."
        ) from error
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadImport(
            f"{file}, line {line}: not valid UTF-8.", "Save it as UTF-8; nothing was imported."
        ) from error


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
    if report.redacted:
        click.echo(f"{look.count(report.redacted, 'secret')} taken out.")
    if report.refused:
        click.echo(f"{len(report.refused):,} refused:", err=True)
    for number, why in report.refused[:_REASONS_SHOWN]:
        click.echo(f"  {parcel.unit} {parcel.lines[number]}: {look.printable(why)}", err=True)
    if len(report.refused) > _REASONS_SHOWN:
        click.echo(f"  … and {len(report.refused) - _REASONS_SHOWN:,} more", err=True)
    look.say_notes(report.notes)
