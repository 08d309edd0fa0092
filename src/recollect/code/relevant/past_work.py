"""Which files similar work changed: past tasks and commits vote for their files."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recollect.code.git_history import Commits
from recollect.code.relevant import weights as w
from recollect.code.relevant.index import BYTES_PER_POSTING, Field, Index, Scores, Texts, top_scores

SECONDS_A_YEAR = 365.25 * 24 * 3600

_Files = npt.NDArray[np.intp]


class PastWorkIndex:
    """The terms of past tasks or commits, each with the files that it changed."""

    def __init__(self, texts: Texts, files: Sequence[_Files], years: npt.NDArray[np.float64]) -> None:
        self._files = files
        self._index = Index([Field(texts, length_penalty=w.MESSAGE_LENGTH_PENALTY)], w.HISTORY_SATURATION)
        ages = np.maximum(years, 0.0).astype(np.float32)
        self._trust = w.OLDEST_SHARE + (1 - w.OLDEST_SHARE) * np.float32(0.5) ** (
            ages / np.float32(w.HALF_LIFE_YEARS)
        )

    @classmethod
    def of_tasks(cls, tasks: Iterable[tuple[bytes, Sequence[int]]]) -> "PastWorkIndex":
        """Index tasks by terms and files; they count as new however old they are."""
        telling = [(text, np.array(files, np.intp)) for text, files in tasks if files]
        return cls(
            Texts.of(text for text, _ in telling), [files for _, files in telling], np.zeros(len(telling))
        )

    @classmethod
    def of_commits(cls, commits: Commits, numbers: Mapping[str, int]) -> "PastWorkIndex":
        """Index the commits that changed a file with a number. They age from the newest one on."""
        number_of = np.array([numbers.get(path, -1) for path in commits.paths], np.intp)
        counts, when = np.array(commits.file_counts), np.array(commits.when)
        files = number_of[np.array(commits.files, np.intp)]
        changed_by = np.repeat(np.arange(len(counts)), counts)[files >= 0]
        known = np.bincount(changed_by, minlength=len(counts))
        telling = known > 0
        texts = Texts(commits.terms, np.array(commits.term_bytes, np.intp) // BYTES_PER_POSTING)
        return cls(
            texts.only(telling),
            np.split(files[files >= 0], np.cumsum(known[telling])[:-1]),
            (when[:1] - when[telling]) / SECONDS_A_YEAR,
        )

    def __len__(self) -> int:
        return len(self._files)

    def sort(self) -> None:
        self._index.sort()

    def touched(self, term: int) -> list[_Files]:
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
