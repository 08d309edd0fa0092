"""Words as they are searched: identifiers whole and in pieces, without the words that say nothing."""

import re
from collections.abc import Iterator

from recollect.text.words import STOP_WORDS

PASSAGE = 300  # characters; of 250 to 1,200 the small ones matched best (bench/window)
_WORD = re.compile(r"[^\W_]+(?:[_.\-/][^\W_]+)*")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")


def pieces(identifier: str) -> list[str]:
    """`parseHTTPConfig` and `parse_http_config` both give parse, http, config. One piece gives none."""
    found = [piece.lower() for piece in _PIECE.findall(identifier)]
    return found if len(found) > 1 else []


def searchable(text: str) -> str:
    """`text` as it goes into the index: with the pieces of its camelCase words added."""
    extra = [
        piece
        for word in re.findall(r"\w+", text)
        if not word.islower() and not word.isupper()
        for piece in pieces(word)
    ]
    return f"{text} {' '.join(extra)}" if extra else text


def terms(query: str, limit: int = 64) -> list[str]:
    """The words of `query` worth looking for, in order, once each; never syntax. All of them if all are stop words."""
    found: dict[str, None] = {}
    for token in _WORD.findall(query[:20_000]):
        for part in re.split(r"[_.\-/]", token):
            for word in (part.lower(), *pieces(part)):
                found.setdefault(word)
    kept = [word for word in found if word not in STOP_WORDS]
    return (kept or list(found))[:limit]


def passages(text: str) -> Iterator[str]:
    """Yield consecutive lines of `text`, joined into passages of about PASSAGE characters."""
    passage: list[str] = []
    size = 0
    for line in text.splitlines():
        for start in range(0, len(line), PASSAGE):
            piece = line[start : start + PASSAGE]
            if passage and size + len(piece) > PASSAGE:
                yield "\n".join(passage)
                passage, size = [], 0
            passage.append(piece)
            size += len(piece) + 1
    if passage:
        yield "\n".join(passage)
