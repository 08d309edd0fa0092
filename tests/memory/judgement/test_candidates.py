"""Statements that name the same tool, role or code meet, however far apart their words and vectors are."""

import pytest

from recollect.memory.judgement.candidates import MOST_TERMS, subject_of


@pytest.mark.parametrize(
    "one, other",
    [
        ("The pipelines run on Jenkins.", "CI is GitHub Actions."),
        ("Formatting: black", "ruff format replaced black"),
        ("`parse_date` is the helper for dates.", "parse_date has been removed."),
        ("Translations are in locales/en.json.", "Edit locales/en.json by hand."),
        ("`npm run build` builds the project.", "Never use npm."),
    ],
)
def test_what_names_the_same_concerns_the_same(one, other):
    assert subject_of(one).concerns(other)
    assert subject_of(other).concerns(one)


def test_what_names_nothing_in_common_is_left_alone():
    assert not subject_of("The pipelines run on Jenkins.").concerns("Sessions are kept in Redis.")
    assert subject_of("Ask before you push.").terms == ""


def test_a_query_is_bounded():
    everything = subject_of("We use black, pytest, npm, jest, jenkins, postgres, redis, kafka and aws.")

    assert len(everything.terms.split()) <= MOST_TERMS
