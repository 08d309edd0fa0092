from datetime import UTC, datetime, timedelta

import pytest

import recollect.model as m
from recollect.context import confirmed_time
from recollect.context.confirmed_time import APART, STEP, ClockMark, see_clock, sighted

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def after(*times, mark=MAY):
    """What is believed after the clock has shown these times, as days since the mark."""
    found = ClockMark(mark)
    for days in times:
        found = sighted(found, mark + days * DAY)
    return (found.confirmed - mark) / DAY


@pytest.mark.parametrize(
    ("seen", "believed"),
    [
        ((1, 2, 9), 9),  # day by day
        ((3650,), 0),  # ten years ahead, once
        ((3650, 1), 1),  # and corrected
        ((3650, 3650.1), 0),  # twice within hours
        ((3650, 3651), 3651),  # twice, a day apart
        ((21, 21.1, 22), 22),  # back from a holiday
        ((30, 60, 90), 60),  # used once a month: two runs agree on the earlier time
        ((30, 3650), 30),  # back from a holiday, then ten years ahead
        ((30, 3650, 31), 31),
        ((-4000,), -4000),  # set back: nothing expires by that
        ((-4000, 1), -4000),
        ((-4000, 1, 2), 2),
    ],
)
def test_a_jump_is_believed_as_far_as_two_sightings_agree(seen, believed):
    assert after(*seen) == pytest.approx(believed)


def test_the_time_that_is_believed_never_runs_ahead_of_the_clock():
    mark = ClockMark(MAY)
    for hours in (1, 200, 5000, 5001, 5100, 90_000, 90_013, 100, 101):
        now = MAY + timedelta(hours=hours)
        mark = sighted(mark, now)
        assert mark.confirmed <= now
    assert STEP < 14 * DAY and APART < STEP


@pytest.mark.parametrize(
    "noted",
    [["2026-11-17T29:52:32.1Z", None], ["2026-11-17T19:52:32.1q2674Z", None], [None, None], [7, 8], []],
)
def test_a_damaged_note_of_the_time_is_replaced(store, noted):
    store.set_setting(None, confirmed_time._SETTING, noted)

    mark = see_clock(store, m.utc_now)

    assert mark.pending is None
    assert store.setting(None, confirmed_time._SETTING) == [m.to_text(mark.confirmed), None]
