"""The bench of what reaches the agent: its data keep their format, and it counts what it says it counts."""

import json
import math

import pytest

from bench.delivery import files, refit
from bench.delivery.datasets import DeliveryTask, load
from bench.delivery.files import FilesOutcome
from bench.delivery.measure import Outcome, figures, outcomes_of
from recollect.kinds import KINDS
from recollect.model import Source
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told

PROJECTS = load("all")


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_a_project_has_enough_memories_and_tasks_of_known_kinds_and_sources(project):
    unknown = [task for task in project.tasks if not task.useful]

    assert len(project.memories) >= 300
    assert len(project.tasks) >= 20
    assert 0.25 <= len(unknown) / len(project.tasks) <= 0.45
    assert {row["kind"] for row in project.memories} <= set(KINDS)
    assert {row["source"] for row in project.memories} <= {source.value for source in Source}
    assert len({row["content"] for row in project.memories}) == len(project.memories)


def test_a_label_that_names_no_memory_is_refused(tmp_path):
    _write(tmp_path, "split.json", {"dev": ["shop"], "unseen": []})
    _write(tmp_path, "shop.memories.jsonl", {"id": "a", "kind": "fact", "content": "x", "source": "observed"})
    _write(tmp_path, "shop.tasks.jsonl", {"id": "t", "prompt": "p", "useful": ["b"], "acceptable": []})

    with pytest.raises(ValueError, match="t: no memory b"):
        load("dev", tmp_path)


def test_all_projects_of_a_folder_without_a_split_are_blind(tmp_path):
    _write(tmp_path, "shop.memories.jsonl", {"id": "a", "kind": "fact", "content": "x", "source": "observed"})
    _write(tmp_path, "shop.tasks.jsonl", {"id": "t", "prompt": "p", "useful": ["a"], "acceptable": []})

    assert [project.name for project in load("blind", tmp_path)] == ["shop"]
    assert load("dev", tmp_path) == []


def test_a_useful_memory_that_is_shown_counts_and_an_acceptable_one_does_not():
    known = DeliveryTask("t1", "p", frozenset({"a", "b"}), frozenset({"c"}))
    unknown = DeliveryTask("t2", "p", frozenset(), frozenset())

    counted = figures([Outcome(known, ("a", "c", "d"), 100), Outcome(unknown, (), 0)])

    assert counted["useful shown"] == 0.5
    assert counted["precision"] == 0.5
    assert counted["silent if unknown"] == 1.0
    assert counted["median tokens"] == 50


def test_a_useful_memory_that_was_told_at_the_start_is_not_missed():
    task = DeliveryTask("t1", "p", frozenset({"a"}), frozenset())

    counted = figures([Outcome(task, (), 0, at_start=frozenset({"a", "b"}))])

    assert counted["useful shown"] == 1.0
    assert counted["precision"] is None  # nothing was shown for the prompt


def test_every_system_is_asked_through_a_real_store(tmp_path, embedder):
    _write(tmp_path, "split.json", {"dev": ["shop"], "unseen": []})
    _write(
        tmp_path,
        "shop.memories.jsonl",
        {"id": "pg", "kind": "gotcha", "content": "The local database port is 5437.", "source": "observed"},
        {
            "id": "no",
            "kind": "preference",
            "content": "Answer in English.",
            "source": "user_stated",
            "standing": True,
        },
    )
    _write(
        tmp_path,
        "shop.tasks.jsonl",
        {"id": "t1", "prompt": "which port has the local database", "useful": ["pg"], "acceptable": []},
    )
    (project,) = load("dev", tmp_path)

    results = outcomes_of(project, ("prompt", "recall", "memory agent"), embedder)

    assert {system: outcome.shown for system, (outcome,) in results.items()} == dict.fromkeys(
        results, ("pg",)
    )


def test_files_count_as_right_for_commits_and_as_wrong_where_none_is_concerned():
    counted = files.figures(
        [
            FilesOutcome(frozenset({"a.py"}), ("b.py", "a.py")),
            FilesOutcome(frozenset({"a.py"}), ("b.py",)),
            FilesOutcome(frozenset(), ("b.py",)),
            FilesOutcome(frozenset(), ()),
        ]
    )

    assert counted["right file shown"] == 0.5
    assert counted["files, if any"] == 1.5
    assert counted["none shown"] == 0.5


def _write(folder, name, *rows):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_refit_finds_by_how_much_the_probabilities_are_off():
    shown = [(0.5, number % 5 == 0) for number in range(300)] + [
        (0.9, number % 2 == 0) for number in range(300)
    ]

    slope, shift = refit.correction(shown)

    assert 1 / (1 + math.exp(-shift)) == pytest.approx(0.2, abs=0.01)
    assert 1 / (1 + math.exp(-(slope * math.log(9) + shift))) == pytest.approx(0.5, abs=0.01)
    assert refit.correction(shown[:10]) is None


def test_a_refit_reads_what_was_shown_and_used(engine):
    engine.remember("The payment webhook retries must be idempotent.", kind="gotcha")
    request = DeliveryRequest(
        Moment.PROMPT, "Make the payment webhook retries idempotent, please", session="s1"
    )
    shown = engine.delivery.compose(request, Told(has_started=True))
    engine.delivery.note_used("s1", shown.memories)
    engine.delivery.flush()

    result = refit.run(engine)

    assert result["items"] == 1
    assert sum(count * used for _, _, count, used in result["bins"]) == 1
