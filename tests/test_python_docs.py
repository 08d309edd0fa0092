"""Every name in docs/python.md exists on the engine and its parts."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
VERBS = sorted(
    {
        name
        for row in re.findall(r"^\| (`[a-z_]+.*?) \|", PAGE, re.MULTILINE)
        for name in re.findall(r"`([a-z_]+)(?=[(`])", row)
    }
)
PARTS = sorted(set(re.findall(r"`memory\.([a-z]+)`", PAGE)))


def test_the_page_lists_verbs_and_parts():
    assert {"remember", "search", "recall", "undo", "mirror"} <= set(VERBS)
    assert {"code", "maps", "episodes", "measures", "care"} <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_documented_part_is_on_the_engine(engine, part):
    assert getattr(engine, part) is not None


@pytest.mark.parametrize("verb", VERBS)
def test_a_documented_verb_is_on_the_engine_or_its_maintenance_part(engine, verb):
    assert callable(getattr(engine, verb, None) or getattr(engine.care, verb))
