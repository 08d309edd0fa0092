"""Serve one MCP session, and answer every request before it ends.

The SDK cancels the requests in progress as soon as the client closes its stream. A client that writes its requests,
closes the stream and then reads (`printf … | recollect mcp`) would lose answers, so the end of the stream is held back
until they are written.
"""

from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as wire
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage

LAST_ANSWERS_SECONDS = 60.0  # how long to wait for each remaining answer after the client closes its stream

Item = SessionMessage | Exception


class PendingRequests:
    """Requests without an answer, in both directions."""

    def __init__(self) -> None:
        self._from_client = 0  # neither answered nor cancelled
        self._from_server: set[wire.RequestId | None] = set()
        self._is_closed = False  # by the client
        self._changed = anyio.Event()

    def receive(self, item: Item) -> None:
        if not isinstance(item, SessionMessage):
            return
        if isinstance(item.message, wire.JSONRPCRequest):
            self._from_client += 1
            item.metadata = ServerMessageMetadata(on_request_unanswered=self._cancel)
        elif isinstance(item.message, wire.JSONRPCResponse | wire.JSONRPCError):
            self._from_server.discard(item.message.id)

    def send(self, message: wire.JSONRPCMessage) -> None:
        if isinstance(message, wire.JSONRPCRequest):
            if self._is_closed:
                raise anyio.ClosedResourceError  # the SDK reports it to whoever asked as a closed connection
            self._from_server.add(message.id)

    def sent(self, message: wire.JSONRPCMessage) -> None:
        if isinstance(message, wire.JSONRPCResponse | wire.JSONRPCError) and message.id is not None:
            self._settle()

    def close(self) -> list[SessionMessage]:
        """Return an error for each request of the server's: the client cannot answer any more."""
        self._is_closed = True
        error = wire.ErrorData(code=wire.CONNECTION_CLOSED, message="Connection closed")
        return [
            SessionMessage(wire.JSONRPCError(jsonrpc="2.0", id=request, error=error))
            for request in self._from_server
        ]

    async def wait_until_answered(self, seconds: float) -> None:
        """Wait until every request of the client's is answered, or no answer is sent for `seconds`."""
        while self._from_client > 0:
            self._changed = anyio.Event()
            with anyio.move_on_after(seconds) as limit:
                await self._changed.wait()
            if limit.cancelled_caught:
                return

    async def _cancel(self) -> None:
        self._settle()

    def _settle(self) -> None:
        self._from_client -= 1
        self._changed.set()


class CountingWriteStream:
    """The stream that the server writes to; keeps `PendingRequests` up to date."""

    def __init__(self, stream: WriteStream[SessionMessage], pending: PendingRequests) -> None:
        self._stream = stream
        self._pending = pending

    async def send(self, item: SessionMessage, /) -> None:
        self._pending.send(item.message)
        try:
            await self._stream.send(item)
        finally:
            self._pending.sent(item.message)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def serve_streams(
    server: MCPServer[Any], incoming: ReadStream[Item], outgoing: WriteStream[SessionMessage]
) -> None:
    """Serve one client until `incoming` ends and it has its answers."""
    lowlevel = server._lowlevel_server
    pending = PendingRequests()
    async with anyio.create_task_group() as tasks:
        requests, received = anyio.create_memory_object_stream[Item](0)
        tasks.start_soon(_forward, incoming, requests, pending)
        options = lowlevel.create_initialization_options()
        await lowlevel.run(received, CountingWriteStream(outgoing, pending), options)


async def _forward(
    incoming: ReadStream[Item], requests: MemoryObjectSendStream[Item], pending: PendingRequests
) -> None:
    async with requests:
        async with incoming:
            async for item in incoming:
                pending.receive(item)
                await requests.send(item)
        for item in pending.close():
            await requests.send(item)
        await pending.wait_until_answered(LAST_ANSWERS_SECONDS)
