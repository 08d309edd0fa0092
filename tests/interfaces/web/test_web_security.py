"""Nobody but the person at this machine gets in, and no other site acts in the person's name."""

import ctypes
import http.client
import os
import socket
import stat
import sys
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from recollect.interfaces.web.connections import ImpatientConnections
from recollect.interfaces.web.forms import read_form
from recollect.interfaces.web.guard import MAX_BODY
from recollect.interfaces.web.logins import IDLE_SECONDS, LINK_SECONDS, LinkFolder, Logins
from recollect.interfaces.web.page import local_path
from recollect.interfaces.web.peers import WAYS, is_other_user, read_tables
from recollect.interfaces.web.server import open_browser

FORM = "application/x-www-form-urlencoded"


def test_without_a_cookie_nothing_is_shown(ask, engine):
    engine.remember("Prices are in cents")

    for path in ("/", "/changes", "/health", "/memories", "/review", "/events"):
        status, _, text = ask("GET", path)
        assert (status, "cents" in text) in ((401, False), (404, False))


def test_a_link_works_once_and_looking_at_it_does_not_use_it_up(site, new_page):
    link = site.link()
    first, second = new_page(login=False, java_script_enabled=False), new_page(login=False)
    second.request.get(link)

    first.goto(link)
    first.get_by_role("button", name="Open the memory browser").click()
    expect(first.get_by_role("heading", level=1)).to_have_text("shop")
    second.goto(link)

    expect(second.get_by_text("This link was used before")).to_be_visible()
    expect(second.get_by_text("recollect web")).to_be_visible()


def test_a_link_is_too_old_after_two_minutes(tmp_path):
    now = [1000.0]
    links = LinkFolder(tmp_path, lambda: now[0])
    early, late = links.new_link(), links.new_link()

    now[0] += LINK_SECONDS
    assert links.use(early)
    now[0] += 1

    assert not links.use(late)
    assert not links.use("never made")


def test_a_browser_is_logged_out_when_nobody_used_it(tmp_path):
    now = [0.0]
    links = LinkFolder(tmp_path)
    logins = Logins(links, lambda: now[0])
    cookie, login = logins.use_link(links.new_link())

    now[0] += IDLE_SECONDS
    assert logins.find(cookie, touch=False) is login  # an open page alone does not count
    now[0] += 1

    assert logins.find(cookie) is None


def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(new_page, site):
    page = new_page(login=False)
    page.goto(site.link())
    page.wait_for_url(f"{site.address}/")
    (cookie,) = [found for found in page.context.cookies() if found["name"].startswith("recollect-")]

    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert page.evaluate("document.cookie") == ""


def test_another_name_for_this_machine_is_refused(ask, site, cookie):
    for host in ("evil.example", f"evil.example:{site.server.port}", "127.0.0.1", ""):
        assert ask("GET", "/", Host=host, Cookie=cookie[0])[0] in (400, 421)


def test_a_page_of_another_site_cannot_change_anything(ask, site, engine, cookie):
    change = forgotten_change(engine)
    path, body = f"/changes/{change}/undo", f"csrf={cookie[1]}"
    origin = {"Origin": site.address, "Content_Type": FORM, "Cookie": cookie[0]}

    assert ask("POST", path, body, **{**origin, "Origin": "http://evil.example"})[0] == 403
    assert ask("POST", path, body, **{**origin, "Origin": "null"})[0] == 403
    assert ask("POST", path, body, Content_Type=FORM, Cookie=cookie[0])[0] == 403
    assert ask("POST", path, "csrf=guess", **origin)[0] == 403
    assert ask("POST", path, "", **origin)[0] == 403
    assert ask("GET", f"{path}?csrf={cookie[1]}", Cookie=cookie[0])[0] == 405
    assert ask("GET", "/", Cookie=cookie[0], Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0] == 403
    assert engine.care.changes()[0].id == change
    assert ask("POST", path, body, **origin)[0] == 303
    assert engine.care.changes()[0].action == "undo"


def test_a_form_on_another_site_gets_nowhere_in_the_browser(page, site, engine):
    change = forgotten_change(engine)
    with page.expect_navigation(url=f"{site.address}/**"):
        page.set_content(
            f'<form method=post action="{site.address}/changes/{change}/undo"><button>Win</button></form>'
        )
        page.get_by_role("button", name="Win").click()

    assert engine.care.changes()[0].id == change
    page.failures.clear()  # the browser reports the refused request


def test_a_large_form_is_refused_before_it_is_read(ask, site, cookie):
    headers = {"Origin": site.address, "Content_Type": FORM, "Cookie": cookie[0]}

    status, _, _ = ask("POST", "/theme", **headers, Content_Length=str(MAX_BODY + 1))  # nothing of it is sent

    assert status == 413


def test_a_form_is_not_read_beyond_its_limit_whatever_it_states():
    async def count(request):
        return PlainTextResponse(str(len(await read_form(request))))

    unguarded = TestClient(Starlette(routes=[Route("/", count, methods=["POST"])]))

    assert unguarded.post("/", content="a=" + "x" * (MAX_BODY - 2)).text == "1"
    assert unguarded.post("/", content="a=" + "x" * (MAX_BODY - 1)).status_code == 413


def test_a_form_of_ten_megabytes_in_pieces_is_refused(ask, site, cookie):
    pieces = (b"x" * 65536 for _ in range(160))
    headers = {
        "Origin": site.address,
        "Content_Type": FORM,
        "Cookie": cookie[0],
        "Transfer_Encoding": "chunked",
    }
    try:
        status = ask("POST", "/theme", pieces, **headers)[0]
    except (BrokenPipeError, ConnectionResetError):
        status = 413  # the server closed the connection before all was sent

    assert status == 413


def test_who_sends_a_request_slowly_is_not_waited_for(site, monkeypatch):
    monkeypatch.setattr(ImpatientConnections, "head_seconds", 0.05)

    with socket.create_connection(("127.0.0.1", site.server.port), 20) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")

        assert slow.recv(100) == b""


def test_too_many_fields_are_refused(ask, site, cookie):
    body = "&".join(f"a{number}=1" for number in range(2000))

    assert ask("POST", "/theme", body, Origin=site.address, Content_Type=FORM, Cookie=cookie[0])[0] == 400


@pytest.mark.parametrize(
    "query",
    ["&".join("a=1" for _ in range(2000)), "q=%ff%fe", "q=%ed%a0%80", "q=%00", "tag=%00&file=%00", "page=%C2%B2",
     "page=-1", "p=%00", "sort=x&state=x&kind=x&standing=x&family=x&branch=%ff", "notice=x", f"q={'x' * 30000}"],
)  # fmt: skip
def test_no_address_makes_a_page_fail(ask, cookie, engine, query):
    engine.remember("Prices are in cents")

    assert ask("GET", f"/memories?{query}", Cookie=cookie[0])[0] in (200, 400)


def test_a_length_that_is_no_number_is_refused(ask, site, cookie):
    headers = {"Origin": site.address, "Content_Type": FORM, "Cookie": cookie[0], "Content_Length": "9" * 30}

    assert ask("POST", "/theme", "", **headers)[0] in (400, 413)


def test_no_other_page_may_show_ours_in_a_frame_and_no_inline_script_runs(ask, cookie):
    _, headers, _ = ask("GET", "/", Cookie=cookie[0])

    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"


def test_files_outside_the_static_folder_are_not_served(ask, cookie):
    for path in ("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert ask("GET", path, Cookie=cookie[0])[0] == 404


@pytest.mark.parametrize(
    "target",
    ["http://evil.example", "//evil.example", "/\\evil.example", "javascript:x", "", "/\t/evil.example"],
)
def test_nobody_is_sent_to_another_site(target):
    assert local_path(target) == "/"


def test_a_strangers_cookie_is_worth_nothing(ask, site):
    assert ask("GET", "/", Cookie=f"recollect-{site.server.port}=stolen")[0] == 401
    assert ask("GET", "/", Cookie=f"recollect-{site.server.port}=")[0] == 401


if sys.platform == "linux":  # elsewhere the owner of a connection is not known

    @pytest.fixture
    def as_another_user(monkeypatch):
        """Open connections as another user: really if we are root, else by pretending that the server is another's."""
        if os.getuid() != 0:
            monkeypatch.setattr("recollect.interfaces.web.peers.os.getuid", lambda: os.geteuid() + 1)
            yield
            return
        system = ctypes.CDLL(None)
        system.setfsuid(65534)  # for this thread alone, and what it opens
        yield
        system.setfsuid(0)

    def test_another_user_of_this_machine_is_refused_even_with_the_cookie(ask, cookie, as_another_user):
        status, _, text = ask("GET", "/", Cookie=cookie[0])

        assert (status, text) == (403, "Refused: another user of this machine asked.\n")

    def test_another_user_is_refused_where_the_kernel_answers_no_questions(
        ask, cookie, as_another_user, monkeypatch
    ):
        monkeypatch.setattr("recollect.interfaces.web.peers.WAYS", (unanswered, read_tables))

        assert ask("GET", "/", Cookie=cookie[0])[0] == 403

    def unanswered(client, server):
        raise PermissionError

    def test_every_request_on_a_connection_of_another_user_is_refused(site, cookie, as_another_user):
        parts = urlsplit(site.address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
        statuses = []
        for path in ("/", "/memories", "/static/style.css"):
            connection.request("GET", path, headers={"Host": parts.netloc, "Cookie": cookie[0]})
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()

        assert statuses == [403, 403, 403]

    @pytest.mark.parametrize("way", WAYS)
    def test_a_connection_that_was_closed_is_nobodys_and_not_roots(monkeypatch, way):
        monkeypatch.setattr("recollect.interfaces.web.peers.WAYS", (way,))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = socket.create_connection(listener.getsockname())
            accepted, name = listener.accept()
            with accepted:
                held = is_other_user(name, accepted.getsockname())
                client.close()
                closed = is_other_user(name, accepted.getsockname())

        assert (held, closed) == (False, True)


def test_the_browser_is_opened_through_a_private_file_and_the_token_is_on_no_command_line(home):
    opened = []

    open_browser(home, "http://127.0.0.1:1/login?token=secret", lambda url: opened.append(url) or True)

    (url,) = opened
    file = home / "web" / "open.html"
    assert url == file.as_uri()
    assert "secret" not in url
    assert "secret" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def forgotten_change(engine):
    engine.forget(engine.remember("Prices are in cents").id)
    return engine.care.changes()[0].id
