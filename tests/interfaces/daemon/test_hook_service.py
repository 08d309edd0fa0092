"""What a host gets back for its events, and what is kept of them."""

import json
import subprocess
import threading
from pathlib import Path

import pytest
from hook_fields import fields

import recollect.model as m
from hostile_repository import build, plant_hangs
from recollect.config import load_settings
from recollect.embed.open import NoEmbedder
from recollect.engine import Engine
from recollect.interfaces.daemon.hook_service import HookService, NotReady
from recollect.interfaces.daemon.hook_session import CHECKPOINT_EVERY, HELD
from recollect.interfaces.daemon_client.protocol import NotRecorded
from recollect.interfaces.daemon_client.spool import HookSpool, ShownText
from recollect.interfaces.engine_pool import EngineOpener, EnginePool
from recollect.memory.maintenance.consolidate.run import last_run
from recollect.store.sqlite.connection import connect
from recollect.text import block
from recollect.work.extract import extract
from recollect.work.hosts.transcripts import read

NEVER = "Never run rm -rf build: the release artefacts live there."
GOTCHA = "The payment webhook retries must be idempotent."
ASK = "Make the payment webhook retries idempotent, please"


def run(hook, command, output="", failed=False, **more):
    given = {"tool_name": "Bash", "tool_input": {"command": command}, **more}
    if failed:
        return hook("PostToolUseFailure", error=output, **given)
    return hook("PostToolUse", tool_response={"stdout": output, "stderr": ""}, **given)


def test_a_session_starts_with_the_briefing(hook, memory):
    memory.remember("Releases go out on Tuesdays only", kind="convention")

    assert "Tuesdays" in hook("SessionStart", source="startup")


def test_a_prompt_brings_what_bears_on_it(hook, memory):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")

    assert GOTCHA in hook("UserPromptSubmit", prompt=ASK)


def test_a_prompt_brings_what_is_needed_for_it_in_other_words(hook, memory):
    for number in range(12):
        memory.remember(f"The colour of button {number} in the header is blue.", kind="fact")
    memory.remember(
        "Postings are append-only; a reversal is a second row with the sign flipped.",
        kind="architecture",
        when_needed=["customer was charged twice", "undo a payment"],
    )
    hook("SessionStart", source="startup")

    told = hook("UserPromptSubmit", prompt="a customer was charged twice yesterday, undo the payment")

    assert "Postings are append-only" in told
    assert "undo a payment" not in told


def test_what_was_shown_is_not_shown_again(hook, memory):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt=ASK)

    assert hook("UserPromptSubmit", prompt=f"{ASK} and log each payment webhook retry") == ""


def test_a_memory_that_has_become_stale_is_shown_once_more(hook, memory, folder):
    code = folder / "webhook.py"
    code.write_text("def retry_payment(payment):\n    return payment.send(times=3)\n")
    memory.remember(f"{GOTCHA} `retry_payment` in webhook.py sees to that.", kind="gotcha")
    memory.care.check_code()
    hook("SessionStart", source="startup")
    first = hook("UserPromptSubmit", prompt=ASK)
    code.write_text("def retry_payment(payment, times=5):\n    return payment.send_later(times)\n")

    second = hook("UserPromptSubmit", prompt=f"{ASK} once more")
    third = hook("UserPromptSubmit", prompt=f"{ASK} and again")

    assert GOTCHA in first
    assert "(stale)" not in first
    assert "(stale)" in second
    assert third == ""


def test_after_a_compaction_it_is_shown_again(hook, memory):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    hook("SessionStart", source="startup")

    hook("PreCompact", trigger="auto")

    assert "Tuesdays" in hook("SessionStart", source="compact")


@pytest.mark.parametrize("goes_on_with", ["chat.message", "session.created"])
def test_what_opencode_has_compacted_is_told_again(hook, memory, goes_on_with):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    first = hook("chat.message", host="opencode", prompt="Say hello")
    again = hook("chat.message", host="opencode", prompt="Say hello again")

    for_the_summary = hook("experimental.session.compacting", host="opencode")

    assert "Tuesdays" in first
    assert again == for_the_summary == ""
    assert "Tuesdays" in hook(goes_on_with, host="opencode", prompt="Say it once more")


def test_gemini_tells_a_compaction_once_and_by_its_transcript_only(
    hook, service, memory, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    memory.remember("We deploy from the release branch.", kind="decision")
    transcript = tmp_path / ".gemini/tmp/shop/chats/session-1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text('{"sessionId": "s1"}\n{"$set":{"messages":[{"content":"<state_snapshot>old"}]}}\n')
    named = {"host": "gemini", "transcript_path": str(transcript)}

    first = hook("SessionStart", source="startup", **named)
    hook("BeforeAgent", prompt="How do we deploy this shop?", **named)
    hook("AfterAgent", prompt_response="From the branch.", **named)
    service.settle(30)
    hook("PreCompress", trigger="manual", **named)  # it also comes if the chat stays as it is
    second = hook("BeforeAgent", prompt="And who may deploy the shop?", **named)
    hook("PreCompress", trigger="manual", **named)
    with transcript.open("a") as file:
        file.write('{"$set":{"messages":[{"id":"m1","content":[{"text":"<state_snapshot>so far"}]}]}}\n')
    third = hook("BeforeAgent", prompt="Why do we deploy so late?", **named)
    fourth = hook("BeforeAgent", prompt="Who deploys it on Fridays then?", **named)

    assert "release branch" in first
    assert "release branch" not in second
    assert "release branch" in third
    assert "release branch" not in fourth


def test_a_session_whose_start_nobody_heard_is_briefed_at_its_first_prompt(hook, memory):
    memory.remember("Releases go out on Tuesdays only", kind="convention")

    assert "Tuesdays" in hook("UserPromptSubmit", prompt=ASK)


@pytest.fixture
def decide(service, folder):
    """What a hook prints before a tool runs, or nothing."""

    def call(host, event, tool, command="cd x && rm -rf build"):
        body = {"session_id": "s1", "cwd": str(folder), "tool_name": tool, "tool_input": {"command": command}}
        told = service.handle(fields(host, event, seconds="20"), body)
        return json.loads(told) if told else None

    return call


def test_a_host_that_can_ask_the_user_does_so_each_time(decide, memory):
    memory.remember(NEVER, kind="negative", triggers=("rm -rf",))

    first = decide("claude-code", "PreToolUse", "Bash")["hookSpecificOutput"]
    second = decide("claude-code", "PreToolUse", "Bash")["hookSpecificOutput"]

    assert first == second
    assert first["permissionDecision"] == "ask"
    assert NEVER in first["permissionDecisionReason"]
    assert "additionalContext" not in first
    assert decide("claude-code", "PreToolUse", "Bash", "ls") is None


@pytest.mark.parametrize(
    "host, event, tool, refused",
    [
        ("codex", "PreToolUse", "Bash", lambda said: said["hookSpecificOutput"]["permissionDecisionReason"]),
        ("gemini", "BeforeTool", "run_shell_command", lambda said: said["reason"]),
        ("opencode", "tool.execute.before", "bash", lambda said: said["hold"]),
        ("cursor", "preToolUse", "Shell", lambda said: said["agent_message"]),
    ],
)
def test_a_host_that_cannot_ask_refuses_a_call_once_and_says_why(decide, memory, host, event, tool, refused):
    memory.remember(NEVER, kind="negative", triggers=("rm -rf",))

    first = decide(host, event, tool)
    again = decide(host, event, tool)
    other = decide(host, event, tool, "rm -rf build dist")

    assert NEVER in refused(first)
    assert HELD in refused(first)
    assert again is None
    assert NEVER in refused(other)


def test_a_refusal_is_two_sentences(decide, memory):
    memory.remember("Never run rm -rf build", kind="negative", triggers=("rm -rf",))

    said = decide("codex", "PreToolUse", "Bash")["hookSpecificOutput"]["permissionDecisionReason"]

    assert said == f"Your rule: Never run rm -rf build. {HELD}"


def test_a_warning_that_cannot_be_shown_before_a_tool_comes_with_its_output(
    hook, decide, home, folder, embedder
):
    with Engine.open(folder, home, embedder=embedder, actor="agent:codex") as agent:
        agent.remember("Building takes ten minutes", kind="negative", triggers=("make all",))

    before = decide("gemini", "BeforeTool", "run_shell_command", "make all")
    given = {"tool_name": "run_shell_command", "tool_input": {"command": "make all"}}
    after = hook("AfterTool", host="gemini", tool_response={"llmContent": "Output: done"}, **given)

    assert before is None
    assert "ten minutes" in after


def test_an_agents_warning_is_told_once(hook, memory, home, folder, embedder):
    with Engine.open(folder, home, embedder=embedder, actor="agent:codex") as agent:
        agent.remember("Building takes ten minutes", kind="negative", triggers=("make all",))
    given = {"tool_name": "Bash", "tool_input": {"command": "make all"}}

    first, second = hook("PreToolUse", **given), hook("PreToolUse", **given)

    assert "ten minutes" in first
    assert second == ""


CARTS = "Carts are written with SETNX: two tabs may race"
CODE = 'import redis\n\nclass CartError(Exception):\n    """An error: the cart is missing, or its code is invalid."""\n'
DISCOUNT = "Add a discount code to carts, at most one of them, and show it on every receipt and invoice"


def read_file(hook, path, host="claude-code", **more):
    """What the agent is told with the content of a file that it reads by its host's own tool."""
    event, tool, given = {
        "claude-code": ("PostToolUse", "Read", {"file_path": path}),
        "codex": ("PostToolUse", "exec_command", {"cmd": f"sed -n '1,200p' {path}"}),
        "gemini": ("AfterTool", "read_file", {"file_path": path}),
        "opencode": ("tool.execute.after", "read", {"filePath": path}),
    }[host]
    if host == "opencode":
        return hook(event, host=host, tool=tool, args=given, output=CODE, **more)
    return hook(event, host=host, tool_name=tool, tool_input=given, tool_response=CODE, **more)


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "opencode"])
def test_an_agent_that_opens_a_file_is_told_once_what_is_known_of_it(hook, memory, folder, host):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    prompt = {"gemini": "BeforeAgent", "opencode": "chat.message"}.get(host, "UserPromptSubmit")
    path = "shop/carts.py" if host == "codex" else str(folder / "shop/carts.py")

    asked = hook(prompt, host=host, prompt=DISCOUNT)
    other = read_file(hook, str(folder / "shop/prices.py"), host)
    opened = read_file(hook, path, host)
    again = read_file(hook, path, host)

    assert "SETNX" not in asked
    assert other == again == ""
    assert "SETNX" in opened and "shop/carts.py" in opened


def test_a_patch_of_codex_opens_the_files_that_it_names(hook, memory):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    patch = "*** Begin Patch\n*** Update File: shop/carts.py\n-old = 1\n+patched = 2\n*** End Patch"
    hook("UserPromptSubmit", host="codex", prompt=DISCOUNT)

    told = hook(
        "PostToolUse",
        host="codex",
        tool_name="apply_patch",
        tool_input={"command": patch},
        tool_response="Done",
    )

    assert "SETNX" in told


def test_a_file_that_is_named_by_a_link_to_the_project_is_the_same_file(hook, memory, folder, tmp_path):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    (tmp_path / "link").symlink_to(folder)
    hook("UserPromptSubmit", prompt=DISCOUNT)

    assert "SETNX" in read_file(hook, str(tmp_path / "link/shop/carts.py"))


def test_a_memory_about_a_folder_waits_for_its_files(hook, memory, folder):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts/"])
    hook("UserPromptSubmit", prompt=DISCOUNT)

    beside = read_file(hook, str(folder / "shop/carts_old.py"))

    assert beside == ""
    assert "SETNX" in read_file(hook, str(folder / "shop/carts/write.py"))


def test_what_is_known_of_a_file_and_was_forgotten_meanwhile_is_not_told(hook, memory, folder):
    stored = memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    hook("UserPromptSubmit", prompt=DISCOUNT)
    memory.forget(stored.id)

    assert read_file(hook, str(folder / "shop/carts.py")) == ""


@pytest.mark.parametrize(
    "path", ["/etc/carts\0.py", "/tmp/\udcff.py", "/" + "a/" * 50_000, "{tmp}/circle/carts.py"]
)
def test_a_path_that_is_no_file_keeps_no_other_file_of_a_call_from_being_told_about(
    hook, service, memory, folder, tmp_path, path
):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    hook("UserPromptSubmit", prompt=DISCOUNT)
    patch = f"*** Begin Patch\n*** Update File: {path.format(tmp=tmp_path)}\n*** Update File: shop/carts.py"

    opened = hook("PostToolUse", tool_name="apply_patch", tool_input={"input": patch}, tool_response="Done")

    assert "SETNX" in opened
    assert service.last_error == ""


def test_a_memory_that_is_about_another_file_by_now_is_not_told_with_the_old_one(hook, memory, folder):
    stored = memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    hook("UserPromptSubmit", prompt=DISCOUNT)
    memory.edit(stored.id, file_paths=["shop/baskets.py"])

    assert read_file(hook, str(folder / "shop/carts.py")) == ""


def test_a_memory_of_a_branch_that_was_left_meanwhile_is_not_told_with_its_file(hook, home, folder, embedder):
    git = ("git", "-C", str(folder))
    subprocess.run([*git, "init", "-q", "-b", "vat"], check=True)
    with Engine.open(folder, home, embedder=embedder) as engine:
        engine.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"], branch="vat")
    hook("UserPromptSubmit", prompt=DISCOUNT)
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    on_main = read_file(hook, str(folder / "shop/carts.py"))
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/vat"], check=True)

    assert on_main == ""
    assert "SETNX" in read_file(hook, str(folder / "shop/carts.py"))


def test_a_contradiction_that_was_settled_meanwhile_is_not_told_with_the_file(hook, memory, folder):
    lua = "Baskets never race: one tab locks the other out with Lua"
    stored = memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"]).id
    other = memory.remember(lua, kind="gotcha", file_paths=["shop/lua.py"]).id
    memory.memory.link(stored, other, "contradicts", 1.0)
    for session in ("s1", "s2"):
        hook("UserPromptSubmit", session=session, prompt=DISCOUNT)

    before = read_file(hook, str(folder / "shop/carts.py"), session="s1")
    memory.memory.resolve(stored, other, stored)
    after = read_file(hook, str(folder / "shop/carts.py"), session="s2")

    assert "SETNX" in before and lua in before
    assert "SETNX" in after and lua not in after


def test_opening_a_file_for_a_general_question_brings_nothing(hook, memory, folder):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    hook("UserPromptSubmit", prompt="explain rebase")

    assert read_file(hook, str(folder / "shop/carts.py")) == ""


@pytest.mark.parametrize(
    ("answer", "is_used"),
    [("I read shop/carts.py.", False), ("The two tabs race: I keep SETNX as carts are written.", True)],
)
def test_a_memory_told_with_a_file_is_used_by_its_words_and_not_because_the_file_is_read(
    hook, service, memory, folder, answer, is_used
):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    hook("UserPromptSubmit", prompt=DISCOUNT)
    assert read_file(hook, str(folder / "shop/carts.py"))
    read_file(hook, str(folder / "shop/carts.py"), offset=200)

    hook("Stop", last_assistant_message=answer)
    hook("UserPromptSubmit", prompt="And the tests of the checkout?")
    service.settle(30)

    shown = [item for record in memory.delivery.of_session("s1") for item in record.items]
    assert [item.used_at is not None for item in shown] == [is_used]


def test_a_file_opened_after_a_short_reply_is_still_about_the_task_before(hook, memory, folder):
    memory.remember(CARTS, kind="gotcha", file_paths=["shop/carts.py"])
    hook("UserPromptSubmit", prompt=DISCOUNT)
    hook("UserPromptSubmit", prompt="yes")

    assert "SETNX" in read_file(hook, str(folder / "shop/carts.py"))


def test_a_failure_brings_the_known_fix(hook, memory):
    known = "`npm test` failed: “Error: Cannot find module jest”. It passed after `npm install jest`."
    memory.remember(known, kind="error_pattern")

    told = run(hook, "npm test", "Exit code 1\nError: Cannot find module jest", failed=True)

    assert "npm install jest" in told


def test_what_helped_in_the_last_session_is_told_once(hook, service, memory):
    def run(command, output, code, session="s1"):
        given = {"tool_name": "bash", "tool_input": {"command": command}, "tool_use_id": f"{session}-{code}"}
        response = {"output": output, "metadata": {"exit": code}}
        return hook("tool.execute.after", session, "opencode", tool_response=response, **given)

    failure = "ModuleNotFoundError: No module named 'shop'"
    hook("chat.message", host="opencode", prompt="Run the tests of the shop")
    run("python3 -m pytest tests", failure, 2)
    run("PYTHONPATH=src python3 -m pytest tests", "3 passed", 0)
    hook("session.deleted", host="opencode")
    service.settle(30)
    memory.episodes.refresh()

    told = run("python3 -m pytest tests", failure, 2, "s2")

    assert [each.kind for each in memory.list()] == ["error_pattern"]
    assert told.count(failure) == 1
    assert "PYTHONPATH=src" in told


def test_what_helped_is_told_however_long_the_error_is(hook, memory):
    known = (
        "`python3 -m pytest tests/payments` failed: “ModuleNotFoundError: No module named 'shop'”."
        " What worked: the same with `PYTHONPATH=src`, because the package is not installed here."
    )
    memory.remember(known, kind="error_pattern")

    told = run(hook, "pytest", "Exit code 2\nModuleNotFoundError: No module named 'shop'", failed=True)

    assert "PYTHONPATH=src" in told


@pytest.mark.parametrize(
    "host, event, tool, response",
    [
        ("codex", "PostToolUse", "Bash", "Error: Cannot find module jest\n"),
        (
            "gemini",
            "AfterTool",
            "run_shell_command",
            {"llmContent": "Output: Error: Cannot find module jest\nExit Code: 1\nProcess Group PGID: 7"},
        ),
        (
            "opencode",
            "tool.execute.after",
            "bash",
            {"output": "Error: Cannot find module jest\n", "metadata": {"exit": 1}},
        ),
    ],
)
def test_the_known_fix_comes_in_hosts_that_do_not_call_it_a_failure(
    hook, memory, host, event, tool, response
):
    known = "`npm test` failed: “Error: Cannot find module jest”. It passed after `npm install jest`."
    memory.remember(known, kind="error_pattern")
    given = {"tool_name": tool, "tool_input": {"command": "npm test"}, "tool_response": response}

    assert "npm install jest" in hook(event, host=host, **given)


@pytest.mark.parametrize(
    ("command", "is_told"),
    [
        ("npm test > out.txt 2>&1; tail -5 out.txt", True),
        ("cat package.json && npm test", True),
        ("cd docs && cat notes.md && grep -n jest other.md", False),
    ],
)
def test_an_error_that_codex_reads_in_a_file_is_none_of_the_command(hook, memory, command, is_told):
    known = "`npm test` failed: “Error: Cannot find module jest”. It passed after `npm install jest`."
    memory.remember(known, kind="error_pattern")
    given = {"tool_input": {"command": command}, "tool_response": "Error: Cannot find module jest\n"}

    assert ("npm install jest" in hook("PostToolUse", host="codex", tool_name="Bash", **given)) == is_told


def test_what_is_found_too_late_comes_with_the_next_event(hook, memory, lookups, postponed):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    lookups.clear()

    nothing_yet = hook("UserPromptSubmit", prompt=ASK, seconds="0.2")
    lookups.set()
    assert postponed.wait(60)

    assert nothing_yet == ""
    assert GOTCHA in hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})


def test_two_prompts_that_are_answered_late_are_not_told_the_same(
    hook, service, memory, lookups, monkeypatch
):
    both, came_late = threading.Barrier(3), service._came_late
    monkeypatch.setattr(service, "_came_late", lambda *given: (came_late(*given), both.wait(60)))
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    lookups.clear()

    nothing_yet = [hook("UserPromptSubmit", prompt=f"{ASK} {number}", seconds="0.2") for number in (1, 2)]
    lookups.set()
    both.wait(60)
    late = hook("UserPromptSubmit", prompt="Say hello")
    late += hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    assert nothing_yet == ["", ""]
    assert late.count(GOTCHA) == 1


@pytest.mark.parametrize("shown_with", ["PreToolUse", "SessionStart"])
def test_a_late_text_waits_for_an_event_whose_answer_is_shown(hook, memory, lookups, postponed, shown_with):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    lookups.clear()
    hook("UserPromptSubmit", prompt=ASK, seconds="0.2", name="p1")
    lookups.set()
    assert postponed.wait(60)

    in_background = hook("UserPromptSubmit", prompt=ASK, seconds="0", name="p1")

    assert in_background == ""
    assert GOTCHA in hook(shown_with, tool_name="Bash", tool_input={"command": "ls"})


def test_what_was_not_received_is_told_with_the_next_event_and_noted_then(hook, service, memory):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt=ASK, received=False)
    service.settle(20)
    noted = [record.moment for record in memory.store.deliveries.of_session(memory.settings.user, "s1")]

    told = [hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) for _ in range(2)]
    service.settle(20)

    assert noted == ["start"]
    assert [GOTCHA in text for text in told] == [True, False]
    records = memory.store.deliveries.of_session(memory.settings.user, "s1")
    assert [record.moment for record in records] == ["start", "prompt"]


def test_what_was_late_before_a_compaction_is_not_said_beside_what_is_said_again(hook, memory):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt=ASK, received=False)

    again = hook("SessionStart", source="compact")
    later = hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    assert (again + later).count(GOTCHA) == 1


def test_a_known_fix_that_was_late_before_a_compaction_is_still_told_once(hook, memory):
    known = "`npm test` failed: “Error: Cannot find module jest”. It passed after `npm install jest`."
    memory.remember(known, kind="error_pattern")
    hook("SessionStart", source="startup")
    run(hook, "npm test", "Error: Cannot find module jest", failed=True, received=False)

    again = hook("SessionStart", source="compact")
    later = hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    assert (again + later).count("npm install jest") == 1


def test_late_texts_that_do_not_fit_into_one_answer_wait_for_the_next(hook, service, memory, monkeypatch):
    for day in ("Monday", "Friday"):
        memory.remember(f"The payment webhook is deployed on {day}s: {'see the runbook ' * 9}", kind="gotcha")
    hook("SessionStart", source="startup")
    for day in ("Monday", "Friday"):
        hook("UserPromptSubmit", prompt=f"Is the payment webhook deployed on {day}s?", received=False)
    late = [len(each.delivery.text) for each in service._sessions["s1"]._outbox._late]
    monkeypatch.setattr("recollect.interfaces.daemon.hook_service.context_limit", lambda host: max(late) + 9)

    told = [hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) for _ in range(3)]

    assert [bool(text) for text in told] == [bool(size) for size in (*late, 0, 0)][:3]


def test_rules_that_were_composed_too_late_for_a_start_come_with_the_first_prompt(
    hook, memory, lookups, postponed
):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    lookups.clear()

    with pytest.raises(NotReady):  # and the hook could not compose them either
        hook("SessionStart", source="startup", seconds="0.05")
    lookups.set()
    assert postponed.wait(60)

    assert "Tuesdays" in hook("UserPromptSubmit", prompt="Hello, number 1")


def test_a_session_is_learnt_from_at_its_end(hook, service, memory):
    hook("UserPromptSubmit", prompt="We always use pnpm here, never npm, please remember that.")
    run(hook, "npm test", "Exit code 1\nError: Cannot find module jest", failed=True)
    run(hook, "npm install jest", "ok")
    run(hook, "npm test", "3 passed")

    hook("SessionEnd", reason="other")
    service.settle(30)

    assert any("pnpm" in each.content for each in memory.list())
    assert memory.store.get_session("s1").ended_at is not None
    assert "pnpm" in hook("SessionStart", session="s2", source="startup")


def test_a_session_that_begins_as_the_last_one_ends_is_told_of_it(hook, service, monkeypatch):
    others_are_read = threading.Event()
    read, end = service._learn_from_others, service._end

    def learn_from_others(session):
        read(session)
        others_are_read.set()

    def end_late(session, event):
        others_are_read.wait(20)
        end(session, event)

    monkeypatch.setattr(service, "_learn_from_others", learn_from_others)
    monkeypatch.setattr(service, "_end", end_late)
    hook("UserPromptSubmit", prompt="Speed up the checkout page")
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "checkout.py"}, "tool_response": "ok"}
    hook("PostToolUse", **edit)
    hook("SessionEnd", reason="other")

    assert "Changed: checkout.py" in hook("SessionStart", session="s2", source="startup")


def test_the_last_turn_is_learnt_from_even_if_it_comes_soon_after_another(hook, service, memory, clock):
    hook("UserPromptSubmit", prompt="Always run `make lint` before you commit.")
    hook("Stop", last_assistant_message="Done.")
    service.settle(20)
    hook("UserPromptSubmit", prompt="Never edit files below src/generated by hand.")
    hook("Stop", last_assistant_message="I will not.")
    service.settle(20)
    learnt = len(memory.sessions.findings("s1"))

    clock.advance(seconds=CHECKPOINT_EVERY)
    service.tick()
    service.settle(20)

    assert learnt == 1
    assert any("src/generated" in finding.content for finding in memory.sessions.findings("s1"))


def test_what_a_hook_has_shown_without_a_daemon_is_recorded_and_not_said_again(hook, home, folder, memory):
    stored = memory.remember("Releases go out on Tuesdays only", kind="convention")
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "source": "startup"}).encode()
    shown = ShownText("start", 9, "Releases go out on Tuesdays only", (m.ShownItem(stored.id, "always"),))
    HookSpool(home).append(fields("claude-code", "SessionStart", "e-start"), body, shown)

    said = hook("UserPromptSubmit", prompt="When do releases go out? On Tuesdays only?")

    assert "Tuesdays" not in said
    (record,) = memory.store.deliveries.of_session(memory.settings.user, "s1")
    assert (record.moment, record.text, record.host) == ("start", shown.text, "claude-code")
    assert [item.key for item in record.items] == [stored.id]


def test_a_briefing_that_is_not_ready_in_time_is_left_to_the_hook(hook, lookups):
    lookups.clear()

    with pytest.raises(NotReady):
        hook("SessionStart", source="startup", seconds="0.05")
    lookups.set()


@pytest.fixture
def loading(service, monkeypatch):
    """The model is still being loaded; for how many seconds lookups have waited for it."""
    waited: list[float] = []
    monkeypatch.setattr(service, "_load", lambda folder: None)
    service.warm_up()
    monkeypatch.setattr(service.model_is_ready, "wait", waited.append)
    return waited


def test_while_the_model_loads_memories_are_found_by_their_words(hook, memory, embedder, loading):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    embedder.texts.clear()

    said = hook("UserPromptSubmit", prompt="Make the payment webhook retries idempotent", seconds="20")

    assert GOTCHA in said
    assert all(seconds < 20 for seconds in loading)
    assert embedder.texts == []


def test_the_daemon_loads_the_model_and_the_project_it_was_started_for(service, memory, folder, embedder):
    memory.remember(GOTCHA, kind="gotcha")
    embedder.texts.clear()

    service.warm_up(str(folder))
    assert service.model_is_ready.wait(20)

    assert "warm" in embedder.texts


def test_the_daemon_loads_the_model_that_reads_statements_after_what_a_prompt_needs(service, folder):
    service.warm_up(str(folder))
    for thread in threading.enumerate():
        if thread.name == "recollect-warm-up":
            thread.join(60)

    assert service.model_is_ready.is_set()
    with service.engines.use(str(folder), "user") as engine:
        assert engine.context.reader.is_loaded


def test_vectors_that_are_turned_off_are_no_error_of_the_daemon(home, folder):
    opener = EngineOpener(lambda: load_settings(home), lambda settings: NoEmbedder())
    service = HookService(EnginePool(opener), HookSpool(home))

    service.warm_up(str(folder))
    assert service.model_is_ready.wait(20)
    service.close()

    assert not service.last_error


@pytest.fixture
def busy(memory, home):
    """Another process is writing to the store, until the end of the test or until it is closed."""
    writer = connect(home / "recollect.db", None)
    writer.execute("BEGIN IMMEDIATE")
    yield writer
    writer.close()


def test_a_busy_store_costs_no_briefing(hook, service, memory, busy, recorded, monkeypatch):
    is_recorded = service._is_recorded  # not waited for here: the store is busy for longer than any deadline
    monkeypatch.setattr(service, "_is_recorded", lambda recording, until: is_recorded(recording, 0.0))
    busy.execute("ROLLBACK")
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    memory.remember(GOTCHA, kind="gotcha")
    busy.execute("BEGIN IMMEDIATE")

    with pytest.raises(NotRecorded, match="not recorded") as started:
        hook("SessionStart", source="startup")
    with pytest.raises(NotRecorded) as prompted:
        hook("UserPromptSubmit", prompt=ASK)

    assert b"Tuesdays" in started.value.text
    assert GOTCHA.encode() in prompted.value.text
    assert recorded() == []


def test_what_a_busy_store_refused_is_recorded_once_when_it_comes_again(
    hook, service, memory, busy, recorded
):
    given = {"name": "e-busy", "prompt": ASK, "seconds": "0.2"}
    with pytest.raises(NotRecorded):
        hook("UserPromptSubmit", **given)

    busy.execute("ROLLBACK")
    hook("UserPromptSubmit", **(given | {"seconds": "20"}))

    assert recorded() == [ASK]


def test_an_event_that_comes_twice_counts_once(hook, recorded):
    run(hook, "make", "done", name="e1")
    run(hook, "make", "done", name="e1")

    assert recorded() == ["make", "done"]


def test_what_waited_comes_before_what_happens_now(hook, home, folder, recorded):
    body = b'{"session_id": "s1", "cwd": "%s", "prompt": "%s"}'
    for number in (2, 1):  # written down out of order
        text = body % (str(folder).encode(), b"number %d" % number)
        HookSpool(home).append(fields("claude-code", "UserPromptSubmit", at=number), text)

    hook("UserPromptSubmit", prompt="number 3")

    assert recorded() == ["number 1", "number 2", "number 3"]
    assert not HookSpool(home).waiting()


def test_the_spool_holds_no_secret(home, folder):
    secret = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    session = "550e8400-e29b-41d4-a716-446655440000"
    body = json.dumps({"session_id": session, "cwd": "/x", "tool_input": {"command": f"export T={secret}"}})

    assert HookSpool(home).append(fields("claude-code", "PostToolUse"), body.encode())

    (file,) = (home / "spool" / "hooks").glob("*.jsonl")
    assert secret not in file.read_text()
    assert session in file.read_text()
    assert oct(file.stat().st_mode)[-3:] == "600"


def test_with_memory_off_nothing_is_kept_or_shown(hook, memory, recorded):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    memory.preferences.set_switch("memory", False)

    assert hook("SessionStart", source="startup") == ""
    assert hook("UserPromptSubmit", prompt=ASK) == ""
    assert recorded() == []


def test_with_learning_off_sessions_are_kept_and_not_learnt_from(hook, service, memory):
    memory.preferences.set_switch("auto", False)
    hook("UserPromptSubmit", prompt="We always use pnpm here, never npm, please remember that.")

    hook("SessionEnd", reason="other")
    service.settle(30)

    assert memory.list() == ()
    assert memory.sessions.findings("s1") == ()


def test_a_session_stays_in_the_project_it_began_in(
    hook, service, home, folder, tmp_path, embedder, recorded
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    hook("UserPromptSubmit", prompt="one")

    hook("UserPromptSubmit", prompt="two", cwd=str(elsewhere))
    hook("UserPromptSubmit", session="s2", prompt="three", cwd=str(elsewhere))

    assert recorded() == ["one", "two"]
    with Engine.open(elsewhere, home, embedder=embedder) as engine:
        assert [session.id for session in engine.sessions.newest()] == ["s2"]


@pytest.mark.parametrize("cwd", ["/no/such/folder", "", None, 7, "\0"])
def test_a_folder_that_is_none_costs_only_the_event(hook, cwd):
    assert hook("UserPromptSubmit", prompt=ASK, cwd=cwd) == ""


def test_a_transcript_is_read_only_where_the_host_keeps_its_own(hook, service, memory, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    line = (
        '{"type": "user", "uuid": "u", "sessionId": "%s", "message": '
        '{"role": "user", "content": "We always use pnpm here, never npm, please remember that."}}\n'
    )
    own, foreign = tmp_path / "claude" / "projects" / "p" / "s1.jsonl", tmp_path / "s2.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text(line % "s1")
    foreign.write_text(line % "s2")

    hook("SessionEnd", session="s1", transcript_path=str(own))
    hook("SessionEnd", session="s2", transcript_path=str(foreign))
    service.settle(30)

    assert len(memory.sessions.findings("s1")) == 1
    assert memory.sessions.findings("s2") == ()


def test_ten_thousand_characters_are_never_exceeded(hook, memory):
    for number in range(60):
        memory.remember(f"Convention {number}: " + f"word{number} " * 60, kind="convention")
    memory.preferences.set_budget(5000)

    told = hook("SessionStart", source="startup")

    assert 0 < len(told) <= 10_000


@pytest.mark.parametrize(
    ("host", "start", "prompt"),
    [
        ("codex", "SessionStart", "UserPromptSubmit"),
        ("gemini", "SessionStart", "BeforeAgent"),
        ("vscode", "SessionStart", "UserPromptSubmit"),
        ("opencode", "experimental.chat.system.transform", "chat.message"),
    ],
)
def test_other_hosts_get_the_same_in_their_own_form(hook, memory, host, start, prompt):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    memory.remember(GOTCHA, kind="gotcha")

    assert "Tuesdays" in hook(start, host=host)
    assert GOTCHA in hook(prompt, host=host, prompt=ASK)


def test_a_host_that_takes_nothing_is_told_nothing(hook, memory, recorded):
    memory.remember(GOTCHA, kind="gotcha")

    assert hook("pre_user_prompt", host="windsurf", tool_info={"user_prompt": ASK}) == ""
    assert recorded() == [ASK]


def test_a_session_ends_with_the_findings_of_its_transcript(
    hook, service, memory, folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    file = tmp_path / "claude" / "projects" / "p" / "s1.jsonl"
    file.parent.mkdir(parents=True)
    error = "Exit code 1\nE   ConnectionError: redis is not reachable on port 6380\n1 failed"
    file.write_text(
        "".join(
            json.dumps({"uuid": str(number), "sessionId": "s1", "cwd": str(folder), **line}) + "\n"
            for number, line in enumerate(
                [
                    _said("user", "Please run the tests of the queue."),
                    _called("c1", "Bash", command="pytest tests/queue"),
                    _answered("c1", error, failed=True),
                    _said("assistant", "The fixture starts Redis on another port than the tests expect."),
                    _called("c2", "Edit", file_path=f"{folder}/conftest.py", old_string="1", new_string="2"),
                    _answered("c2", "ok"),
                    _called("c3", "Bash", command="pytest tests/queue"),
                    _answered("c3", "3 passed"),
                ]
            )
        )
    )

    hook("UserPromptSubmit", prompt="Please run the tests of the queue.")
    run(hook, "pytest tests/queue", error, failed=True)
    hook(
        "PostToolUse", tool_name="Edit", tool_input={"file_path": f"{folder}/conftest.py"}, tool_response="ok"
    )
    run(hook, "pytest tests/queue", "3 passed")
    hook("SessionEnd", transcript_path=str(file))
    service.settle(30)

    wanted = extract(read(file), m.utc_now())
    assert len(wanted) == 1
    assert "another port" in wanted[0].content
    assert [each.content for each in memory.sessions.findings("s1")] == [each.content for each in wanted]


def _said(role, text):
    return {"type": role, "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def _called(call, tool, **given):
    block = {"type": "tool_use", "id": call, "name": tool, "input": given}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def _answered(call, text, failed=False):
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def test_a_host_that_takes_nothing_has_the_briefing_in_its_rules(hook, service, memory, folder):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    rules = folder / ".windsurf" / "rules" / "recollect.md"
    rules.parent.mkdir(parents=True)
    rules.write_text(block.put("", "Ask memory first."))

    hook("pre_user_prompt", host="windsurf", tool_info={"user_prompt": ASK})
    hook("post_cascade_response", host="windsurf", tool_info={"response": "Done."})
    service.settle(30)

    assert "Tuesdays" in rules.read_text()
    assert "Ask memory first." in rules.read_text()


def test_after_ten_quiet_minutes_memories_are_consolidated(hook, service, memory, clock):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")

    service.tick()
    service.settle(60)
    before = last_run(memory.store)
    clock.advance(minutes=11)
    service.tick()
    service.settle(60)

    assert before is None
    assert last_run(memory.store) is not None


def test_a_session_that_never_ended_is_learnt_from_when_it_is_quiet(hook, service, memory, clock, execute):
    hook("UserPromptSubmit", prompt="We always use pnpm here, never npm, please remember that.")
    service.settle(30)  # nobody else writes
    execute("UPDATE sessions SET active_at = '2020-01-01T00:00:00.000000Z'")
    clock.advance(minutes=1)

    service.tick()
    service.settle(60)

    assert memory.store.get_session("s1").extracted_at is not None


def test_no_program_that_a_repository_names_is_run_and_nothing_hangs(
    service, home, embedder, tmp_path, clock
):
    ran = tmp_path / "ran"
    repository = str(build(tmp_path / "repo", ran))
    plant_hangs(Path(repository))
    body = {"session_id": "s1", "cwd": repository}
    with Engine.open(repository, home, embedder=embedder) as engine:
        engine.relevant("the total")  # the project has a code graph

    service.handle(fields("claude-code", "SessionStart"), body)
    service.handle(fields("claude-code", "UserPromptSubmit"), {**body, "prompt": "Why is the total wrong?"})
    service.handle(fields("claude-code", "SessionEnd"), body)
    for _ in range(2):
        clock.advance(minutes=11)
        service.tick()
        service.settle(60)

    assert list(ran.iterdir()) == []
    assert service.watchdog.stuck() == []
    assert not service.last_error


def test_idle_work_that_takes_long_is_not_stopped_by_the_next_tick(hook, service, clock, monkeypatch):
    hook("SessionStart", source="startup")
    service.settle(30)
    stopped = []

    def work_during_ticks(self, now, stop):
        service.tick()
        service.tick()
        stopped.append(stop())

    monkeypatch.setattr("recollect.work.project_code.ProjectCode.follow", work_during_ticks)
    clock.advance(minutes=1)
    service.tick()
    service.settle(30)

    assert stopped
    assert not any(stopped)
