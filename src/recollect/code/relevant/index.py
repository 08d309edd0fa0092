"""BM25 over weighted fields, in numpy: which of many texts share rare terms with a question."""

from collections.abc import Collection, Mapping, Sequence
from math import log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.code.relevant.question import POSTING
from recollect.code.relevant.weights import LENGTH_PENALTY

Scores = npt.NDArray[np.float32]
_Owners = npt.NDArray[np.int32]
_Keys = npt.NDArray[np.uint64]  # a term and a document
_Amounts = tuple[_Keys, Scores]
_Sorted = tuple[npt.NDArray[np.uint32], _Owners, Scores]  # terms, documents, and how much each has
_Posting = tuple[int, _Owners, Scores]


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
        self._half_saturation = np.float32(half_saturation)
        keys, amounts = zip(*(_amounts(field, self._usual) for field in fields), strict=True)
        # All postings in no order, until they are sorted.
        self._unsorted: _Amounts | None = np.concatenate(keys), np.concatenate(amounts)
        self._sorted: _Sorted | None = None
        self._count = int(self._usual.sum())
        # Of the last question, which is asked several times in a row. Each is one tuple, so that threads can share it.
        self._found: tuple[Collection[int], list[_Posting]] = ((), [])
        self._rare: tuple[Collection[int], dict[int, float]] = ((), {})

    def sort(self) -> None:
        """Make every later question quick. Without it, each one searches all postings, which pays for a few questions."""
        if self._unsorted is not None:
            self._sorted = self._in_order(*self._unsorted)
            self._unsorted = None

    def scores(self, question: Mapping[int, float], rarity: Mapping[int, float] | None = None) -> Scores:
        """Return the score of each document; 0 if nothing is shared. `rarity` replaces the index's own."""
        scores = np.zeros(self.size, np.float32)
        rarity = self.rarity(question) if rarity is None else rarity
        for term, owners, said in self._postings(question):
            scores[owners] += question[term] * rarity.get(term, 0.0) * said
        return scores

    def rarity(self, terms: Collection[int]) -> dict[int, float]:
        """Return the rarity of those terms that occur anywhere. A question must not change after it was asked."""
        asked, rarity = self._rare
        if asked is terms:
            return rarity
        among = {
            term: int(np.count_nonzero(self._usual[owners])) for term, owners, _ in self._postings(terms)
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
            for term, owners, _ in self._postings(question)
            if document in owners
        )

    def owners(self, term: int) -> list[int]:
        """Return the documents with that term."""
        return [owner for _, owners, _ in self._postings([term]) for owner in owners.tolist()]

    def _postings(self, terms: Collection[int]) -> list[_Posting]:
        """Return each term that occurs, with the documents that have it and how much of it each has."""
        asked, postings = self._found
        if asked is terms:
            return postings
        sought = np.fromiter(terms, np.uint32, len(terms))
        unsorted = (
            self._unsorted
        )  # before it is looked whether it is sorted: another thread may sort meanwhile
        if self._sorted is not None:
            every, owners, said = self._sorted
        else:
            assert unsorted is not None
            every, owners, said = self._sorted_of(sought, *unsorted)
        begins = np.searchsorted(every, sought, "left").tolist()
        ends = np.searchsorted(every, sought, "right").tolist()
        postings = [
            (term, owners[begin:end], said[begin:end])
            for term, begin, end in zip(terms, begins, ends, strict=True)
            if begin < end
        ]
        self._found = terms, postings
        return postings

    def _sorted_of(self, terms: npt.NDArray[np.uint32], keys: _Keys, amounts: Scores) -> _Sorted:
        """Return the postings of a few terms, and some others, in order. A table of the lower halves finds nearly only those."""
        wanted = np.zeros(1 << 16, np.bool_)
        wanted[terms & np.uint32(0xFFFF)] = True
        found = np.flatnonzero(wanted[(keys >> np.uint64(32)).astype(np.uint16)])
        return self._in_order(keys[found], amounts[found])

    def _in_order(self, keys: _Keys, amounts: Scores) -> _Sorted:
        """Return terms, documents and how much each has of the term, by term and document; fields are added up."""
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begins = np.flatnonzero(np.diff(keys, prepend=keys[:1] ^ 1)) if len(keys) else np.zeros(0, np.intp)
        amount = np.add.reduceat(amounts[order], begins) if len(keys) else np.zeros(0, np.float32)
        return (
            (keys[begins] >> 32).astype(np.uint32),
            (keys[begins] & 0xFFFFFFFF).astype(np.int32),
            (amount / (amount + self._half_saturation)).astype(np.float32),
        )


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
