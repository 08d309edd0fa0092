"""The days and months that a question means: "8 May", "in June", "yesterday", "last Friday", "two weeks ago", "2026-05-01".

They become terms of `index.days`, so that "may" and "8" match nothing else than dates. A year stays a word.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta

from recollect.memory.index.days import day_term, month_term
from recollect.memory.index.vocabulary import QueryWord

LONGEST_QUESTION = 1000  # characters that are searched for dates
MOST_DAYS = 62  # that one expression may mean
YEARS = 30  # back from today that a month without a year may be in

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_WORDS = frozenset(
    ["may", "march"]
)  # that mean something else if nothing beside them shows that they are months
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_COUNTS = {"a": 1, "an": 1, "couple": 2, "few": 3} | {word: i for i, word in enumerate(_NUMBERS, start=1)}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30}
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})(?: of)? (?P<unit>{'|'.join(_UNIT_DAYS)})s?"

_CALENDAR = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?"
    rf"(?P<cue>(?:in|during|since|until|last|this|early|mid|late) )?(?P<month>{_MONTH})\b\.?"
    rf"(?: (?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>\d{{4}})\b)?"
)
_ISO = re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b")
_NAMED = re.compile(r"\b(day before yesterday|yesterday|today|this morning|tonight)\b")
_WEEKDAY = re.compile(rf"\b(?:last|on|this|past) ({'|'.join(_WEEKDAYS)})\b")
_AGO = re.compile(rf"\b{_COUNT} ago\b")
_PAST = re.compile(rf"\b(?:last|past) {_COUNT}\b")
_SPAN = re.compile(r"\b(last|past|this) (week|month)\b")

_NAMED_DAYS_AGO = {"yesterday": 1, "day before yesterday": 2}


def date_words(question: str, today: date, known_terms: Callable[[str], Iterable[int]]) -> list[QueryWord]:
    """Return for each date in `question` words that stand for the days and the months it means.

    Days and months in which nothing was said stand for nothing.
    """
    words = []
    for text, names in dates_in(question, today):
        terms = dict.fromkeys(term for name in names for term in known_terms(name))
        if terms:
            words.append(QueryWord(text, (), tuple((term, 1.0) for term in terms)))
    return words


def dates_in(question: str, today: date) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the dates in `question`, each with the terms of what it may mean; `today` is what "yesterday" is counted from."""
    text = question[:LONGEST_QUESTION].lower()
    for found in _CALENDAR.finditer(text):
        yield from _on_calendar(found, today)
    for found in _ISO.finditer(text):
        yield found[0], _days([tuple(map(int, found.groups()))])
    for earliest, latest, expression in _ranges(text, today):
        first = min(earliest, latest + MOST_DAYS - 1)
        if today.toordinal() > first:
            yield expression, [day_term(today - timedelta(ago)) for ago in range(latest, first + 1)]


def _on_calendar(found: "re.Match[str]", today: date) -> Iterator[tuple[str, Sequence[str]]]:
    day = found["before"] or found["after"]
    if found["month"] in _WORDS and not (day or found["year"] or found["cue"]):
        return
    month = _MONTHS.index(found["month"][:3]) + 1
    years = [int(found["year"])] if found["year"] else range(today.year - YEARS, today.year + 1)
    yield found[0].strip(), [month_term(year, month) for year in years]
    if day:
        yield found[0].strip(), _days((year, month, int(day)) for year in years)


def _days(numbers: Iterable[Sequence[int]]) -> list[str]:
    """Return the terms of those that are days: 2026-02-30 is none."""
    terms = []
    for year, month, day in numbers:
        try:
            terms.append(day_term(date(year, month, day)))
        except ValueError:
            continue
    return terms


def _ranges(text: str, today: date) -> Iterator[tuple[int, int, str]]:
    """Yield how many days ago each expression begins and ends."""
    for found in _NAMED.finditer(text):
        ago = _NAMED_DAYS_AGO.get(found[1], 0)
        yield ago, ago, found[0]
    for found in _WEEKDAY.finditer(text):
        ago = (today.weekday() - _WEEKDAYS.index(found[1])) % 7 or 7
        yield ago, ago, found[0]
    for found in _AGO.finditer(text):
        days, unit = _counted(found)
        around = unit // 3  # "two weeks ago" is some day of that week
        yield days + around, days - around, found[0]
    for found in _PAST.finditer(text):
        yield _counted(found)[0], 0, found[0]
    for found in _SPAN.finditer(text):
        unit = _UNIT_DAYS[found[2]]
        passed = today.weekday() if found[2] == "week" else today.day - 1  # days of the current one
        spans = {"this": (passed, 0), "past": (unit, 0), "last": (passed + unit, passed + 1)}
        yield (*spans[found[1]], found[0])


def _counted(found: "re.Match[str]") -> tuple[int, int]:
    """Return how many days an expression counts, and how many its unit has."""
    unit = _UNIT_DAYS[found["unit"]]
    count = _COUNTS.get(found["count"])
    return (int(found["count"]) if count is None else count) * unit, unit
