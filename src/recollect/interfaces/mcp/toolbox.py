"""How a tool is made: it says when to use it, hands the work to the engine, and answers in text and in stable keys."""

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
)  # the tool at work, and what it was given


@dataclass(frozen=True, slots=True)
class Toolbox:
    server: MCPServer[Any]
    requests: McpRequests

    async def answer(self, work: Work) -> Answer:
        """What `work` answers; an error of ours is an answer too."""
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
            return wire.CallToolResult(content=[wire.TextContent(text=tell(error))], is_error=True)
        from recollect.model import as_json

        return wire.CallToolResult(content=[wire.TextContent(text=text)], structured_content=as_json(result))

    def tool(self, title: str, hints: wire.ToolAnnotations) -> Callable[[Tool], Tool]:
        """Adds the function to the server's tools; its docstring tells agents when to use it."""

        def add(made: Tool) -> Tool:
            said = " ".join((made.__doc__ or "").split())

            @functools.wraps(made)
            async def called(**given: Any) -> Answer:
                _called.set((made.__name__, given))
                return await made(**given)

            self.server.add_tool(
                called, title=title, description=said, annotations=hints, structured_output=True
            )
            return made

        return add


def tell(error: RecollectError) -> str:
    return f"{error.message} {error.hint}".strip()
