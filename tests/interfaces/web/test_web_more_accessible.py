"""axe-core finds nothing wrong on the pages below sessions, code, work, records and settings."""

import pytest
from test_web_accessible import violations
from test_web_code import FILES
from test_web_sessions import hold_session
from test_web_work import work

PATHS = (
    "/session?id=s1",
    "/session?id=s1&show=told",
    "/session/replay?id=s1",
    "/code",
    "/code/task?q=add+money",
    "/code/symbol?q=total",
    "/code/symbol?q=nothing",
    "/graph",
    "/graph?node=t:money",
    "/work",
    "/records?verify=1",
    "/records/redactions",
    "/records/deleted",
    "/records/metrics",
    "/settings",
    "/settings/host?host=claude-code&do=install",
)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_page_has_a_violation(new_page, site, clock, folder, tmp_path, monkeypatch, colours):
    monkeypatch.setenv("HOME", str(tmp_path))
    fill(site.engine, clock, folder)
    page = new_page(color_scheme=colours)

    found = {}
    for path in PATHS:
        page.goto(path)
        if wrong := violations(page):
            found[path] = wrong

    assert found == {}


def test_no_page_is_wider_than_a_phone(new_page, site, clock, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    fill(site.engine, clock, folder)
    page = new_page(viewport={"width": 360, "height": 740})

    wide = {}
    for path in PATHS:
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[path] = width

    assert wide == {}


def fill(engine, clock, folder):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    hold_session(engine, clock)
    work(engine, clock)
    engine.remember("Payments use the key " + "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc", tags=("money",))
    engine.remember("Prices are in cents", tags=("money",))
    engine.forget(engine.remember("The till prints twice").id)
    engine.code.refresh()
    engine.maps.rescan()
