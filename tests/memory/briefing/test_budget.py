from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memory.briefing.budget import SHARES, Allocation, allocate, task_share

CONTEXTS = st.integers(-1000, 300_000)
CEILINGS = st.integers(-10, 20_000)


@pytest.mark.parametrize(
    ("remaining", "allocation"),
    [
        (100_000, Allocation(5000, always=400, bridge=2300, task=1500, summaries=600)),
        (50_000, Allocation(4000, always=320, bridge=1840, task=1200, summaries=600)),
        (20_000, Allocation(1600, always=200, bridge=720, task=480, summaries=200)),
        (15_000, Allocation(1200, always=200, bridge=500, task=300, summaries=200)),
        (8_000, Allocation(640, always=200, bridge=440, task=0, summaries=0)),
        (2_000, Allocation(160, always=160, bridge=0, task=0, summaries=0)),
        (12, Allocation(0, 0, 0, 0, 0)),
        (0, Allocation(0, 0, 0, 0, 0)),
        (-1, Allocation(0, 0, 0, 0, 0)),
    ],
)
def test_the_remaining_context_decides_what_each_tier_gets(remaining, allocation):
    assert replace(allocate(remaining), map=0, files=0) == allocation


@pytest.mark.parametrize(
    ("remaining", "table"),
    [
        (100_000, (5000, 400, 2300, 1500, 600)),
        (50_000, (4000, 320, 1840, 1196, 600)),
        (20_000, (1600, 200, 700, 500, 200)),
    ],
)
def test_parts_are_within_6_percent_of_the_table_of_seed_003(remaining, table):
    made = allocate(remaining)

    parts = (made.total, made.always, made.bridge, made.task, made.summaries)
    assert parts == pytest.approx(table, rel=0.06)


def test_a_user_can_lower_and_raise_the_ceiling():
    assert allocate(100_000, ceiling=1200).total == 1200
    assert allocate(1_000_000, ceiling=9000).total == 9000
    assert allocate(100_000, ceiling=0) == allocate(100_000, ceiling=-5) == Allocation(0, 0, 0, 0, 0)


@given(CONTEXTS, CEILINGS)
def test_parts_never_exceed_the_total_nor_the_total_its_limits(remaining, ceiling):
    made = allocate(remaining, ceiling)

    parts = {name: getattr(made, name) for name in SHARES}
    assert all(0 <= part <= SHARES[name].most for name, part in parts.items())
    assert sum(parts.values()) <= made.total <= max(0, ceiling)
    assert made.total * 100 <= max(0, remaining) * 8


@given(CONTEXTS, st.integers(0, 3000))
def test_no_part_shrinks_when_more_context_remains(remaining, more):
    less, greater = allocate(remaining), allocate(remaining + more)

    assert all(getattr(less, name) <= getattr(greater, name) for name in ("total", *SHARES))


@given(st.integers(15_000, 300_000))
def test_every_part_has_its_minimum_where_all_minimums_fit(remaining):
    made = allocate(remaining)

    assert all(getattr(made, name) >= share.least for name, share in SHARES.items())


def test_the_map_takes_up_to_a_third_of_the_task_share():
    assert allocate(100_000).map == 500
    assert allocate(0).map == 0


@pytest.mark.parametrize(
    ("remaining", "unused", "share"),
    [(8000, 440, 440), (20_000, 720, 1200), (50_000, 1840, 1500), (8000, -3, 0)],
)
def test_what_earlier_tiers_leave_flows_to_the_task_up_to_its_maximum(remaining, unused, share):
    assert task_share(allocate(remaining), unused) == share
