"""The word tables in `memory/judgement/data/words.toml` are complete and consistent."""

import tomllib
from pathlib import Path

import pytest

from recollect.memory.judgement import word_tables as tables

FILE = Path(tables.__file__).with_name("data") / "words.toml"
DATA = tomllib.loads(FILE.read_text("utf-8"))
LINES = set(
    "phrases synonyms same_meaning converses exclusive several opposites families scopes role_words corrections new_states hold_data".split()
)


@pytest.mark.parametrize("name", sorted(DATA))
def test_every_table_is_read_and_has_words(name: str) -> None:
    assert len(getattr(tables, name.upper())) > 1


@pytest.mark.parametrize("name", sorted(DATA.keys() - LINES))
def test_no_word_is_listed_twice(name: str) -> None:
    words = [item.partition("=")[0] for item in DATA[name].split()]

    assert sorted(set(words)) == sorted(words)


def test_both_sides_of_an_opposition_have_words() -> None:
    assert [pair for pair in tables.OPPOSITES if not all(pair)] == []


@pytest.mark.parametrize("table", [tables.FAMILIES, tables.SCOPES])
def test_a_group_has_a_name_and_several_members(table: dict[str, tuple[str, ...]]) -> None:
    assert [name for name, members in table.items() if not name or len(set(members)) < 2] == []


def test_every_exclusive_family_is_a_family() -> None:
    assert tables.EXCLUSIVE.keys() - tables.FAMILIES.keys() == set()


def test_a_line_of_synonyms_has_several_words() -> None:
    assert [line for line in (*tables.SYNONYMS, *tables.SAME_MEANING) if len(line) < 2] == []


def test_phrases_are_in_lower_case_and_stand_for_other_words() -> None:
    assert [p for p, word in tables.PHRASES.items() if p != p.lower() or p == word or not p.strip()] == []
