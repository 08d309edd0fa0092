"""Commands that move memories between the store and files: export, import, mirror."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import BadImport, Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import refuse_both, usage_error

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.transfer.import_file import ImportFile, Lines
    from recollect.memory.transfer.import_report import ImportReport
    from recollect.memory.transfer.mirror import MirrorReport
    from recollect.memory.write.messages import MessageReport

_REASONS_SHOWN = 10
_PASSPHRASE = "RECOLLECT_PASSPHRASE"

_passphrase_file = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    help=f"The file with the passphrase of a bundle [{_PASSPHRASE}, or a prompt].",
)


@click.command()
@click.argument("file", default="-", type=click.Path(allow_dash=True))
@click.option("--this-project", is_flag=True, help="Only memories of this project and global ones.")
@click.option("--messages", is_flag=True, help="Include the messages of sessions.")
@click.option("--vectors", is_flag=True, help="Include the vectors, so that an import need not make them.")
@click.option("--bundle", is_flag=True, help="Encrypt the file with a passphrase.")
@click.option(
    "--markdown", is_flag=True, help="Write Markdown; one page for each project if FILE is a folder."
)
@_passphrase_file
@rendered()
def export(
    cli: CliContext,
    file: str,
    this_project: bool,
    messages: bool,
    vectors: bool,
    bundle: bool,
    markdown: bool,
    passphrase_file: Path | None,
) -> CommandResult | None:
    """Write all memories to a file or standard output, as JSON.

    `recollect import` reads the file, on this machine or another. The file is not encrypted unless you use --bundle, even
    if the store is. Only you can read it (mode 0600).

    \b
    recollect export memories.json
    recollect export --bundle memories.bundle
    recollect export --markdown notes/
    """
    refuse_both(bundle=bundle, markdown=markdown)
    refuse_both(markdown=markdown, messages=messages)
    refuse_both(markdown=markdown, vectors=vectors)
    if bundle and file == "-":
        raise usage_error("--bundle needs FILE.")
    engine, parts = cli.engine, {"this_project": this_project, "messages": messages, "vectors": vectors}
    if markdown:
        written = _write_markdown(engine, file, this_project)
    elif bundle:
        written = engine.bundle(Path(file), _passphrase(passphrase_file, new=True), **parts)
    elif file == "-":
        written = engine.export(output.standard_output(), **parts)
    else:
        with output.replacing(Path(file)) as out:
            written = engine.export(out, **parts)
    if file == "-":
        return None
    number = output.count(written, "memory", "memories")
    return CommandResult(
        {"exported": written, "file": str(Path(file).absolute())},
        lambda: click.echo(f"Exported {number} to {output.printable(file)}"),
    )


def _write_markdown(engine: "Engine", file: str, this_project: bool) -> int:
    """Write the pages to standard output, one file, or a file each in a folder; return how many memories."""
    from recollect.memory.transfer.markdown import pages
    from recollect.memory.transfer.mirror import file_name

    written = list(pages(engine.store, engine.context.full_view(this_project=this_project)))
    whole = "\n".join(page.text for page in written)
    folder = Path(file)
    if file == "-":
        output.standard_output().write(whole)
    elif folder.is_dir() or file.endswith(("/", os.sep)):
        with suppress(OSError):  # writing the first page names the obstacle
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        names: set[str] = set()
        for page in written:
            name = file_name(page.project, names, "md")
            names.add(name)
            with output.replacing(folder / name) as out:
                out.write(page.text)
    else:
        with output.replacing(folder) as out:
            out.write(whole)
    return sum(page.count for page in written)


@click.command(name="import")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--messages",
    is_flag=True,
    help="FILE has messages of sessions, with session, order, author, text and created_at.",
)
@_passphrase_file
@rendered(failed=lambda result: result.value["refused"] and not result.value["kept"])
def import_(cli: CliContext, file: str, messages: bool, passphrase_file: Path | None) -> CommandResult:
    """Import memories from a file, or messages of sessions.

    FILE (- for standard input) is an export, a bundle, or JSON lines with at least "content"; with --messages, JSON
    lines with at least "session", "order" and "text".

    Memories are stored as they are, without secrets, and not merged with similar ones. A memory that exists already is
    joined with the one in the file: the newer text wins, and nothing is lost. Invalid records are refused and reported;
    a file that is not JSON changes nothing. Use `recollect undo` to undo an import.

    \b
    recollect import memories.json
    recollect import --messages talk.jsonl
    """
    name = "standard input" if file == "-" else file
    if messages:
        hint = "Give a file of JSON lines with session, order, author, text and created_at."
        return _import_messages(cli, _lines(file, hint, passphrase_file), name)
    hint = "Give a file that `recollect export` wrote."
    return _import_memories(cli, _lines(file, hint, passphrase_file), name)


def _lines(file: str, hint: str, passphrase_file: Path | None) -> "Lines":
    """Return the lines of a file or standard input; a pipe is read whole, because it can be read only once."""
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
        raise BadImport("A bundle cannot be read from a pipe.", "Give the name of the file.")
    return lines_of(data)


def _passphrase(file: Path | None, new: bool = False) -> str:
    """Return the passphrase from a file, the environment or a prompt, never from the visible command line."""
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8").strip("\r\n")
        except (OSError, ValueError) as error:
            raise Refused(f"Cannot read {file}: {error}.", "Give a file that has the passphrase.") from error
    elif _PASSPHRASE in os.environ:
        text = os.environ[_PASSPHRASE]
    elif sys.stdin is None or not sys.stdin.isatty():
        raise Refused(
            "A bundle needs a passphrase, and there is no terminal to ask for it.",
            f"Set {_PASSPHRASE}, or use --passphrase-file.",
        )
    else:
        text = click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True)
    if not text:
        raise Refused("The passphrase is empty.", f"Set {_PASSPHRASE}, or use --passphrase-file.")
    return str(text)


def _import_memories(cli: CliContext, lines: "Lines", name: str) -> CommandResult:
    from recollect.memory.transfer.import_file import read_import_file

    source = read_import_file(lines, name)
    with output.progress("Importing", source.counts.get("memories", 0)) as advance:
        report = cli.engine.transfer.import_records(source.records, source, advance)
    refused = _refused(report, source)

    def text() -> None:
        memories, links = output.count(report.kept, "memory", "memories"), output.count(report.links, "link")
        click.echo(f"Imported {memories}, {links}.")
        if report.beside:
            texts = output.count(report.beside, "text")
            click.echo(f"Stored {texts} separately, because both sides had changed.")
        _print_report(report, refused, source.unit)

    value = {
        "kept": report.kept,
        "refused": refused,
        "redacted": report.redacted,
        "links": report.links,
        "beside": report.beside,
        "change": report.change,
        "ids": report.ids,
        "notes": report.notes,
    }
    return CommandResult(value, text)


def _import_messages(cli: CliContext, lines: "Lines", name: str) -> CommandResult:
    from recollect.memory.transfer.import_file import read_json_lines

    source = read_json_lines(lines, name, "messages", ("session", "order", "text"))
    with output.progress("Importing", source.counts["messages"]) as advance:
        report = cli.engine.import_messages(source.read("messages"), advance)
    refused = _refused(report, source)

    def text() -> None:
        click.echo(f"Imported {output.count(report.kept, 'message')}.")
        _print_report(report, refused, source.unit)

    value = {
        "kept": report.kept,
        "refused": refused,
        "redacted": report.redacted,
        "notes": report.notes,
    }
    return CommandResult(value, text)


def _refused(report: "ImportReport | MessageReport", source: "ImportFile") -> list[dict[str, Any]]:
    return [{source.unit: source.place(number), "why": why} for number, why in report.refused]


def _print_report(
    report: "ImportReport | MessageReport", refused: Sequence[dict[str, Any]], unit: str
) -> None:
    if report.redacted:
        click.echo(f"Redacted {output.count(report.redacted, 'secret')}.")
    if refused:
        click.echo(f"Refused {output.count(len(refused), 'record')}:", err=True)
    for record in refused[:_REASONS_SHOWN]:
        click.echo(f"  {unit} {record[unit]}: {output.one_line(record['why'])}", err=True)
    if len(refused) > _REASONS_SHOWN:
        click.echo(f"  … and {len(refused) - _REASONS_SHOWN:,} more", err=True)
    output.print_notes(report.notes)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--plaintext", is_flag=True, help="Write plain files even if the store is encrypted.")
@rendered(failed=lambda result: result.value["refused"])
def mirror(cli: CliContext, folder: Path, plaintext: bool) -> CommandResult:
    """Synchronise the memories with JSON files in FOLDER.

    There is one file for each project. Change an entry to edit its memory, delete it to forget it, add one without an id
    to remember something. The next run imports your edits as one change, which `recollect undo` undoes, and writes what
    has changed in the store.

    The exit code is 1 if a file cannot be read: it is left as it is, and the others are updated.
    """
    report = cli.engine.care.mirror(folder, plaintext=plaintext)
    value = {
        **{name: getattr(report, name) for name in ("written", "changed", "remembered", "forgotten")},
        "both": [{"id": id, "what": what} for id, what in report.both],
        "refused": [{"file": name, "why": why} for name, why in report.refused],
        "redacted": report.redacted,
        "change": report.change,
    }
    return CommandResult(value, lambda: _print_mirror(report, folder))


def _print_mirror(report: "MirrorReport", folder: Path) -> None:
    edits = {"changed": report.changed, "remembered": report.remembered, "forgotten": report.forgotten}
    if parts := [f"{len(ids):,} {what}" for what, ids in edits.items() if ids]:
        click.echo(f"Imported: {', '.join(parts)}.")
    if report.redacted:
        click.echo(f"Redacted {output.count(report.redacted, 'secret')}.")
    click.echo(f"Wrote {output.count(len(report.written), 'file')} to {output.printable(str(folder))}")
    for id, what in report.both:
        click.echo(f"Changed on both sides: {output.one_line(id)}. {output.one_line(what)}", err=True)
    for _, why in report.refused:
        click.echo(f"Not read: {output.one_line(why)}", err=True)
