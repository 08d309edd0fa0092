"""How tools are registered: each says when to use it, calls the engine, and answers as text and with stable keys.

Hosts send the list of tools with every request to the model, so it is kept short: no titles of arguments, no defaults
that say nothing, no schemas of answers (docs/mcp.md has their keys).
"""

import functools
import json
from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import mcp_types as wire
from mcp.server.mcpserver.context import Context as CallContext
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from pydantic import Field, ValidationError

from recollect.errors import RecollectError, Refused
from recollect.interfaces.mcp.requests import McpRequests, ToolContext

Answer = wire.CallToolResult
ToolFunction = Callable[..., Coroutine[Any, Any, Answer]]
Work = Callable[[ToolContext], tuple[Any, str]]  # the structured answer, and the same as text

# What the protocol assumes without a hint is left out: that a tool changes things, may destroy some, and is not
# idempotent.
READS = wire.ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = wire.ToolAnnotations(destructive_hint=False, open_world_hint=False)
CHANGES = wire.ToolAnnotations(open_world_hint=False)

# The tools that agents need most. The others are offered with the setting `mcp_tools = "all"`.
CORE = frozenset({"search_memory", "record_memory", "memory", "code_graph"})

LARGEST_ARGUMENTS = 100_000  # characters of all arguments together; a memory has at most 2 KB

_called: ContextVar[tuple[str, Mapping[str, Any]]] = ContextVar(
    "called"
)  # the running tool, and its arguments


class LeanTool(Tool):
    """A tool with a short description, which refuses arguments that it does not know instead of dropping them."""

    other_names: dict[str, str] = Field(default_factory=dict, exclude=True)  # accepted names of arguments

    async def run(
        self, arguments: dict[str, Any], context: CallContext[Any, Any], convert_result: bool = False
    ) -> Any:
        try:
            return await super().run(self._named(arguments), context, convert_result)
        except RecollectError as error:
            return failed(error_text(error))
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            return failed(f"{self.name} cannot be called like this. {_mistakes(error.__cause__)}")

    def _named(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments under the names of the schema. Raise `Refused` for unknown ones, and for half a character."""
        try:
            json.dumps(arguments, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise Refused(
                "An argument contains half of a surrogate pair, which is not a character.",
                "Send the whole character, or leave it out.",
            ) from error
        size = len(json.dumps(arguments, ensure_ascii=False))
        if size > LARGEST_ARGUMENTS:
            raise Refused(
                f"The arguments have {size:,} characters; at most {LARGEST_ARGUMENTS:,} are accepted.",
                "Send the part that matters.",
            )
        known = self.fn_metadata.arg_model.model_fields
        named: dict[str, Any] = {}
        for name, value in arguments.items():
            target = name if name in known else self.other_names.get(name)
            if target is None:
                raise Refused(
                    f"{self.name} has no argument {name[:60]!r}.", f"Its arguments: {', '.join(known)}."
                )
            if target in named:
                raise Refused(f"{name!r} and {target!r} are the same argument.", "Give one of them.")
            named[target] = value
        return named


@dataclass(slots=True)
class Toolbox:
    """Collects the tools of a server, and runs them."""

    requests: McpRequests
    offered: frozenset[str] | None = None  # names of tools; None = all
    tools: list[Tool] = field(default_factory=list)

    async def answer(self, work: Work) -> Answer:
        """Return what `work` answers; a `RecollectError` becomes an answer too."""
        name, given = _called.get()

        def recorded(context: ToolContext) -> tuple[Any, str]:
            answered = False
            try:
                result, text = work(context)
                answered = True
                return (result if context.structures_answers else None), text
            finally:
                context.engine.episodes.record(
                    f"recollect:{name}", given, session=context.client.session or "", success=answered
                )

        try:
            result, text = await self.requests.run(recorded)
        except RecollectError as error:
            return failed(error_text(error))
        from recollect.model import as_json

        structured = None if result is None else as_json(result)
        return wire.CallToolResult(content=[wire.TextContent(text=text)], structured_content=structured)

    def tool(
        self, title: str, hints: wire.ToolAnnotations, **other_names: str
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Register the decorated function as a tool; its docstring tells agents when to use it.

        `other_names` are further names of arguments that it accepts, with what each stands for.
        """

        def add(made: ToolFunction) -> ToolFunction:
            if self.offered is not None and made.__name__ not in self.offered:
                return made

            @functools.wraps(made)
            async def called(**given: Any) -> Answer:
                _called.set((made.__name__, given))
                return await made(**given)

            tool = _described(made, title, hints).model_copy(update={"fn": called})
            tool.other_names = other_names
            self.tools.append(tool)
            return made

        return add


_known: dict[CodeType, LeanTool] = {}


def _described(made: ToolFunction, title: str, hints: wire.ToolAnnotations) -> LeanTool:
    """Return the tool without its function. Its schema is that of the source code, and takes longer than all else here.

    A daemon has a server for each session, and each defines the functions anew.
    """
    if made.__code__ not in _known:
        tool = LeanTool.from_function(
            made,
            title=title,
            description=" ".join((made.__doc__ or "").split()),
            annotations=hints,
            structured_output=False,  # models never see the schema, and hosts load it with every list
        )
        assert isinstance(tool, LeanTool)
        tool.parameters = lean_schema(tool.parameters)
        _known[made.__code__] = tool.model_copy(update={"fn": None})  # which holds a server
    return _known[made.__code__]


UNLISTED = {"unlisted": True}  # `json_schema_extra` of an argument that is accepted, but not worth its tokens
ASKED = {"asked": True}  # the same of one that models are told to give, and may leave out all the same


def lean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments without what tells a model nothing."""
    properties = {
        name: {
            key: value
            for key, value in details.items()
            if key not in ("title", "minimum", "maximum", "asked") and not (key == "default" and not value)
        }
        for name, details in schema["properties"].items()
        if not details.get("unlisted")
    }
    lean: dict[str, Any] = {"type": "object", "properties": properties}
    asked = [name for name, details in schema["properties"].items() if details.get("asked")]
    required = [*schema.get("required", ()), *asked]
    return lean | ({"required": required} if required else {})


def failed(text: str) -> Answer:
    return wire.CallToolResult(content=[wire.TextContent(text=text)], is_error=True)


def error_text(error: RecollectError) -> str:
    """Return the message and the hint of an error."""
    return f"{error.message} {error.hint}".strip()


def _mistakes(error: ValidationError) -> str:
    """Return what is wrong with the arguments, each with its name."""
    return " ".join(f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}." for mistake in error.errors())
