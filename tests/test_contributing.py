"""The examples in CONTRIBUTING.md, followed literally on a copy of the repository, work."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# "In a new file `PATH`:" or "In `PATH`, below `LINE`:", then a code block.
STEP = re.compile(
    r"[Ii]n (?:a new file )?`([^`]+)`(?:, below `([^`]+)`)?:\n\n *```\w*\n(.*?)\n *```\n", re.DOTALL
)


def steps(example: str) -> list[tuple[str, str, str]]:
    """The path, the line to write below (empty for a new file), and the text of each step of an example."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"## Example: {example}\n")[2].partition("\n## ")[0]
    # Steps are items of a list, so that their blocks are indented by three.
    return [(path, anchor, re.sub("(?m)^ {3}", "", block)) for path, anchor, block in STEP.findall(section)]


def follow(example: str, clone: Path) -> list[str]:
    """Do what the example says in `clone`, and return the tests that it adds."""
    for path, anchor, block in steps(example):
        file = clone / path
        if anchor:
            lines = file.read_text(encoding="utf-8").split("\n")
            assert anchor in lines, f"{path} has no line {anchor!r}"
            lines.insert(lines.index(anchor) + 1, block)
            file.write_text("\n".join(lines), encoding="utf-8")
        else:
            assert not file.exists()
            file.write_text(block + "\n", encoding="utf-8")
    return [path for path, anchor, _ in steps(example) if path.startswith("tests/") and not anchor]


@pytest.fixture
def clone(tmp_path) -> Path:
    """A copy of what the examples touch."""
    copy = tmp_path / "clone"
    for folder in ("src", "tests", "docs", ".claude-plugin"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / file, copy / file)
    return copy


def run_tests(clone: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(clone / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    return subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "example, also",
    [
        ("adding a host", ["tests/interfaces/install/test_hosts.py", "tests/work/hosts"]),
        ("adding an MCP tool", ["tests/interfaces/mcp/test_tools.py", "-k", "tools or tags or page"]),
    ],
)
def test_an_example_followed_literally_works(clone, example, also):
    added = follow(example, clone)

    done = run_tests(clone, [*added, *also])

    assert added
    assert done.returncode == 0, textwrap.indent(done.stdout[-3000:] + done.stderr[-1000:], "    ")
