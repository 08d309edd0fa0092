from dataclasses import replace
from pathlib import Path

import pytest
from known_code import Code

from recollect.memory.anchors.stale import refresh, stale_in
from recollect.memory.anchors.tie import tie

SAID = "`parse_config` in `config.py` ignores unknown keys"


@pytest.fixture
def about(engine, folder):
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    memory = engine.get(engine.remember(SAID).id)
    engine.store.put(replace(memory, anchors=tie(folder, memory.content)))
    return memory


def look(engine, clock):
    return refresh(engine.store, engine.settings.user, engine.project, clock())


def test_what_is_stale_is_kept_with_the_time_it_was_first_seen(engine, folder, clock, about):
    fresh = look(engine, clock)
    (folder / "config.py").write_text("def parse_config(path):\n    return None\n")
    first = clock.advance(hours=1)
    look(engine, clock)
    clock.advance(days=1)

    look(engine, clock)

    kept = stale_in(engine.store, engine.project.id)
    assert fresh == {}
    assert kept[about.id].why == "`parse_config` in config.py has changed"
    assert kept[about.id].since == first


def test_code_that_is_as_it_was_makes_its_memory_fresh_again(engine, folder, clock, about):
    before = (folder / "config.py").read_text()
    (folder / "config.py").unlink()
    gone = look(engine, clock)
    (folder / "config.py").write_text(before)

    back = look(engine, clock)

    assert list(gone) == [about.id]
    assert back == stale_in(engine.store, engine.project.id) == {}


def test_what_is_alone_of_its_name_in_the_code_is_tied_by_looking(engine, folder, clock):
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    name = engine.remember("`parse_config` ignores unknown keys").id

    refresh(engine.store, engine.settings.user, engine.project, clock(), Code(folder))

    assert [anchor.path for anchor in engine.get(name).anchors] == ["config.py"]


def test_nothing_is_said_of_a_project_whose_folder_is_not_there(engine, folder, clock, about):
    elsewhere = replace(engine.project, root=str(Path(folder) / "gone"))

    assert refresh(engine.store, engine.settings.user, elsewhere, clock()) == {}


def test_looking_again_writes_nothing(engine, clock, about):
    look(engine, clock)
    before = engine.store.seq()

    look(engine, clock)

    assert engine.store.seq() == before


def test_the_doctor_counts_what_is_stale(engine, folder, clock, about):
    (folder / "config.py").unlink()
    look(engine, clock)

    line = next(check for check in engine.doctor() if check.part == "stale")

    assert line.finding == "1 memory is about code that has changed since."
