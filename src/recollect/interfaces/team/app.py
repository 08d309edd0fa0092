"""The routes of the team server: operations, health, metrics and the OpenAPI document."""

import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import anyio
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

import recollect.errors as errors
import recollect.model as m
from recollect import __version__
from recollect.context.team import Directory, TeamBackend, TeamStore
from recollect.engine import Engine
from recollect.interfaces.team.bodies import CallBody, JoinBody, SignInBody
from recollect.interfaces.team.engines import CallerEngines, actor_of
from recollect.interfaces.team.feed import Feed
from recollect.interfaces.team.jobs import Jobs
from recollect.interfaces.team.limits import BODY_SECONDS, LARGEST_BODY, Allowance, Quotas, RateLimiter
from recollect.interfaces.team.metrics import Metrics
from recollect.interfaces.team.openapi import document
from recollect.interfaces.team.tokens import Verifier
from recollect.memory.write.draft import clean_text
from recollect.model.team import ADMIN, READ, Identity, Person, Role, Token
from recollect.remote.operations import OPERATIONS, Operation
from recollect.remote.results import Joined, WhoAmI
from recollect.remote.secrets import hash_of, new_secret
from recollect.remote.wire import (
    ACTOR_HEADER,
    API,
    IDEMPOTENCY_HEADER,
    MOST_VECTORS,
    OLDEST_CLIENT,
    PREFIX,
    VERSION_HEADER,
    error_json,
    is_too_old,
)

if TYPE_CHECKING:
    from recollect.interfaces.team.oidc import OpenIdProvider

logger = logging.getLogger("recollect.team")

_REMOVING = ("forget", "undo", "unlink")  # operations that need no consent: they store nothing
THREADS = 32  # operations at the same time in one process
NOTED_SECONDS = 2.0  # after which questions without an answer are found among the gaps


class BodyTooLarge(errors.ContentRefused):
    """Raised for a body that is larger than `LARGEST_BODY`."""


class BodyTooSlow(errors.ContentRefused):
    """Raised for a body that takes longer than `BODY_SECONDS`."""


_STATUS: dict[type[errors.RecollectError], int] = {  # the first that fits
    BodyTooLarge: 413,
    BodyTooSlow: 408,
    errors.TokenRefused: 401,
    errors.OutOfScope: 403,
    errors.MemoryOff: 403,
    errors.MemoryNotFound: 404,
    errors.ChangeNotFound: 404,
    errors.SessionNotFound: 404,
    errors.ReviewNotFound: 404,
    errors.ContentRefused: 422,
    errors.UnknownName: 422,
    errors.VectorsNeeded: 424,
    errors.ClientTooOld: 426,
    errors.LimitReached: 429,
    errors.TooManyRequests: 429,
    errors.Refused: 409,
    errors.AmbiguousId: 409,
    errors.StoreError: 503,
    errors.RecollectError: 400,
}


_JOINED = TypeAdapter(Joined)
SIGNED_IN = timedelta(days=30)  # after which a person signs in at the identity provider again


@dataclass
class TeamCall:
    """A verified request: see `remote.operations.Call`."""

    identity: Identity
    directory: Directory
    engine: Engine
    quotas: Quotas

    @property
    def store(self) -> TeamStore:
        store: TeamStore = self.engine.store  # type: ignore[assignment]
        return store

    @cached_property
    def names(self) -> Mapping[str, str]:
        return {person.id: person.name for person in self.directory.people(self.identity.tenant)}

    @cached_property
    def hidden(self) -> frozenset[str]:
        return self.store.hidden()


class TeamApp:
    """What the routes need."""

    def __init__(
        self,
        backend: TeamBackend,
        engines: CallerEngines,
        limiter: RateLimiter,
        quotas: Quotas,
        clock: m.Clock = m.utc_now,
        provider: "OpenIdProvider | None" = None,
    ) -> None:
        """`provider` is where people can sign in instead of with a code or token."""
        self.backend = backend
        self.provider = provider
        self.engines = engines
        self.limiter = limiter
        self.quotas = quotas
        self.clock = clock
        self.verifier = Verifier(backend.directory, clock)
        self.feed = Feed(backend, self.people_changed)
        self.jobs = Jobs(backend, clock)
        self.metrics = Metrics()
        self._threads = anyio.CapacityLimiter(THREADS)

    def starlette(self, more: Sequence[BaseRoute] = ()) -> Starlette:
        """Return the application; `more` routes come after those of the interface."""

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            self.feed.start()
            self.jobs.start()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._process_searches)
                yield
                tasks.cancel_scope.cancel()
            self.jobs.stop()
            self.feed.stop()
            await self._in_thread(self.engines.close)
            await self._in_thread(self.quotas.close)

        routes = [
            Route(f"{PREFIX}/openapi.json", self._openapi),
            Route(f"{PREFIX}/join", self._join, methods=["POST"]),
            Route(f"{PREFIX}/sign-in", self._sign_in, methods=["GET", "POST"]),
            Route(f"{PREFIX}/events", self._events),
            Route(f"{PREFIX}/{{name}}", self._operation, methods=["POST"]),
            Route(f"{PREFIX}/{{path:path}}", self._nothing),
            Route("/api/{path:path}", self._another_interface, methods=["GET", "POST"]),
            Route("/health", self._health),
            Route("/ready", self._ready),
            Route("/metrics", self._metrics),
            *more,
        ]
        return Starlette(routes=routes, lifespan=lifespan)

    def people_changed(self) -> None:
        """Keep nothing of somebody who has left or was erased, on whichever server."""
        self.verifier.forget()
        self.engines.forget_texts()

    async def _in_thread(self, run: Callable[..., Any], *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(partial(run, *arguments), limiter=self._threads)

    async def _process_searches(self) -> None:
        """Turn searches into gaps beside the requests: each takes a transaction, for which nobody should wait."""
        while True:
            await anyio.sleep(NOTED_SECONDS)
            try:
                await self._in_thread(self.engines.process_searches)
            except Exception:  # our mistake: a search that is not noted must not end the server
                logger.exception("searches were not processed")

    # the operations

    async def _operation(self, request: Request) -> Response:
        name = request.path_params["name"]
        operation = OPERATIONS.get(name)
        if operation is None:
            return _error(
                404,
                errors.RecollectError(
                    f"There is no operation {name[:60]!r}.",
                    f"The server has Recollect {__version__}. If yours is newer, the server needs an upgrade.",
                ),
            )
        began = time.perf_counter()
        identity: Identity | None = None
        self.metrics.active += 1
        try:
            _refuse_old(request)
            identity = await self._in_thread(self.verifier.identify, request.headers.get("authorization"))
            body = await _read_body(request)
            answer, left = await self._in_thread(self._run, operation, identity, request.headers, body)
            response: Response = Response(answer, media_type="application/json", headers=_limits_in(left))
        except ClientDisconnect:
            response = Response(status_code=499)
        except ValidationError as error:
            response = _error(422, _invalid(error))
        except errors.RecollectError as error:
            response = _error(status_of(error), error)
        except Exception as error:  # our mistake: the log has the traceback, without the texts of locals
            logger.exception("an operation failed", extra={"fields": {"operation": name}})
            response = _error(500, errors.RecollectError(f"{type(error).__name__} on the server."))
        finally:
            self.metrics.active -= 1
        seconds = time.perf_counter() - began
        self.metrics.note(name, response.status_code, seconds)
        logger.info(
            "request",
            extra={
                "fields": {
                    "operation": name,
                    "status": response.status_code,
                    "ms": round(seconds * 1000, 1),
                    "tenant": identity.tenant if identity else None,
                    "user": identity.user if identity else None,
                    "client": request.headers.get(VERSION_HEADER, "")[:20],
                }
            },
        )
        response.headers[VERSION_HEADER] = __version__
        return response

    def _run(
        self, operation: Operation, identity: Identity, headers: Mapping[str, str], body: bytes
    ) -> tuple[bytes, Allowance | None]:
        """Run an operation with the rights of the caller; return the JSON of its result, and what is left of the limits."""
        actor = unquote(headers.get(ACTOR_HEADER, "user")[:400])[:100]
        check_allowed(operation, identity, actor)
        left = self.limiter.check(identity, is_write=operation.is_write)
        given = CallBody.model_validate_json(body)
        arguments = operation.arguments.model_validate(given.arguments)
        values = {name: getattr(arguments, name) for name in operation.arguments.model_fields}
        if operation.is_write:
            agent = actor_of(identity, actor).partition(":")[2]
            today = self.quotas.check(identity, agent, len(values.get("records", "x")))
            left = min(filter(None, (left, today)), key=lambda each: each.left, default=None)
        if given.vectors is not None and len(given.vectors.rows) > MOST_VECTORS:
            raise errors.ContentRefused("There are too many vectors.", f"Send {MOST_VECTORS} at most.")
        key = headers.get(IDEMPOTENCY_HEADER, "")[:100]
        return self._answer(operation, identity, given, values, actor, key), left

    def _answer(
        self,
        operation: Operation,
        identity: Identity,
        given: CallBody,
        values: Mapping[str, Any],
        actor: str,
        key: str,
    ) -> bytes:
        with self.engines.use(identity, given.place, actor, given.vectors) as engine:
            call = TeamCall(identity, self.backend.directory, engine, self.quotas)
            if not operation.is_write:
                with call.store.reading_together():
                    return operation.result.dump_json(operation.run(call, **values))
            digest = _digest(given)
            if operation.in_directory:
                with self._at_most_once(call, operation, key, digest):
                    answer = operation.result.dump_json(operation.run(call, **values))
                self.people_changed()
                return answer
            _embed_first(engine, values)
            with call.store.transaction():
                if key and (kept := call.store.once(f"{operation.name} {key}")) is not None:
                    return _kept(kept, digest)
                answer = operation.result.dump_json(operation.run(call, **values))
                if key:
                    kept = json.dumps([digest, answer.decode()])
                    call.store.keep_answer(f"{operation.name} {key}", kept, self.clock())
            return answer

    @contextmanager
    def _at_most_once(self, call: TeamCall, operation: Operation, key: str, digest: str) -> Iterator[None]:
        """Run the block unless it was run under this key, if its answer is a secret. Raise `Refused` if it was.

        After a failure the key can be used again, unless the database does not answer then either.
        """
        if not (key and operation.is_secret):
            yield
            return
        name = f"{operation.name} {key}"
        with call.store.transaction():
            if (kept := call.store.once(name)) is not None:
                _kept(kept, digest, is_secret=True)
            call.store.keep_answer(name, json.dumps([digest, None]), self.clock())
        try:
            yield
        except Exception:
            try:
                call.store.drop_answer(name)
            except errors.RecollectError:
                logger.warning("a key stays used", extra={"fields": {"operation": operation.name}})
            raise

    # live updates

    async def _events(self, request: Request) -> Response:
        """Stream what changes in what the caller may see, as server-sent events, until their token ends."""
        header = request.headers.get("authorization")

        async def recheck() -> Identity:
            identity: Identity = await self._in_thread(self.verifier.identify, header)
            return identity

        async def may_see(identity: Identity, project: str) -> bool:
            return bool(await self._in_thread(self.may_see, identity, project))

        try:
            _refuse_old(request)
            identity = await recheck()
            if READ not in identity.actions:
                raise errors.OutOfScope("This token does not allow to read.", "It needs the action read.")
            self.feed.check_room(identity)
        except errors.RecollectError as error:
            return _error(status_of(error), error)
        return StreamingResponse(
            self.feed.stream(identity, recheck, may_see),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", VERSION_HEADER: __version__},
        )

    def may_see(self, identity: Identity, project: str) -> bool:
        if identity.projects is not None and project not in identity.projects:
            return False
        known = {each.id: each for each in self.backend.directory.projects(identity.tenant)}
        members = known[project].members if project in known else frozenset()
        return members is None or identity.user in members or identity.role.is_admin

    # the rest

    async def _join(self, request: Request) -> Response:
        """Exchange an invitation code for a token. It needs no token: the code is the secret, and works once."""
        try:
            _refuse_old(request)
            body = await _read_body(request)
            given = JoinBody.model_validate_json(body)
            joined = await self._in_thread(self._accept, given)
        except ValidationError as error:
            return _error(422, _invalid(error))
        except errors.RecollectError as error:
            return _error(status_of(error), error)
        except ClientDisconnect:
            return Response(status_code=499)
        return Response(_JOINED.dump_json(joined), media_type="application/json")

    async def _sign_in(self, request: Request) -> Response:
        """Say where people sign in; or exchange an ID token of the identity provider for a token of ours."""
        if self.provider is None:
            return _error(404, errors.RecollectError("This server has no identity provider.", "Use a token."))
        if request.method != "POST":
            where = {"issuer": self.provider.issuer, "client_id": self.provider.client_id, "scope": "openid"}
            return JSONResponse(where)
        try:
            _refuse_old(request)
            given = SignInBody.model_validate_json(await _read_body(request))
            joined = await self._in_thread(self._verified, self.provider, given)
        except ValidationError as error:
            return _error(422, _invalid(error))
        except errors.RecollectError as error:
            return _error(status_of(error), error)
        except ClientDisconnect:
            return Response(status_code=499)
        return Response(_JOINED.dump_json(joined), media_type="application/json")

    def _verified(self, provider: "OpenIdProvider", given: SignInBody) -> Joined:
        self.limiter.check_join()
        identity, at = provider.identity(given.id_token), self.clock()
        person = (
            self._invited(given.code, identity) if given.code else self.backend.directory.linked(identity)
        )
        if person is None:
            raise errors.TokenRefused(
                "Nobody in a team signs in with this identity yet.",
                "Ask an admin for an invitation, and give its code with --code once.",
            )
        return self._joined(person, given.client, at + SIGNED_IN)

    def _accept(self, given: JoinBody) -> Joined:
        self.limiter.check_join()
        return self._joined(self._invited(given.code), given.client)

    def _invited(self, code: str, identity: str | None = None) -> Person:
        person = self.backend.directory.accept(hash_of(code), self.clock(), identity)
        if person is None:
            raise errors.TokenRefused(
                "This invitation is unknown, used or expired.", "Ask an admin of your team for another one."
            )
        return person

    def _joined(self, person: Person, client: str, expires: datetime | None = None) -> Joined:
        """Return a new token of a person who has just signed in."""
        directory, at = self.backend.directory, self.clock()
        secret, hashed = new_secret()
        directory.put_token(
            Token(m.new_id(at), person.tenant, person.id, client, hashed, at, expires_at=expires)
        )
        identity = directory.identify(hashed, at)
        assert identity is not None
        me = WhoAmI(
            person.tenant,
            directory.team_name(person.tenant),
            person.id,
            person.name,
            person.role,
            "",
            tuple(sorted(identity.actions)),
            None,
            {},
        )
        return Joined(secret, me)

    async def _nothing(self, request: Request) -> Response:
        """Answer as the interface does, and not with a page: operations are sent by POST."""
        return _error(404, errors.RecollectError("There is nothing to read at this address."))

    async def _another_interface(self, request: Request) -> Response:
        """Answer a client of another time, whichever interface it knows."""
        message = f"This server speaks {API} of its interface, and has Recollect {__version__}."
        return _error(404, errors.TeamError(message, "Use the same version of Recollect on both sides."))

    async def _openapi(self, request: Request) -> Response:
        return JSONResponse(document())

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__, "api": API})

    async def _ready(self, request: Request) -> Response:
        try:
            is_ready = await self._in_thread(self.backend.ready)
        except (errors.RecollectError, OSError):
            is_ready = False
        return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)

    async def _metrics(self, request: Request) -> Response:
        return PlainTextResponse(self.metrics.text(self.feed.streams), media_type="text/plain; version=0.0.4")


def check_allowed(operation: Operation, identity: Identity, actor: str = "user") -> None:
    """Raise `OutOfScope` if the token or the role does not allow the operation, or the person no longer agrees to it.

    `actor` is who acts, as the client says: an agent that uses its person's token manages nobody either.
    """
    if operation.action not in identity.actions:
        raise errors.OutOfScope(
            f"This token does not allow to {operation.name.replace('_', ' ')}.",
            f"It needs the action {operation.action}.",
        )
    if operation.action != READ and identity.role is Role.READER and not operation.is_personal:
        raise errors.OutOfScope("A reader changes nothing.", "Ask an admin for the role of a member.")
    is_agent = m.is_agent(actor_of(identity, actor))
    if operation.action == ADMIN and (is_agent or not identity.role.is_admin):
        raise errors.OutOfScope("Only an admin may do this.", "Ask an admin of your team.")
    if operation.is_write and not (operation.in_directory or operation.name in _REMOVING):
        check_agrees(identity)


def check_agrees(identity: Identity) -> None:
    """Raise `OutOfScope` if the person no longer agrees that something of theirs is stored."""
    if not identity.agrees:
        raise errors.OutOfScope(
            "You no longer agree that the server stores what is yours.",
            "Run `recollect team consent server` to agree again.",
        )


def _refuse_old(request: Request) -> None:
    """Raise `ClientTooOld` for a client whose requests are no longer understood."""
    version = request.headers.get(VERSION_HEADER, "")[:20]
    if is_too_old(version):
        raise errors.ClientTooOld(
            f"Your Recollect {version} is too old for this server, which has {__version__}.",
            f"Upgrade it to {'.'.join(map(str, OLDEST_CLIENT))} or newer: pip install --upgrade recollect",
        )


def status_of(error: errors.RecollectError) -> int:
    return next(status for kind, status in _STATUS.items() if isinstance(error, kind))


async def _read_body(request: Request) -> bytes:
    """Return the body. Raise `BodyTooSlow` if it does not come in time, and what `_whole_body` raises."""
    with anyio.move_on_after(BODY_SECONDS):
        return await _whole_body(request)
    raise BodyTooSlow(f"The request did not come within {BODY_SECONDS:g} seconds.", "Send it again.")


async def _whole_body(request: Request) -> bytes:
    """Return the body. Raise `BodyTooLarge` without reading all of it."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise BodyTooLarge(f"The request is larger than {LARGEST_BODY // 1024} KB.", "Send less.")
        parts.append(part)
    return b"".join(parts)


def _embed_first(engine: Engine, values: Mapping[str, Any]) -> None:
    """Embed what is about to be written before the transaction, which then finds the vector in the embedder's cache."""
    text = values.get("content") or getattr(values.get("draft"), "content", None)
    if isinstance(text, str):
        try:
            engine.embedder.embed([clean_text(text)[0]])
        except errors.RecollectError:
            return  # the operation itself says what is wrong


def _digest(given: CallBody) -> str:
    """Return what a repeated request has in common with the first; it may have more vectors."""
    said = repr((given.place, given.arguments))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _kept(kept: str, digest: str, *, is_secret: bool = False) -> bytes:
    """Return the answer that was kept. Raise `Refused` if it is of another request, or has a secret that nobody keeps."""
    of, answer = json.loads(kept)
    if of != digest:
        raise errors.Refused(
            "This idempotency key was used for another request.", "Use a new key for each request."
        )
    if is_secret:
        raise errors.Refused(
            "This was asked for already, and its answer was not kept: it has a secret.",
            "If you have not got it, withdraw the invitation or revoke the token if there is one, and make another.",
        )
    if answer is None:
        raise errors.Refused(
            "This was done already, and its answer was not kept: it told of somebody who was erased.",
            "It needs no repetition.",
        )
    return str(answer).encode()


def _invalid(error: ValidationError) -> errors.RecollectError:
    """Return the first problem, without the value: it may be a text that nobody should see in a log."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:200]
    return errors.RecollectError(
        f"The request is not valid: {where}: {first['msg']}."[:400], f"See {PREFIX}/openapi.json."
    )


def _limits_in(left: Allowance | None) -> dict[str, str]:
    """Return the headers that say what is left of the caller's limits."""
    if left is None:
        return {}
    names = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")
    return {name: str(value) for name, value in zip(names, left, strict=True)}


def _error(status: int, error: errors.RecollectError) -> Response:
    headers = {
        429: {"retry-after": str(getattr(error, "seconds", 1))},
        408: {"connection": "close"},
    }.get(status)
    return JSONResponse({"error": error_json(error)}, status, headers=headers)
