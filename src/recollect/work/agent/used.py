"""Whether a memory that was shown was used: its id, its file or its distinctive words turn up afterwards. Pure."""

import re
from collections.abc import Iterable

import recollect.model as m
from recollect.text.words import distinctive_words

SHOWN_ID = 6  # characters of an id that are shown
ENOUGH = 0.6  # of its distinctive words
FEWEST = 3  # of them


def used(memories: Iterable[m.Memory], after: str, before: str = "") -> list[str]:
    """Ids of those that `after` takes up. Words that were there `before` they were shown prove nothing."""
    text = after.lower()
    words = set(distinctive_words(after))
    known = set(distinctive_words(before))
    return [memory.id for memory in memories if _is_used(memory, text, words, known, before.lower())]


def _is_used(memory: m.Memory, text: str, words: set[str], known: set[str], before: str) -> bool:
    if memory.id in text or re.search(rf"\b{memory.id[-SHOWN_ID:]}\b", text):
        return True
    if any(path.lower() in text and path.lower() not in before for path in memory.file_paths if "." in path):
        return True
    distinctive = set(distinctive_words(memory.content)) - known
    return len(distinctive) >= FEWEST and len(distinctive & words) >= ENOUGH * len(distinctive)
