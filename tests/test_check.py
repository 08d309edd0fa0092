"""`make check`: which tests are near a change."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import check  # noqa: E402 - it is in no package


def test_a_changed_module_brings_the_tests_of_its_name():
    tests = ["tests/embed/test_minilm.py", "tests/interfaces/cli/test_cli_search.py", "tests/test_model.py"]

    near = check.tests_for(["src/recollect/embed/minilm.py", "src/recollect/interfaces/cli/search.py"], tests)

    assert near == tests[:2]


def test_changed_tests_come_first_and_there_are_not_too_many():
    tests = [f"tests/a{number}/test_store.py" for number in range(20)]

    near = check.tests_for(["src/recollect/store/store.py", "tests/a9/test_store.py", "docs/store.md"], tests)

    assert near[0] == "tests/a9/test_store.py"
    assert len(near) == check.MOST_NEAR


def test_the_quick_tests_exist():
    assert all((ROOT / name).exists() for name in check.QUICK)
