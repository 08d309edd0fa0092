"""An agent that recorded nothing in a session with something worth keeping is asked once to do so."""

import json
from pathlib import Path

import pytest
from hook_fields import fields

from recollect.config import load_settings
from recollect.interfaces.daemon.hook_service import HookService
from recollect.interfaces.daemon_client.spool import HookSpool
from recollect.interfaces.engine_pool import EngineOpener, EnginePool
from recollect.model import INJECTED_MARK
from recollect.work.extract import extract
from recollect.work.hosts.hook_input import host_event, session_events

TOOLS = {
    "claude-code": "PostToolUse",
    "codex": "PostToolUse",
    "gemini": "AfterTool",
    "opencode": "tool.execute.after",
}
ENDS = {"claude-code": "Stop", "codex": "Stop", "gemini": "AfterAgent", "opencode": "session.idle"}
ANSWERS = {
    "claude-code": lambda text: {
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": text}
    },  # not `decision: block`, which the user is shown as an error
    "codex": lambda text: {"decision": "block", "reason": text},
    "gemini": lambda text: {"decision": "deny", "reason": text},
    "opencode": lambda text: {"ask": text},
}
EDITORS = {"claude-code": "Edit", "codex": "apply_patch", "gemini": "replace", "opencode": "edit"}


class Agent:
    """A session of a host, as its hooks tell it."""

    def __init__(self, service, folder, host="claude-code", session="s1"):
        self.service, self.folder, self.host, self.session = service, folder, host, session

    def send(self, event, *, seconds="20", received=True, **body):
        name = f"{self.session}-{event}-{len(self.service._answered)}-{self.service.events}"
        told = self.service.handle(
            fields(self.host, event, name, seconds=seconds),
            {"session_id": self.session, "cwd": str(self.folder), **body},
        )
        self.service.sent(name, received=received)
        return told

    def use(self, tool, given, output="ok"):
        response = output if self.host == "codex" else {"stdout": output, "output": output}
        call = {"tool_use_id": f"call{self.service.events}", "tool_name": tool, "tool_input": given}
        self.send(TOOLS[self.host], tool_response=response, **call)

    def edit(self, *names):
        for name in names:
            if self.host == "codex":
                patch = f"*** Begin Patch\n*** Update File: src/{name}.py\n*** End Patch"
                self.use("apply_patch", {"input": patch})
            else:
                self.use(EDITORS[self.host], {"file_path": f"{self.folder}/src/{name}.py"})

    def finish(self, **more):
        """End the turn, and return what the agent is asked; empty if it is asked nothing."""
        told = self.send(ENDS[self.host], last_assistant_message="Done.", **more)
        return _request(json.loads(told)) if told else ""

    def flush(self):
        self.service.settle(30)
        with self.service.engines.use(str(self.folder), "agent:hook") as engine:
            engine.measures.flush()


def _request(answer):
    """Return the one text in an answer that is more than a word."""
    texts = answer.get("hookSpecificOutput", answer).values()
    return max(texts, key=len)


@pytest.fixture
def agent(service, folder):
    return Agent(service, folder)


@pytest.mark.parametrize("host", sorted(ENDS))
def test_an_agent_that_edited_much_and_recorded_nothing_is_asked_once(service, folder, host):
    agent = Agent(service, folder, host)
    agent.edit("cart", "price", "order")

    request = agent.finish()
    again = agent.finish(stop_hook_active=True)
    agent.edit("stock", "user", "mail")
    later = agent.finish()

    assert "3 files were edited" in request
    assert "record_memory" in request
    assert "recollect remember" in request
    assert (again, later) == ("", "")


def test_the_answer_has_the_form_that_the_host_takes(service, folder):
    answers = {}
    for host in ENDS:
        agent = Agent(service, folder, host, session=host)
        agent.edit("cart", "price", "order")
        answers[host] = json.loads(agent.send(ENDS[host]))

    requests = {host: _request(answer) for host, answer in answers.items()}
    assert all("3 files were edited" in request for request in requests.values())
    assert answers == {host: ANSWERS[host](request) for host, request in requests.items()}


def test_a_correction_and_a_mended_failure_are_worth_asking_for(service, folder):
    corrected = Agent(service, folder, session="corrected")
    corrected.send("UserPromptSubmit", prompt="Build the front end")
    corrected.use("Bash", {"command": "npm run build"})
    corrected.send("UserPromptSubmit", prompt="No, use pnpm, not npm")
    mended = Agent(service, folder, session="mended")
    failed = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_use_id": "c1"}
    mended.send("PostToolUseFailure", error="ModuleNotFoundError: No module named 'httpx'", **failed)
    mended.use("Bash", {"command": "pip install httpx"})
    mended.use("Bash", {"command": "pytest"}, "3 passed")

    assert "the user corrected you" in corrected.finish()
    assert "a failure was mended" in mended.finish()


def test_a_small_session_is_not_asked(agent):
    agent.send("UserPromptSubmit", prompt="What is in the cart?")
    agent.use("Bash", {"command": "cat src/cart.py"})
    agent.edit("cart", "price")

    assert agent.finish() == ""


def test_an_agent_that_recorded_something_is_not_asked(agent):
    agent.edit("cart", "price", "order")
    agent.use("mcp__recollect__record_memory", {"content": "Prices are in cents"})

    assert agent.finish() == ""


def test_a_sub_agent_is_not_asked(agent):
    agent.edit("cart", "price", "order")

    assert agent.send("SubagentStop", last_assistant_message="Done.") == b""


def test_an_agent_that_may_only_plan_is_not_asked(agent):
    agent.edit("cart", "price", "order")

    assert agent.finish(permission_mode="plan") == ""


def test_nobody_is_asked_with_the_setting_off(agent, home):
    Path(home, "config.toml").write_text('ask_to_record = "off"\n')
    agent.edit("cart", "price", "order")

    assert agent.finish() == ""


def test_nobody_is_asked_if_sessions_are_not_learnt_from(agent, memory):
    memory.preferences.set_switch("auto", False)
    agent.edit("cart", "price", "order")

    assert agent.finish() == ""


def test_a_hook_that_cannot_wait_asks_nothing(agent):
    agent.edit("cart", "price", "order")

    in_haste = agent.send("Stop", seconds="0", last_assistant_message="Done.")

    assert in_haste == b""
    assert "3 files" in agent.finish()


def test_a_request_that_nobody_received_is_made_again(agent, memory):
    agent.edit("cart", "price", "order")

    agent.send("Stop", received=False)
    second = agent.finish()
    agent.flush()

    assert "3 files" in second
    assert memory.stats()["measures"]["here"]["asked"] == 1


def test_another_daemon_does_not_ask_again(agent, service, home, folder, embedder, silence):
    agent.edit("cart", "price", "order")
    agent.finish()
    service.settle(30)

    other = HookService(
        EnginePool(EngineOpener(lambda: load_settings(home), lambda settings: embedder)),
        HookSpool(home),
        silence,
    )
    later = Agent(other, folder)
    later.edit("stock", "user", "mail")

    assert later.finish() == ""
    other.close()


def test_what_it_cost_is_in_the_statistics(agent, memory):
    agent.edit("cart", "price", "order")
    request = agent.finish()
    agent.use("mcp__recollect__record_memory", {"content": "Prices are in cents, also in the exported files"})
    agent.finish(stop_hook_active=True)
    agent.flush()

    here = memory.stats()["measures"]["here"]

    assert here["asked"] == 1
    assert here["asked_tokens"] > len(request.split())


def test_the_request_is_never_taken_for_the_users_words(agent, folder):
    agent.edit("cart", "price", "order")
    request = agent.finish()
    body = {"session_id": "s1", "cwd": str(folder), "prompt": request}
    event = host_event("claude-code", "UserPromptSubmit", "e1", "1", str(folder), body)

    events = [each for _, each in session_events(event)]

    assert INJECTED_MARK in request
    assert [each.injected for each in events] == [True]
    assert extract(events, events[0].at) == []
