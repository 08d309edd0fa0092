"""Pages that only a team has: people and projects, tokens, what the team runs into, sync, and what is stored of oneself.

A form runs an operation of `remote.operations`, with the same checks as a request of a client.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from starlette.responses import Response

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.team.app import TeamApp, TeamCall, check_allowed
from recollect.interfaces.web.access import Notice
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.interfaces.web.pages.memories import cards
from recollect.model.team import ACTIONS, Identity
from recollect.remote.administration import GIVEN_ROLES, GRACE, INVITE_DAYS
from recollect.remote.analytics import FEWEST, PERIOD
from recollect.remote.export import records
from recollect.remote.operations import OPERATIONS
from recollect.remote.secrets import LINK_TOKEN

if TYPE_CHECKING:
    from recollect.interfaces.team.browser import TeamLogin

TOKEN_DAYS = 90
MOVES = 200  # imports that are shown
BROWSERS = ("browser", LINK_TOKEN)  # tokens of browsers, which have nothing to deliver


class TeamPages:
    """The pages of a team, on one server."""

    def __init__(self, app: TeamApp) -> None:
        self._app = app

    def pages(self) -> Sequence[Page]:
        return (
            Page(
                "team",
                text("Team"),
                "/team",
                self.show_team,
                key="t",
                icon="people",
                actions={
                    "/team/invite": self.invite,
                    "/team/withdraw": self.withdraw,
                    "/team/role": self.set_role,
                    "/team/flag": self.flag,
                    "/team/remove": self.remove,
                    "/team/project": self.restrict,
                },
            ),
            Page(
                "tokens",
                text("Tokens"),
                "/tokens",
                self.show_tokens,
                key="k",
                icon="key",
                actions={"/tokens/new": self.create_token, "/tokens/revoke": self.revoke_token},
            ),
            Page("analytics", text("Analytics"), "/analytics", self.show_analytics, key="a", icon="work"),
            Page("sync", text("Sync"), "/sync", self.show_sync, key="y", icon="history"),
            Page(
                "data",
                text("My data"),
                "/data",
                self.show_data,
                key="d",
                icon="records",
                more={"/data/export.json": self.export},
                personal=frozenset({"/data/erase", "/data/keep", "/data/leave", "/memories/{id}/hide"}),
                actions={
                    "/data/erase": self.erase,
                    "/data/keep": self.keep,
                    "/data/leave": self.leave,
                    "/memories/{id}/hide": self.hide,
                },
            ),
        )

    def _run(self, request: WebRequest, name: str, /, **values: Any) -> Any:
        """Run an operation with the rights of the person. Raise what it raises, and `Refused` for wrong values."""
        operation, identity = OPERATIONS[name], identity_of(request)
        check_allowed(operation, identity)
        self._app.limiter.check(identity, is_write=operation.is_write)
        if operation.is_write:
            self._app.quotas.check(identity, "")
        try:
            arguments = operation.arguments.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise Refused(text("This is not possible: %s.") % f"{where}: {first['msg']}", "") from None
        given = {field: getattr(arguments, field) for field in operation.arguments.model_fields}
        result = operation.run(
            TeamCall(identity, self._app.backend.directory, request.engines.first, self._app.quotas), **given
        )
        if operation.in_directory:
            self._app.people_changed()
        return result

    # people and projects

    def show_team(self, request: WebRequest) -> Response:
        return self._team(request)

    def _team(self, request: WebRequest, invitation: object = None) -> Response:
        identity, directory = identity_of(request), self._app.backend.directory
        people = self._run(request, "members")
        return request.render(
            "team_people.html",
            team=directory.team_name(identity.tenant),
            people=people,
            names={person.id: person.name for person in people},
            me=identity,
            roles=GIVEN_ROLES,
            invites=[
                invite
                for invite in directory.invites(identity.tenant)
                if invite.expires_at > self._app.clock()
            ]
            if identity.role.is_admin
            else [],
            shared=self._run(request, "projects"),
            invitation=invitation,
            days=INVITE_DAYS,
        )

    def invite(self, request: WebRequest) -> Response:
        """Make an invitation, and show its code once."""
        made = self._run(
            request, "invite", name=request.field("name").strip(), role=request.field("role") or "member"
        )
        return self._team(request, made)

    def withdraw(self, request: WebRequest) -> Response:
        self._run(request, "withdraw_invite", name=request.field("invite"))
        return request.done(text("Withdrew the invitation."))

    def set_role(self, request: WebRequest) -> Response:
        person, role = self._name(request), request.field("role")
        if answer := request.ask(text("Make %(name)s %(role)s?") % {"name": person, "role": role}):
            return answer
        self._run(request, "set_role", person=request.field("person"), role=role)
        return request.done(text("Changed the role."))

    def flag(self, request: WebRequest) -> Response:
        on = request.field("on") == "1"
        self._run(request, "flag_member", person=request.field("person"), on=on)
        return request.done(
            text("What the person's agents write waits for a review.")
            if on
            else text("What the person's agents write reaches the others at once.")
        )

    def remove(self, request: WebRequest) -> Response:
        question = text("Remove %s from the team? Their tokens end at once. What they shared stays.")
        if answer := request.ask(question % self._name(request)):
            return answer
        self._run(request, "remove_member", person=request.field("person"))
        return request.done(text("Removed from the team."))

    def restrict(self, request: WebRequest) -> Response:
        """Let some people see a project, or everybody."""
        everybody = request.field("everybody") == "1"
        people = None if everybody else tuple(request.fields("person"))
        self._run(request, "restrict_project", project=request.field("project"), people=people)
        return request.done(
            text("The whole team sees the project.")
            if everybody
            else text("Only the people you chose see the project.")
        )

    def _name(self, request: WebRequest) -> str:
        people: dict[str, str] = {person.id: person.name for person in self._run(request, "members")}
        return people.get(request.field("person"), "")

    # tokens

    def show_tokens(self, request: WebRequest) -> Response:
        return self._tokens(request)

    def _tokens(self, request: WebRequest, made: object = None) -> Response:
        identity = identity_of(request)
        everybody = identity.role.is_admin and request.get("everybody") == "1"
        people = self._app.backend.directory.people(identity.tenant)
        return request.render(
            "team_tokens.html",
            tokens=self._run(request, "tokens", everybody=everybody),
            names={person.id: person.name for person in people},
            me=identity,
            everybody=everybody,
            actions=[action for action in ("read", "write", "admin") if action in identity.actions & ACTIONS],
            made=made,
            days=TOKEN_DAYS,
        )

    def create_token(self, request: WebRequest) -> Response:
        """Make a token, and show it once."""
        days = request.field("days").strip()
        made = self._run(
            request,
            "create_token",
            name=request.field("name").strip(),
            agent=request.field("agent").strip(),
            actions=tuple(request.fields("action")),
            days=days or None,
        )
        return self._tokens(request, made)

    def revoke_token(self, request: WebRequest) -> Response:
        question = text("Revoke this token? Whatever uses it is refused within a minute.")
        if answer := request.ask(question):
            return answer
        self._run(request, "revoke_token", token=request.field("token"))
        return request.done(text("Revoked the token."))

    # what the team runs into, and how far everything has come

    def show_analytics(self, request: WebRequest) -> Response:
        found = self._run(request, "analytics")
        return request.render(
            "team_analytics.html",
            found=found,
            gotchas=cards(request, found.gotchas),
            fewest=FEWEST,
            days=PERIOD.days,
        )

    def show_sync(self, request: WebRequest) -> Response:
        """Show what has reached the server: when each device and agent was last here, and what waits."""
        identity, engine = identity_of(request), request.engines.first
        everybody = identity.role.is_admin and request.get("everybody") == "1"
        tokens = [
            token
            for token in self._run(request, "tokens", everybody=everybody)
            if token.revoked_at is None and token.name not in BROWSERS
        ]
        model = engine.embedder.model if engine.embedder else ""
        return request.render(
            "team_sync.html",
            me=identity,
            everybody=everybody,
            tokens=sorted(tokens, key=lambda token: token.last_used_at or token.created_at, reverse=True),
            names=request.login.names,
            position=engine.store.seq(),
            without_vector=engine.store.count_without_vector(model) if model else 0,
            usage=self._run(request, "usage"),
            moved=[
                change
                for change in engine.store.changes.newest(
                    engine.context.user_id, None, MOVES, all_projects=True, actions=("import",)
                )
                if change.undone_at is None
            ],
        )

    def hide(self, request: WebRequest) -> Response:
        """Hide a memory for this person, or show it again. It changes no memory, and the button takes it back."""
        on = request.field("on") == "1"
        self._run(request, "hide", name=request.params["id"], on=on)
        return request.done(
            text("Hidden for you and your agents. Others still see it.") if on else text("Shown again.")
        )

    # one's own data

    def show_data(self, request: WebRequest) -> Response:
        mine = self._run(request, "my_data")
        names = {person.id: person.name for person in self._run(request, "members")}
        return request.render(
            "team_data.html",
            me=mine.me,
            count=len(mine.memories),
            has_more=mine.next is not None,
            waiting=next((erasure for erasure in mine.erasures if erasure.done_at is None), None),
            erasures=self._run(request, "erasures") if identity_of(request).role.is_admin else (),
            names=names,
            grace=GRACE.days,
        )

    def export(self, request: WebRequest) -> Response:
        """Return everything that is stored of the person, as JSON."""
        given: dict[str, Any] = {"memories": []}
        offset: int | None = 0
        while offset is not None:
            page = self._run(request, "my_data", offset=offset)
            given["me"] = asdict(page.me)
            given["memories"] += [asdict(memory) for memory in page.memories]
            offset = page.next
        given |= records(lambda offset: self._run(request, "my_records", offset=offset))
        return Response(
            m.visible_json(json.dumps(given, default=_plain, ensure_ascii=False, indent=2)),
            media_type="application/json",
            headers={"Content-Disposition": "attachment; filename=my-data.json"},
        )

    def erase(self, request: WebRequest) -> Response:
        """Delete everything of the person for good, once they have written their name: in 30 days, or at once."""
        at_once = request.field("at_once") == "1"
        erased = self._run(request, "erase_me", confirm=request.field("confirm"), at_once=at_once)
        if not at_once:
            days = GRACE.days
            return request.done(
                text("Everything of yours is erased in %d days. Until then you can take it back.") % days
            )
        rows = {table: count for table, count in erased.rows.items() if count}
        return Response(request.renderer.plain("team_erased.html", rows=rows), media_type="text/html")

    def keep(self, request: WebRequest) -> Response:
        """Take back the request to be erased."""
        self._run(request, "keep_me")
        return request.done(text("Nothing of yours is erased."))

    def leave(self, request: WebRequest) -> Response:
        if answer := request.ask(text("Leave the team? Your tokens end at once. What you shared stays.")):
            return answer
        self._run(request, "leave")
        return request.redirect("/", Notice(text("You have left the team.")))


def identity_of(request: WebRequest) -> Identity:
    login: TeamLogin = request.login  # type: ignore[assignment]
    return login.identity


def _plain(value: object) -> object:
    return m.to_text(value) if isinstance(value, datetime) else str(value)
