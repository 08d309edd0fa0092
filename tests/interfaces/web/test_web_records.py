"""*Records*: the audit log and its verification, redactions, what was deleted, and what is measured."""

import pytest
from playwright.sync_api import expect

from recollect.engine import Engine

KEY = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"


@pytest.fixture
def engine(plain_engine):
    return plain_engine


def test_the_audit_says_who_did_what_and_is_verified(engine, reader):
    engine.forget(engine.remember("Prices are in cents").id)

    text = reader.text("/records?verify=1")

    assert "you forgotten Prices are in cents" in text
    assert "The log is intact" in text
    assert "remove" not in reader.text("/records?action=add").partition("Details")[2].partition("lines")[0]


def test_a_log_that_was_tampered_with_is_reported(engine, reader):
    from recollect.store.sqlite.connection import connect

    engine.remember("Prices are in cents")
    connection = connect(engine.store.info().location, None)
    connection.execute("UPDATE audit SET actor = 'nobody' WHERE seq = 1")
    connection.close()

    text = reader.text("/records?verify=1")

    assert "The log is intact" not in text
    assert engine.care.verify_audit().problem.what in text


def test_a_redaction_is_listed_without_the_secret(engine, reader):
    engine.remember(f"Payments in staging use the key {KEY}")

    html = reader.get("/records/redactions")

    assert KEY not in html
    assert "api-key" in html
    assert "Payments in staging" in html


def test_a_deleted_memory_is_restored_with_the_days_that_are_left_and_the_restore_undone(engine, reader):
    name = engine.remember("Prices are in cents").id
    engine.forget(name)

    assert "30 days left" in reader.text("/records/deleted")
    page = reader.post(f"/records/memories/{name}/restore", next="/records/deleted")

    assert engine.get(name).state == "active"
    assert "/undo" in page
    engine.care.undo(engine.care.changes(1)[0].id)
    assert engine.get(name).state == "deleted"


def test_what_an_agent_remembered_is_among_the_changes_and_undone_there(
    engine, reader, home, folder, embedder
):
    with Engine.open(folder, home, embedder=embedder, actor="agent:codex") as agents:
        name = agents.remember("Prices are in cents").id

    shown = reader.text("/changes")
    reader.post(f"/changes/{engine.care.changes(1)[0].id}/undo", next="/changes")

    assert "Remembered Prices are in cents codex" in shown
    assert engine.memory.get_many([name]) == {}


def test_an_undo_names_what_it_brought_back(engine, reader):
    name = engine.remember("Prices are in cents").id
    engine.forget(name)
    engine.care.undo(engine.care.undo(engine.care.undo(engine.care.changes(1)[0].id).undo).undo)

    assert "Undone: Forgotten Prices are in cents" in reader.text("/changes")


def test_a_deleted_project_is_restored(engine, reader):
    name = engine.remember("Prices are in cents").id
    engine.care.forget_project()
    project = engine.context.project_id

    assert "Forgot the whole project." in reader.text("/records/deleted")
    reader.post(f"/records/projects/{project}/restore", next="/records/deleted")

    assert engine.get(name).state == "active"
    assert "Forgot the whole project." not in reader.text("/records/deleted")


def test_metrics_show_what_the_stats_say(engine, reader):
    engine.remember("Prices are in cents")
    engine.search("prices")

    text = reader.text("/records/metrics")

    assert "Memories shown to agents 0 0 of them used" in text
    assert "Average confidence" in text
    assert "write 1" in text
    assert "search 1" in text


def test_nothing_is_shown_where_there_is_nothing(reader):
    assert "Nothing was redacted." in reader.text("/records/redactions")
    assert "Nothing is deleted." in reader.text("/records/deleted")


def test_a_person_restores_a_memory(page, site):
    name = site.engine.remember("Prices are in cents").id
    site.engine.forget(name)
    page.goto("/records/deleted")

    page.get_by_role("button", name="Restore Prices are in cents").click()

    expect(page.locator(".notice")).to_contain_text("Restored.")
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Restore Prices are in cents")).to_be_visible()
    assert site.engine.get(name).state == "deleted"
