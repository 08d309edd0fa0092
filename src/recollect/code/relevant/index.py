"""BM25 over weighted fields, in numpy: which of many texts share rare terms with a question."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.code.relevant.weights import LENGTH_PENALTY

Scores = npt.NDArray[np.float32]
_Terms = npt.NDArray[np.uint32]
_Owners = npt.NDArray[np.int32]
_Counts = npt.NDArray[np.uint16]
_Sizes = npt.NDArray[np.intp]
_Sorted = tuple[_Terms, _Owners, Scores]  # terms, documents, and how much each has
_Posting = tuple[int, _Owners, Scores]

_PARTS = 3  # of a posting: the lower and the upper half of a term, and a count
BYTES_PER_POSTING = 2 * _PARTS


class Texts:
    """The terms of many texts, one after the other. Nothing is computed of a term that is not asked for."""

    def __init__(self, joined: bytes, sizes: _Sizes) -> None:
        """`joined` has the texts as `terms_of` returns them, `sizes` how many postings each has."""
        self._postings = np.frombuffer(joined, "<u2").reshape(-1, _PARTS)
        self._ends = np.cumsum(sizes)
        self._sizes = sizes
        self._last: tuple[Collection[int], tuple[_Terms, _Owners, _Counts]] | None = None

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> "Texts":
        texts = list(texts)
        sizes = np.fromiter(map(len, texts), np.intp, len(texts)) // BYTES_PER_POSTING
        return cls(b"".join(texts), sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Texts":
        """Return the chosen texts alone."""
        if chosen.all():
            return self
        return Texts(self._postings[np.repeat(chosen, self._sizes)].tobytes(), self._sizes[chosen])

    @cached_property
    def lengths(self) -> npt.NDArray[np.float64]:
        """How many words each text has."""
        lengths = np.zeros(len(self))
        has_words = self._sizes > 0
        if has_words.any():
            begins = (self._ends - self._sizes)[has_words]
            lengths[has_words] = np.add.reduceat(self._postings[:, 2], begins, dtype=np.int64)
        return lengths

    def postings(self, terms: Collection[int] | None) -> tuple[_Terms, _Owners, _Counts]:
        """Return terms, documents and counts in no order: of these terms and a few others, or of all terms.

        A table of the lower halves finds nearly only those that are wanted.
        """
        last = self._last
        if last is not None and last[0] is terms:
            return last[1]
        if terms is None:
            lower, upper, counts = self._postings.T
            owners = np.repeat(np.arange(len(self), dtype=np.int32), self._sizes)
            return _whole(lower, upper), owners, counts
        wanted = np.zeros(1 << 16, np.bool_)
        wanted[np.fromiter(terms, np.uint32, len(terms)) & np.uint32(0xFFFF)] = True
        found = np.flatnonzero(wanted[self._postings[:, 0]])
        lower, upper, counts = self._postings[found].T
        owners = np.searchsorted(self._ends, found, "right").astype(np.int32)
        result = _whole(lower, upper), owners, counts
        self._last = terms, result  # two indexes of one project share these texts
        return result


def _whole(lower: _Counts, upper: _Counts) -> _Terms:
    return (upper.astype(np.uint32) << np.uint32(16)) | lower


class Field(NamedTuple):
    """One text of each document."""

    texts: Texts
    weight: float = 1.0  # what one occurrence of a term counts
    length_penalty: float = LENGTH_PENALTY


class Index:
    """Documents numbered from 0. The rarity of a term is computed from the `usual` ones; by default from all."""

    def __init__(
        self, fields: Sequence[Field], half_saturation: float, usual: Sequence[bool] | None = None
    ) -> None:
        """`half_saturation` is the amount of a term that gives half of the score that any amount could give."""
        self.size = len(fields[0].texts)
        self._fields = fields
        self._usual = np.ones(self.size, np.bool_) if usual is None else np.asarray(usual, np.bool_)
        self._half_saturation = np.float32(half_saturation)
        self._sorted: _Sorted | None = None
        self._count = int(self._usual.sum())
        # Of the last question, which is asked several times in a row. Each is one tuple, so that threads can share it.
        self._found: tuple[Collection[int], list[_Posting]] = ((), [])
        self._rare: tuple[Collection[int], dict[int, float]] = ((), {})

    def sort(self) -> None:
        """Make every later question quick. Without it, each one searches all postings, which pays for a few questions."""
        if self._sorted is None:
            self._sorted = self._in_order(None)

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
        every, owners, said = self._sorted or self._in_order(terms)
        begins = np.searchsorted(every, sought, "left").tolist()
        ends = np.searchsorted(every, sought, "right").tolist()
        postings = [
            (term, owners[begin:end], said[begin:end])
            for term, begin, end in zip(terms, begins, ends, strict=True)
            if begin < end
        ]
        self._found = terms, postings
        return postings

    def _in_order(self, terms: Collection[int] | None) -> _Sorted:
        """Return terms, documents and how much each has of the term, by term and document; fields are added up.

        At least of these terms; None = all.
        """
        parts = [self._amounts(field, terms) for field in self._fields]
        keys, amounts = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begins = np.flatnonzero(np.diff(keys, prepend=keys[:1] ^ 1)) if len(keys) else np.zeros(0, np.intp)
        amount = np.add.reduceat(amounts[order], begins) if len(keys) else np.zeros(0, np.float32)
        return (
            (keys[begins] >> 32).astype(np.uint32),
            (keys[begins] & 0xFFFFFFFF).astype(np.int32),
            (amount / (amount + self._half_saturation)).astype(np.float32),
        )

    def _amounts(self, field: Field, terms: Collection[int] | None) -> tuple[npt.NDArray[np.uint64], Scores]:
        """Return each term and document as one number, and the amount of the term relative to the text's length."""
        found, owners, counts = field.texts.postings(terms)
        lengths = field.texts.lengths
        length = float(lengths[self._usual].mean()) if self._count else 0.0
        norms = 1 - field.length_penalty + field.length_penalty * lengths / (length or 1.0)
        keys = (found.astype(np.uint64) << np.uint64(32)) | owners.astype(np.uint64)
        return keys, (field.weight * counts.astype(np.float32) / norms[owners]).astype(np.float32)


def top_scores(scores: Scores, count: int) -> list[int]:
    """Return the numbers of the highest scores above 0, highest first."""
    numbers = np.argpartition(-scores, count)[:count] if len(scores) > count else np.arange(len(scores))
    return [
        int(number) for number in numbers[np.argsort(-scores[numbers], kind="stable")] if scores[number] > 0
    ]
