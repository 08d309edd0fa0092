"""Whether anything in view answers a question: the best hit of a search may be there by chance.

Evidence alone cannot tell. "How many containers fit on a cargo ship" shares more with the memories of a software project than a question
in general words does that they answer. So the question counts too: one about the world sounds different from one about somebody's work.
The vector of a question shows that along one direction, which a logistic regression found between 434 questions of general knowledge
(`bench/data/general_questions.txt`) and those that were asked of projects. `python -m bench.recall.offtopic --fit` makes it anew.

A right answer that is kept back is worse than a stray one. So only a whole question that clearly sounds like one about the world is
left unanswered, or one whose best hit is weak: not one or two keywords, which sound like nothing, and not if the best hit is about the
same matter.
"""

import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recollect.memory import ranking
from recollect.memory.index.vectors import Floats

if TYPE_CHECKING:
    from recollect.memory.search.channels import Relevance

LONGEST_QUESTION = 1000  # characters that are read
DIRECTIONS = Path(__file__).parent / "data" / "question_directions.npz"

# Who says "we" or "here", or names something that is spelled like code, asks about a project.
_OWN = re.compile(
    r"(?i:\b(?:we|our|ours|us|here|let['’]s)\b)|[a-z][A-Z]|`|\w_\w|\w[./]\w|::|\w\(",
)


def names_project(question: str) -> bool:
    """Return whether a question says itself that it is about somebody's own project."""
    return _OWN.search(question[:LONGEST_QUESTION]) is not None


def may_be_general(question: str, specific: float, score: float) -> bool:
    """Return whether a question with a best hit of this score can be one about the world, not about a project.

    It is if it clearly sounds like one, or if the hit is so weak that how it sounds does not matter. For `specific` see `specificity`.
    """
    asks = len(question[:LONGEST_QUESTION].split()) > ranking.KEYWORDS
    is_likely = specific < ranking.GENERAL_SPECIFICITY or score < ranking.WEAK_SCORE
    return asks and is_likely and not names_project(question)


def specificity(model: str, vector: bytes | None) -> float | None:
    """Return how much a question with this vector sounds like one about a project: above 0 rather than about the world.

    None for a model without a direction.
    """
    direction = _direction(model.partition("@")[0])
    if direction is None or vector is None or len(vector) != 4 * (len(direction) - 1):
        return None
    return float(np.frombuffer(vector, "<f4") @ direction[:-1] + direction[-1])


def answer_probability(specific: float, score: float, words: float) -> float:
    """Return how likely it is that the best hit, with this score, answers the question. For `words` see `matched_words`."""
    model = ranking.ANSWER
    total = model.bias + model.specific * specific + model.score * score + model.words * words
    return 1.0 / (1.0 + math.exp(-total))


def matched_words(relevance: "Relevance") -> float:
    """Return the logarithm of 1 + how many words as rare as can be the best match by words is worth, in a store of any size."""
    units = int(np.count_nonzero(relevance.mask))
    rarest = math.log1p((units - 0.5) / 1.5)
    best = float(relevance.words.scores[relevance.mask].max(initial=0.0))
    return math.log1p(best / rarest)


@cache
def _direction(model: str) -> "Floats | None":
    with np.load(DIRECTIONS, allow_pickle=False) as directions:
        direction: Floats | None = directions.get(model)
        return direction
