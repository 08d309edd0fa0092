"""The review inbox: one keystroke for each question."""

import subprocess

import pytest
from playwright.sync_api import expect

import recollect.model as m


@pytest.fixture
def ask(engine, clock):
    """Puts a question in the inbox."""

    def put(kind, *memories):
        clock.advance(seconds=1)
        review = m.Review(
            m.new_id(clock()),
            engine.context.user_id,
            engine.project.id,
            kind,
            memories,
            "for a test",
            clock(),
        )
        engine.store.reviews.ask(review)
        return review.id

    return put


@pytest.fixture
def pair(engine):
    return [
        engine.remember("Deploys go out on Mondays at nine").id,
        engine.remember("Lunch is served in the kitchen").id,
    ]


@pytest.fixture
def git(folder):
    def run(*arguments):
        name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)

    return run


def test_an_empty_inbox_says_what_will_come(page):
    page.goto("/review")

    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()


def test_a_seed_is_accepted_with_one_key_and_the_answer_undone(page, engine, ask, pair):
    ask("seed", pair[0])
    ask("seed", pair[1])
    page.goto("/review")
    expect(page.locator(".question")).to_have_count(2)

    page.keyboard.press("a")

    expect(page.locator(".question")).to_have_count(1)
    assert [question.review.memories for question in engine.questions()] == [(pair[1],)]
    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_count(2)


def test_a_merge_is_accepted_with_the_mouse(page, engine, ask, pair):
    ask("merge", *pair)
    page.goto("/review")

    page.get_by_role("button", name="Merge them").click()

    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()
    assert engine.get(pair[1]).state == "superseded"


def test_a_contradiction_shows_both_sides_and_where_they_differ(page, engine, ask):
    newer = engine.remember("Deploys go out on Fridays").id
    older = engine.remember("Sums are rounded to cents").id
    engine.edit(older, content="Deploys go out after the nightly build has ended")
    ask("contradiction", newer, older)
    page.goto("/review?kind=contradiction")

    sides = page.locator(".question").first.locator(".side-text")
    expect(sides).to_have_count(2)
    expect(sides.first.locator("mark").first).to_contain_text("Fridays")
    page.keyboard.press("r")
    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()
    assert {engine.get(name).state for name in (newer, older)} == {"active"}


def test_the_older_side_of_a_contradiction_can_be_right(page, engine, ask, pair):
    engine.link(*pair, "contradicts")
    ask("contradiction", *pair)
    page.goto("/review")
    page.keyboard.press("o")

    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()
    assert [engine.get(name).state for name in pair] == ["superseded", "active"]
    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_count(1)


def test_a_stale_memory_is_edited_with_the_keyboard(page, engine, ask, pair):
    ask("stale", pair[0])
    page.goto("/review")
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("Deploys go out on Tuesdays at ten")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()
    assert engine.get(pair[0]).content == "Deploys go out on Tuesdays at ten"


def test_a_stale_memory_shows_how_its_code_has_changed(page, engine, folder, clock, ask, git):
    (folder / "till.py").write_text("def total(prices):\n    return sum(prices)\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    name = engine.remember("`total` in `till.py` adds the prices up").id
    (folder / "till.py").write_text("def total(prices):\n    return round(sum(prices), 2)\n")
    engine.care.check_code()
    ask("stale", name)
    page.goto("/review")

    diff = page.locator(".question .diff")
    expect(diff.locator(".minus")).to_have_text("-    return sum(prices)")
    expect(diff.locator(".plus")).to_have_text("+    return round(sum(prices), 2)")
    expect(page).to_have_title("Review · Recollect")

    page.goto(f"/memories/{name}")
    expect(page.locator("article .diff .plus")).to_contain_text("round")


def test_a_question_is_skipped_and_comes_back(page, ask, pair):
    ask("seed", pair[0])
    ask("seed", pair[1])
    page.goto("/review")

    page.keyboard.press("s")
    expect(page.locator(".question")).to_have_count(1)
    expect(page.locator(".question")).to_contain_text("Lunch")
    page.keyboard.press("s")
    expect(page.get_by_text("You skipped the rest.")).to_be_visible()
    page.get_by_role("link", name="Start again").click()

    expect(page.locator(".question")).to_have_count(2)


@pytest.fixture
def gap(engine):
    """A question in the inbox that memory could not answer."""
    gap = m.Gap(m.new_id(), engine.project.id, "Which port does staging use?", engine.context.clock())
    engine.store.put_gap(gap)
    return gap


@pytest.mark.parametrize("place", ["/review", "/review?p=all"])
def test_the_answer_to_a_gap_is_written_from_the_inbox_and_closes_it(page, engine, gap, place):
    page.goto(place)
    page.get_by_role("link", name="Write the answer").click()

    expect(page.get_by_text("Nothing was known about this: Which port does staging use?")).to_be_visible()
    page.get_by_label("What should agents know?").fill("Staging listens on port 9090")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Staging listens on port 9090")
    assert engine.gaps() == ()
    assert [memory.project_id for memory in engine.list()] == [engine.project.id]
    page.get_by_role("button", name="Undo").click()  # of both at once
    expect(page.get_by_text("Undone")).to_be_visible()
    assert (engine.gaps(), engine.list()) == ((gap,), ())


def test_a_gap_that_does_not_matter_is_dismissed_and_asked_again_after_an_undo(page, engine, gap):
    page.goto("/review")
    page.get_by_role("button", name="Dismiss").click()

    expect(page.get_by_text("Which port does staging use?")).to_have_count(0)
    assert engine.gaps() == ()
    page.keyboard.press("u")
    expect(page.get_by_text("Which port does staging use?")).to_be_visible()
    page.goto("/changes")
    expect(page.get_by_text("Dismissed a question that memory could not answer.")).to_be_visible()


def test_the_last_question_of_a_kind_is_not_said_to_be_the_last_of_all(page, ask, pair):
    ask("seed", pair[0])
    ask("merge", *pair)
    page.goto("/review?kind=seed")
    page.keyboard.press("a")

    expect(page.get_by_text("Nothing of this kind is left.")).to_be_visible()
    page.get_by_role("link", name="1 other question").click()
    expect(page.get_by_role("button", name="Merge them")).to_be_visible()


def test_looking_at_the_inbox_closes_no_question(page, engine, ask, pair):
    ask("seed", pair[0])
    engine.forget(pair[0])

    page.goto("/review")
    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()

    assert len(engine.store.reviews.open(engine.context.user_id, engine.project.id)) == 1
    page.goto("/")
    expect(page.get_by_text("0 questions, 0 gaps")).to_be_visible()  # it does not wait for anybody either


def test_a_refresh_from_before_an_answer_does_not_bring_the_question_back(page, engine, ask, pair):
    ask("seed", pair[0])
    page.goto("/review")
    held = []
    page.route(
        "**/review*",
        lambda route: (
            held.append((route, route.fetch()))
            if "recollect-refresh" in route.request.headers and not held
            else route.continue_()
        ),
    )
    with page.expect_request(lambda request: "recollect-refresh" in request.headers):
        engine.remember("The agent learns something meanwhile")
    page.keyboard.press("a")
    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()

    [(route, before)] = held
    with page.expect_request(lambda request: "recollect-refresh" in request.headers):  # it asks again
        route.fulfill(response=before)

    expect(page.get_by_text("Your inbox is empty.")).to_be_visible()
