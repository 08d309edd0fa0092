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
        # each with the conversation when it was shown
        self._memories: deque[tuple[m.Memory, str]] = deque(maxlen=_MAX_WATCHED)
        self._files: deque[tuple[str, str]] = deque(maxlen=_MAX_WATCHED)

    def show(self, delivery: Delivery, memories: Iterable[m.Memory], before: str) -> None:
        """Note what was shown, after the text `before`."""
        self._memories.extend((memory, before) for memory in memories)
        self._files.extend(
            (item.key[len(FILE) :], before) for item in delivery.shown if item.key.startswith(FILE)
        )

    def used(self, answered: str) -> list[str]:
        """Return the keys of what `answered` uses, each once."""
        if not answered or not (self._memories or self._files):
            return []
        text, words = answered.lower(), set(distinctive_words(answered))
        memories = [memory.id for memory, before in self._memories if _is_used(memory, text, words, before)]
        files = [path for path, before in self._files if path in answered and path not in before]
        self._memories = deque(
            (pair for pair in self._memories if pair[0].id not in memories), maxlen=_MAX_WATCHED
        )
        self._files = deque((pair for pair in self._files if pair[0] not in files), maxlen=_MAX_WATCHED)
        return [*memories, *(f"{FILE}{path}" for path in files)]


def _is_used(memory: m.Memory, text: str, words: set[str], before: str) -> bool:
    """Return whether `text` has the memory's id, its file or its distinctive words.

    What was in `before`, the text that preceded the memory, proves nothing.
    """
    if memory.id in text or re.search(rf"\b{memory.id[-SHOWN_ID:]}\b", text):
        return True
    known = before.lower()
    if any(path.lower() in text and path.lower() not in known for path in memory.file_paths if "." in path):
        return True
    distinctive = set(distinctive_words(memory.content)) - set(distinctive_words(before))
    return len(distinctive) >= MIN_WORDS and len(distinctive & words) >= USED_WORDS * len(distinctive)
