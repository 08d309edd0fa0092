"""After a change to anchored code, everything that shows memories says at once which are stale."""

import os

import pytest

from recollect.engine import Engine
from recollect.interfaces.mcp import memories as mcp_memories
from recollect.interfaces.mcp.requests import ClientSession, ToolContext
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told
from recollect.work.metrics.overview import overview

SAID = "`parse_config` in `config.py` ignores unknown keys"


def in_search(engine, name, read):
    hits = {hit.memory.id: hit for hit in engine.search("parse_config unknown keys").results}
    return "stale" in str(hits[name].why)


def in_recall(engine, name, read):
    request = DeliveryRequest(Moment.ON_REQUEST, "parse_config ignores unknown keys", preview=True)
    return "stale" in engine.delivery.compose(request, Told()).text


def in_prompts(engine, name, read):
    request = DeliveryRequest(Moment.PROMPT, "Why does parse_config in config.py ignore unknown keys?")
    return "stale" in engine.delivery.compose(request, Told()).text


def in_mcp(engine, name, read):
    context = ToolContext(engine, ClientSession(None), "gemini")
    return (
        "stale"
        in mcp_memories.search(context, "parse_config unknown keys", 5, "", "", False)[0].results[0].marks
    )


def in_review(engine, name, read):
    return [question.memories[0].id for question in engine.questions("stale")] == [name]


def in_inbox(engine, name, read):
    return f"/memories/{name}" in read("/review")


def in_doctor(engine, name, read):
    return any("1 memory is about code that has changed" in each.finding for each in engine.doctor())


def in_browser(engine, name, read):
    return name in read("/memories?stale=1")


def in_overview(engine, name, read):
    figures = overview(engine.context), overview(engine.context, all_projects=True)
    return all(each.stale == 1 and each.reviews == {"stale": 1} for each in figures)


SURFACES = [in_search, in_recall, in_prompts, in_mcp, in_review, in_inbox, in_doctor, in_browser, in_overview]


@pytest.mark.parametrize("first", SURFACES, ids=lambda surface: surface.__name__)
def test_whoever_is_asked_first_knows_that_code_has_changed_and_so_do_all_others(engine, folder, read, first):
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    name = engine.remember(SAID).id
    engine.care.check_code()
    before = first(engine, name, read)
    (folder / "config.py").write_text("def parse_config(path):\n    return strict(path)\n")

    seen = [surface(engine, name, read) for surface in (first, *SURFACES)]
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    again = first(engine, name, read)

    assert (before, seen) == (False, [True] * len(seen))
    assert again is False  # the question is closed too


def test_a_memory_is_watched_from_when_it_is_written(engine, folder):
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    name = engine.remember(SAID).id
    os.utime(folder / "config.py", ns=(1, 1))
    unchanged = engine.care.stale()
    (folder / "config.py").unlink()

    assert unchanged == {}
    assert engine.care.stale()[name].why == "config.py is gone"


def test_a_file_that_does_not_exist_is_noted(engine, folder):
    (folder / "config.py").write_text("")

    there = engine.remember("Unknown keys are ignored", file_paths=("config.py",))
    missing = engine.remember("Known keys are sorted", file_paths=("nosuch.py",))

    assert there.notes == ()
    assert missing.notes == ("There is no file nosuch.py in this project.",)


def test_a_store_that_is_only_read_says_what_is_stale_too(engine, folder):
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    name = engine.remember(SAID).id
    engine.care.check_code()
    (folder / "config.py").write_text("def parse_config(path):\n    return strict(path)\n")

    reader = Engine.open_to_read(folder, engine.context.settings)
    told = reader.delivery.compose(
        DeliveryRequest(
            Moment.ON_REQUEST, "parse_config ignores unknown keys", preview=True, use_model=False
        ),
        Told(),
    )
    stale = reader.care.stale()
    reader.close()

    assert "stale" in told.text
    assert list(stale) == [name]
