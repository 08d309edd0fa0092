"""The list of memories: search with reasons, filters, order, new memories, and actions on many at once."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import recollect.model as m


@pytest.fixture
def filled(engine, clock):
    """Five memories of different kinds; the ids by a word of each."""
    texts = {
        "cents": ("Prices are stored in cents", {"kind": "fact", "tags": ("money",)}),
        "redis": ("The tests need a running Redis", {"kind": "gotcha", "file_paths": ("tests/conftest.py",)}),
        "npm": ("Never run npm install on CI", {"kind": "negative", "triggers": ("npm install",)}),
        "review": ("Reviewers ask for a changelog entry", {"kind": "pr_pattern"}),
        "branch": ("The new checkout uses Stripe", {"kind": "fact", "branch": "topic"}),
    }
    ids = {}
    for name, (text, details) in texts.items():
        ids[name] = engine.remember(text, **details).id
        clock.advance(minutes=1)
    return ids


def rows(page):
    return page.locator(".rows .row")


def test_all_memories_are_listed_newest_first_with_who_said_it(page, filled):
    page.goto("/memories")

    expect(rows(page)).to_have_count(5)
    expect(rows(page).first).to_contain_text("The new checkout uses Stripe")
    expect(rows(page).first).to_contain_text("stated by you")
    expect(rows(page).nth(1)).to_contain_text("pull request")


def test_a_search_shows_its_reasons_and_they_add_up(page, filled):
    page.goto("/memories")
    page.keyboard.press("/")
    page.keyboard.type("why do the tests need redis")

    expect(rows(page).first).to_contain_text("The tests need a running Redis")
    expect(page).to_have_url(re.compile("q=why"))
    reasons = rows(page).first.locator(".reasons")
    parts = [float(text) for text in reasons.locator(".part b").all_inner_texts()]
    total = float(reasons.locator(".sum b").inner_text())
    assert len(parts) >= 2
    assert sum(parts) == pytest.approx(total, abs=0.002)


def test_every_part_of_a_score_is_explained(page, filled):
    page.goto("/memories?q=how+do+the+tests+run+with+prices")
    page.get_by_text("How the scores add up").click()
    explained = page.locator(".parts dt").all_inner_texts()

    named = {part.split()[0] for part in page.locator(".reasons .part").all_inner_texts()}

    assert named
    assert named <= set(explained)


def test_what_stands_between_backticks_is_code(page, engine):
    engine.remember("Run `make <b>test</b>` first, not ` alone")
    page.goto("/memories")

    expect(page.locator(".row code")).to_have_text("make <b>test</b>")
    expect(page.locator(".row .memory-text")).to_have_text("Run make <b>test</b> first, not ` alone")


def test_searching_here_changes_nothing(page, engine, filled):
    before = engine.get(filled["redis"]), engine.gaps(), engine.store.seq(), engine.audit(5)
    page.goto("/memories?q=the+tests+need+redis")
    expect(rows(page).first).to_contain_text("Redis")
    page.goto("/memories?q=where+is+the+purple+elephant+kept")
    page.goto(f"/memories/{filled['redis']}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Redis")

    engine.schedule.process_use()

    assert (engine.get(filled["redis"]), engine.gaps(), engine.store.seq(), engine.audit(5)) == before
    assert "search" not in engine.measures.timings()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("family=warning", ["npm", "redis"]),
        ("kind=fact", ["branch", "cents"]),
        ("tag=money", ["cents"]),
        ("file=conftest.py", ["redis"]),
        ("branch=topic", ["branch"]),
        ("author=user", ["branch", "review", "npm", "redis", "cents"]),
        ("standing=pinned", []),
        ("state=deleted", []),
        ("stale=1", []),
        ("conflict=1", []),
        ("q=tests+redis&family=user", []),
    ],
)
def test_a_filter_in_the_address_narrows_the_list(read, filled, query, names):
    shown = re.findall(r'data-main href="/memories/(\w+)', read(f"/memories?{query}"))

    assert shown == [filled[name] for name in names]


def test_pills_and_menus_filter_and_can_be_removed(page, filled):
    page.goto("/memories")
    page.get_by_role("link", name="warning", exact=True).click()
    expect(rows(page)).to_have_count(2)

    page.get_by_text("More filters and order").click()
    page.get_by_label("Kind").select_option("gotcha")
    expect(rows(page)).to_have_count(1)
    expect(page).to_have_url(re.compile("kind=gotcha"))

    page.get_by_role("link", name="Clear all").click()
    expect(rows(page)).to_have_count(5)


def test_the_list_can_be_ordered(page, engine, filled):
    engine.feedback(filled["cents"], True)
    page.goto("/memories?sort=used")

    expect(rows(page).first).to_contain_text("Prices are stored in cents")


def test_j_k_and_enter_walk_through_the_list(page, filled):
    page.goto("/memories")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Reviewers ask for a changelog entry")


def test_a_new_memory_is_written_and_undone(page, engine):
    page.goto("/memories")
    page.keyboard.press("n")
    page.get_by_label("What should agents know?").fill("The till opens at nine")
    page.get_by_label("Kind").select_option("decision")
    page.get_by_label("Tags").fill("till, hours")
    page.get_by_role("button", name="Remember").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("The till opens at nine")
    (memory,) = engine.list()
    assert (memory.kind, memory.created_by, {"till", "hours"} <= set(memory.tags)) == (
        "decision",
        "user",
        True,
    )

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Memories")
    assert engine.list() == ()


def test_a_secret_is_not_stored_and_the_person_is_told(page, engine):
    page.goto("/memories/new")
    page.get_by_label("What should agents know?").fill("The key is AKIAIOSFODNN7EXAMPLQ for the till")
    page.get_by_role("button", name="Remember").click()

    expect(page.locator(".notice")).to_contain_text("looks like a secret")
    assert "AKIA" not in engine.list()[0].content


def test_several_memories_are_forgotten_after_a_preview_and_come_back_at_once(page, engine, filled):
    page.goto("/memories")
    page.get_by_label("Select: Prices are stored in cents").check()
    page.get_by_label("Select: The tests need a running Redis").check()
    expect(page.locator("#bulk")).to_contain_text("2 selected")
    page.get_by_label("With those selected:").select_option("forget")
    page.get_by_role("button", name="Preview").click()

    expect(page.get_by_text("This would change 2 memories")).to_be_visible()
    assert len(engine.list(branch="topic")) == 5
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".notice")).to_contain_text("Forget: 2 memories.")
    assert len(engine.list(branch="topic")) == 3

    page.keyboard.press("u")
    expect(rows(page)).to_have_count(5)
    assert len(engine.list(branch="topic")) == 5


def test_memories_are_selected_by_keyboard_and_what_can_be_done_appears(page, engine, filled):
    page.goto("/memories")
    expect(page.get_by_role("button", name="Preview")).to_be_hidden()

    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_contain_text("1 selected")
    page.get_by_role("button", name="Preview").press("Enter")
    page.get_by_role("button", name="Pin").press("Enter")

    expect(page.locator(".notice")).to_contain_text("Pin: 1 memory.")
    assert [memory.pinned for memory in engine.list(branch="topic")].count(True) == 1


def test_many_memories_get_a_tag_or_none_does(page, engine, filled):
    page.goto("/memories")
    page.get_by_label("All on this page").check()
    page.get_by_label("With those selected:").select_option("tag")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Tags, with commas between them").fill(" , ")
    page.locator("#apply").click()
    expect(page.locator(".notice.bad")).to_contain_text("No tag was given.")

    page.get_by_label("All on this page").check()
    page.get_by_label("With those selected:").select_option("tag")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Tags, with commas between them").fill("old")
    page.get_by_label("Tags, with commas between them").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Add tags: 5 memories.")
    assert all("old" in memory.tags for memory in engine.list(branch="topic"))


def test_several_memories_move_to_all_projects_after_a_preview_and_back(page, engine, filled):
    page.goto("/memories?tag=money")
    page.get_by_label("All on this page").check()
    page.get_by_label("With those selected:").select_option("move")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("To where").select_option("everywhere")
    page.get_by_role("button", name="Move").click()

    expect(page.locator(".notice")).to_contain_text("Move: 1 memory.")
    assert [memory.project_id for memory in engine.list(tag="money")] == [None]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone: 1 memory is as it was.")
    assert [memory.project_id for memory in engine.list(tag="money")] == [engine.project.id]


def test_a_long_list_has_parts(read, engine):
    first = engine.get(engine.remember("Shelf one holds articles").id)
    for number in range(50):
        text = f"Shelf {number}"
        engine.store.put(replace(first, id=m.new_id(), content=text, fingerprint=m.fingerprint(text)))

    newer, older = read("/memories"), read("/memories?page=2")

    assert newer.count("data-entry") == 50
    assert older.count("data-entry") == 1
    assert "Page 1 of 2" in newer
    assert "data-entry" not in read("/memories?page=99999")
    assert read("/memories?q=shelf").count("data-entry") == 20
    assert "more=1" in read("/memories?q=shelf")
    assert 20 < read("/memories?q=shelf&more=1").count("data-entry") <= 50


def test_memories_of_all_projects_are_shown_with_their_project(
    page, engine, filled, tmp_path, home, embedder
):
    other = tmp_path / "bank"
    other.mkdir()
    with type(engine).open(other, home, embedder=embedder) as bank:
        bank.remember("The bank closes at five")
    page.goto("/memories")
    page.get_by_label("Project", exact=True).select_option("All projects")

    expect(rows(page)).to_have_count(6)
    expect(rows(page).filter(has_text="The bank closes")).to_contain_text("bank")


def test_a_list_that_an_agent_writes_to_grows_by_itself(page, engine, filled):
    page.goto("/memories")
    expect(rows(page)).to_have_count(5)

    engine.remember("Deliveries come on Tuesdays")

    expect(rows(page)).to_have_count(6)


def test_a_memory_that_is_replaced_before_the_page_follows_changes_is_announced(
    page, site, home, folder, embedder, clock
):
    held = []
    page.route("**/events*", lambda route: held.append(route))
    with type(site.engine).open(folder, home, embedder=embedder, clock=clock, actor="agent:codex") as agent:
        agent.remember("The staging server runs on port 8080")
        with page.expect_request("**/events*"):
            page.goto("/memories")
        clock.advance(minutes=1)
        agent.remember("The staging server runs on port 9090")

    while not held:
        page.evaluate("0")  # lets the handler of the route run
    held[0].continue_()

    expect(page.locator(".notice")).to_contain_text("An agent replaced a memory")


def test_a_notice_says_that_an_agent_replaced_a_memory(page, site, home, folder, embedder, clock):
    with type(site.engine).open(folder, home, embedder=embedder, clock=clock, actor="agent:codex") as agent:
        agent.remember("The staging server runs on port 8080 <b>now</b>")
        page.goto("/memories")
        expect(rows(page)).to_have_count(1)
        clock.advance(minutes=1)
        agent.remember("The staging server runs on port 9090 <b>now</b>")

    expect(page.locator(".notice")).to_contain_text(
        "An agent replaced a memory: The staging server runs on port 8080 <b>now</b>"
    )
    expect(page.locator(".notice b")).to_have_count(0)
    page.locator(".notice").get_by_role("link", name="The staging server runs on port 9090").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("9090")
