"""Which of what an agent was told it has used since."""

import re
from collections import deque
from collections.abc import Iterable

import recollect.model as m
from recollect.text.words import distinctive_words
from recollect.work.delivery.delivery import Delivery

SHOWN_ID = 6  # characters of an id that are shown
USED_WORDS = 0.6  # share of its distinctive words that make a memory used
MIN_WORDS = 3  # distinctive words that a memory must have for that
FILE = "file "  # how the key of a file begins
_MAX_WATCHED = 30  # items shown last, which may still turn out to have been used


class UseWatch:
    """Watches one conversation for what it was told. Call it from one thread at a time."""

    def __init__(self) -> None:
        self._memories: deque[m.Memory] = deque(maxlen=_MAX_WATCHED)
        self._files: deque[str] = deque(maxlen=_MAX_WATCHED)
        self._before = ""  # the conversation when they were shown

    def show(self, delivery: Delivery, memories: Iterable[m.Memory], before: str) -> None:
        """Note what was shown, after the text `before`."""
        self._memories.extend(memories)
        self._files.extend(item.key[len(FILE) :] for item in delivery.shown if item.key.startswith(FILE))
        self._before = before

    def used(self, answered: str) -> list[str]:
        """Return the keys of what `answered` uses, each once."""
        if not answered or not (self._memories or self._files):
            return []
        memories = used_memories(self._memories, answered, self._before)
        files = [path for path in self._files if path in answered and path not in self._before]
        self._memories = deque(
            (memory for memory in self._memories if memory.id not in memories), maxlen=_MAX_WATCHED
        )
        self._files = deque((path for path in self._files if path not in files), maxlen=_MAX_WATCHED)
        return [*memories, *(f"{FILE}{path}" for path in files)]


def used_memories(memories: Iterable[m.Memory], after: str, before: str = "") -> list[str]:
    """Return the ids of the memories that `after` uses: it has their id, their file or their distinctive words.

    Words that were in `before`, the text that preceded the memories, prove nothing.
    """
    text = after.lower()
    words = set(distinctive_words(after))
    words_before = set(distinctive_words(before))
    return [memory.id for memory in memories if _is_used(memory, text, words, words_before, before.lower())]


def _is_used(memory: m.Memory, text: str, words: set[str], words_before: set[str], before: str) -> bool:
    if memory.id in text or re.search(rf"\b{memory.id[-SHOWN_ID:]}\b", text):
        return True
    if any(path.lower() in text and path.lower() not in before for path in memory.file_paths if "." in path):
        return True
    distinctive = set(distinctive_words(memory.content)) - words_before
    return len(distinctive) >= MIN_WORDS and len(distinctive & words) >= USED_WORDS * len(distinctive)
