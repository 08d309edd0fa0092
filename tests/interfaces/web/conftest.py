"""A real browser at a real server, on a store of its own; only the clock and the embedder are fakes."""

import http.client
import os
import re
import threading
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright
from starlette.testclient import TestClient

from browser import find_browser
from fakes import FakeClock
from recollect.engine import Engine
from recollect.interfaces.web.logins import LinkFolder, Logins
from recollect.interfaces.web.projects import ProjectEngines
from recollect.interfaces.web.server import WebServer, local_app

HERE = Path(__file__).parent
TIMEOUT = 10_000  # milliseconds that a page may take on a busy machine
VIEWPORT = {"width": 1280, "height": 720}

expect.set_options(timeout=TIMEOUT)


def pytest_collection_modifyitems(config, items):
    """Leave the tests in a browser out where there is none. CI has one."""
    if find_browser() is not None:
        return
    if os.environ.get("CI"):
        raise pytest.UsageError("CI needs Chromium for the tests of the memory browser: run `make browser`.")
    mine = [
        item for item in items if HERE in item.path.parents and {"page", "new_page"} & set(item.fixturenames)
    ]
    if mine:
        config.hook.pytest_deselected(items=mine)
        items[:] = [item for item in items if item not in mine]
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(
                f"{len(mine)} tests of the memory browser are left out: no Chromium here. `make browser` installs one."
            )


class Watched:
    """A tab of a browser, which notes failed scripts and every request that leaves the machine."""

    def __init__(self, browser, **options):
        self.address = ""
        self.outside = []
        self.failures = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(TIMEOUT)
        self.context.on("request", self._note)
        self.page = self.context.new_page()
        self.page.failures = self.failures
        self.page.on("pageerror", lambda error: self.failures.append(str(error)))
        self.page.on(
            "console", lambda message: message.type == "error" and self.failures.append(message.text)
        )
        goto = self.page.goto
        self.page.goto = lambda path, **how: goto(f"{self.address}{path}" if path[0] == "/" else path, **how)

    def _note(self, request):
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.outside.append(request.url)

    def visit(self, address):
        """Begin anew, at the server with this address."""
        self.address = address
        self.outside.clear()
        self.failures.clear()

    def leave(self):
        """Forget everything: the page, further tabs, cookies, and how it was looked at."""
        for tab in self.context.pages[1:]:
            tab.close()
        self.address = "about:blank"
        self.page.goto("about:blank")
        self.context.clear_cookies()
        self.page.set_viewport_size(VIEWPORT)
        self.page.emulate_media(color_scheme="light")


class Chromium:
    """One browser per test process, with a tab that tests share one after the other: a new one takes most of a second.

    It is stopped when other tests follow, because its event loop would be theirs.
    """

    def __init__(self):
        self._playwright = None
        self._browser = None
        self._tab = None

    def get(self):
        if self._browser is None:
            self._playwright = sync_playwright().start()
            options = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
            self._browser = self._playwright.chromium.launch(executable_path=find_browser(), args=options)
        return self._browser

    def tab(self):
        """Return the shared tab."""
        if self._tab is None or self._tab.page.is_closed():
            self._tab = Watched(self.get(), viewport=VIEWPORT)
        return self._tab

    def stop(self):
        if self._browser is not None:
            self._browser.close()
            self._playwright.stop()
            self._browser = self._playwright = self._tab = None


_chromium = Chromium()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    if nextitem is None or HERE not in nextitem.path.parents:
        _chromium.stop()


class WebSite:
    """The server under test, and the ways in."""

    def __init__(self, engine):
        self.engine = engine
        self.server = WebServer(engine, 0)
        self.address = self.server.address.rstrip("/")
        self._thread = threading.Thread(target=self.server.run)

    def start(self):
        self._thread.start()

    def stop(self):
        self.server.stop()
        self._thread.join()

    def link(self):
        return f"{self.address}/login?token={self.server.links.new_link()}"

    def cookie(self):
        """The cookie of a browser that used a link."""
        value, _ = self.server.logins.use_link(self.server.links.new_link())
        return {
            "name": f"recollect-{self.server.port}",
            "value": value,
            "url": self.address,
            "httpOnly": True,
            "sameSite": "Strict",
        }


@pytest.fixture(autouse=True)
def quick_updates(monkeypatch):
    """Let open pages look for changes more often than people need."""
    monkeypatch.setattr("recollect.interfaces.web.live.POLL_SECONDS", 0.1)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def site(home, folder, clock, embedder):
    """A server for the project *shop*, and its engine to arrange memories with."""
    found = WebSite(Engine.open(folder, home, embedder=embedder, clock=clock))
    found.start()
    yield found
    found.stop()


@pytest.fixture
def engine(site):
    return site.engine


@pytest.fixture
def new_page(site):
    """Opens a browser of another person, logged in without the way there; nothing leaves the machine unnoticed."""
    opened = []

    def open_page(*, login=True, **options):
        watched = Watched(_chromium.get(), **options)
        opened.append(watched)
        watched.visit(site.address)
        if login:
            watched.context.add_cookies([site.cookie()])
        return watched.page

    yield open_page
    for watched in opened:
        watched.context.close()
    assert [address for watched in opened for address in watched.outside] == []


@pytest.fixture
def page(site):
    """A page of a person who is logged in. It fails the test if a script of it failed, or if a request left the machine."""
    tab = _chromium.tab()
    tab.visit(site.address)
    tab.context.add_cookies([site.cookie()])
    yield tab.page
    failures, outside = list(tab.failures), list(tab.outside)
    tab.leave()
    assert failures == []
    assert outside == []


@pytest.fixture
def ask(site):
    """Sends one request as a program would, with exactly these headers."""

    def send(method, path, body=None, **headers):
        parts = urlsplit(site.address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, {"Host": parts.netloc, **named})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    return send


@pytest.fixture
def cookie(site):
    """The cookie and the form token of a browser that is logged in."""
    cookie, login = site.server.logins.use_link(site.server.links.new_link())
    return f"recollect-{site.server.port}={cookie}", login.csrf


@pytest.fixture
def read(ask, cookie):
    """Returns the text of a page as the server sends it, without a browser."""

    def fetch(path):
        status, _, text = ask("GET", path, Cookie=cookie[0])
        assert status == 200
        return text

    return fetch


class Reader:
    """Reads pages and sends forms as a browser without JavaScript does, without a browser."""

    def __init__(self, engine):
        port = 7437
        links = LinkFolder(engine.settings.home / "web")
        logins = Logins(links)
        address = f"http://127.0.0.1:{port}"
        self._client = TestClient(local_app(ProjectEngines(engine), logins, port), base_url=address)
        self._client.headers["origin"] = address
        cookie, login = logins.use_link(links.new_link())
        self._client.cookies.set(f"recollect-{port}", cookie)
        self._csrf = login.csrf

    def get(self, path, status=200):
        answer = self._client.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    def post(self, path, **fields):
        """Send a form and return the page that the browser is led to."""
        answer = self._client.post(path, data={"csrf": self._csrf, "next": "/", **fields})
        assert answer.status_code == 200, answer.text
        return answer.text

    def text(self, path, status=200):
        """Return what a person reads on the page, with single spaces."""
        html = re.sub(r"(?s)<(script|style|title)\b.*?</\1>|<[^>]*>", " ", self.get(path, status))
        return " ".join(unescape(html).split())


@pytest.fixture
def plain_engine(home, folder, clock, embedder):
    """The engine of the project *shop*, without a server."""
    with Engine.open(folder, home, embedder=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def reader(plain_engine):
    return Reader(plain_engine)
