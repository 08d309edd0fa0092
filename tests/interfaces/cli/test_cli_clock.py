"""The machine's clock is wrong for one run: nothing is deleted, nothing is archived, and the user is told."""

import datetime as standard
import getpass
import os
from dataclasses import replace

import pytest

import recollect.model as m
from recollect.model import encoding
from recollect.store import open_store

YEAR = 365.25


@pytest.fixture
def machine_clock(monkeypatch):
    """Sets the machine's clock this many days ahead of the right time, or back."""

    class AnyDatetime(type):
        def __instancecheck__(cls, value):
            return isinstance(value, standard.datetime)

    class Shifted(standard.datetime, metaclass=AnyDatetime):
        days = 0.0

        @classmethod
        def now(cls, tz=None):
            return standard.datetime.now(tz) + standard.timedelta(days=cls.days)

    monkeypatch.setattr(encoding, "datetime", Shifted)

    def set_to(days):
        Shifted.days = days

    return set_to


@pytest.fixture
def old(run, remember, home):
    """A store with a forgotten memory and one that was learnt and expires after two weeks; closed on the right day."""
    run("forget", remember("The till prints twice"))
    learnt = remember("We are fixing the login page", "--kind", "task_progress")
    store = open_store(home / "recollect.db", getpass.getuser())
    memory = store.get(learnt)
    origin = replace(memory.provenance[0], source=m.Source.INFERRED)
    store.put(replace(memory, promoted_at=memory.created_at, provenance=(origin,)))
    store.close()
    return home


def states(run):
    listed = run("list", "--state", "all", "--json").json["memories"]
    return sorted((memory["content"], memory["state"]) for memory in listed)


@pytest.mark.parametrize(
    "command", [["list"], ["search", "login"], ["remember", "A new till"], ["consolidate"], ["stats"]]
)
def test_one_run_ten_years_ahead_loses_nothing_and_says_so(run, old, machine_clock, command):
    before = states(run)

    machine_clock(10 * YEAR)
    result = run(*command)
    machine_clock(0)

    assert "days later than in the last run" in result.err
    assert "Nothing is deleted or archived by age" in result.err
    assert set(before) <= set(states(run))
    assert "clock" not in run("list").err


def test_two_runs_that_agree_are_believed(run, old, machine_clock):
    machine_clock(100)
    run("search", "till")
    machine_clock(101)
    run("search", "till")

    assert [state for _, state in states(run)] == ["archived"]  # the forgotten one is purged


def test_a_clock_that_is_set_back_loses_nothing(run, old, machine_clock):
    before = states(run)

    machine_clock(-10 * YEAR)
    back = run("remember", "A new till")
    machine_clock(0)

    assert (back.code, back.err) == (0, "")
    assert set(before) <= set(states(run))


def test_doctor_tells_of_the_jump(run, old, machine_clock):
    machine_clock(10 * YEAR)

    checked = run("doctor")

    assert checked.code == 1
    assert "clock" in checked.out and "days later than in the last run" in checked.out


def test_a_backup_made_while_the_clock_was_ahead_does_not_stop_later_ones(run, old, home):
    newest = home / "backups" / "recollect-1.db"
    run("backup")
    ahead = newest.stat().st_mtime + 10 * YEAR * 86400
    os.utime(newest, (ahead, ahead))

    run("remember", "A newer till")

    assert newest.stat().st_mtime < ahead
