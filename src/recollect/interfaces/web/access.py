"""What the pages know about who is asking: a `Login`, found for a request by an `Access`.

The pages do not know how people log in. `local` lets the user of this machine in by a one-time link; another server can
serve the same pages with an `Access` of its own.
"""

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from recollect.frozen import frozen

MAX_NOTICES = 20  # that wait to be shown to one browser


@frozen
class Notice:
    """A message about what an action did, shown once, with a button that undoes it."""

    text: str
    change: str = ""  # the change that the button undoes; empty = no button
    is_error: bool = False
    hint: str = ""


@dataclass(slots=True, eq=False)
class Login:
    """One browser that was let in."""

    csrf: str  # part of every form
    user: str = ""  # who it is, as the person reads it, where there are several
    may_change: bool = True  # False = the person reads only
    names: Mapping[str, str] = field(default_factory=dict)  # of the people whose memories they see, by id
    hidden: frozenset[str] = frozenset()  # memories that they do not want to see, by id
    notices: OrderedDict[str, Notice] = field(default_factory=OrderedDict)

    def add_notice(self, notice: Notice) -> str:
        """Keep `notice` for the page that the browser is sent to; return the name that the address carries."""
        name = secrets.token_hex(6)
        self.notices[name] = notice
        while len(self.notices) > MAX_NOTICES:
            self.notices.popitem(last=False)
        return name

    def take_notice(self, name: str) -> Notice | None:
        return self.notices.pop(name, None)


class Access(Protocol):
    """Says whose a request is."""

    def routes(self) -> Sequence[BaseRoute]:
        """Return the addresses for logging in and out. The menu of every page has a form that is sent to `/logout`."""
        ...

    async def login(self, request: Request, *, touch: bool = True) -> Login | None:
        """Return the login of a request, or None. Without `touch` it does not count as a request of the person."""
        ...

    def ask(self, request: Request, status: int = 401) -> Response:
        """Return the answer to a request without a login: a page that says how to get in."""
        ...
