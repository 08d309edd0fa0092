"""Texts as the terms they are made of: words and parts of identifiers, stemmed, kept as hashes.

Hashes, because what is kept of a project's files must not give its text away.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from math import log
from zlib import crc32

import numpy as np

from recollect.stem import stem
from recollect.words import STOP_WORDS

POSTING = np.dtype([("term", "<u4"), ("count", "<u2")])

TITLE = 0.2  # how much of a question its first line is, however long the rest

_MOST = 65_535  # a count that fits
_LONGEST = 64  # characters; what is longer is data
_WORD = re.compile(r"[^\W\d]\w+")
_UNSAID = re.compile(r"<!--.*?-->|\w+://\S+", re.S)  # what a form says, and where else to look
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def terms_of(text: str) -> bytes:
    """The terms of `text` with how often each stands in it, for an index to read as `POSTING`s."""
    counts = _counted(text)
    postings = np.empty(len(counts), POSTING)
    postings["term"] = np.fromiter(counts.keys(), np.uint32, len(counts))
    postings["count"] = np.minimum(np.fromiter(counts.values(), np.int64, len(counts)), _MOST)
    return postings.tobytes()


def asked(question: str) -> dict[int, float]:
    """What each term of a question weighs, all together 1. The first line says best what it is about; the rest may stray."""
    said = _UNSAID.sub(" ", question).strip()
    whole = _weighed(said)
    title = _weighed(said.partition("\n")[0])
    return {term: (1 - TITLE) * weight + TITLE * title.get(term, 0.0) for term, weight in whole.items()}


def shared(question: Mapping[int, float], terms: bytes) -> float:
    """How much of what is `asked` stands in a text, as `terms_of` made it: from 0 to 1."""
    return sum(question.get(term, 0.0) for term in np.frombuffer(terms, POSTING)["term"].tolist())


def _weighed(text: str) -> dict[int, float]:
    weights = {term: 1 + log(count) for term, count in _counted(text).items()}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}


def _counted(text: str) -> dict[int, int]:
    counts: dict[int, int] = {}
    for word, count in Counter(_WORD.findall(text)).items():
        for term in _terms_in(word):
            counts[term] = counts.get(term, 0) + count
    return counts


@lru_cache(maxsize=1 << 16)
def _terms_in(word: str) -> tuple[int, ...]:
    """Its parts, and the whole if it has several: `get_or_create` is more than its parts. Stop words have none."""
    if len(word) > _LONGEST:
        return ()
    parts = [part.lower() for part in _PART.findall(word)]
    terms = [_hash(part) for part in parts if len(part) > 1 and part not in STOP_WORDS]
    if len(parts) > 1:
        terms.append(crc32(b"=" + word.encode()))
    return tuple(terms)


@lru_cache(maxsize=1 << 15)
def _hash(part: str) -> int:
    return crc32(stem(part).encode())
