import pytest

from recollect.code.modules.module_map import Confidence, Module, ModuleMap, as_document
from recollect.code.paths import FileRole
from recollect.engine import Engine
from recollect.work.transcripts.event import Event


@pytest.fixture
def open_engine(home, folder, clock, embedder):
    def open_at(project=folder):
        return Engine.open(project, home, embedder=embedder, clock=clock)

    return open_at


def session_with(engine, name, tokens):
    """A session that reads, and then edits."""
    engine.sessions.start(name)
    told = [
        Event(name, 0, "user", "Mend the login, please."),
        Event(name, 1, "assistant", "", tool="Read", call="c1", input={"file_path": "auth.py"}),
        Event(name, 2, "tool", "word " * tokens, tool="Read", call="c1"),
        Event(name, 3, "assistant", "", tool="Edit", call="c2", input={"file_path": "auth.py"}),
    ]
    engine.sessions.record(name, [(f"{name}-{event.order}", event) for event in told])
    engine.sessions.end(name)


def test_a_session_with_memory_is_compared_with_those_without(engine):
    for number, tokens in enumerate((4000, 5000, 6000)):
        session_with(engine, f"before-{number}", tokens)
    engine.measures.injected(["a-memory"], "after")
    session_with(engine, "after", 1000)

    saved = engine.measures.saved("after")

    assert saved.compared == 3
    assert 3900 < saved.tokens < 4100


def test_without_earlier_sessions_nothing_is_claimed(engine):
    engine.measures.injected(["a-memory"], "after")
    session_with(engine, "after", 1000)

    assert engine.measures.saved("after").tokens is None


def test_searches_and_writes_are_timed_and_kept_over_a_restart(open_engine):
    with open_engine() as engine:
        engine.remember("Tests need a running Redis")
        engine.search("redis")

    with open_engine() as engine:
        timings = engine.stats()["measures"]["timings"]

    assert (timings["search"]["count"], timings["write"]["count"]) == (1, 1)
    assert timings["search"]["p50_ms"] > 0


def test_stats_says_what_was_shown_last(engine):
    receipt = engine.remember("Tests need a running Redis")
    engine.measures.injected([receipt.id], "s1")

    figures = engine.stats()["measures"]

    assert figures["last_injected"]["memories"] == [receipt.id]
    assert figures["here"]["injected"] == 1


def test_figures_of_another_project_are_not_counted_here(engine, open_engine, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    with open_engine(project=other) as elsewhere:
        elsewhere.measures.injected(["x"], "s1")
        elsewhere.measures.flush()

    figures = engine.stats()["measures"]

    assert figures["here"]["injected"] == 0
    assert figures["everywhere"]["injected"] == 1


def test_forgetting_everything_forgets_the_figures(engine):
    engine.remember("Tests need a running Redis")
    engine.measures.injected(["x"], "s1")
    engine.measures.flush()

    engine.care.forget_everything()

    assert engine.store.measures.by_session(engine.settings.user, engine.project.id) == {}


def test_what_could_not_be_written_waits_and_what_is_there_can_be_read(engine, monkeypatch):
    for number in range(3):
        session_with(engine, f"before-{number}", 4000)
    session_with(engine, "after", 1000)
    engine.measures.injected(["a-memory"], "after")

    with monkeypatch.context() as read_only:
        read_only.setattr(engine.store._db, "read_only", True)
        meanwhile = engine.measures.saved("after")

    assert meanwhile.tokens is None
    assert engine.measures.saved("after").tokens > 0


def test_the_share_of_the_map_that_is_known_is_told(engine, clock):
    modules = (
        Module("a", "a"),
        Module("b", "b", confidence=Confidence.MAPPED),
        Module("docs", "docs", FileRole.DOCS),
    )
    before = engine.stats()["measures"]["map_coverage"]

    engine.store.modules.change(engine.project.id, lambda _: as_document(ModuleMap(modules)), clock())

    assert before is None
    assert engine.stats()["measures"]["map_coverage"] == 0.5
