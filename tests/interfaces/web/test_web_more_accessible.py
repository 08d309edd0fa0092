"""axe-core finds nothing wrong on the pages below sessions, code, work, records and settings."""

from test_web_accessible import problems
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


def test_no_page_has_a_violation(page, site, clock, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    fill(site.engine, clock, folder)

    found = {path: problems(page, path) for path in PATHS}

    assert {path: wrong for path, wrong in found.items() if wrong} == {}


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
