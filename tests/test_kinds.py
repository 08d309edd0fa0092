"""The table of kinds."""

import re
from pathlib import Path

import pytest

from recollect.errors import UnknownName
from recollect.kinds import ALIASES, KINDS, kind_of


@pytest.mark.parametrize("name", [*KINDS, *ALIASES])
def test_every_kind_and_alias_is_found(name):
    assert kind_of(name).name in KINDS


@pytest.mark.parametrize("written", ["Error-Pattern", " error pattern ", "ERROR"])
def test_the_spelling_of_a_kind_is_forgiven(written):
    assert kind_of(written).name == "error_pattern"


def test_an_unknown_kind_suggests_the_nearest():
    with pytest.raises(UnknownName) as refusal:
        kind_of("desicion")

    assert refusal.value.hint == "Did you mean 'decision'?"


# The rows of docs/kinds.md whose numbers a reader would look up first.
@pytest.mark.parametrize(
    "name, half_life, ttl, weight",
    [
        ("human_feedback", None, None, 1.6),
        ("correction", 365, None, 1.5),
        ("preference", 90, 365, 1.1),
        ("decision", None, 90, 1.3),
        ("fact", 30, None, 1.0),
        ("gotcha", 60, None, 1.3),
        ("environment_quirk", 7, None, 1.0),
        ("file_change", 14, 21, 0.6),
        ("pr_gotcha", 90, None, 1.0),
    ],
)
def test_kinds_behave_as_designed(name, half_life, ttl, weight):
    kind = KINDS[name]

    assert (kind.half_life, kind.ttl, kind.weight) == (half_life, ttl, weight)


def test_the_number_of_kinds_is_known():
    assert len(KINDS) == 27


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_kind_is_on_the_page_with_its_numbers(kind):
    page = (Path(__file__).parents[1] / "docs" / "kinds.md").read_text(encoding="utf-8")

    half_life = "never" if kind.half_life is None else f"{kind.half_life:g}"
    ttl = "–" if kind.ttl is None else f"{kind.ttl:g}"
    row = rf"^\| {kind.family} \| `{kind.name}`[^|]*\| {half_life} \| {ttl} \| {kind.weight} \|$"
    assert re.search(row, page, re.M)
