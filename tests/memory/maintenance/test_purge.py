"""What was forgotten is gone after thirty days: from the store, and from every byte of its files."""

from datetime import timedelta

import pytest

import recollect.model as m
from recollect.code.modules.merge import Correction
from recollect.engine import Engine
from recollect.errors import Refused, StoreBusy
from recollect.memory.maintenance.purge import it_pays, purge_if_due, vacuum_if_it_pays
from recollect.model import (
    FileOperation,
    FileTouch,
    PatternSighting,
    PrunedText,
    SessionLearning,
    Task,
    ToolExecution,
)
from recollect.store.spool_files import SpoolFiles
from recollect.store.sqlite.connection import connect

SECRET = "Zanzibar"


def bytes_of(home):
    """All that is on the disk, backups aside: they roll over."""
    files = [each for each in home.rglob("*") if each.is_file() and "backups" not in each.parts]
    return b"".join(each.read_bytes() for each in files).lower()


@pytest.fixture
def open_engine(home, folder, clock, embedder):
    return lambda: Engine.open(folder, home, embedder=embedder, clock=clock)


def test_no_word_of_a_purged_memory_is_left_in_any_file(open_engine, home, clock):
    with open_engine() as engine:
        secret = engine.remember(f"The {SECRET} release ships on Friday", tags=("zanzibar-tag",))
        engine.remember("Carts are kept a day")
        engine.edit(secret.id, content=f"The {SECRET} release ships on Monday")
        engine.wrong(secret.id, instead=f"The {SECRET} release was called off")
        for memory in engine.list(state="all"):
            if SECRET in memory.content:
                engine.forget(memory.id)
    assert SECRET.lower().encode() in bytes_of(home)

    clock.advance(days=31)
    with open_engine() as engine:
        engine.list()  # whoever comes by first

    assert SECRET.lower().encode() not in bytes_of(home)
    with open_engine() as engine:
        assert [each.content for each in engine.list(state="all")] == ["Carts are kept a day"]
        assert engine.store.changes.touched(engine.care.changes()[0].id) == []
        assert engine.store.check() == []


def test_no_word_of_a_memory_that_an_undo_removed_is_left_in_any_file(open_engine, home, clock):
    with open_engine() as engine:
        engine.remember("Carts are kept a day")
        secret = engine.remember(f"The {SECRET} release ships on Friday", tags=("zanzibar-tag",))
        finding = m.Finding("f1", "s1", m.fingerprint(SECRET), "fact", f"{SECRET}.", clock())
        engine.store.put_session(m.Session("s1", engine.context.user_id, engine.context.project_id, clock()))
        engine.store.put_finding(finding)
        engine.store.events.mark_promoted("f1", secret.id)
        shown = m.DeliveryRecord(
            "d1",
            engine.context.user_id,
            engine.context.project_id,
            "s1",
            "prompt",
            "codex",
            clock(),
            5,
            f"The {SECRET} release",
            (m.ShownItem(secret.id, "hint"),),
        )
        engine.store.deliveries.put([shown])
        engine.search("release")
        engine.care.undo(engine.care.last_change().id)
    assert SECRET.lower().encode() in bytes_of(home)

    clock.advance(days=31)
    with open_engine() as engine:
        engine.list()

    assert SECRET.lower().encode() not in bytes_of(home)


def test_before_the_grace_is_over_nothing_goes(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)
    clock.advance(days=30)

    assert engine.care.purge() is None

    assert engine.restore(receipt.id).content == "Mail is sent by a worker"


def test_a_purge_takes_what_hangs_on_the_memory_and_says_so(engine, clock):
    gone, other = engine.remember("Mail is sent by a worker"), engine.remember("Carts are kept a day")
    engine.link(other.id, gone.id, "depends_on")
    question = m.Review(m.new_id(), engine.settings.user, engine.project.id, "stale", (gone.id,), "", clock())
    engine.store.reviews.ask(question)
    engine.forget(gone.id)
    clock.advance(days=31)

    purged = engine.care.purge()

    assert purged.memories == (gone.id,)
    assert engine.links(other.id) == ()
    assert engine.store.reviews.open(engine.settings.user, engine.project.id) == []
    line = engine.audit(1)[0]
    assert (line.action, line.memory_id, line.detail) == ("remove", gone.id, {"purged": True})
    assert engine.store.check() == []
    with pytest.raises(Refused, match="no longer be undone"):
        engine.care.undo(engine.care.changes()[0].id)


def test_it_is_done_at_most_once_a_day(engine, clock):
    for text in ("Mail is sent by a worker", "Carts are kept a day"):
        engine.forget(engine.remember(text).id)
        clock.advance(hours=1)
    clock.advance(days=30, minutes=-90)

    counts = [len(engine.care.purge().memories)]
    clock.advance(hours=2)
    counts.append(engine.care.purge())
    clock.advance(hours=23)
    counts.append(len(engine.care.purge().memories))

    assert counts == [1, None, 1]


def test_searches_and_vectors_forget_it_too(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    assert engine.search("mail worker").results
    engine.forget(receipt.id)
    clock.advance(days=31)

    engine.care.purge()

    assert engine.search("mail worker", state="all").results == ()
    assert engine.store.vector(receipt.id, engine.embedder.model) is None


def test_an_old_change_cannot_be_undone_into_a_purged_memory(engine, clock):
    gone, other = engine.remember("Mail is sent by a worker"), engine.remember("Carts are kept a day")
    cluster = m.Cluster(m.new_id(), engine.project.id, "x", "fake", b"\0\0\0\0", (gone.id, other.id), clock())
    engine.store.put_clusters(engine.project.id, [cluster])
    engine.forget(gone.id)
    clock.advance(days=10)
    change = engine.context.new_change("consolidate", "clusters made anew", project_id=engine.project.id)
    with engine.store.changes.recorded(change):
        engine.store.put_clusters(engine.project.id, [])
    clock.advance(days=21)
    engine.care.purge()

    engine.care.undo(change.id)

    (back,) = engine.store.clusters(engine.project.id)
    assert back.members == (other.id,)
    assert engine.store.check() == []


def test_a_project_is_forgotten_as_one_change_with_all_that_belongs_to_it(engine, clock):
    fill(engine, clock)

    change, cleared = engine.care.forget_project()

    assert (cleared.memories, cleared.messages, cleared.sessions, cleared.findings, cleared.gaps) == (
        2,
        1,
        1,
        1,
        1,
    )
    assert seen(engine) == ["Commits are signed"]
    assert engine.search_messages("mail") == ()
    assert engine.gaps() == ()
    assert [each.name for each in engine.preferences.aliases() if not each.ours] == []
    assert engine.care.changes()[0].id == change.id
    assert engine.store.check() == []


@pytest.mark.parametrize("way", ["undo", "restore"])
def test_a_forgotten_project_comes_back_as_it_was(engine, clock, way):
    fill(engine, clock)
    engine.retrieval.searcher.search_messages("mail", engine.context.view(), 5)  # it is in memory now
    change, _ = engine.care.forget_project()
    clock.advance(days=29)

    undone = engine.care.undo(change.id) if way == "undo" else engine.care.restore_project()

    assert (len(undone.restored), undone.left_alone) == (2, ())
    assert seen(engine) == ["Carts are kept a day", "Commits are signed", "Mail is sent by a worker"]
    assert len(engine.search_messages("mail")) == 1
    assert len(engine.gaps()) == 1
    assert [each.name for each in engine.preferences.aliases() if not each.ours] == ["post"]
    assert len(engine.store.findings("monday")) == 1
    assert engine.store.check() == []
    with pytest.raises(Refused):
        engine.care.restore_project()


def test_after_thirty_days_nothing_of_the_project_is_left(open_engine, home, clock, folder):
    with open_engine() as engine:
        fill(engine, clock)
        engine.care.forget_project()
    clock.advance(days=31)

    with open_engine() as engine, pytest.raises(Refused, match="30 days"):
        engine.care.restore_project()

    left = bytes_of(home)
    for word in (b"worker", b"carts", b"mail", b"monday", str(folder).encode().lower()):
        assert word not in left
    with open_engine() as engine:
        assert seen(engine) == ["Commits are signed"]
        assert engine.store.projects() == []


def test_what_was_done_since_stays_when_a_project_comes_back(engine, clock):
    fill(engine, clock)
    engine.care.forget_project()
    engine.remember("Orders are never deleted")
    engine.import_messages([{"session": "monday", "order": 0, "text": "Why is mail fast?"}])
    engine.preferences.add_alias("basket", ["cart"])
    clock.advance(days=1)

    engine.care.restore_project()

    assert len(seen(engine)) == 4
    assert [hit.message.text for hit in engine.search_messages("mail")] == ["Why is mail fast?"]
    assert [each.name for each in engine.preferences.aliases() if not each.ours] == ["basket"]


def test_a_project_in_use_again_keeps_its_name_and_what_is_new(engine, clock):
    fill(engine, clock)
    engine.care.forget_project()
    engine.remember("Orders are never deleted")
    clock.advance(days=31)

    engine.care.purge()

    assert seen(engine) == ["Commits are signed", "Orders are never deleted"]
    assert [each.id for each in engine.store.projects()] == [engine.project.id]
    with pytest.raises(Refused, match="not forgotten as a whole"):
        engine.care.restore_project()


def test_everything_is_forgotten_in_every_project_and_comes_back(engine, clock, home, tmp_path, embedder):
    fill(engine, clock)
    (tmp_path / "bank").mkdir()
    with Engine.open(tmp_path / "bank", home, embedder=embedder, clock=clock) as bank:
        bank.remember("Accounts are locked after three tries")

    change, cleared = engine.care.forget_everything()
    left = engine.list(all_projects=True)
    with pytest.raises(Refused, match="everything"):
        engine.care.restore_project()
    engine.care.undo(change.id)

    assert (cleared.memories, left) == (4, ())
    assert len(engine.list(all_projects=True)) == 4


def test_forgetting_what_is_forgotten_already_leaves_the_way_back(engine, clock):
    fill(engine, clock)
    first, _ = engine.care.forget_project()

    again, cleared = engine.care.forget_project()

    assert (cleared.anything, first.id != again.id) == (False, True)
    assert len(engine.care.restore_project().restored) == 2


def test_what_waits_in_the_spool_is_forgotten_with_everything(engine, home):
    engine.remember("Mail is sent by a worker")
    for folder in ("spool", "spool/hooks"):
        SpoolFiles(home / folder).append("s1", "something a user said\n")

    engine.care.forget_everything()

    assert not [file for file in (home / "spool").rglob("*.*") if file.suffix != ".lock"]


def test_a_switch_someone_turned_stays_turned(engine, clock):
    engine.remember("Mail is sent by a worker")
    engine.preferences.set_switch("auto", on=False)
    engine.care.forget_project()
    clock.advance(days=31)

    engine.care.purge()

    assert engine.store.setting(engine.project.id, "auto") is False


def fill(engine, clock):
    engine.remember("Mail is sent by a worker")
    engine.remember("Carts are kept a day")
    engine.remember("Commits are signed", scope="global")
    engine.import_messages([{"session": "monday", "order": 0, "text": "Why is mail slow?"}])
    engine.preferences.add_alias("post", ["mail"])
    session = m.Session("monday", engine.settings.user, engine.project.id, clock())
    engine.store.put_session(session)
    engine.store.put_finding(m.Finding(m.new_id(), "monday", "f", "fact", "Mail is slow on Mondays", clock()))
    engine.store.put_gap(m.Gap(m.new_id(), engine.project.id, "why is mail slow", clock()))


def seen(engine):
    return sorted(each.content for each in engine.list())


@pytest.mark.parametrize("everything", [False, True])
def test_no_trace_of_the_work_in_a_forgotten_project_is_left_in_any_file(
    open_engine, home, clock, everything
):
    with open_engine() as engine:
        engine.remember(f"The {SECRET} release ships on Friday")
        work(engine, clock)
        engine.code.refresh()
        traces = bytes_of(home)
    assert traces.count(b"zanzibar") > 6

    with open_engine() as engine:
        engine.code.graph  # noqa: B018 - it has the shelf open meanwhile
        change, _ = engine.care.forget_everything() if everything else engine.care.forget_project()
        assert not list((home / "code").iterdir())
    clock.advance(days=20)
    with open_engine() as engine:
        engine.care.undo(change.id)
        assert seen(engine) == [f"The {SECRET} release ships on Friday"]
        engine.care.forget_everything() if everything else engine.care.forget_project()
    clock.advance(days=31)
    with open_engine() as engine:
        engine.list()  # whoever comes by first

    assert b"zanzibar" not in bytes_of(home)


def test_a_code_graph_that_was_made_again_goes_with_its_project(open_engine, home, clock):
    with open_engine() as engine:
        engine.remember(f"The {SECRET} release ships on Friday")
        engine.care.forget_project()
        work_in_code(engine)
        engine.code.refresh()
    assert list((home / "code").iterdir())

    clock.advance(days=31)
    with open_engine() as engine:
        engine.list()

    assert not list((home / "code").iterdir())
    assert b"zanzibar" not in bytes_of(home)


def test_a_purge_leaves_the_code_graphs_of_projects_that_are_kept(open_engine, home, clock):
    with open_engine() as engine:
        engine.remember("Carts are kept a day")
        engine.forget(engine.remember(f"The {SECRET} release ships on Friday").id)
        work_in_code(engine)
        engine.code.refresh()

    clock.advance(days=31)
    with open_engine() as engine:
        engine.list()

    assert list((home / "code").iterdir())


def work_in_code(engine):
    (engine.context.root / "zanzibar.py").write_text("def zanzibar_ships():\n    return 1\n")


def work(engine, clock):
    """A marker in all that is made of working in a project."""
    work_in_code(engine)
    engine.maps.correct(engine.maps.current().modules[0].name, Correction(description="Zanzibar ships here"))
    owner, now = engine.episodes.owner, clock()
    ran = ToolExecution("one", now, "zanzibar-session", "Bash", {"command": "make zanzibar"}, True, task="t")
    touched = FileTouch("one", now, "zanzibar-session", "src/zanzibar.py", FileOperation.EDIT)
    shelf = engine.store.episodes
    shelf.start(owner, Task("t", "zanzibar-session", "Ship Zanzibar", now), "ship zanzibar")
    shelf.add(owner, [ran], [touched])
    shelf.add_sighting(
        owner, PatternSighting("workflow", "make zanzibar", {"steps": ["make zanzibar"]}, "one", now)
    )
    shelf.put_learning(owner, SessionLearning("workflow", "zanzibar", {"steps": ["zanzibar"]}, 0.5, "s"))
    text = PrunedText("pruned1", "zanzibar-session", None, now, "about Zanzibar", "Zanzibar ships\n" * 9, 3)
    engine.store.pruned.put(owner.user_id, owner.project_id, [text])
    engine.measures.note("zanzibar", session="zanzibar-session")
    engine.measures.flush()


# vacuum


def fill_file(store, megabytes):
    """A large file with that much free in it."""
    store.set_setting(None, "ballast", "x" * megabytes * 1_000_000)
    store.set_setting(None, "ballast", "")


def test_a_file_with_much_free_is_rewritten_when_it_is_large(store, clock):
    fill_file(store, 3)
    small = it_pays(store, clock())
    fill_file(store, 110)

    saved = vacuum_if_it_pays(store, clock())

    assert not small
    assert saved > 100_000_000
    assert store.info().size < 2_000_000
    assert store.check() == []
    assert vacuum_if_it_pays(store, clock()) is None


def test_a_small_one_is_rewritten_once_a_quarter(store, clock):
    fill_file(store, 2)

    first = vacuum_if_it_pays(store, clock())
    clock.advance(days=92)
    second = vacuum_if_it_pays(store, clock())
    clock.advance(days=92)
    third = vacuum_if_it_pays(store, clock())

    assert (first, third) == (None, None)
    assert second > 1_000_000


def test_others_may_have_the_file_open(store, open_store):
    other = open_store()
    fill_file(store, 2)
    other.setting(None, "ballast")

    assert store.vacuum() > 1_000_000

    other.set_setting(None, "ballast", "still works")
    assert store.setting(None, "ballast") == "still works"


def test_one_who_writes_is_not_disturbed(store, open_store):
    other = open_store()
    fill_file(store, 2)

    with other.transaction(), pytest.raises(StoreBusy):
        other.set_setting(None, "ballast", "half way")
        store.vacuum(patience=0.0)

    assert store.check() == []


def test_an_encrypted_store_is_rewritten_and_stays_encrypted(engine, home, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", "a long passphrase for a test")
    engine.remember(f"The {SECRET} release ships on Friday")
    engine.encrypt()
    fill_file(engine.store, 2)

    saved = engine.care.vacuum(force=True)

    assert saved > 1_000_000
    assert SECRET.lower().encode() not in bytes_of(home)
    assert [each.content for each in engine.list()] == [f"The {SECRET} release ships on Friday"]


def test_a_purge_leaves_nothing_due(store, home, clock):
    assert purge_if_due(store, home, clock()) is None
    assert not store.purge_due(clock() + timedelta(days=3650))


def test_closing_does_not_fail_while_another_process_writes(home, folder, embedder):
    engine = Engine.open(folder, home, embedder=embedder)
    engine.remember("The till prints twice")
    writer = connect(home / "recollect.db", None)
    writer.execute("BEGIN IMMEDIATE")
    with engine.store._db.reading() as connection:
        connection.set_busy_timeout(0)  # instead of half a minute

    engine.close()

    writer.close()
    with Engine.open(folder, home, embedder=embedder) as again:
        assert [memory.content for memory in again.list()] == ["The till prints twice"]
