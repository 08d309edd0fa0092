"""One memory: everything that is known about it, and everything that can be done to it."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import expect

import recollect.model as m


@pytest.fixture
def cents(engine):
    return engine.get(engine.remember("Prices are stored in cents", tags=("money",)).id)


@pytest.fixture
def open_memory(page, cents):
    page.goto(f"/memories/{cents.id}")
    return page


def undo(page):
    page.locator("#undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone")


def act(page, summary, button, **fields):
    """Open a form of the toolbar, fill it in and send it."""
    page.locator(".toolbar summary", has_text=re.compile(f"^{summary}$")).click()
    for label, value in fields.items():
        page.get_by_label(label.replace("_", " ")).first.fill(value)
    page.get_by_role("button", name=button, exact=True).click()


def test_a_memory_is_pinned_by_mouse_and_unpinned_by_keyboard(open_memory, engine, cents):
    open_memory.get_by_role("button", name="Pin", exact=True).click()
    expect(open_memory.get_by_role("button", name="Unpin", exact=True)).to_be_visible()
    assert engine.get(cents.id).pinned

    open_memory.keyboard.press("p")
    expect(open_memory.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    assert not engine.get(cents.id).pinned

    undo(open_memory)
    assert engine.get(cents.id).pinned


def test_a_memory_is_edited_by_keyboard_and_the_edit_undone(open_memory, engine, cents):
    open_memory.keyboard.press("e")
    open_memory.keyboard.press("Control+a")
    open_memory.keyboard.type("Prices are stored in pence")
    open_memory.get_by_label("Steps, one per line").fill("Open the till\nCount the pence")
    open_memory.get_by_label("Triggers, one per line").fill("price")
    open_memory.get_by_label("Who sees it").select_option("project")
    open_memory.get_by_role("button", name="Save", exact=True).click()

    expect(open_memory.get_by_role("heading", level=1)).to_have_text("Prices are stored in pence")
    edited = engine.get(cents.id)
    assert edited.procedure.steps == ("Open the till", "Count the pence")
    assert (edited.triggers, edited.visibility) == (("price",), "project")

    undo(open_memory)
    assert engine.get(cents.id).content == cents.content
    assert engine.get(cents.id).procedure is None


def test_an_earlier_text_is_in_the_history_and_in_the_changes(open_memory, engine, cents):
    act(open_memory, "Edit", "Save", Text="Prices are stored in euros")
    expect(open_memory.locator(".notice")).to_contain_text("Saved.")

    history = open_memory.locator("section", has=open_memory.locator("#history"))
    expect(history).to_contain_text("edited just now · you")
    expect(history).to_contain_text("Earlier texts")
    expect(history.locator("blockquote")).to_have_text("Prices are stored in cents")
    open_memory.keyboard.press("g")
    open_memory.keyboard.press("c")
    entry = open_memory.locator("[data-entry]").first
    expect(entry.locator("del")).to_have_text("Prices are stored in cents")
    expect(entry.get_by_role("link")).to_have_text("Prices are stored in euros")
    expect(entry).not_to_contain_text(cents.id)


def test_an_earlier_text_is_in_the_history_after_many_other_changes(reader, engine, cents):
    engine.edit(cents.id, content="Prices are stored in euros")
    for number in range(201):
        engine.memory.tag(cents.id, [f"till-{number}"])

    assert "Earlier texts" in reader.text(f"/memories/{cents.id}")


def test_two_tabs_edit_one_memory_and_the_second_sees_both_texts(open_memory, engine, cents):
    second = open_memory.context.new_page()
    second.goto(open_memory.url)
    second.keyboard.press("e")
    second.get_by_label("Text").first.fill("Prices are stored in rappen")

    act(open_memory, "Edit", "Save", Text="Prices are stored in pence")
    expect(open_memory.get_by_role("heading", level=1)).to_have_text("Prices are stored in pence")
    second.get_by_role("button", name="Save", exact=True).click()

    expect(second.get_by_text("Somebody else changed this memory")).to_be_visible()
    expect(second.locator(".conflict")).to_contain_text("Prices are stored in pence")
    expect(second.locator("#yours")).to_have_text("Prices are stored in rappen")
    assert engine.get(cents.id).content == "Prices are stored in pence"

    second.get_by_role("button", name="Save mine over it").click()
    expect(second.get_by_role("heading", level=1)).to_have_text("Prices are stored in rappen")


def test_feedback_changes_the_confidence_and_can_be_undone(open_memory, engine, cents):
    open_memory.get_by_role("button", name="Did not help").click()
    expect(open_memory.locator(".notice")).to_contain_text("did not help")
    assert engine.get(cents.id).confidence < cents.confidence

    undo(open_memory)
    assert engine.get(cents.id).confidence == cents.confidence

    open_memory.get_by_role("button", name="Helped").click()
    expect(open_memory.locator(".notice")).to_contain_text("it helped")
    assert engine.get(cents.id).access_count == 1


def test_a_wrong_memory_is_corrected_and_what_cites_it_goes_to_review(open_memory, engine, cents):
    citing = engine.remember("Round prices to whole cents").id
    engine.link(citing, cents.id, "derived_from")

    open_memory.keyboard.press("w")
    open_memory.get_by_label("What is right instead?").fill("Prices are stored in euros with two decimals")
    open_memory.get_by_label("Why is it wrong?").fill("changed last week")
    open_memory.get_by_role("button", name="Mark as wrong").click()

    expect(open_memory.get_by_role("heading", level=1)).to_have_text(
        "Prices are stored in euros with two decimals"
    )
    expect(open_memory.locator(".notice")).to_contain_text("waits in the review")
    assert engine.get(cents.id).state == "deprecated"
    assert [question.review.memories[0] for question in engine.questions("derived")] == [citing]

    undo(open_memory)
    expect(open_memory.get_by_role("heading", level=1)).to_have_text("Prices are stored in cents")
    expect(open_memory.locator("section[aria-labelledby=history] li").first).to_contain_text(
        "undone just now"
    )
    assert engine.get(cents.id).state == "active"


def test_a_correction_says_what_else_it_replaces(plain_engine, reader):
    wrong = plain_engine.remember("Use npm in this repository", kind="preference")
    other = plain_engine.remember("Run the tests with pnpm test", kind="convention")

    page = reader.post(
        f"/memories/{wrong.id}/wrong", instead="Use bun, not npm and not pnpm, in this repository", next="/"
    )

    assert plain_engine.get(other.id).state == "superseded"
    assert "It replaces 1 other memory too." in page


def test_forgetting_asks_first_and_restore_brings_it_back(open_memory, engine, cents):
    open_memory.keyboard.press("f")
    expect(open_memory.get_by_text("Agents will no longer be told.")).to_be_visible()
    assert engine.get(cents.id).state == "active"
    open_memory.keyboard.press("Enter")

    expect(open_memory.get_by_text("This memory is deleted")).to_be_visible()
    open_memory.get_by_role("button", name="Restore").click()
    expect(open_memory.locator(".notice")).to_contain_text("Restored.")
    assert engine.get(cents.id).state == "active"


def test_tags_are_added_and_removed(open_memory, engine, cents):
    open_memory.locator(".toolbar summary", has_text="Tags").click()
    open_memory.get_by_label("Add, with commas between them").fill("till")
    open_memory.get_by_label("Remove #money").check()
    open_memory.get_by_role("button", name="Save tags").click()

    expect(open_memory.locator(".notice")).to_contain_text("Changed the tags.")
    assert set(engine.get(cents.id).tags) == ({*cents.tags, "till"} - {"money"})


def test_a_memory_moves_to_a_branch_and_to_all_projects_and_back(open_memory, engine, cents):
    open_memory.locator(".toolbar summary", has_text="Move").click()
    open_memory.get_by_label("Where it holds").select_option("global")
    open_memory.get_by_label("Branch").fill("topic")
    open_memory.get_by_role("button", name="Move it").click()
    expect(open_memory.locator("article .chips")).to_contain_text("everywhere")
    moved = engine.get(cents.id)
    assert (moved.scope, moved.project_id, moved.branch) == ("global", None, "topic")

    open_memory.locator(".toolbar summary", has_text="Move").click()
    open_memory.get_by_label("Where it holds").select_option("project")
    open_memory.get_by_role("button", name="Move it").click()
    expect(open_memory.locator("article .chips")).not_to_contain_text("everywhere")
    assert engine.get(cents.id).project_id == engine.project.id


def test_memories_are_linked_and_unlinked(open_memory, engine, cents):
    other = engine.remember("Round the sum, not the lines").id
    open_memory.keyboard.press("l")
    open_memory.keyboard.type("round the sum")
    open_memory.keyboard.press("Enter")
    found = open_memory.locator(".row", has_text="Round the sum, not the lines")
    found.get_by_label("The first one").select_option("depends_on")
    found.get_by_role("button", name="Link the two").click()

    expect(open_memory.locator("section", has=open_memory.locator("#links"))).to_contain_text("Round the sum")
    assert ("depends_on", other) in {(link.relation, link.target) for link in engine.links(cents.id)}

    open_memory.get_by_role("button", name="Remove Round the sum").first.click()
    expect(open_memory.locator(".notice")).to_contain_text("Removed the link.")


def test_a_similar_memory_is_found_and_merged(open_memory, engine, cents):
    other = engine.remember("All prices in the shop are kept as cents in the store").id
    open_memory.get_by_role("link", name="Find similar").click()
    expect(open_memory.locator(".row").first).to_contain_text("All prices in the shop")
    open_memory.get_by_role("button", name="Link the two").first.click()
    expect(open_memory.locator(".notice")).to_contain_text("Linked.")
    assert any(link.target == other for link in engine.links(cents.id))
    open_memory.get_by_role("link", name="Find similar").click()
    open_memory.get_by_role("button", name="Merge the two").first.click()

    expect(open_memory.locator(".notice")).to_contain_text("Merged.")
    assert sorted(engine.get(name).state for name in (cents.id, other)) == ["active", "superseded"]

    undo(open_memory)
    assert {engine.get(name).state for name in (cents.id, other)} == {"active"}


def test_a_contradiction_is_settled_on_the_memorys_page(open_memory, engine, cents):
    other = engine.remember("Sums are kept as decimals").id
    engine.link(cents.id, other, "contradicts")
    open_memory.reload()
    open_memory.get_by_role("button", name="That is right").click()

    expect(open_memory.get_by_text("This memory is superseded")).to_be_visible()
    assert engine.conflicts() == ()


def test_the_page_says_where_it_comes_from_where_it_was_shown_and_how_it_fades(page, engine, cents, clock):
    store = engine.store
    store.messages.put(
        [
            m.Message(
                "s1",
                3,
                "user",
                "We store prices in cents, you know",
                clock(),
                cents.user_id,
                cents.project_id,
            )
        ],
        None,
        None,
    )
    origin = m.Provenance(m.Source.USER_STATED, clock(), session="s1", messages=(3, 3), reason="said so")
    store.put(replace(engine.get(cents.id), provenance=(origin,)))
    item = m.ShownItem(cents.id, "task", 0.7, clock())
    store.deliveries.put(
        [
            m.DeliveryRecord(
                "d1", cents.user_id, cents.project_id, "s2", "prompt", "codex", clock(), 90, "x", (item,)
            )
        ]
    )
    clock.advance(days=30)
    page.goto(f"/memories/{cents.id}")

    expect(page.locator("section", has=page.locator("#provenance"))).to_contain_text(
        "We store prices in cents, you know"
    )
    shown = page.locator("section", has=page.locator("#shown"))
    expect(shown).to_contain_text("codex")
    expect(shown).to_contain_text("used")
    expect(page.get_by_role("img", name=re.compile("Confidence over"))).to_be_visible()
    expect(page.locator("section", has=page.locator("#confidence"))).to_contain_text("halves every 30 days")
    expect(page.locator("section", has=page.locator("#history"))).to_contain_text("remembered")


def test_the_chart_falls_by_half_in_a_half_life(engine, cents, clock):
    from recollect.interfaces.web.pages.memory import chart_of

    chart = chart_of(engine.get(cents.id), clock() + timedelta(days=30))
    heights = [78 - float(point.split(",")[1]) for point in chart.points.split()]

    assert heights[30] == pytest.approx(heights[0] / 2, abs=0.3)
    assert chart.now_x == 150
    assert chart.half_life == 30


# What the text would be if it were HTML: the policy keeps it from running, so it is looked for.
INJECTED = "body :is(img, [onerror], [onmouseover]), main script"
HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>" onmouseover="window.hurt=1'


def test_hostile_text_in_every_field_is_only_text(page, engine, clock):
    made = engine.remember(
        f"Never trust {HOSTILE}",
        kind="negative",
        tags=(HOSTILE[:60],),
        triggers=(HOSTILE,),
        steps=(HOSTILE, "two"),
        season=HOSTILE[:60],
        branch=HOSTILE[:60],
        created_by=f"agent:{HOSTILE}",
        snippet=HOSTILE,
    )
    engine.store.put(replace(engine.get(made.id), file_paths=(f"src/{HOSTILE}.py",)))
    other = engine.remember(f"Second {HOSTILE}")
    engine.link(made.id, other.id, "contradicts")
    engine.store.put_gap(m.Gap(m.new_id(), engine.project.id, HOSTILE, clock()))
    project = m.Project("p-evil", HOSTILE, "/nowhere", HOSTILE)
    engine.store.put_project(project, ["evil"])
    engine.wrong(other.id, because=HOSTILE)
    edited = engine.context.new_change("edit")
    engine.memory.edit(made.id, content=f"Never trust this {HOSTILE}", change=edited)

    for path in ("/", "/memories?state=all", "/memories?q=never+trust+img&state=all", f"/memories/{made.id}",
                 f"/memories/{other.id}", f"/memories/{made.id}/similar", "/review", "/changes", "/?p=all",
                 f"/memories?tag={HOSTILE}", f"/memories?q={HOSTILE}&p={HOSTILE}", f"/memories/new?question={HOSTILE}"):  # fmt: skip
        page.goto(path)
        page.mouse.move(300, 300)
        assert page.evaluate("window.hurt") is None
        assert page.locator(INJECTED).count() == 0, path
        assert HOSTILE[:60] in page.locator("body").inner_text() or path == "/", path


def test_forms_work_without_javascript(new_page, engine, cents):
    page = new_page(java_script_enabled=False)
    page.goto(f"/memories/{cents.id}")
    page.get_by_role("button", name="Pin", exact=True).click()

    expect(page.locator(".notice")).to_contain_text("Pinned")
    assert engine.get(cents.id).pinned
    page.get_by_role("button", name="Undo", exact=True).click()
    assert not engine.get(cents.id).pinned
