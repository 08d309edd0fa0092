"""Words, meaning and structure on one scale, added up: the parts explain the total.

The relevance of a unit is how much of the query it has (coverage) and how near it is in meaning (cosine). Both are absolute:
if a query's telling words occur nowhere, the little that its other words match counts for little. A memory is ranked by that.
A message also gains from those around it in its session, for which relevance becomes a z-score. The weights are in
`recollect.memory.ranking`.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from recollect.frozen import frozen
from recollect.memory.index.messages import Doubles, MessageFeatures
from recollect.memory.index.vectors import Mask
from recollect.memory.ranking import MEMORY_WEIGHTS, MESSAGE_WEIGHTS, MemoryWeights, MessageWeights

Values = npt.NDArray[np.floating]


@frozen
class ScoreParts:
    """Named parts of every unit's score."""

    parts: Mapping[str, Doubles]

    @property
    def total(self) -> Doubles:
        """The sum of the parts, by unit."""
        total: Doubles = sum(self.parts.values(), np.zeros(1))
        return total

    def explain(self, row: int) -> dict[str, float]:
        """Return one unit's parts; added in this order they equal its total exactly."""
        return {name: float(part[row]) for name, part in self.parts.items()}


def combine_memory_scores(
    coverage: Values,
    cosine: Values | None,
    mask: Mask | None = None,
    weights: MemoryWeights = MEMORY_WEIGHTS,
    meant: Values | None = None,
    activity: Values | None = None,
    situations: Values | None = None,
    situation_cosine: Values | None = None,
) -> ScoreParts:
    """Add up coverage and cosine of every memory.

    `cosine` is NaN for a memory without a vector, and None if there are no vectors at all. `meant` is the coverage of what the
    query's everyday words mean (`query_expansion.expand_query`), None if it has none. `activity` is the BM25 score of words about
    the kind of work that it asks for (`activities.activity_words`), None if it asks for none. Without vectors it only raises what
    the words found: alone it would find every memory about that kind of work. `situations` is the coverage by the situations in
    which a memory is needed, `situation_cosine` their cosine, NaN where there are none; None if no memory has any. Their cosine counts
    as far as it is above that of the memory itself.
    """
    parts = _relevance(coverage, cosine, mask, weights.words, weights.meaning)
    if situations is not None:
        when = weights.when_words * situations.astype(np.float64)
        if situation_cosine is not None and cosine is not None:
            nearer = np.nan_to_num(situation_cosine - parts["meaning"] / weights.meaning)
            when += weights.when_meaning * np.maximum(nearer, 0.0)
        parts["when"] = when
    if meant is not None:
        parts["everyday"] = (weights.everyday * meant).astype(np.float64)
    if activity is not None:
        counted = activity if cosine is not None else np.where(coverage > 0, activity, 0.0)
        parts["activity"] = (weights.activity * counted).astype(np.float64)
    return ScoreParts(parts)


def combine_message_scores(
    coverage: Values,
    cosine: Values | None,
    session_scores: Values,
    features: MessageFeatures,
    mask: Mask | None = None,
    weights: MessageWeights = MESSAGE_WEIGHTS,
    instructions: bool = False,
) -> tuple[ScoreParts, ScoreParts]:
    """Return the scores by message and by session. `session_scores` is the BM25 score of each session as a whole.

    `instructions` is True for a request, on which a person's instructions bear (`index.instructions`).
    """
    inside = np.ones(len(coverage), bool) if mask is None else mask
    relevance = ScoreParts(_relevance(coverage, cosine, mask, weights.words, weights.meaning))
    scale = standard_deviation(relevance.total, inside)
    parts = {name: centred(part, inside) / scale for name, part in relevance.parts.items()}
    written = (features.by_assistant & inside).astype(np.float64)
    parts["author"] = weights.assistant * written
    if instructions:
        parts["instruction"] = weights.instruction * (features.is_instruction & inside).astype(np.float64)

    alone = ScoreParts(parts).total
    sessions = features.sessions
    around = sessions.neighbours(alone, features.is_question, weights.neighbours)
    lengths = np.maximum(features.lengths, 1.0).astype(np.float64)
    longest = sessions.longest_around(lengths)
    share = weights.around * np.minimum(1.0, weights.short / longest)
    parts["neighbours"] = around * share * inside

    best = sessions.best(alone + parts["neighbours"], inside, top=3)
    present = ~np.isnan(best[0])
    top, total = np.nan_to_num(best[0]), np.nan_to_num(best).sum(axis=0)
    shared = z_scores(session_scores, present)
    mean = total / np.maximum(np.count_nonzero(~np.isnan(best), axis=0), 1)
    asks = features.is_question * np.minimum(1.0, weights.short / lengths)
    parts["author"] = parts["author"] + weights.reply * written
    parts["question"] = weights.question * asks * inside
    parts["session"] = weights.session * mean[sessions.of] * inside
    little = np.minimum(1.0, weights.long / longest)
    parts["session words"] = weights.session_words * little * shared[sessions.of] * inside
    by_session = ScoreParts(
        {
            "words": weights.by_session_words * shared,
            "messages": weights.by_session_best * z_scores(top + total / 3, present),
        }
    )
    return ScoreParts(parts), by_session


def _relevance(
    coverage: Values, cosine: Values | None, mask: Mask | None, words: float, meaning: float
) -> dict[str, Doubles]:
    parts = {"words": words * coverage.astype(np.float64)}
    if cosine is not None:
        known = ~np.isnan(cosine) if mask is None else ~np.isnan(cosine) & mask
        mean = float(cosine[known].mean()) if known.any() else 0.0
        parts["meaning"] = meaning * np.where(np.isnan(cosine), mean, cosine).astype(np.float64)
    return parts


def z_scores(values: Values, mask: Mask) -> Doubles:
    """Return z-scores over `mask`; 0 outside it, and where all values are equal."""
    return centred(values, mask) / standard_deviation(values, mask)


def centred(values: Values, mask: Mask) -> Doubles:
    """Return by how much each value exceeds the mean over `mask`; 0 outside it."""
    mean = values[mask].mean(dtype=np.float64) if mask.any() else 0.0
    return np.where(mask, values - mean, 0.0)


def standard_deviation(values: Values, mask: Mask) -> float:
    """Return the standard deviation over `mask`; 1 where all values are equal."""
    deviation = float(values[mask].std(dtype=np.float64)) if mask.any() else 0.0
    return deviation if deviation > 1e-6 else 1.0
