"""Text to terms, and terms to numbers, in the same way for stored texts and for queries.

A term is a word's stem. An identifier gives a term for the whole and one for each of its parts, so that `parseConfig`,
`parse_config` and "parse the config" match. An unknown word of a query stands for the known words that begin with it, or
that are one or two typing errors away.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from recollect.memory.index.packed import pack_texts, unpack_texts
from recollect.memory.ranking import PREFIX_SHARE, TYPO_SHARES
from recollect.text.stem import stem
from recollect.text.words import STOP_WORDS, split_identifier

# A word, or several joined by punctuation without white space: a path, a date, a version, "don't".
_TOKEN = re.compile(r"[^\W_]+(?:[_.\-/:'’]+[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_IDENTIFIER = re.compile(r"[_./:]|\d-\d")
# Scripts that put no spaces between words.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")

MOST_WORDS = 64  # of a query; a pasted file adds nothing new after that
LONGEST = 64  # characters of a term; a longer one is no word and is cut
SHORTEST_PREFIX = 3
MOST_UNKNOWN = 16  # unknown words of a query that are looked up by spelling; 2 ms each among 70,000 words
MOST_SPELLINGS = 8  # terms that one unknown word may stand for
MOST_TRIED = 50  # words that are considered for them


class QueryWord(NamedTuple):
    """A word of a query: the terms it may stand for, each with its share."""

    text: str
    terms: tuple[tuple[int, float], ...]
    also: tuple[tuple[int, float], ...] = ()  # aliases, which do not count in phrases
    weight: float = 1.0  # less for a part of a hyphenated name, which counts as one word


class Vocabulary:
    """The terms of all texts read so far. The number of a term never changes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # of terms made of letters
        self._read: dict[str, tuple[int, ...]] = {}  # terms by plain word as written, in the order they came
        self._speller = _Speller()

    def packed(self) -> dict[str, npt.NDArray[Any]]:
        """Return the terms for `unpack`."""
        return {
            "terms": pack_texts(self._numbers),
            "words": pack_texts(self._read),
            "word_sizes": np.fromiter(map(len, self._read.values()), np.int32, len(self._read)),
            "word_terms": np.fromiter((term for terms in self._read.values() for term in terms), np.int32),
        }

    def unpack(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the terms over, instead of reading texts."""
        terms = unpack_texts(arrays["terms"])
        self._numbers = dict(zip(terms, range(len(terms)), strict=True))
        numbers = iter(arrays["word_terms"].tolist())
        sizes = arrays["word_sizes"].tolist()
        words = unpack_texts(arrays["words"])
        self._read = {word: tuple(islice(numbers, size)) for word, size in zip(words, sizes, strict=True)}

    def read(self, text: str) -> list[int]:
        """Return the terms of `text` and add those that are new."""
        terms: list[int] = []
        for token in _TOKEN.findall(text):
            numbers = self._read.get(token)
            terms += self._add(token) if numbers is None else numbers
        return terms

    def _add(self, token: str) -> Sequence[int]:
        token = _plain(token)
        parts = _PART.findall(token)
        if len(parts) != 1:
            numbers = [number for part in parts for number in self._part(part)]
            if numbers and _IDENTIFIER.search(token):
                numbers.insert(0, self._number(token.lower()[:LONGEST]))
            return numbers  # identifiers are too many to cache, and seldom come twice
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
                    self._part(word)  # so that the speller knows it
        return numbers

    def _number(self, term: str) -> int:
        if term.isalpha():
            return self._numbers.setdefault(term, len(self._numbers))
        return _hash(term)

    def query_words(self, query: str, is_known: Callable[[int], bool]) -> list[QueryWord]:
        """Return the words of `query` in order, once each, without stop words. Adds no terms.

        `is_known` tells whether a term occurs in the texts in view; a word without a known term is looked up by spelling.
        """
        words: list[QueryWord] = []
        looked_up = 0
        for (text, term), weight in islice(_weighted_terms(query).items(), MOST_WORDS):
            number = self._numbers.get(term) if term.isalpha() else _hash(term)
            terms: tuple[tuple[int, float], ...] = ()
            if number is not None and is_known(number):
                terms = ((number, 1.0),)
            elif text.isalpha() and looked_up < MOST_UNKNOWN:
                looked_up += 1
                terms = self._spelled_like(text, is_known)
            words.append(QueryWord(text, terms, weight=weight))
        return words

    def known_terms(self, text: str) -> list[int]:
        """Return the terms of `text` that may have been read, spelled exactly. Adds no terms."""
        numbers = (self._numbers.get(term) if term.isalpha() else _hash(term) for term in _plain_terms(text))
        return [number for number in numbers if number is not None]

    def _spelled_like(self, text: str, is_known: Callable[[int], bool]) -> tuple[tuple[int, float], ...]:
        self._speller.add(self._read)
        shares: dict[int, float] = {}
        for word, share in self._speller.find(text):
            if shares and share < max(shares.values()):
                break  # only the likeliest
            term = self._read[word][0]
            if is_known(term):
                shares[term] = share
        return tuple(islice(shares.items(), MOST_SPELLINGS))


def _weighted_terms(query: str) -> dict[tuple[str, str], float]:
    """Return the terms of the query, once each, with their weights.

    The parts of a hyphenated name share the weight of one word: "ecommerce-api" would otherwise count for two words and a
    phrase, and outweigh the rest of the query.
    """
    weights: dict[tuple[str, str], float] = {}
    for token in _TOKEN.findall(query):
        pairs = _terms_of_token(token)
        is_name = "-" in token and not _IDENTIFIER.search(token)
        for pair in pairs:
            weights[pair] = max(1 / len(pairs) if is_name else 1.0, weights.get(pair, 0.0))
    return weights


@lru_cache(4096)
def _plain_terms(text: str) -> tuple[str, ...]:
    return tuple(term for token in _TOKEN.findall(text) for _, term in _terms_of_token(token))


def _hash(term: str) -> int:
    """Return a number below 0. There may be as many identifiers as units: as strings they took half of all memory."""
    return -1 - (crc32(term.encode("utf-8", "replace")) >> 1)


def _terms_of_token(token: str) -> list[tuple[str, str]]:
    """Return the words of a token, each as written and as a term: its stem; an identifier whole, then its parts."""
    token = _plain(token)
    parts = _PART.findall(token)
    terms = [pair for part in parts for pair in _terms(part)]
    if len(parts) > 1 and terms and _IDENTIFIER.search(token):
        whole = token.lower()[:LONGEST]
        terms.insert(0, (whole, whole))
    return terms


def _terms(part: str) -> list[tuple[str, str]]:
    """Do the same for a token without punctuation. A stop word has no term."""
    words = _words(part)
    terms = [(word, stem(word)) for word in words if word not in STOP_WORDS]
    if len(words) > 1 and terms and part.isascii():
        whole = part.lower()[:LONGEST]
        terms.insert(0, (whole, whole))
    return terms


def _plain(token: str) -> str:
    """Remove accents and what an apostrophe adds: "café’s" becomes "cafe", and "don't" nothing."""
    if not token.isascii():
        token = token.replace("’", "'")
        token = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c))
        token = unicodedata.normalize("NFC", token)
    if "'" in token:
        token = "" if token.lower().endswith("n't") else re.sub(r"'[^\W_]{1,2}(?![^\W_])", "", token)
    return token


def _words(part: str) -> list[str]:
    if not part.isascii() and _UNSPACED.search(part):
        return list(part.lower())  # each character is a word; two in a row are a pair
    if part.isalpha() and (part.islower() or part[1:].islower()):  # the usual case
        return [part.lower()[:LONGEST]]
    if part.endswith("s") and part[:-1].isupper() and part.isalpha() and len(part) > 2:
        return [part[:-1].lower()[:LONGEST]]  # "PRs" is the plural of "PR", not "P" and "Rs"
    parts = split_identifier(part)
    return [word[:LONGEST] for word in (parts if len(parts) > 1 else [part.lower()])]


class _Speller:
    """Finds words that are spelled almost like another, among words of letters only."""

    def __init__(self) -> None:
        self._seen = 0
        self._sorted: list[str] = []
        self._words: list[str] = []
        self._shapes = np.empty((4, 0), np.uint32)

    def add(self, words: dict[str, tuple[int, ...]]) -> None:
        """Add the words that were appended to `words` since the last call."""
        if self._seen == len(words):
            return
        new = islice(words, self._seen, None)
        plain = [word for word in new if len(word) > SHORTEST_PREFIX and word.islower() and words[word]]
        self._seen = len(words)
        self._words += plain
        self._sorted += plain
        self._sorted.sort()  # cheap: nearly in order already
        chunks = (plain[i : i + 4096] for i in range(0, len(plain), 4096))
        self._shapes = np.concatenate([self._shapes, *map(_shapes, chunks)], axis=1)

    def find(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield words with their shares, likeliest first."""
        if len(word) >= SHORTEST_PREFIX:
            begin, end = bisect_left(self._sorted, word), bisect_left(self._sorted, f"{word}\U0010ffff")
            for longer in sorted(self._sorted[begin:end], key=len)[:MOST_TRIED]:
                yield longer, PREFIX_SHARE
        typos = 2 if len(word) >= 9 else 1 if len(word) >= 5 else 0
        if not typos:
            return
        size, letters, head, tail = _shapes([word])[:, 0]
        sizes, sets, heads, tails = self._shapes
        # A typing error changes the length by at most one, and two letters of the set. One end of the word is right.
        near = (sizes + typos >= size) & (sizes <= size + typos) & ((heads == head) | (tails == tail))
        near &= np.bitwise_count(sets ^ letters) <= 2 * typos
        tried = [self._words[i] for i in np.flatnonzero(near)]
        away = distances(word, tried, typos)
        for count in range(1, typos + 1):
            for i in np.flatnonzero(away == count)[:MOST_TRIED]:
                yield tried[i], TYPO_SHARES[count]


def _shapes(words: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Return for each word its length, its letters as a set of bits, its first two and its last two letters."""
    letters = np.array(words)[:, None].view(np.uint32)
    sizes = np.array([len(word) for word in words], np.uint32)
    bits = np.where(letters > 0, np.uint32(1) << (letters & 31), np.uint32(0))
    every = np.arange(len(words))
    head = letters[:, 0] << 16 ^ letters[:, 1]
    tail = letters[every, sizes - 2] << 16 ^ letters[every, sizes - 1]
    return np.stack([sizes, np.bitwise_or.reduce(bits, axis=1), head, tail])


def distances(word: str, others: Sequence[str], limit: int) -> npt.NDArray[np.int8]:
    """Return the Damerau-Levenshtein distance between `word` and each of `others`; `limit` + 1 if it is greater.

    The usual table, for all others at once, restricted to the band where a distance within `limit` can be.
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
