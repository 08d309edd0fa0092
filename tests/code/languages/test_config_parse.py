import pytest

from recollect.code.facts import FILE
from recollect.code.languages.parser import parse

FILES = {
    "json": """\
{
  "name": "shop",
  "scripts": {"test": "hunter2", "deep": {"er": 1}},
  "files": [{"inner": 1}]
}
""",
    "yaml": """\
name: shop
scripts:
  test: hunter2
  deep:
    er: 1
files:
  - inner: 1
""",
    "toml": """\
name = "shop"
files = [{ inner = 1 }]

[scripts]
test = "hunter2"
deep = { er = 1 }
""",
}


@pytest.mark.parametrize("language", FILES)
def test_keys_are_outlined_two_levels_deep_without_what_they_hold(language):
    facts = parse(language, FILES[language].encode())

    names = {name_of(facts, found) for found in facts.definitions}
    assert names == {"name", "files", "scripts", "scripts.test", "scripts.deep"}
    assert {found.kind for found in facts.definitions} == {"variable"}
    assert "hunter2" not in repr(facts)
    for found in facts.definitions:
        assert found.name in FILES[language].splitlines()[found.line - 1]


@pytest.mark.parametrize("language", FILES)
def test_a_broken_file_says_so(language):
    assert parse(language, FILES[language].encode() + b'\n"{[ = ]: " {').broken


def test_a_file_of_data_is_cut_short():
    rows = ",".join(f'"key{number}": 1' for number in range(1000))

    facts = parse("json", f"{{{rows}}}".encode())

    assert len(facts.definitions) == 200


def name_of(facts, found):
    return (
        found.name
        if found.scope == FILE
        else f"{name_of(facts, facts.definitions[found.scope])}.{found.name}"
    )
