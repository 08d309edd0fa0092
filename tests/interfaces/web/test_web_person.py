"""What a person does below the menu, by mouse and by keyboard; the tests of each page have every case, without a browser."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_web_code import FILES
from test_web_sessions import hold_session


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    """A home folder of its own, where agents can be connected."""
    folder = tmp_path / "me"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_the_map_is_read_and_a_module_corrected_in_place_and_undone(page, engine, folder):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    engine.context.register_project()
    page.goto("/code")
    page.get_by_role("button", name="Read the files").click()
    page.locator("summary", has_text="shop").click()
    module = page.locator("details[open].module")
    expect(module).to_contain_text("shop/money.py")

    module.get_by_label("What it is for").fill("What a sale costs")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("is corrected.")
    expect(page.locator("summary", has_text="What a sale costs")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("summary", has_text="What a sale costs")).to_have_count(0)

    page.get_by_label("What is this task about?").fill("the total of an order is wrong")
    page.get_by_role("button", name="Find files").click()
    expect(page.locator("main")).to_contain_text("shop/orders.py")


def test_a_session_is_found_by_what_was_said_and_its_timeline_reduced(page, engine, clock):
    hold_session(engine, clock)
    page.goto("/sessions")
    page.keyboard.press("/")
    page.keyboard.type("webhook retries")
    page.keyboard.press("Enter")
    expect(page.locator(".row .quote").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What I learned")).to_be_visible()

    page.get_by_role("link", name=re.compile("^Told to the agent")).click()
    expect(page.locator(".happened > li.told").first).to_be_visible()
    expect(page.locator(".happened > li:not(.told)")).to_have_count(0)


def test_after_a_search_the_first_hit_is_opened_by_keys(page, engine):
    engine.remember("Prices are in cents")
    engine.remember("The till prints twice")
    page.goto("/memories")
    page.keyboard.press("/")
    page.keyboard.type("till")
    page.keyboard.press("Enter")
    expect(page.locator(".reasons").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("The till prints twice")


def test_preset_season_and_alias_are_set_and_each_asks_first(page, engine):
    engine.context.register_project()
    page.goto("/settings")
    page.get_by_role("combobox", name="Preset").select_option("aggressive")
    page.get_by_role("button", name="Change the preset").click()
    page.get_by_role("button", name="Yes").click()
    page.get_by_label("Name of a season").fill("release-week")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    page.get_by_label("Word", exact=True).fill("billing")
    page.get_by_label("Also finds").fill("invoice")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator(".notice")).to_be_visible()

    assert engine.sessions.preset() == "aggressive"
    assert engine.preferences.seasons() == ("release-week",)
    assert "billing" in {alias.name for alias in engine.preferences.aliases()}


def test_memories_are_downloaded_and_backed_up(page, engine):
    engine.remember("Prices are in cents")
    page.goto("/settings")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    assert json.loads(Path(download.value.path()).read_text())

    page.get_by_role("button", name="Back up now").click()

    expect(page.locator(".notice")).to_contain_text("Backed up to")


def test_an_agent_is_connected_with_the_difference_shown_and_disconnected(page, engine, own_home):
    engine.context.register_project()
    page.goto("/settings")
    page.get_by_role("link", name="Connect Claude Code", exact=True).click()
    expect(page.locator(".diff").first).to_contain_text("recollect")
    assert not list(own_home.iterdir())
    page.get_by_role("button", name="Connect").click()
    expect(page.locator(".notice")).to_contain_text("Claude Code is connected.")
    assert (own_home / ".claude/settings.json").is_file()

    page.get_by_role("link", name=re.compile("^Disconnect")).click()
    page.get_by_role("button", name="Disconnect").click()
    expect(page.locator(".notice")).to_be_visible()
    assert not (own_home / ".claude/settings.json").exists()


def test_the_log_is_verified_and_a_forgotten_project_comes_back(page, engine):
    name = engine.remember("Prices are in cents").id
    page.goto("/records")
    page.get_by_role("link", name="Verify the log").click()
    expect(page.get_by_role("status").first).to_contain_text("The log is intact")
    engine.care.forget_project()

    page.get_by_role("link", name="Deleted").click()
    page.get_by_role("button", name=re.compile("^Restore")).first.click()

    expect(page.locator(".notice")).to_contain_text("Restored the project with 1 memory.")
    assert engine.get(name).state == "active"


def test_all_projects_are_chosen_and_the_person_logs_out(page, engine):
    engine.remember("Prices are in cents")
    page.goto("/memories")
    page.get_by_label("Project", exact=True).select_option(label="All projects")
    expect(page.locator(".row .chip", has_text="shop")).to_be_visible()

    page.get_by_role("button", name="Log out").click()

    expect(page.get_by_text("You are logged out.")).to_be_visible()
    page.goto("/memories")
    expect(page.get_by_text("You are not logged in")).to_be_visible()
    page.failures.clear()  # the refusal of that page
