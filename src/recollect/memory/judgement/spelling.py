"""Slips of the keyboard: a word that another statement spells with one letter more, less, swapped or changed.

"prodcut search" and "product search" are about the same. Two words that are both known, or that begin with another letter, are
two words: "import" and "export", "upload" and "unload". Nobody knows all words and names ("nitrate" and "nitrite", Kristin and Kristen),
so what is read this way is never certain.
"""

import re
from functools import lru_cache

from recollect.memory.judgement import word_tables as tables
from recollect.text.stem import strip_endings

SHORTEST = 6  # letters: shorter words are too often one letter apart

_WORD = re.compile(r"(?<![\w./@'’-])[A-Za-z]{6,24}(?![\w/@'’-]|\.\w)")


def spelt_like(text: str, other: str) -> str:
    """Return `text` with the words that it spells differently from `other` spelt as there."""
    mine, theirs = _words(text), _words(other)
    slips = {
        word: like
        for word in mine - theirs
        if (like := next((w for w in theirs - mine if is_slip(word, w)), ""))
    }
    if not slips:
        return text
    return _WORD.sub(lambda found: slips.get(found[0].lower(), found[0]), text)


@lru_cache(maxsize=2048)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


@lru_cache(maxsize=8192)
def is_slip(one: str, other: str) -> bool:
    """Return whether one is most likely the other with a slip of the keyboard."""
    if one[0] != other[0] or abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < SHORTEST:
        return False
    if _is_known(one) and _is_known(other):
        return False
    if strip_endings(one) == strip_endings(other):
        return False
    return _are_one_apart(one, other) or _are_one_apart(one.removesuffix("s"), other.removesuffix("s"))


def _are_one_apart(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    start = next(
        (place for place, pair in enumerate(zip(shorter, longer, strict=False)) if pair[0] != pair[1]),
        len(shorter),
    )
    if len(shorter) < len(longer):
        return shorter[start:] == longer[start + 1 :]
    if shorter[start + 1 :] == longer[start + 1 :]:
        return True
    swapped = shorter[start + 1 : start + 2] + shorter[start : start + 1] + shorter[start + 2 :]
    return swapped == longer[start:]


def _is_known(word: str) -> bool:
    return strip_endings(word) in _KNOWN


_KNOWN = frozenset(
    strip_endings(word)
    for words in (
        *tables.SYNONYMS,
        *tables.SAME_MEANING,
        *(side for sides in (*tables.OPPOSITES, *tables.CONVERSES) for side in sides),
        *tables.FAMILIES.values(),
        *tables.SCOPES.values(),
        *tables.ROLE_WORDS.values(),
        tables.FILLERS,
        tables.HOLLOW_NOUNS,
        tables.STOP_WORDS,
        tables.LIGHT_WORDS,
        tables.HEAD_NOUNS,
        tables.VERBS,
        tables.COMMANDS,
        tables.DONE_BY_COMMITS,
        tables.GENERIC_NOUNS,
        tables.PREDICATES,
        tables.IDENTITIES,
    )
    for word in words
)
