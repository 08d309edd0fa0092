"""What leaves a window, and what never does."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making import NOON, call, item, result, windows

from recollect.errors import Refused
from recollect.work.window.item import ItemType, Text
from recollect.work.window.pairs import units_of
from recollect.work.window.prune import LATEST, SHARE, SHORTEST, SPARE, STUB, prune

LIMITS = st.sampled_from([600, 1_500, 6_000])


def total(items):
    return sum(each.tokens for each in items)


def pruned_to(items, limit):
    """Pruned for task t1. Windows whose sticky items leave no room for anything else are refused, and not tested here."""
    sticky = [each for each in items if each.sticky]
    assume(total(sticky) + STUB * (len(sticky) + 1) <= limit)
    return prune(items, limit, NOON, "t1")


def large(name, minutes=0, type=ItemType.USER, **details):
    return item(name, type, minutes=minutes, tokens=1_000, **details)


def row(count, name="item", age=10, **details):
    """A window of large items, the first the oldest."""
    return [large(f"{name}{number:02}", minutes=age * (count - number), **details) for number in range(count)]


def left(pruned):
    return [each.id for each in pruned.items if not each.is_stub]


def test_a_window_up_to_four_fifths_full_is_left_alone():
    items = row(8)

    assert prune(items, 10_000, NOON).items == tuple(items)


def test_above_that_a_third_of_it_goes_the_least_relevant_first():
    items = row(10)
    items[3] = large("dull", minutes=0, relevance=0.0)

    pruned = prune(items, 12_000, NOON)

    assert [unit.id for unit in pruned.removed] == ["item00", "item01", "dull"]
    assert [each.id for each in pruned.trimmed] == ["item02"]
    assert total(pruned.items) <= (1 - SHARE) * total(items)


def test_a_stub_with_the_id_stays_in_place_of_what_went():
    items = [large("first", 900), *row(9)]

    pruned = prune(items, 12_000, NOON)

    assert pruned.items[0].is_stub
    assert pruned.items[0].stands_for[0] == "first"
    assert "item" in pruned.items[0].content


def test_stubs_in_a_row_become_one():
    items = row(20)
    once = prune(items, 22_000, NOON).items

    twice = prune([*once, *row(8, "later", 1)], 22_000, NOON).items

    assert [each.is_stub for each in twice].count(True) == 1
    assert twice[0].tokens <= STUB
    assert twice[0].stands_for[: len(once[0].stands_for)] == once[0].stands_for


def test_the_last_items_and_the_last_user_message_are_kept():
    said = large("asked", minutes=300)
    done = [large(f"done{number}", 299 - number, ItemType.ASSISTANT) for number in range(12)]

    pruned = prune([said, *done], 13_000, NOON)

    assert left(pruned)[0] == "asked"
    assert left(pruned)[-LATEST:] == [each.id for each in done[-LATEST:]]


def test_a_third_goes_of_one_long_turn_too():
    done = [large(f"done{number}", 299 - number, ItemType.ASSISTANT) for number in range(30)]

    pruned = prune([large("asked", minutes=300), *done], 32_000, NOON)

    assert total(pruned.items) <= (1 - SHARE) * 31_000
    assert pruned.removed[0].id == "done0"


def test_the_state_of_the_current_task_is_kept_and_of_others_is_not():
    states = [large(f"state-{task}", 900, ItemType.TASK, task=task) for task in ("t1", "t2")]

    pruned = prune([*states, *row(10)], 13_000, NOON, "t2")

    assert "state-t2" in left(pruned)
    assert "state-t1" not in left(pruned)


def test_a_response_with_several_calls_goes_with_all_of_their_results():
    calls = call("acts", "c1", "c2", minutes=900)
    answers = [result("r1", "c1", minutes=899), result("r2", "c2", minutes=898, tokens=3_000)]

    pruned = prune([calls, *answers, *row(10)], 13_500, NOON)

    assert pruned.removed[0].items == (calls, *answers)


def test_a_dependency_that_went_is_named_by_a_stub():
    items = [large("base", 900), *row(9, dependencies=("gone",)), large("user of it", dependencies=("base",))]

    pruned = prune(items, 12_000, NOON)

    assert "base" not in left(pruned)
    assert any("base" in each.stands_for for each in pruned.items)


def test_a_small_item_goes_only_where_it_joins_a_stub():
    small = [item(f"small{number}", minutes=800 - number) for number in range(3)]
    items = [large("old", 900), small[0], *row(4), small[1], *row(8), small[2]]

    pruned = prune(items, 15_000, NOON)

    assert "small0" not in left(pruned)
    assert "small1" in left(pruned)


def test_one_huge_item_is_cut_short_rather_than_sent():
    huge = item("huge", parts=[Text("the till prints twice\n" * 40_000)])

    pruned = prune([item("asked"), huge], 10_000, NOON)

    assert total(pruned.items) <= 10_000
    assert pruned.trimmed == (huge,)
    assert pruned.items[-1].cut
    assert "the whole text is" in pruned.items[-1].content


def test_sticky_items_that_do_not_fit_are_refused():
    with pytest.raises(Refused, match="is too small"):
        prune([large("system", type=ItemType.SYSTEM, sticky=True)], 900, NOON)


@given(windows(), LIMITS)
def test_sticky_items_are_never_removed_or_changed(items, limit):
    pruned = pruned_to(items, limit)

    assert [each for each in pruned.items if each.sticky] == [
        each for unit in units_of(items) for each in unit.items if each.sticky
    ]


@given(windows(), LIMITS)
def test_calls_and_results_are_never_parted(items, limit):
    pruned = pruned_to(items, limit)

    calls = [name for each in pruned.items for name in each.calls]
    assert calls == [each.answers for each in pruned.items if each.answers]


@given(windows(), LIMITS)
def test_the_total_falls_by_what_went_less_the_stubs(items, limit):
    pruned = pruned_to(items, limit)

    stubs = total(each for each in pruned.items if each.is_stub)
    went = sum(unit.tokens for unit in pruned.removed)
    cut = total(pruned.trimmed) - total(
        each for each in pruned.items if each.id in {old.id for old in pruned.trimmed}
    )
    assert total(pruned.items) == total(items) - went - cut + stubs


@given(windows(), LIMITS)
def test_what_is_left_always_fits(items, limit):
    assert total(pruned_to(items, limit).items) <= limit


@given(windows(), LIMITS)
def test_nothing_changes_below_the_threshold(items, limit):
    once = pruned_to(items, limit).items
    roomy = total(once) * 2

    assert prune(once, roomy, NOON, "t1").items == once


@given(windows(), LIMITS)
def test_the_same_window_is_pruned_the_same_way(items, limit):
    assert pruned_to(items, limit) == prune(list(items), limit, NOON, "t1")


@given(windows(), LIMITS)
def test_every_item_is_there_or_named_by_a_stub(items, limit):
    pruned = pruned_to(items, limit)

    named = {each.id for each in pruned.items} | {name for each in pruned.items for name in each.stands_for}
    assert {each.id for each in items} <= named


@given(
    st.lists(st.integers(1, 3_000), min_size=12, max_size=40),
    st.lists(st.floats(0, 1), min_size=40, max_size=40),
)
def test_about_thirty_percent_is_removed_however_large_single_items_are(sizes, relevances):
    items = [
        item(f"item{number:02}", ItemType.CODE, [Text("a line of code\n" * size)], relevance=relevance)
        for number, (size, relevance) in enumerate(zip(sizes, relevances, strict=False))
    ]
    newest = total(items[-LATEST:])
    assume(newest <= 0.6 * total(items))  # the newest stay: the rest must be enough to remove
    assume(total(items) >= 100 * STUB)

    pruned = prune(items, int(total(items) / 0.9), NOON)

    removed = 1 - total(pruned.items) / total(items)
    stubs = STUB * (len(pruned.items) + 1) / total(items)
    assert SHARE <= removed <= SHARE + SPARE + stubs + SHORTEST / total(items)


def test_a_large_result_is_shortened_and_not_lost_with_its_call():
    text = "a line of output\n" * 4_000
    items = [call("call", "c1", minutes=60), result("big", "c1", text, minutes=60), *row(8)]

    pruned = prune(items, int(total(items) / 0.9), NOON)

    big = next(each for each in pruned.items if each.id == "big")
    assert big.cut
    assert [each.id for each in pruned.trimmed] == ["big"]
    assert 0.65 * total(items) <= total(pruned.items) <= 0.7 * total(items)
