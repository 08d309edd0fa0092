"""SECURITY.md names a test for each promise, and the tests exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
NAMED = re.findall(r"^- `(tests/[\w/]+\.py)::(\w+)`$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_named_test_exists(file: str, name: str):
    tree = ast.parse((ROOT / file).read_text("utf-8"))

    assert name in {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_promise_names_tests():
    promises = TEXT.partition("## What we promise")[2].partition("\n## ")[0]
    paragraphs = re.split(r"\n(?=\*\*)", promises)[1:]

    assert len(paragraphs) >= 7
    assert [paragraph[:60] for paragraph in paragraphs if "\n- `tests/" not in paragraph] == []


def test_each_promise_of_the_attack_is_a_row_of_its_table():
    from bench.attack import ATTACKS

    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 10
