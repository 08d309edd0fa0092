"""The memory tool for the SDK of Anthropic, which is imported when a test needs it: that takes a second."""

import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from json import dumps, loads
from threading import Thread

import pytest
from pydantic import TypeAdapter

from recollect.engine import Engine
from recollect.errors import OutOfScope, RecollectError
from recollect.interfaces.anthropic_memory import AnthropicMemoryTool


def create(path, text):
    return {"command": "create", "path": path, "file_text": text}


def view(path, **more):
    return {"command": "view", "path": path, **more}


def replace(path, old, new):
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path, line, text):
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path):
    return {"command": "delete", "path": path}


def rename(old, new):
    return {"command": "rename", "old_path": old, "new_path": new}


REDIS = create("/memories/notes/redis.md", "Tests need Redis\nStart it with make redis\nIt listens on 6380")
COLOURS = create("/memories/colours.md", "The header of the shop is painted blue")


@pytest.fixture
def tool(engine):
    return AnthropicMemoryTool(engine)


@pytest.fixture
def theirs(tmp_path):
    """The SDK's own tool, over files: what ours must answer like."""
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    return BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))


def told(tool, command):
    """The answer, or the error; the size of a folder is nobody's business."""
    from anthropic.lib.tools import ToolError

    try:
        text = tool.call(command)
    except ToolError as error:
        return f"error: {error.content}"
    return re.sub(r"^\S+(?=\t.*/$|\t/memories(/notes)?$)", "size", text, flags=re.M)


@pytest.mark.parametrize(
    "commands",
    [
        [view("/memories")],
        [REDIS, COLOURS, view("/memories"), view("/memories/notes"), view("/memories/colours.md")],
        [REDIS, view("/memories/notes/redis.md", view_range=[2, 3])],
        [REDIS, view("/memories/notes/redis.md", view_range=[2, -1])],
        [REDIS, REDIS],
        [view("/memories/nothing.md")],
        [REDIS, replace("/memories/notes/redis.md", "6380", "6379"), view("/memories/notes/redis.md")],
        [REDIS, replace("/memories/notes/redis.md", "Postgres", "Redis")],
        [REDIS, replace("/memories/notes/redis.md", "it", "that")],
        [REDIS, replace("/memories/notes/redis.md", "e", "E")],
        [REDIS, replace("/memories/notes", "a", "b")],
        [replace("/memories/none.md", "a", "b")],
        [REDIS, insert("/memories/notes/redis.md", 99, "x")],
        [REDIS, insert("/memories/notes/redis.md", -1, "x")],
        [insert("/memories/none.md", 0, "x")],
        [REDIS, insert("/memories/notes/redis.md", 1, "Version 7\n")],
        [REDIS, COLOURS, delete("/memories/notes/redis.md"), view("/memories/notes/redis.md")],
        [REDIS, delete("/memories/notes"), view("/memories/notes")],
        [delete("/memories/none")],
        [delete("/memories")],
        [REDIS, rename("/memories/notes/redis.md", "/memories/redis.md"), view("/memories/redis.md")],
        [REDIS, rename("/memories/notes", "/memories/old"), view("/memories/old/redis.md")],
        [REDIS, COLOURS, rename("/memories/colours.md", "/memories/notes/redis.md")],
        [rename("/memories/none.md", "/memories/some.md")],
        [rename("/memories", "/memories/some")],
        [create("/elsewhere/a.md", "text")],
        [create("/memories/../a.md", "text")],
    ],
    ids=lambda commands: " ".join(command["command"] for command in commands),
)
def test_every_command_answers_like_the_tool_of_the_sdk(tool, theirs, commands):
    answers = [told(tool.for_runner(), command) for command in commands]

    assert answers == [told(theirs, command) for command in commands]


@pytest.mark.parametrize(
    "command", [REDIS, view("/memories"), insert("/memories/a", 0, "x"), delete("/memories/a")]
)
def test_the_commands_are_those_of_the_sdk(command):
    from anthropic.types.beta import BetaMemoryTool20250818Command

    typed = TypeAdapter(BetaMemoryTool20250818Command).validate_python(command)

    assert typed.to_dict(exclude_unset=True) == command


def test_a_file_is_a_memory_that_other_interfaces_find(tool, engine):
    tool.call(create("/memories/gotcha/redis.md", "Tests need a running Redis"))

    (hit,) = engine.search("why do tests fail without Redis").results
    assert (hit.memory.kind, hit.memory.content) == ("gotcha", "Tests need a running Redis")


def test_memories_of_other_interfaces_are_files_in_the_folder_of_their_kind(tool, engine):
    memory = engine.get(engine.remember("Use pnpm to run scripts", kind="preference").id)
    path = f"/memories/preference/{memory.id[-6:]}.md"

    answer = tool.call(view(path))

    assert answer == f"Here's the content of {path} with line numbers:\n     1\tUse pnpm to run scripts"
    assert f"23B\t{path}" in tool.call(view("/memories"))


def test_editing_a_file_changes_the_memory(tool, engine):
    tool.call(REDIS)

    tool.call(insert("/memories/notes/redis.md", 1, "Version 7 or newer"))

    (memory,) = engine.list()
    assert memory.content.splitlines()[:2] == ["Tests need Redis", "Version 7 or newer"]


def test_a_deleted_file_can_be_restored(tool, engine):
    tool.call(COLOURS)
    (memory,) = engine.list()
    tool.call(delete("/memories/colours.md"))

    engine.restore(memory.id)

    assert "painted blue" in tool.call(view("/memories/colours.md"))


def test_the_same_text_in_two_files_is_one_memory_and_either_can_go(tool, engine):
    tool.call(COLOURS)
    tool.call({**COLOURS, "path": "/memories/again.md"})
    kept = engine.list()

    tool.call(delete("/memories/colours.md"))

    assert len(kept) == 1
    assert "painted blue" in tool.call(view("/memories/again.md"))


def test_a_secret_never_gets_into_a_file(tool):
    tool.call(create("/memories/staging.md", "Staging db password is hunter2-correct-horse"))

    assert "hunter2" not in tool.call(view("/memories/staging.md"))


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../../etc/passwd",
        "/memories/./a.md",
        "/memories/%2e%2e/a.md",
        "/memories/..\\a.md",
        "/memoriesx/a.md",
        "memories/a.md",
        "/etc/passwd",
        "/memories/a\nb.md",
        "/memories/a\0.md",
        "",
        None,
    ],
)
def test_no_path_leads_out(tool, engine, path):
    with pytest.raises(RecollectError):
        tool.call(create(path, "Something worth keeping"))

    assert engine.list() == ()


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"command": "format"},
        {"command": "view"},
        {"command": "create", "path": "/memories/a.md"},
        create("/memories/a.md", ""),
        create("/memories/a.md", "x" * 3000),
        create("/memories/notes/redis.md/below.md", "Something else entirely"),
        view("/memories/notes/redis.md", view_range=["a", "b"]),
        rename("/memories/notes", "/memories/notes/deeper"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(tool, command):
    tool.call(REDIS)

    with pytest.raises(RecollectError) as caught:
        tool.call(command)

    assert str(caught.value)


def test_an_agent_cannot_touch_what_is_the_users_own(tool, engine, home, folder, clock, embedder):
    receipt = engine.remember("I prefer tabs", kind="preference", scope="global")

    with (
        Engine.open(folder, home, embedder=embedder, clock=clock, actor="agent:claude") as agent,
        pytest.raises(OutOfScope),
    ):
        AnthropicMemoryTool(agent).call(delete(f"/memories/preference/{receipt.id[-6:]}.md"))

    assert engine.get(receipt.id).state == "active"


def test_the_runner_of_the_sdk_takes_it(tool, engine, api):
    from anthropic import Anthropic

    client = Anthropic(api_key="none", base_url=api.address, max_retries=0)

    last = client.beta.messages.tool_runner(
        model="claude",
        max_tokens=100,
        messages=[{"role": "user", "content": "Remember this"}],
        tools=[tool.for_runner()],
    ).until_done()

    assert last.stop_reason == "end_turn"
    assert api.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    (good, bad) = api.requests[1]["messages"][-1]["content"]
    assert good["content"] == "File created successfully at: /memories/notes/redis.md"
    assert (bad["content"], bad["is_error"]) == ("Cannot delete the /memories directory itself", True)


@pytest.fixture
def api():
    """The Messages API with a model that uses the tool twice and is done."""
    uses = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": command}
        for number, command in enumerate([REDIS, delete("/memories")])
    ]
    answers = [("tool_use", uses), ("end_turn", [{"type": "text", "text": "Done."}])]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.requests.append(loads(self.rfile.read(int(self.headers["content-length"]))))
            reason, content = answers[len(self.server.requests) - 1]
            message = {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude",
                "stop_reason": reason,
                "stop_sequence": None,
                "content": content,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(dumps(message).encode())

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests = []
        server.address = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
