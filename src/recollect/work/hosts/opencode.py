"""OpenCode: a plugin of ours calls the hook program; `recollect.js` is its source."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.work.hosts.host import Hook, HookKind, HookReply, Host, HostFiles, SessionFiles, ToolHold
from recollect.work.hosts.opencode_database import OPENCODE_DATABASE, unquoted


def _folders(environment: Mapping[str, str], platform: str) -> Mapping[str, str]:
    return {
        "config": f"{environment.get('XDG_CONFIG_HOME') or '~/.config'}/opencode",
        "data": f"{environment.get('XDG_DATA_HOME') or '~/.local/share'}/opencode",
    }


def _server_entry(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(words), "enabled": True}


def _replace_output(response: Any, shorten: Callable[[Any], Any]) -> dict[str, Any]:
    text = response.get("output") if isinstance(response, Mapping) else None
    return {"output": shorten(text)} if isinstance(text, str) else {}


def _refuse(reason: str) -> dict[str, Any]:
    return {"hold": reason}


def _ask(request: str) -> dict[str, Any]:
    return {"ask": request}


OPENCODE = Host(
    name="opencode",
    title="OpenCode",
    program="opencode",
    folder="{config}",
    folders=_folders,
    user_files=HostFiles(
        mcp="{config}/opencode.json",
        mcp_instead="{config}/opencode.jsonc",
        commands="{config}/commands",
        skill="~/.agents/skills/long-term-memory",
        plugin="{config}/plugins/recollect.js",
    ),
    project_files=HostFiles(
        mcp="opencode.json",
        mcp_instead="opencode.jsonc",
        commands=".opencode/commands",
        skill=".agents/skills/long-term-memory",
        plugin=".opencode/plugins/recollect.js",
    ),
    hooks=(
        Hook(
            "session.created",
            HookKind.SESSION_START,
            HookReply.TEXT,
            "adds the briefing to the first request",
        ),
        Hook("experimental.chat.system.transform", HookKind.SESSION_START, HookReply.TEXT),
        Hook("chat.message", HookKind.PROMPT, HookReply.TEXT, "adds memories that match the prompt"),
        Hook(
            "tool.execute.before",
            HookKind.BEFORE_TOOL,
            HookReply.TEXT,
            "holds back what a rule of yours forbids; adds a warning to the output, if one applies",
        ),
        Hook(
            "tool.execute.after",
            HookKind.AFTER_TOOL,
            HookReply.TEXT,
            "records the event, adds memories about a file that was read or changed, or a known fix",
        ),
        # What is added to the request for a summary may not be in the summary: the next request has it again.
        Hook("experimental.session.compacting", HookKind.COMPACTION, summary="notes the compaction"),
        Hook(
            "session.idle",
            HookKind.TURN_END,
            HookReply.DECISION,
            "learns from the session in the background; asks once to record what was learnt",
        ),
        Hook("session.deleted", HookKind.SESSION_END, summary="closes the session"),
        Hook("dispose", HookKind.SESSION_END, summary="closes the sessions of this run"),
    ),
    payload_fields={
        "session": ("sessionID",),
        "folder": ("directory",),
        "prompt": ("text",),
        "tool": ("tool",),
        "input": ("args",),
        "output": ("output",),
        "exit": ("tool_response.metadata.exit",),
        "call": ("callID",),
        "answer": ("text",),
    },
    clean_prompt=unquoted,
    hold_tool=ToolHold(
        _refuse, asks_user=False
    ),  # a plugin cannot ask: its hook `permission.ask` is never called
    continue_turn=_ask,
    replace_output=_replace_output,
    servers_key="mcp",
    server_entry=_server_entry,
    plugin_template="opencode/recollect.js",
    briefing_format="plain",
    transcript=OPENCODE_DATABASE,
    session_files=SessionFiles("{data}", ("opencode.db",), of_session=("opencode.db",)),
)
