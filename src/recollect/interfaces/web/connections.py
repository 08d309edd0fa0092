"""Connections of browsers: nobody can hold many open by sending slowly. The team's server has them too."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class ImpatientConnections(H11Protocol):
    """Closes a connection on which no request begins in time."""

    head_seconds = 60.0  # in which a connection must have sent the head of its next request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._last = self.cycle  # the request that was the last one when we looked; None at first
        self._look = self.loop.call_later(self.head_seconds, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        super().connection_lost(exc)

    def _close_if_idle(self) -> None:
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.cycle is self._last:
            self.transport.close()
            return
        self._last = self.cycle
        self._look = self.loop.call_later(self.head_seconds, self._close_if_idle)
