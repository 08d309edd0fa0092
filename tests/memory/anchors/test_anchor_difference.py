"""How the code of a stale memory differs from what it was, found in git's history."""

import subprocess

import pytest

import recollect.model as m
from recollect.memory.anchors.difference import code_differences
from recollect.memory.anchors.tie import tie

OLD = "def total(prices):\n    return sum(prices)\n\n\ndef other():\n    pass\n"
NEW = OLD.replace("sum(prices)", "round(sum(prices), 2)")
TEXT = "`total` in `till.py` adds the prices up"


@pytest.fixture
def commit(folder):
    def write(text):
        (folder / "till.py").write_text(text)
        name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "step"]):
            subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)

    return write


@pytest.fixture
def memory(engine, folder):
    """Returns the memory with anchors to the code as it is now."""

    def about(text=TEXT):
        return engine.get(engine.remember(text).id)

    return about


def test_the_newest_version_that_the_memory_was_about_is_compared(folder, commit, memory):
    commit("def total():\n    pass\n")
    commit(OLD)
    tied = memory()
    commit(OLD.replace("pass", "return 1"))  # another function: still what the memory is about
    commit(NEW)

    (found,) = code_differences(folder, tied)

    assert (found.path, found.symbol) == ("till.py", "total")
    assert "-    return sum(prices)" in found.lines
    assert "+    return round(sum(prices), 2)" in found.lines
    assert not any("other" in line or "pass" in line for line in found.lines)
    assert len(found.commit) == 12


def test_code_that_is_gone_is_shown_as_removed(folder, commit, memory):
    commit(OLD)
    tied = memory()
    (folder / "till.py").unlink()

    (found,) = code_differences(folder, tied)

    assert [line for line in found.lines if line.startswith("-")] == [
        "-def total(prices):",
        "-    return sum(prices)",
    ]


def test_code_that_was_never_committed_cannot_be_compared(folder, commit, memory):
    (folder / "till.py").write_text(OLD)
    tied = memory()
    commit(NEW)

    (found,) = code_differences(folder, tied)

    assert (found.lines, found.commit) == ((), "")


def test_nothing_differs_while_the_code_is_the_same(folder, commit, memory):
    commit(OLD)
    tied = memory()
    commit(OLD.replace("pass", "return 1"))

    assert code_differences(folder, tied) == ()
    assert tie(folder, TEXT)[0] == tied.anchors[0] == m.Anchor("till.py", "total", tied.anchors[0].digest)
