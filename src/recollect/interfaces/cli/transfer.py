"""Memories out to a file, and back in; messages in."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.errors import BadImport, Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, refuse_both, shared_options
from recollect.interfaces.cli.files import replacing, standard_output

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.transfer.import_file import ImportFile, Lines
    from recollect.memory.transfer.import_report import ImportReport
    from recollect.memory.write.messages import MessageReport

_REASONS_SHOWN = 10
PASSPHRASE = "RECOLLECT_PASSPHRASE"

passphrase_file = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    help=f"Where a bundle's passphrase is [{PASSPHRASE}, or you are asked].",
)


@click.command()
@click.argument("file", default="-", type=click.Path(allow_dash=True))
@click.option("--this-project", is_flag=True, help="Only this project's memories and the global ones.")
@click.option("--messages", is_flag=True, help="With what was said in sessions, too.")
@click.option("--vectors", is_flag=True, help="With the vectors, so that they need not be made again.")
@click.option("--bundle", is_flag=True, help="Encrypted, to be opened with a passphrase.")
@click.option("--markdown", is_flag=True, help="To be read; a page for each project, if FILE is a folder.")
@passphrase_file
@shared_options
@click.pass_obj
def export(
    cli: CliContext,
    file: str,
    this_project: bool,
    messages: bool,
    vectors: bool,
    bundle: bool,
    markdown: bool,
    passphrase_file: Path | None,
) -> None:
    """Write all memories as JSON to a file or standard output.

    `recollect import` takes it back, here or on another machine. The file is not encrypted, whatever the store is,
    unless it is a bundle; only you can read it (mode 0600).

    \b
    recollect export memories.json
    recollect export --bundle memories.bundle
    recollect export --markdown notes/
    """
    refuse_both(bundle=bundle, markdown=markdown)
    refuse_both(markdown=markdown, messages=messages)
    refuse_both(markdown=markdown, vectors=vectors)
    if bundle and file == "-":
        raise click.UsageError("A bundle needs a file's name.", click.get_current_context())
    with open_engine(cli) as engine:
        if markdown:
            _write_pages(cli, engine, file, this_project)
            return
        if bundle:
            secret = _passphrase(passphrase_file, new=True)
            written = engine.bundle(
                Path(file), secret, this_project=this_project, messages=messages, vectors=vectors
            )
        elif file == "-":
            engine.export(standard_output(), this_project=this_project, messages=messages, vectors=vectors)
            return
        else:
            with replacing(Path(file)) as out:
                written = engine.export(out, this_project=this_project, messages=messages, vectors=vectors)
    _say_written(cli, written, file)


def _say_written(cli: CliContext, written: int, file: str) -> None:
    if cli.json:
        output.print_json({"exported": written, "file": str(Path(file).absolute())})
        return
    click.echo(f"Exported {output.count(written, 'memory', 'memories')} to {output.printable(file)}")


def _write_pages(cli: CliContext, engine: "Engine", file: str, this_project: bool) -> None:
    from recollect.memory.transfer.markdown import pages
    from recollect.memory.transfer.mirror import file_name

    found = list(pages(engine.store, engine.all_mine(this_project)))
    if file == "-":
        standard_output().write("\n".join(page.text for page in found))
        return
    folder = Path(file)
    if folder.is_dir() or file.endswith(("/", os.sep)):
        with suppress(OSError):  # what is in the way is named when a page cannot be written
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken: set[str] = set()
        for page in found:
            name = file_name(page.project, taken, "md")
            taken.add(name)
            with replacing(folder / name) as out:
                out.write(page.text)
    else:
        with replacing(folder) as out:
            out.write("\n".join(page.text for page in found))
    _say_written(cli, sum(page.count for page in found), file)


@click.command(name="import")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--messages",
    is_flag=True,
    help="FILE has messages of sessions: session, order, author, text, created_at.",
)
@passphrase_file
@shared_options
@click.pass_obj
def import_(cli: CliContext, file: str, messages: bool, passphrase_file: Path | None) -> None:
    """Bring in memories from a file, or messages of sessions.

    FILE (- for standard input) is an export, a bundle, or JSON lines with at least "content"; with --messages, JSON
    lines with at least "session", "order" and "text".

    They are kept as given: secrets are taken out, nothing is merged. A memory that is here already is joined with the
    one in the file: what was written last holds, and nothing is lost. A record that breaks a rule is refused and
    told; a file that is not JSON changes nothing. `recollect undo` takes an import back.

    \b
    recollect import memories.json
    recollect import --messages talk.jsonl
    """
    name = "standard input" if file == "-" else file
    if messages:
        hint = "Name a file of JSON lines with session, order, author, text and created_at."
        kept, refused = _bring_messages(cli, _lines(file, hint, passphrase_file), name)
    else:
        hint = "Name a file that `recollect export` wrote."
        kept, refused = _bring_memories(cli, _lines(file, hint, passphrase_file), name)
    if refused and not kept:
        click.get_current_context().exit(1)


def _lines(file: str, hint: str, passphrase_file: Path | None) -> "Lines":
    """What is in `file`, or in standard input for `-`; of a pipe all at once, for it can be read only once."""
    from recollect.memory.transfer.bundle import MARK, is_bundle, open_bundle
    from recollect.memory.transfer.import_file import lines_of

    path = Path(file)
    try:
        if file != "-" and path.is_file():
            if is_bundle(path):
                return open_bundle(path, _passphrase(passphrase_file))
            return lines_of(path)
        data = sys.stdin.buffer.read() if file == "-" else path.read_bytes()
    except OSError as error:
        raise BadImport(f"Cannot read {file}: {error.strerror}.", hint) from error
    if data.startswith(MARK):
        raise BadImport("A bundle cannot be read from a pipe.", "Give its file's name.")
    return lines_of(data)


def _passphrase(file: Path | None, new: bool = False) -> str:
    """From a file, from the environment, or typed: never from the command line, which others can see."""
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8").strip("\r\n")
        except (OSError, ValueError) as error:
            raise Refused(
                f"Cannot read {file}: {error}.", "Name a file with the passphrase in it."
            ) from error
    elif PASSPHRASE in os.environ:
        text = os.environ[PASSPHRASE]
    elif sys.stdin is None or not sys.stdin.isatty():
        raise Refused(
            "A bundle needs a passphrase, and there is nobody to ask.",
            f"Set {PASSPHRASE}, or give --passphrase-file.",
        )
    else:
        text = click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True)
    if not text:
        raise Refused("The passphrase is empty.", f"Set {PASSPHRASE}, or give --passphrase-file.")
    return str(text)


def _bring_memories(cli: CliContext, lines: "Lines", name: str) -> tuple[int, int]:
    from recollect.memory.transfer.import_file import read_import_file

    parcel = read_import_file(lines, name)
    with open_engine(cli) as engine:
        with output.progress("Importing", parcel.counts.get("memories", 0)) as advance:
            report = engine.bring_in(parcel.records, parcel, advance)
        if cli.json:
            output.print_json(_as_json(report, parcel))
        else:
            _say_report(report, parcel)
    return report.kept, len(report.refused)


def _as_json(report: "ImportReport", parcel: "ImportFile") -> dict[str, object]:
    return {
        "kept": report.kept,
        "refused": [{parcel.unit: parcel.place(number), "why": why} for number, why in report.refused],
        "redacted": report.redacted,
        "links": report.links,
        "beside": report.beside,
        "change": report.change,
        "ids": report.ids,
        "notes": report.notes,
    }


def _say_report(report: "ImportReport", parcel: "ImportFile") -> None:
    click.echo(
        f"Imported {output.count(report.kept, 'memory', 'memories')}, {output.count(report.links, 'link')}."
    )
    if report.beside:
        click.echo(f"{output.count(report.beside, 'text')} kept beside: rewritten here and there.")
    _say_rest(report, [parcel.place(number) for number, _ in report.refused[:_REASONS_SHOWN]], parcel.unit)


def _say_rest(report: "ImportReport | MessageReport", places: Sequence[int], unit: str) -> None:
    if report.redacted:
        click.echo(f"{output.count(report.redacted, 'secret')} taken out.")
    if report.refused:
        click.echo(f"{len(report.refused):,} refused:", err=True)
    for place, (_, why) in zip(places, report.refused, strict=False):
        click.echo(f"  {unit} {place}: {output.one_line(why)}", err=True)
    if len(report.refused) > _REASONS_SHOWN:
        click.echo(f"  … and {len(report.refused) - _REASONS_SHOWN:,} more", err=True)
    output.print_notes(report.notes)


def _bring_messages(cli: CliContext, lines: "Lines", name: str) -> tuple[int, int]:
    from recollect.memory.transfer.import_file import read_json_lines

    parcel = read_json_lines(lines, name, "messages", ("session", "order", "text"))
    with open_engine(cli) as engine:
        with output.progress("Importing", parcel.counts["messages"]) as advance:
            report = engine.import_messages(parcel.read("messages"), advance)
        places = [parcel.place(number) for number, _ in report.refused]
        if cli.json:
            refused = [
                {"line": place, "why": why} for place, (_, why) in zip(places, report.refused, strict=True)
            ]
            output.print_json(
                {"kept": report.kept, "refused": refused, "redacted": report.redacted, "notes": report.notes}
            )
        else:
            click.echo(f"Imported {output.count(report.kept, 'message')}.")
            _say_rest(report, places[:_REASONS_SHOWN], "line")
    return report.kept, len(report.refused)
