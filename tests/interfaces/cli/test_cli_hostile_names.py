"""A repository whose names and texts hold terminal sequences, and whose files are loops, pipes and devices."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SEQUENCE = "\x1b]0;owned\x07\x1b[2J\u202e"
FILE = f"a{SEQUENCE}b.py"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # by a terminal
COMMANDS = [
    ["init"], ["map"], ["graph", "relevant", "hello"], ["graph", "callers", "hello"], ["recall", "fix hello"],
    ["remember", f"Use {SEQUENCE} tabs", "--file", FILE], ["list"], ["search", "tabs"], ["review"], ["doctor"], ["changes"],
    ["history", "file", FILE], ["show", SEQUENCE], ["import", f"{SEQUENCE}.json"], [f"no{SEQUENCE}"], ["trust"], ["export"],
    ["list", "--json"], ["map", "--json"],
]  # fmt: skip


@pytest.fixture
def _repository(home):
    folder = Path.cwd()
    (folder / FILE).write_text(f'def hello():\n    """Say {SEQUENCE}."""\n\n\ndef caller():\n    hello()\n')
    (folder / "new\nline.py").write_text("def other():\n    return 2\n")
    (folder / f"pkg{SEQUENCE}").mkdir()
    (folder / f"pkg{SEQUENCE}" / "mod.py").write_text("def inner():\n    return 3\n")
    (folder / "pyproject.toml").write_text('[project]\nname = "x\\u001b[31m"\nversion = "1"\n')
    (folder / "package.json").write_text('{"name": "x\\u001b]0;", "scripts": {"test": "jest \\u001b[2J"}}')
    (folder / "AGENTS.md").write_text(f"- Never push {SEQUENCE} to main.\n")
    (folder / "Makefile").write_text(f"test{SEQUENCE}:\n\tpytest {SEQUENCE}\n")
    for name, target in (
        ("loop", "."),
        ("zero.py", "/dev/zero"),
        ("memory.py", "/proc/self/mem"),
        ("etc", "/etc"),
    ):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.py")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", f"Fix {SEQUENCE} the till"]):
        identity = ["-c", f"user.name=E{SEQUENCE}", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.usefixtures("_repository")
def test_no_command_prints_what_a_terminal_would_obey_or_waits_for_a_file(run):
    printed = {}
    for command in COMMANDS:
        result = run(*command)
        printed[" ".join(command)] = OBEYED.findall(result.out + result.err)

    assert {command: found for command, found in printed.items() if found} == {}
