"""How tools are registered: each says when to use it, calls the engine, and answers as text and with stable keys."""

import functools
from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import mcp_types as wire
from mcp.server import MCPServer

from recollect.errors import RecollectError
from recollect.interfaces.mcp.requests import McpRequests, ToolContext

Answer = wire.CallToolResult
Tool = Callable[..., Coroutine[Any, Any, Answer]]
Work = Callable[[ToolContext], tuple[Any, str]]  # the structured answer, and the same as text

READS = wire.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
ADDS = wire.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
CHANGES = wire.ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)


_called: ContextVar[tuple[str, Mapping[str, Any]]] = ContextVar(
    "called"
)  # the running tool, and its arguments


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Registers tools with the server and runs them."""

    server: MCPServer[Any]
    requests: McpRequests

    async def answer(self, work: Work) -> Answer:
        """Return what `work` answers; a `RecollectError` becomes an answer too."""
        name, given = _called.get()

        def recorded(context: ToolContext) -> tuple[Any, str]:
            answered = False
            try:
                answer = work(context)
                answered = True
                return answer
            finally:
                context.engine.episodes.record(
                    f"recollect:{name}", given, session=context.client.session or "", success=answered
                )

        try:
            result, text = await self.requests.run(recorded)
        except RecollectError as error:
            return wire.CallToolResult(content=[wire.TextContent(text=error_text(error))], is_error=True)
        from recollect.model import as_json

        return wire.CallToolResult(content=[wire.TextContent(text=text)], structured_content=as_json(result))

    def tool(self, title: str, hints: wire.ToolAnnotations) -> Callable[[Tool], Tool]:
        """Register the decorated function as a tool; its docstring tells agents when to use it."""

        def add(made: Tool) -> Tool:
            description = " ".join((made.__doc__ or "").split())

            @functools.wraps(made)
            async def called(**given: Any) -> Answer:
                _called.set((made.__name__, given))
                return await made(**given)

            self.server.add_tool(
                called, title=title, description=description, annotations=hints, structured_output=True
            )
            return made

        return add


def error_text(error: RecollectError) -> str:
    """Return the message and the hint of an error."""
    return f"{error.message} {error.hint}".strip()
