"""Dates as terms, by which a message is found. No text contains those of months and days by chance."""

from datetime import UTC, date, datetime


def month_term(year: int, month: int) -> str:
    return f"{year:04}{month:02}"


def day_term(day: date) -> str:
    return f"{month_term(day.year, day.month)}{day.day:02}"


def date_terms(when: datetime) -> str:
    """Return the year, the month and the day of `when` in UTC, which is what a message's time is stored in."""
    day = when.astimezone(UTC).date()
    return f"{day.year:04} {month_term(day.year, day.month)} {day_term(day)}"
