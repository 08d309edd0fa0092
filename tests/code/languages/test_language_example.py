"""CONTRIBUTING's example of a new language, followed literally on a copy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
_BLOCK = re.compile(r"In `([^`\n]+)`:\n\n   ```(\w+)\n(.*?)\n   ```", re.DOTALL)


def example() -> dict[str, tuple[str, str]]:
    """The code blocks of the section, by file, each with its language."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Example: adding a language")[1].split("\n## ")[0]
    return {path: (language, dedent(code) + "\n") for path, language, code in _BLOCK.findall(section)}


def apply_diff(file: Path, diff: str) -> None:
    """Replace each `-` line by the `+` line below it, if there is one."""
    text = file.read_text(encoding="utf-8")
    for old, new in re.findall(r"^-(.*\n)(?:\+(.*\n))?", diff, re.MULTILINE):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def test_the_example_of_a_language_works_as_written(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    blocks = example()
    for path, (language, code) in blocks.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if language == "diff":
            apply_diff(file, code)
        else:
            file.write_text(code, encoding="utf-8")

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            tmp_path,
        ]
        + [tmp_path / path for path in blocks if path.startswith("tests/")],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "2 passed" in done.stdout, done.stdout + done.stderr
