"""Read a file of memories or messages line by line. It is checked to its end before the first record is used."""

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.errors import BadImport
from recollect.frozen import frozen

FORMAT = "recollect-export"
VERSION = 2  # 1 had memories, links and projects only
SECTIONS = (
    "projects",
    "settings",
    "tags",
    "sessions",
    "memories",
    "links",
    "findings",
    "gaps",
    "reviews",
    "maps",
    "patterns",
    "learnings",
    "messages",
)
SETTINGS = ("aliases", "seasons", "budget")  # that a user would miss; other settings belong to a machine
_UNREADABLE = (ValueError, RecursionError)
_OPENING = re.compile(r'"(\w+)": \[')

Lines = Callable[[], Iterable[bytes]]  # every call returns all lines again


@frozen
class ImportFile:
    """A file that was checked and is ready to import."""

    counts: Mapping[str, int]  # records in each section
    read: Callable[[str], Iterator[Any]]  # the records of a section: foreign JSON, which `record` reads
    line_numbers: Sequence[int] | None = None  # of each record; None = an export, whose records are counted
    user: str | None = None  # who exported it; None = unknown

    @property
    def records(self) -> Iterator[Any]:
        return self.read("memories")

    @property
    def unit(self) -> str:
        """What `place` counts: records of an export, lines of a file of JSON lines."""
        return "record" if self.line_numbers is None else "line"

    def place(self, number: int) -> int:
        """Return where a record is, counted from 1."""
        return number + 1 if self.line_numbers is None else self.line_numbers[number]


def lines_of(data: bytes | Path) -> Lines:
    """Return the lines of a file, or of the bytes read from a pipe."""

    def lines() -> Iterator[bytes]:
        with io.BytesIO(data) if isinstance(data, bytes) else data.open("rb") as file:
            yield from file

    return lines


def read_import_file(lines: Lines, name: str) -> ImportFile:
    """Return an export, or JSON lines with at least `content`. Raise `BadImport` with the line."""
    if _is_export(lines, name):
        try:
            return _read_by_line(lines, name)
        except _OtherLayout:
            return _read_whole(lines, name)
    return read_json_lines(lines, name, "memories", ("content",))


def read_json_lines(lines: Lines, name: str, section: str, needed: Sequence[str]) -> ImportFile:
    """Return a file of JSON lines, all of one section: objects with the `needed` fields. Raise `BadImport` with the line."""
    line_numbers = [number for number, _ in _objects(lines, name, needed)]

    def read(wanted: str) -> Iterator[Any]:
        return (record for _, record in _objects(lines, name, needed)) if wanted == section else iter(())

    return ImportFile({section: len(line_numbers)}, read, line_numbers)


def _objects(lines: Lines, name: str, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_texts(lines, name), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except _UNREADABLE as error:
            raise BadImport(
                f"{name}, line {number}: not valid JSON ({error}).",
                "Nothing was imported. Correct the line and import again.",
            ) from error
        if not isinstance(record, dict) or not record.keys() >= set(needed):
            wanted = " and ".join(", ".join(f'"{field}"' for field in needed).rsplit(", ", 1))
            raise BadImport(
                f"{name}, line {number}: not an object with {wanted}.",
                "Nothing was imported. Correct the line and import again.",
            )
        yield number, record


def _texts(lines: Lines, name: str) -> Iterator[str]:
    for number, line in enumerate(lines(), start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadImport(
                f"{name}, line {number}: not valid UTF-8.", "Save it as UTF-8; nothing was imported."
            ) from error
        yield text.removeprefix("\ufeff") if number == 1 else text


# exports


class _OtherLayout(Exception):
    """The file is not laid out as `export` does it: another program wrote it, or it is incomplete."""


def _is_export(lines: Lines, name: str) -> bool:
    head = ""
    for text in _texts(lines, name):
        head = (head + text).lstrip()
        if len(head) >= 80:
            break
    return head[:1] == "{" and f'"{FORMAT}"' in head[:80]


def _read_by_line(lines: Lines, name: str) -> ImportFile:
    """Read an export without holding more than one record. Raise `_OtherLayout`, `BadImport`."""
    records = _records(lines, name)
    user = _check_head(_parse(next(records)[1]), name)
    counts = Counter[str]()
    for section, text in records:
        record = _parse(text)
        if section == "projects" and not _is_project(record):
            raise _not_an_export(name)
        counts[section] += 1

    def read(wanted: str) -> Iterator[Any]:
        if counts[wanted]:
            for section, text in _records(lines, name):
                if section == wanted:
                    yield _parse(text)

    return ImportFile(counts, read, user=user)


def _records(lines: Lines, name: str) -> Iterator[tuple[str, str]]:
    """Yield the section and the text of each record; first the head, with no section."""
    texts = _texts(lines, name)
    head = next(texts, "").rstrip("\n")
    if not head.endswith(","):
        raise _OtherLayout
    yield "", f"{head[:-1]}}}"
    section, ended = "", False
    for line in texts:
        text = line.rstrip("\n")
        if section and text[:1] == "{":
            yield section, text.removesuffix(",")
        elif section and text in ("],", "]}"):
            section, ended = "", text == "]}"
        elif not section and not ended and (opening := _OPENING.fullmatch(text)):
            section = opening[1]
        else:
            raise _OtherLayout
    if not ended:
        raise _OtherLayout


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except _UNREADABLE as error:
        raise _OtherLayout from error


def _read_whole(lines: Lines, name: str) -> ImportFile:
    try:
        document = json.loads("".join(_texts(lines, name)))
    except _UNREADABLE as error:
        raise BadImport(
            f"{name} is not a complete export: {error}.", "Nothing was imported. Export the memories again."
        ) from error
    user = _check_head(document, name)
    sections = {section: document.get(section, []) for section in SECTIONS}
    whole = all(isinstance(records, list) for records in sections.values())
    if not whole or not all(map(_is_project, sections["projects"])):
        raise _not_an_export(name)
    counts = {section: len(records) for section, records in sections.items()}
    return ImportFile(counts, lambda wanted: iter(sections[wanted]), user=user)


def _check_head(head: Any, name: str) -> str | None:
    """Return who exported the file. Raise `BadImport` if it is no export, or too new."""
    version, user = head.get("version"), head.get("user")
    if not isinstance(version, int) or not isinstance(user, str | None):
        raise _not_an_export(name)
    if version > VERSION:
        raise BadImport(f"{name} was exported by a newer Recollect.", "Upgrade Recollect.")
    return user


def _is_project(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("keys", []), list)
        and all(isinstance(key, str) for key in value.get("keys", []))
    )


def _not_an_export(name: str) -> BadImport:
    return BadImport(
        f"{name} is not an export of Recollect.", "Nothing was imported. Export the memories again."
    )
