"""Every name in docs/python.md exists on the engine and its parts."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
CELLS = re.findall(r"^\| (`[a-z_]+.*?) \|", PAGE, re.MULTILINE)
METHODS = sorted({name for cell in CELLS for name in re.findall(r"`([a-z_.]+)(?=\()", cell)})
VALUES = sorted({name for cell in CELLS for name in re.findall(r"`([a-z_.]+)`", cell)})
PARTS = sorted(set(re.findall(r"`memory\.([a-z]+)`", PAGE)))


def test_the_page_lists_methods_and_parts():
    assert {"remember", "search", "recall", "care.undo", "care.mirror", "sessions.end"} <= set(METHODS)
    assert {"code", "maps", "episodes", "measures", "care", "sessions", "preferences"} <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_documented_part_is_on_the_engine(engine, part):
    assert getattr(engine, part) is not None


@pytest.mark.parametrize("name", VALUES)
def test_a_documented_value_is_on_the_engine(engine, name):
    assert attrgetter(name)(engine) is not None


@pytest.mark.parametrize("name", METHODS)
def test_a_documented_method_is_on_the_engine_or_its_part(engine, name):
    assert callable(attrgetter(name)(engine))


@pytest.mark.parametrize("name", ["set_budget", "add_alias", "start_season"])
def test_a_preference_can_be_changed(engine, name):
    assert callable(getattr(engine.preferences, name))
