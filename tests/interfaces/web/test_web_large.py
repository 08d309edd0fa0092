"""The pages with 100,000 memories, in a browser; those with none and one are in the tests of each page."""

import pytest
from playwright.sync_api import expect

from recollect.engine import Engine
from recollect.store.sqlite.connection import connect
from web_site import WebSite

COUNT = 100_000


@pytest.fixture
def site(home, folder, clock, embedder):
    """A server with 100,000 memories, which are copies of one with other texts: learning each would take minutes."""
    with Engine.open(folder, home, embedder=embedder, clock=clock) as engine:
        engine.remember("Service 0 listens on port 10000", kind="fact")
        file = engine.store.info().location
    multiply(file)
    found = WebSite(Engine.open(folder, home, embedder=embedder, clock=clock))
    found.start()
    yield found
    found.stop()


def multiply(file):
    database = connect(file, None)
    columns = [row[1] for row in database.execute("PRAGMA table_info(memories)")]
    changed = {
        "num": "num + i",
        "id": "printf('1m%016x', i)",
        "seq": "seq + i",
        "fingerprint": "printf('%032x', i)",
        "content": "printf('Service %d listens on port %d', i, 10000 + i)",
        "summary": "printf('Service %d listens on port %d', i, 10000 + i)",
        "kind": "iif(i % 1000 = 0, 'gotcha', kind)",
    }
    values = ", ".join(changed.get(name, name) for name in columns)
    database.execute("PRAGMA synchronous = OFF")
    with database:
        database.execute(
            f"INSERT INTO memories ({', '.join(columns)}) SELECT {values} FROM memories, "
            f"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {COUNT - 1}) SELECT i FROM n)"
        )
        database.execute(
            "INSERT INTO memory_words (rowid, content, tags, paths, kind) "
            "SELECT num, content, '', '', kind FROM memories WHERE num > (SELECT min(num) FROM memories)"
        )
        database.execute(
            "INSERT INTO vectors SELECT memories.num, model, vector FROM memories, (SELECT * FROM vectors) AS first "
            "WHERE memories.num > first.num"
        )
        database.execute("UPDATE change SET seq = (SELECT max(seq) FROM memories)")
    database.close()


def test_a_hundred_thousand_memories_are_listed_filtered_found_changed_and_drawn(page, engine):
    page.goto("/")
    expect(page.locator(".figures")).to_contain_text("100,000")

    page.get_by_role("link", name="100,000", exact=True).click()
    expect(page.get_by_text("100,000 memories")).to_be_visible()
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_text("Page 2 of 2,000")).to_be_visible()
    expect(page.locator(".row")).to_have_count(50)
    page.get_by_role("link", name="warning", exact=True).click()
    expect(page.get_by_text("99 memories")).to_be_visible()
    page.get_by_role("link", name="all", exact=True).click()
    expect(page.get_by_text("100,000 memories")).to_be_visible()

    page.keyboard.press("/")
    page.keyboard.type("service 77777 port")
    page.keyboard.press("Enter")
    found = page.get_by_role("link", name="Service 77777 listens on port 87777")
    found.click(timeout=60_000)  # the first search reads all memories
    expect(page.get_by_role("heading", name="Where it comes from")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator(".notice")).to_contain_text("Pinned")
    assert engine.get(f"1m{77777:016x}").pinned

    page.goto("/graph")
    expect(page.get_by_text("the newest 5,000 of 100,000 memories")).to_be_visible()
