"""Standard input and output as a connection that answers what it was asked before it ends.

The SDK cancels the requests in progress as soon as the client closes its stream. A client that writes its requests,
closes the stream and reads (`printf … | recollect mcp`) would lose answers, so the end of the stream is held back
until they are written.
"""

from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as wire
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage

LAST_ANSWERS_SECONDS = 60.0  # that one more answer may take once the client has closed its stream

Item = SessionMessage | Exception


class Unanswered:
    """What each side has asked and the other has not answered yet."""

    def __init__(self) -> None:
        self._by_client = 0  # requests that are neither answered nor cancelled
        self._by_server: set[wire.RequestId | None] = set()
        self._ended = False
        self._changed = anyio.Event()

    def received(self, item: Item) -> None:
        if not isinstance(item, SessionMessage):
            return
        if isinstance(item.message, wire.JSONRPCRequest):
            self._by_client += 1
            item.metadata = ServerMessageMetadata(on_request_unanswered=self._cancelled)
        elif isinstance(item.message, wire.JSONRPCResponse | wire.JSONRPCError):
            self._by_server.discard(item.message.id)

    def sending(self, message: wire.JSONRPCMessage) -> None:
        if isinstance(message, wire.JSONRPCRequest):
            if self._ended:
                raise anyio.ClosedResourceError  # nobody could answer it any more
            self._by_server.add(message.id)

    def end(self) -> list[SessionMessage]:
        """Answers to the server's requests, which the client will not give any more."""
        self._ended = True
        error = wire.ErrorData(code=wire.CONNECTION_CLOSED, message="Connection closed")
        return [
            SessionMessage(wire.JSONRPCError(jsonrpc="2.0", id=request, error=error))
            for request in self._by_server
        ]

    def sent(self, message: wire.JSONRPCMessage) -> None:
        if isinstance(message, wire.JSONRPCResponse | wire.JSONRPCError) and message.id is not None:
            self._settle()

    async def _cancelled(self) -> None:
        self._settle()

    def _settle(self) -> None:
        self._by_client -= 1
        self._changed.set()

    async def wait_for_none(self, seconds: float) -> None:
        """Wait until the client has all its answers, or none was taken for so long."""
        while self._by_client > 0:
            self._changed = anyio.Event()
            with anyio.move_on_after(seconds) as limit:
                await self._changed.wait()
            if limit.cancelled_caught:
                return


class Answers:
    """The stream that the server writes to; notes what is asked and answered."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        self._unanswered.sending(item.message)
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
        for item in unanswered.end():
            await requests.send(item)
        await unanswered.wait_for_none(LAST_ANSWERS_SECONDS)
