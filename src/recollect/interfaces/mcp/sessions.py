"""MCP sessions over sockets, each with its own client, folder and project: in the daemon, or in the relay's own process.

A session is served by one task of an event loop that all sessions share, in a thread of its own; the work of its requests
runs in worker threads. The lines on the socket are those of the protocol. The last line says `bye` and how many lines
were taken, so that the client knows what it must send to the next server.
"""

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import mcp_types as wire
from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from recollect.interfaces.daemon_client.caller import Caller
from recollect.interfaces.daemon_client.protocol import LARGEST
from recollect.interfaces.engine_pool import EngineOpener, EnginePool
from recollect.interfaces.mcp.requests import McpRequests, daemon_embedder
from recollect.interfaces.mcp.server import build_server
from recollect.interfaces.mcp.streams import Item, serve_streams

if TYPE_CHECKING:
    from recollect.memory.maintenance.consolidate.throttle import WorkCounter

logger = logging.getLogger(__name__)

STOP_SECONDS = 2.0  # that the current requests have when sessions are stopped
MAX_OPEN = 4  # engines of a server that runs in the relay's process


class McpSessions:
    """Serves any number of sessions with the engines of one pool."""

    def __init__(
        self,
        home: Path,
        engines: EnginePool,
        environment: Mapping[str, str],
        work: "WorkCounter | None" = None,
    ) -> None:
        """`environment` holds the settings that a client does not give; `work` counts requests that are in progress."""
        self._home = home
        self._engines = engines
        self._environment = environment
        self._work = work
        self._lock = threading.Lock()
        self._stack = contextlib.ExitStack()
        self._portal: BlockingPortal | None = None
        self._sessions: dict[int, tuple[anyio.CancelScope, anyio.CancelScope]] = {}  # reading, and all of it
        self._is_closing = False
        self.open = 0  # sessions

    def connect(self, caller: Caller) -> socket.socket:
        """Start a session and return the client's end of its socket."""
        ours, theirs = socket.socketpair()
        self.start(ours, caller)
        return theirs

    def start(self, connection: socket.socket, caller: Caller) -> None:
        """Serve a session on a connection until either side closes it; return at once."""
        with self._lock:
            if self._portal is None:
                self._portal = self._stack.enter_context(
                    start_blocking_portal("asyncio", name="recollect-mcp")
                )
            self.open += 1
        self._portal.start_task_soon(self._serve, connection, caller)

    def close(self) -> None:
        """Answer the current requests, then end all sessions; clients send the other ones to the next server."""
        with self._lock:
            portal, self._portal = self._portal, None
            self._is_closing = True
        if portal is not None:
            portal.call(self._stop_reading)
        self._stack.close()  # waits for the sessions

    async def _stop_reading(self) -> None:
        for reading, session in self._sessions.values():
            session.deadline = anyio.current_time() + STOP_SECONDS
            reading.cancel()

    async def _serve(self, connection: socket.socket, caller: Caller) -> None:
        try:
            connection.setblocking(False)
            reader, writer = await asyncio.open_connection(sock=connection, limit=LARGEST)
            try:
                await self._session(reader, writer, caller)
            finally:
                with contextlib.suppress(OSError):
                    writer.close()
                    await writer.wait_closed()
        except Exception:  # other sessions must go on
            logger.exception("an MCP session failed")
        finally:
            with self._lock:
                self.open -= 1

    async def _session(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, caller: Caller
    ) -> None:
        requests = McpRequests(
            str(self._home),
            caller.details.get("project") or None,
            engines=self._engines,
            folder=Path(caller.folder or "/"),
            session=caller.details.get("session") or None,
            environment={**self._environment, **caller.variables},
            work=self._work,
        )
        incoming, received = anyio.create_memory_object_stream[Item](0)
        outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        lines = ReceivedLines(reader)
        with anyio.CancelScope() as session:
            self._sessions[id(session)] = lines.reading, session
            if self._is_closing:
                lines.reading.cancel()
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(lines.pass_on, incoming)
                    tasks.start_soon(_write, writer, to_send)
                    async with outgoing:
                        await serve_streams(build_server(requests), received, outgoing)
            finally:
                del self._sessions[id(session)]
        with contextlib.suppress(OSError):
            writer.write(f"bye {lines.taken}\n".encode())
            await writer.drain()


class ReceivedLines:
    """The lines that a client sends."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.taken = 0
        self.reading = anyio.CancelScope()  # cancelled when no more lines are to be taken

    async def pass_on(self, incoming: MemoryObjectSendStream[Item]) -> None:
        """Pass on messages until the client closes the connection, or `reading` is cancelled."""
        async with incoming:
            with self.reading:
                try:
                    while line := await self._reader.readline():
                        self.taken += 1
                        with anyio.CancelScope(shield=True):
                            await incoming.send(_message(line))
                except (ConnectionError, ValueError):  # the client has gone, or its line is too long
                    pass


def serve_in_process(home: str) -> McpSessions:
    """Return sessions with engines of their own, for a relay without a daemon."""
    from recollect.config import load_settings
    from recollect.interfaces.daemon_client.log import write_log

    with contextlib.suppress(OSError):
        write_log(Path(home))
    opener = EngineOpener(lambda: load_settings(home), daemon_embedder)
    return McpSessions(Path(home), EnginePool(opener, max_open=MAX_OPEN), os.environ)


def _message(line: bytes) -> Item:
    try:
        return SessionMessage(wire.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _write(writer: asyncio.StreamWriter, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with messages:
        async for item in messages:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                writer.write(text.encode() + b"\n")
                await writer.drain()
            except OSError:  # the client has gone: the rest goes nowhere
                continue
