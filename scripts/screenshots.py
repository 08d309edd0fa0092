"""Make the pictures of docs/web.md: a small store in a temporary home, and Chromium at its pages.

    .venv/bin/python scripts/screenshots.py

Needs Chromium and the development dependencies.
"""

import os
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import recollect.model as m
from recollect import Engine
from recollect.interfaces.web.server import WebServer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import find_browser  # noqa: E402 - in the folder that was just added

OUT = ROOT / "docs" / "web"
WIDE, PHONE = {"width": 1040, "height": 600}, {"width": 390, "height": 640}
MEMORIES = (
    ("Prices are stored in cents; divide only when you show them", "fact", ("money",), ("shop/cart.py",)),
    (
        "The tests need a running Redis: start it with `make redis`",
        "gotcha",
        ("tests",),
        ("tests/conftest.py",),
    ),
    ("Never run npm install on CI: the lock file changes", "negative", ("ci",), ()),
    ("Use pnpm, not npm, in this repository", "human_feedback", ("tools",), ()),
    (
        "Orders are written to the outbox before the mail is sent",
        "architecture",
        ("orders",),
        ("shop/outbox.py",),
    ),
    ("Reviewers ask for a changelog entry in every pull request", "pr_pattern", ("review",), ()),
    ("We chose Stripe over Adyen because of its test mode", "decision", ("payments",), ()),
    ("Release: tag, wait for CI, then run make publish", "procedure", ("release",), ()),
)


def fill(engine: Engine) -> str:
    """Write some memories, a contradiction and a question; return the id of one memory."""
    ids = [
        engine.remember(text, kind=kind, tags=tags, file_paths=paths).id
        for text, kind, tags, paths in MEMORIES
    ]
    engine.pin(ids[3])
    engine.feedback(ids[1], True)
    engine.link(ids[0], ids[4])
    now = engine.context.clock()
    other = engine.remember("All prices in the shop are kept as whole cents").id
    asked = ("merge", (ids[0], other), "87 % alike")
    engine.store.reviews.ask(
        m.Review(m.new_id(), engine.context.user_id, engine.context.project_id, *asked, now)
    )
    engine.sessions.start("5f2c", host="codex")
    item = m.ShownItem(ids[0], "task", 0.71, now)
    engine.store.deliveries.put(
        [
            m.DeliveryRecord(
                m.new_id(),
                engine.context.user_id,
                engine.context.project_id,
                "5f2c",
                "prompt",
                "codex",
                now,
                120,
                "## Project memory\n- [FACT] shop/cart.py Prices are stored in cents; divide only when you show them",
                (item,),
            )
        ]
    )
    return ids[0]


def shoot(browser: Browser, server: WebServer, memory: str) -> None:
    pages = {"overview": "/", "memories": "/memories", "memory": f"/memories/{memory}", "review": "/review"}
    pages |= {"session": "/session?id=5f2c", "graph": "/graph", "settings": "/settings"}
    shots = [
        *((name, path, "light", WIDE) for name, path in pages.items()),
        ("search-dark", "/memories?q=why+do+the+tests+fail", "dark", WIDE),
        ("memories-phone", "/memories", "light", PHONE),
    ]
    for name, path, colours, size in shots:
        context = browser.new_context(base_url=server.address, color_scheme=colours, viewport=size)
        page = context.new_page()
        page.goto(f"/login?token={server.links.new_link()}")
        page.wait_for_url(server.address)
        page.goto(path)
        page.wait_for_load_state("load")
        if name == "graph":
            page.wait_for_selector("#graph[data-state=done]")
        page.screenshot(path=OUT / f"{name}.png")
        context.close()


def main() -> None:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "shop"
        home.mkdir(mode=0o700)
        project.mkdir()
        engine = Engine.open(project, home)
        memory = fill(engine)
        server = WebServer(engine, 0)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            with sync_playwright() as playwright:
                options = ["--no-sandbox"] if os.getuid() == 0 else []
                browser = playwright.chromium.launch(executable_path=find_browser(), args=options)
                shoot(browser, server, memory)
                browser.close()
        finally:
            server.stop()
            thread.join()


if __name__ == "__main__":
    main()
