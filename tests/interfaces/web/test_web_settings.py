"""*Settings*: every setting with its meaning and source, what a project sets, agents, export, backup and encryption."""

import json
import re

import pytest
from playwright.sync_api import expect


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """A home folder of its own, where agents can be connected."""
    folder = tmp_path / "me"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def engine(plain_engine):
    plain_engine.context.register_project()
    return plain_engine


def test_every_setting_is_shown_with_its_meaning_and_source(engine, reader, home):
    (home / "config.toml").write_text("capacity = 3000\n")

    text = reader.text("/settings")

    assert re.search(r"capacity 3000 \S*config.toml memories of agents per project", text)
    assert "backup_hours 24 default hours between automatic backups" in text
    assert "not encrypted" in text
    assert "There is no backup yet." in text
    assert "nothing is sent, and there is no cost" in text


def test_a_budget_is_changed_only_after_a_question(engine, reader):
    usual = engine.preferences.budget()

    page = reader.post("/settings/budget", tokens="900")
    assert "Give agents at most 900 tokens at once?" in page
    assert engine.preferences.budget() == usual

    reader.post("/settings/budget", tokens="900", sure="1")
    assert engine.preferences.budget() == 900
    reader.post("/settings/budget", tokens="", sure="1")
    assert engine.preferences.budget() == usual


def test_a_wrong_number_is_refused_with_a_reason(engine, reader):
    assert "is not a number of tokens" in reader.post("/settings/budget", tokens="<b>many</b>", sure="1")


def test_presets_aliases_and_seasons_are_set(engine, reader):
    reader.post("/settings/preset", preset="aggressive", sure="1")
    reader.post("/settings/alias", name="billing", words="invoice, tax engine", sure="1")
    reader.post("/settings/season", name="release-week", sure="1")

    assert engine.sessions.preset() == "aggressive"
    assert {"invoice", "tax engine"} <= {
        word for alias in engine.preferences.aliases() for word in alias.words
    }
    assert engine.preferences.seasons() == ("release-week",)

    reader.post("/settings/season/end", name="release-week", sure="1")
    reader.post("/settings/alias/remove", name="billing", sure="1")
    assert engine.preferences.seasons() == ()
    assert "billing" not in {alias.name for alias in engine.preferences.aliases()}


def test_an_agent_is_connected_after_its_changes_were_shown_and_disconnected_again(engine, reader, own_home):
    html = reader.get("/settings/host?host=claude-code&do=install&scope=user")
    assert not list(own_home.iterdir())
    assert ".claude/settings.json" in html
    digest = re.search(r'name="digest" value="(\w+)"', html)[1]

    page = reader.post("/settings/host/change", host="claude-code", scope="user", do="install", digest=digest)
    assert "Claude Code is connected." in page
    assert (own_home / ".claude/settings.json").is_file()
    assert "Claude Code for you" in reader.text("/settings")

    html = reader.get("/settings/host?host=claude-code&do=uninstall&scope=user")
    digest = re.search(r'name="digest" value="(\w+)"', html)[1]
    reader.post("/settings/host/change", host="claude-code", scope="user", do="uninstall", digest=digest)
    assert not (own_home / ".claude/settings.json").exists()


def test_nothing_is_installed_that_was_not_shown_or_outside_a_known_project(
    engine, reader, own_home, tmp_path
):
    page = reader.post(
        "/settings/host/change", host="claude-code", scope="user", do="install", digest="guess"
    )
    assert "The files have changed since the page was shown." in page

    answer = reader.text(f"/settings/host?host=claude-code&scope=project&root={tmp_path}", 400)
    assert "This folder is not a known project." in answer
    assert not list(own_home.iterdir())


def test_memories_are_exported_as_json_and_markdown(engine, reader):
    engine.remember("Prices are in cents", kind="fact")

    exported = reader.get("/settings/export.json")

    assert "Prices are in cents" in exported
    assert json.loads(exported)
    assert "Prices are in cents" in reader.get("/settings/export.md")


def test_what_would_move_to_a_team_is_shown_and_nothing_is_sent(engine, reader):
    engine.remember("Prices are in cents", kind="fact")
    engine.remember("Tests need Redis", kind="gotcha")

    text = reader.text("/settings/migration")

    assert "shop 2 gotcha 1 · fact 1 only you 2" in text
    assert "this page sends nothing" in text
    assert "Preview the move" in reader.text("/settings")


def test_a_backup_is_made(engine, reader):
    assert "Backed up to" in reader.post("/settings/backup")
    assert "Last backup:" in reader.text("/settings")


def test_a_setting_of_another_project_is_left_alone(engine, reader, home, tmp_path, embedder):
    from recollect.engine import Engine

    other = tmp_path / "other"
    other.mkdir()
    with Engine.open(other, home, embedder=embedder) as opened:
        opened.context.register_project()
        name = opened.context.project_id

        reader.post(f"/settings/budget?p={name}", tokens="777", sure="1")

        assert opened.preferences.budget() == 777
    assert engine.preferences.budget() != 777


def test_a_person_changes_the_budget_and_is_asked_first(page, site):
    site.engine.context.register_project()
    page.goto("/settings")
    page.get_by_label("Tokens").fill("900")
    page.get_by_role("button", name="Change the budget").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Give agents at most 900 tokens at once?")
    page.get_by_role("button", name="Yes").click()

    expect(page.locator(".notice")).to_contain_text("The budget is 900 tokens.")
    assert site.engine.preferences.budget() == 900
