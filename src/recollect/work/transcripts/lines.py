"""Read files line by line: decompressed, with a limit on the length of a line, and repaired if possible."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from recollect.errors import Refused
from recollect.work.transcripts.reading import TranscriptReading

MAX_LINE = 16 * 2**20  # bytes; longer lines are skipped
_PIECE = 2**20
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_HALF = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")  # an escape that may be half a character


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open the file, decompressed by its content and not by its name. Raise `Refused` if it cannot be read."""
    try:
        with path.open("rb") as file:
            magic = file.peek(4)[:4]
            if magic.startswith(_GZIP):
                with gzip.open(file) as stream:
                    yield cast(BinaryIO, stream)
            elif magic == _ZSTD:
                with _zstd(path).open(file) as stream:
                    yield stream
            else:
                yield file
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise
        raise Refused(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error


def _zstd_module() -> Any | None:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


_ZSTD_MODULE = _zstd_module()
BROKEN_OFF = (EOFError, zlib.error, gzip.BadGzipFile, *((_ZSTD_MODULE.ZstdError,) if _ZSTD_MODULE else ()))


def _zstd(path: Path) -> Any:
    if _ZSTD_MODULE is None:
        raise Refused(
            f"{str(path)!r} is compressed with zstd, which this Python cannot read.",
            "Use Python 3.14 or later, `pip install backports.zstd`, or unpack it first with `zstd -d`.",
        )
    return _ZSTD_MODULE


def lines(stream: BinaryIO, reading: TranscriptReading) -> Iterator[bytes]:
    """Yield the lines without their ends. A line that is too long, or a stream that breaks off, is reported."""
    number = 0
    try:
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            reading.line = number
            reading.report.lines += 1
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                length = len(line)
                while piece := stream.readline(_PIECE):
                    length += len(piece)
                    if piece.endswith(b"\n"):
                        break
                reading.skip(f"a line of {length // 2**20} MB, over the limit of {MAX_LINE // 2**20} MB")
                continue
            yield line.rstrip(b"\r\n")
    except BROKEN_OFF as error:
        reading.line = number + 1
        reading.skip(f"the compressed file ends early here ({error})")


def text_lines(stream: BinaryIO, reading: TranscriptReading) -> Iterator[str]:
    for line in lines(stream, reading):
        yield _decoded(line, reading)


def records(stream: BinaryIO, reading: TranscriptReading) -> Iterator[dict[str, Any]]:
    """Yield the JSON object on each line. Other lines are reported and skipped; blank ones do not count."""
    for line in lines(stream, reading):
        if not line.strip():
            reading.report.lines -= 1
            continue
        before = reading.accounted
        record = parsed(line, reading)
        if record is not None:
            yield record
            if reading.accounted == before:
                reading.ignore("nothing said")


def parsed(line: bytes, reading: TranscriptReading) -> dict[str, Any] | None:
    """Return the JSON object; None if it is none, which is reported."""
    text = _decoded(line, reading)
    if not text.strip():
        reading.skip("nothing but NUL bytes")
        return None
    try:
        value = json.loads(text)
    except RecursionError:
        reading.skip("nested too deeply")
        return None
    except ValueError as error:
        reading.skip(f"not JSON, or cut off ({str(error)[:80]})")
        return None
    if not isinstance(value, dict):
        reading.skip(f"not a JSON object but {str(value)[:40]!r}")
        return None
    return without_surrogates(value) if _HALF.search(line) else value


def without_surrogates(value: Any) -> Any:
    """Return the value without lone surrogates, which no file and no database accepts."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value


def _decoded(line: bytes, reading: TranscriptReading) -> str:
    if b"\0" in line:
        line = line.replace(b"\0", b"")
        if line:
            reading.repair("NUL bytes were dropped")
    try:
        return line.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        reading.repair("bytes that are not UTF-8 were replaced")
        return line.decode("utf-8", "replace")
