"""The pages with another way in than the link of this machine: each person gets the engines of their login."""

from contextlib import nullcontext

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from recollect.engine import Engine
from recollect.interfaces.web.access import Login
from recollect.interfaces.web.app import build_app
from recollect.interfaces.web.guard import RequestGuard
from recollect.interfaces.web.pages import memories, overview
from recollect.interfaces.web.projects import ProjectEngines

ADDRESS = "https://memory.example"


class HeaderAccess:
    """Takes the word of a header for who asks."""

    def __init__(self, *users):
        self.logins = {user: Login(f"token of {user}", user) for user in users}

    def routes(self):
        return ()

    async def login(self, request, *, touch=True):
        return self.logins.get(request.headers.get("x-user", ""))

    def ask(self, request, status=401):
        return PlainTextResponse("Who are you?", status)


@pytest.fixture
def client(tmp_path, embedder):
    opened = {}
    for user in ("ada", "bob"):
        home, folder = tmp_path / user, tmp_path / f"{user}-shop"
        home.mkdir(mode=0o700)
        folder.mkdir()
        opened[user] = Engine.open(folder, home, embedder=embedder)
        opened[user].remember(f"The till of {user} counts in cents")
    access = HeaderAccess(*opened)
    app = build_app(
        access,
        lambda login: nullcontext(ProjectEngines(opened[login.user])),
        pages=(overview.PAGE, memories.PAGE),
    )
    yield TestClient(RequestGuard(app, frozenset({ADDRESS})), base_url=ADDRESS, headers={"origin": ADDRESS})
    for engine in opened.values():
        engine.close()


def test_everybody_sees_their_own_memories_and_strangers_the_question_of_the_access(client):
    ada, bob, stranger = (client.get("/memories", headers={"x-user": user}) for user in ("ada", "bob", "eve"))

    assert "till of ada" in ada.text
    assert "till of bob" not in ada.text
    assert "till of bob" in bob.text
    assert (stranger.status_code, stranger.text) == (401, "Who are you?")


def test_the_token_of_one_login_is_worth_nothing_in_another(client):
    form = {"csrf": "token of bob", "content": "Ada was here"}

    refused = client.post("/memories/new", data=form, headers={"x-user": "ada"})

    assert refused.status_code == 403


def test_pages_that_are_left_out_are_neither_served_nor_in_the_menu(client):
    page = client.get("/", headers={"x-user": "ada"})

    assert client.get("/settings", headers={"x-user": "ada"}).status_code == 404
    assert 'href="/settings' not in page.text
