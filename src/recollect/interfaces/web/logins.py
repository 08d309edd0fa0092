"""Who may use the pages: one-time links, and the browsers that were let in with one."""

import hashlib
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect.interfaces.web.access import Login

LINK_SECONDS = 120.0  # in which a one-time link can be used
IDLE_SECONDS = 8 * 3600.0  # without a request of the person, after which a browser needs a new link
MAX_LOGINS = 32  # browsers; the one that was idle longest is logged out for another


@dataclass(slots=True)
class _Browser:
    """A browser that was let in, and when it was last used."""

    login: Login
    last_seen: float


class LinkFolder:
    """One-time links, each a private file named by the digest of its token: every process of the user can add one."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock

    def new_link(self) -> str:
        """Return a token that logs one browser in, once, within `LINK_SECONDS`."""
        token = secrets.token_urlsafe(32)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in self._folder.glob("*.link"):
            if self._is_old(file):
                file.unlink(missing_ok=True)
        handle = os.open(self._file(token), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(repr(self._clock()))
        return token

    def use(self, token: str) -> bool:
        """Return whether the token is good, and use it up: of several that try, the one that removes the file wins."""
        file = self._file(token)
        try:
            is_old = self._is_old(file)
            file.unlink()
        except OSError:
            return False
        return not is_old

    def _file(self, token: str) -> Path:
        return self._folder / f"{hashlib.sha256(token.encode()).hexdigest()}.link"

    def _is_old(self, file: Path) -> bool:
        try:
            return not 0 <= self._clock() - float(file.read_text(encoding="ascii")) <= LINK_SECONDS
        except (OSError, ValueError):
            return True


class Logins:
    """The browsers that are logged in, in this process's memory only: a restart logs everybody out."""

    def __init__(self, links: LinkFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self._links = links
        self._clock = clock
        self._browsers: OrderedDict[str, _Browser] = OrderedDict()  # by cookie, idle longest first
        self._lock = threading.Lock()

    def use_link(self, token: str) -> tuple[str, Login] | None:
        """Return a cookie and a login for a token that was not used before; None if it was, or is too old."""
        if not self._links.use(token):
            return None
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            browser = _Browser(Login(secrets.token_urlsafe(32)), self._clock())
            self._browsers[cookie] = browser
            while len(self._browsers) > MAX_LOGINS:
                self._browsers.popitem(last=False)
        return cookie, browser.login

    def find(self, cookie: str, *, touch: bool = True) -> Login | None:
        """Return the login of a browser, or None. Without `touch` the request does not count as one of the person."""
        with self._lock:
            browser = self._browsers.get(cookie)
            if browser is None:
                return None
            now = self._clock()
            if now - browser.last_seen > IDLE_SECONDS:
                del self._browsers[cookie]
                return None
            if touch:
                browser.last_seen = now
                self._browsers.move_to_end(cookie)
            return browser.login

    def end(self, cookie: str) -> None:
        """Log a browser out."""
        with self._lock:
            self._browsers.pop(cookie, None)
