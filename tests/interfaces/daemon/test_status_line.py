"""What a user sees of memory in a host: its status line, and a line about the last session."""

import json

import pytest
from hook_fields import fields

import recollect.model as m
from recollect.interfaces.daemon.status_lines import FRESH_SECONDS

GOTCHA = "The payment webhook retries are deduplicated by the ledger header Idempotency-Token."


@pytest.fixture
def status(service, folder, monkeypatch):
    """What `recollect hook claude-code StatusLine` prints, read anew each time."""
    monkeypatch.setattr("recollect.interfaces.daemon.status_lines.FRESH_SECONDS", 0.0)

    def line(session="s1", cwd=None):
        body = {"session_id": session, "cwd": str(cwd or folder), "model": {"display_name": "Opus"}}
        return service.handle(fields("claude-code", "StatusLine"), body).decode()

    return line


def use_a_memory(hook, service, memory):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="How do I handle the payment webhook?")
    hook("Stop", last_assistant_message=f"I know: {GOTCHA}")
    hook("UserPromptSubmit", prompt="Thanks, that is all")
    service.settle(20)


def test_a_session_in_which_nothing_happened_has_an_empty_line(hook, status):
    hook("SessionStart", source="startup")

    assert status() == ""


def test_it_says_what_was_used_and_what_waits(hook, service, memory, status, clock):
    use_a_memory(hook, service, memory)
    context = memory.context
    for content in ("Mail leaves by a queue", "Prices are whole cents"):
        owner = (context.user_id, context.project_id)
        asked = memory.remember(content).id
        review = m.Review(m.new_id(clock()), *owner, "seed", (asked,), "why", clock())
        memory.store.reviews.ask(review)

    assert status() == "Recollect: 1 memory used · 2 to review"


def test_it_says_what_memory_has_saved_in_the_project(memory, status, clock):
    context = memory.context
    before = {"discovery_tokens": 5_000.0, "edited": 1.0}
    for name in ("a", "b", "c"):
        memory.store.measures.set(context.user_id, context.project_id, name, before, clock())
    after = {"discovery_tokens": 900.0, "edited": 1.0, "injected": 2.0}
    memory.store.measures.set(context.user_id, context.project_id, "d", after, clock())

    assert status() == "Recollect: about 4,100 tokens saved"


def test_the_line_is_no_event_of_the_session(hook, service, status, recorded):
    hook("UserPromptSubmit", prompt="hello there")
    handled = service.events

    status()

    assert recorded() == ["hello there"]
    assert service.events == handled


def test_a_line_is_not_read_again_at_once(hook, service, memory, folder):
    body = {"session_id": "s1", "cwd": str(folder)}
    hook("SessionStart", source="startup")
    first = service.handle(fields("claude-code", "StatusLine"), body)
    use_a_memory(hook, service, memory)

    assert service.handle(fields("claude-code", "StatusLine"), body) == first
    assert FRESH_SECONDS > 0


def test_with_memory_off_the_line_is_empty(hook, service, memory, status):
    use_a_memory(hook, service, memory)
    memory.preferences.set_switch("memory", False)

    assert status() == ""


def test_a_folder_that_is_gone_has_an_empty_line(status, tmp_path):
    assert status(cwd=tmp_path / "gone") == ""


def test_a_user_of_the_terminal_sees_it(serve, ask, hook, service, memory, folder, monkeypatch):
    use_a_memory(hook, service, memory)
    serve()
    body = json.dumps({"session_id": "s1", "cwd": str(folder)}).encode()

    assert ask("hook", *fields("claude-code", "StatusLine"), body=body) == b"Recollect: 1 memory used"


@pytest.fixture
def start(service, folder):
    """What a host prints for its user when a session starts; empty if nothing."""

    def call(session, host="claude-code", received=True):
        given = fields(host, "SessionStart")
        body = {"session_id": session, "cwd": str(folder), "source": "startup"}
        printed = service.handle(given, body)
        service.sent(given[2], received=received)
        return json.loads(printed).get("systemMessage", "") if printed else ""

    return call


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_the_next_session_begins_with_what_the_last_one_learnt_and_used(hook, service, memory, start, host):
    use_a_memory(hook, service, memory)
    hook("UserPromptSubmit", prompt="We always use pnpm here, never npm, please remember that.")
    hook("SessionEnd", reason="other")
    service.settle(30)

    assert start("s2", host) == "Recollect: the last session learnt 1 thing, used 1 memory."


def test_it_is_said_once_and_not_to_a_session_that_goes_on(hook, service, memory, start):
    use_a_memory(hook, service, memory)
    hook("SessionEnd", reason="other")
    service.settle(30)
    first = start("s2")
    service.settle(30)

    assert first == "Recollect: the last session used 1 memory."
    assert [start("s2"), start("s3")] == ["", ""]


def test_a_session_that_learnt_and_used_nothing_is_not_spoken_of(hook, service, start):
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="What time is it?")
    hook("SessionEnd", reason="other")
    service.settle(30)

    assert start("s2") == ""


def test_a_host_that_shows_no_messages_gets_none(hook, service, memory):
    use_a_memory(hook, service, memory)
    hook("SessionEnd", reason="other")
    service.settle(30)

    assert "last session" not in hook("session.created", session="s2", host="opencode")
