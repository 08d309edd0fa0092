"""What commands print and write: aligned text for people, JSON for programs, files that are replaced whole."""

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import ContextVar
from dataclasses import fields
from datetime import datetime
from io import StringIO, TextIOWrapper
from typing import IO, TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from pathlib import Path  # imported lazily: it takes a tenth of the time of `--help`


# The width of the terminal for which a command runs in another process; None = our own terminal.
terminal_columns: ContextVar[int | None] = ContextVar("terminal_columns", default=None)
_BAR = 30  # characters of a progress bar
SHORT_ID = 6  # characters at the end of an id; its beginning is the time, and similar for all of a day


def print_json(value: Any) -> None:
    """Print one JSON document. Nothing else goes to standard output."""
    document = json.dumps(value, default=_json_value, ensure_ascii=not _can_print("→"))
    click.echo(m.visible_json(document))


def _json_value(value: Any) -> Any:
    """Return what `json` cannot write as `model.as_json` would; a memory also has its session."""
    if isinstance(value, m.Memory):
        return memory_json(value)
    if not hasattr(value, "__dataclass_fields__"):
        return m.as_json(value)
    return {field.name: getattr(value, field.name) for field in fields(value)}


def memory_json(memory: m.Memory) -> dict[str, Any]:
    return {**m.as_json(memory), "session": memory.session}


class _Screen(StringIO):
    """Collects what is printed, and is the terminal for those who ask."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(sys.__stdout__, "encoding", None) or "ascii"

    def isatty(self) -> bool:
        return True


def paged(show: Callable[[], None]) -> None:
    """Print what `show` prints. On a terminal, use a pager if it is longer than the screen."""
    if terminal_columns.get() is not None or not sys.stdout.isatty():  # in a daemon, its caller pages
        show()
        return
    from recollect.interfaces.cli.pager import page

    screen, notes = _Screen(), _Screen() if sys.stderr.isatty() else StringIO()
    try:
        with redirect_stdout(screen), redirect_stderr(notes):
            show()
    finally:
        if not page(screen.getvalue()):
            sys.stdout.write(screen.getvalue())
            sys.stdout.flush()
        sys.stderr.write(notes.getvalue())


def print_error(error: RecollectError, type_name: str | None = None, *, as_json: bool) -> None:
    if as_json:
        value = {"type": type_name or type(error).__name__, "message": error.message, "hint": error.hint}
        matches = getattr(error, "matches", None)
        print_json({"error": value | ({"matches": matches} if matches else {})})
        return
    click.echo(click.style(one_line(error.message), fg="red"), err=True)
    if error.hint:
        click.echo(one_line(error.hint), err=True)


def print_notes(notes: Iterable[str]) -> None:
    """Print remarks to standard error: they are not part of the result."""
    for note in notes:
        click.echo(click.style(one_line(note), dim=True), err=True)


def print_redactions(redactions: Sequence[m.Redaction]) -> None:
    if redactions:
        types = ", ".join(dict.fromkeys(redaction.type for redaction in redactions))
        click.echo(f"Redacted {count(len(redactions), 'secret')}: {types}")


def memory_table(
    memories: Sequence[m.Memory], lead: Sequence[str] = (), *, headers: bool = False
) -> list[str]:
    """Return a line for each memory: short id, kind, age and text, after a first column `lead` if there is one.

    With `headers`, a terminal gets a line of headers first.
    """
    ids = short_ids([memory.id for memory in memories])
    now = m.utc_now()
    rows: list[tuple[str, ...]] = [
        (id, _kind_and_state(memory), age(memory.created_at, now), one_line(memory.content))
        for id, memory in zip(ids, memories, strict=True)
    ]
    colors, names = ["cyan", "green", "bright_black"], ["id", "kind", "age", "memory"]
    if lead:
        rows = [(first, *row) for first, row in zip(lead, rows, strict=True)]
        colors, names = ["blue", *colors], ["score", *names]
    return table(rows, colors, names if headers else None)


def message_table(hits: Sequence[m.MessageHit], *, indent: str = "", sessions: bool = False) -> list[str]:
    """Return a line for each message: score, position, author, age and text."""
    now = m.utc_now()
    rows = [
        (
            f"{indent}{hit.score:.2f}",
            (one_line(hit.message.session) if sessions else "") + f"#{hit.message.order}",
            hit.message.author,
            age(hit.message.created_at, now),
            one_line(hit.message.text),
        )
        for hit in hits
    ]
    return table(rows, ["blue", "cyan", "green", "bright_black"])


def _kind_and_state(memory: m.Memory) -> str:
    marks = [memory.kind]
    if memory.pinned:
        marks.append("pinned")
    if memory.state is not m.State.ACTIVE:
        marks.append(memory.state)
    elif memory.is_proposal:
        marks.append("proposal")
    return ", ".join(marks)


def short_ids(ids: Sequence[str]) -> list[str]:
    """Return the ends of `ids`, long enough to be distinct."""
    length = SHORT_ID
    while len({id[-length:] for id in ids}) < len(set(ids)):
        length += 1
    return [id[-length:] for id in ids]


def print_table(
    rows: Sequence[Sequence[str]], colors: Sequence[str], headers: Sequence[str] | None = None
) -> None:
    for line in table(rows, colors, headers):
        click.echo(line.rstrip())


def table(
    rows: Sequence[Sequence[str]], colors: Sequence[str], headers: Sequence[str] | None = None
) -> list[str]:
    """Return aligned columns, each but the last in its color. What a terminal would obey is escaped in every cell.

    On a terminal the last one is cut to fit the line, and `headers` come first. In a pipe every line is a row.
    """
    if not rows:
        return []
    rows = [[one_line(cell) if "\n" in cell else printable(cell) for cell in row] for row in rows]
    shown = headers if headers and sys.stdout.isatty() else None
    widths = [
        max(width(row[column]) for row in ([shown, *rows] if shown else rows))
        for column in range(len(rows[0]) - 1)
    ]
    available = _available_columns(sum(widths) + 2 * len(widths))
    lines = []
    if shown:
        cells = [
            name.upper() + " " * (size - width(name)) for name, size in zip(shown[:-1], widths, strict=True)
        ]
        lines.append(click.style("  ".join([*cells, shown[-1].upper()]), dim=True))
    for row in rows:
        cells = [
            click.style(cell, fg=color or None) + " " * (size - width(cell))
            for cell, size, color in zip(row[:-1], widths, colors, strict=True)
        ]
        lines.append("  ".join([*cells, cut(row[-1], available)]))
    return lines


def _available_columns(used: int) -> int | None:
    """Return how many columns of the terminal's line are left; None if standard output is not a terminal."""
    if not sys.stdout.isatty():
        return None
    import shutil

    columns = terminal_columns.get() or shutil.get_terminal_size().columns
    return max(20, columns - used)


def cut(text: str, columns: int | None) -> str:
    """Return the text, shortened with an ellipsis if it needs more than `columns`."""
    if columns is None or width(text) <= columns:
        return text
    ellipsis = glyph("…", "...")
    start, size = "", width(ellipsis)
    for char in text:
        size += width(char)
        if size > columns:
            break
        start += char
    return start.rstrip() + ellipsis


def width(text: str) -> int:
    """Return how many columns the text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def one_line(text: str) -> str:
    """Return the text as one printable line. Use it for everything that is stored or comes from a file."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Return the text with control characters and marks that change the reading direction escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if _is_control(char) else char for char in text)


_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _is_control(char: str) -> bool:
    return (unicodedata.category(char) == "Cc" and char not in "\n\t") or char in _DIRECTION_MARKS


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def glyph(char: str, ascii: str) -> str:
    """Return `char`, or its ASCII replacement where the terminal cannot show it."""
    return char if _can_print(char) else ascii


def _can_print(char: str) -> bool:
    try:
        char.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


_AGE_STEPS = (("min", 60), ("h", 60), ("d", 24), ("mo", 30), ("y", 12))


def age(since: datetime, now: datetime) -> str:
    """Return an approximate age: 5 min, 3 h, 2 d, 4 mo, 1 y."""
    value, unit = max((now - since).total_seconds(), 0.0), "s"
    for name, size in _AGE_STEPS:
        if value < size:
            break
        value, unit = value / size, name
    return "now" if unit == "s" else f"{int(value)} {unit}"


def moment(when: datetime) -> str:
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def print_memory(memory: m.Memory, stale: m.Stale | None = None) -> None:
    """Print every field of a memory that a person may want to know."""
    click.echo(click.style(memory.id, fg="cyan", bold=True) + f"  {_kind_and_state(memory)}")
    click.echo(f"\n{indented(memory.content)}\n")
    for label, value in _memory_fields(memory, stale):
        if value:
            click.echo(click.style(f"{label:<{_LABEL}}", fg="bright_black") + one_line(value))


_LABEL = len("superseded by") + 2  # columns


def indented(text: str) -> str:
    """Return the lines of a stored text, printable and indented."""
    return "\n".join(f"  {line}" for line in printable(text).split("\n"))


def _memory_fields(memory: m.Memory, stale: m.Stale | None) -> Iterator[tuple[str, str]]:
    reason = f" ({memory.state_reason})" if memory.state_reason else ""
    used = f", last {moment(memory.last_accessed_at)}" if memory.last_accessed_at else ""
    yield "scope", memory.scope + (f" ({memory.project_id})" if memory.project_id else "")
    yield "state", f"{memory.state}{reason}, {memory.standing}"
    yield "stale", f"{stale.why} ({moment(stale.since)})" if stale else ""
    yield "superseded by", memory.superseded_by or ""
    yield "tags", ", ".join(memory.tags)
    yield "files", ", ".join(memory.file_paths)
    yield "triggers", ", ".join(memory.triggers)
    yield "needed when", "; ".join(memory.when_needed)
    if memory.procedure:
        for number, step in enumerate(memory.procedure.steps, start=1):
            yield f"step {number}", step
        yield "prerequisites", "; ".join(memory.procedure.prerequisites)
        yield "warnings", "; ".join(memory.procedure.warnings)
    yield "branch", memory.branch or ""
    yield "season", memory.season or ""
    yield "created", f"{moment(memory.created_at)} by {memory.created_by}, {memory.visibility}"
    if memory.updated_at != memory.created_at:
        yield "updated", moment(memory.updated_at)
    yield "valid until", moment(memory.valid_to) if memory.valid_to else ""
    yield "source", "; ".join(map(_origin, memory.provenance))
    yield "importance", f"{memory.importance:.2f}"
    yield "confidence", f"{memory.confidence:.2f}, trust {memory.trust:.2f}"
    yield "stated", count(memory.strength, "time")
    yield "used", count(memory.access_count, "time") + used
    for breadcrumb in memory.reinforcements:
        text = f": {breadcrumb.said}" if breadcrumb.said else ""
        yield "stated again", f"{moment(breadcrumb.at)} by {breadcrumb.by}{text}"


def _origin(link: m.Provenance) -> str:
    where = (link.session and f"session {link.session}", link.agent and f"agent {link.agent}", link.branch)
    parts = [link.source.replace("_", " "), *(part for part in where if part)]
    return f"{', '.join(parts)} on {moment(link.at)}"


def print_links(links: Sequence[tuple[m.Link, m.Memory]]) -> None:
    """Print the links, each with the memory at its other end."""
    rows = []
    for link, other in links:
        outward = link.target == other.id
        arrow = glyph("→", "->") if outward else glyph("←", "<-")
        state = ""
        if link.relation is m.Relation.CONTRADICTS:
            state = " (resolved)" if link.resolved_at else " (open)"
        rows.append(
            (
                f"{arrow} {link.relation}{state}",
                f"{link.weight:.2f}",
                other.id[-SHORT_ID:],
                one_line(other.content) + _why(link),
            )
        )
    print_table(rows, ["green", "", "cyan"])


def _why(link: m.Link) -> str:
    """Return why two memories were judged to contradict each other: which words, which rule or model, how sure."""
    judged = link.relation in (m.Relation.CONTRADICTS, m.Relation.SUPERSEDES)
    return f" – {one_line(link.reason)}" if judged and link.reason else ""


def print_audit(lines: Sequence[m.AuditLine]) -> None:
    rows = [
        (
            str(line.seq),
            moment(line.at),
            one_line(line.actor),
            one_line(line.action),
            (line.memory_id or "")[-SHORT_ID:],
            _detail(line.detail),
        )
        for line in lines
    ]
    print_table(
        rows,
        ["bright_black", "bright_black", "", "green", "cyan"],
        ["number", "time", "who", "action", "memory", "details"],
    )


def _detail(detail: Mapping[str, Any]) -> str:
    return one_line("; ".join(f"{name} {_detail_value(value)}" for name, value in detail.items()))


def _detail_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number}" for name, number in value.items()) or "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar, and yield a function that advances it; None if standard error is no terminal that can overwrite a line."""
    with _progress_bar(label, total) as bar:
        yield bar.advance if bar else None


@contextmanager
def progress_of_total(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar like `progress`, and yield a function that is called with what is done and the total."""
    with _progress_bar(label, None) as bar:
        yield bar.show if bar else None


class _ProgressBar:
    """A line on standard error, written when the percentage changes, from any thread."""

    def __init__(self, label: str, total: int | None) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._shown = -1  # per cent

    def advance(self, done: int) -> None:
        self.show(self._done + done, self._total or 0)

    def show(self, done: int, total: int) -> None:
        self._done = done
        percent = min(100 * done // total, 100) if total else 0
        if percent != self._shown:
            self._shown = percent
            import shutil

            # A line that is wrapped is not overwritten by the next one.
            columns = shutil.get_terminal_size().columns - 1
            bar = max(min(_BAR, columns - len(f"{self._label}  100%")), 0)
            filled = percent * bar // 100
            line = f"{self._label} {'#' * filled}{'.' * (bar - filled)} {percent:3}%"
            click.echo(f"\r{line[:columns]}", nl=False, err=True)

    def erase(self) -> None:
        click.echo("\r\x1b[K", nl=False, err=True)


@contextmanager
def _progress_bar(label: str, total: int | None) -> Iterator[_ProgressBar | None]:
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if total == 0 or not is_terminal or terminal_columns.get():
        yield None
        return
    bar = _ProgressBar(label, total)
    bar.show(0, total or 0)
    try:
        yield bar
    finally:
        bar.erase()


def standard_output() -> IO[str]:
    """Return standard output as UTF-8, which programs and agents read, whatever the terminal's encoding is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


@contextmanager
def replacing(path: "Path") -> Iterator[IO[str]]:
    """Yield a file that replaces `path` when all of it has been written. Raises `RecollectError`."""
    temporary = path.resolve().with_name(f".{path.name}.{os.getpid()}.new")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is written to, not replaced
            with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
                yield out
            return
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path.resolve())
    except OSError as error:
        raise RecollectError(f"Cannot write {path}: {error.strerror}.", "Choose another file.") from error
    finally:
        with suppress(OSError):  # it exists only after an error
            temporary.unlink()
