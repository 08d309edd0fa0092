"""The kinds of work in a task, and the rules that are found by them."""

import re
from pathlib import Path

import pytest

from recollect.memory.search import activities
from recollect.memory.search.activities import activities_in

TABLE = Path(activities.__file__).with_name("data") / "activities.txt"


@pytest.mark.parametrize(
    ("task", "activity"),
    [
        ("add a column 'note' to the orders table", "migration"),
        ("I'd like to get 0.13.4 out today", "release"),
        ("let users cancel by POST /v2/skips/", "endpoint"),
        ("add --dry-run to the sync", "command line"),
        ("fill the new sales features back to 2022", "backfill"),
        ("npm i left-pad and use it", "dependency"),
        ("write a test for the parser", "test"),
    ],
)
def test_a_task_names_its_kind_of_work(task, activity):
    assert activity in activities_in(task)


def test_what_a_task_begins_with_counts_more():
    first, later = (
        activities_in("deploy the new shop"),
        activities_in("when you have seen all the texts, deploy"),
    )

    assert first["deploy"] > later["deploy"]


def test_a_phrase_reaches_over_some_words_but_not_over_a_sentence():
    assert "backfill" in activities_in("fill it all back")
    assert "backfill" not in activities_in("fill in the form for the office and bring it back")


def test_a_task_without_any_kind_of_work_names_none():
    assert activities_in("the spinner keeps turning") == {}


def test_a_long_hostile_task_is_read_in_part():
    assert activities_in("x" * activities.LONGEST_TASK + " deploy") == {}
    activities_in("add " * 100_000)


def test_every_cue_of_the_table_is_found_in_a_task_that_says_it():
    said = {
        (activity.name, cue)
        for activity in activities._activities()
        for cues in activity.cues.values()
        for cue in cues
    }

    assert len(said) > 500
    assert [(name, cue) for name, cue in said if name not in activities_in(cue.replace(" *", ""))] == []


def test_the_table_names_each_activity_once_with_cues_and_words():
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    names = [line.split(" | ")[0] for line in lines]

    assert len(set(names)) == len(names) > 50
    assert all(len(line.split(" | ")) == 3 for line in lines)
    assert all(re.fullmatch(r"[\w+-]+", word) for line in lines for word in line.split(" | ")[2].split(", "))


def test_a_rule_is_found_by_the_work_that_it_is_about(engine):
    rule = engine.remember("Migrations run forward only; test them with make squawk", kind="convention")
    engine.remember("Orders are packed on Wednesday", kind="fact")

    answer = engine.search("add a nullable column for the gift note", task=True)

    assert answer.results[0].memory.id == rule.id
    assert answer.results[0].why["parts"]["activity"] > 0


def test_the_work_counts_less_for_a_question_than_for_a_task(engine):
    engine.remember("Migrations run forward only; test them with make squawk", kind="convention")

    asked, ordered = (engine.search("add a nullable column", task=task).results[0] for task in (False, True))

    assert 0 < asked.why["parts"]["activity"] < ordered.why["parts"]["activity"]
