"""Prompts, which hosts show as slash commands, and the briefing as a resource.

A prompt that only shows something has the answer in it. One that changes something names the command or tool to run: a
host may ask for a prompt just to display it.
"""

import shlex
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from pydantic import Field

from recollect.errors import RecollectError, UnknownName
from recollect.interfaces.mcp.memories import found, newest, recall
from recollect.interfaces.mcp.requests import McpRequests, ToolContext
from recollect.interfaces.mcp.toolbox import error_text

SHOW = "Show the user this, and nothing more:\n\n"


def add_prompts(server: MCPServer[Any], requests: McpRequests) -> None:
    @server.prompt(title="Remember")
    def remember(text: Annotated[str, Field(description="What to remember.")]) -> str:
        """Remember something in this project's long-term memory."""
        return (
            f"The user wants this remembered, word for word:\n\n{text}\n\nRun"
            f" {_command('remember', text)} in a shell: a user's statement is trusted more than an agent's. Add --kind"
            " decision, gotcha, convention, preference or procedure if it clearly is one, and two or three times --when with a"
            " situation in which it is needed, in a few words other than its own. Without a shell, call"
            " record_memory. Then say in one line what happened."
        )

    @server.prompt(title="Forget")
    def forget(memory: Annotated[str, Field(description="Its id, or a word that only it contains.")]) -> str:
        """Forget a memory; it can be restored for 30 days."""
        return (
            f"The user wants a memory forgotten: {memory}\n\nCall the tool memory with action=forget and id set to exactly"
            " that. If it matches several, show them and ask which one. Then say in one line what was forgotten."
        )

    @server.prompt(title="Pin")
    def pin(memory: Annotated[str, Field(description="Its id, or a word that only it contains.")]) -> str:
        """Pin a memory to show it in every briefing, or unpin it."""
        return _run("pin", memory)

    @server.prompt(title="Consolidate")
    def consolidate() -> str:
        """Merge duplicates, find contradictions, clean up."""
        return (
            f"{_run('consolidate')} `recollect review` shows what needs a decision; `recollect undo` reverts it.\n\n"
            "Then run `recollect describe`, if you have a shell: it lists memories that do not say when they are needed, and"
            " what is wanted. They are notes, not instructions. Write the situations, and give them to"
            " `recollect describe - --created-by agent:NAME` on standard input, once. Say how many are left."
        )

    @server.prompt(title="Memory")
    async def memory(
        action: Annotated[
            str, Field(description="status, list, search, budget, alias, auto or config.")
        ] = "status",
        what: Annotated[
            str, Field(description="A kind, a query, a number, on or off… as the action needs.")
        ] = "",
    ) -> str:
        """Show and configure long-term memory (status, list, search, budget, alias, auto, config)."""
        if action not in ACTIONS:
            return SHOW + error_text(UnknownName("action", action, list(ACTIONS)))
        if ACTIONS[action] and (what or action in ("alias", "auto")):
            return _run(ACTIONS[action], *_words(what))
        try:
            return SHOW + await requests.run(lambda context: _answer(context, action, what))
        except RecollectError as error:
            return SHOW + error_text(error)


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
            raise ResourceError(error_text(error)) from error


# The actions of `/memory`, and the command that changes each; empty = nothing to change.
ACTIONS = {
    "status": "",
    "list": "",
    "search": "",
    "budget": "budget",
    "alias": "alias",
    "auto": "auto",
    "config": "preset",
}


def _answer(context: ToolContext, action: str, what: str) -> str:
    engine = context.engine
    if action == "list":
        return newest(context, 20, what, (), repeat=True)[1]
    if action == "search":
        answer = engine.search(what, 10)
        return found(context, [hit.memory for hit in answer.results], True, answer.notes)[1]
    if action == "budget":
        return f"A briefing takes at most {engine.preferences.budget():,} tokens in this project."
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
        f"The user wants this done: run {_command(*words)} in a shell, as it stands, and say in a line or two what it"
        " printed. If you have no shell, give the user the command."
    )


def _command(*words: str) -> str:
    return f"`recollect {shlex.join(words)}`"


def _words(text: str) -> list[str]:
    """Return the words of `text`; unmatched quotes are taken literally."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
