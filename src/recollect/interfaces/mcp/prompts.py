"""Prompts, which hosts show as slash commands, and the briefing as a resource.

What only looks is answered in the prompt itself. What changes something says which command or tool does it: a host
may ask for a prompt just to show it.
"""

import shlex
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from pydantic import Field

from recollect.errors import RecollectError, UnknownName
from recollect.interfaces.mcp.memories import found, newest, recall
from recollect.interfaces.mcp.requests import McpRequests, ToolContext
from recollect.interfaces.mcp.toolbox import tell

SHOW = "Show the user this, and nothing more:\n\n"


def add_prompts(server: MCPServer[Any], requests: McpRequests) -> None:
    @server.prompt(title="Remember")
    def remember(text: Annotated[str, Field(description="What to keep.")]) -> str:
        """Keep something in this project's long-term memory."""
        return (
            f"The user wants this kept in long-term memory, word for word:\n\n{text}\n\nRun"
            f" {_command('remember', text)} in a shell: what a user says weighs more than what you observe. Add --kind"
            " decision, gotcha, convention, preference or procedure if it plainly is one. Without a shell, call"
            " record_memory. Then tell in one line what became of it."
        )

    @server.prompt(title="Forget")
    def forget(memory: Annotated[str, Field(description="Its id, or a word that only it has.")]) -> str:
        """Forget a memory; it can be restored for 30 days."""
        return (
            f"The user wants a memory forgotten: {memory}\n\nCall the tool memory with action=forget and id set to exactly"
            " that. If it fits several, show them and ask which one. Then tell in one line what was forgotten."
        )

    @server.prompt(title="Pin")
    def pin(memory: Annotated[str, Field(description="Its id, or a word that only it has.")]) -> str:
        """Pin a memory so that it stands in every briefing, or unpin it."""
        return _run("pin", memory)

    @server.prompt(title="Consolidate")
    def consolidate() -> str:
        """Merge what says the same, find contradictions, tidy up."""
        return f"{_run('consolidate')} `recollect review` shows what waits for the user; `recollect undo` takes it back."

    @server.prompt(title="Memory")
    async def memory(
        action: Annotated[
            str, Field(description="status, list, search, budget, alias, auto or config.")
        ] = "status",
        what: Annotated[
            str, Field(description="A kind, a query, a number, on or off… as the action needs.")
        ] = "",
    ) -> str:
        """Look at long-term memory and set it up (status, list, search, budget, alias, auto, config)."""
        if action not in ACTIONS:
            return SHOW + tell(UnknownName("action", action, list(ACTIONS)))
        if ACTIONS[action] and (what or action in ("alias", "auto")):
            return _run(ACTIONS[action], *_words(what))
        try:
            return SHOW + await requests.run(lambda context: _look(context, action, what))
        except RecollectError as error:
            return SHOW + tell(error)


def add_resources(server: MCPServer[Any], requests: McpRequests) -> None:
    @server.resource(
        "recollect://briefing",
        name="briefing",
        title="Briefing",
        mime_type="text/plain",
    )
    async def briefing() -> str:
        """What an agent should know about this project before it begins."""
        try:
            return await requests.run(lambda context: recall(context, "", ())[1])
        except RecollectError as error:
            raise ResourceError(tell(error)) from error


# What a user may ask of `/memory`, and the command that changes it; empty where there is nothing to change.
ACTIONS = {
    "status": "",
    "list": "",
    "search": "",
    "budget": "budget",
    "alias": "alias",
    "auto": "auto",
    "config": "preset",
}


def _look(context: ToolContext, action: str, what: str) -> str:
    engine = context.engine
    if action == "list":
        return newest(context, 20, what, (), repeat=True)[1]
    if action == "search":
        answer = engine.search(what, 10)
        return found(context, [hit.memory for hit in answer.results], True, answer.notes)[1]
    if action == "budget":
        return f"A briefing takes at most {engine.budget():,} tokens in this project."
    if action == "config":
        return f"Preset: {engine.sessions.preset()}."
    stats = engine.stats()
    kinds = ", ".join(f"{count} {kind}" for kind, count in stats["by_kind"].items())
    name = stats["project"]["name"] if stats["project"] else "no project"
    return (
        f"{name}: {stats['memories']} memories ({kinds or 'none yet'}), {stats['conflicts']} open conflicts."
    )


def _run(*words: str) -> str:
    return (
        f"The user wants this done: run {_command(*words)} in a shell, as it stands, and tell in a line or two what it"
        " printed. If you have no shell, give the user the command."
    )


def _command(*words: str) -> str:
    return f"`recollect {shlex.join(words)}`"


def _words(text: str) -> list[str]:
    """`text` as words; quotes that do not match are taken as they are."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
