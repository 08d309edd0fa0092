"""What was changed for work like this: past tasks and commits vote for the files they touched."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from recollect.code.relevant.index import Field, Index, Scores, best

VOTERS = 60  # the most similar ones; the rest is chance
SHARP = 3  # the power of likeness: one that is very like is worth several that are a little
SPREAD = 0.25  # the power of the number of files a vote is spread over
YEARS = 2.0  # until half of what a vote loses with age is gone
OLD = 0.3  # what the oldest still weighs


class Votes:
    """Of texts, as `terms_of` made them, each with the files that were touched for it and its age in years."""

    def __init__(self, work: Iterable[tuple[bytes, Sequence[int], float]]) -> None:
        telling = [(text, files, years) for text, files, years in work if files]
        self._files = [files for _, files, _ in telling]
        self._index = Index([Field([text for text, _, _ in telling], held=0.75)], enough=1.2)
        ages = np.array([max(years, 0.0) for _, _, years in telling], np.float32)
        self._trust = OLD + (1 - OLD) * np.float32(0.5) ** (ages / np.float32(YEARS))

    def touched(self, term: int) -> list[Sequence[int]]:
        """The files of each one whose text has the term."""
        return [self._files[voter] for voter in self._index.owners(term)]

    def cast(self, question: Mapping[int, float], count: int) -> Scores:
        """For each of `count` files; 1 for the one with most votes, all 0 when nothing is alike."""
        votes = np.zeros(count, np.float32)
        likeness = self._index.scores(question) * self._trust
        for voter in best(likeness, VOTERS):
            files = self._files[voter]
            votes[files] += (likeness[voter] / likeness.max()) ** SHARP / len(files) ** SPREAD
        return votes / votes.max() if votes.any() else votes
