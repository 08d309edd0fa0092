"""How much of what is relevant comes first: ours beside the baselines, on the same units and questions.

R@k: of a question's relevant units, the part that is among the first k; averaged over questions. MRR@10: 1 / the rank of
the first relevant one, 0 beyond 10. A difference comes with the 95 % interval of a paired bootstrap over questions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bench.recall.baselines import FullText, Scores, best_of_each, by_reciprocal_rank, ranking
from bench.recall.datasets import Corpus, Unit
from recollect.memory.index.bm25 import Bm25Index, Fields
from recollect.memory.index.instructions import gives_instruction, is_request
from recollect.memory.index.messages import MessageFeatures, SessionLayout
from recollect.memory.ranking import (
    ACTIVITY_MEASURES,
    MEMORY_MEASURES,
    MESSAGE_MEASURES,
    SESSION_MEASURES,
    Bm25Measure,
    MemoryWeights,
    MessageWeights,
)
from recollect.memory.search.activities import activity_words
from recollect.memory.search.aliases import both_ways, default_aliases
from recollect.memory.search.fusion import combine_memory_scores, combine_message_scores
from recollect.memory.search.query_expansion import expand_query

_ALIASES = both_ways(default_aliases().items())
Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
METRICS = ("R@1", "R@5", "R@10", "MRR@10")
OURS = "ours"


@dataclass(frozen=True)
class Recipe:
    """Everything that can be chosen."""

    memory: Sequence[Bm25Measure] = MEMORY_MEASURES
    message: Sequence[Bm25Measure] = MESSAGE_MEASURES
    session: Sequence[Bm25Measure] = SESSION_MEASURES
    memories: MemoryWeights = field(default_factory=MemoryWeights)
    messages: MessageWeights = field(default_factory=MessageWeights)


Table = dict[str, npt.NDArray[np.float64]]  # by system: a row per question, a column per metric


def baselines(corpora: Iterable[Corpus], embed: Embed, by: str) -> Table:
    rows: dict[str, list[list[float]]] = {}
    for corpus in corpora:
        names, group = _targets(corpus, by)
        texts = [unit.whole for unit in corpus.units]
        vectors = embed(texts)
        if by == "session":
            text = FullText(
                ["\n".join(t for t, g in zip(texts, group, strict=True) if g == i) for i in range(len(names))]
            )
        else:
            text = FullText(texts)
        queries = embed([question.text for question in corpus.questions])
        for question, vector in zip(corpus.questions, queries, strict=True):
            relevant = question.sessions if by == "session" else question.relevant
            if not relevant:
                continue
            words = text(question.text)
            words = words if by == "session" else best_of_each(words, group, len(names))
            meaning = best_of_each((vectors @ vector).astype(np.float64), group, len(names))
            systems = {"FTS5": words, "MiniLM": meaning, "RRF": by_reciprocal_rank(words, meaning)}
            for system, scores in systems.items():
                rows.setdefault(system, []).append(measure(scores, names, relevant))
    return {system: np.array(each) for system, each in rows.items()}


def ours(
    corpora: Iterable[Corpus], embed: Embed, by: str, recipe: Recipe | None = None
) -> npt.NDArray[np.float64]:
    recipe = recipe or Recipe()
    rows = []
    for corpus in corpora:
        names, group = _targets(corpus, by)
        search = (_Memories if by == "memory" else _Messages)(corpus, embed, recipe)
        queries = embed([question.text for question in corpus.questions])
        for question, vector in zip(corpus.questions, queries, strict=True):
            relevant = question.sessions if by == "session" else question.relevant
            if relevant:
                scores = search(question.text, vector, by)
                scores = scores if by == "session" else best_of_each(scores, group, len(names))
                rows.append(measure(scores, names, relevant))
    return np.array(rows)


class _Memories:
    def __init__(self, corpus: Corpus, embed: Embed, recipe: Recipe) -> None:
        self._recipe = recipe
        self._bm25 = Bm25Index(recipe.memory)
        self._bm25.add(
            [
                ("content", unit.text),
                ("tags", " ".join(unit.tags)),
                ("paths", " ".join(unit.paths)),
                ("kind", unit.kind),
            ]
            for unit in corpus.units
        )
        self._vectors = embed([unit.whole for unit in corpus.units])

    def __call__(self, query: str, vector: npt.NDArray[np.float32], by: str) -> Scores:
        words, meant = expand_query(query, self._bm25.words(query), _ALIASES, self._bm25.known_terms)
        work = activity_words(query, self._bm25.known_terms)
        return combine_memory_scores(
            self._bm25.score(words).coverage,
            self._vectors @ vector,
            weights=self._recipe.memories,
            meant=self._bm25.score(meant).coverage if meant else None,
            activity=self._bm25.score(work, measures=ACTIVITY_MEASURES).scores if work else None,
        ).total


class _Messages:
    def __init__(self, corpus: Corpus, embed: Embed, recipe: Recipe) -> None:
        self._recipe = recipe
        self._bm25 = Bm25Index(recipe.message)
        self._bm25.add(map(_fields, corpus.units))
        self._vectors = embed([unit.whole for unit in corpus.units])
        _, session = _targets(corpus, "session")
        self._session = session.astype(np.int32)
        self._talk = MessageFeatures(
            SessionLayout(self._session, np.arange(len(session), dtype=np.int32)),
            self._bm25.lengths,
            np.array([unit.text.rstrip().endswith("?") for unit in corpus.units]),
            np.array([unit.author == "assistant" for unit in corpus.units]),
            np.array([_gives_instruction(unit) for unit in corpus.units]),
        )

    def __call__(self, query: str, vector: npt.NDArray[np.float32], by: str) -> Scores:
        words = self._bm25.words(query)
        units, sessions = combine_message_scores(
            self._bm25.score(words).coverage,
            self._vectors @ vector,
            self._bm25.score(words, groups=self._session, measures=self._recipe.session).scores,
            self._talk,
            weights=self._recipe.messages,
            instructions=is_request(query),
        )
        return sessions.total if by == "session" else units.total


def _fields(unit: Unit) -> Fields:
    if unit.said is not None:
        return [("person", unit.said), ("assistant", unit.reply)]
    return [("assistant" if unit.author == "assistant" else "person", unit.text)]


def _gives_instruction(unit: Unit) -> bool:
    return any(name == "person" and gives_instruction(said) for name, said in _fields(unit))


def _targets(corpus: Corpus, by: str) -> tuple[list[str], npt.NDArray[np.int64]]:
    """What is ranked, and which of it each unit belongs to."""
    number: dict[str, int] = {}
    of = [number.setdefault(u.session if by == "session" else u.id, len(number)) for u in corpus.units]
    return list(number), np.array(of)


def measure(scores: Scores, names: Sequence[str], relevant: frozenset[str]) -> list[float]:
    hits = [names[row] in relevant for row in ranking(scores)[:10]]
    first = hits.index(True) + 1 if any(hits) else 0
    return [*(sum(hits[:k]) / len(relevant) for k in (1, 5, 10)), 1 / first if first else 0.0]


def interval(differences: npt.NDArray[np.float64], rounds: int = 5000) -> tuple[float, float]:
    """95 % of the means of as many questions drawn again and again."""
    draw = np.random.default_rng(0)
    means = [draw.choice(differences, len(differences)).mean() for _ in range(rounds)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
