"""What else to look for besides the words of a query: their aliases, and what everyday words mean.

Who asks for "auth" also looks for "login" (an alias, which works both ways). Who asks for "money back" looks for what was
written about refunds (an everyday word, which works one way only: who asks for a "refund" knows the word). The everyday words
are in `data/everyday.txt`: a line belongs there if it holds in nearly any codebase; a word that no memory has costs nothing.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from recollect.memory.index.vocabulary import QueryWord
from recollect.memory.ranking import ALIAS_SHARE
from recollect.text.stem import stem

LONGEST_QUERY = 1000  # characters that are searched for phrases
INITIALS = 2  # letters of an everyday word that its stem has too

Terms = tuple[tuple[int, float], ...]

_WORD = re.compile(r"[^\W_]+")
_OBJECTS = frozenset(["it", "them", "this", "that", "these", "those"])


def expand_query(
    query: str,
    words: Sequence[QueryWord],
    aliases: Mapping[str, Sequence[str]],
    known_terms: Callable[[str], Iterable[int]],
) -> tuple[list[QueryWord], list[QueryWord]]:
    """Return the `words` and phrases of `query` with their aliases; and separately what its everyday words mean.

    A word that no memory has also stands for what it means. `aliases` is keyed by `alias_key`, and `known_terms` gives the
    terms of a name.
    """
    expanded: list[QueryWord] = []
    meant: list[QueryWord] = []

    def terms_of(names: Iterable[str], own: Container[int] = ()) -> Terms:
        terms = dict.fromkeys(term for name in names for term in known_terms(name) if term not in own)
        return tuple((term, ALIAS_SHARE) for term in terms)

    for word in words:
        key = stem(word.text.lower())
        field_words = everyday_meaning(key)
        own = {term for term, _ in word.terms}
        also = terms_of((*aliases.get(key, ()), *(() if own else field_words)), own)
        expanded.append(word._replace(also=also))
        if alone := terms_of(field_words, own):
            meant.append(QueryWord(word.text, (), alone, word.weight))
    for phrase in _phrases(query):
        meaning = everyday_meaning(phrase)
        if phrase in aliases or meaning:
            alone = terms_of(meaning)
            if also := terms_of(aliases.get(phrase, ())) or alone:
                expanded.append(QueryWord(phrase, (), also))
            if alone:
                meant.append(QueryWord(phrase, (), alone))
    return expanded, meant


@lru_cache(4096)
def alias_key(name: str) -> str:
    """Return the stems of a word or phrase, by which it is looked up whatever its endings."""
    return " ".join(_stems(name))


@cache
def everyday_words() -> Mapping[str, tuple[str, ...]]:
    """Return by everyday word or phrase the technical words for it."""
    meanings: dict[str, tuple[str, ...]] = {}
    for everyday, technical in read_table("everyday.txt"):
        for word in everyday.split(", "):
            meanings[word] = (*meanings.get(word, ()), *technical.split(", "))
    return meanings


def read_table(name: str) -> Iterator[tuple[str, str]]:
    """Yield both sides of each line `left : right` of a data file; a line with "#" is a comment."""
    for line in (Path(__file__).parent / "data" / name).read_text(encoding="utf-8").splitlines():
        left, colon, right = line.partition(" : ")
        if colon and not line.startswith("#"):
            yield left, right


@cache
def _everyday_by_initials() -> Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for everyday, technical in everyday_words().items():
        found.setdefault(_words(everyday)[0][:INITIALS], []).append((everyday, technical))
    return {initials: tuple(lines) for initials, lines in found.items()}


@lru_cache(4096)
def everyday_meaning(key: str) -> tuple[str, ...]:
    """Return the technical words for the everyday word or phrase with this `alias_key`."""
    # Stemming all of them would take longer than a search.
    lines = _everyday_by_initials().get(key.partition(" ")[0][:INITIALS], ())
    return tuple(dict.fromkeys(name for word, names in lines if alias_key(word) == key for name in names))


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    """Return all words, stop words too, which matter in a phrase, but not objects: "filled it in" is "fill in"."""
    return [word for word in _WORD.findall(text.lower()) if word not in _OBJECTS]


def _phrases(query: str) -> Iterator[str]:
    stems = _stems(query[:LONGEST_QUERY])
    for size in (2, 3, 4):
        for begin in range(len(stems) - size + 1):
            yield " ".join(stems[begin : begin + size])
