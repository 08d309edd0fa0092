"""Words, meaning and structure on one scale, added up: what the parts say is what the total is made of.

A unit's relevance is how much of the query it has (`Match.coverage`) and how near it is in meaning (the cosine). Both are
absolute: where a query's telling words are nowhere to be found, the little that its other words find counts for little.
A memory is ranked by that. A message is also helped by those around it (`structure`), for which relevance becomes a z-score.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollect.memory.search.structure import Doubles, Mask, Neighbour, Sessions, centred, spread, standard

Values = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Blend:
    """Named parts of every unit's score. What else is known of units (kind, age, standing) comes in by `plus`."""

    parts: Mapping[str, Doubles]

    @property
    def total(self) -> Doubles:
        total: Doubles = sum(self.parts.values(), np.zeros(1))
        return total

    def explain(self, row: int) -> dict[str, float]:
        """Return one unit's parts; added in this order they equal its total exactly."""
        return {name: float(part[row]) for name, part in self.parts.items()}

    def plus(self, name: str, part: Values) -> "Blend":
        return Blend({**self.parts, name: part.astype(np.float64)})

    def times(self, name: str, factor: Values) -> "Blend":
        """A factor as a part: what it adds or takes away."""
        return self.plus(name, self.total * (factor - 1.0))


@dataclass(frozen=True, slots=True)
class MemoryWeights:
    words: float = 0.6
    everyday: float = 0.15
    meaning: float = 1.0


@dataclass(frozen=True, slots=True)
class MessageWeights:
    """From ../shared/reference/recall-study.md; what we chose ourselves and why is in docs/benchmarks.md."""

    words: float = 1.0
    meaning: float = 1.0
    assistant: float = -0.5  # for what an assistant wrote
    neighbours: tuple[Neighbour, ...] = (
        Neighbour(-1, 1.0, if_asks=2.0),
        Neighbour(+1, 0.6),
        Neighbour(-2, 0.7),
        Neighbour(+2, 0.42),
    )
    around: float = 0.25  # of what the neighbours come to
    short: float = 25.0  # terms; a longer message needs its neighbours less
    session: float = 0.3  # of the mean of the session's three best
    session_words: float = 0.25
    by_session_words: float = 0.3  # where sessions are ranked
    by_session_best: float = 0.7


MEMORY_WEIGHTS = MemoryWeights()
MESSAGE_WEIGHTS = MessageWeights()


@dataclass(frozen=True, slots=True)
class Talk:
    """What is known of each message besides its text."""

    sessions: Sessions
    lengths: Values  # in terms
    asks: Mask  # ends with a question mark
    assistant: Mask  # written by one


def blend_memories(
    coverage: Values,
    cosine: Values | None,
    mask: Mask | None = None,
    weights: MemoryWeights = MEMORY_WEIGHTS,
    meant: Values | None = None,
) -> Blend:
    """`cosine` is NaN where a memory has no vector yet, and None where there are no vectors at all.

    `meant` is the coverage of what the query's everyday words mean (`aliases.widen`), None where it has none.
    """
    blend = Blend(_relevance(coverage, cosine, mask, weights.words, weights.meaning))
    return blend if meant is None else blend.plus("everyday", weights.everyday * meant)


def blend_messages(
    coverage: Values,
    cosine: Values | None,
    session_scores: Values,
    talk: Talk,
    mask: Mask | None = None,
    weights: MessageWeights = MESSAGE_WEIGHTS,
) -> tuple[Blend, Blend]:
    """By message and by session. `session_scores` says what each session as a whole shares with the query."""
    inside = np.ones(len(coverage), bool) if mask is None else mask
    relevance = Blend(_relevance(coverage, cosine, mask, weights.words, weights.meaning))
    scale = spread(relevance.total, inside)
    parts = {name: centred(part, inside) / scale for name, part in relevance.parts.items()}
    parts["author"] = weights.assistant * (talk.assistant & inside).astype(np.float64)

    alone = Blend(parts).total
    near = talk.sessions.neighbours(alone, talk.asks, weights.neighbours)
    lengths = np.maximum(talk.lengths, 1.0).astype(np.float64)
    share = weights.around * np.minimum(1.0, weights.short / lengths)
    parts["neighbours"] = near * share * inside

    best = talk.sessions.best(alone + parts["neighbours"], inside, top=3)
    present = ~np.isnan(best[0])
    top, total = np.nan_to_num(best[0]), np.nan_to_num(best).sum(axis=0)
    shared = standard(session_scores, present)
    mean = total / np.maximum(np.count_nonzero(~np.isnan(best), axis=0), 1)
    parts["session"] = weights.session * mean[talk.sessions.of] * inside
    parts["session words"] = weights.session_words * shared[talk.sessions.of] * inside
    by_session = Blend(
        {
            "words": weights.by_session_words * shared,
            "messages": weights.by_session_best * standard(top + total / 3, present),
        }
    )
    return Blend(parts), by_session


def _relevance(
    coverage: Values, cosine: Values | None, mask: Mask | None, words: float, meaning: float
) -> dict[str, Doubles]:
    parts = {"words": words * coverage.astype(np.float64)}
    if cosine is not None:
        known = ~np.isnan(cosine) if mask is None else ~np.isnan(cosine) & mask
        usual = float(cosine[known].mean()) if known.any() else 0.0
        parts["meaning"] = meaning * np.where(np.isnan(cosine), usual, cosine).astype(np.float64)
    return parts
