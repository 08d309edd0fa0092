"""The scripted model of `make hosts`: it understands each API, plays its script, and writes every request down."""

import json
import urllib.request

import pytest

from livehosts.clis.registry import CLIS
from livehosts.script import RunShell, Say, Script
from livehosts.server import ModelServer

PROMPT = "Run the tests"
SHELL = {"claude-code": "Bash", "codex": "exec_command", "gemini": "run_shell_command", "opencode": "bash"}


def claude(tool, answered):
    blocks = [{"type": "tool_use", "id": "t1", "name": tool, "input": {}}]
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "2 passed"}]}
    ]
    later = [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
    messages = [{"role": "user", "content": PROMPT}, *(later if answered else [])]
    body = {"system": "Be brief.", "messages": messages, "tools": [{"name": tool}], "stream": True}
    return "/v1/messages?beta=true", body


def codex(tool, answered):
    later = [
        {"type": "function_call", "name": tool, "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "2 passed"},
    ]
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}
    body = {"instructions": "Be brief.", "input": [message, *(later if answered else [])], "stream": True}
    return "/v1/responses", body | {"tools": [{"type": "function", "name": tool}]}


def gemini(tool, answered):
    later = [
        {"role": "model", "parts": [{"functionCall": {"name": tool, "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": tool, "response": {"output": "2 passed"}}}]},
    ]
    contents = [{"role": "user", "parts": [{"text": PROMPT}]}, *(later if answered else [])]
    body = {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": contents}
    functions = [{"functionDeclarations": [{"name": tool}]}]
    return "/v1beta/models/m:streamGenerateContent?alt=sse", body | {"tools": functions}


def opencode(tool, answered):
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    later = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2 passed"},
    ]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}]
    body = {"messages": [*messages, *(later if answered else [])], "stream": True}
    return "/v1/chat/completions", body | {"tools": [{"function": {"name": tool}}]}


REQUESTS = {"claude-code": claude, "codex": codex, "gemini": gemini, "opencode": opencode}


@pytest.fixture(params=list(CLIS))
def host(request):
    return request.param


@pytest.fixture
def model(host, tmp_path):
    script = Script({PROMPT: (RunShell("pytest"), Say("All pass."))}, CLIS[host].calls)
    with ModelServer(tmp_path / "requests.jsonl", script.reply) as server:
        yield server


def ask(model, path, body):
    with urllib.request.urlopen(model.url + path, json.dumps(body).encode()) as response:
        return response.read().decode()


def test_each_api_gets_the_call_and_then_the_answer(host, model):
    called = ask(model, *REQUESTS[host](SHELL[host], answered=False))
    answered = ask(model, *REQUESTS[host](SHELL[host], answered=True))

    assert SHELL[host] in called
    assert "pytest" in called
    assert "All pass." in answered


def test_every_request_is_written_down_as_the_model_reads_it(host, model, tmp_path):
    ask(model, *REQUESTS[host](SHELL[host], answered=True))

    (written,) = map(json.loads, (tmp_path / "requests.jsonl").read_text().splitlines())

    assert [(part["author"], part["kind"]) for part in written["parts"]] == [
        ("system", "system"),
        ("user", "words"),
        ("assistant", "call"),
        ("user", "result"),
    ]
    assert [part["text"] for part in written["parts"]][1::2] == [PROMPT, "2 passed"]
    assert written["reply"]["text"] == "All pass."


def test_a_request_without_tools_is_no_turn(host, model):
    path, body = REQUESTS[host](SHELL[host], answered=False)

    ask(model, path, {**body, "tools": []})

    assert model.requests[0].is_turn is False
    assert model.turns == []
