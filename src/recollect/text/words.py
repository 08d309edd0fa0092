"""Words of texts and queries: stop words, distinctive words, parts of identifiers, passages."""

import re
from collections.abc import Iterator
from pathlib import Path

PASSAGE = 300  # characters; of 250 to 1,200 the small ones matched best (bench/window)
_DATA = Path(__file__).with_name("data")
# They never reach an OR query, which took 25 times as long with them and found no more.
STOP_WORDS = frozenset((_DATA / "stop_words.txt").read_text("utf-8").split())
# Words in notes about any code, which distinguish none.
_COMMON = STOP_WORDS | frozenset((_DATA / "common_words.txt").read_text("utf-8").split())

_LETTERS = re.compile(r"[^\W\d_]{3,}")
_WORD = re.compile(r"[^\W_]+(?:[_.\-/][^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")


def distinctive_words(text: str) -> list[str]:
    """Return the words that can distinguish `text` from others, once each, in order."""
    words = (word.lower() for word in _LETTERS.findall(text))
    return list(dict.fromkeys(word for word in words if word not in _COMMON))


def split_identifier(name: str) -> list[str]:
    """Return the parts in lower case: `parseHTTPConfig` and `parse_http_config` both give parse, http, config."""
    return [part.lower() for part in _PART.findall(name)]


def index_text(text: str) -> str:
    """Return `text` as it is indexed: with the parts of its camelCase words added."""
    extra = [
        part
        for word in re.findall(r"\w+", text)
        if not word.islower() and not word.isupper() and len(parts := split_identifier(word)) > 1
        for part in parts
    ]
    return f"{text} {' '.join(extra)}" if extra else text


def query_terms(query: str, limit: int = 64) -> list[str]:
    """Return the words of `query` to search for, once each, in order, without syntax or stop words.

    If all are stop words, they are returned.
    """
    words: dict[str, None] = {}
    for token in _WORD.findall(query[:20_000]):
        for part in re.split(r"[_.\-/]", token):
            parts = split_identifier(part)
            words |= dict.fromkeys([part.lower(), *(parts if len(parts) > 1 else ())])
    content = [word for word in words if word not in STOP_WORDS]
    return (content or list(words))[:limit]


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
