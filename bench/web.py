"""How quick the memory browser is: pages against the engine's own call, first paint, opening it, and the graph.

Pages and engine calls alternate in one process, so that the load of the machine hits both. What needs a browser is left out
where none is installed.
"""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import recollect.model as m
from bench.corpus import sentences
from bench.speed import Synthetic
from recollect import Engine

ROUNDS = 15
SLOWEST_OPENING = 60.0  # seconds, after which something is broken
TAGS = 120
QUERIES = ("where are prices rounded", "how do the tests start the server", "which port does staging use")
TARGETS = {  # figure: the most it may be
    "page_ratio": 1.5,
    "search_ratio": 1.5,
    "first_paint_ms": 300.0,
    "opening_s": 1.0,
    "interactive_s": 2.0,
    "frame_p95_ms": 50.0,
}


@contextmanager
def filled(folder: Path, size: int, *, linked: bool = False) -> Iterator[Engine]:
    """Yield an engine with `size` memories in one project; `linked` gives them tags, links and clusters."""
    home, project = folder / f"home-{size}", folder / "project"
    project.mkdir(exist_ok=True)
    engine = Engine.open(project, home, embedder=Synthetic())
    chance = random.Random(5)
    texts = sentences(size)
    engine.import_memories(
        {"content": text, "tags": chance.sample([f"tag{n}" for n in range(TAGS)], 2)}
        if linked
        else {"content": text}
        for text in texts
    )
    if linked:
        _link(engine, chance)
    try:
        yield engine
    finally:
        engine.close()


def _link(engine: Engine, chance: random.Random) -> None:
    """Add as many links as there are memories, most of them to a near one, and clusters of twenty."""
    names = [memory.id for memory in engine.store.newest(engine.context.view(), limit=None)]
    now, project = engine.context.clock(), engine.context.project_id
    with engine.store.transaction():
        for one, other in pairwise(names):
            target = other if chance.random() < 0.7 else chance.choice(names)
            if target != one:
                engine.store.put_link(m.Link(one, target, m.Relation.RELATES_TO, now))
    clusters = [
        m.Cluster(m.new_id(), project, f"Cluster {start}", "fake", b"", tuple(names[start : start + 20]), now)
        for start in range(0, len(names), 20)
    ]
    engine.store.put_clusters(project, clusters)


# pages against the engine


class TimedApp:
    """Notes the CPU time of the application for each request, without the client."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.took: list[float] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        begin = time.process_time()
        await self._app(scope, receive, send)
        self.took.append(time.process_time() - begin)


def pages(folder: Path, size: int) -> dict[str, float]:
    """The server's part of a list and of a search, with the same call of the engine in turn; CPU time, for a busy machine."""
    from starlette.testclient import TestClient

    from recollect.interfaces.web.logins import LinkFolder, Logins
    from recollect.interfaces.web.pages.memories import FIRST_HITS
    from recollect.interfaces.web.projects import ProjectEngines
    from recollect.interfaces.web.server import local_app

    with filled(folder, size) as engine:
        links = LinkFolder(folder / "links")
        logins, port = Logins(links), 7437
        app = TimedApp(local_app(ProjectEngines(engine), logins, port))
        # One event loop for all requests, as in a server.
        with TestClient(app, base_url=f"http://127.0.0.1:{port}") as client:
            entered = logins.use_link(links.new_link())
            assert entered is not None
            client.cookies.set(f"recollect-{port}", entered[0])
            view = replace(engine.context.full_view(this_project=True), states=frozenset({m.State.ACTIVE}))
            order = m.MemoryOrder.NEWEST

            def listed() -> object:
                return engine.memory.page(view, m.MemoryFilter(), order, 50, 0)

            def searched(query: str) -> object:
                return engine.retrieval.search(query, FIRST_HITS, noted=False, view=view)

            def page(address: str) -> None:
                answer = client.get(address)
                assert answer.status_code == 200, answer.text

            found = {}
            for name, ways in {
                "page": (lambda turn: listed(), lambda turn: page("/memories")),
                "search": (
                    lambda turn: searched(QUERIES[turn % len(QUERIES)]),
                    lambda turn: page(f"/memories?q={QUERIES[turn % len(QUERIES)].replace(' ', '+')}"),
                ),
            }.items():
                own, served = _in_turn(ways[0], ways[1], app.took)
                found |= {
                    f"{name}_engine_ms": own,
                    f"{name}_server_ms": served,
                    f"{name}_ratio": served / own,
                }
            return found | {"connection_ms": connection_check()}


def connection_check() -> float:
    """What the server does once for each connection besides: find out whose it is."""
    from recollect.interfaces.web.peers import is_other_user

    took = []
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        for _ in range(ROUNDS):
            begin = time.process_time()
            assert not is_other_user(accepted.getpeername(), accepted.getsockname())
            took.append(time.process_time() - begin)
    return statistics.median(took) * 1000


def _in_turn(
    call: Callable[[int], object], page: Callable[[int], object], took: list[float]
) -> tuple[float, float]:
    own, served = [], []
    for turn in range(ROUNDS + 3):
        begin = time.process_time()
        call(turn)
        middle = time.process_time()
        page(turn)
        if turn >= 3:  # the first ones warm up
            own.append(middle - begin)
            served.append(took[-1])
    return statistics.median(own) * 1000, statistics.median(served) * 1000


# in a browser


@contextmanager
def browser_at(engine: Engine) -> Iterator[Any]:
    """Yield a page of a browser that is logged in at a server for `engine`, or None without a browser."""
    from playwright.sync_api import sync_playwright

    from recollect.interfaces.web.server import WebServer

    server = WebServer(engine, 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with sync_playwright() as playwright:
            options = ["--no-sandbox"] if os.getuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=find_browser(), args=options)
            page = browser.new_context(
                base_url=server.address, viewport={"width": 1280, "height": 800}
            ).new_page()
            page.goto(f"/login?token={server.links.new_link()}")
            page.wait_for_url(server.address)
            yield page
            browser.close()
    finally:
        server.stop()
        thread.join()


def find_browser() -> str | None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from browser import find_browser

    return find_browser()


# Waits until something of the page was painted, and returns the milliseconds since the request.
_FIRST_PAINT = """() => new Promise((done) => {
  const look = () => {
    const [entry] = performance.getEntriesByName("first-contentful-paint");
    if (entry) done(entry.startTime); else setTimeout(look, 5);
  };
  look();
})"""


def first_paint(folder: Path, size: int) -> dict[str, float]:
    """From the request for the overview until the browser has painted something of it."""
    painted = []
    with filled(folder, size) as engine, browser_at(engine) as page:
        for _ in range(ROUNDS):
            page.goto("/")
            painted.append(page.evaluate(_FIRST_PAINT))
            # It comes after, and is not to slow the next.
            page.wait_for_selector("#health details", timeout=120_000)
    return {"first_paint_ms": statistics.median(painted)}


# Moves and zooms for as many frames as given, and returns the milliseconds from frame to frame.
_MOVE = """count => new Promise((done) => {
  const canvas = document.getElementById("graph"), box = canvas.getBoundingClientRect(), took = [];
  const at = (x, y) => ({ clientX: box.left + x, clientY: box.top + y, pointerId: 1, bubbles: true });
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent("pointerdown", at(300, 300)));
  let last = performance.now(), turn = 0;
  const step = (now) => {
    took.push(now - last); last = now; turn += 1;
    if (turn >= count) { canvas.dispatchEvent(new PointerEvent("pointerup", at(300, 300))); done(took.slice(1)); return; }
    if (turn % 3) canvas.dispatchEvent(new PointerEvent("pointermove", at(300 + 80 * Math.sin(turn / 9), 300 + 80 * Math.cos(turn / 9))));
    else canvas.dispatchEvent(new WheelEvent("wheel", { ...at(400, 300), deltaY: turn % 60 < 30 ? -40 : 40, cancelable: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def graph(folder: Path, size: int) -> dict[str, float]:
    """From the request for the page until the picture can be moved, and the frames while it is moved."""
    ready, frames = [], []
    with filled(folder, size, linked=True) as engine, browser_at(engine) as page:
        for _ in range(5):
            page.goto("/graph")
            page.wait_for_selector("#graph[data-interactive]", timeout=120_000)
            ready.append(float(page.evaluate("document.getElementById('graph').dataset.interactive")) / 1000)
            frames += page.evaluate(_MOVE, 60)  # while it is still being laid out
        page.wait_for_selector("#graph[data-state=done]", timeout=120_000)
        frames += page.evaluate(_MOVE, 240)
    frames.sort()
    return {
        "interactive_s": statistics.median(ready),
        "frame_median_ms": statistics.median(frames),
        "frame_p95_ms": frames[int(len(frames) * 0.95)],
    }


def opening(folder: Path, size: int) -> dict[str, float]:
    """From the start of `recollect web` until the server answers, with a daemon that runs."""
    with filled(folder, size) as engine:
        home = engine.settings.home
    environment = {**os.environ, "RECOLLECT_HOME": str(home)}
    script, project = str(Path(sys.executable).with_name("recollect")), folder / "project"
    subprocess.run([script, "daemon", "start"], cwd=project, env=environment, check=True, capture_output=True)
    took = []
    try:
        for _ in range(5):
            begin = time.perf_counter()
            process = subprocess.Popen(
                [script, "web", "--no-open", "--json", "--port", "0"],
                cwd=project,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            try:
                assert process.stdout is not None
                address = json.loads(process.stdout.readline())["link"]
                _wait_for(address, begin + SLOWEST_OPENING)
                took.append(time.perf_counter() - begin)
            finally:
                process.terminate()
                process.wait()
    finally:
        subprocess.run([script, "daemon", "stop"], cwd=project, env=environment, capture_output=True)
    return {"opening_s": statistics.median(took)}


def _wait_for(address: str, until: float) -> None:
    from urllib.request import urlopen

    while time.perf_counter() < until:
        try:
            with urlopen(address) as answer:
                assert answer.status == 200
                return
        except OSError:
            time.sleep(0.005)
    raise TimeoutError(address)


PARTS: dict[
    str, tuple[Callable[[Path, int], dict[str, float]], int, bool]
] = {  # how many, and whether in a browser
    "pages at 100,000": (pages, 100_000, False),
    "overview at 10,000": (first_paint, 10_000, True),
    "opening with a daemon": (opening, 10_000, False),
    "graph of 5,000": (graph, 5_000, True),
}


def run(small: bool = False, only: str = "") -> dict[str, dict[str, float]]:
    has_browser = find_browser() is not None
    found = {}
    for name, (part, size, needs_browser) in PARTS.items():
        if only in name and (has_browser or not needs_browser):
            with tempfile.TemporaryDirectory() as folder:
                found[name] = part(Path(folder), size // 50 if small else size)
    return found


def show(figures: dict[str, dict[str, float]]) -> None:
    print(f"{'':24}{'figure':>18}{'measured':>12}{'at most':>10}  ")
    for name, rows in figures.items():
        for figure, value in rows.items():
            target = TARGETS.get(figure)
            verdict = "" if target is None else "met" if value <= target else "MISSED"
            print(f"{name:24}{figure:>18}{value:>12.3g}{f'{target:g}' if target else '':>10}  {verdict}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="A fiftieth of the memories.")
    parser.add_argument("--only", default="", help="The part whose name contains this.")
    options = parser.parse_args()
    show(run(options.small, options.only))
