"""Porter's algorithm: "migrations", "migrated" and "migrating" become one term, "migrat".

That of 1980 with the two rules he changed later, which is what SQLite has. A word is seen as consonants and vowels in turn,
[C](VC){m}[V]; most rules ask that enough of it, by `m`, be left. It takes some six microseconds: who has many words keeps the
results, and a query, which looks at each word several times, finds it here.
"""

from functools import lru_cache


@lru_cache(4096)
def stem(word: str) -> str:
    """Of a word in small letters. What is not plain English letters is returned as it is."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replace(word, _LONG, at_least=1)
    word = _replace(word, _MIDDLE, at_least=1)
    word = _drop(word)
    return _tidy(word)


def _plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _mend(rest) if _has_vowel(rest) else word
    return word


def _mend(rest: str) -> str:
    """What "-ed" and "-ing" took with them: hop(p)ing, siz(e)ing, fil(e)ing."""
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


def _drop(word: str) -> str:
    for suffix in _ENDINGS:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
                return rest
            return word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _by_tail(rules: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Rules by the last two letters of their suffix, so that few are tried; longer suffixes stand first."""
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
_ENDINGS = (  # longer ones before those they end in
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous"),
    *("ive", "ize", "al", "er", "ic", "ou"),
)


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    count, vowel = 0, False
    for i, letter in enumerate(word):
        before, vowel = vowel, letter in "aeiou" or (letter == "y" and i > 0 and not vowel)
        count += before and not vowel
    return count


def _has_vowel(word: str) -> bool:
    return any(letter in "aeiou" for letter in word) or "y" in word[1:]


def _is_short(word: str) -> bool:
    """Ends consonant, vowel, consonant, the last not w, x or y: "hop", "fil"."""
    if len(word) < 3 or word[-1] in "aeiouwxy":
        return False
    before = word[-3]
    consonant = before not in "aeiou" and not (before == "y" and len(word) > 3 and word[-4] not in "aeiou")
    return consonant and word[-2] in "aeiouy"
