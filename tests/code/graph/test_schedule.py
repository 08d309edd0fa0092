"""When a program that runs all day looks at the files again."""

import os

import pytest
from sources import grow_old, write

from recollect.code.graph.schedule import LATEST, SOONEST, WATCHED, RefreshSchedule


def test_the_first_look_is_due_at_once(folder):
    assert RefreshSchedule(folder).is_due(0.0)


def test_after_a_change_the_next_look_comes_soon(folder):
    schedule = RefreshSchedule(folder)

    schedule.record_refresh(100.0, changed=True)

    assert not schedule.is_due(100.0 + SOONEST - 0.1)
    assert schedule.is_due(100.0 + SOONEST)


def test_the_longer_nothing_changes_the_more_rarely_it_looks(folder):
    schedule = RefreshSchedule(folder)

    for _ in range(20):
        schedule.record_refresh(0.0, changed=False)

    assert not schedule.is_due(LATEST - 0.1)
    assert schedule.is_due(LATEST)


@pytest.mark.parametrize("name", ["HEAD", "index"])
@pytest.mark.parametrize("worktree", [False, True])
def test_when_git_moves_it_looks_at_once(folder, tmp_path, name, worktree):
    git = tmp_path / "elsewhere" if worktree else folder / ".git"
    git.mkdir()
    if worktree:
        (folder / ".git").write_text(f"gitdir: {git}\n")
    (git / name).write_text("one")
    schedule = RefreshSchedule(folder)
    schedule.record_refresh(0.0, changed=False)
    before = schedule.is_due(1.0)

    os.utime(git / name, (1_000_000_000, 1_000_000_000))

    assert not before
    assert schedule.is_due(1.0)


def test_what_changed_is_taken_in(shop, code):
    grow_old(shop)
    first = code.watch(0.0)
    too_soon = code.watch(1.0)

    write(shop, till="def ring(): pass\n")
    later = code.watch(WATCHED)  # when it looks even if the system has told nothing

    assert first and first.parsed == 3
    assert too_soon is None
    assert later and later.parsed == 1
