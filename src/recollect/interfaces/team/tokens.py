"""Who a bearer token is."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

import recollect.model as m
from recollect.context.team import Directory
from recollect.errors import TokenRefused, TooManyRequests
from recollect.model.team import Identity
from recollect.remote.secrets import TOKEN_PREFIX, hash_of

KNOWN_SECONDS = (
    20.0  # that a verified token is trusted without asking again: it ends this long after it is revoked
)
REFUSED_SECOND = (
    20.0  # unknown tokens that the database is asked for in a second, and ten seconds' worth at once
)
TOUCH_SECONDS = 60.0  # between two notes that a token was used
_MOST = 10_000


class Verifier:
    """Says who a token is. It can be used from any thread."""

    def __init__(
        self, directory: Directory, clock: m.Clock, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._now = now
        self._known: OrderedDict[str, tuple[float, Identity]] = OrderedDict()
        self._verified: OrderedDict[str, None] = OrderedDict()  # hashes that were valid once
        self._touched: dict[str, float] = {}
        self._left, self._left_at = REFUSED_SECOND * 10, now()  # unknown tokens that may still be asked for
        self._lock = threading.Lock()

    def identify(self, header: str | None) -> Identity:
        """Return who sent the `Authorization` header. Raise `TokenRefused`.

        Raise `TooManyRequests` while somebody tries many tokens: those that were never valid then wait, and cost no query.
        """
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenRefused("A token is missing.", "Send `Authorization: Bearer TOKEN`.")
        if not token.startswith(TOKEN_PREFIX) or len(token) > 200:
            hint = f"A token begins with {TOKEN_PREFIX}. The code of an invitation is given with --code."
            raise TokenRefused("This is no token of a team.", hint)
        hashed, now = hash_of(token), self._now()
        with self._lock:
            known = self._known.get(hashed)
            if hashed not in self._verified:
                self._check_refusals(now)
        if known is not None and now - known[0] < KNOWN_SECONDS:
            return known[1]
        at = self._clock()
        identity = self._directory.identify(hashed, at)
        with self._lock:
            if identity is None:
                self._known.pop(hashed, None)
                self._left -= 1
                raise TokenRefused
            self._known[hashed] = (now, identity)
            self._verified[hashed] = None
            for kept in (self._known, self._verified):
                while len(kept) > _MOST:
                    kept.popitem(last=False)
            is_due = now - self._touched.get(identity.token, -TOUCH_SECONDS) >= TOUCH_SECONDS
            if is_due:
                self._touched[identity.token] = now
        if is_due:
            self._note(identity, at)
        return identity

    def _check_refusals(self, now: float) -> None:
        self._left = min(REFUSED_SECOND * 10, self._left + (now - self._left_at) * REFUSED_SECOND)
        self._left_at = now
        if self._left < 1:
            raise TooManyRequests(
                "The server was sent too many unknown tokens.", "Wait a second and try again."
            )

    def _note(self, identity: Identity, at: datetime) -> None:
        self._directory.touch(identity.tenant, identity.token, at)

    def forget(self) -> None:
        """Ask for every token again: somebody has left or was given another role."""
        with self._lock:
            self._known.clear()
