"""Text as terms, and terms as numbers: the same for what is kept and for what is asked.

A term is a word's stem. An identifier is kept whole and in its parts, so that `parseConfig`, `parse_config` and "parse the
config" meet. A word that is asked for and unknown stands for the known ones it begins, or those a slip of the finger away.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from recollect.text.stem import stem
from recollect.text.terms import pieces
from recollect.text.words import STOP_WORDS

# A word, or several that punctuation without white space holds together: a path, a date, a version, "don't".
_TOKEN = re.compile(r"[^\W_]+(?:[_.\-/:'’]+[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_IDENTIFIER = re.compile(r"[_./:]|\d-\d")
# Scripts that put no spaces between words.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")

MOST_WORDS = 64  # of a query; a pasted file tells nothing new after that
LONGEST = 64  # characters of a term; what is longer is no word, and kept by its beginning

BEGINS = 0.8  # how far a word counts that the unknown one is the beginning of
SHORTEST_BEGINNING = 3
SLIP = {1: 0.7, 2: 0.5}  # how far one counts that is so many slips away
MOST_SOUGHT = 16  # unknown words of a query that others may stand for; 2 ms each among 70,000 words
MOST_ALIKE = 8  # terms that one unknown word may stand for
MOST_TRIED = 50  # words that are looked at for them


class Word(NamedTuple):
    """A word of a query: the terms it may stand for, each with how far it counts."""

    text: str
    terms: tuple[tuple[int, float], ...]
    also: tuple[tuple[int, float], ...] = ()  # others that stand in for it, though in no phrase
    weight: float = 1.0  # less for a part of a name with hyphens, which counts as one word


class Vocabulary:
    """Grows with what it reads. Numbers stay what they are."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # of words
        self._read: dict[str, tuple[int, ...]] = {}  # plain words as they are written, in the order they came
        self._alike = _Alike()

    def read(self, text: str) -> list[int]:
        """The terms of `text`, new ones learnt."""
        found: list[int] = []
        for token in _TOKEN.findall(text):
            numbers = self._read.get(token)
            found += self._learn(token) if numbers is None else numbers
        return found

    def _learn(self, token: str) -> Sequence[int]:
        token = _plain(token)
        parts = _PART.findall(token)
        if len(parts) != 1:
            numbers = [number for part in parts for number in self._part(part)]
            if numbers and _IDENTIFIER.search(token):
                numbers.insert(0, self._number(token.lower()[:LONGEST]))
            return numbers  # identifiers are too many to keep, and seldom come twice
        return self._part(parts[0])

    def _part(self, part: str) -> Sequence[int]:
        known = self._read.get(part)
        if known is not None:
            return known
        numbers = tuple(self._number(term) for _, term in _terms(part))
        if part.isalpha() and len(part) <= LONGEST:
            self._read[part] = numbers
            for word in _words(part):
                if word != part:
                    self._part(word)  # so that it is known to the eye that looks for likeness
        return numbers

    def _number(self, term: str) -> int:
        if term.isalpha():
            return self._numbers.setdefault(term, len(self._numbers))
        return _hash(term)

    def ask(self, query: str, is_known: Callable[[int], bool]) -> list[Word]:
        """The words of `query` in order, once each, without those that say nothing. Learns none.

        `is_known` tells whether a term occurs where it is asked for; a word without one is sought among those like it.
        """
        words: list[Word] = []
        sought = 0
        for (text, term), weight in islice(_weighed(query).items(), MOST_WORDS):
            number = self._numbers.get(term) if term.isalpha() else _hash(term)
            terms: tuple[tuple[int, float], ...] = ()
            if number is not None and is_known(number):
                terms = ((number, 1.0),)
            elif text.isalpha() and sought < MOST_SOUGHT:
                sought += 1
                terms = self._alike_to(text, is_known)
            words.append(Word(text, terms, weight=weight))
        return words

    def known(self, text: str) -> list[int]:
        """The terms of `text` that may have been read; none that are only like them. Learns none."""
        numbers = (self._numbers.get(term) if term.isalpha() else _hash(term) for term in _asked(text))
        return [number for number in numbers if number is not None]

    def _alike_to(self, text: str, is_known: Callable[[int], bool]) -> tuple[tuple[int, float], ...]:
        self._alike.learn(self._read)
        found: dict[int, float] = {}
        for word, share in self._alike.find(text):
            if found and share < max(found.values()):
                break  # none but the likeliest
            term = self._read[word][0]
            if is_known(term):
                found[term] = share
        return tuple(islice(found.items(), MOST_ALIKE))


def _weighed(query: str) -> dict[tuple[str, str], float]:
    """What the query's tokens are found by, once each, with how far it counts.

    "ecommerce-api" would else count for two words and a phrase, and drown what is asked about it.
    """
    weights: dict[tuple[str, str], float] = {}
    for token in _TOKEN.findall(query):
        pairs = _terms_of_token(token)
        is_name = "-" in token and not _IDENTIFIER.search(token)
        for pair in pairs:
            weights[pair] = max(1 / len(pairs) if is_name else 1.0, weights.get(pair, 0.0))
    return weights


@lru_cache(4096)
def _asked(text: str) -> tuple[str, ...]:
    return tuple(term for token in _TOKEN.findall(text) for _, term in _terms_of_token(token))


def _hash(term: str) -> int:
    """Below 0. There may be as many identifiers as units: kept as words are, they came to half of all memory."""
    return -1 - (crc32(term.encode("utf-8", "replace")) >> 1)


def _terms_of_token(token: str) -> list[tuple[str, str]]:
    """What a token is found by, as it is written and as a term: its stem; an identifier whole, then by its parts."""
    token = _plain(token)
    parts = _PART.findall(token)
    found = [pair for part in parts for pair in _terms(part)]
    if len(parts) > 1 and found and _IDENTIFIER.search(token):
        whole = token.lower()[:LONGEST]
        found.insert(0, (whole, whole))
    return found


def _terms(part: str) -> list[tuple[str, str]]:
    """The same of a token without punctuation. A stop word is found by nothing."""
    words = _words(part)
    found = [(word, stem(word)) for word in words if word not in STOP_WORDS]
    if len(words) > 1 and found and part.isascii():
        whole = part.lower()[:LONGEST]
        found.insert(0, (whole, whole))
    return found


def _plain(token: str) -> str:
    """Without accents, and without what an apostrophe adds: "café’s" is "cafe", and "don't" says nothing."""
    if not token.isascii():
        token = token.replace("’", "'")
        token = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c))
        token = unicodedata.normalize("NFC", token)
    if "'" in token:
        token = "" if token.lower().endswith("n't") else re.sub(r"'[^\W_]{1,2}(?![^\W_])", "", token)
    return token


def _words(part: str) -> list[str]:
    if not part.isascii() and _UNSPACED.search(part):
        return list(part.lower())  # each sign a word; two side by side are a pair
    if part.isalpha() and (part.islower() or part[1:].islower()):  # nearly all
        return [part.lower()[:LONGEST]]
    if part.endswith("s") and part[:-1].isupper() and part.isalpha() and len(part) > 2:
        return [part[:-1].lower()[:LONGEST]]  # several of a PR are PRs, and no P with an Rs
    return [word[:LONGEST] for word in pieces(part) or [part.lower()]]


class _Alike:
    """Finds words that look like one that is not there, among words of letters only."""

    def __init__(self) -> None:
        self._seen = 0
        self._sorted: list[str] = []
        self._words: list[str] = []
        self._shapes = np.empty((4, 0), np.uint32)

    def learn(self, words: dict[str, tuple[int, ...]]) -> None:
        """Those that were added to `words` since."""
        if self._seen == len(words):
            return
        new = islice(words, self._seen, None)
        plain = [word for word in new if len(word) > SHORTEST_BEGINNING and word.islower() and words[word]]
        self._seen = len(words)
        self._words += plain
        self._sorted += plain
        self._sorted.sort()  # nearly in order already
        chunks = (plain[i : i + 4096] for i in range(0, len(plain), 4096))
        self._shapes = np.concatenate([self._shapes, *map(_shapes, chunks)], axis=1)

    def find(self, word: str) -> Iterator[tuple[str, float]]:
        """Likeliest first, each with how far it counts."""
        if len(word) >= SHORTEST_BEGINNING:
            begin, end = bisect_left(self._sorted, word), bisect_left(self._sorted, f"{word}\U0010ffff")
            for longer in sorted(self._sorted[begin:end], key=len)[:MOST_TRIED]:
                yield longer, BEGINS
        slips = 2 if len(word) >= 9 else 1 if len(word) >= 5 else 0
        if not slips:
            return
        size, letters, head, tail = _shapes([word])[:, 0]
        sizes, sets, heads, tails = self._shapes
        # A slip changes the length by one at most, and two letters of the set. One end of the word is right.
        near = (sizes + slips >= size) & (sizes <= size + slips) & ((heads == head) | (tails == tail))
        near &= np.bitwise_count(sets ^ letters) <= 2 * slips
        tried = [self._words[i] for i in np.flatnonzero(near)]
        away = distances(word, tried, slips)
        for many in range(1, slips + 1):
            for i in np.flatnonzero(away == many)[:MOST_TRIED]:
                yield tried[i], SLIP[many]


def _shapes(words: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Of each: its length, its letters as a set of bits, its first two and its last two letters."""
    letters = np.array(words)[:, None].view(np.uint32)
    sizes = np.array([len(word) for word in words], np.uint32)
    bits = np.where(letters > 0, np.uint32(1) << (letters & 31), np.uint32(0))
    every = np.arange(len(words))
    head = letters[:, 0] << 16 ^ letters[:, 1]
    tail = letters[every, sizes - 2] << 16 ^ letters[every, sizes - 1]
    return np.stack([sizes, np.bitwise_or.reduce(bits, axis=1), head, tail])


def distances(word: str, others: Sequence[str], limit: int) -> npt.NDArray[np.int8]:
    """How many letters were left out, put in, changed or swapped with the next, in each; above `limit` if more.

    The usual table, for all others at once, and of it only the band where a distance within `limit` can be.
    """
    if not others:
        return np.empty(0, np.int8)
    letters = np.array(others)[:, None].view(np.uint32)
    sizes = np.array([len(other) for other in others])
    far = np.full(len(others), limit + 1, np.int8)
    older: dict[int, npt.NDArray[np.int8]] = {}
    before = {j: np.full(len(others), j, np.int8) for j in range(limit + 1)}
    row = before
    for i, letter in enumerate(word, start=1):
        row = {}
        for j in range(max(i - limit, 0), min(i + limit, letters.shape[1]) + 1):
            cost = before.get(j, far) + 1
            if j:
                same = letters[:, j - 1] == ord(letter)
                cost = np.minimum(cost, row.get(j - 1, far) + 1)
                cost = np.minimum(cost, before.get(j - 1, far) + ~same)
            if i > 1 and j > 1:
                swapped = (letters[:, j - 2] == ord(letter)) & (letters[:, j - 1] == ord(word[i - 2]))
                cost = np.where(swapped, np.minimum(cost, older.get(j - 2, far) + 1), cost)
            row[j] = cost
        older, before = before, row
    away = far
    for j, cost in row.items():
        away = np.where(sizes == j, np.minimum(cost, far), away)
    return away
