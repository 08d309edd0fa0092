"""BM25 over weighted fields, in numpy: which of many texts share rare terms with a question."""

from collections.abc import Collection, Mapping, Sequence
from math import log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.code.relevant.question import POSTING
from recollect.code.relevant.weights import LENGTH_PENALTY

Scores = npt.NDArray[np.float32]


class Field(NamedTuple):
    """One text of each document, as `terms_of` returns it."""

    texts: Sequence[bytes]
    weight: float = 1.0  # what one occurrence of a term counts
    length_penalty: float = LENGTH_PENALTY


class Index:
    """Documents numbered from 0. The rarity of a term is computed from the `usual` ones; by default from all."""

    def __init__(
        self, fields: Sequence[Field], half_saturation: float, usual: Sequence[bool] | None = None
    ) -> None:
        """`half_saturation` is the amount of a term that gives half of the score that any amount could give."""
        self.size = len(fields[0].texts)
        self._usual = np.ones(self.size, np.bool_) if usual is None else np.asarray(usual, np.bool_)
        keys, amounts = zip(*(_amounts(field, self._usual) for field in fields), strict=True)
        every = np.concatenate(keys)
        order = np.argsort(every, kind="stable")
        every = every[order]
        begins = np.flatnonzero(np.diff(every, prepend=every[:1] ^ 1)) if len(every) else np.zeros(0, np.intp)
        amount = (
            np.add.reduceat(np.concatenate(amounts)[order], begins) if len(every) else np.zeros(0, np.float32)
        )
        self._terms = (every[begins] >> 32).astype(np.uint32)
        self._owners = (every[begins] & 0xFFFFFFFF).astype(np.int32)
        self._said: Scores = (amount / (amount + np.float32(half_saturation))).astype(np.float32)
        self._count = int(self._usual.sum())
        # Of the last question, which is asked several times in a row. Each is one tuple, so that threads can share it.
        self._found: tuple[Collection[int], list[tuple[int, int, int]]] = ((), [])
        self._rare: tuple[Collection[int], dict[int, float]] = ((), {})

    def scores(self, question: Mapping[int, float], rarity: Mapping[int, float] | None = None) -> Scores:
        """Return the score of each document; 0 if nothing is shared. `rarity` replaces the index's own."""
        scores = np.zeros(self.size, np.float32)
        rarity = self.rarity(question) if rarity is None else rarity
        for term, begin, end in self._postings(question):
            scores[self._owners[begin:end]] += question[term] * rarity.get(term, 0.0) * self._said[begin:end]
        return scores

    def rarity(self, terms: Collection[int]) -> dict[int, float]:
        """Return the rarity of those terms that occur anywhere. A question must not change after it was asked."""
        asked, rarity = self._rare
        if asked is terms:
            return rarity
        among = {
            term: int(np.count_nonzero(self._usual[self._owners[begin:end]]))
            for term, begin, end in self._postings(terms)
        }
        rarity = {term: log1p((self._count - count + 0.5) / (count + 0.5)) for term, count in among.items()}
        self._rare = terms, rarity
        return rarity

    def highest(self, question: Mapping[int, float]) -> float:
        """Return the score that no document exceeds. A term that occurs nowhere counts as the rarest."""
        rarity, rarest = self.rarity(question), log1p((self._count + 0.5) / 0.5)
        return sum(weight * rarity.get(term, rarest) for term, weight in question.items())

    def coverage(self, question: Mapping[int, float], document: int) -> float:
        """Return how much of the question, by weight and rarity, the document has any of."""
        rarity = self.rarity(question)
        return sum(
            question[term] * rarity[term]
            for term, begin, end in self._postings(question)
            if document in self._owners[begin:end]
        )

    def owners(self, term: int) -> list[int]:
        """Return the documents with that term."""
        return [
            owner for _, begin, end in self._postings([term]) for owner in self._owners[begin:end].tolist()
        ]

    def _postings(self, terms: Collection[int]) -> list[tuple[int, int, int]]:
        """Return where the postings of each term begin and end."""
        asked, places = self._found
        if asked is terms:
            return places
        sought = np.fromiter(terms, np.uint32, len(terms))
        begins = np.searchsorted(self._terms, sought, "left").tolist()
        ends = np.searchsorted(self._terms, sought, "right").tolist()
        places = [place for place in zip(terms, begins, ends, strict=True) if place[1] < place[2]]
        self._found = terms, places
        return places


def _amounts(field: Field, usual: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.uint64], Scores]:
    """Return each term and document as one number, and the amount of the term relative to the text's length."""
    postings = np.frombuffer(b"".join(field.texts), POSTING)
    sizes = [len(text) // POSTING.itemsize for text in field.texts]
    owners = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    counts = postings["count"].astype(np.float32)
    lengths = np.bincount(owners.astype(np.intp), counts, len(sizes))
    length = float(lengths[usual].mean()) if usual.any() else 0.0
    norms = 1 - field.length_penalty + field.length_penalty * lengths / (length or 1.0)
    keys = (postings["term"].astype(np.uint64) << np.uint64(32)) | owners
    return keys, (field.weight * counts / norms[owners.astype(np.intp)]).astype(np.float32)


def top_scores(scores: Scores, count: int) -> list[int]:
    """Return the numbers of the highest scores above 0, highest first."""
    numbers = np.argpartition(-scores, count)[:count] if len(scores) > count else np.arange(len(scores))
    return [
        int(number) for number in numbers[np.argsort(-scores[numbers], kind="stable")] if scores[number] > 0
    ]
