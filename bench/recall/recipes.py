"""The default recipe against those of the documents Recollect grew from, through the whole engine, on every set.

Units of conversations are imported as memories of their own day, so that recency means something; "now" is the end of the
newest. Each question sees only its own corpus: a project.
"""

import argparse
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.recall import datasets
from bench.recall import figures as kept
from bench.recall.datasets import Corpus
from bench.recall.quality import METRICS, interval
from bench.recall.vectors import Vectors
from recollect import Engine
from recollect.embed.minilm import DIM, NAME
from recollect.errors import Refused
from recollect.memory.search.recipes import RECIPES

OURS = "default"
R5 = METRICS.index("R@5")
SAMPLE = 200  # questions of a set, unless all are asked for
LONGEST = 1_900  # bytes: a memory holds little more. The model reads no further
VIEWS = {  # as it is shown: set, and what is ranked
    "LoCoMo by turn": ("locomo", "unit"),
    "LongMemEval-S by round": ("longmemeval", "unit"),
    "LongMemEval-S by session": ("longmemeval", "session"),
    "DevMemBench by session": ("devmembench", "session"),
    "own memories": ("memories", "unit"),
    "own memories, in general words": ("fresh", "unit"),
}


class Cached:
    """MiniLM, asked once for each text ever. Of a text that was cut it knows the whole, which gives the same vector."""

    model = NAME
    dim = DIM
    query_prefix = ""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.wholes: dict[str, str] = {}

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._vectors([self.wholes.get(text, text) for text in texts])

    def embed_each(self, batches: Iterable[Sequence[str]]) -> Iterator[npt.NDArray[np.float32]]:
        return map(self.embed, batches)


def run(cache: Path = kept.OUT / "cache", sample: int | None = SAMPLE, held: bool = False) -> dict[str, Any]:
    """With `held` only our own held-out questions."""
    embedder = Cached(Vectors(cache))
    found: dict[str, Any] = {}
    answers: dict[str, list[tuple[Any, dict[str, list[Any]]]]] = {}
    views = {"own memories, held out": VIEWS["own memories"]} if held else VIEWS
    for title, (name, by) in views.items():
        corpora = datasets.load(name, held)
        if corpora is None:
            found[title] = {"skipped": f"needs {datasets.files(name)[0]}"}
            continue
        if name not in answers:
            answers[name] = list(_ask_all(corpora, embedder, sample))
        found[title] = _figures(answers[name], by)
    return found


def _ask_all(
    corpora: Sequence[Corpus], embedder: Cached, sample: int | None
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    """Each question with the units each recipe found, best first."""
    total = sum(len(corpus.questions) for corpus in corpora)
    every = max(1, -(-total // sample)) if sample else 1
    number = 0
    for corpus in corpora:
        asked = [each for i, each in enumerate(corpus.questions, start=number) if i % every == 0]
        number += len(corpus.questions)
        if asked:
            with tempfile.TemporaryDirectory() as folder:
                yield from _ask(corpus, asked, embedder, Path(folder))


def _ask(
    corpus: Corpus, asked: Sequence[Any], embedder: Cached, folder: Path
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    now, records = records_of(corpus, embedder)
    (folder / "project").mkdir()
    with Engine.open(folder / "project", folder / "home", embedder=embedder, clock=lambda: now) as engine:
        ids = engine.import_memories(records)
        unit_of = dict(zip(ids, corpus.units, strict=True))
        for question in asked:
            found = {}
            for recipe in RECIPES:
                answer = engine.search(question.text, 30, recipe=recipe)
                if answer.partial:
                    raise Refused(
                        f"An answer was partial: {' '.join(answer.notes)}",
                        "Try when the machine is less busy.",
                    )
                found[recipe] = [unit_of[hit.memory.id] for hit in answer.results]
            yield question, found


def records_of(corpus: Corpus, embedder: Cached) -> tuple[datetime, list[dict[str, Any]]]:
    """Return the time at which to ask, and the units as memories; tell the embedder which of them are cut."""
    days = [unit.day or _day(unit.text) for unit in corpus.units]
    known = [day for day in days if day is not None]
    now = (max(known) if known else datetime(2026, 1, 1, tzinfo=UTC)) + timedelta(days=1)
    cut = [_cut(unit.text) for unit in corpus.units]
    embedder.wholes = {text: unit.text for text, unit in zip(cut, corpus.units, strict=True)}
    records = [
        {
            "content": text,
            **({"kind": unit.kind} if unit.kind else {}),
            "tags": unit.tags,
            "file_paths": unit.paths,
            "created_at": (day or now - timedelta(days=1)).isoformat(),
        }
        for text, unit, day in zip(cut, corpus.units, days, strict=True)
    ]
    return now, records


def _cut(text: str) -> str:
    return text.encode()[:LONGEST].decode("utf-8", "ignore").strip()


_DATE = re.compile(r"\b(20\d\d)[/-](\d\d)[/-](\d\d)\b")
_LONG = re.compile(
    r"\b(\d{1,2}) (January|February|March|April|May|June|July|August|September|October|November|December),? (20\d\d)"
)


def _day(text: str) -> datetime | None:
    """The date a unit begins with."""
    head = text[:80]
    if found := _DATE.search(head):
        return datetime(*map(int, found.groups()), tzinfo=UTC)  # type: ignore[misc]
    if found := _LONG.search(head):
        return datetime.strptime(" ".join(found.groups()), "%d %B %Y").replace(tzinfo=UTC)
    return None


def _figures(answers: Sequence[tuple[Any, dict[str, list[Any]]]], by: str) -> dict[str, Any]:
    name: Callable[[Any], str] = (lambda unit: unit.session) if by == "session" else (lambda unit: unit.id)
    rows: dict[str, list[list[float]]] = {recipe: [] for recipe in RECIPES}
    for question, found in answers:
        relevant = question.sessions if by == "session" else question.relevant
        if relevant:
            for recipe, units in found.items():
                ranked = list(dict.fromkeys(map(name, units)))
                rows[recipe].append(_measure(ranked, relevant))
    table = {recipe: np.array(each) for recipe, each in rows.items()}
    figures: dict[str, Any] = {
        "questions": len(table[OURS]),
        "recipes": {
            recipe: dict(zip(METRICS, each.mean(axis=0).tolist(), strict=True))
            for recipe, each in table.items()
        },
    }
    figures["above"] = {
        recipe: [float((table[OURS] - each)[:, R5].mean()), *interval((table[OURS] - each)[:, R5])]
        for recipe, each in table.items()
        if recipe != OURS
    }
    return figures


def _measure(ranked: Sequence[str], relevant: frozenset[str]) -> list[float]:
    hits = [each in relevant for each in ranked[:10]]
    first = hits.index(True) + 1 if any(hits) else 0
    return [*(sum(hits[:k]) / len(relevant) for k in (1, 5, 10)), 1 / first if first else 0.0]


def show(figures: dict[str, Any]) -> None:
    before = kept.last("recipes")
    for title, found in figures.items():
        if "skipped" in found:
            print(f"{title}: skipped, {found['skipped']}\n")
            continue
        print(f"{title}, {found['questions']} questions, as memories")
        print(f"  {'':10}" + "".join(f"{metric:>9}" for metric in METRICS))
        for recipe, row in found["recipes"].items():
            line = f"  {recipe:10}" + "".join(f"{row[metric]:9.3f}" for metric in METRICS)
            if recipe in found["above"]:
                mean, low, high = found["above"][recipe]
                line += f"   default above it by {mean:+.3f} ({low:+.3f} … {high:+.3f})"
                line += "" if mean > 0 else "  NOT BEATEN"
            print(line)
        if before.get(title, {}).get("questions") == found["questions"]:
            change = found["recipes"][OURS]["R@5"] - before[title]["recipes"][OURS]["R@5"]
            print(f"  R@5 of default since the last run: {change:+.3f}")
        print()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.recipes", description=__doc__)
    parser.add_argument("--all", action="store_true", help=f"all questions, not {SAMPLE} of a set")
    parser.add_argument("--cache", type=Path, default=kept.OUT / "cache", help="where vectors are kept")
    parser.add_argument("--held", action="store_true", help="our own held-out questions; never to tune by")
    options = parser.parse_args()
    figures = run(options.cache, None if options.all else SAMPLE, options.held)
    show(figures)
    print(f"Figures are in {kept.keep('recipes', figures)}")


if __name__ == "__main__":
    main()
