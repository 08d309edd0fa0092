"""A memory about a function, from the day it is said to the day it is said of another."""

import subprocess

import pytest

from recollect.engine import Engine

BEFORE = "def parse_config(path):\n    return path\n\n\ndef other():\n    pass\n"
AFTER = BEFORE.replace("return path", "return open(path)")
ASKED = "parse_config unknown keys"


@pytest.fixture
def config(folder):
    (folder / "config.py").write_text(BEFORE)
    return folder / "config.py"


@pytest.fixture
def about(engine, config):
    return engine.remember("`parse_config` in `config.py` ignores unknown keys").id


def score(engine, name):
    return next(hit.score for hit in engine.search(ASKED).results if hit.memory.id == name)


def change(config, clock, text=AFTER):
    config.write_text(text)
    clock.advance(days=1)


def test_a_memory_goes_stale_with_its_function_alone(engine, config, clock, about):
    change(config, clock, BEFORE.replace("pass", "return 1"))
    other = engine.care.check_code()
    change(config, clock)

    own = engine.care.check_code()

    assert other == {}
    assert list(own) == [about]
    assert own[about].why == "`parse_config` in config.py has changed"


def test_a_stale_memory_ranks_lower_and_says_so(engine, config, clock, about):
    fresh = score(engine, about)
    change(config, clock)
    engine.care.check_code()

    found, told = score(engine, about), engine.recall(ASKED).text

    assert 0 < found < 0.7 * fresh
    assert "stale" in told


def test_who_confirms_a_stale_memory_ties_it_to_the_code_as_it_is(engine, config, clock, about):
    change(config, clock)
    engine.care.consolidate(["ties", "facts"])
    asked = engine.questions("stale")

    engine.decide(asked[0].review.id, "reject")
    engine.care.consolidate(["ties", "facts"])

    assert [each.memories[0].id for each in asked] == [about]
    assert engine.get(about).anchors[0].symbol == "parse_config"
    assert engine.care.check_code() == {}
    assert engine.questions("stale") == ()
    assert "stale" not in engine.recall(ASKED).text


def test_a_memory_that_is_edited_is_about_what_it_says_now(engine, config, clock, about):
    edited, _ = engine.edit(about, content="`other` in `config.py` ignores unknown keys")

    change(config, clock)
    first = engine.care.check_code()
    change(config, clock, AFTER.replace("pass", "return 9"))
    engine.care.consolidate(["facts"])

    assert edited.anchors[0].symbol == "other"
    assert first == {}
    assert [each.review.reason for each in engine.questions("stale")] == ["`other` in config.py has changed"]


def test_in_a_worktree_a_memory_is_held_against_the_code_that_is_there(
    home, folder, tmp_path, clock, embedder, config
):
    other = tmp_path / "other"
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "First"],
        ["worktree", "add", "-q", "-b", "other", str(other)],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    (other / "config.py").write_text(AFTER)

    with Engine.open(other, home, embedder=embedder, clock=clock) as engine:
        name = engine.remember("`parse_config` in `config.py` ignores unknown keys").id
        there = engine.care.check_code()
    with Engine.open(folder, home, embedder=embedder, clock=clock) as engine:
        here = engine.care.check_code()

    assert there == {}
    assert list(here) == [name]


def test_a_statement_remembered_again_with_a_file_is_anchored_to_it(engine, config):
    first = engine.remember("parse_config ignores unknown keys").id

    again = engine.remember("parse_config ignores unknown keys", file_paths=["config.py"])

    assert again.id == first
    assert [(anchor.path, anchor.symbol) for anchor in engine.get(first).anchors] == [
        ("config.py", "parse_config")
    ]


def test_a_memory_edited_through_the_mirror_is_anchored_to_what_it_names_now(engine, config, about, tmp_path):
    engine.care.mirror(tmp_path / "mirror")
    file = tmp_path / "mirror" / "shop.json"
    file.write_text(file.read_text().replace("`parse_config`", "`other`"))

    engine.care.mirror(tmp_path / "mirror")

    assert [(anchor.path, anchor.symbol) for anchor in engine.get(about).anchors] == [("config.py", "other")]
