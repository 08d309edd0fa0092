"""One small invented session in every format we read: a wish, a command, its answer, a word at the end."""

import json
from datetime import UTC, datetime
from typing import Any

from host_records import opencode_database

AT = "2026-03-01T10:00:00Z"
WHEN = datetime(2026, 3, 1, 10, tzinfo=UTC)
WISH, COMMAND, ANSWER, WORD = (
    "Make the till tests pass",
    "pytest tests/till",
    "2 failed",
    "The till rounds twice.",
)


class Lines(list[Any]):
    """Records that are written one to a line."""


def as_bytes(content: Any) -> bytes:
    if isinstance(content, Lines):
        return b"".join(json.dumps(record).encode() + b"\n" for record in content)
    if isinstance(content, (dict, list)):
        return json.dumps(content, indent=1).encode()
    return content if isinstance(content, bytes) else str(content).encode()


def claude(kind: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
    where = {"uuid": uuid, "sessionId": "s1", "timestamp": AT, "cwd": "/shop", "gitBranch": "main"}
    return {"type": kind, **where, "message": {"role": kind, "content": content}, **more}


def use(tool: str, call: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def result(call: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


CLAUDE_CODE = Lines(
    [
        claude("user", WISH, "u1"),
        claude("assistant", [use("Bash", "t1", command=COMMAND)], "u2"),
        claude("user", [result("t1", ANSWER, is_error=True)], "u3"),
        claude("assistant", [text(WORD)], "u4"),
    ]
)


def rollout(kind: str, at: str = AT, **payload: Any) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def item(**fields: Any) -> dict[str, Any]:
    return rollout("response_item", **fields)


def message(role: str, words: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}


CODEX = Lines(
    [
        rollout("session_meta", id="s1", cwd="/shop", git={"branch": "main"}),
        item(**message("user", WISH)),
        item(
            type="function_call",
            name="shell",
            arguments=json.dumps({"command": ["bash", "-lc", COMMAND]}),
            call_id="t1",
        ),
        item(
            type="function_call_output",
            call_id="t1",
            output=json.dumps({"output": ANSWER, "metadata": {"exit_code": 1}}),
        ),
        item(**message("assistant", WORD)),
    ]
)
CODEX_BARE = Lines(
    [
        {"id": "s1", "timestamp": AT, "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        message("user", WISH),
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": COMMAND.split()}),
            "call_id": "t1",
        },
        {"type": "function_call_output", "call_id": "t1", "output": {"content": ANSWER, "success": False}},
        message("assistant", WORD),
    ]
)
CODEX_DOCUMENT = {
    "session": {"id": "s1", "timestamp": AT, "instructions": ""},
    "items": [
        message("user", WISH),
        {
            "type": "local_shell_call",
            "call_id": "t1",
            "action": {"type": "exec", "command": ["bash", "-lc", COMMAND]},
        },
        {"type": "local_shell_call_output", "call_id": "t1", "output": {"output": ANSWER, "exit_code": 1}},
        message("assistant", WORD),
    ],
}

GEMINI_CALL = {
    "id": "t1",
    "name": "run_shell_command",
    "args": {"command": COMMAND},
    "status": "error",
    "result": [
        {"functionResponse": {"id": "t1", "name": "run_shell_command", "response": {"error": ANSWER}}}
    ],
}
GEMINI_META = {"sessionId": "s1", "projectHash": "aa", "startTime": AT, "lastUpdated": AT}
GEMINI_MESSAGES = [
    {"id": "m1", "timestamp": AT, "type": "user", "content": [{"text": WISH}]},
    {
        "id": "m2",
        "timestamp": AT,
        "type": "gemini",
        "content": "",
        "toolCalls": [GEMINI_CALL],
        "thoughts": [{"x": 1}],
    },
    {"id": "m3", "timestamp": AT, "type": "gemini", "content": WORD},
]
GEMINI_DOCUMENT = {**GEMINI_META, "messages": GEMINI_MESSAGES}
GEMINI = Lines([GEMINI_META, *GEMINI_MESSAGES])

SWE_AGENT = {
    "environment": "main",
    "trajectory": [
        {"action": COMMAND + "\n", "observation": ANSWER, "thought": "", "state": '{"working_dir": "/shop"}'},
        {
            "action": "",
            "observation": "",
            "response": WORD,
            "thought": WORD,
            "state": {"working_dir": "/shop"},
        },
    ],
    "history": [
        {"role": "system", "content": "You are a programmer."},
        {"role": "user", "content": WISH},
        {"role": "assistant", "content": WORD, "action": COMMAND},
    ],
    "info": {"exit_status": "submitted"},
}


def happened(number: int, source: str, **fields: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": "2026-03-01T10:00:00", "source": source, **fields}


OPENHANDS_EVENTS = [
    happened(0, "user", action="message", args={"content": WISH}),
    happened(1, "agent", action="run", args={"command": COMMAND, "thought": "", "hidden": False}),
    happened(2, "agent", observation="run", cause=1, content=ANSWER, extras={"metadata": {"exit_code": 1}}),
    happened(3, "agent", action="finish", args={"final_thought": WORD}),
]
OPENHANDS = Lines([{"instance_id": "s1", "history": OPENHANDS_EVENTS}])

AIDER = f"""
# aider chat started at 2026-03-01 10:00:00

#### {WISH}  

#### /run {COMMAND}  
> {ANSWER}  

{WORD}

"""  # noqa: W291 - the two spaces are aider's

OPENAI = [
    {"role": "user", "content": WISH},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "t1",
                "type": "function",
                "function": {"name": "bash", "arguments": json.dumps({"command": COMMAND})},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "t1", "content": ANSWER},
    {"role": "assistant", "content": WORD},
]
ANTHROPIC = [
    {"role": "user", "content": WISH},
    {"role": "assistant", "content": [use("bash", "t1", command=COMMAND)]},
    {"role": "user", "content": [result("t1", [text(ANSWER)], is_error=True)]},
    {"role": "assistant", "content": [text(WORD)]},
]
CURSOR = Lines([{"role": each["role"], "message": {"content": each["content"]}} for each in ANTHROPIC])

# format, what a file of it holds
OPENCODE = opencode_database(
    "s1",
    ("user", {"type": "text", "text": f'"{WISH}"'}),  # `opencode run "…"` hands on the quotes of the shell
    ("assistant", {"type": "step-start"}),
    (
        "assistant",
        {
            "type": "tool",
            "tool": "bash",
            "callID": "t1",
            "state": {
                "status": "completed",
                "input": {"command": COMMAND},
                "output": ANSWER,
                "metadata": {"exit": 1},
            },
        },
    ),
    ("assistant", {"type": "text", "text": WORD}),
)

SAMPLES: dict[str, tuple[str, Any]] = {
    "claude-code": ("claude-code", CLAUDE_CODE),
    "claude-code list": ("claude-code", list(CLAUDE_CODE)),
    "codex": ("codex", CODEX),
    "codex list": ("codex", list(CODEX)),
    "codex without envelopes": ("codex", CODEX_BARE),
    "codex document": ("codex", CODEX_DOCUMENT),
    "codex document on one line": ("codex", Lines([CODEX_DOCUMENT])),
    "gemini": ("gemini", GEMINI),
    "gemini document": ("gemini", GEMINI_DOCUMENT),
    "gemini document on one line": ("gemini", Lines([GEMINI_DOCUMENT])),
    "swe-agent": ("swe-agent", SWE_AGENT),
    "swe-agent on one line": ("swe-agent", Lines([SWE_AGENT])),
    "openhands": ("openhands", OPENHANDS),
    "openhands list": ("openhands", OPENHANDS_EVENTS),
    "aider": ("aider", AIDER),
    "openai list": ("messages", OPENAI),
    "openai lines": ("messages", Lines(OPENAI)),
    "openai object": ("messages", {"model": "m", "messages": OPENAI}),
    "openai object on one line": ("messages", Lines([{"id": "s1", "messages": OPENAI}])),
    "anthropic list": ("messages", ANTHROPIC),
    "cursor": ("messages", CURSOR),
    "opencode": ("opencode", OPENCODE),
}
