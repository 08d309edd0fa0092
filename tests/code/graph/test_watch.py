"""A program that runs all day looks at files when the system says that they changed."""

import os
import shutil
import threading
import time

import pytest
import watchfiles
from sources import grow_old, write

from recollect.code import watch
from recollect.code.graph.schedule import WATCHED

HOUR = 3600.0


def eventually(code, now):
    """What the next refresh did: the system takes a moment to tell."""
    wait = threading.Event()
    until = time.monotonic() + 30
    while (result := code.watch(now)) is None and time.monotonic() < until:
        wait.wait(0.01)
    return result


@pytest.fixture
def watched(shop, code):
    (shop / "deep").mkdir()
    grow_old(shop)
    code.watch(0.0)
    return code


@pytest.fixture
def looks(monkeypatch):
    """The files that somebody looked at."""
    looked = []
    look = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: looked.append(path) or look(path))
    return looked


def test_nothing_is_looked_at_while_nothing_changes(watched, looks):
    assert [watched.watch(now) for now in range(1, int(WATCHED), 100)] == [None] * 9
    assert looks == []


def test_in_case_a_change_was_lost_all_files_are_looked_at_sometimes(watched, looks):
    assert watched.watch(WATCHED).parsed == 0
    assert looks


@pytest.mark.parametrize("name", ["cart", "deep/till", "new/deep/till"])
def test_a_file_that_changes_or_comes_is_read(shop, watched, name):
    write(shop, **{name: "def ring(): pass\n"})

    parsed = 0
    while f"{name}.py" not in watched.graph.paths or not parsed:
        parsed += eventually(watched, 1.0).parsed

    assert watched.graph.find("ring")[0].path == f"{name}.py"


def test_an_editor_that_renames_a_new_file_over_the_old_one_is_noticed(shop, watched):
    (shop / "cart.py.tmp").write_text("def ring(): pass\n")
    (shop / "cart.py.tmp").replace(shop / "cart.py")

    while not watched.graph.find("ring"):
        assert eventually(watched, 1.0)


def test_a_folder_that_comes_is_watched_from_then_on(shop, watched):
    write(shop, **{"new/till": "def ring(): pass\n"})
    while "new/till.py" not in watched.graph.paths:
        eventually(watched, 1.0)
    grow_old(shop)
    while watched.watch(2.0):
        pass

    write(shop, **{"new/till": "def sing(): pass\n"})

    while not watched.graph.find("sing"):
        assert eventually(watched, 3.0)


def test_a_log_that_grows_is_no_reason_to_look(shop, watched, looks):
    log = shop / "debug.log"
    log.write_text("one\n")
    assert eventually(watched, 1.0)
    grow_old(shop)
    while watched.watch(2.0):
        pass
    looks.clear()

    log.write_text("two\n")
    write(shop, cart="def ring(): pass\n")  # what the system tells after the log
    assert eventually(watched, 3.0)
    looks.clear()
    log.write_text("three\n")

    assert [watched.watch(4.0) for _ in range(20)] == [None] * 20


def test_a_project_that_is_gone_and_comes_back_is_watched_again(shop, watched, tmp_path):
    shutil.copytree(shop, tmp_path / "copy")
    shutil.rmtree(shop)
    while watched.graph.paths:
        assert eventually(watched, 1.0)

    shutil.copytree(tmp_path / "copy", shop)
    assert eventually(watched, HOUR).files == 3
    grow_old(shop)
    while watched.watch(HOUR + 1):
        pass
    write(shop, cart="def ring(): pass\n")

    while not watched.graph.find("ring"):
        assert eventually(watched, HOUR + 2)


def refuse(*arguments, **options):
    if arguments:
        raise OSError(28, "No space left on device")
    yield set()


@pytest.mark.parametrize(
    "place, name, value", [(watch, "MOST_FOLDERS", 1), (watchfiles, "watch", refuse)], ids=["many", "refused"]
)
def test_where_nothing_can_be_watched_files_are_looked_at_from_time_to_time(
    shop, code, monkeypatch, place, name, value
):
    (shop / "deep").mkdir()
    monkeypatch.setattr(place, name, value)
    grow_old(shop)
    code.watch(0.0)
    write(shop, till="def ring(): pass\n")

    too_soon = code.watch(1.0)
    later = code.watch(100.0)

    assert too_soon is None
    assert later.parsed == 1


def test_a_codebase_that_is_closed_watches_nothing(watched):
    watched.close()

    assert not watched._watch.is_active
