"""Count the tokens of a text, and cut it to a number of tokens: o200k, exactly and offline.

A process that must answer at once calls `use_estimates` first, because loading the vocabulary takes 0.2 s of CPU, and
`load` when it has time for that. A command whose user sees no count runs within `estimated`.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

LONGEST_TOKEN = 128  # bytes; the longest of o200k_base are runs of spaces
ELLIPSIS = "…"
_tokenizer: Any = None  # until it is needed


def count(text: str) -> int:
    """Return the number of tokens. The name of a special token in `text` counts as plain text."""
    return len(_o200k().encode_ordinary(_clean(text)))


def fits(text: str, limit: int) -> bool:
    """Return whether `count(text) <= limit`, without loading the tokenizer if the length decides it."""
    size = len(_clean(text).encode())  # no token is shorter than a byte
    if size <= limit:
        return True
    return size <= limit * LONGEST_TOKEN and count(text) <= limit


def fits_easily(text: str, limit: int) -> bool:
    """Return whether an estimate is below `limit` by a fifth. Nothing is loaded, and one text in some hundreds is a little longer."""
    return len(_Estimate().encode_ordinary(text[: limit * LONGEST_TOKEN])) * 5 <= limit * 4


def clip(text: str, limit: int) -> str:
    """Return the longest beginning of `text` that fits with "…" after it, or all of it if it fits.

    The cut is after a word, unless whole words would leave less than half. Returns "" if not even "…" fits.
    """
    if fits(text, limit):
        return text
    for end in _ends(text, limit):
        clipped = text[:end].rstrip() + ELLIPSIS
        if fits(clipped, limit):
            return clipped
    return ELLIPSIS if fits(ELLIPSIS, limit) else ""


def _ends(text: str, limit: int) -> Iterator[int]:
    """Yield the positions to try, longest first."""
    # Tokens do not end where words do, so a little further than `limit` tokens reach may still fit.
    reach = limit + 3
    head = text[: reach * LONGEST_TOKEN]
    tokens = _o200k().encode_ordinary(_clean(head))[:reach]
    furthest = _length(tokens)
    for end in range(furthest, furthest // 2, -1):
        if not text[end - 1].isspace() and text[end : end + 1].isspace():
            yield end
    for size in range(len(tokens), 0, -1):
        yield _length(tokens[:size])


def _length(tokens: Sequence[Any]) -> int:
    """Return the length in characters, without an incomplete last one."""
    decoded: bytes = _o200k().decode_bytes(tokens)
    return len(decoded.decode("utf-8", "ignore"))


def _clean(text: str) -> str:
    """Return `text` with "?" for each lone surrogate, which no tokenizer accepts."""
    return text.encode("utf-8", "replace").decode()


def use_estimates() -> None:
    """Estimate in this process until `load` is called: 5 to 20 % too high for English and code."""
    global _tokenizer
    _tokenizer = _tokenizer or _Estimate()


@contextlib.contextmanager
def estimated() -> Iterator[None]:
    """Estimate within this block, unless the vocabulary is loaded already or by another thread."""
    global _tokenizer
    estimate = None if _tokenizer else _Estimate()
    _tokenizer = _tokenizer or estimate
    try:
        yield
    finally:
        if _tokenizer is estimate:
            _tokenizer = None


def load() -> None:
    """Load the vocabulary, and count exactly from now on."""
    global _tokenizer
    from splintr import Tokenizer

    loaded = Tokenizer.from_pretrained("o200k_base")
    loaded.encode_ordinary(
        "unrecollected"
    )  # a word that is no token: the first one takes as long as the vocabulary
    _tokenizer = loaded


def _o200k() -> Any:
    if _tokenizer is None:
        load()
    return _tokenizer


class _Estimate:
    """Splits texts where the tokenizer would, about; it has the methods of the tokenizer that are used here."""

    # Seven letters: the count for our own documentation and code is then 5 and 17 % too high, and that of one line in a
    # hundred more than 13 % too low. Words in other scripts take more tokens.
    _PIECE = re.compile(r" ?[A-Za-z]{1,7}| ?[^\W\dA-Za-z_]{1,2}|\d{1,3}| ?[^\w\s]{1,2}|_|\s+")

    def encode_ordinary(self, text: str) -> list[str]:
        return self._PIECE.findall(text)

    def decode_bytes(self, pieces: Sequence[str]) -> bytes:
        return "".join(pieces).encode()
