"""Which files similar work changed: past tasks and commits vote for their files."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from recollect.code.relevant import weights as w
from recollect.code.relevant.index import Field, Index, Scores, top_scores


class PastWorkIndex:
    """The terms of past tasks and commits, each with the files that it changed and its age in years."""

    def __init__(self, work: Iterable[tuple[bytes, Sequence[int], float]]) -> None:
        telling = [(text, files, years) for text, files, years in work if files]
        self._files = [files for _, files, _ in telling]
        self._index = Index(
            [Field([text for text, _, _ in telling], length_penalty=w.MESSAGE_LENGTH_PENALTY)],
            w.HISTORY_SATURATION,
        )
        ages = np.array([max(years, 0.0) for _, _, years in telling], np.float32)
        self._trust = w.OLDEST_SHARE + (1 - w.OLDEST_SHARE) * np.float32(0.5) ** (
            ages / np.float32(w.HALF_LIFE_YEARS)
        )

    def __len__(self) -> int:
        return len(self._files)

    def sort(self) -> None:
        self._index.sort()

    def touched(self, term: int) -> list[Sequence[int]]:
        """Return the files of each one whose text has the term."""
        return [self._files[voter] for voter in self._index.owners(term)]

    def scores(self, question: Mapping[int, float], count: int) -> Scores:
        """Return a score for each of `count` files: 1 for the best, all 0 if no past work is similar."""
        votes = np.zeros(count, np.float32)
        likeness = self._index.scores(question) * self._trust
        for voter in top_scores(likeness, w.SIMILAR_COMMITS):
            files = self._files[voter]
            votes[files] += (likeness[voter] / likeness.max()) ** w.SIMILARITY_POWER / len(
                files
            ) ** w.SPREAD_POWER
        return votes / votes.max() if votes.any() else votes

    def share(self, question: Mapping[int, float], file: int) -> float:
        """Return how much of the question, from 0 to 1, the most similar one that changed the file has."""
        highest = self._index.highest(question)
        likeness = self._index.scores(question)
        alike = (
            float(likeness[voter])
            for voter in top_scores(likeness, w.SIMILAR_COMMITS)
            if file in self._files[voter]
        )
        return max(alike, default=0.0) / highest if highest else 0.0
