"""Each host's own words become the same events, and answers take its form."""

import json

import pytest

from recollect.work.hosts.hook_input import host_event, session_events
from recollect.work.hosts.hook_output import printed
from recollect.work.hosts.host import HookReply
from recollect.work.hosts.registry import HOSTS


def said(host, event, **body):
    return [
        each
        for _, each in session_events(host_event(host, event, "e1", "1800000000000000000", "/here", body))
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_that_is_installed_is_known_here(host):
    installed = [hook for hook in HOSTS[host].hooks if hook.is_installed]

    assert installed
    assert [HOSTS[host].hook(hook.event) for hook in installed] == installed


@pytest.mark.parametrize("host", HOSTS)
def test_what_injects_there_has_an_answer_here(host):
    injecting = [hook for hook in HOSTS[host].hooks if hook.injects]

    assert [hook.event for hook in injecting if hook.reply is HookReply.NONE] == []


@pytest.mark.parametrize(
    ("host", "event", "body"),
    [
        ("claude-code", "UserPromptSubmit", {"session_id": "s1", "cwd": "/p", "prompt": "fix it"}),
        ("codex", "UserPromptSubmit", {"session_id": "s1", "cwd": "/p", "prompt": "fix it"}),
        ("gemini", "BeforeAgent", {"session_id": "s1", "cwd": "/p", "prompt": "fix it"}),
        ("opencode", "chat.message", {"sessionID": "s1", "directory": "/p", "parts": [{"type": "text", "text": "fix it"}]}),
        ("cursor", "beforeSubmitPrompt", {"conversation_id": "s1", "workspace_roots": ["/p"], "prompt": "fix it"}),
        ("windsurf", "pre_user_prompt", {"trajectory_id": "s1", "tool_info": {"user_prompt": "fix it", "cwd": "/p"}}),
        ("vscode", "UserPromptSubmit", {"session_id": "s1", "cwd": "/p", "prompt": "fix it"}),
    ],
)  # fmt: skip
def test_a_prompt_is_a_prompt_in_every_host(host, event, body):
    (prompt,) = said(host, event, **body)

    assert (prompt.session, prompt.author, prompt.text, prompt.cwd) == ("s1", "user", "fix it", "/p")


@pytest.mark.parametrize(
    ("host", "event", "body", "tool", "failed"),
    [
        ("claude-code", "PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "c", "tool_response": {"stdout": "done", "stderr": ""}}, "Bash", False),
        ("claude-code", "PostToolUseFailure", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "c", "error": "done"}, "Bash", True),
        ("codex", "PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "c", "tool_response": "done"}, "Bash", None),
        ("gemini", "AfterTool", {"tool_name": "run_shell_command", "tool_input": {"command": "make"}, "tool_response": {"llmContent": "done"}}, "run_shell_command", False),
        ("gemini", "AfterTool", {"tool_name": "run_shell_command", "tool_input": {"command": "make"}, "tool_response": {"llmContent": "done", "error": "bad"}}, "run_shell_command", True),
        ("opencode", "tool.execute.after", {"tool": "bash", "args": {"command": "make"}, "callID": "c", "output": "done"}, "bash", None),
        ("cursor", "postToolUse", {"tool_name": "Shell", "tool_input": {"command": "make"}, "tool_output": "done"}, "Shell", None),
        ("windsurf", "post_run_command", {"tool_info": {"command_line": "make", "output": "done"}}, "run_terminal_cmd", None),
    ],
)  # fmt: skip
def test_a_tool_that_ran_is_a_call_and_its_answer(host, event, body, tool, failed):
    call, answer = said(host, event, **body)

    assert (call.tool, call.author, call.input["command"]) == (tool, "assistant", "make")
    assert (answer.tool, answer.author, answer.failed) == (tool, "tool", failed)
    assert call.call == answer.call != ""
    assert answer.text == "done" or host == "windsurf"


def test_what_the_agent_said_last_is_told_at_the_end_of_its_turn():
    (message,) = said("claude-code", "Stop", session_id="s1", last_assistant_message="All done.")

    assert (message.author, message.text) == ("assistant", "All done.")


def test_what_a_host_put_into_a_prompt_is_not_the_persons():
    text = "fix it<system-reminder>be nice</system-reminder>"

    mine, theirs = said("claude-code", "UserPromptSubmit", prompt=text)

    assert (mine.text, mine.injected, theirs.injected) == ("fix it", False, True)


def test_events_have_ids_of_their_own():
    event = host_event("claude-code", "PostToolUse", "e1", "1", "", {"tool_name": "Bash"})

    assert [name for name, _ in session_events(event)] == ["e1", "e1.1"]


@pytest.mark.parametrize("value", [None, 7, [], {}, "\ud800", ["x"], {"stdout": 3}])
def test_odd_values_break_nothing(value):
    names = {"session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "error"}

    for host in HOSTS.values():
        for hook in host.hooks:
            said(host.name, hook.event, **dict.fromkeys(names, value))


def test_claude_code_is_answered_in_its_own_form():
    hook = HOSTS["claude-code"].hook("UserPromptSubmit")

    output = json.loads(printed(hook, "known: x"))

    assert output == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "known: x"}
    }
    assert printed(hook, "") == b""


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        ('"fix it, please"', "fix it, please"),
        (r'"say \"hi\" twice"', 'say "hi" twice'),
        ('"a" and "b"', '"a" and "b"'),
        ("fix", "fix"),
    ],
)
def test_the_quotes_that_opencode_puts_around_a_prompt_are_removed(sent, typed):
    (prompt,) = said("opencode", "chat.message", prompt=sent)

    assert prompt.text == typed
