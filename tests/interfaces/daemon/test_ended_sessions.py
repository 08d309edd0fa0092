"""Every session ends: also one whose host is killed or says nothing, before the next briefing in its project."""

import subprocess
import sys
from datetime import timedelta

import pytest
from hook_fields import answered, fields

from recollect.interfaces.daemon.hook_service import GONE_SECONDS
from recollect.interfaces.daemon.host_process import host_process

_HOST = """
import subprocess, sys
hook = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(hook.pid, flush=True)
input()
"""


class RunningHost:
    """A process in the place of a host, and one that it started in the place of a hook that waits."""

    def __init__(self, through_shell=False):
        words = [sys.executable, "-c", _HOST]
        if through_shell:
            script = _HOST.replace('[sys.executable, "-c", "input()"]', '["sh", "-c", "cat; true"]')
            words = [sys.executable, "-c", script]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._process.pid
        self.hook = int(self._process.stdout.readline())

    def quit(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture
def host():
    running = RunningHost()
    yield running
    running.quit()


@pytest.fixture
def send(service, folder):
    def send(event, session="s1", host=None, **body):
        body = {"session_id": session, "cwd": str(folder), **body}
        return answered(service, fields("opencode", event), body, host.hook if host else None).decode()

    return send


@pytest.fixture
def work(send):
    """A session in which something was done, and nothing was said at the end."""

    def do(host, session="s1"):
        send("chat.message", session, host, prompt="Speed up the checkout page")
        call = {"tool_name": "edit", "tool_input": {"filePath": "src/checkout.py"}, "tool_use_id": "c1"}
        send("tool.execute.after", session, host, tool_response={"output": "ok"}, **call)
        send("session.idle", session, host, last_assistant_message="Done.")

    return do


def tick(service, clock, seconds):
    service.tick()
    clock.now += timedelta(seconds=seconds)
    service.tick()
    service.settle(30)


def test_a_session_whose_host_is_gone_is_ended(work, host, service, memory, clock):
    work(host)
    tick(service, clock, GONE_SECONDS)
    running = memory.sessions.get("s1").ended_at

    host.quit()
    tick(service, clock, GONE_SECONDS)

    ended = memory.sessions.get("s1")
    assert running is None
    assert ended.ended_at == ended.active_at
    assert "Speed up the checkout page" in ended.summary


def test_it_is_ended_before_the_next_briefing(work, host, send, memory):
    work(host)
    host.quit()

    briefing = send("session.created", "s2")

    assert memory.sessions.get("s1").ended_at is not None
    assert "Speed up the checkout page" in briefing


def test_the_session_in_another_window_is_left_alone(work, host, send, memory, service, clock):
    work(host)
    send("session.created", "s2", host)
    clock.now += timedelta(hours=3)

    send("session.created", "s3")

    assert memory.sessions.get("s1").ended_at is None


def test_a_session_that_codex_may_have_left_is_ended_before_the_next_and_goes_on_at_its_next_prompt(
    service, memory, folder, host
):
    def send(event, session, **body):
        body = {"session_id": session, "cwd": str(folder), **body}
        return answered(service, fields("codex", event), body, host.hook).decode()

    for session in ("quit", "at-work"):
        send("UserPromptSubmit", session, prompt="Speed up the checkout page")
        call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "c1"}
        send("PostToolUse", session, tool_response="ok", **call)
    send("Stop", "quit", last_assistant_message="Done.")

    send("SessionStart", "s3", source="startup")
    ended = [memory.sessions.get(session).ended_at is not None for session in ("quit", "at-work", "s3")]
    send("UserPromptSubmit", "quit", prompt="And the cart page")

    assert ended == [True, False, False]
    assert memory.sessions.get("quit").ended_at is None


def test_a_session_that_was_silent_for_long_is_ended_before_the_next_briefing(
    work, send, memory, monkeypatch
):
    work(None)
    monkeypatch.setattr("recollect.work.sessions.sessions.IDLE", timedelta(days=-10_000))

    send("session.created", "s2")

    assert memory.sessions.get("s1").ended_at is not None


def test_the_end_of_a_turn_that_comes_late_does_not_open_the_session_again(work, send, service, memory):
    work(None)
    send("session.deleted")
    service.settle(30)

    send("session.idle", last_assistant_message="Done.")
    ended = memory.sessions.get("s1").ended_at
    send("chat.message", prompt="And now the cart")

    assert ended is not None
    assert memory.sessions.get("s1").ended_at is None


@pytest.mark.parametrize("through_shell", [False, True])
def test_the_host_is_the_first_ancestor_of_the_hook_that_is_no_shell(through_shell):
    running = RunningHost(through_shell)
    found = host_process(running.hook)
    was_alive = found.is_alive()

    running.quit()

    assert (found.pid, was_alive, found.is_alive()) == (running.pid, True, False)


def test_a_hook_that_is_unknown_or_gone_has_no_host():
    assert host_process(None) is None
    assert host_process(2**22 + 1) is None


def test_a_session_in_which_nothing_was_done_has_no_summary(send, service, memory):
    send("session.created")
    send("chat.message", prompt="Hello, are you there and listening to me?")
    send("session.idle", last_assistant_message="Yes.")
    send("session.deleted")
    service.settle(30)

    assert memory.sessions.get("s1").summary == ""
    assert "Hello" not in send("session.created", "s2")
