"""Which files an issue is about: SWE-bench issues on the repositories as they were then, no language model.

Needs `../shared/data/localisation_dev.jsonl.gz` beside the repository and RECOLLECT_BENCH_REPOS (bench/checkouts.py). A task
is met at k when all the files that its fix changed are among the first k; "most" is how many tasks have no more than k.
Weights were chosen with all rows in view; docs/relevant.md says what they reach on repositories they were not chosen on.

    python -m bench.localisation [owner/name…]
"""

import gzip
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.checkouts import NEEDS, Checkout, checkouts, git_dir
from recollect.code.relevant.search import relevant

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "localisation_dev.jsonl.gz"
KS = (1, 5, 10)
TARGETS = {1: 0.55, 5: 0.78, 10: 0.85}


def run(repositories: Sequence[str] = ()) -> dict[str, Any]:
    if not DATA.exists():
        return {"skipped": f"needs {DATA}"}
    tasks = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()]
    by_repository = defaultdict(list)
    for row, task in enumerate(tasks):
        if not repositories or task["repo"] in repositories:
            by_repository[task["repo"]].append({**task, "row": row})
    if any(git_dir(repository) is None for repository in by_repository):
        return {"skipped": NEEDS}
    done = [result for repository, some in by_repository.items() for result in _solved(repository, some)]
    groups = {
        "all": done,
        "even rows": [each for each in done if each["row"] % 2 == 0],
        "odd rows": [each for each in done if each["row"] % 2],
        "one file to find": [each for each in done if len(each["ranks"]) == 1],
        **{name: [each for each in done if each["repo"] == name] for name in sorted(by_repository)},
    }
    return {**{name: _figures(group) for name, group in groups.items() if group}, "details": done}


def _solved(repository: str, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    source = git_dir(repository)
    assert source is not None
    tasks.sort(key=lambda task: task["created_at"])
    solved = []
    for task, at in zip(tasks, checkouts(source, [task["base_commit"] for task in tasks]), strict=True):
        relevant(at.graph, at.root, "warm", history=at.history)
        begin = time.process_time()
        found = relevant(at.graph, at.root, task["problem_statement"], limit=max(KS), history=at.history)
        took = time.process_time() - begin
        ranks = {file.path: rank for rank, file in enumerate(found.files, 1)}
        solved.append(
            {
                "id": task["instance_id"],
                "repo": repository,
                "row": task["row"],
                "ranks": [ranks.get(path) for path in task["gold_files"]],
                "cpu_ms": took * 1000,
                "growth": _growth(at, tasks) if task is tasks[-1] else None,
            }
        )
    return solved


def _growth(at: Checkout, tasks: list[dict[str, Any]]) -> float:
    """How many times as long a text of 16 KB takes as one of 160 characters, in CPU time."""
    text = "\n".join(task["problem_statement"] for task in tasks) * (1 + 16_000 // 160)

    def seconds(length: int) -> float:
        begin = time.process_time()
        relevant(at.graph, at.root, text[:length], history=at.history)
        return time.process_time() - begin

    return min(seconds(16_000) for _ in range(5)) / min(seconds(160) for _ in range(5))


def _figures(done: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tasks": len(done),
        **{
            f"@{k}": statistics.mean(all(rank and rank <= k for rank in each["ranks"]) for each in done)
            for k in KS
        },
        **{f"possible @{k}": statistics.mean(len(each["ranks"]) <= k for each in done) for k in KS},
        "cpu_ms": statistics.median(each["cpu_ms"] for each in done),
        "growth": max((each["growth"] for each in done if each["growth"]), default=0.0),
    }


def show(figures: dict[str, Any]) -> None:
    print(
        f"{'':22}{'tasks':>6}"
        + "".join(f"{f'@{k}':>8}{'(most)':>8}" for k in KS)
        + f"{'CPU ms':>8}{'16 KB':>8}"
    )
    for name, told in figures.items():
        if name != "details":
            cells = "".join(f"{told[f'@{k}']:8.3f}{told[f'possible @{k}']:8.3f}" for k in KS)
            longer = f"{told['growth']:6.1f} ×" if told["growth"] else ""
            print(f"{name:22}{told['tasks']:>6}{cells}{told['cpu_ms']:8.0f}{longer:>8}")
    print(f"{'target':28}" + "".join(f"{TARGETS[k]:8.2f}{'':8}" for k in KS))


def main() -> None:
    result = run(sys.argv[1:])
    if "skipped" in result:
        print(f"skipped: {result['skipped']}")
        return
    show(result)


if __name__ == "__main__":
    main()
