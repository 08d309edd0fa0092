"""The routes of the team server: operations, health, metrics and the OpenAPI document."""

import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any
from urllib.parse import unquote

import anyio
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

import recollect.errors as errors
import recollect.model as m
from recollect import __version__
from recollect.context.team import Directory, TeamBackend, TeamStore
from recollect.engine import Engine
from recollect.interfaces.team.engines import CallerEngines
from recollect.interfaces.team.feed import Feed
from recollect.interfaces.team.limits import BODY_SECONDS, LARGEST_BODY, RateLimiter
from recollect.interfaces.team.metrics import Metrics
from recollect.interfaces.team.openapi import document
from recollect.interfaces.team.tokens import Verifier
from recollect.memory.write.draft import clean_text
from recollect.model.team import ADMIN, READ, Identity, Role, Token
from recollect.remote.operations import OPERATIONS, Operation
from recollect.remote.results import Joined, WhoAmI
from recollect.remote.secrets import hash_of, new_secret
from recollect.remote.wire import (
    ACTOR_HEADER,
    API,
    IDEMPOTENCY_HEADER,
    NOWHERE,
    PREFIX,
    VERSION_HEADER,
    Place,
    error_json,
)

logger = logging.getLogger("recollect.team")

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
    errors.LimitReached: 429,
    errors.TooManyRequests: 429,
    errors.Refused: 409,
    errors.AmbiguousId: 409,
    errors.StoreError: 503,
    errors.RecollectError: 400,
}


class CallBody(BaseModel):
    """The body of every operation."""

    model_config = ConfigDict(extra="forbid")
    place: Place = NOWHERE
    arguments: dict[str, Any]


class JoinBody(BaseModel):
    """An invitation code, and what the new token is called."""

    model_config = ConfigDict(extra="forbid")
    code: Annotated[str, Field(min_length=1, max_length=200)]
    client: Annotated[str, Field(min_length=1, max_length=100)] = "client"


_JOINED = TypeAdapter(Joined)


@dataclass
class TeamCall:
    """A verified request: see `remote.operations.Call`."""

    identity: Identity
    directory: Directory
    engine: Engine

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
        clock: m.Clock = m.utc_now,
    ) -> None:
        self.backend = backend
        self.engines = engines
        self.limiter = limiter
        self.clock = clock
        self.verifier = Verifier(backend.directory, clock)
        self.feed = Feed(backend, self.verifier.forget)
        self.metrics = Metrics()
        self._threads = anyio.CapacityLimiter(THREADS)

    def starlette(self, more: Sequence[BaseRoute] = ()) -> Starlette:
        """Return the application; `more` routes come after those of the interface."""

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            self.feed.start()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._process_searches)
                yield
                tasks.cancel_scope.cancel()
            self.feed.stop()
            await self._in_thread(self.engines.close)

        routes = [
            Route(f"{PREFIX}/openapi.json", self._openapi),
            Route(f"{PREFIX}/join", self._join, methods=["POST"]),
            Route(f"{PREFIX}/events", self._events),
            Route(f"{PREFIX}/{{name}}", self._operation, methods=["POST"]),
            Route("/health", self._health),
            Route("/ready", self._ready),
            Route("/metrics", self._metrics),
            *more,
        ]
        return Starlette(routes=routes, lifespan=lifespan)

    async def _in_thread(self, run: Callable[..., Any], *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(partial(run, *arguments), limiter=self._threads)

    async def _process_searches(self) -> None:
        """Turn searches into gaps beside the requests: each takes a transaction, for which nobody should wait."""
        while True:
            await anyio.sleep(NOTED_SECONDS)
            await self._in_thread(self.engines.process_searches)

    # the operations

    async def _operation(self, request: Request) -> Response:
        name = request.path_params["name"]
        operation = OPERATIONS.get(name)
        if operation is None:
            return _error(404, errors.RecollectError(f"There is no operation {name[:60]!r}."))
        began = time.perf_counter()
        identity: Identity | None = None
        self.metrics.active += 1
        try:
            identity = await self._in_thread(self.verifier.identify, request.headers.get("authorization"))
            body = await _read_body(request)
            answer = await self._in_thread(self._run, operation, identity, request.headers, body)
            response: Response = Response(answer, media_type="application/json")
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
    ) -> bytes:
        """Run an operation with the rights of the caller; return the JSON of its result."""
        check_allowed(operation, identity)
        self.limiter.check(identity, is_write=operation.is_write)
        given = CallBody.model_validate_json(body)
        arguments = operation.arguments.model_validate(given.arguments)
        values = {name: getattr(arguments, name) for name in operation.arguments.model_fields}
        actor = unquote(headers.get(ACTOR_HEADER, "user")[:400])[:100]
        with self.engines.use(identity, given.place, actor) as engine:
            call = TeamCall(identity, self.backend.directory, engine)
            if not operation.is_write:
                with call.store.reading_together():
                    return operation.result.dump_json(operation.run(call, **values))
            if operation.in_directory:
                answer = operation.result.dump_json(operation.run(call, **values))
                self.verifier.forget()
                return answer
            key = headers.get(IDEMPOTENCY_HEADER, "")[:100]
            _embed_first(engine, values)
            digest = hashlib.sha256(body).hexdigest()[:16]
            with call.store.transaction():
                if key and (kept := call.store.once(f"{operation.name} {key}")) is not None:
                    return _kept(kept, digest)
                answer = operation.result.dump_json(operation.run(call, **values))
                if key:
                    kept = json.dumps([digest, answer.decode()])
                    call.store.keep_answer(f"{operation.name} {key}", kept, self.clock())
            return answer

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

    def _accept(self, given: "JoinBody") -> Joined:
        self.limiter.check_join()
        directory, at = self.backend.directory, self.clock()
        person = directory.accept(hash_of(given.code), at)
        if person is None:
            raise errors.TokenRefused(
                "This invitation is unknown, used or expired.", "Ask an admin of your team for another one."
            )
        secret, hashed = new_secret()
        directory.put_token(Token(m.new_id(at), person.tenant, person.id, given.client, hashed, at))
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
        return PlainTextResponse(self.metrics.text(), media_type="text/plain; version=0.0.4")


def check_allowed(operation: Operation, identity: Identity) -> None:
    """Raise `OutOfScope` if the token or the role does not allow the operation."""
    if operation.action not in identity.actions:
        raise errors.OutOfScope(
            f"This token does not allow to {operation.name.replace('_', ' ')}.",
            f"It needs the action {operation.action}.",
        )
    if operation.action != READ and identity.role is Role.READER:
        raise errors.OutOfScope("A reader changes nothing.", "Ask an admin for the role of a member.")
    if operation.action == ADMIN and not (identity.role.is_admin and not identity.agent):
        raise errors.OutOfScope("Only an admin may do this.", "Ask an admin of your team.")


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


def _kept(kept: str, digest: str) -> bytes:
    of, answer = json.loads(kept)
    if of != digest:
        raise errors.Refused(
            "This idempotency key was used for another request.", "Use a new key for each request."
        )
    return str(answer).encode()


def _invalid(error: ValidationError) -> errors.RecollectError:
    """Return the first problem, without the value: it may be a text that nobody should see in a log."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:200]
    return errors.RecollectError(
        f"The request is not valid: {where}: {first['msg']}."[:400], f"See {PREFIX}/openapi.json."
    )


def _error(status: int, error: errors.RecollectError) -> Response:
    headers = {429: {"retry-after": "1"}, 408: {"connection": "close"}}.get(status)
    return JSONResponse({"error": error_json(error)}, status, headers=headers)
