"""Which files a commit will touch, from its message, with all of the project's history before it and nothing after.

Needs `../shared/data/git_tasks` beside the repository and RECOLLECT_BENCH_REPOS (bench/checkouts.py). Beside it plain BM25
over the text of the same files, without tests and documents: the same words, no fields, names, links or history.
"""

import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from bench.checkouts import NEEDS, Checkout, checkouts, git_dir
from recollect.code.paths import FileRole, classify_files
from recollect.code.relevant.index import Field, Index, Texts, top_scores
from recollect.code.relevant.question import question_terms
from recollect.code.relevant.search import relevant

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "git_tasks"
REPOSITORIES = {"requests": "psf/requests", "httpx": "encode/httpx", "flask": "pallets/flask"}
FIRST = 10
TARGET = 0.87


def tasks_of(name: str) -> list[dict[str, Any]]:
    """In order of time, each with its row in the file."""
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
    return sorted(({**row, "row": number} for number, row in enumerate(rows)), key=lambda row: row["date"])


def missing() -> str | None:
    if not DATA.exists():
        return f"needs {DATA}"
    return None if all(git_dir(repository) for repository in REPOSITORIES.values()) else NEEDS


def run() -> dict[str, Any]:
    if reason := missing():
        return {"skipped": reason}
    details = {name: _solved(name, repository) for name, repository in REPOSITORIES.items()}
    everything = [each for solved in details.values() for each in solved]
    return {
        **{name: _figures(solved) for name, solved in details.items()},
        "average": _figures(everything),
        "even rows": _figures([each for each in everything if each["row"] % 2 == 0]),
        "odd rows": _figures([each for each in everything if each["row"] % 2]),
        "details": details,
    }


def _solved(name: str, repository: str) -> list[dict[str, Any]]:
    source = git_dir(repository)
    assert source is not None
    tasks = tasks_of(name)
    solved = []
    for task, at in zip(tasks, checkouts(source, [task["parent"] for task in tasks]), strict=True):
        text = f"{task['subject']}\n{task['body']}"
        ways = {
            "ours": [file.path for file in relevant(at.graph, at.root, text, history=at.history).files],
            "no history": [file.path for file in relevant(at.graph, at.root, text).files],
            "BM25": plain(at, text),
        }
        solved.append({"row": task["row"], "files": task["files"], "found": ways})
    return solved


def plain(at: Checkout, text: str) -> list[str]:
    kinds = classify_files(at.graph.paths)
    texts = {path: terms for path, terms in at.graph.terms() if kinds.get(path, ("",))[0] is FileRole.CODE}
    scores = Index([Field(Texts.of(texts.values()), length_penalty=0.75)], half_saturation=1.2).scores(
        dict.fromkeys(question_terms(text), 1.0)
    )
    paths = np.array(list(texts))
    return [str(path) for path in paths[top_scores(scores, FIRST)]]


def _figures(solved: list[dict[str, Any]]) -> dict[str, Any]:
    def recall(way: str, k: int) -> float:
        return statistics.mean(
            len(set(each["files"]) & set(each["found"][way][:k])) / len(each["files"]) for each in solved
        )

    ways = ("BM25", "no history", "ours")
    return {"tasks": len(solved)} | {way: {f"R@{k}": recall(way, k) for k in (1, 5, 10)} for way in ways}


def show(figures: dict[str, Any]) -> None:
    print(f"{'':22}{'tasks':>6}  {'BM25 R@1  @5   @10':22}{'no history':22}{'with history':22}")
    for name, told in figures.items():
        if name != "details":
            cells = "   ".join(
                "  ".join(f"{told[way][f'R@{k}']:.3f}" for k in (1, 5, 10))
                for way in ("BM25", "no history", "ours")
            )
            print(f"{name:22}{told['tasks']:>6}  {cells}")
    print(f"target: R@5 with history ≥ {TARGET} on average, and above BM25 in each")


if __name__ == "__main__":
    result = run()
    print(f"skipped: {result['skipped']}") if "skipped" in result else show(result)
