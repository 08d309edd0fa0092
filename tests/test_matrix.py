"""`make matrix` finds the Pythons of this machine."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "matrix.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the users and modes of Unix")


def listed(*arguments, **more):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--list", *arguments], capture_output=True, text=True, **more
    )
    return done.returncode, done.stdout.splitlines()


def test_the_python_that_runs_this_is_in_the_matrix_in_three_folders():
    base = Path(sys.base_prefix) / "bin"

    code, rows = listed(sys.version.split()[0], env={"PATH": f"{base}:/usr/bin:/bin", "HOME": "/"})

    assert code == 0
    assert [row.partition("'")[2] for row in rows] == ["open'", "private'", "with a space'"]


def test_a_python_that_is_not_here_is_an_error():
    assert listed("2.7.18") == (1, ["No Python on this machine fits."])
