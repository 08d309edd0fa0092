"""Standard input and output as a connection that answers what it was asked before it ends.

The SDK cancels the requests in progress as soon as the client closes its stream. A client that writes its requests,
closes the stream and reads (`printf … | recollect mcp`) would lose answers, so the end of the stream is held back
until they are written.
"""

from collections import Counter
from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as wire
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

LAST_ANSWERS_SECONDS = 60.0  # that requests still in progress may take once the client has closed its stream

Item = SessionMessage | Exception


class Unanswered:
    """Counts requests by id, until each was answered or cancelled."""

    def __init__(self) -> None:
        self._requests: Counter[str | int] = Counter()
        self._changed = anyio.Event()

    def received(self, item: Item) -> None:
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, wire.JSONRPCRequest):
            self._requests[message.id] += 1
        elif isinstance(message, wire.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._remove((message.params or {}).get("requestId"))

    def sent(self, message: wire.JSONRPCMessage) -> None:
        if isinstance(message, wire.JSONRPCResponse | wire.JSONRPCError):
            self._remove(message.id)

    def _remove(self, request: Any) -> None:
        if isinstance(request, str | int) and self._requests[request] > 0:
            self._requests[request] -= 1
            self._changed.set()

    async def wait_for_none(self) -> None:
        while self._requests.total() > 0:
            self._changed = anyio.Event()
            await self._changed.wait()


class Answers:
    """The stream that the server writes to; notes what was answered once it is written."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        try:
            await self._stream.send(item)
        finally:
            self._unanswered.sent(item.message)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def serve(server: MCPServer[Any]) -> None:
    """Serve one client, until it has closed its stream and has its answers."""
    lowlevel = server._lowlevel_server
    unanswered = Unanswered()
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
        requests, received = anyio.create_memory_object_stream[Item](0)
        tasks.start_soon(_forward, incoming, requests, unanswered)
        await lowlevel.run(received, Answers(outgoing, unanswered), lowlevel.create_initialization_options())


async def _forward(
    incoming: ReadStream[Item], requests: MemoryObjectSendStream[Item], unanswered: Unanswered
) -> None:
    async with requests:
        async with incoming:
            async for item in incoming:
                unanswered.received(item)
                await requests.send(item)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            await unanswered.wait_for_none()
