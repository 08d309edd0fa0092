"""How many tokens a text takes in a model's window: o200k, exactly and offline."""

from collections.abc import Iterator
from functools import cache
from typing import Any

LONGEST_TOKEN = 128  # bytes; the longest of o200k_base are runs of spaces
ELLIPSIS = "…"


def count(text: str) -> int:
    """A special token spelt out in `text` counts as the characters it is."""
    return len(_o200k().encode_ordinary(_clean(text)))


def fits(text: str, limit: int) -> bool:
    """Whether `count(text) <= limit`, without loading the tokenizer where the length alone tells."""
    size = len(_clean(text).encode())  # no token is shorter than a byte
    if size <= limit:
        return True
    return size <= limit * LONGEST_TOKEN and count(text) <= limit


def clip(text: str, limit: int) -> str:
    """The longest beginning of `text` that fits with "…" after it; all of it if it fits as it is.

    Cut after a word; inside it only where whole words would leave less than half. Empty if not even "…" fits.
    """
    if fits(text, limit):
        return text
    for end in _ends(text, limit):
        clipped = text[:end].rstrip() + ELLIPSIS
        if fits(clipped, limit):
            return clipped
    return ELLIPSIS if fits(ELLIPSIS, limit) else ""


def _ends(text: str, limit: int) -> Iterator[int]:
    """Where to try and cut, longest first."""
    # Tokens do not end where words do, so a little further than `limit` tokens reach may still fit.
    reach = limit + 3
    head = text[: reach * LONGEST_TOKEN]
    tokens = _o200k().encode_ordinary(_clean(head))[:reach]
    furthest = _length(tokens)
    for end in range(furthest, furthest // 2, -1):
        if not text[end - 1].isspace() and text[end : end + 1].isspace():
            yield end
    for kept in range(len(tokens), 0, -1):
        yield _length(tokens[:kept])


def _length(tokens: list[int]) -> int:
    """In characters; one that is only begun does not count."""
    decoded: bytes = _o200k().decode_bytes(tokens)
    return len(decoded.decode("utf-8", "ignore"))


def _clean(text: str) -> str:
    """`text` with "?" for lone surrogates, character for character: no tokenizer takes those."""
    return text.encode("utf-8", "replace").decode()


@cache
def _o200k() -> Any:
    from splintr import Tokenizer

    return Tokenizer.from_pretrained("o200k_base")
