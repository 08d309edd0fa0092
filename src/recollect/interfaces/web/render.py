"""Pages from templates. Every stored text is escaped; nothing that is stored is ever HTML."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recollect.interfaces.web.access import Notice
from recollect.interfaces.web.history import actor_name, told
from recollect.interfaces.web.language import text, texts, translations
from recollect.interfaces.web.live import position_of
from recollect.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.interfaces.web.page import Page, WebRequest


class Renderer:
    """Makes pages from the templates of this package."""

    def __init__(self, pages: "Sequence[Page]" = ()) -> None:
        """`pages` are those in the menu."""
        self._pages = pages
        self._served = {path for page in pages for path in (page.path, *page.more, *page.actions)}
        env = Environment(
            loader=PackageLoader("recollect.interfaces.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.i18n"],
        )
        env.install_gettext_translations(translations, newstyle=True)  # type: ignore[attr-defined]
        env.filters |= {
            "ago": ago,
            "moment": moment,
            "iso": iso,
            "percent": percent,
            "number": number,
            "kind_label": kind_label,
            "plain_name": plain_name,
            "coded": coded,
            "told": told,
            "seen_by": seen_by,
            "actor_name": actor_name,
        }
        self._env = env

    def render(
        self, template: str, request: "WebRequest", *, notice: Notice | None = None, **values: Any
    ) -> str:
        """Return the page, with what every page shows: the menu, the project and a notice."""
        projects = request.engines.projects()
        current = next((project for project in projects if project.id == request.project), None)
        return self._env.get_template(template).render(
            request=request,
            notice=notice,
            pages=self._pages,
            served=self._served,
            projects=projects,
            project=current,
            all_projects=request.all_projects,
            csrf=request.login.csrf,
            seq=position_of(request.engines.first),
            theme=request.theme,
            here=here(request),
            url=Addresses(request.project),
            now=request.engine.context.clock(),
            project_names={found.id: found.name for found in projects},
            **values,
        )

    def plain(self, template: str, **values: Any) -> str:
        """Return a page without the menu, for somebody who is not logged in."""
        return self._env.get_template(template).render(theme="", **values)


class Addresses:
    """Makes the addresses of pages; they keep the project that is shown."""

    def __init__(self, project: str) -> None:
        self._project = project

    def __call__(self, path: str, **values: Any) -> str:
        pairs = [
            (name.rstrip("_"), str(value))
            for name, value in {"p": self._project, **values}.items()
            if value not in (None, "", False)
        ]
        return f"{path}?{urlencode(pairs)}"

    def with_query(self, path: str, query: list[tuple[str, str]], **changed: Any) -> str:
        """Return `path` with the values of `query`, some of them changed; None removes one."""
        kept = [(name, value) for name, value in query if name not in changed and name != "notice" and value]
        more = [(name, str(value)) for name, value in changed.items() if value not in (None, "", False)]
        pairs = [*kept, *more]
        if not any(name == "p" for name, _ in pairs):
            pairs.insert(0, ("p", self._project))
        return f"{path}?{urlencode(pairs)}"


def here(request: "WebRequest") -> str:
    """Return the address of this page, without what is shown once."""
    pairs = [pair for pair in request.query if pair[0] != "notice"]
    return f"{request.path}?{urlencode(pairs)}" if pairs else request.path


_UNITS = (
    ("year", 31_557_600),
    ("month", 2_629_800),
    ("day", 86_400),
    ("hour", 3600),
    ("minute", 60),
)  # seconds


def ago(at: datetime | None, now: datetime) -> str:
    """Return how long ago something was, in the largest unit: "3 days ago"; or "in 3 days"."""
    if at is None:
        return text("never")
    span = now - at
    seconds = abs(span / timedelta(seconds=1))
    if seconds < 60:
        return text("just now")
    unit, length = next(row for row in _UNITS if seconds >= row[1])
    count = int(seconds // length)
    words = {
        "year": texts("%(num)d year", "%(num)d years", count),
        "month": texts("%(num)d month", "%(num)d months", count),
        "day": texts("%(num)d day", "%(num)d days", count),
        "hour": texts("%(num)d hour", "%(num)d hours", count),
        "minute": texts("%(num)d minute", "%(num)d minutes", count),
    }[unit] % {"num": count}
    return text("%s ago") % words if span > timedelta() else text("in %s") % words


def moment(at: datetime | None) -> str:
    """Return date and time on this machine's clock."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}" if at else text("never")


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def number(value: float | None) -> str:
    """Return a number with its thousands apart: 12,345."""
    return "–" if value is None else f"{value:,.0f}"


def kind_label(kind: str) -> str:
    """Return a kind's name for people; a kind of a newer version keeps its own."""
    found = KINDS.get(kind)
    return (found.label or found.name if found else kind).replace("_", " ")


def seen_by(visibility: str) -> str:
    """Return who sees a memory, for people."""
    return {
        "private": text("only you"),
        "project": text("people of the project"),
        "team": text("the whole team"),
    }.get(visibility, visibility)


def plain_name(name: Any) -> str:
    return str(name).replace("_", " ")


def coded(content: str) -> Markup:
    """Return `content` with what stands between two backticks as code. Everything in it is escaped."""
    parts = content.split("`")
    if len(parts) % 2 == 0:  # the last backtick stands alone
        parts[-2:] = ["`".join(parts[-2:])]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )
