"""The cues in `work/extract/data/cues.toml` are well formed."""

import re

import pytest

from recollect.kinds import KINDS
from recollect.work.extract.cues import CUES, Cue


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: f"{cue.kind} {cue.pattern.pattern[:20]}")
def test_a_cue_names_a_kind_and_has_no_open_fragment(cue: Cue) -> None:
    assert cue.kind in KINDS
    assert "<<" not in cue.pattern.pattern


def test_no_cue_matches_an_empty_or_a_plain_sentence() -> None:
    assert [cue for cue in CUES if cue.pattern.search("") or cue.pattern.search("the tests are slow")] == []


def test_no_cue_is_listed_twice() -> None:
    patterns = [re.sub(r"\s", "", cue.pattern.pattern) for cue in CUES]

    assert sorted(set(patterns)) == sorted(patterns)
