"""Count what is shown for each task of bench/data/delivery: useful, wrong, or nothing where nothing is known."""

import shutil
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.delivery.datasets import DATA, NOW, DeliveryProject, DeliveryTask, import_memories, load
from bench.delivery.systems import FILES, SYSTEMS, PromptAnswer
from recollect.config import load_settings
from recollect.context.embedder import Embedder
from recollect.engine import Engine

TARGETS = "targets: useful shown ≥ .75, precision ≥ .50, silent for ≥ .90 of the unknown, median ≤ 250 tokens"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was shown for one task; pinned memories do not count."""

    task: DeliveryTask
    shown: tuple[str, ...]  # in order of the text, ids as in the file
    tokens: int
    at_start: frozenset[str] = frozenset()  # told at the start of the session, and not again

    @property
    def useful(self) -> frozenset[str]:
        """The useful memories that the agent has been told, for the prompt or before."""
        return self.task.useful & (frozenset(self.shown) | self.at_start)

    @property
    def wrong(self) -> frozenset[str]:
        return frozenset(self.shown) - self.task.useful - self.task.acceptable


def run(
    split: str = "all",
    systems: Sequence[str] = tuple(SYSTEMS),
    embedder: Embedder | None = None,
    folder: Path = DATA,
    situations: str = "agents",
) -> dict[str, Any]:
    """Return the figures by system, and for each by project and split. Details list what was missed and what was wrong."""
    projects = load(split, folder)
    outcomes = [outcomes_of(project, systems, embedder, situations) for project in projects]
    return {
        **{
            system: _by_group(
                [
                    (project, some[system])
                    for project, some in zip(projects, outcomes, strict=True)
                    if some[system]
                ]
            )
            for system in systems
        },
        "details": {
            system: [_detail(outcome) for some in outcomes for outcome in some[system]] for system in systems
        },
    }


def outcomes_of(
    project: DeliveryProject,
    systems: Iterable[str],
    embedder: Embedder | None = None,
    situations: str = "agents",
) -> dict[str, list[Outcome]]:
    """Ask each system for each task. Each system has a copy of the store: some of them learn from being asked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / project.name
        folder.mkdir()
        home = Path(name) / "home"
        with open_engine(folder, home, embedder) as engine:
            names = import_memories(engine, project, situations)
        results = {}
        for system in systems:
            if system == FILES and not project.has_opens:
                results[system] = []
                continue
            copy = Path(name) / system.replace(" ", "-")
            shutil.copytree(home, copy)
            with open_engine(folder, copy, embedder) as engine, SYSTEMS[system](engine) as ask:
                results[system] = [_outcome(project, names, task, ask(task)) for task in project.tasks]
        return results


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures over these tasks. Precision counts wrong memories in all tasks, also where nothing is known."""
    told = sum(len(outcome.useful) for outcome in outcomes)
    useful = sum(len(outcome.task.useful & frozenset(outcome.shown)) for outcome in outcomes)
    wrong = sum(len(outcome.wrong) for outcome in outcomes)
    wanted = sum(len(outcome.task.useful) for outcome in outcomes)
    unknown = [outcome for outcome in outcomes if not outcome.task.useful]
    sizes = sorted(outcome.tokens for outcome in outcomes)
    return {
        "tasks": len(outcomes),
        "useful shown": told / wanted if wanted else None,
        "precision": useful / (useful + wrong) if useful + wrong else None,
        "silent if unknown": sum(not outcome.shown for outcome in unknown) / len(unknown)
        if unknown
        else None,
        "memories a task": statistics.mean(len(outcome.shown) for outcome in outcomes),
        "median tokens": statistics.median(sizes),
        "p95 tokens": sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))],
    }


def show(result: dict[str, Any]) -> None:
    columns = (
        "useful shown",
        "precision",
        "silent if unknown",
        "memories a task",
        "median tokens",
        "p95 tokens",
    )
    print(f"{'':32}{'tasks':>6}" + "".join(f"{column:>19}" for column in columns))
    for system, groups in result.items():
        if system == "details":
            continue
        for group, counted in groups.items():
            cells = "".join(f"{_cell(counted[column], column):>19}" for column in columns)
            print(f"{system + ', ' + group:32}{counted['tasks']:>6}{cells}")
    print(TARGETS)


def _cell(value: float | None, column: str) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if "tokens" in column else f"{value:.2f}".removeprefix("0")


def _by_group(results: Sequence[tuple[DeliveryProject, list[Outcome]]]) -> dict[str, Any]:
    groups = {project.name: outcomes for project, outcomes in results}
    for split in dict.fromkeys(project.split for project, _ in results):
        groups[split] = [outcome for project, some in results if project.split == split for outcome in some]
    return {name: figures(outcomes) for name, outcomes in groups.items()}


def open_engine(folder: Path, home: Path, embedder: Embedder | None) -> Engine:
    settings = load_settings(home, environment={}, user="ada")
    # Without deadlines, so that a figure does not depend on what else the machine does.
    return Engine.open(folder, settings=settings, clock=lambda: NOW, embedder=embedder, has_deadlines=False)


def _outcome(
    project: DeliveryProject, names: dict[str, str], task: DeliveryTask, answer: PromptAnswer
) -> Outcome:
    shown = (names[memory] for memory in answer.memories)
    at_start = frozenset(names[memory] for memory in answer.at_start)
    return Outcome(task, tuple(name for name in shown if name not in project.pinned), answer.tokens, at_start)


def _detail(outcome: Outcome) -> dict[str, Any]:
    return {
        "task": outcome.task.id,
        "prompt": outcome.task.prompt,
        "missed": sorted(outcome.task.useful - outcome.useful),
        "wrong": sorted(outcome.wrong),
        "useful": sorted(outcome.useful),
        "tokens": outcome.tokens,
    }
