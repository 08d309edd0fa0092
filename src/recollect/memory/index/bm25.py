"""An inverted index of short texts, and BM25 scores of all of them for a query.

A unit (a memory, a message) is a few fields of text. The terms of all units stand in one long array, in the order they were
run, and everything is read off that array: how often a unit has a term, in which field (a tag weighs less than a
sentence), and which term comes next. A `Bm25Measure` says what to count.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from recollect.frozen import frozen
from recollect.memory.index.vocabulary import QueryWord, Vocabulary
from recollect.memory.ranking import Bm25Measure

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Number = TypeVar("Number", np.int32, np.uint8, np.float32)
Fields = Sequence[tuple[str, str]]  # name of a field, its text


class TermScore(NamedTuple):
    """What one word of a query adds to the score of a unit."""

    measure: str
    word: str  # of the query
    score: float


@frozen
class Bm25Scores:
    """The score of every unit for one query, and what each is made of."""

    scores: Floats
    full: float  # the score of a unit of average length that has every word once
    _parts: tuple[tuple[str, str, Ints, Floats], ...]

    @property
    def coverage(self) -> Floats:
        """The share of the query that each unit has, rare words counting for more. Words that no unit has count as missing."""
        return self.scores / np.float32(self.full or 1.0)

    def explain(self, rows: Sequence[int]) -> dict[int, list[TermScore]]:
        """Return by row what its score is the sum of, greatest first."""
        wanted = np.array(rows, np.int32)
        parts: dict[int, list[TermScore]] = {row: [] for row in rows}
        for measure, word, matched, scores in self._parts:  # `matched` ascends and is never empty
            at = np.minimum(matched.searchsorted(wanted), len(matched) - 1)
            has = np.flatnonzero(matched.take(at) == wanted)
            for i, score in zip(has.tolist(), scores.take(at[has]).tolist(), strict=True):
                parts[rows[i]].append(TermScore(measure, word, score))
        return {row: sorted(terms, key=lambda term: -term.score) for row, terms in parts.items()}


class Bm25Index:
    """Units by row, from 0, in the order they were added. Not thread-safe: callers hold a lock."""

    def __init__(self, measures: Sequence[Bm25Measure], others: Sequence[Bm25Measure] = ()) -> None:
        """`measures` are those of `score` where it is given none; `others` have fields of their own."""
        self._measures = tuple(measures)
        names = dict.fromkeys(name for measure in (*measures, *others) for name in measure.weights)
        self._fields = {name: number for number, name in enumerate(names)}
        self._vocabulary = Vocabulary()
        self._tokens = _Tokens(len(self._fields))

    def __len__(self) -> int:
        return self._tokens.units

    def packed(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return everything as values and arrays for `unpack`."""
        values, arrays = self._tokens.packed()
        fields = {"fields": list(self._fields)}
        return {**values, **fields}, {**arrays, **self._vocabulary.packed()}

    def unpack(self, values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what another index has packed, instead of adding units. Raise `ValueError` if its fields differ."""
        if values["fields"] != list(self._fields):
            raise ValueError("other fields")
        self._vocabulary.unpack(arrays)
        self._tokens.unpack(values, arrays)

    def add(self, units: Iterable[Fields]) -> None:
        """Append `units`."""
        self._tokens.append(self._terms_of(units))

    def replace(self, row: int, unit: Fields) -> None:
        """Set the text of `row` to `unit`; without fields, it has no text."""
        self._tokens.replace(row, self._terms_of([unit]))

    def _terms_of(self, units: Iterable[Fields]) -> "_TermRun":
        terms = array("i")
        counts: list[list[int]] = []
        fields: list[tuple[int, int]] = []
        for unit in units:
            count = [0] * len(self._fields)
            for name, text in unit:
                numbers = self._vocabulary.read(text)
                field = self._fields[name]
                terms.extend(numbers)
                fields.append((field, len(numbers)))
                count[field] += len(numbers)
            counts.append(count)
        field_of = np.array(fields, np.int64).reshape(-1, 2)
        return _TermRun(
            np.frombuffer(terms, np.int32) if terms else _NO_PLACES,
            np.repeat(field_of[:, 0], field_of[:, 1]).astype(np.uint8),
            np.array(counts, np.float32).reshape(-1, len(self._fields)),
        )

    @property
    def lengths(self) -> Floats:
        """The number of terms of each unit."""
        lengths: Floats = self._tokens.lengths.sum(axis=1)
        return lengths

    def words(self, query: str, mask: Mask | None = None) -> list[QueryWord]:
        """Return the words of `query` to look for. A word that no unit has stands for those spelled almost like it."""

        def is_known(term: int) -> bool:
            places = self._tokens.find(term)
            # The first thousand nearly always suffice: a common word has many thousands.
            return any(is_visible(places[begin : begin + 1000]) for begin in range(0, len(places), 1000))

        def is_visible(places: Ints) -> bool:
            rows = self._tokens.unit.take(places)
            visible = rows >= 0 if mask is None else (rows >= 0) & mask.take(rows)
            return bool(visible.any())

        return self._vocabulary.query_words(query, is_known)

    def known_terms(self, text: str) -> list[int]:
        """Return the terms of `text` that some unit has, spelled exactly."""
        return [term for term in self._vocabulary.known_terms(text) if len(self._tokens.find(term))]

    def has(self, field: str) -> bool:
        """Return whether any unit has a term in `field`."""
        return bool(self._tokens.totals[self._fields[field]] > 0)

    def score(
        self,
        words: Sequence[QueryWord],
        mask: Mask | None = None,
        groups: Ints | None = None,
        measures: Sequence[Bm25Measure] | None = None,
    ) -> Bm25Scores:
        """Score all units, 0 where they share nothing. A unit outside `mask` neither scores nor counts.

        `groups` gives the number of a group for each unit, such as its session: then groups are scored, each as one long unit.
        """
        scope = _Scope(len(self), mask, groups)
        tokens = self._tokens
        scores = np.zeros(scope.size, np.float32)
        parts: list[tuple[str, str, Ints, Floats]] = []
        full = 0.0
        for measure in self._distinct(measures or self._measures):
            weights = np.array([measure.weights.get(name, 0.0) for name in self._fields], np.float32)
            lengths = scope.add_up(tokens.weighted_lengths(weights))
            average = float(lengths.sum()) / max(int(np.count_nonzero(lengths)), 1) or 1.0
            for word, weight, places, share in self._places_of(words, measure):
                rows, counts = scope.count(
                    tokens.unit.take(places), tokens.field_weights(places, weights) * share
                )
                rarity = math.log1p((scope.units - len(rows) + 0.5) / (len(rows) + 0.5))
                rarity *= measure.share * weight
                full += 0.0 if measure.pairs else rarity
                if len(rows):
                    norm = measure.k1 * (1 - measure.b + measure.b / average * lengths.take(rows))
                    part = ((rarity * (measure.k1 + 1)) * counts / (counts + norm)).astype(np.float32)
                    scores[rows] += part
                    parts.append((measure.name, word, rows, part))
        return Bm25Scores(scores, full, tuple(parts))

    def _places_of(
        self, words: Sequence[QueryWord], measure: Bm25Measure
    ) -> Iterator[tuple[str, float, Ints, "Floats | np.float32"]]:
        """Yield the places of each word (or pair of words), with its weight and the share that each place counts for."""
        if measure.pairs:
            for left, right in pairwise(words):
                if left.weight == 1.0 or right.weight == 1.0:  # the parts of a name are no phrase
                    lefts, rights = ([term for term, _ in word.terms] for word in (left, right))
                    places = self._tokens.find_pairs(lefts, rights)
                    yield f"{left.text} {right.text}", 1.0, places, np.float32(1)
            return
        for word in words:
            terms = (*word.terms, *word.also)
            by_term = [self._tokens.find(term) for term, _ in terms]
            if len(by_term) == 1:
                yield word.text, word.weight, by_term[0], np.float32(terms[0][1])
            else:
                shares = np.repeat([share for _, share in terms], list(map(len, by_term))).astype(np.float32)
                yield word.text, word.weight, np.concatenate([_NO_PLACES, *by_term]), shares

    def _distinct(self, measures: Sequence[Bm25Measure]) -> list[Bm25Measure]:
        """Merge measures that come to the same: without messages by assistants, "words" and "person" do."""
        used = self._tokens.totals > 0
        merged: dict[object, Bm25Measure] = {}
        for measure in measures:
            weights = tuple(
                (name, weight) for name, weight in measure.weights.items() if used[self._fields[name]]
            )
            key = (weights, measure.k1, measure.b, measure.pairs)
            if key in merged:
                measure = replace(merged[key], share=merged[key].share + measure.share)
            merged[key] = measure
        return list(merged.values())


class _Scope:
    """The units that are scored, or the groups they form."""

    def __init__(self, rows: int, mask: Mask | None, groups: Ints | None) -> None:
        self._groups = groups
        if mask is not None and mask.all():
            mask = None  # the usual case: a store with one project
        self._mask = mask
        if groups is None:
            self.size = rows
            self.units = rows if mask is None else int(np.count_nonzero(mask))
        else:
            self.size = int(groups.max()) + 1 if rows else 0
            self.units = len(np.unique(groups if mask is None else groups[mask]))

    def add_up(self, values: Floats) -> Floats:
        if self._mask is not None:
            values = np.where(self._mask, values, np.float32(0))
        if self._groups is not None:
            values = np.bincount(self._groups, values, self.size).astype(np.float32)
        return values

    def count(self, rows: Ints, weights: "Floats | np.float32") -> tuple[Ints, Floats]:
        """Return each row once, with the sum over its places."""
        if not len(rows) or not np.any(weights):
            return _NO_PLACES, np.empty(0, np.float32)
        keep = rows >= 0
        if self._mask is not None:
            keep &= self._mask.take(rows)
        if isinstance(weights, np.ndarray):
            keep &= weights > 0
        if not keep.all():
            rows = rows[keep]
            weights = weights[keep] if isinstance(weights, np.ndarray) else weights
        if self._groups is not None:
            rows = self._groups[rows]
        if not len(rows):
            return _NO_PLACES, np.empty(0, np.float32)
        # The places of a row are adjacent, unless it is a group or the places belong to several terms.
        firsts = np.flatnonzero(np.concatenate((_TRUE, rows[1:] != rows[:-1])))
        if isinstance(weights, np.ndarray):
            once = len(firsts) == len(rows)
            counts: Floats = weights if once else np.add.reduceat(weights, firsts, dtype=np.float32)
        else:
            counts = (np.append(firsts[1:], len(rows)) - firsts).astype(np.float32) * weights
        rows = rows[firsts]
        if (rows[1:] > rows[:-1]).all():
            return rows, counts
        totals = np.bincount(rows, counts, self.size).astype(np.float32)
        rows = np.flatnonzero(totals).astype(np.int32)
        return rows, totals[rows]


class _TermRun(NamedTuple):
    """Some units as terms, one after the other."""

    terms: Ints
    fields: npt.NDArray[np.uint8]
    lengths: Floats  # by unit and field


class _Segment(NamedTuple):
    """The places of all terms in one stretch of the array."""

    begin: int
    end: int
    terms: Ints  # each once, in order
    starts: Ints  # of each term in `places`, and the end
    places: Ints


_NO_PLACES: Ints = np.empty(0, np.int32)
_TRUE = np.array([True])


class _Tokens:
    """The array of all terms. It grows at its end; replaced text is marked as deleted and removed when half of it is."""

    SMALLEST = 4096  # terms; a smaller segment is cheap to rebuild
    RATIO = (
        4  # a segment that is not so many times as long as what comes after it is rebuilt together with that
    )

    def __init__(self, fields: int) -> None:
        # These are longer than `_size` by at least one, so that the term after the last one can be read.
        self.term = np.empty(1, np.int32)
        self.unit = np.empty(1, np.int32)  # -1 = deleted
        self.field = np.empty(1, np.uint8)
        self._lengths = np.empty((0, fields), np.float32)  # whole numbers; as floats they need no conversion
        self._begins = np.empty(0, np.int32)
        self.totals = np.zeros(fields)  # terms by field
        self.units = 0
        self._size = 0
        self._deleted = 0
        self._segments: list[_Segment] = []
        self._recent: dict[int, Ints] = {}  # places by term since the last change
        self._weighted: dict[bytes, Floats] = {}

    def packed(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return all terms as values and arrays for `unpack`."""
        segments = self._merged_segments()
        arrays: dict[str, npt.NDArray[Any]] = {
            "term": self.term[: self._size + 1],
            "unit": self.unit[: self._size + 1],
            "field": self.field[: self._size + 1],
            "lengths": self.lengths,
            "begins": self._begins[: self.units],
            "totals": self.totals,
        }
        for number, segment in enumerate(segments):
            for name in ("terms", "starts", "places"):
                arrays[f"{name}{number}"] = getattr(segment, name)
        return {"deleted": self._deleted, "segments": [segment[:2] for segment in segments]}, arrays

    def unpack(self, values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.term, self.unit, self.field = arrays["term"], arrays["unit"], arrays["field"]
        self._lengths, self._begins, self.totals = arrays["lengths"], arrays["begins"], arrays["totals"]
        self.units, self._size, self._deleted = len(self._begins), len(self.term) - 1, values["deleted"]
        self._segments = [
            _Segment(begin, end, *(arrays[f"{name}{number}"] for name in ("terms", "starts", "places")))
            for number, (begin, end) in enumerate(values["segments"])
        ]

    @property
    def lengths(self) -> Floats:
        return self._lengths[: self.units]

    def weighted_lengths(self, weights: Floats) -> Floats:
        """Return the length of each unit, its fields counted by their weights. Cached until the next write."""
        key = weights.tobytes()
        if key not in self._weighted:
            # Not `@`, for which BLAS waits for busy cores, as in `vectors`.
            self._weighted[key] = np.vecdot(self.lengths, weights)
        return self._weighted[key]

    def append(self, run: _TermRun) -> None:
        rows = np.arange(self.units, self.units + len(run.lengths), dtype=np.int32)
        self.units += len(rows)
        self._lengths = _grown(self._lengths, self.units)
        self._begins = _grown(self._begins, self.units)
        self._write(rows, run)

    def replace(self, row: int, run: _TermRun) -> None:
        begin, length = int(self._begins[row]), int(self._lengths[row].sum())
        self.unit[begin : begin + length] = -1
        self._deleted += length
        self._write(np.array([row], np.int32), run)
        if self._deleted > self._size // 2:
            self._compact()

    def _write(self, rows: Ints, run: _TermRun) -> None:
        lengths = run.lengths.sum(axis=1).astype(np.int32)
        begin, end = self._size, self._size + len(run.terms)
        self.term = _grown(self.term, end + 1)
        self.unit = _grown(self.unit, end + 1)
        self.field = _grown(self.field, end + 1)
        self.term[begin:end] = run.terms
        self.unit[begin:end] = np.repeat(rows, lengths)
        self.unit[end] = -1
        self.field[begin:end] = run.fields
        self.totals += run.lengths.sum(axis=0) - self._lengths[rows].sum(axis=0)
        self._lengths[rows] = run.lengths
        self._begins[rows] = begin + np.cumsum(lengths) - lengths
        self._size = end
        self._recent.clear()
        self._weighted.clear()

    def _compact(self) -> None:
        alive = np.flatnonzero(self.unit[: self._size] >= 0)
        self._begins[: self.units] = np.searchsorted(alive, self._begins[: self.units])
        alive = np.append(alive, self._size)
        self.term, self.unit, self.field = self.term[alive], self.unit[alive], self.field[alive]
        self._size, self._deleted, self._segments = len(alive) - 1, 0, []
        self._recent.clear()

    def field_weights(self, places: Ints, weights: Floats) -> "Floats | np.float32":
        """Return the weight of the field of each place; one number if all fields in use have the same."""
        used = set(weights[self.totals > 0].tolist())
        return np.float32(used.pop()) if len(used) == 1 else weights.take(self.field.take(places))

    def find(self, term: int) -> Ints:
        """Return the places of `term`, those of a unit adjacent, deleted ones included."""
        places = self._recent.get(term)
        if places is None:
            if len(self._recent) > 1000:
                self._recent.clear()
            places = self._recent[term] = self._look_up(term)
        return places

    def _look_up(self, term: int) -> Ints:
        runs = []
        for segment in self._merged_segments():
            at = segment.terms.searchsorted(np.int32(term))  # for a plain int the array would be converted
            if at < len(segment.terms) and segment.terms[at] == term:
                runs.append(segment.places[segment.starts[at] : segment.starts[at + 1]])
        return runs[0] if len(runs) == 1 else np.concatenate([_NO_PLACES, *runs])

    def find_pairs(self, lefts: Sequence[int], rights: Sequence[int]) -> Ints:
        """Return the places where one of `lefts` comes right before one of `rights` in the same field."""
        runs = [self._pair(left, right) for left in lefts for right in rights]
        return runs[0] if len(runs) == 1 else np.concatenate([_NO_PLACES, *runs])

    def _pair(self, left: int, right: int) -> Ints:
        first, second = self.find(left), self.find(right)
        if len(first) <= len(second):
            places = first[self.term.take(first + 1) == right]
        else:
            second = second[second > 0] - 1
            places = second[self.term.take(second) == left]
        nexts = places + 1
        together = self.unit.take(places) == self.unit.take(nexts)
        together &= self.field.take(places) == self.field.take(nexts)
        pairs: Ints = places[together]
        return pairs

    def _merged_segments(self) -> list[_Segment]:
        """Return segments that cover the whole array, each much shorter than the one before it."""
        done = self._segments[-1].end if self._segments else 0
        if done == self._size:
            return self._segments
        begin = done
        while self._segments:
            last = self._segments[-1]
            if last.end - last.begin > max(self.SMALLEST, self.RATIO * (self._size - begin)):
                break
            begin = self._segments.pop().begin
        self._segments.append(self._make_segment(begin, self._size))
        return self._segments

    def _make_segment(self, begin: int, end: int) -> _Segment:
        # Term and place in one number: sorting numbers is several times as fast as sorting places by term.
        keys = (self.term[begin:end].astype(np.int64) << 32) | np.arange(begin, end)
        keys.sort()
        places = keys.astype(np.int32)
        keys >>= 32
        firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        starts = np.append(firsts, end - begin).astype(np.int32)
        return _Segment(begin, end, keys[firsts].astype(np.int32), starts, places)


def _grown(array: npt.NDArray[Number], size: int) -> npt.NDArray[Number]:
    """Return `array` with room for `size` and some spare."""
    if len(array) >= size:
        return array
    room = np.zeros((max(size, len(array) * 5 // 4), *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room
