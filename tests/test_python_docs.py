"""Every name in docs/python.md exists on the engine and its parts, and every method works when it is called as shown."""

import re
from io import StringIO
from operator import attrgetter
from pathlib import Path

import pytest

from recollect.code.modules.merge import Correction
from recollect.work.transcripts.event import Event

PAGE = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
CELLS = re.findall(r"^\| (`[a-z_]+.*?) \|", PAGE, re.MULTILINE)
METHODS = sorted({name for cell in CELLS for name in re.findall(r"`([a-z_.]+)(?=\()", cell)})
VALUES = sorted({name for cell in CELLS for name in re.findall(r"`([a-z_.]+)`", cell)})
PARTS = sorted(set(re.findall(r"`memory\.([a-z]+)`", PAGE)))


def test_the_page_lists_methods_and_parts():
    assert {"remember", "search", "recall", "care.undo", "care.mirror", "sessions.end"} <= set(METHODS)
    assert {"code", "maps", "episodes", "measures", "care", "sessions", "preferences"} <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_documented_part_is_on_the_engine(engine, part):
    assert getattr(engine, part) is not None


@pytest.mark.parametrize("name", VALUES)
def test_a_documented_value_is_on_the_engine(engine, name):
    assert attrgetter(name)(engine) is not None


@pytest.mark.parametrize("name", METHODS)
def test_a_documented_method_is_on_the_engine_or_its_part(engine, name):
    assert callable(attrgetter(name)(engine))


@pytest.mark.parametrize("name", ["set_budget", "add_alias", "start_season"])
def test_a_preference_can_be_changed(engine, name):
    assert callable(getattr(engine.preferences, name))


MESSAGES = [
    {
        "session": "s1",
        "order": 0,
        "author": "user",
        "text": "Tests need a running Redis",
        "created_at": "2025-11-17T10:00:00+00:00",
    }
]
EVENT = Event("s1", 0, "user", "No, use pnpm, not npm.")


def stored(engine, text="Tests need a running Redis", **fields):
    return engine.remember(text, **fields).id


def conflict(engine):
    first, second = stored(engine, "Use tabs to indent"), stored(engine, "Deploys run on Friday")
    engine.link(first, second, "contradicts")
    return first, second


def forgotten_change(engine):
    engine.forget(stored(engine))
    return engine.care.changes()[0].id


def question(engine):
    wrong, derived = stored(engine), stored(engine, "A stopped Redis makes the login page slow")
    engine.link(derived, wrong, "derived_from")
    engine.wrong(wrong)
    return engine.questions()[0].review.id


def module(engine):
    (engine.context.root / "till.py").write_text("def total(): return 1\n" * 20)
    engine.maps.rescan()
    return engine.maps.current().modules[0].name


# Each documented method called as the page says, and what must hold of its result.
CALLS = {
    "remember": lambda e, tmp: e.remember("Tests need a running Redis", kind="gotcha").outcome == "stored",
    "search": lambda e, tmp: stored(e) == e.search("running Redis", limit=3).results[0].memory.id,
    "recall": lambda e, tmp: (
        stored(e, kind="gotcha") and "Redis" in e.recall("the tests need Redis running first").text
    ),
    "relevant": lambda e, tmp: e.relevant("fix the tests", limit=10, budget=2000).files is not None,
    "modules_for": lambda e, tmp: isinstance(e.modules_for("fix the tests"), list),
    "get": lambda e, tmp: e.get(stored(e)).content == "Tests need a running Redis",
    "list": lambda e, tmp: [stored(e)] == [memory.id for memory in e.list(kind="fact")],
    "links": lambda e, tmp: len(e.links(conflict(e)[0])) == 1,
    "tags": lambda e, tmp: stored(e, tags=["redis"]) and "redis" in [tag.name for tag in e.tags()],
    "audit": lambda e, tmp: stored(e) in [line.memory_id for line in e.audit(limit=50)],
    "explain": lambda e, tmp: e.explain("running Redis", stored(e)).score > 0,
    "similar": lambda e, tmp: isinstance(e.similar(stored(e)), tuple),
    "gaps": lambda e, tmp: isinstance(e.gaps(), tuple),
    "conflicts": lambda e, tmp: conflict(e) and len(e.conflicts()) == 1,
    "edit": lambda e, tmp: e.edit(stored(e), importance=0.9)[0].importance == 0.9,
    "memory.describe": lambda e, tmp: e.memory.describe(stored(e), ["a page"])[0].when_needed == ("a page",),
    "memory.undescribed": lambda e, tmp: stored(e) == e.memory.undescribed(limit=20)[0][0].id,
    "tag": lambda e, tmp: "redis" in e.tag(stored(e), add=("redis",), remove=()).tags,
    "pin": lambda e, tmp: e.pin(stored(e)).pinned,
    "link": lambda e, tmp: e.link(stored(e), stored(e, "Deploys run on Friday")).relation == "relates_to",
    "forget": lambda e, tmp: e.forget(stored(e)).state == "deleted",
    "restore": lambda e, tmp: e.restore(e.forget(stored(e)).id).state == "active",
    "wrong": lambda e, tmp: e.wrong(stored(e), instead="Tests need Valkey").correction is not None,
    "resolve": lambda e, tmp: e.resolve(*conflict(e), keep="both") is None and e.conflicts() == (),
    "feedback": lambda e, tmp: e.feedback(stored(e), True).access_count == 1,
    "questions": lambda e, tmp: question(e) in [asked.review.id for asked in e.questions()],
    "decide": lambda e, tmp: e.decide(question(e), "accept") is not None and e.questions() == (),
    "import_messages": lambda e, tmp: e.import_messages(MESSAGES) is not None,
    "search_messages": lambda e, tmp: e.import_messages(MESSAGES) and e.search_messages("Redis") != (),
    "search_sessions": lambda e, tmp: e.import_messages(MESSAGES) and e.search_sessions("Redis") != (),
    "export": lambda e, tmp: stored(e) and e.export(StringIO(), messages=True, vectors=True) == 1,
    "bundle": lambda e, tmp: stored(e) and e.bundle(tmp / "b.db", "four plain words here") == 1,
    "import_memories": lambda e, tmp: len(e.import_memories([{"content": "Tests need Redis"}])) == 1,
    "embed_missing": lambda e, tmp: e.embed_missing() == 0,
    "backup": lambda e, tmp: stored(e) and Path(e.backup()).exists(),
    "encrypt": lambda e, tmp: e.encrypt(tmp / "key") is not None,
    "decrypt": lambda e, tmp: e.encrypt(tmp / "key") and e.decrypt() is None,
    "stats": lambda e, tmp: stored(e) and e.stats()["memories"] == 1,
    "doctor": lambda e, tmp: e.doctor() != (),
    "care.changes": lambda e, tmp: forgotten_change(e) in [change.id for change in e.care.changes(limit=20)],
    "care.undo": lambda e, tmp: len(e.care.undo(forgotten_change(e)).restored) == 1,
    "care.consolidate": lambda e, tmp: e.care.consolidate(only=("merge",), dry_run=True) is not None,
    "care.compact": lambda e, tmp: e.care.compact() is not None,
    "care.forget_project": lambda e, tmp: stored(e) and e.care.forget_project() and e.list() == (),
    "care.restore_project": lambda e, tmp: (
        stored(e) and e.care.forget_project() and e.care.restore_project() and len(e.list()) == 1
    ),
    "care.forget_everything": lambda e, tmp: stored(e) and e.care.forget_everything() and e.list() == (),
    "care.mirror": lambda e, tmp: (
        stored(e) and e.care.mirror(tmp / "mirror") and any((tmp / "mirror").iterdir())
    ),
    "care.purge": lambda e, tmp: e.care.purge() is None,
    "care.vacuum": lambda e, tmp: e.care.vacuum(force=False) is None,
    "care.verify_audit": lambda e, tmp: e.care.verify_audit().problem is None,
    "code.refresh": lambda e, tmp: e.code.refresh().complete,
    "maps.current": lambda e, tmp: e.maps.current() is not None,
    "maps.correct": lambda e, tmp: e.maps.correct(module(e), Correction(description="The till")) is not None,
    "maps.rescan": lambda e, tmp: e.maps.rescan() is not None,
    "episodes.record": lambda e, tmp: e.episodes.record("Bash", {"command": "ls"}),
    "episodes.start_task": lambda e, tmp: e.episodes.start_task("fix the login loop").status == "active",
    "episodes.similar_tasks": lambda e, tmp: e.episodes.similar_tasks("fix the login") == (),
    "episodes.fixes_for": lambda e, tmp: (
        e.episodes.fixes_for("ModuleNotFoundError: No module named 'redis'") == []
    ),
    "episodes.coedits": lambda e, tmp: e.episodes.coedits("a.py") == (),
    "sessions.start": lambda e, tmp: e.sessions.start("s1").id == "s1",
    "sessions.record": lambda e, tmp: (
        e.sessions.start("s1") and e.sessions.record("s1", [("e1", EVENT)]) == 1
    ),
    "sessions.end": lambda e, tmp: e.sessions.start("s1") and e.sessions.end("s1").session.id == "s1",
    "measures.saved": lambda e, tmp: e.measures.saved("s1").why != "",
    "measures.timings": lambda e, tmp: isinstance(e.measures.timings(), dict),
    "preferences.budget": lambda e, tmp: e.preferences.budget() > 0,
    "preferences.aliases": lambda e, tmp: e.preferences.aliases() != (),
    "preferences.seasons": lambda e, tmp: e.preferences.seasons() == (),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_documented_method_works_as_documented(engine, tmp_path, name):
    assert CALLS[name](engine, tmp_path)
