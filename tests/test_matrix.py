"""`make matrix`: which rows it finds, and what it does when one fails or is interrupted."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "matrix.py"
VERSION = sys.version.split()[0]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the users and modes of Unix")


@pytest.fixture
def matrix(tmp_path):
    """Starts the script of a small repository, with the Python that runs this; its `make` is a script of ours."""
    repository, programs, temporary = (tmp_path / name for name in ("repository", "bin", "tmp"))
    for folder in (repository / "scripts", programs, temporary):
        folder.mkdir(parents=True)
    (repository / "scripts" / "matrix.py").write_bytes(SCRIPT.read_bytes())
    git = ["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"]):
        subprocess.run([*git, *words], check=True)
    base = Path(sys.base_prefix) / "bin"
    started = []

    def start(*arguments, make="exit 1"):
        (programs / "make").write_text(f"#!/bin/sh\n{make}\n")
        (programs / "make").chmod(0o755)
        path = os.pathsep.join(map(str, [programs, base, "/usr/sbin", "/usr/bin", "/bin"]))
        process = subprocess.Popen(
            [sys.executable, repository / "scripts" / "matrix.py", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": path, "HOME": "/", "TMPDIR": str(temporary)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    assert list(temporary.iterdir()) == []


def test_the_python_that_runs_this_is_listed_in_three_folders(matrix):
    listing = matrix("--list", VERSION)

    rows = listing.communicate(timeout=60)[0].splitlines()

    assert listing.returncode == 0
    assert [row.partition("'")[2] for row in rows] == ["open'", "private'", "with a space'"]


def test_a_python_that_is_not_here_is_an_error(matrix):
    listing = matrix("--list", "2.7.18")

    assert listing.communicate(timeout=60)[0] == "No Python on this machine fits.\n"
    assert listing.returncode == 1


def test_a_row_whose_tests_fail_is_in_the_table_and_in_the_exit_code(matrix):
    running = matrix(VERSION, "open", make="echo '1 failed, 2 passed in 3s'; exit 1")

    out = running.communicate(timeout=120)[0]

    assert running.returncode == 1
    assert "| open | failed (1 failed, 2 passed in 3s) | failed |" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_row_and_runs_no_other(matrix, tmp_path, number):
    running = matrix(VERSION, make=f"touch '{tmp_path}/began'; exec sleep 600")
    for line in running.stdout:
        assert "open" in line
        break
    while not (tmp_path / "began").exists():
        assert running.poll() is None

    running.send_signal(number)

    out = running.communicate(timeout=60)[0]
    assert running.returncode == 130
    assert out.count("| interrupted | – |") == 3
