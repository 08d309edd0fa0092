"""axe-core finds nothing wrong on any page, in light and dark."""

from importlib.resources import files

import pytest

import recollect.model as m
from recollect.interfaces.web.pages import PAGES

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def violations(page):
    page.evaluate(AXE)  # not by a script element, which the content policy forbids
    found = page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
    return [(entry["id"], [node["html"] for node in entry["nodes"]]) for entry in found]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_page_has_a_violation(new_page, engine, colours):
    fill(engine)
    page = new_page(color_scheme=colours)
    memory = engine.list()[0].id

    found = {}
    for path in [*simple_paths(), "/health", "/nothing", *more_paths(memory)]:
        page.goto(path)
        if wrong := violations(page):
            found[path] = wrong

    assert found == {}


def test_no_page_of_an_empty_store_has_a_violation(page):
    found = {}
    for path in simple_paths():
        page.goto(path)
        if wrong := violations(page):
            found[path] = wrong

    assert found == {}


def simple_paths():
    return [shown.path for shown in PAGES if "{" not in shown.path]


def more_paths(memory):
    return [
        f"/memories/{memory}",
        f"/memories/{memory}/similar",
        "/memories/new",
        "/memories?q=prices&kind=fact",
        "/memories?state=deleted",
    ]


def fill(engine):
    engine.remember("Prices are in cents", kind="fact", tags=("money",))
    engine.remember("Run the tests with make test", kind="convention")
    engine.forget(engine.remember("The till prints twice").id)
    first, second = engine.remember("Deploys go out on Mondays").id, engine.remember("Lunch is at noon").id
    engine.link(first, second, "contradicts")
    asked = ("contradiction", (first, second))
    now = engine.context.clock()
    engine.store.reviews.ask(
        m.Review(m.new_id(), engine.context.user_id, engine.project.id, *asked, "why", now)
    )
