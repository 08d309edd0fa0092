"""Stems of names and sentences, for the scan of a project and for tasks, which need no scan."""

from functools import lru_cache

from recollect.text.stem import stem
from recollect.text.words import STOP_WORDS, split_identifier

_stem = lru_cache(20_000)(stem)


def stems_of(text: str) -> list[str]:
    """Return the stems of the words in names and sentences."""
    words = (word for word in split_identifier(text) if word.isascii() and word.isalpha())
    return [_stem(word) for word in words if len(word) > 2 and word not in STOP_WORDS]
