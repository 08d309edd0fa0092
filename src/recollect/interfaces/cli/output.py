"""How things look: plain aligned text for people, JSON for programs."""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

import recollect.model as m
from recollect.errors import RecollectError

SHORT_ID = 6  # of the end of an id: its beginning is the time, and much the same for all of a day


def print_json(value: Any) -> None:
    """One document, and nothing else on standard output."""
    click.echo(json.dumps(m.as_json(value), ensure_ascii=not _speaks("→")))


def memory_json(memory: m.Memory) -> dict[str, Any]:
    return {**m.as_json(memory), "session": memory.session}


def print_error(error: RecollectError, kind: str | None = None, *, as_json: bool) -> None:
    """What happened, and what to do now."""
    if as_json:
        told = {"type": kind or type(error).__name__, "message": error.message, "hint": error.hint}
        matches = getattr(error, "matches", None)
        print_json({"error": told | ({"matches": matches} if matches else {})})
        return
    click.echo(click.style(one_line(error.message), fg="red"), err=True)
    if error.hint:
        click.echo(one_line(error.hint), err=True)


def print_notes(notes: Iterable[str]) -> None:
    """Asides go to standard error: they are no part of the answer."""
    for note in notes:
        click.echo(click.style(one_line(note), dim=True), err=True)


def print_candidates(memories: Sequence[m.Memory]) -> None:
    for line in memory_table(memories):
        click.echo(line, err=True)


def memory_table(memories: Sequence[m.Memory], lead: Sequence[str] = ()) -> list[str]:
    """A line a memory: short id, kind, age, text; before it what `lead` says, if anything."""
    names = short_ids([memory.id for memory in memories])
    now = m.utc_now()
    rows: list[tuple[str, ...]] = [
        (name, _kind(memory), age(memory.created_at, now), one_line(memory.content))
        for name, memory in zip(names, memories, strict=True)
    ]
    if lead:
        rows = [(first, *row) for first, row in zip(lead, rows, strict=True)]
    return table(rows, ["blue"] * bool(lead) + ["cyan", "green", "bright_black"])


def message_table(hits: Sequence[m.MessageHit], *, indent: str = "", sessions: bool = False) -> list[str]:
    """A line a message: score, its place, who said it, age, text."""
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


def _kind(memory: m.Memory) -> str:
    marks = [memory.kind]
    if memory.pinned:
        marks.append("pinned")
    if memory.state is not m.State.ACTIVE:
        marks.append(memory.state)
    return ", ".join(marks)


def short_ids(ids: Sequence[str]) -> list[str]:
    """The ends of `ids`, as short as tells them apart."""
    length = SHORT_ID
    while len({each[-length:] for each in ids}) < len(set(ids)):
        length += 1
    return [each[-length:] for each in ids]


def table(rows: Sequence[Sequence[str]], colours: Sequence[str]) -> list[str]:
    """Aligned columns, a colour each but the last; on a terminal the last is cut to its width, in a pipe it is whole."""
    if not rows:
        return []
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    room = _room(sum(widths) + 2 * len(widths))
    lines = []
    for row in rows:
        cells = [
            click.style(cell, fg=colour or None) + " " * (size - width(cell))
            for cell, size, colour in zip(row[:-1], widths, colours, strict=True)
        ]
        lines.append("  ".join([*cells, cut(row[-1], room)]))
    return lines


def _room(taken: int) -> int | None:
    """Columns left on this line of the terminal; None if it is none."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return max(20, shutil.get_terminal_size().columns - taken)


def cut(text: str, room: int | None) -> str:
    if room is None or width(text) <= room:
        return text
    ellipsis = glyph("…", "...")
    kept, size = "", width(ellipsis)
    for char in text:
        size += width(char)
        if size > room:
            break
        kept += char
    return kept.rstrip() + ellipsis


def width(text: str) -> int:
    """Columns it takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def one_line(text: str) -> str:
    """`text` as one line of ours: nothing in it can begin another or move the cursor."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """`text` without what a terminal would obey: escapes, and marks that turn the direction of reading."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if _obeyed(char) else char for char in text)


_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _obeyed(char: str) -> bool:
    return (unicodedata.category(char) == "Cc" and char not in "\n\t") or char in _TURNS


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def glyph(char: str, otherwise: str) -> str:
    """`char`, or plain ASCII where the terminal cannot show it."""
    return char if _speaks(char) else otherwise


def _speaks(char: str) -> bool:
    try:
        char.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


_STEPS = (("min", 60), ("h", 60), ("d", 24), ("mo", 30), ("y", 12))


def age(since: datetime, now: datetime) -> str:
    """How long ago, roughly: 5 min, 3 h, 2 d, 4 mo, 1 y."""
    value, unit = max((now - since).total_seconds(), 0.0), "s"
    for name, size in _STEPS:
        if value < size:
            break
        value, unit = value / size, name
    return "now" if unit == "s" else f"{int(value)} {unit}"


def moment(when: datetime) -> str:
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def print_memory(memory: m.Memory) -> None:
    """Everything about a memory that a person may want to know."""
    click.echo(click.style(memory.id, fg="cyan", bold=True) + f"  {_kind(memory)}")
    click.echo(f"\n{_indented(printable(memory.content))}\n")
    for label, value in _facts(memory):
        if value:
            click.echo(click.style(f"{label:<{_LABEL}}", fg="bright_black") + one_line(value))


_LABEL = len("no longer true") + 2  # columns


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _facts(memory: m.Memory) -> Iterator[tuple[str, str]]:
    reason = f" ({memory.state_reason})" if memory.state_reason else ""
    used = f", last {moment(memory.last_accessed_at)}" if memory.last_accessed_at else ""
    yield "scope", memory.scope + (f" ({memory.project_id})" if memory.project_id else "")
    yield "state", f"{memory.state}{reason}, {memory.standing}"
    yield "replaced by", memory.superseded_by or ""
    yield "tags", ", ".join(memory.tags)
    yield "files", ", ".join(memory.file_paths)
    yield "triggers", ", ".join(memory.triggers)
    if memory.procedure:
        for number, step in enumerate(memory.procedure.steps, start=1):
            yield f"step {number}", step
        yield "prerequisites", "; ".join(memory.procedure.prerequisites)
        yield "warnings", "; ".join(memory.procedure.warnings)
    yield "branch", memory.branch or ""
    yield "season", memory.season or ""
    yield "written", f"{moment(memory.created_at)} by {memory.created_by}, {memory.visibility}"
    if memory.updated_at != memory.created_at:
        yield "changed", moment(memory.updated_at)
    yield "no longer true", f"since {moment(memory.valid_to)}" if memory.valid_to else ""
    yield "how we know", "; ".join(map(_origin, memory.provenance))
    yield (
        "weight",
        (f"importance {memory.importance:.2f}, confidence {memory.confidence:.2f}, trust {memory.trust:.2f}"),
    )
    yield "said", count(memory.strength, "time") + f"; used {count(memory.access_count, 'time')}{used}"
    for crumb in memory.reinforcements:
        yield (
            "again",
            f"{moment(crumb.at)} by {crumb.by}" + (f": {crumb.said}" if crumb.said else ""),
        )


def _origin(link: m.Provenance) -> str:
    where = (link.session and f"session {link.session}", link.agent and f"agent {link.agent}", link.branch)
    parts = [link.source.replace("_", " "), *(part for part in where if part)]
    return f"{', '.join(parts)} on {moment(link.at)}"


def print_links(links: Sequence[tuple[m.Link, m.Memory]]) -> None:
    """Each with the memory at its other end."""
    rows = []
    for link, other in links:
        outward = link.target == other.id
        arrow = glyph("→", "->") if outward else glyph("←", "<-")
        state = (
            ""
            if link.relation is not m.Relation.CONTRADICTS
            else " (settled)"
            if link.resolved_at
            else " (open)"
        )
        rows.append(
            (
                f"{arrow} {link.relation}{state}",
                f"{link.weight:.2f}",
                other.id[-SHORT_ID:],
                one_line(other.content),
            )
        )
    for line in table(rows, ["green", "", "cyan"]):
        click.echo(line)


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
    for text in table(rows, ["bright_black", "bright_black", "", "green", "cyan"]):
        click.echo(text.rstrip())


def _detail(detail: Mapping[str, Any]) -> str:
    parts = (
        f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in detail.items()
    )
    return one_line("; ".join(parts))


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Something to call with every batch that is done; None where nobody is watching."""
    if total == 0 or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)
