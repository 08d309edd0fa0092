"""All words of all units in memory: what a query has in common with each of them, by BM25.

A unit (a memory, a message) is a few fields of text. The terms of all units stand in one long row of numbers, in the order
they were written, and everything is read off that row: how often a unit has a term, in which field (so that a tag can weigh
less than a sentence, and what a person wrote count twice), and which term comes next. `Measure` says what to count.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from recollect.memory.search.vocabulary import Vocabulary, Word

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Number = TypeVar("Number", np.int32, np.uint8, np.float32)
Fields = Sequence[tuple[str, str]]  # name of a field, its text

K1, B = 0.9, 0.3  # docs/benchmarks.md


@dataclass(frozen=True, slots=True)
class Measure:
    """One BM25 over some fields: `weights` multiply how often a term occurs in each. Other fields do not count."""

    name: str
    weights: Mapping[str, float]
    share: float = 1.0
    k1: float = K1
    b: float = B
    pairs: bool = False  # counts two terms in a row, and not single ones


PAIRS = 0.5

# The boosts of docs/recall.md (content 2, tags 1.5, paths 1.2, kind 1), with a word of the content as 1.
MEMORY = (
    Measure("words", {"content": 1.0, "tags": 0.75, "paths": 0.6, "kind": 0.5}),
    Measure("phrases", {"content": 1.0}, share=PAIRS, pairs=True),
)

# "said" is what a person wrote, "reply" what an assistant did.
MESSAGE = (
    Measure("words", {"said": 1.0, "reply": 1.0}),
    Measure("said", {"said": 1.0}),
    Measure("phrases", {"said": 1.0, "reply": 1.0}, share=PAIRS, pairs=True),
)
SESSION = (Measure("session", {"said": 1.0, "reply": 1.0}, b=0.4),)


class Part(NamedTuple):
    measure: str
    word: str  # of the query
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """What a query has in common with each unit, and why."""

    scores: Floats
    full: float  # what a unit of average length would score that has every word once
    _found: tuple[tuple[str, str, Ints, Floats], ...]

    @property
    def coverage(self) -> Floats:
        """How much of the query each unit has, rare words counting for more. Words that no unit has count as missing."""
        return self.scores / np.float32(self.full or 1.0)

    def explain(self, rows: Sequence[int]) -> dict[int, list[Part]]:
        """By row: what its score is the sum of, greatest first."""
        asked = np.array(rows, np.int32)
        parts: dict[int, list[Part]] = {row: [] for row in rows}
        for measure, word, found, scores in self._found:  # those found ascend, and there is one at least
            at = np.minimum(found.searchsorted(asked), len(found) - 1)
            has = np.flatnonzero(found.take(at) == asked)
            for i, score in zip(has.tolist(), scores.take(at[has]).tolist(), strict=True):
                parts[rows[i]].append(Part(measure, word, score))
        return {row: sorted(each, key=lambda part: -part.score) for row, each in parts.items()}


class Lexicon:
    """Units by row, from 0, in the order they were added. Who uses it from several threads locks it."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = tuple(measures)
        self._fields = {
            name: i for i, name in enumerate(dict.fromkeys(n for m in measures for n in m.weights))
        }
        self._vocabulary = Vocabulary()
        self._tokens = _Tokens(len(self._fields))

    def __len__(self) -> int:
        return self._tokens.units

    def add(self, units: Iterable[Fields]) -> None:
        """Append them."""
        self._tokens.append(self._read(units))

    def replace(self, row: int, unit: Fields) -> None:
        """`row` says `unit` from now on; nothing, if that has no fields."""
        self._tokens.replace(row, self._read([unit]))

    def _read(self, units: Iterable[Fields]) -> "_Written":
        terms = array("i")
        counts: list[list[int]] = []
        fields: list[tuple[int, int]] = []
        for unit in units:
            count = [0] * len(self._fields)
            for name, text in unit:
                found = self._vocabulary.read(text)
                field = self._fields[name]
                terms.extend(found)
                fields.append((field, len(found)))
                count[field] += len(found)
            counts.append(count)
        field_of = np.array(fields, np.int64).reshape(-1, 2)
        return _Written(
            np.frombuffer(terms, np.int32) if terms else _NOWHERE,
            np.repeat(field_of[:, 0], field_of[:, 1]).astype(np.uint8),
            np.array(counts, np.float32).reshape(-1, len(self._fields)),
        )

    @property
    def lengths(self) -> Floats:
        """How many terms each unit has."""
        lengths: Floats = self._tokens.lengths.sum(axis=1)
        return lengths

    def words(self, query: str, mask: Mask | None = None) -> list[Word]:
        """The words of `query` as they are looked for. One that no unit has stands for those like it."""

        def is_known(term: int) -> bool:
            spots = self._tokens.find(term)
            # The first few will do for nearly all: a common word has thousands.
            return any(is_seen(spots[begin : begin + 1000]) for begin in range(0, len(spots), 1000))

        def is_seen(spots: Ints) -> bool:
            rows = self._tokens.unit.take(spots)
            seen = rows >= 0 if mask is None else (rows >= 0) & mask.take(rows)
            return bool(seen.any())

        return self._vocabulary.ask(query, is_known)

    def known(self, text: str) -> list[int]:
        """The terms of `text` that some unit has; none that are only like them."""
        return [term for term in self._vocabulary.known(text) if len(self._tokens.find(term))]

    def match(
        self,
        words: Sequence[Word],
        mask: Mask | None = None,
        groups: Ints | None = None,
        measures: Sequence[Measure] | None = None,
    ) -> Match:
        """Scores of all units, 0 where they share nothing. A unit outside `mask` neither scores nor counts.

        `groups` names a group for each unit, such as its session: then groups are scored, each as one long unit.
        """
        scope = _Scope(len(self), mask, groups)
        tokens = self._tokens
        scores = np.zeros(scope.size, np.float32)
        found: list[tuple[str, str, Ints, Floats]] = []
        full = 0.0
        for measure in self._distinct(measures or self._measures):
            weights = np.array([measure.weights.get(name, 0.0) for name in self._fields], np.float32)
            lengths = scope.add_up(tokens.weighted_lengths(weights))
            average = float(lengths.sum()) / max(int(np.count_nonzero(lengths)), 1) or 1.0
            for word, weight, spots, share in self._spots(words, measure):
                rows, counts = scope.count(tokens.unit.take(spots), tokens.worth(spots, weights) * share)
                rarity = math.log1p((scope.units - len(rows) + 0.5) / (len(rows) + 0.5))
                rarity *= measure.share * weight
                full += 0.0 if measure.pairs else rarity
                if len(rows):
                    norm = measure.k1 * (1 - measure.b + measure.b / average * lengths.take(rows))
                    part = ((rarity * (measure.k1 + 1)) * counts / (counts + norm)).astype(np.float32)
                    scores[rows] += part
                    found.append((measure.name, word, rows, part))
        return Match(scores, full, tuple(found))

    def _spots(
        self, words: Sequence[Word], measure: Measure
    ) -> Iterator[tuple[str, float, Ints, "Floats | np.float32"]]:
        """Where each word (or two of them) stands, and how far it counts, by itself and there."""
        if measure.pairs:
            for left, right in pairwise(words):
                if left.weight == 1.0 or right.weight == 1.0:  # the parts of a name are no phrase
                    lefts, rights = ([term for term, _ in word.terms] for word in (left, right))
                    spots = self._tokens.find_pairs(lefts, rights)
                    yield f"{left.text} {right.text}", 1.0, spots, np.float32(1)
            return
        for word in words:
            terms = (*word.terms, *word.also)
            found = [self._tokens.find(term) for term, _ in terms]
            if len(found) == 1:
                yield word.text, word.weight, found[0], np.float32(terms[0][1])
            else:
                shares = np.repeat([share for _, share in terms], [len(each) for each in found])
                yield (
                    word.text,
                    word.weight,
                    np.concatenate([_NOWHERE, *found]),
                    shares.astype(np.float32),
                )

    def _distinct(self, measures: Sequence[Measure]) -> list[Measure]:
        """Where nobody but people wrote, "words" and "said" come to the same: counted once, with the share of both."""
        used = self._tokens.totals > 0
        merged: dict[object, Measure] = {}
        for measure in measures:
            weights = tuple((n, w) for n, w in measure.weights.items() if used[self._fields[n]])
            key = (weights, measure.k1, measure.b, measure.pairs)
            if key in merged:
                measure = replace(merged[key], share=merged[key].share + measure.share)
            merged[key] = measure
        return list(merged.values())


class _Scope:
    """The units that are asked, or the groups they form."""

    def __init__(self, rows: int, mask: Mask | None, groups: Ints | None) -> None:
        self._groups = groups
        if mask is not None and mask.all():
            mask = None  # as it is where there is one project
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

    def count(self, rows: Ints, worth: "Floats | np.float32") -> tuple[Ints, Floats]:
        """Each row once, with what its places are worth together."""
        if not len(rows) or not np.any(worth):
            return _NOWHERE, np.empty(0, np.float32)
        keep = rows >= 0
        if self._mask is not None:
            keep &= self._mask.take(rows)
        if isinstance(worth, np.ndarray):
            keep &= worth > 0
        if not keep.all():
            rows = rows[keep]
            worth = worth[keep] if isinstance(worth, np.ndarray) else worth
        if self._groups is not None:
            rows = self._groups[rows]
        if not len(rows):
            return _NOWHERE, np.empty(0, np.float32)
        # The places of a row stand side by side, unless it is a group or the places are those of several terms.
        firsts = np.flatnonzero(np.concatenate((_YES, rows[1:] != rows[:-1])))
        if isinstance(worth, np.ndarray):
            once = len(firsts) == len(rows)
            counts: Floats = worth if once else np.add.reduceat(worth, firsts, dtype=np.float32)
        else:
            counts = (np.append(firsts[1:], len(rows)) - firsts).astype(np.float32) * worth
        rows = rows[firsts]
        if (rows[1:] > rows[:-1]).all():
            return rows, counts
        totals = np.bincount(rows, counts, self.size).astype(np.float32)
        rows = np.flatnonzero(totals).astype(np.int32)
        return rows, totals[rows]


class _Written(NamedTuple):
    """Some units as terms, all in a row."""

    terms: Ints
    fields: npt.NDArray[np.uint8]
    lengths: Floats  # by unit and field


class _Segment(NamedTuple):
    """Where the terms between two places of the row stand."""

    begin: int
    end: int
    terms: Ints  # each once, in order
    starts: Ints  # of each term in `spots`, and the end
    spots: Ints


_NOWHERE: Ints = np.empty(0, np.int32)
_YES = np.array([True])


class _Tokens:
    """The long row. It grows at its end; what is replaced is struck out, and goes when half of the row is."""

    SMALLEST = 4096  # tokens; a segment below this is made anew at little cost
    RATIO = 4  # one not this many times as long as what comes after is made anew with it

    def __init__(self, fields: int) -> None:
        # These are longer than `_size` by one at least, so that what comes after the last can be looked at.
        self.term = np.empty(1, np.int32)
        self.unit = np.empty(1, np.int32)  # -1 = struck out
        self.field = np.empty(1, np.uint8)
        self._lengths = np.empty((0, fields), np.float32)  # whole numbers; as floats they need no conversion
        self._begins = np.empty(0, np.int32)
        self.totals = np.zeros(fields)  # terms by field
        self.units = 0
        self._size = 0
        self._struck = 0
        self._segments: list[_Segment] = []
        self._recent: dict[int, Ints] = {}  # what was found since the last change
        self._weighted: dict[bytes, Floats] = {}

    @property
    def lengths(self) -> Floats:
        return self._lengths[: self.units]

    def weighted_lengths(self, weights: Floats) -> Floats:
        """How long each unit is, its fields counted by their weights. Kept until something is written."""
        key = weights.tobytes()
        if key not in self._weighted:
            self._weighted[key] = self.lengths @ weights
        return self._weighted[key]

    def append(self, written: _Written) -> None:
        rows = np.arange(self.units, self.units + len(written.lengths), dtype=np.int32)
        self.units += len(rows)
        self._lengths = _grown(self._lengths, self.units)
        self._begins = _grown(self._begins, self.units)
        self._write(rows, written)

    def replace(self, row: int, written: _Written) -> None:
        begin, length = int(self._begins[row]), int(self._lengths[row].sum())
        self.unit[begin : begin + length] = -1
        self._struck += length
        self._write(np.array([row], np.int32), written)
        if self._struck > self._size // 2:
            self._compact()

    def _write(self, rows: Ints, written: _Written) -> None:
        lengths = written.lengths.sum(axis=1).astype(np.int32)
        begin, end = self._size, self._size + len(written.terms)
        self.term = _grown(self.term, end + 1)
        self.unit = _grown(self.unit, end + 1)
        self.field = _grown(self.field, end + 1)
        self.term[begin:end] = written.terms
        self.unit[begin:end] = np.repeat(rows, lengths)
        self.unit[end] = -1
        self.field[begin:end] = written.fields
        self.totals += written.lengths.sum(axis=0) - self._lengths[rows].sum(axis=0)
        self._lengths[rows] = written.lengths
        self._begins[rows] = begin + np.cumsum(lengths) - lengths
        self._size = end
        self._recent.clear()
        self._weighted.clear()

    def _compact(self) -> None:
        kept = np.flatnonzero(self.unit[: self._size] >= 0)
        self._begins[: self.units] = np.searchsorted(kept, self._begins[: self.units])
        kept = np.append(kept, self._size)
        self.term, self.unit, self.field = self.term[kept], self.unit[kept], self.field[kept]
        self._size, self._struck, self._segments = len(kept) - 1, 0, []
        self._recent.clear()

    def worth(self, spots: Ints, weights: Floats) -> "Floats | np.float32":
        """The weight of the field each stands in; one number, if it is the same for all that is written."""
        used = set(weights[self.totals > 0].tolist())
        return np.float32(used.pop()) if len(used) == 1 else weights.take(self.field.take(spots))

    def find(self, term: int) -> Ints:
        """Where `term` stands, those of a unit side by side. Struck out ones too."""
        spots = self._recent.get(term)
        if spots is None:
            if len(self._recent) > 1000:
                self._recent.clear()
            spots = self._recent[term] = self._look_up(term)
        return spots

    def _look_up(self, term: int) -> Ints:
        found = []
        for segment in self._settled():
            at = segment.terms.searchsorted(np.int32(term))  # for a plain int the array would be converted
            if at < len(segment.terms) and segment.terms[at] == term:
                found.append(segment.spots[segment.starts[at] : segment.starts[at + 1]])
        return found[0] if len(found) == 1 else np.concatenate([_NOWHERE, *found])

    def find_pairs(self, lefts: Sequence[int], rights: Sequence[int]) -> Ints:
        """Where one of `lefts` stands right before one of `rights`, in the same field."""
        found = [self._pair(left, right) for left in lefts for right in rights]
        return found[0] if len(found) == 1 else np.concatenate([_NOWHERE, *found])

    def _pair(self, left: int, right: int) -> Ints:
        first, second = self.find(left), self.find(right)
        if len(first) <= len(second):
            spots = first[self.term.take(first + 1) == right]
        else:
            second = second[second > 0] - 1
            spots = second[self.term.take(second) == left]
        nexts = spots + 1
        together = self.unit.take(spots) == self.unit.take(nexts)
        together &= self.field.take(spots) == self.field.take(nexts)
        found: Ints = spots[together]
        return found

    def _settled(self) -> list[_Segment]:
        """Segments that reach to the end of the row, each much shorter than the one before it."""
        done = self._segments[-1].end if self._segments else 0
        if done == self._size:
            return self._segments
        begin = done
        while self._segments:
            last = self._segments[-1]
            if last.end - last.begin > max(self.SMALLEST, self.RATIO * (self._size - begin)):
                break
            begin = self._segments.pop().begin
        self._segments.append(self._sorted(begin, self._size))
        return self._segments

    def _sorted(self, begin: int, end: int) -> _Segment:
        # Term and place in one number: sorting numbers is several times as fast as sorting places by term.
        keys = (self.term[begin:end].astype(np.int64) << 32) | np.arange(begin, end)
        keys.sort()
        spots = keys.astype(np.int32)
        keys >>= 32
        firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        starts = np.append(firsts, end - begin).astype(np.int32)
        return _Segment(begin, end, keys[firsts].astype(np.int32), starts, spots)


def _grown(array: npt.NDArray[Number], size: int) -> npt.NDArray[Number]:
    """`array` with room for `size`, and some to spare."""
    if len(array) >= size:
        return array
    room = np.zeros((max(size, len(array) * 5 // 4), *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room
