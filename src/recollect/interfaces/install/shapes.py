"""What hosts call their events, what those are to us, and how each host takes an answer. Data only.

A new event of a host is a new line here. Names of events and fields are the hosts' own.
"""

from dataclasses import dataclass

START = "start"  # of a session, or its going on after a compaction: the briefing
PROMPT = "prompt"
BEFORE = "before"  # a tool runs
AFTER = "after"  # it ran
FAILED = "failed"  # it did, in vain
SAID = "said"  # by the agent
COMPACTING = "compacting"  # what was shown will be forgotten
TURN = "turn"  # the agent has finished, or a sub-agent
END = "end"

CLAUDE = "claude"  # hookSpecificOutput.additionalContext
CURSOR = "cursor"  # additional_context
TEXT = "text"  # plain, for our own shim
SILENT = "silent"  # nothing that is printed reaches the model


@dataclass(frozen=True, slots=True)
class Shape:
    kind: str
    answer: str = SILENT


_CLAUDE = {
    "SessionStart": Shape(START, CLAUDE),
    "UserPromptSubmit": Shape(PROMPT, CLAUDE),
    "PreToolUse": Shape(BEFORE, CLAUDE),
    "PostToolUse": Shape(AFTER, CLAUDE),
    "PostToolUseFailure": Shape(FAILED, CLAUDE),
    "PreCompact": Shape(COMPACTING),
    "PostCompact": Shape(COMPACTING),
    "SubagentStop": Shape(TURN),
    "Stop": Shape(TURN),
    "SessionEnd": Shape(END),
}

EVENTS: dict[str, dict[str, Shape]] = {
    "claude-code": _CLAUDE,
    "codex": _CLAUDE | {"notify": Shape(TURN)},
    "vscode": _CLAUDE,
    "gemini": {
        "SessionStart": Shape(START, CLAUDE),
        "BeforeAgent": Shape(PROMPT, CLAUDE),
        "BeforeTool": Shape(BEFORE),
        "AfterTool": Shape(AFTER, CLAUDE),
        "AfterAgent": Shape(TURN),
        "PreCompress": Shape(COMPACTING),
        "SessionEnd": Shape(END),
    },
    "opencode": {
        "session.created": Shape(START, TEXT),
        "experimental.chat.system.transform": Shape(START, TEXT),
        "chat.message": Shape(PROMPT, TEXT),
        "tool.execute.before": Shape(BEFORE, TEXT),
        "tool.execute.after": Shape(AFTER, TEXT),
        "experimental.session.compacting": Shape(START, TEXT),
        "session.compacted": Shape(COMPACTING),
        "session.idle": Shape(TURN),
        "session.deleted": Shape(END),
    },
    "cursor": {
        "sessionStart": Shape(START, CURSOR),
        "beforeSubmitPrompt": Shape(PROMPT),
        "preToolUse": Shape(BEFORE),
        "postToolUse": Shape(AFTER, CURSOR),
        "postToolUseFailure": Shape(FAILED),
        "afterAgentResponse": Shape(SAID),
        "preCompact": Shape(COMPACTING),
        "subagentStop": Shape(TURN),
        "stop": Shape(TURN),
        "sessionEnd": Shape(END),
    },
    "windsurf": {
        "pre_user_prompt": Shape(PROMPT),
        "post_write_code": Shape(AFTER),
        "post_run_command": Shape(AFTER),
        "post_mcp_tool_use": Shape(AFTER),
        "post_cascade_response": Shape(TURN),
    },
}

# Where a value stands in what a host says, the likeliest first; a dot leads into an object.
SESSION = (
    "session_id",
    "sessionID",
    "sessionId",
    "conversation_id",
    "trajectory_id",
    "thread-id",
    "thread_id",
)
FOLDER = ("cwd", "directory", "tool_info.cwd")
PROMPTED = ("prompt", "tool_info.user_prompt", "text")
TOOL = ("tool_name", "tool", "tool_info.mcp_tool_name")
INPUT = ("tool_input", "args", "tool_info.mcp_tool_arguments")
OUTPUT = ("tool_response", "tool_output", "output", "result_json", "tool_info.mcp_result")
ERROR = ("error", "error_message", "tool_response.error")
CALL = ("tool_use_id", "callID", "call_id", "execution_id")
ANSWERED = (
    "last_assistant_message",
    "last-assistant-message",
    "prompt_response",
    "text",
    "tool_info.response",
)
AGENT = ("agent_id",)

# Windsurf tells what was done by the name of the event alone.
TOOLS = {"post_write_code": "edit_file", "post_run_command": "run_terminal_cmd"}
INPUTS = {"command_line": "command"}  # its word, and ours
