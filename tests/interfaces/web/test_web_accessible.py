"""axe-core finds nothing wrong on any page, in light and dark, and no page is wider than a phone."""

from importlib.resources import files

import recollect.model as m
from recollect.interfaces.web.pages import PAGES

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
QUICK = {"resultTypes": ["violations"], "preload": False}  # nothing that the tests do not read
RULES = QUICK | {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOURS = QUICK | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
FILLED_ELSEWHERE = ("/code", "/graph", "/work", "/settings")  # by test_web_more_accessible
# Rows of one table have the same colours, and axe takes its time for each; in light it has looked at all.
FEWER_ROWS = "document.querySelectorAll('[data-entry] ~ [data-entry] ~ [data-entry] ~ [data-entry]').forEach(row => row.remove())"
WIDE, PHONE = {"width": 1280, "height": 720}, {"width": 360, "height": 740}


def problems(page, path):
    """Load a page once, and return what is wrong with it: by all rules in light, by those of colours in dark, on a phone."""
    page.emulate_media(color_scheme="light")
    page.goto(path)
    page.evaluate(AXE)  # not by a script element, which the content policy forbids
    found = [("light", *entry) for entry in violations(page, RULES)]
    page.set_viewport_size(PHONE)
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(WIDE)
    page.evaluate(FEWER_ROWS)
    page.emulate_media(color_scheme="dark")
    found += [("dark", *entry) for entry in violations(page, COLOURS)]
    return [*found, ("phone", width)] if width > PHONE["width"] else found


def violations(page, rules):
    found = page.evaluate("rules => axe.run(document, rules)", rules)["violations"]
    return [(entry["id"], [node["html"] for node in entry["nodes"]]) for entry in found]


def test_no_page_has_a_violation(page, engine):
    fill(engine)
    memory = engine.list()[0].id

    paths = [path for path in simple_paths() if path not in FILLED_ELSEWHERE]
    found = {path: problems(page, path) for path in [*paths, "/health", *more_paths(memory)]}

    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_no_page_of_an_empty_store_has_a_violation(page):
    found = {}
    for path in simple_paths():
        if path == "/settings":  # never empty
            continue
        page.goto(path)
        page.evaluate(AXE)
        if wrong := violations(page, RULES):
            found[path] = wrong

    assert found == {}


def test_a_page_that_does_not_exist_has_no_violation(new_page):
    page = new_page()  # whose failed request is no failure of a script

    assert problems(page, "/nothing") == []


def simple_paths():
    return [shown.path for shown in PAGES if "{" not in shown.path]


def more_paths(memory):
    return [
        f"/memories/{memory}",
        f"/memories/{memory}/similar",
        f"/memories/{memory}/code",
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
