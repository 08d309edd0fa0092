"""Texts as the terms they are made of: words and parts of identifiers, stemmed, kept as hashes.

Hashes, because what is kept of a project's files must not give its text away.
"""

import re
from collections import Counter
from functools import lru_cache
from struct import Struct
from zlib import crc32

from recollect.text.stem import stem
from recollect.text.words import STOP_WORDS

_MOST = 65_535  # a count that fits
_LONGEST = 64  # characters; what is longer is data
_KNOWN = 1 << 17  # words, 30 MB
_WORD = re.compile(r"[^\W\d]\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SPACED = bytes(
    code if code > 127 or chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256)
)

_posting = Struct("<IH").pack


def terms_of(text: str) -> bytes:
    """The terms of `text` with how often each stands in it, for an index to read as `POSTING`s."""
    counts = counted(text)
    if max(counts.values(), default=0) > _MOST:
        counts = {term: min(count, _MOST) for term, count in counts.items()}
    return b"".join(map(_posting, counts, counts.values()))


def counted(text: str) -> dict[int, int]:
    """Cut apart between ASCII characters first: to match the words of each text would cost five times as much."""
    counts: dict[int, int] = {}
    for piece, count in Counter(text.encode(errors="replace").translate(_SPACED).split()).items():
        for term in _terms[piece]:
            counts[term] = counts.get(term, 0) + count
    return counts


class _Terms(dict[bytes, tuple[int, ...]]):
    """Of pieces that were met: the texts of a project are made of the same ones."""

    def __missing__(self, piece: bytes) -> tuple[int, ...]:
        if len(self) >= _KNOWN:
            self.clear()
        text = piece.decode()
        words = [text] if text.isascii() and text.isidentifier() else _WORD.findall(text)
        self[piece] = terms = tuple([term for word in words for term in _terms_in(word)])
        return terms


_terms = _Terms()


def _terms_in(word: str) -> list[int]:
    """Its parts, and the whole if it has several: `get_or_create` is more than its parts. Stop words have none."""
    if len(word) > _LONGEST:
        return []
    parts = [part.lower() for part in _PART.findall(word)]
    terms = [_hash(part) for part in parts if len(part) > 1 and part not in STOP_WORDS]
    if len(parts) > 1:
        terms.append(crc32(b"=" + word.encode()))
    return terms


@lru_cache(maxsize=1 << 15)
def _hash(part: str) -> int:
    return crc32(stem(part).encode())
