"""Whether a search finds nothing where memory knows nothing, and still answers what it can.

    python -m bench.recall.offtopic                     general questions, and all that the stores can answer
    python -m bench.recall.offtopic --questions FILE    other questions that no store can answer: JSON lines with "q", or a line each
    python -m bench.recall.offtopic --fit               make `question_directions.npz` anew and print the coefficients;
                                                        also for the optional models in `--home`

The stores are our own memories and the projects of bench/data/delivery that are not blind, or are in `--projects`. Every general question
is asked of every store; each store is asked its own questions, short ones in general words, and the tasks that it has useful memories for,
as searches.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.delivery import datasets as delivery
from bench.recall import datasets
from bench.recall import figures as kept
from bench.recall.recipes import Cached, records_of
from bench.recall.vectors import Vectors
from recollect import Engine
from recollect.embed.catalogue import catalogue, folder_of, is_added
from recollect.embed.minilm import NAME
from recollect.memory.search import topic

GENERAL = datasets.OWN / "general_questions.txt"
SHORT = datasets.OWN / "short_questions.jsonl"
OWN = "stagedoor"
BEST = 5  # hits among which an answer counts
DIRECTION_C = 3.0  # of the regularisation; 1 to 30 find directions that tell questions apart equally well
GENERAL_WEIGHT, OTHER_WEIGHT = (
    0.3,
    0.01,
)  # of a general question, and of one about another project, which may be answered


@dataclass(frozen=True, slots=True)
class Store:
    """An open store with the questions it can answer."""

    name: str
    engine: Engine
    ids: dict[str, str]  # our id by the store's
    questions: Sequence[tuple[str, str, frozenset[str]]]  # set, question, answers

    def answers(self, question: str) -> list[str]:
        """Return the ids of what a search finds, best first."""
        return [self.ids[hit.memory.id] for hit in self.engine.search(question, 10, noted=False).results]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.recall.offtopic", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--questions", type=Path, default=GENERAL, help="that no store can answer")
    parser.add_argument("--projects", type=Path, help="a folder with other projects, and a split.json")
    parser.add_argument("--cache", type=Path, default=kept.OUT / "cache", help="where vectors are kept")
    parser.add_argument("--fit", action="store_true", help="fit instead of measuring")
    parser.add_argument("--home", type=Path, help="a home with optional models")
    options = parser.parse_args()
    vectors = Vectors(options.cache)
    folder = options.projects or delivery.DATA
    projects = [*delivery.load("dev", folder), *delivery.load("unseen", folder)]
    if options.fit:
        fit(projects, options.cache, options.home)
    else:
        measure(projects, vectors, read_questions(options.questions), own=options.projects is None)


def read_questions(path: Path) -> list[str]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [json.loads(line)["q"] if line.startswith("{") else line for line in lines]


def measure(
    projects: Sequence[delivery.DeliveryProject], vectors: Vectors, general: Sequence[str], own: bool
) -> None:
    """Print by store how many general questions were answered, and by set how many questions were answered rightly, or not at all."""
    print(f"{'store':12}{'general questions answered':>30}   own: answered, right among {BEST}")
    total = 0
    for store in open_stores(projects, vectors, own):
        answered = sum(bool(store.answers(question)) for question in general)
        total += answered
        found: dict[str, list[tuple[bool, bool]]] = {}
        for name, question, relevant in store.questions:
            answers = store.answers(question)
            found.setdefault(name, []).append((bool(answers), not relevant.isdisjoint(answers[:BEST])))
        sets = "; ".join(
            f"{name} {sum(a for a, _ in rows)}, {sum(r for _, r in rows)} of {len(rows)}"
            for name, rows in found.items()
        )
        print(f"{store.name:12}{answered:>20} of {len(general):<6}   {sets}", flush=True)
    print(f"{'all':12}{total:>20}")


def open_stores(
    projects: Sequence[delivery.DeliveryProject], vectors: Vectors, own: bool = True
) -> Iterator[Store]:
    embedder = Cached(vectors)
    if own:
        sets = {
            "dev": datasets.load("memories"),
            "general words": datasets.load("fresh"),
            "held": datasets.load("memories", held=True),
        }
        corpus = (sets["dev"] or [])[0]
        now, records = records_of(corpus, embedder)
        with _engine(embedder, now) as engine:
            ids = {
                str(ours): unit.id
                for ours, unit in zip(engine.import_memories(records), corpus.units, strict=True)
            }
            asked = [
                (name, question.text, question.relevant)
                for name, corpora in sets.items()
                for question in (corpora or [])[0].questions
            ]
            yield Store(OWN, engine, ids, asked)
    for project in projects:
        with _engine(embedder, delivery.NOW) as engine:
            ids = delivery.import_memories(engine, project)
            asked = [("tasks", task.prompt, task.useful) for task in project.tasks if task.useful]
            yield Store(project.name, engine, ids, [*asked, *short_questions(project.name)])


def short_questions(project: str) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield the short questions in general words about a project."""
    for row in map(json.loads, SHORT.read_text(encoding="utf-8").splitlines()):
        if row["project"] == project:
            yield "short", row["q"], frozenset(row["relevant"])


def fit(projects: Sequence[delivery.DeliveryProject], cache: Path, home: Path | None) -> None:
    """Write the direction of each model, and print the coefficients for MiniLM."""
    general = read_questions(GENERAL)
    own = [
        question.text
        for name in ("memories", "fresh")
        for question in (datasets.load(name) or [])[0].questions
    ]
    asked = [own, *([task.prompt for task in project.tasks] for project in projects)]
    specific = [question for questions in asked for question in questions]
    directions = {NAME: direction(Vectors(cache), general, specific)}
    for model in catalogue().values() if home else ():
        if home and is_added(home, model):
            directions[model.name] = direction(Vectors(cache, folder_of(home, model)), general, specific)
    save_directions(directions)
    print("Directions:", ", ".join(directions))
    vectors = Vectors(cache)
    unseen = crossed(vectors, general, asked)
    rows = np.array(
        [
            (is_right, weight, unseen[question], *rest)
            for question, is_right, weight, *rest in _evidence(projects, vectors, general)
        ]
    )
    found = logistic(rows[:, 2:], rows[:, 0], rows[:, 1], 10.0)
    print("specific, score, words, bias:", found.round(2).tolist())
    odds = rows[:, 2:] @ found[:-1] + found[-1]
    likely = 1 / (1 + np.exp(-odds))
    print("The least likely right answers:", np.sort(likely[rows[:, 0] > 0])[:10].round(3).tolist())
    is_general = rows[:, 1] == GENERAL_WEIGHT
    for floor in (0.03, 0.05, 0.08, 0.1, 0.15, 0.2):
        print(f"  floor {floor}: general {(likely[is_general] >= floor).sum()} of {is_general.sum()}")


def save_directions(found: Mapping[str, "Row"]) -> None:
    """Write these directions; those of models that are not here stay."""
    with np.load(topic.DIRECTIONS) as before:
        kept_ones = {name: before[name] for name in before.files}
    np.savez(topic.DIRECTIONS, **{**kept_ones, **found})


def direction(vectors: Vectors, general: Sequence[str], specific: Sequence[str]) -> "Row":
    """Return the direction from general to specific questions, and its bias last. Both sides count alike."""
    rows = vectors([vectors.prefix + text for text in (*general, *specific)])
    labels = np.repeat([0.0, 1.0], [len(general), len(specific)])
    weights = np.repeat([0.5 / len(general), 0.5 / len(specific)], [len(general), len(specific)]) * len(rows)
    return logistic(rows, labels, weights, DIRECTION_C).astype(np.float32)


def crossed(vectors: Vectors, general: Sequence[str], asked: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the position of each question along a direction that was found without it and without its project."""
    positions: dict[str, float] = {}
    for place, left_out in enumerate(asked):
        world = [question for i, question in enumerate(general) if i % len(asked) != place]
        rest = [question for i, questions in enumerate(asked) if i != place for question in questions]
        found = direction(vectors, world, rest)
        texts = [*left_out, *general[place :: len(asked)]]
        positions |= zip(texts, (vectors(texts) @ found[:-1] + found[-1]).tolist(), strict=True)
    return positions


def _evidence(
    projects: Sequence[delivery.DeliveryProject], vectors: Vectors, general: Sequence[str]
) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield for each question that is judged whether it is answered rightly, its weight, the score and the words."""
    seen: list[tuple[float, float, float]] = []
    judge = topic.answer_probability
    topic.answer_probability = lambda *evidence: seen.append(evidence) or 1.0  # type: ignore[func-returns-value]
    others = {project.name: [task.prompt for task in project.tasks] for project in projects}
    try:
        for store in open_stores(projects, vectors):
            own = [("right", question, relevant) for _, question, relevant in store.questions if _ != "held"]
            world = [("general", question, frozenset[str]()) for question in general]
            other = [
                ("other", prompt, frozenset[str]())
                for name, prompts in others.items()
                if name != store.name
                for prompt in prompts
            ]
            for sort, question, relevant in (*own, *world, *other):
                seen.clear()
                is_right = not relevant.isdisjoint(store.answers(question)[:BEST])
                if seen and (is_right or sort != "right"):
                    weight = {"right": 1.0, "general": GENERAL_WEIGHT, "other": OTHER_WEIGHT}[sort]
                    yield question, float(is_right), weight, *seen[0][1:]
    finally:
        topic.answer_probability = judge


Row = npt.NDArray[np.floating]


def logistic(rows: Row, labels: Row, weights: Row, c: float) -> Row:
    """Return the coefficients of a logistic regression with a quadratic penalty of 1 / c, and the bias last."""
    features = np.column_stack([rows.astype(np.float64), np.ones(len(rows))])
    penalty = np.append(np.full(rows.shape[1], 1 / c), 1e-6)
    found = np.zeros(features.shape[1])
    for _ in range(60):
        likely = 1 / (1 + np.exp(-features @ found))
        slope = features.T @ (weights * (likely - labels)) + penalty * found
        curve = (features * (weights * likely * (1 - likely))[:, None]).T @ features + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        found -= step
        if abs(step).max() < 1e-6:
            break
    return found


@contextmanager
def _engine(embedder: Cached, now: datetime) -> Iterator[Engine]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine.open(
            Path(folder), Path(folder) / "home", embedder=embedder, clock=lambda: now, has_deadlines=False
        ) as engine,
    ):
        yield engine


if __name__ == "__main__":
    main()
