"""A server of the memory browser under test, and somebody who reads its pages without a browser."""

import re
import threading
from html import unescape

from starlette.testclient import TestClient

from recollect.interfaces.web.logins import LinkFolder, Logins
from recollect.interfaces.web.projects import ProjectEngines
from recollect.interfaces.web.server import WebServer, local_app


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
