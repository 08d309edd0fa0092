"""The five factors, with worked numbers."""

from datetime import timedelta
from math import exp

import pytest
from making import NOON, call, item

from recollect.work.window.item import ItemType
from recollect.work.window.relevance import relevance


@pytest.mark.parametrize(
    "minutes, expected",
    [(0, 1.5), (30, 1.5 * 0.606531), (60, 1.5 * 0.367879), (120, 1.5 * 0.135335), (-5, 1.5)],
)
def test_relevance_falls_to_a_third_in_an_hour(minutes, expected):
    assert relevance(item(minutes=minutes), NOON, None, 0) == pytest.approx(expected, rel=1e-5)


def test_only_whole_minutes_count():
    assert relevance(item(minutes=1), NOON + timedelta(seconds=59), None, 0) == pytest.approx(
        1.5 * exp(-1 / 60)
    )


@pytest.mark.parametrize(
    "task, current, expected", [("t1", "t1", 3.0), ("t1", "t2", 1.5), (None, "t1", 1.5), (None, None, 1.5)]
)
def test_an_item_of_the_current_task_counts_twice(task, current, expected):
    assert relevance(item(task=task), NOON, current, 0) == expected


@pytest.mark.parametrize("dependents, expected", [(0, 1.5), (1, 1.8), (2, 2.1), (5, 3.0)])
def test_each_dependent_adds_a_fifth(dependents, expected):
    assert relevance(item(), NOON, None, dependents) == pytest.approx(expected)


@pytest.mark.parametrize(
    "made, expected",
    [
        (item(type=ItemType.SYSTEM), 100.0),
        (item(type=ItemType.TASK), 2.0),
        (item(type=ItemType.USER), 1.5),
        (call("a", "c1"), 1.2),
        (item(type=ItemType.ASSISTANT), 0.9),
        (item(type=ItemType.TOOL_RESULT), 0.8),
        (item(type=ItemType.CODE), 0.7),
        (item(type=ItemType.GRAPH), 0.6),
    ],
)
def test_each_type_has_its_weight(made, expected):
    assert relevance(made, NOON, None, 0) == expected


@pytest.mark.parametrize("given, expected", [(1.0, 1.5), (0.5, 0.75), (0.0, 0.0)])
def test_what_was_said_to_be_relevant_is_multiplied_in(given, expected):
    assert relevance(item(relevance=given), NOON, None, 0) == expected


def test_all_five_factors_together():
    made = item(type=ItemType.CODE, minutes=60, task="t1", relevance=0.5)

    # e^-1 for the hour, 2 for the task, 1 + 3 × 0.2 dependents, 0.7 for code, 0.5 as said
    assert relevance(made, NOON, "t1", 3) == pytest.approx(0.367879 * 2 * 1.6 * 0.7 * 0.5, rel=1e-5)


def test_relevance_is_at_most_a_hundred():
    assert relevance(item(type=ItemType.SYSTEM, task="t1"), NOON, "t1", 10) == 100.0
