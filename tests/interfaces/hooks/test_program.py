"""Whatever happens, the host goes on: exit 0, and nothing printed that it does not understand."""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fake_daemon import FakeDaemon

from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.spool import HookSpool
from recollect.interfaces.hooks.deliver import deliver
from recollect.interfaces.hooks.program import DEADLINE, SESSION_DEADLINE, deadline
from recollect.interfaces.install.machine import running_hook_program

SECRET = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe\x00", b"not json", b"[1, 2", b'{"session_id": {}}', b'{"a":' * 5000, b"{" * 10_000_000],
    ids=["nothing", "bytes", "words", "cut off", "odd", "deep", "10 MB"],
)
def test_garbage_on_standard_input_is_no_matter(hook, no_daemon, body):
    assert hook(body=body) == b""


def test_ten_megabytes_of_a_tools_answer_are_no_matter(hook, no_daemon):
    body = json.dumps({"session_id": "s1", "cwd": "/", "tool_response": "x" * 10_000_000}).encode()

    assert hook("PostToolUse", body) == b""


@pytest.mark.parametrize("name", ["file", "file/below", "/proc/no"])
def test_a_home_that_is_none_is_no_matter(hook, tmp_path, name):
    (tmp_path / "file").write_text("")

    assert hook(environment={"RECOLLECT_HOME": str(tmp_path / name)}) == b""


def test_a_user_without_a_home_is_no_matter_and_leaves_no_folder(hook, tmp_path):
    assert hook(environment={"RECOLLECT_HOME": "~nobody-of-this-name/memory"}, cwd=tmp_path) == b""
    assert not list(tmp_path.glob("~*"))


def test_a_full_disk_is_no_matter(hook, no_daemon):
    def no_more_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    assert hook(preexec_fn=no_more_room) == b""


@pytest.mark.parametrize(
    "arguments", [[], ["claude-code"], ["claude-code", "NoSuchEvent"], ["a", "b", "c", "d"]]
)
def test_any_arguments_are_no_matter(home, no_daemon, arguments):
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "hook", *arguments], input=b"{}", capture_output=True, timeout=60
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_host_that_never_closes_its_end_is_not_waited_for(home, no_daemon):
    words = [sys.executable, "-m", "recollect", "hook", "claude-code", "Stop"]

    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hook:
        assert hook.wait(30) == 0
        assert hook.stdout.read() == b""


def test_what_comes_as_an_argument_is_heard_too(home, no_daemon):
    said = json.dumps({"thread-id": "s1", "cwd": "/", "last-assistant-message": "done"})

    subprocess.run(
        [sys.executable, "-m", "recollect", "hook", "codex", "notify", said], check=True, timeout=60
    )

    (line,) = _spooled(home, 1)
    assert json.loads(line)[1]["last-assistant-message"] == "done"


def test_what_the_daemon_has_ready_is_printed_as_it_is(hook, home, folder):
    with FakeDaemon(home, b"ok 7\n{ready}") as heard:
        printed = hook()

    assert printed == b"{ready}"
    line, _, body = heard[0].partition(b"\n")
    assert line.split(b"\t")[:2] == [b"hook", protocol.__version__.encode()]
    assert line.split(b"\t")[4:6] == [b"claude-code", b"UserPromptSubmit"]
    assert json.loads(body)["prompt"] == "hello there"


@pytest.mark.parametrize("answer", [b"no 0\n", b"ok 99\n{cut", b"ok\n", b"hello", b""])
def test_half_an_answer_is_none(hook, home, no_daemon, answer):
    with FakeDaemon(home, answer):
        assert hook() == b""


def test_a_daemon_that_does_not_answer_is_not_waited_for(hook, home, no_daemon):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(home / protocol.SOCKET))
        silent.listen(8)

        assert hook(environment={"RECOLLECT_HOOK_DEADLINE": "0.2"}) == b""
    assert DEADLINE == 0.15


def test_without_a_daemon_the_event_is_written_down_without_its_secrets(hook, home, folder, no_daemon):
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": f"the token is {SECRET}"}).encode()

    hook(body=body)

    (text,) = _spooled(home, 1)
    assert SECRET not in text
    assert "the token is" in text
    assert '"s1"' in text


def test_many_hooks_at_once_lose_nothing(hook, home, folder, no_daemon):
    def one(number):
        hook(body=json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": f"number {number}"}).encode())

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    lines = _spooled(home, 16)
    assert len({json.loads(line)[0][2] for line in lines}) == 16
    assert {json.loads(line)[1]["prompt"] for line in lines} == {f"number {number}" for number in range(16)}


def test_what_is_carried_goes_to_a_daemon_that_has_come_up_meanwhile(home, no_daemon):
    fields = ("claude-code", "UserPromptSubmit", "e1", "1", "0.150", "/")

    with FakeDaemon(home, b"ok 0\n") as heard:
        assert deliver(str(home), fields, b'{"session_id": "s1"}')

    assert b"\te1\t" in heard[0]
    assert not HookSpool(home).waiting()


def test_the_program_imports_next_to_nothing(home, no_daemon):
    code = (
        "import sys; sys.argv = ['recollect', 'hook', 'claude-code', 'Stop']\n"
        "from recollect.__main__ import main\n"
        "before = set(sys.modules); main(sys.argv[1:])\n"
        "print(sorted({'json', 'typing', 'socket', 'click', 'recollect.engine', 'subprocess'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, timeout=60)

    assert done.stdout == b"[]\n"


def _spooled(home, count):
    """The lines that hooks have left behind, once there are so many whole ones."""
    until = time.monotonic() + 60
    lines = []
    while len(lines) < count and time.monotonic() < until:
        files = (home / "spool" / "hooks").glob("*.jsonl")
        lines = [
            line
            for file in files
            for line in file.read_text().splitlines(keepends=True)
            if line.endswith("\n")
        ]
        os.sched_yield()
    return lines


@pytest.mark.parametrize(
    ("event", "seconds"),
    [
        ("SessionStart", SESSION_DEADLINE),
        ("sessionStart", SESSION_DEADLINE),
        ("session_start", SESSION_DEADLINE),
        ("PreToolUse", SESSION_DEADLINE),
        ("BeforeTool", SESSION_DEADLINE),
        ("tool.execute.before", SESSION_DEADLINE),
        ("UserPromptSubmit", DEADLINE),
        ("PostToolUse", DEADLINE),
        ("session.created", DEADLINE),
    ],
)
def test_the_start_of_a_session_and_a_check_before_a_tool_may_take_longer(event, seconds, monkeypatch):
    monkeypatch.delenv("RECOLLECT_HOOK_DEADLINE", raising=False)

    assert deadline(event) == seconds


def test_without_a_daemon_a_status_line_is_empty_and_leaves_nothing_behind(hook, home):
    before = sorted(home.rglob("*"))

    assert hook("StatusLine") == b""
    assert sorted(home.rglob("*")) == before


def test_a_status_line_is_printed_as_the_daemon_has_it(hook, home):
    with FakeDaemon(home, b"ok 5\nlearn"):
        assert hook("StatusLine") == b"learn"


def test_hosts_start_a_script_that_imports_no_regular_expressions(home, folder):
    program = str(Path(sys.executable).with_name("recollect-hook"))
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": "hello there"})
    words = [
        sys.executable,
        "-X",
        "importtime",
        program,
        "claude-code",
        "StatusLine",
    ]  # which starts no daemon

    done = subprocess.run(words, input=body, capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stdout) == (0, "")
    assert "recollect.interfaces.hooks.program" in done.stderr
    assert "| re\n" not in done.stderr
    start = running_hook_program() or (sys.executable, program)  # a path with a space cannot start a script
    assert subprocess.run([*start, "claude-code", "StatusLine"], input=body, text=True).returncode == 0
