"""Fit the models of `recollect.memory.ranking.USEFUL` on the projects for development, and choose their floors.

    python -m bench.delivery.fit             with vectors
    python -m bench.delivery.fit --words     by words alone

It needs scikit-learn: `pip install -e '.[bench]'`. Each project is measured with models that were fitted on the others, and is asked three
times: with what all its memories say of when they are needed, with what those say that an agent recorded, and without any. So one model serves
stores of all sorts, and a store in which nothing says when it is needed is told as much as before there were such lines.
"""

import argparse
import math
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.delivery.datasets import SITUATIONS, DeliveryProject, DeliveryTask, import_memories, load
from bench.delivery.measure import open_engine
from recollect.context.embedder import Embedder
from recollect.embed.open import open_embedder
from recollect.memory import ranking
from recollect.memory.search import usefulness
from recollect.work.delivery.composer import MOST_MATCHES, SEARCHED

STRENGTH = 0.3  # of the regularisation, as C
PRECISION, SILENCE = 0.5, 0.9
# No proposal of a repository is among the hits, so nothing is learnt of them: their coefficient is older.
NOT_FITTED = ("bias", "usual_score", "usual_spread", "seeded")
HIT_FEATURES = tuple(name for name in ranking.UsefulnessModel.__annotations__ if name not in NOT_FITTED)
REQUEST_FEATURES = tuple(name for name in ranking.RequestModel.__annotations__ if name != "bias")

Predict = Callable[[Any], Any]


class Judged(NamedTuple):
    """One request: its hits as features, which of them are useful, and which count."""

    task: DeliveryTask
    names: tuple[str, ...]
    features: Any  # a row per hit
    request: str
    best: Mapping[str, float]  # what is known of the request as a whole


def judged(project: DeliveryProject, situations: str, embedder: Embedder, *, meaning: bool) -> list[Judged]:
    """Ask a project's requests of a store of its own."""
    asked = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / project.name
        folder.mkdir()
        with open_engine(folder, Path(name) / "home", embedder) as engine:
            names = import_memories(engine, project, situations)
            for task in project.tasks:
                answer = engine.retrieval.search(
                    task.prompt, SEARCHED, task=True, proposals=False, meaning=meaning
                )
                hits = [hit for hit in answer.results if names[hit.memory.id] not in project.pinned]
                model = ranking.USEFUL.useful if meaning else ranking.USEFUL_BY_WORDS.useful
                features = [
                    usefulness.hit_values(each, hit.memory)
                    for each, hit in zip(usefulness.features_of(hits, model), hits, strict=True)
                ]
                asked.append(
                    Judged(
                        task,
                        tuple(names[hit.memory.id] for hit in hits),
                        np.array([[row[name] for name in HIT_FEATURES] for row in features]).reshape(
                            len(hits), len(HIT_FEATURES)
                        ),
                        task.prompt,
                        usefulness.request_values(task.prompt, hits) if hits else {},
                    )
                )
    return asked


def fit_hits(requests: Iterable[Judged]) -> tuple[Predict, dict[str, float]]:
    rows, labels = [], []
    for request in requests:
        for name, row in zip(request.names, request.features, strict=True):
            if name not in request.task.acceptable:
                rows.append(row)
                labels.append(name in request.task.useful)
    return _regression(np.array(rows), labels, HIT_FEATURES)


def fit_requests(requests: Iterable[Judged], hits: Predict) -> tuple[Predict, dict[str, float]]:
    rows, labels = [], []
    for request in requests:
        if request.names:
            rows.append(_request_row(request, hits))
            labels.append(bool(request.task.useful))
    return _regression(np.array(rows), labels, REQUEST_FEATURES)


def _request_row(request: Judged, hits: Predict) -> list[float]:
    values = {**request.best, "likeliest": float(hits(request.features).max())}
    return [values[name] for name in REQUEST_FEATURES]


def _regression(rows: Any, labels: Sequence[bool], names: Sequence[str]) -> tuple[Predict, dict[str, float]]:
    """Return the log-odds as a function, and the coefficients by name."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    model = LogisticRegression(C=STRENGTH, max_iter=1000).fit((rows - mean) / spread, labels)
    weights = np.where(spread > 1e-6, model.coef_[0] / spread, 0.0)
    bias = float(model.intercept_[0] - weights @ mean)
    return lambda some: bias + some @ weights, {
        "bias": bias,
        **dict(zip(names, weights.tolist(), strict=True)),
    }


class Predicted(NamedTuple):
    task: DeliveryTask
    known: float
    hits: tuple[tuple[str, float], ...]  # likeliest first


def predicted(requests: Iterable[Judged], hits: Predict, known: Predict) -> list[Predicted]:
    result = []
    for request in requests:
        if not request.names:
            result.append(Predicted(request.task, 0.0, ()))
            continue
        likely = _share(hits(request.features))
        ranked = sorted(zip(request.names, likely.tolist(), strict=True), key=lambda pair: -pair[1])
        odds = known(np.array(_request_row(request, hits)))
        result.append(Predicted(request.task, float(_share(odds)), tuple(ranked)))
    return result


def _share(odds: Any) -> Any:
    return 1 / (1 + np.exp(-odds))


def shown(results: Sequence[Predicted], known_floor: float, floor: float) -> tuple[float, float, float]:
    """Return the share of useful memories that are shown, the precision, and the silence where nothing is known."""
    useful = wrong = silent = 0
    for result in results:
        some = result.hits[:MOST_MATCHES] if result.known >= known_floor else ()
        names = {name for name, likely in some if likely >= floor}
        useful += len(names & result.task.useful)
        wrong += len(names - result.task.useful - result.task.acceptable)
        silent += not names and not result.task.useful
    wanted = sum(len(result.task.useful) for result in results)
    unknown = sum(not result.task.useful for result in results)
    return useful / wanted, useful / max(1, useful + wrong), silent / max(1, unknown)


def floors(results: Sequence[Predicted]) -> tuple[float, float]:
    """Return the floors that show most of what is useful at the precision and the silence that are asked for."""
    pairs = [
        (known / 100, hit / 100)
        for known in range(30, 97, 2)
        for hit in (*range(6, 22, 2), *range(22, 52, 3))
    ]
    fitting = []
    for pair in pairs:
        useful, precision, silence = shown(results, *pair)
        if precision >= PRECISION and silence >= SILENCE:
            fitting.append((useful, pair))
    return max(fitting)[1] if fitting else (0.9, 0.5)


def main() -> None:
    options = argparse.ArgumentParser(prog="bench.delivery.fit", description=__doc__.splitlines()[0])
    options.add_argument("--words", action="store_true", help="without vectors")
    meaning = not options.parse_args().words
    embedder = open_embedder()
    asked = {
        (project.name, situations): judged(project, situations, embedder, meaning=meaning)
        for project in load("dev")
        for situations in SITUATIONS
    }
    names = dict.fromkeys(name for name, _ in asked)
    results: dict[str, list[Predicted]] = {situations: [] for situations in SITUATIONS}
    for left_out in names:
        others = [request for (name, _), some in asked.items() if name != left_out for request in some]
        hits, _ = fit_hits(others)
        known, _ = fit_requests(others, hits)
        for situations in SITUATIONS:
            results[situations] += predicted(asked[left_out, situations], hits, known)
    known_floor, floor = floors([each for some in results.values() for each in some])
    print(
        f"floors: KNOWN_FLOOR = {known_floor}, USEFUL_FLOOR = {floor}; each project by models fitted on the others:"
    )
    for situations, some in results.items():
        five = sum(len({name for name, _ in each.hits[:5]} & each.task.useful) for each in some) / sum(
            len(each.task.useful) for each in some
        )
        useful, precision, silence = shown(some, known_floor, floor)
        print(
            f"  situations: {situations:16} useful among five {five:.3f}, shown {useful:.3f}, precision {precision:.3f}, silent {silence:.3f}"
        )
    everything = [request for some in asked.values() for request in some]
    hits, of_hits = fit_hits(everything)
    _, of_requests = fit_requests(everything, hits)
    for what, values in (("useful", of_hits), ("known", of_requests)):
        print(f"{what}: " + ", ".join(f"{name}={value:.2f}" for name, value in values.items()))
    assert all(math.isfinite(value) for value in (*of_hits.values(), *of_requests.values()))


if __name__ == "__main__":
    main()
