"""Texts as terms: words and parts of identifiers, stemmed and hashed, with their counts.

Only hashes are stored, so that the graph's database does not reveal a project's text. Commits and issue numbers have
terms of their own, so that a question can refer to a commit by its hash or number.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat
from struct import Struct
from zlib import crc32

from recollect.text.stem import stem
from recollect.text.words import STOP_WORDS, split_identifier

_MAX_COUNT = 65_535  # fits in two bytes
_LONGEST = 64  # characters; longer words are data
_CACHED_WORDS = 1 << 17  # 30 MB
_FEW_PIECES = 40  # counting them as they come is quicker: a path, a name
_ANY_WORD = re.compile(r"\w+")
_WORD = re.compile(r"[^\W\d]\w+")
_SPACED = bytes(
    code if code > 127 or chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256)
)

_pack_posting = Struct("<IH").pack


def terms_of(text: str) -> bytes:
    """Return the terms of `text` and their counts, packed for an index to read as `POSTING`s."""
    return _packed(count_terms(text))


def terms_and_words_of(text: str) -> tuple[bytes, bytes]:
    """Return the packed terms of `text`, and a hash of each word as it is written, which `word_hash` finds."""
    pieces = Counter(_split(text))
    words = [word for piece in pieces if not piece.isascii() for word in _ANY_WORD.findall(piece.decode())]
    pieces_and_words = [*pieces, *(word.encode() for word in words)]
    return _packed(_count_terms(pieces.items())), array("I", map(crc32, pieces_and_words)).tobytes()


def word_hash(word: str) -> bytes:
    """Return the bytes that the hashed words of a text contain if it has that word, and otherwise hardly ever."""
    return array("I", [crc32(word.encode())]).tobytes()


def _packed(counts: dict[int, int]) -> bytes:
    if max(counts.values(), default=0) > _MAX_COUNT:
        counts = {term: min(count, _MAX_COUNT) for term, count in counts.items()}
    return b"".join(map(_pack_posting, counts, counts.values()))


def count_terms(text: str) -> dict[int, int]:
    """Return how often each term occurs."""
    pieces = _split(text)
    return _count_terms(zip(pieces, repeat(1)) if len(pieces) < _FEW_PIECES else Counter(pieces).items())


def _split(text: str) -> list[bytes]:
    """Split at ASCII characters: a regular expression takes five times as long."""
    return text.encode(errors="replace").translate(_SPACED).split()


def _count_terms(pieces: Iterable[tuple[bytes, int]]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for piece, count in pieces:
        for term in _terms[piece]:
            counts[term] = counts.get(term, 0) + count
    return counts


class _TermCache(dict[bytes, tuple[int, ...]]):
    """The terms of each piece of text seen so far: the files of a project repeat the same pieces."""

    def __missing__(self, piece: bytes) -> tuple[int, ...]:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        text = piece.decode()
        words = [text] if text.isascii() and text.isidentifier() else _WORD.findall(text)
        self[piece] = terms = tuple([term for word in words for term in _terms_in(word)])
        return terms


_terms = _TermCache()


def _terms_in(word: str) -> list[int]:
    """Return its parts, and the whole word if it has several: `get_or_create` is more than its parts."""
    if len(word) > _LONGEST:
        return []
    parts = split_identifier(word)
    terms = [_hash(part) for part in parts if len(part) > 1 and part not in STOP_WORDS]
    if len(parts) > 1:
        terms.append(crc32(b"=" + word.encode()))
    return terms


@lru_cache(maxsize=1 << 15)
def _hash(part: str) -> int:
    return crc32(stem(part).encode())


# References to commits and issues

_COMMIT = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
_NUMBER = re.compile(r"(?:#|/(?:pull|issues?|tickets?|merge_requests)/|\bgh-)(\d{2,6})\b", re.I)
_SHORT = 7  # the fewest digits of a hash that people write


def find_references(text: str) -> dict[int, float]:
    """Return a term for each commit and issue in `text` with its confidence: an issue covers more than one commit."""
    commits = {_reference_term("commit", name[:_SHORT]): 1.0 for name in _COMMIT.findall(text)}
    return {_reference_term("number", number): 0.5 for number in _NUMBER.findall(text)} | commits


def reference_terms(commit: str, message: str) -> bytes:
    """Return the terms by which a commit can be referred to, packed like the `terms_of` its message."""
    terms = {_reference_term("number", number) for number in _NUMBER.findall(message)}
    terms.add(_reference_term("commit", commit[:_SHORT]))
    return b"".join(_pack_posting(term, 1) for term in sorted(terms))


def _reference_term(kind: str, name: str) -> int:
    return crc32(f"{kind} {name}".encode())
