"""A real browser at a real server, on a store of its own; only the clock and the embedder are fakes."""

import http.client
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from browser import find_browser
from fakes import FakeClock
from recollect.engine import Engine
from web_site import Reader, WebSite

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
        self.page.unroute_all()
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


@pytest.fixture
def plain_engine(home, folder, clock, embedder):
    """The engine of the project *shop*, without a server."""
    with Engine.open(folder, home, embedder=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def reader(plain_engine):
    return Reader(plain_engine)
