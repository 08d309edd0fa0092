"""Turn scores into the probability that a memory is useful to the agent that is told it. Pure functions.

A score says which of two hits fits better. Whether any of them is worth an agent's attention depends on how far it stands
out from the other hits of the same search: a question about which nothing is known has hits too. Two questions are asked, each
answered by a logistic regression of a few features: whether anything known helps with the request at all, and which of the hits
do. Coefficients and floors are in `recollect.memory.ranking`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import recollect.model as m
from recollect.kinds import Kind, kind_of
from recollect.memory import ranking
from recollect.memory.search.requests import is_general, is_mechanical
from recollect.text.words import distinctive_words

_ADVISING_FAMILIES = frozenset(["user", "warning", "how-to", "review"])


@dataclass(frozen=True, slots=True)
class Usefulness:
    """What one search is worth to the agent that sent the request."""

    known: float = 0.0  # the probability that anything known helps with the request
    probabilities: Mapping[str, float] = field(default_factory=dict)  # of being useful, by id

    def select(self, hits: Sequence[m.Hit]) -> list[m.Hit]:
        """Return the hits to show, in the order given; none if it is not likely enough that anything known helps."""
        if self.known < ranking.KNOWN_FLOOR:
            return []
        return [hit for hit in hits if self.probabilities[hit.memory.id] >= ranking.USEFUL_FLOOR]


class Features(NamedTuple):
    """What decides whether a hit is useful, beside its kind and its source."""

    words: float  # the logarithm of 1 + its BM25 score: how many of the query's words it has, and how rare they are
    above: float  # its score, in standard deviations above the weaker hits of the search
    share_of_best: float  # its score, divided by that of the best hit
    supported: float  # the score of another hit that says nearly the same, times the share of words they have in common


def judge_hits(request: str, hits: Sequence[m.Hit]) -> Usefulness:
    """Return how likely each hit is to be useful for `request`. `hits` are all that one search found."""
    models = ranking.USEFUL if any("meaning" in _parts(hit) for hit in hits) else ranking.USEFUL_BY_WORDS
    plain_scores = [hit.score - _parts(hit).get("activity", 0.0) for hit in hits]
    shift = ranking.NEEDS_NO_MEMORY if is_general(request) or is_mechanical(request) else 0.0
    of_request = _probabilities(hits, plain_scores, models.known, shift)
    of_hits = _probabilities(hits, [hit.score for hit in hits], models.useful)
    known = max(of_request, default=0.0)
    if len(hits) < ranking.FEW_HITS:
        for place in _good_in_small_store(hits):
            of_hits[place] = max(of_hits[place], ranking.USEFUL_FLOOR)
            known = max(known, ranking.KNOWN_FLOOR)
    ids = (hit.memory.id for hit in hits)
    return Usefulness(known, dict(zip(ids, of_hits, strict=True)))


def features_of(
    hits: Sequence[m.Hit], scores: Sequence[float], model: ranking.UsefulnessModel
) -> list[Features]:
    """Return the features of each hit of one search, with these scores."""
    mean, deviation = _background(scores, model)
    best = max(scores, default=0.0)
    words = [frozenset(distinctive_words(hit.memory.content)) for hit in hits]
    return [
        Features(
            words=math.log1p(_word_score(hit)),
            above=(score - mean) / deviation,
            share_of_best=score / best if best > 0 else 0.0,
            supported=max(
                (other * _common(words[place], words[i]) for i, other in enumerate(scores) if i != place),
                default=0.0,
            ),
        )
        for place, (hit, score) in enumerate(zip(hits, scores, strict=True))
    ]


def _probabilities(
    hits: Sequence[m.Hit], scores: Sequence[float], model: ranking.UsefulnessModel, shift: float = 0.0
) -> list[float]:
    return [
        round(_probability(model, each, hit.memory, shift), 4) if _matches(hit) else 0.0
        for hit, each in zip(hits, features_of(hits, scores, model), strict=True)
    ]


def _probability(
    model: ranking.UsefulnessModel, each: Features, memory: m.Memory, shift: float = 0.0
) -> float:
    kind = kind_of(memory.kind)
    total = (
        model.bias
        + shift
        + model.words * each.words
        + model.above * each.above
        + model.share_of_best * each.share_of_best
        + model.supported * each.supported
        + model.advises * _advises(kind)
        + model.kind_weight * math.log(kind.weight)
        + model.transient * _is_transient(kind)
        + model.seeded * (memory.source is m.Source.SEEDED)
        + model.extracted * (memory.source is m.Source.EXTRACTED)
    )
    return 1.0 / (1.0 + math.exp(-total))


def _good_in_small_store(hits: Sequence[m.Hit]) -> list[int]:
    """Return the places of the hits to show where a search finds few: good ones, and those that the query covers."""
    best = max((hit.score for hit in hits), default=0.0)
    least = max(ranking.SMALL_STORE_SCORE, ranking.SMALL_STORE_SHARE * best)
    return [
        place
        for place, hit in enumerate(hits)
        if _matches(hit)
        and not _is_transient(kind_of(hit.memory.kind))
        and (hit.score >= least or _is_covered(hit))
    ]


def _advises(kind: Kind) -> bool:
    """Return whether memories of this kind say what to do or to avoid."""
    return kind.standing or kind.family in _ADVISING_FAMILIES


def _is_transient(kind: Kind) -> bool:
    return kind.weight <= ranking.TRANSIENT_KIND_WEIGHT


def _background(scores: Sequence[float], model: ranking.UsefulnessModel) -> tuple[float, float]:
    """Return mean and deviation of the scores after the best three; few scores count less than what is usual."""
    weaker = sorted(scores, reverse=True)[3:]
    count = len(weaker) + ranking.BACKGROUND_WEIGHT
    mean = (sum(weaker) + ranking.BACKGROUND_WEIGHT * model.usual_score) / count
    spread = sum((score - mean) ** 2 for score in weaker) + ranking.BACKGROUND_WEIGHT * model.usual_spread**2
    return mean, math.sqrt(spread / count) + ranking.LEAST_SPREAD


def _word_score(hit: m.Hit) -> float:
    return max(float(hit.why.get("channels", {}).get("words", {}).get("score", 0.0)), 0.0)


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
        or not channels.keys().isdisjoint(("words", "meaning"))
    )


def _parts(hit: m.Hit) -> Mapping[str, float]:
    parts: Mapping[str, float] = hit.why.get("parts", {})
    return parts
