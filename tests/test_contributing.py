"""The examples of CONTRIBUTING.md work when they are followed literally.

Each `## Example: …` section is applied to a copy of the source tree, then its checks run there. In a section:

- A code block after a line that ends in "to `PATH`:" or "in a new file `PATH`:" is appended to that file, or becomes it if
  there is none.
- A code block after "in `PATH`, below `LINE`:" is inserted after the line that contains LINE;
  "above" inserts it before, and "replace `LINE`" puts the block in its place.
- A block marked `sh` holds the checks: each of its lines is run in the copy, with `.venv/bin/python` for Python.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = (
    ".claude-plugin",
    "src",
    "tests",
    "bench",
    "docs",
    "CONTRIBUTING.md",
    "README.md",
    "pyproject.toml",
    "examples",
)
SECTION = re.compile(r"^## Example: ([^\n]+)\n(.*?)(?=^## |\Z)", re.M | re.S)
BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n\n?(?P<indent> *)```(?P<language>\w*)\n(?P<code>.*?)^ *```", re.M | re.S
)
EDIT = re.compile(
    r"(?:to|[Ii]n|[Ii]n a new file) `(?P<path>[^`]+)`(?:, (?P<place>below|above|replace) `(?P<line>[^`]+)`)?:$"
)
PATH = re.compile(r"[\w./-]+(?:\.(?:py|toml)|/)")
NAME = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class Edit:
    """A block of code, and where it goes."""

    path: str
    place: str  # below, above, replace; empty = at the end
    line: str
    code: str

    def apply(self, tree: Path) -> None:
        file = tree / self.path
        if not self.place:
            before = file.read_text(encoding="utf-8").rstrip("\n") + "\n\n\n" if file.exists() else ""
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(before + self.code, encoding="utf-8")
            return
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        [index] = [number for number, text in enumerate(lines) if self.line in text]
        indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
        first, last = (
            (index + 1, index + 1) if self.place == "below" else (index, index + (self.place == "replace"))
        )
        lines[first:last] = [textwrap.indent(self.code, indent)]
        file.write_text("".join(lines), encoding="utf-8")


def steps(section: str) -> tuple[list[Edit], list[str]]:
    """Return the edits and the checks of a section, in their order."""
    edits, checks = [], []
    for block in BLOCK.finditer(section):
        code = textwrap.dedent(block["code"])
        if block["language"] == "sh":
            checks += code.splitlines()
        elif edit := EDIT.search(block["before"]):
            edits.append(Edit(edit["path"], edit["place"] or "", edit["line"] or "", code))
    return edits, checks


EXAMPLES = {title: steps(body) for title, body in SECTION.findall(TEXT)}


@pytest.fixture
def tree(tmp_path) -> Path:
    """A copy of what the examples change and check."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, tmp_path / name
            )  # with the compiled files, which Python takes as long as they fit
        elif source.exists():
            shutil.copy(source, tmp_path / name)
    return tmp_path


def test_there_are_examples():
    tested = {title for title, (_, checks) in EXAMPLES.items() if checks}

    assert tested == {
        "adding a kind",
        "adding a command",
        "adding a host",
        "adding a page",
        "adding an MCP tool",
        "adding a store method",
    }
    assert set(EXAMPLES) - tested == {"adding a language"}  # tests/code/languages/test_language_example.py


def places(answer: str) -> list[tuple[str, str]]:
    """Return the files and folders that an answer names, each with the names that follow it."""
    found: list[tuple[str, str]] = []
    for word in re.findall("`([^`]+)`", answer):
        if PATH.fullmatch(word):
            found.append((word, ""))
        elif NAME.fullmatch(word) and found:
            found.append((found[-1][0], word.rpartition(".")[2]))
    return found


@pytest.mark.parametrize("row", re.findall(r"^\| (.+\?) \| (.+) \|$", TEXT, re.M), ids=lambda row: row[0])
def test_the_answer_to_where_things_are_names_what_exists(row):
    named = places(row[1])

    assert named
    for path, name in named:
        place = ROOT / "src/recollect" / path
        assert place.exists(), path
        if name and place.is_file():
            assert re.search(rf"\b{name}\b", place.read_text(encoding="utf-8")), (path, name)


@pytest.mark.parametrize("title", [title for title, (_, checks) in EXAMPLES.items() if checks])
def test_an_example_works_when_it_is_followed(title, tree):
    edits, checks = EXAMPLES[title]

    for edit in edits:
        edit.apply(tree)

    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    for check in checks:
        python, *arguments = shlex.split(check)
        assert python == ".venv/bin/python"
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tree,
            env={**variables, "PYTHONPATH": str(tree / "src")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{check}\n{done.stdout}\n{done.stderr}"
