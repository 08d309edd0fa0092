"""Read one large JSON document item by item, so that it is never in memory whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

from recollect.work.transcripts.lines import BROKEN_OFF, MAX_LINE, without_surrogates
from recollect.work.transcripts.reading import TranscriptReading

_CHUNK = 2**16
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[\s\ufeff\0]*")
_MARKS = re.compile(r'\\.|["{}\[\],]', re.DOTALL)
_IN_STRING = re.compile(r'\\.|"', re.DOTALL)


def members(
    stream: BinaryIO, reading: TranscriptReading, wanted: Collection[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield the members of the document's object, or the items of its list, as (name, value).

    A member that is a list comes item by item under its name; the items of a bare list have the name "". Members that
    are not `wanted` are skipped unparsed. An item that is broken or over 16 MB is reported; the others are read.
    """
    text = _Text(stream, reading)
    try:
        first = text.peek()
        if first == "[":
            yield from _list("", text, reading)
        elif first == "{":
            yield from _object(text, reading, wanted)
        else:
            reading.skip("neither a JSON object nor a list")
    except _Cut as cut:
        reading.skip(str(cut))


class _Cut(Exception):
    """The rest of the document cannot be read."""


def _object(
    text: _Text, reading: TranscriptReading, wanted: Collection[str] | None
) -> Iterator[tuple[str, Any]]:
    text.take("{")
    while text.peek() != "}":
        name = text.name()
        text.take(":")
        if wanted is not None and name not in wanted:
            text.skip_value()
        elif text.peek() == "[":
            yield from _list(name, text, reading)
        else:
            yield from _one(name, text, reading)
        if text.peek() == ",":
            text.take(",")
    text.take("}")


def _list(name: str, text: _Text, reading: TranscriptReading) -> Iterator[tuple[str, Any]]:
    text.take("[")
    while text.peek() != "]":
        yield from _one(name, text, reading)
        if text.peek() == ",":
            text.take(",")
    text.take("]")


def _one(name: str, text: _Text, reading: TranscriptReading) -> Iterator[tuple[str, Any]]:
    reading.line = text.line
    reading.report.lines += 1
    before = reading.accounted
    try:
        value = text.value()
    except ValueError as error:
        text.skip_value()
        reading.skip(str(error))
        return
    yield name, value
    if reading.accounted == before:
        reading.ignore("nothing said")


class _Text:
    """The document as text: the part that was read and not consumed yet, and the line it begins on."""

    def __init__(self, stream: BinaryIO, reading: TranscriptReading) -> None:
        self._stream = stream
        self._reading = reading
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder(strict=False)
        self._text = ""
        self._at = 0
        self._counted = 0  # as far as the lines are counted
        self._ended = False
        self._line = 1

    @property
    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def peek(self) -> str:
        """Return the next character that is not a space. Raise `_Cut` at the end."""
        while True:
            self._at = _space(self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(_CHUNK):
                self._reading.line = self.line
                raise _Cut("the file ends in the middle of the document")

    def take(self, expected: str) -> None:
        if self.peek() != expected:
            self._reading.line = self.line
            raise _Cut(f"expected {expected!r}; what follows is not read")
        self._at += 1

    def name(self) -> str:
        try:
            return str(self.value())
        except ValueError as error:
            self._reading.line = self.line
            raise _Cut(f"{error}; what follows is not read") from None

    def value(self) -> Any:
        """Return the next value. Raise `ValueError`, without moving, if it is broken or too long."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
                # A number may go on in what is not read yet.
                if end < len(self._text) or self._ended:
                    halves = _HALF.search(self._text, self._at, end)
                    self._at = end
                    return without_surrogates(value) if halves else value
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except ValueError as error:
                if self._ended:
                    raise ValueError(f"not JSON ({str(error)[:80]})") from None
            if len(self._text) - self._at > MAX_LINE:
                raise ValueError(f"an item over the limit of {MAX_LINE // 2**20} MB, or not JSON")
            self._more(size)
            size *= 2

    def skip_value(self) -> None:
        """Skip the next value without parsing it."""
        self.peek()
        depth, in_string, moved = 0, False, False
        while True:
            found = (_IN_STRING if in_string else _MARKS).search(self._text, self._at)
            if found is None:
                # A backslash at the very end belongs to what comes next.
                moved = True
                self._at = len(self._text) - self._text.endswith("\\")
                if not self._more(_CHUNK):
                    self._reading.line = self.line
                    raise _Cut("the file ends in the middle of the document")
                continue
            mark = found[0]
            if depth == 0 and not in_string and mark in ",}]":
                if not moved and found.start() == self._at and mark != ",":
                    self._reading.line = self.line
                    raise _Cut(f"unexpected {mark!r}; what follows is not read")
                self._at = found.start()
                return
            self._at, moved = found.end(), True
            if mark == '"':
                in_string = not in_string
            elif not in_string and mark in "{[":
                depth += 1
            elif not in_string and mark in "}]":
                depth -= 1
            if depth == 0 and not in_string and mark in '"}]':
                return

    def _more(self, size: int) -> bool:
        self._drop_consumed()
        try:
            data = self._stream.read(size)
        except BROKEN_OFF:
            data = b""
        self._ended = not data
        try:
            self._text += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError:
            self._reading.line = self._line
            self._reading.repair("bytes that are not UTF-8 were replaced")
            self._decoder.errors = "replace"
            self._text += self._decoder.decode(data, final=not data)
        return bool(data)

    def _drop_consumed(self) -> None:
        self._line += self._text.count("\n", self._counted, self._at)
        self._text = self._text[self._at :]
        self._at = self._counted = 0


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
