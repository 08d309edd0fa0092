"""Ids, times and JSON of the nouns."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.model import View, as_json, fingerprint, from_text, new_id, to_text


def test_ids_sort_by_time_and_never_repeat():
    made = [new_id() for _ in range(5000)]

    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {len(each) for each in made} == {18}


def test_an_id_of_an_earlier_time_sorts_before():
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert new_id(now - timedelta(days=1)) < new_id(now) < new_id(now + timedelta(days=1))


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)))
def test_a_time_survives_its_text(when):
    when = when.replace(tzinfo=UTC)

    assert from_text(to_text(when)) == when
    assert len(to_text(when)) == 27


def test_other_zones_become_utc_and_none_means_utc():
    assert from_text("2026-03-01T12:00:00+02:00") == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert from_text("2026-03-01 12:00") == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert to_text(datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))).startswith("2026-03-01T10")


@given(st.text())
def test_a_fingerprint_is_blind_to_case_and_white_space(text):
    assert fingerprint(f"  {text.lower()}\n") == fingerprint(text)


def test_different_words_have_different_fingerprints():
    assert fingerprint("use tabs") != fingerprint("use spaces")


def test_sets_are_written_in_a_stable_order():
    assert as_json(View("me", kinds=frozenset({"b", "a"})))["kinds"] == ["a", "b"]


def test_the_public_names_are_what_we_mean_to_export():
    assert sorted(recollect.__all__) == [
        "Answer",
        "AnthropicMemoryTool",
        "ContextWindow",
        "Engine",
        "Hit",
        "Link",
        "Memory",
        "MemoryAgent",
        "Receipt",
        "RecollectError",
        "__version__",
        "fit",
    ]
    for name in recollect.__all__:
        assert hasattr(recollect, name)


@pytest.mark.parametrize("heavy", ["numpy", "onnxruntime", "keyring", "click", "redact_secret"])
def test_importing_recollect_loads_nothing_heavy(heavy):
    import subprocess
    import sys

    code = f"import sys, recollect; sys.exit({heavy!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
