"""What every page has: the menu, shortcuts, colours, and a width for phones."""

import re

from playwright.sync_api import expect

from recollect.interfaces.web.pages import PAGES


def test_the_first_page_shows_the_project_and_what_is_known(page, engine):
    engine.remember("Prices are in cents", kind="fact")
    page.goto("/")

    expect(page.get_by_role("heading", level=1)).to_have_text("shop")
    expect(page.locator(".figures")).to_contain_text("1 new this week")
    expect(page.get_by_role("link", name="Prices are in cents")).to_be_visible()


def test_an_empty_store_says_what_to_do(page):
    page.goto("/")
    expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()
    expect(page.get_by_text("recollect install claude-code")).to_be_visible()


def test_what_waits_is_counted_once(reader, plain_engine):
    first, second = (
        plain_engine.remember("Staging is at port 1").id,
        plain_engine.remember("Lunch is at noon").id,
    )
    for one, other in ((first, second), (second, first)):  # each says it of the other
        plain_engine.link(one, other, "contradicts")

    text = reader.text("/")

    assert "Marked among the memories: 1 contradiction " in text


def test_health_follows_after_the_page(page):
    page.goto("/")
    expect(page.locator("#health")).to_contain_text("daemon")


def test_question_mark_shows_the_shortcuts_and_escape_closes_them(page):
    page.goto("/changes")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keyboard shortcuts")

    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_g_and_a_letter_open_a_page(page):
    page.goto("/records")
    page.keyboard.press("g")
    page.keyboard.press("c")

    expect(page.get_by_role("heading", level=1)).to_have_text("Changes")


def test_the_colours_can_be_chosen_and_stay(page):
    page.goto("/records")
    page.get_by_role("button", name="Change the colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    page.goto("/changes")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_switch_asks_and_turns_memory_off_and_on(page, engine):
    page.goto("/")
    page.get_by_role("switch", name=re.compile("^Memory")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Turn memory off in this project?")
    page.get_by_role("link", name="No", exact=True).click()
    expect(page.get_by_role("switch", name=re.compile("^Memory"))).to_have_attribute("aria-checked", "true")
    assert engine.context.is_on("memory")

    page.get_by_role("switch", name=re.compile("^Memory")).click()
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("switch", name=re.compile("^Memory"))).to_have_attribute("aria-checked", "false")
    assert not engine.context.is_on("memory")

    page.get_by_role("switch", name=re.compile("^Memory")).click()
    expect(page.get_by_role("button", name="Yes")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("switch", name=re.compile("^Memory"))).to_have_attribute("aria-checked", "true")
    assert engine.context.is_on("memory")


def test_a_change_is_undone_by_mouse_and_the_undo_by_keyboard(page, engine):
    memory = engine.get(engine.remember("Prices are in cents").id)
    engine.forget(memory.id)
    page.goto("/changes")

    page.get_by_role("button", name=re.compile("Undo Forgot")).click()
    expect(page.locator(".notice")).to_contain_text("Undone: 1 memory is as it was.")
    assert engine.get(memory.id).state == "active"

    page.keyboard.press("u")
    expect(page.locator(".row.faded")).to_contain_text("Undone: Forgotten")
    assert engine.get(memory.id).state == "deleted"


def test_pages_read_without_javascript(new_page, engine):
    engine.forget(engine.remember("Prices are in cents").id)
    name = engine.remember("The till prints twice").id
    page = new_page(java_script_enabled=False)

    for path in (
        *(shown.path for shown in PAGES if "{" not in shown.path),
        f"/memories/{name}",
        "/memories/new",
        "/memories?q=till",
        "/records/deleted",
        "/records/metrics",
        "/health",
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("navigation", name="Pages")).to_contain_text("Changes")


def test_a_page_fits_a_phone(page, engine):
    engine.remember("x" * 300 + " is a very long word without any space in it")
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/")

    wide = page.evaluate("document.documentElement.scrollWidth")

    assert wide <= 360


def test_an_open_page_follows_what_agents_do(page, engine):
    page.goto("/")
    expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()

    engine.remember("Prices are in cents")

    expect(page.get_by_role("link", name="Prices are in cents")).to_be_visible()


def test_the_first_page_says_what_the_last_session_cost_and_saved(plain_engine, reader):
    plain_engine.context.register_project()
    for number, tokens in enumerate((12_000, 13_000, 14_000)):
        plain_engine.measures.note("edited", 1, f"b{number}")
        plain_engine.measures.note("discovery_tokens", tokens, f"b{number}")
    plain_engine.sessions.start("s1", host="codex")
    for name, value in {"injected": 2, "edited": 1, "discovery_tokens": 4_000}.items():
        plain_engine.measures.note(name, value, "s1")

    text = reader.text("/")

    assert "Last session codex" in text
    assert "Saved 9,000 tokens" in text
    assert "The median of 3 sessions" in text


def test_health_leads_to_the_pages_where_things_are_settled(reader, plain_engine):
    first, second = (plain_engine.remember(said).id for said in ("Lunch is at noon", "Mail is sent by cron"))
    plain_engine.link(first, second, "contradicts")

    shown = reader.text("/health")

    assert "1 contradiction is open. See them" in shown
    assert "No agent is connected. Connect agents" in shown


def test_pages_that_ask_for_the_health_soon_after_each_other_share_one_check(reader, monkeypatch):
    from recollect.interfaces.install import connection

    runs, check_all = [], connection.check_all
    monkeypatch.setattr(connection, "check_all", lambda engine: runs.append(engine) or check_all(engine))

    first, second = reader.text("/health"), reader.text("/health")

    assert "daemon" in first
    assert "daemon" in second
    assert len(runs) == 1
