"""consolidate, as a person and as a program call it."""

import json

import pytest

from recollect.memory.maintenance.consolidate.operations import OPERATIONS


@pytest.fixture
def twice(remember, run):
    """The same said twice, in a file that was written elsewhere."""
    remember("Tests need a running Redis")
    told = run("export").json
    first = told["memories"][0]
    second = {**first, "id": "1m7zzzzzzzzzzzzzzz", "content": "tests need a running redis"}
    run("import", "-", stdin=json.dumps({**told, "memories": [second]}))
    assert run("stats", "--json").json["memories"] == 2


def test_a_plan_is_shown_and_nothing_is_done(run, twice):
    told = run("consolidate", "--dry-run")

    assert "merge" in told.out
    assert "Dry run: merged 1" in told.out
    assert run("stats", "--json").json["memories"] == 2


def test_a_run_says_what_it_did_and_how_to_take_it_back(run, twice):
    done = run("consolidate", "--json").json

    assert done["counts"]["merged"] == 1
    assert run("stats", "--json").json["memories"] == 1
    undone = run("undo", done["change"])
    assert undone.code == 0
    assert run("stats", "--json").json["memories"] == 2


def test_it_runs_at_low_priority(run, twice, nice):
    run("consolidate")

    assert sum(nice) == 10


def test_some_operations_only(run, twice):
    assert run("consolidate", "--only", "tags", "--only", "prune").out == "Nothing to do.\n"


def test_an_operation_that_does_not_exist_is_refused_by_name(run):
    told = run("consolidate", "--only", "polish")

    assert told.code == 1
    assert "polish" in told.err


def test_help_lists_the_operations(run):
    told = run("consolidate", "--help").out

    assert all(name in told for name in OPERATIONS)


def test_a_run_stays_in_its_project_unless_all_are_asked_for(run, twice, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    other = run("--project", str(elsewhere), "consolidate", "--json").json
    kept = run("stats", "--json").json["memories"]
    everywhere = run("--project", str(elsewhere), "consolidate", "--all-projects", "--json").json

    assert (other["counts"], kept) == ({}, 2)
    assert everywhere["counts"]["merged"] == 1
    assert run("stats", "--json").json["memories"] == 1
