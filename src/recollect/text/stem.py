"""Two stemmers: `stem` for search, and `strip_endings` for comparing statements.

`stem` is Porter's algorithm: "migrations", "migrated" and "migrating" become "migrat". It must give the same stems as
SQLite's full-text search, which has that of 1980 with two later changes. `strip_endings` is weaker on purpose: two
statements are compared word by word, and Porter's stems merge words that mean different things. It knows irregular forms
and British spellings, which Porter does not.

Porter sees a word as consonants and vowels in turn, [C](VC){m}[V]; most rules require a minimum `m` of what is left.
Stemming takes about six microseconds per word; callers with many words keep the results.
"""

import re
from functools import lru_cache
from pathlib import Path


@lru_cache(4096)
def stem(word: str) -> str:
    """Return the stem of a word in lower case. A word with other than English letters is returned unchanged."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    word = _without_past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replace(word, _LONG, at_least=1)
    word = _replace(word, _MIDDLE, at_least=1)
    word = _without_ending(word)
    return _without_final_e(word)


def strip_endings(word: str) -> str:
    """Return the word without its endings: one form for "formatted", "formatting" and "formats". It need not be a word."""
    word = _BRITISH.sub(r"iz\1", _IRREGULAR.get(word, word))
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, shortest in _WEAK_ENDINGS if word.endswith(_WEAK_LAST_LETTERS) else ():
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            root = word[: -len(ending)]
            if _VOWEL.search(root) and not word.endswith("eed"):
                word = root
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouslz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_IRREGULAR = dict(
    line.split("=")
    for line in Path(__file__).with_name("data").joinpath("irregular.txt").read_text("utf-8").split()
)
_BRITISH = re.compile(r"(?<=\w{3})is(e[sd]?|ing|ations?)$")
_VOWEL = re.compile("[aeiouy]")
# An ending, and how many letters must be left: "generation" and "generated" become one, "date" stays.
_WEAK_ENDINGS = (
    ("ation", 4), ("ating", 4), ("ated", 4), ("ator", 4), ("ate", 4), ("ically", 3), ("ment", 4), ("ing", 3), ("ed", 3),
    ("ly", 4), ("ion", 3),
)  # fmt: skip
_WEAK_LAST_LETTERS = tuple({ending[-1] for ending, _ in _WEAK_ENDINGS})


def _without_plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _restore_end(rest) if _has_vowel(rest) else word
    return word


def _restore_end(rest: str) -> str:
    """Restore the end of a word before "-ed" and "-ing": hop(p)ing, siz(e)ing, fil(e)ing."""
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if len(rest) > 1 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
        return rest[:-1]
    return f"{rest}e" if _measure(rest) == 1 and _is_short(rest) else rest


def _replace(word: str, rules: dict[str, tuple[tuple[str, str], ...]], at_least: int) -> str:
    for suffix, other in rules.get(word[-2:], ()):
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return f"{rest}{other}" if _measure(rest) >= at_least else word
    return word


def _without_ending(word: str) -> str:
    for suffix in _ENDINGS.get(word[-2:], ()):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
                return rest
            return word
    return word


def _without_final_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _by_tail(rules: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return rules by the last two letters of their suffix, so that few are tried; longer suffixes come first."""
    tails: dict[str, tuple[tuple[str, str], ...]] = {}
    for rule in rules.split():
        suffix, other = rule.split(":")
        tails[suffix[-2:]] = (*tails.get(suffix[-2:], ()), (suffix, other))
    return tails


_LONG = _by_tail(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous"
    " ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log"
)
_MIDDLE = _by_tail("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_ENDINGS: dict[str, list[str]] = {}  # by their last two letters; longer ones before those they end in
for _ending in "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split():
    _ENDINGS.setdefault(_ending[-2:], []).append(_ending)


def _measure(word: str) -> int:
    """Return how often a consonant follows a vowel."""
    count, vowel = 0, False
    for i, letter in enumerate(word):
        before, vowel = vowel, letter in "aeiou" or (letter == "y" and i > 0 and not vowel)
        count += before and not vowel
    return count


def _has_vowel(word: str) -> bool:
    return any(letter in "aeiou" for letter in word) or "y" in word[1:]


def _is_short(word: str) -> bool:
    """Return whether it ends in consonant, vowel, consonant other than w, x, y: "hop", "fil"."""
    if len(word) < 3 or word[-1] in "aeiouwxy":
        return False
    before = word[-3]
    consonant = before not in "aeiou" and not (before == "y" and len(word) > 3 and word[-4] not in "aeiou")
    return consonant and word[-2] in "aeiouy"
