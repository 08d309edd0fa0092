"""Dates in questions about messages."""

from datetime import date

import pytest

from recollect.memory.search.dates import MOST_DAYS, dates_in

TODAY = date(2026, 5, 14)  # a Thursday


def meant(question: str) -> set[str]:
    return {name for _, names in dates_in(question, TODAY) for name in names}


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what did we decide yesterday?", {"20260513"}),
        ("what broke on Monday", {"20260511"}),
        ("who was on call last thursday", {"20260507"}),
        ("the talk of 2026-03-09 or 2026/03/10", {"20260309", "20260310"}),
        ("what I said three days ago", {"20260511"}),
        ("what happened in the last 2 days", {"20260514", "20260513", "20260512"}),
        ("what happened this week", {"20260514", "20260513", "20260512", "20260511"}),
    ],
)
def test_an_expression_of_time_means_days(question: str, days: set[str]):
    assert meant(question) == days


def test_last_week_is_the_one_before_this():
    assert meant("what did we do last week") == {f"202605{day:02}" for day in range(4, 11)}


def test_a_date_in_words_means_its_day_and_its_month():
    assert meant("on 8 May, 2023") == meant("on May 8th, 2023") == {"202305", "20230508"}
    assert meant("back in June 2024") == {"202406"}
    assert {"202512", "20251224"} <= meant("what happened on 24 December")


def test_a_word_that_is_no_date_means_none():
    assert meant("which users may log in, and may they march on?") == set()
    assert meant("2026-13-45, 31 February 2026 and 0 may") <= {"202602"} | {
        f"{year}05" for year in range(1990, 2030)
    }
    assert meant("") == set()


def test_a_long_time_is_cut_and_the_beginning_of_time_is_none():
    assert len(meant("over the past 999 months")) == MOST_DAYS
    assert list(dates_in("12 months ago", date(1, 1, 2))) == []
