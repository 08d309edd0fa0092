"""Turn scores into the probability that a memory is useful to the agent that is told it. Pure functions.

A score says which of two hits fits better. Whether any of them is worth an agent's attention depends on how far it stands
out from the other hits of the same search: a question about which nothing is known has hits too. Two questions are asked, each
answered by a logistic regression of a few features: whether anything known helps with the request at all, and which of the hits
do. A request is about an area of the project more often than it says so: what shares tags, files or folders with good hits is
likelier to be useful. Coefficients and floors are in `recollect.memory.ranking`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

import recollect.model as m
from recollect.frozen import frozen
from recollect.kinds import Kind, kind_of
from recollect.memory import ranking
from recollect.memory.search.requests import is_general, is_mechanical
from recollect.text.words import distinctive_words

_ADVISING_FAMILIES = frozenset(["user", "warning", "how-to", "review"])


@frozen
class Usefulness:
    """What one search is worth to the agent that sent the request."""

    known: float = 0.0  # the probability that anything known helps with the request
    probabilities: Mapping[str, float] = field(default_factory=dict)  # of being useful, by id

    def select(self, hits: Sequence[m.Hit]) -> list[m.Hit]:
        """Return the hits to show, in the order given; none if it is not likely enough that anything known helps."""
        if self.known < ranking.KNOWN_FLOOR:
            return []
        return [hit for hit in hits if self.probabilities[hit.memory.id] >= ranking.USEFUL_FLOOR]

    def in_files(self, hits: Sequence[m.Hit]) -> list[m.Hit]:
        """Return the hits to show to an agent that opens one of their files, which says much about its task."""
        if self.known < ranking.OPENED_KNOWN_FLOOR:
            return []
        return [
            hit
            for hit in hits
            if hit.memory.file_paths and self.probabilities[hit.memory.id] >= ranking.OPENED_FLOOR
        ]


class Features(NamedTuple):
    """What decides whether a hit is useful, beside its kind and its source."""

    words: float  # the logarithm of 1 + its BM25 score: how many of the query's words it has, and how rare they are
    above: float  # its score, in standard deviations above the weaker hits of the search
    share_of_best: float  # its score, divided by that of the best hit
    supported: float  # the score of another hit that says nearly the same, times the share of words they have in common
    area: float  # how well other hits with its tags, files and folders fit
    # What says no situations in which it is needed is taken for one that would fit them as it fits itself.
    when_meaning: float  # the cosine of the situations in which it is needed
    when_words: float  # as `words`, of these situations


def judge_hits(request: str, hits: Sequence[m.Hit]) -> Usefulness:
    """Return how likely each hit is to be useful for `request`. `hits` are all that one search found."""
    if not hits:
        return Usefulness()
    models = ranking.USEFUL if any("meaning" in _parts(hit) for hit in hits) else ranking.USEFUL_BY_WORDS
    of_hits = [
        round(_probability(models.useful, hit_values(each, hit.memory)), 4) if _matches(hit) else 0.0
        for hit, each in zip(hits, features_of(hits, models.useful), strict=True)
    ]
    known = _known(models.known, request, hits, max(of_hits))
    if len(hits) < ranking.FEW_HITS:
        for place in _good_in_small_store(hits):
            of_hits[place] = max(of_hits[place], ranking.USEFUL_FLOOR)
            known = max(known, ranking.KNOWN_FLOOR)
        if not (is_general(request) or is_mechanical(request)):
            # Few memories are about a file of a small store: that it is opened is enough.
            known = max(known, ranking.OPENED_KNOWN_FLOOR)
            of_hits = [
                max(likely, ranking.OPENED_FLOOR) if _may_wait(hit) else likely
                for hit, likely in zip(hits, of_hits, strict=True)
            ]
    ids = (hit.memory.id for hit in hits)
    return Usefulness(known, dict(zip(ids, of_hits, strict=True)))


def features_of(hits: Sequence[m.Hit], model: ranking.UsefulnessModel) -> list[Features]:
    """Return the features of each hit of one search."""
    scores = [hit.score for hit in hits]
    mean, deviation = _background(scores, model)
    best = max(scores, default=0.0)
    above = [(score - mean) / deviation for score in scores]
    areas = _area_scores([_areas_of(hit.memory) for hit in hits], above)
    words = [frozenset(distinctive_words(hit.memory.content)) for hit in hits]
    return [
        Features(
            words=math.log1p(_word_score(hit)),
            above=above[place],
            share_of_best=hit.score / best if best > 0 else 0.0,
            supported=max(
                (other * _common(words[place], words[i]) for i, other in enumerate(scores) if i != place),
                default=0.0,
            ),
            area=areas[place],
            when_meaning=max(_when(hit, "cosine") if hit.memory.when_needed else _cosine(hit), 0.0),
            when_words=math.log1p(_when(hit, "score") if hit.memory.when_needed else _word_score(hit)),
        )
        for place, hit in enumerate(hits)
    ]


def _known(model: ranking.RequestModel, request: str, hits: Sequence[m.Hit], likeliest: float) -> float:
    """Return the probability that anything known helps with `request`; `likeliest` is that of the best hit."""
    odds = min(max(likeliest, 1e-6), 1 - 1e-6)
    values = {**request_values(request, hits), "likeliest": math.log(odds / (1 - odds))}
    return round(_probability(model, values), 4)


def _areas_of(memory: m.Memory) -> frozenset[tuple[str, str]]:
    """Return the tags, files and folders that a memory belongs to."""
    folders = (
        ("path", "/".join(parts[:end]))
        for parts in (path.strip("/").split("/") for path in memory.file_paths)
        for end in range(1, len(parts) + 1)
    )
    return frozenset([*(("tag", tag) for tag in memory.tags), *folders])


def _area_scores(areas: Sequence[frozenset[tuple[str, str]]], above: Sequence[float]) -> list[float]:
    """Return for each hit how well the best other hits of its areas fit; an area that few hits have counts for more."""
    members: dict[tuple[str, str], list[int]] = {}
    for place, names in enumerate(areas):
        for name in names:
            members.setdefault(name, []).append(place)
    totals = [0.0] * len(areas)
    for places in members.values():
        if 2 <= len(places) <= ranking.WIDEST_AREA * len(areas):
            rarity = math.log(len(areas) / len(places)) / math.log(len(areas))
            ranked = sorted(places, key=lambda place: -above[place])[: ranking.AREA_BEST + 1]
            for place in places:
                others = [other for other in ranked if other != place][: ranking.AREA_BEST]
                totals[place] += rarity * sum(max(above[i], 0.0) for i in others) / ranking.AREA_BEST
    return [math.log1p(total) for total in totals]


def hit_values(features: Features, memory: m.Memory) -> dict[str, float]:
    """Return by name what the coefficients of `ranking.UsefulnessModel` are multiplied by."""
    kind = kind_of(memory.kind)
    return {
        **features._asdict(),
        "advises": float(_advises(kind)),
        "kind_weight": math.log(kind.weight),
        "transient": float(kind.is_transient),
        "seeded": float(memory.source is m.Source.SEEDED),
        "extracted": float(memory.source is m.Source.EXTRACTED),
    }


def request_values(request: str, hits: Sequence[m.Hit]) -> dict[str, float]:
    """Return the same for `ranking.RequestModel`, but for the log-odds of the likeliest hit. There is at least one hit."""
    return {
        "cosine": max(max(_cosine(hit), _when(hit, "cosine")) for hit in hits),
        "words": math.log1p(max(map(_word_score, hits))),
        "when_words": math.log1p(max(_when(hit, "score") for hit in hits)),
        "needs_no_memory": float(is_general(request) or is_mechanical(request)),
    }


def _probability(model: ranking.UsefulnessModel | ranking.RequestModel, values: Mapping[str, float]) -> float:
    total = model.bias + sum(getattr(model, name) * value for name, value in values.items())
    return 1.0 / (1.0 + math.exp(-total))


def _good_in_small_store(hits: Sequence[m.Hit]) -> list[int]:
    """Return the places of the hits to show where a search finds few: good ones, and those that the query covers."""
    best = max((hit.score for hit in hits), default=0.0)
    least = max(ranking.SMALL_STORE_SCORE, ranking.SMALL_STORE_SHARE * best)
    return [
        place
        for place, hit in enumerate(hits)
        if _matches(hit)
        and not kind_of(hit.memory.kind).is_transient
        and (hit.score >= least or _is_covered(hit))
    ]


def _may_wait(hit: m.Hit) -> bool:
    return _matches(hit) and not kind_of(hit.memory.kind).is_transient


def _advises(kind: Kind) -> bool:
    """Return whether memories of this kind say what to do or to avoid."""
    return kind.standing or kind.family in _ADVISING_FAMILIES


def _background(scores: Sequence[float], model: ranking.UsefulnessModel) -> tuple[float, float]:
    """Return mean and deviation of the weaker scores; few scores count less than what is usual."""
    weaker = sorted(scores, reverse=True)[ranking.WEAKER_HITS]
    count = len(weaker) + ranking.BACKGROUND_WEIGHT
    mean = (sum(weaker) + ranking.BACKGROUND_WEIGHT * model.usual_score) / count
    spread = sum((score - mean) ** 2 for score in weaker) + ranking.BACKGROUND_WEIGHT * model.usual_spread**2
    return mean, math.sqrt(spread / count) + ranking.LEAST_SPREAD


def _word_score(hit: m.Hit) -> float:
    return max(float(hit.why.get("channels", {}).get("words", {}).get("score", 0.0)), 0.0)


def _when(hit: m.Hit, name: str) -> float:
    return float(hit.why.get("channels", {}).get("when", {}).get(name, 0.0))


def _cosine(hit: m.Hit) -> float:
    return float(hit.why.get("channels", {}).get("meaning", {}).get("cosine", 0.0))


def _is_covered(hit: m.Hit) -> bool:
    """Return whether the query has half of the memory's distinctive words. A small store cannot tell which words are rare."""
    terms = hit.why.get("channels", {}).get("words", {}).get("terms", "").split(", ")
    matched = sum(bool(term) and " " not in term for term in terms)
    words = len(set(distinctive_words(hit.memory.content)))
    return matched >= ranking.FEWEST_COVERED and matched >= ranking.COVERED_SHARE * words


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of distinctive words that two texts have in common."""
    return len(one & other) / max(3, min(len(one), len(other)))


def _matches(hit: m.Hit) -> bool:
    """Return whether words, meaning or activity matched: a neighbour in the graph alone is shown for its own sake only."""
    channels = hit.why.get("channels", {})
    return (
        not channels
        or bool(_parts(hit).get("activity"))
        or not channels.keys().isdisjoint(("words", "meaning", "when"))
    )


def _parts(hit: m.Hit) -> Mapping[str, float]:
    parts: Mapping[str, float] = hit.why.get("parts", {})
    return parts
