"""Five tasks of somebody who sees the pages for the first time: found by what is on the screen, without an address or the docs."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from fakes import FakeEmbedder
from web_site import WebSite

sys.path.append(str(Path(__file__).parents[3] / "scripts"))

from web_sample import fill


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server with the memories of a small shop after some weeks of work. The tasks do not get in each other's way."""
    engine, _ = fill(tmp_path_factory.mktemp("sample"), FakeEmbedder())
    found = WebSite(engine)
    found.start()
    yield found
    found.stop()


class Person:
    """Acts on what can be seen, and counts the steps: a click, a key, or a text that is typed."""

    def __init__(self, page):
        self._page = page
        self.steps = 0
        page.goto("/")

    def click(self, text, beside=""):
        """Click on what says `text`, in the part of the page that says something else `beside` it."""
        self.steps += 1
        place = self._page.locator("section:visible", has_text=beside).first if beside else self._page
        place.locator(":is(a, button, summary, label):visible", has_text=text).first.click()

    def type(self, text):
        self.steps += 1
        self._page.keyboard.type(text)

    def press(self, *keys):
        self._page.wait_for_load_state()  # no person is quicker than the page
        for key in keys:
            self.steps += 1
            self._page.keyboard.press(key)

    def answer(self, key):
        """Answer the first question of the inbox with a key; it goes away."""
        title = self._page.locator("section.question").first.get_attribute("aria-labelledby")
        self.press(key)
        expect(self._page.locator(f"#{title}")).to_have_count(0)

    def sees(self, text):
        expect(self._page.locator("body")).to_contain_text(text)


@pytest.fixture
def person(page):
    return Person(page)


def test_why_was_this_memory_given_to_the_agent(person):
    person.click("claude-code,")  # the last session, on the first page

    person.sees("it fits what was asked")
    assert person.steps == 1


def test_why_was_it_given_asked_from_the_memory(person):
    person.click("Memories")
    person.press("/")
    person.type("logged out")
    person.click("Access tokens expire after five minutes")

    person.sees("with a prompt: it fits what was asked")
    assert person.steps == 4


def test_a_wrong_memory_is_corrected_and_the_correction_undone(person, site):
    person.click("Memories")
    person.press("/")
    person.type("carts expire")
    person.click("Carts expire after two weeks")
    person.click("Wrong")
    person.type("Carts expire after four weeks without a change")
    person.click("Mark as wrong")
    person.sees("Corrected: agents are told this from now on, and the old text no longer.")
    assert is_known(site, "Carts expire after four weeks without a change")

    person.click("Undo")
    person.sees("Undone")
    assert is_known(site, "Carts expire after two weeks without a change")
    assert person.steps == 8


def test_a_contradiction_is_settled(person, site):
    person.click("contradictions")
    person.sees("The staging server can be reached at port 8080")
    person.sees("Staging listens on port 9090")
    person.click("The older is right", beside="Staging listens on port 9090")

    person.sees("Settled: the older one is right.")
    assert not is_known(site, "The staging server can be reached at port 8080")
    assert person.steps == 2


def test_the_inbox_is_cleared_by_keys(person, site):
    person.click("Review")
    person.sees("accept")
    waiting = len(site.engine.care.questions(None, tidy=False))
    while site.engine.care.questions(None, tidy=False):
        person.answer("r")

    person.sees("Your inbox is empty.")
    assert 1 < person.steps <= waiting + 1


def test_what_did_the_last_session_cost_and_save(person):
    person.sees("Last session")
    person.sees("Cost: told to the agent")
    person.sees("Saved")
    assert person.steps == 0


def is_known(site, content):
    return content in {memory.content for memory in site.engine.list()}
