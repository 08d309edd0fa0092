"""What a page is, and what it is given: the request, its project's engine, and the ways to answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response

import recollect.model as m
from recollect.errors import ChangeNotFound
from recollect.frozen import frozen
from recollect.interfaces.web.access import Login, Notice
from recollect.interfaces.web.projects import ALL, ProjectEngines

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.interfaces.web.render import Renderer


@dataclass(slots=True, kw_only=True)
class WebRequest:
    """One request of a person who is logged in."""

    method: str
    path: str
    params: Mapping[str, str]  # parts of the path
    query: list[tuple[str, str]]
    form: list[tuple[str, str]] = field(default_factory=list)
    theme: str = ""  # "dark", "light", or "" for the browser's choice
    login: Login
    engines: ProjectEngines
    renderer: "Renderer"

    def get(self, name: str, default: str = "") -> str:
        """Return a value of the address, the last one if there are several."""
        return dict(self.query).get(name, default)

    def field(self, name: str, default: str = "") -> str:
        """Return a field of the form; line ends as everywhere else, because browsers send `\\\\r\\\\n`."""
        return dict(self.form).get(name, default).replace("\r\n", "\n")

    def fields(self, name: str) -> list[str]:
        return [value for key, value in self.form if key == name]

    @property
    def project(self) -> str:
        """The project in the address, or for a form that of the page it is on, or `ALL`."""
        there = dict(parse_qsl(urlsplit(self.field("next")).query)).get("p", "") if self.form else ""
        return self.get("p") or there or self.engines.start

    @property
    def all_projects(self) -> bool:
        return self.project == ALL

    @property
    def engine(self) -> "Engine":
        """The engine of the project in the address; for all projects together, the one without a project."""
        return self.engines.engine_for(None if self.all_projects else self.project)

    def engine_of(self, memory: m.Memory) -> "Engine":
        """Return the engine to change `memory` with: that of its project."""
        return self.engines.engine_for(memory.project_id) if memory.project_id else self.engine

    @property
    def back(self) -> str:
        """The page of ours that the form was on."""
        return local_path(self.field("next"))

    # answers

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return the page made from `template`, with the notice that waits for it."""
        notice = self.login.take_notice(self.get("notice")) if self.get("notice") else None
        html = self.renderer.render(template, self, notice=notice, **values)
        return HTMLResponse(html, status)

    def redirect(self, to: str = "", notice: Notice | None = None) -> Response:
        """Send the browser to a page of ours, by default where the form says, with a notice to show there."""
        target = local_path(to or self.field("next"))
        if notice is not None:
            path, _, query = target.partition("?")
            pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != "notice"]
            target = f"{path}?{urlencode([*pairs, ('notice', self.login.add_notice(notice))])}"
        return RedirectResponse(target, 303)

    def done(self, text: str, change: str = "", to: str = "") -> Response:
        """Answer an action: say what was done, with *Undo* for `change`, on the page that the form came from."""
        if change:
            try:
                self.engine.store.changes.get(self.engine.context.user_id, change)
            except ChangeNotFound:  # nothing had to be changed, so there is nothing to undo
                change = ""
        return self.redirect(to, Notice(text, change))

    def ask(self, question: str) -> Response | None:
        """Return a page that asks whether to go on, for what cannot be undone; None once the person has agreed."""
        if self.field("sure") == "1":
            return None
        kept = [(name, value) for name, value in self.form if name not in ("csrf", "sure")]
        return self.render("confirm.html", question=question, kept=kept, back=self.back)

    def here(self, path: str) -> str:
        """Return the address of another page, with the project of the page that the form came from."""
        pairs = dict(parse_qsl(urlsplit(self.field("next")).query))
        project = pairs.get("p") or self.get("p")
        return f"{path}?{urlencode({'p': project})}" if project else path


Handler = Callable[[WebRequest], Response]


@frozen
class Page:
    """A page in the menu, the addresses below it and the actions of its forms."""

    name: str
    title: str
    path: str
    show: Handler
    key: str = ""  # opens the page, after "g"; empty = not in the menu
    icon: str = ""
    more: Mapping[str, Handler] = field(default_factory=dict)  # further addresses, to read
    actions: Mapping[str, Handler] = field(default_factory=dict)  # addresses that forms are sent to
    personal: frozenset[str] = (
        frozenset()
    )  # those that a reader may send too: they change what is the reader's own


def local_path(target: str) -> str:
    """Return `target` if it is a path on our own server, else the first page: nobody is sent elsewhere."""
    parts = urlsplit(target)
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and "\\" not in target
    if not is_local or parts.scheme or parts.netloc or any(ord(letter) < 32 for letter in target):
        return "/"
    return target
