"""The first thing a newcomer sees."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import recollect.demo


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Path:
    """A newcomer's folders: HOME, and one for temporary files."""
    folder = tmp_path_factory.mktemp("newcomer")
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    return folder


@pytest.fixture(scope="module")
def told(house) -> str:
    """What `recollect demo` prints, run once in a process of its own."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    places = {
        "HOME": str(house / "home"),
        "RECOLLECT_HOME": str(house / "memory"),
        "TMPDIR": str(house / "tmp"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "demo"],
        capture_output=True,
        env={**variables, **places, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode()


def test_it_tells_what_was_learnt_redacted_and_superseded(told):
    first = told[told.index("Session 1") : told.index("Session 2")]

    assert "Refresh tokens are stored with the lifetime of access tokens" in first
    assert "[REDACTED: api-key]" in first
    assert "redacted before it was stored" in first
    assert "sk_" + "live_" not in told
    assert "Updated: 'Use npm to run scripts' → 'Use pnpm to run scripts'" in first


def test_it_shows_the_briefing_the_second_agent_gets(told):
    second = told[told.index("Session 2") : told.index("Tokens read until")]

    assert "  <project_memory " in second
    assert "[GOTCHA] shop/auth/tokens.py" in second
    assert "Refresh tokens are stored" in second
    assert "“Use pnpm to run scripts”" in second


def test_memory_saves_tokens(told):
    without, with_memory, saved = (
        int(re.search(rf"  {name} +(\d+) tokens", told)[1])
        for name in ("without memory", "with memory", "saved")
    )

    assert saved == without - with_memory > 0


def test_it_leaves_nothing_behind(told, house):
    left = [path for path in (house / "home").rglob("*") if path.is_file()]

    assert left == []
    assert not (house / "memory").exists()
    assert list((house / "tmp").iterdir()) == []


def test_it_ends_with_a_command_that_can_be_typed_here(tmp_path, monkeypatch):
    scripts = tmp_path / ".venv" / "bin"
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))

    monkeypatch.chdir(tmp_path)
    in_the_folder_of_make = recollect.demo._command()
    monkeypatch.chdir("/")
    below_it = recollect.demo._command()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    elsewhere = recollect.demo._command()

    assert in_the_folder_of_make == ".venv/bin/recollect"
    assert below_it == str(scripts.relative_to("/") / "recollect")
    assert elsewhere == str(scripts / "recollect")


def test_a_command_in_a_folder_with_a_space_can_be_typed_as_it_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my tools" / "bin" / "python"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)

    assert shlex.split(recollect.demo._command()) == ["my tools/bin/recollect"]
