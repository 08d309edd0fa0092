"""What a text refers to without a word: commits by their hash, issues and pull requests by their number."""

import re
from struct import Struct
from zlib import crc32

_COMMIT = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
_NUMBER = re.compile(r"(?:#|/(?:pull|issues?|tickets?|merge_requests)/|\bgh-)(\d{2,6})\b", re.I)
_SHORT = 7  # digits of a hash that people write at least
_posting = Struct("<IH").pack


def referred(text: str) -> dict[int, float]:
    """A term for each commit and issue, with how surely it leads to the place: what was said under a number is wider."""
    commits = {_term("commit", name[:_SHORT]): 1.0 for name in _COMMIT.findall(text)}
    return {_term("number", number): 0.5 for number in _NUMBER.findall(text)} | commits


def reference_terms(commit: str, message: str) -> bytes:
    """By what a commit can be referred to, to be kept beside the `terms_of` its message."""
    terms = {_term("number", number) for number in _NUMBER.findall(message)}
    terms.add(_term("commit", commit[:_SHORT]))
    return b"".join(_posting(term, 1) for term in sorted(terms))


def _term(kind: str, name: str) -> int:
    return crc32(f"{kind} {name}".encode())
