"""Turn scores into the probability that a memory is useful to the agent that is told it. Pure functions.

A score says which of two hits fits better. Whether any of them is worth an agent's attention depends on how far it stands
out from the other hits of the same search: a question about which nothing is known has hits too. The model is a
logistic regression of a few features; its coefficients and the floors are in `recollect.memory.ranking`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import recollect.model as m
from recollect.kinds import kind_of
from recollect.memory import ranking
from recollect.text.words import distinctive_words


class Features(NamedTuple):
    """What decides whether a hit is useful."""

    words: float  # the logarithm of 1 + its BM25 score: how many of the query's words it has, and how rare they are
    above: float  # its score, in standard deviations above the weaker hits of the search
    share_of_best: float  # its score, divided by that of the best hit
    supported: float  # the score of another hit that says nearly the same, times the share of words they have in common
    transient: bool  # whether it describes a moment


def useful_probabilities(hits: Sequence[m.Hit]) -> dict[str, float]:
    """Return by id how likely each hit is to be useful. `hits` are all that one search found."""
    by_meaning = any("meaning" in _parts(hit) for hit in hits)
    model = ranking.USEFUL if by_meaning else ranking.USEFUL_BY_WORDS
    probabilities = {}
    for hit, each in zip(hits, features_of(hits, model), strict=True):
        probability = round(_probability(model, each), 4) if _matches(hit) else 0.0
        is_good = hit.score >= ranking.SMALL_STORE_SCORE and each.share_of_best >= ranking.SMALL_STORE_SHARE
        if (
            len(hits) < ranking.FEW_HITS
            and probability
            and not each.transient
            and (is_good or _is_covered(hit))
        ):
            probability = max(probability, ranking.USEFUL_FLOOR)
        probabilities[hit.memory.id] = probability
    return probabilities


def useful_hits(hits: Sequence[m.Hit], probabilities: Mapping[str, float]) -> list[m.Hit]:
    """Return the hits to show, in the order given; none if even the likeliest is not likely enough."""
    best = max((probabilities[hit.memory.id] for hit in hits), default=0.0)
    if best < ranking.USEFUL_FLOOR:
        return []
    return [hit for hit in hits if probabilities[hit.memory.id] >= ranking.FURTHER_FLOOR]


def features_of(hits: Sequence[m.Hit], model: ranking.UsefulnessModel) -> list[Features]:
    """Return the features of each hit of one search."""
    mean, deviation = _background([hit.score for hit in hits], model)
    best = max((hit.score for hit in hits), default=0.0)
    words = [frozenset(distinctive_words(hit.memory.content)) for hit in hits]
    return [
        Features(
            words=math.log1p(_word_score(hit)),
            above=(hit.score - mean) / deviation,
            share_of_best=hit.score / best if best > 0 else 0.0,
            supported=max(
                (other.score * _common(words[place], words[i]) for i, other in enumerate(hits) if i != place),
                default=0.0,
            ),
            transient=kind_of(hit.memory.kind).weight <= ranking.TRANSIENT_KIND_WEIGHT,
        )
        for place, hit in enumerate(hits)
    ]


def _probability(model: ranking.UsefulnessModel, each: Features) -> float:
    total = (
        model.bias
        + model.words * each.words
        + model.above * each.above
        + model.share_of_best * each.share_of_best
        + model.supported * each.supported
        + model.transient * each.transient
    )
    return 1.0 / (1.0 + math.exp(-total))


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
    """Return whether words or meaning matched: a neighbour in the graph alone is shown for its own sake only."""
    channels = hit.why.get("channels", {})
    return not channels or not channels.keys().isdisjoint(("words", "meaning"))


def _parts(hit: m.Hit) -> Mapping[str, float]:
    parts: Mapping[str, float] = hit.why.get("parts", {})
    return parts
