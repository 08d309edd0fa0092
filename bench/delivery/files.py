"""Which files are shown for a prompt: the right one for real commits, none for prompts that concern no file.

The prompt of a commit is its subject, asked of the files and the history before it. Commits are those of bench/git_tasks.py and of
`commits.jsonl`, which has their hashes only; both need RECOLLECT_BENCH_REPOS (bench/checkouts.py). The other prompts are
asked in the middle and at the end of each repository's commits.
"""

import json
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import git_tasks
from bench.checkouts import NEEDS, Checkout, checkouts, git_dir
from bench.delivery.datasets import DATA, SPLITS
from recollect.code.paths import FileRole, classify_files
from recollect.code.relevant.evidence import worth_showing
from recollect.code.relevant.search import relevant

TARGETS = "targets: the right file shown for ≥ .70 of the commits, none shown for ≥ .80 of the prompts about no file"


@dataclass(frozen=True, slots=True)
class CommitTask:
    parent: str
    subject: str
    files: frozenset[str]  # code files that it changed and that were there before
    date: int


@dataclass(frozen=True, slots=True)
class FilesOutcome:
    right: frozenset[str]  # empty = the prompt concerns no file
    shown: tuple[str, ...]


def run(split: str = "all") -> dict[str, Any]:
    wanted = SPLITS if split == "all" else (split,)
    outcomes: dict[str, dict[str, list[FilesOutcome]]] = {}
    for part in wanted:
        for repository, tasks in _commits(part).items():
            source = git_dir(repository)
            if source is None:
                return {"skipped": f"{repository}: {NEEDS}"}
            outcomes.setdefault(part, {})[repository] = list(_outcomes(source, tasks, _prompts(part)))
    return {
        name: figures(some)
        for part, by_repository in outcomes.items()
        for name, some in {
            **by_repository,
            part: [outcome for some in by_repository.values() for outcome in some],
        }.items()
    }


def figures(outcomes: Sequence[FilesOutcome]) -> dict[str, Any]:
    commits = [outcome for outcome in outcomes if outcome.right]
    others = [outcome for outcome in outcomes if not outcome.right]
    sizes = [len(outcome.shown) for outcome in commits if outcome.shown]
    return {
        "commits": len(commits),
        "right file shown": statistics.mean(bool(outcome.right & set(outcome.shown)) for outcome in commits),
        "any shown": statistics.mean(bool(outcome.shown) for outcome in commits),
        "files, if any": statistics.mean(sizes) if sizes else 0.0,
        "prompts about no file": len(others),
        "none shown": statistics.mean(not outcome.shown for outcome in others),
    }


def show(result: dict[str, Any]) -> None:
    if "skipped" in result:
        print(f"files skipped: {result['skipped']}")
        return
    columns = (
        "commits",
        "right file shown",
        "any shown",
        "files, if any",
        "prompts about no file",
        "none shown",
    )
    print(f"{'':20}" + "".join(f"{column:>{len(column) + 3}}" for column in columns))
    for name, row in result.items():
        cells = (
            f"{row[column]:.2f}" if isinstance(row[column], float) else row[column] for column in columns
        )
        print(
            f"{name:20}"
            + "".join(f"{cell:>{len(column) + 3}}" for cell, column in zip(cells, columns, strict=True))
        )
    print(TARGETS)


def _outcomes(source: Path, tasks: Sequence[CommitTask], prompts: Sequence[str]) -> Iterator[FilesOutcome]:
    ordered = sorted(tasks, key=lambda task: task.date)
    trees = checkouts(source, [task.parent for task in ordered])
    for number, (task, tree) in enumerate(zip(ordered, trees, strict=True)):
        yield FilesOutcome(task.files, _shown(tree, task.subject))
        if number in (len(ordered) // 2, len(ordered) - 1):
            for prompt in prompts:
                yield FilesOutcome(frozenset(), _shown(tree, prompt))


def _shown(tree: Checkout, prompt: str) -> tuple[str, ...]:
    found = relevant(tree.graph, tree.root, prompt, budget=0, history=tree.history)
    return tuple(file.path for file in worth_showing(found, tree.graph))


def _prompts(split: str) -> list[str]:
    rows = map(json.loads, (DATA / "no_file_prompts.jsonl").read_text(encoding="utf-8").splitlines())
    return [row["prompt"] for row in rows if row["split"] == split]


def _commits(split: str) -> dict[str, list[CommitTask]]:
    """Return the tasks of each repository; git's data is read where the repository is there."""
    tasks: dict[str, list[CommitTask]] = {}
    if split == "dev" and git_tasks.DATA.exists():
        for name, repository in git_tasks.REPOSITORIES.items():
            tasks[repository] = [
                CommitTask(row["parent"], row["subject"], frozenset(row["files"]), row["date"])
                for row in git_tasks.tasks_of(name)
            ]
    for row in map(json.loads, (DATA / "commits.jsonl").read_text(encoding="utf-8").splitlines()):
        if row["split"] == split:
            source = git_dir(row["repository"])
            tasks.setdefault(row["repository"], []).extend([_commit(source, row["sha"])] if source else [])
    return tasks


def _commit(source: Path, sha: str) -> CommitTask:
    shown = subprocess.run(
        ["git", "-C", source, "show", "--name-status", "--no-renames", "--format=%P%x00%s%x00%ct", sha],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    head, _, changes = shown.partition("\n")
    parents, subject, date = head.split("\0")
    paths = [line.partition("\t")[2] for line in changes.splitlines() if line.startswith("M\t")]
    roles = classify_files(paths)
    code = frozenset(path for path in paths if path in roles and roles[path][0] is FileRole.CODE)
    return CommitTask(parents.split()[0], subject, code, int(date))
