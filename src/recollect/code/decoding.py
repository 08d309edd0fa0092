"""Decode source files, whatever encoding they are in."""

import codecs
import re
from pathlib import Path

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # in no text; ESC is in some
_HEAD = 8192


def decode_source(data: bytes) -> bytes | None:
    """Return the text as UTF-8 without a byte order mark; None if it is binary."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return _from(data, "utf-32")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _from(data, "utf-16")
    data = data.removeprefix(codecs.BOM_UTF8)
    head = data[:_HEAD]
    if b"\0" in head:
        unmarked = _utf16_without_mark(head)
        return _from(data, unmarked) if unmarked else None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        if len(_BINARY.findall(head)) * 100 > len(head):
            return None
        return _from(data, "latin-1")
    return data


def _from(data: bytes, encoding: str) -> bytes:
    return data.decode(encoding, errors="replace").removeprefix("\ufeff").encode("utf-8", errors="replace")


def _utf16_without_mark(head: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: code is mostly ASCII, so every other byte is zero."""
    even, odd = head[::2], head[1::2]
    if even.count(0) == 0 and odd.count(0) * 10 > len(odd) * 7:
        return "utf-16-le"
    if odd.count(0) == 0 and even.count(0) * 10 > len(even) * 7:
        return "utf-16-be"
    return None


def read_source(path: Path) -> str:
    """Return the text of a file; "" if it is gone by now, or is no text."""
    try:
        data = decode_source(path.read_bytes())
    except OSError:
        return ""
    return data.decode() if data else ""
