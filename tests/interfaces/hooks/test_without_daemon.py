"""The start of a session without a daemon: the hook composes the briefing itself, or says nothing, and exits 0."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest
from fake_daemon import FakeDaemon

from recollect.engine import Engine
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.first_prompts import MOST, FirstPrompts
from recollect.interfaces.daemon_client.spool import HookSpool
from recollect.store.sqlite.connection import connect, suspicion
from recollect.work.delivery.delivery import DeliveryRequest, Moment

RULE = "Releases go out on Tuesdays only."


@pytest.fixture
def known(home, folder):
    """The store of a user with a rule."""
    with Engine.open(folder, home) as engine:
        engine.remember(RULE, kind="convention")
    return home / "recollect.db"


@pytest.fixture
def start(hook, folder):
    """What a host prints at the start of a session."""

    def call(event="SessionStart", host="claude-code", session="s1", **options):
        body = {"session_id": session, "sessionID": session, "cwd": str(folder), "source": "startup"}
        body |= options.pop("body", {})
        return hook(event, json.dumps(body).encode(), host, **options).decode()

    return call


@pytest.fixture
def spooled(home):
    """What waits for the daemon."""

    def read():
        found = []
        HookSpool(home).drain(found.extend)
        return found

    return read


HOSTS = [
    ("claude-code", "SessionStart"),
    ("codex", "SessionStart"),
    ("gemini", "SessionStart"),
    ("opencode", "session.created"),
    ("cursor", "sessionStart"),
    ("vscode", "SessionStart"),
]


@pytest.mark.parametrize(("host", "event"), HOSTS)
def test_a_session_starts_with_the_briefing_in_the_form_of_its_host(start, known, no_daemon, host, event):
    text = start(event, host)

    if host != "opencode":
        said = json.loads(text)
        text = said.get("additional_context") or said["hookSpecificOutput"]["additionalContext"]
    assert RULE.rstrip(".") in text


def test_a_session_is_told_an_order_that_was_remembered_without_a_kind(start, home, folder, no_daemon):
    with Engine.open(folder, home) as engine:
        engine.remember("Use pnpm, not npm")

    assert "Use pnpm, not npm" in start()


def test_what_was_shown_waits_with_the_event(start, known, spooled, no_daemon):
    start()

    (event,) = spooled()
    assert event.body["source"] == "startup"
    assert event.shown.moment == "start"
    assert RULE.rstrip(".") in event.shown.text
    assert len(event.shown.items) == 1


def test_the_user_is_told_what_the_last_session_used(start, known, home, folder, no_daemon):
    with Engine.open(folder, home) as engine:
        (rule,) = engine.list()
        engine.sessions.start("s0", host="claude-code")
        engine.delivery.compose(DeliveryRequest(Moment.START, session="s0"), engine.delivery.told("s0"))
        engine.delivery.note_used("s0", [rule.id])
        engine.delivery.flush()
        engine.sessions.end("s0")

    assert json.loads(start())["systemMessage"] == "Recollect: the last session used 1 memory."


def test_the_store_is_not_written_to(start, known, no_daemon):
    before = known.read_bytes()

    assert start()

    assert known.read_bytes() == before
    assert not list(known.parent.glob("*.damaged*"))


def test_a_writer_does_not_keep_a_session_from_its_briefing(start, known, no_daemon):
    writer = connect(known, None)
    writer.execute("BEGIN IMMEDIATE")

    assert RULE.rstrip(".") in start()
    writer.close()


def test_after_a_compaction_the_briefing_comes_again(start, known, spooled, no_daemon):
    start()

    assert RULE.rstrip(".") in start(body={"source": "compact"})
    assert [event.shown.moment for event in spooled()] == ["start", "after_compaction"]


def test_without_a_store_there_is_nothing_to_say_and_none_is_made(start, home, spooled, no_daemon):
    assert start() == ""

    assert not (home / "recollect.db").exists()
    assert len(spooled()) == 1


def test_with_memory_off_nothing_is_said(start, known, home, folder, no_daemon):
    with Engine.open(folder, home) as engine:
        engine.preferences.set_switch("memory", False)

    assert start() == ""


def test_a_store_of_another_version_is_left_alone(start, known, no_daemon):
    for change in (1, -1):
        database = connect(known, None)
        version = database.pragma("user_version") + change
        database.pragma("user_version", version)
        database.close()

        assert start() == ""

        database = connect(known, None)
        assert database.pragma("user_version") == version
        database.pragma("user_version", version - change)
        database.close()


def test_a_damaged_store_is_left_to_the_daemon(start, known, no_daemon):
    known.write_bytes(b"\0" * 4096 + known.read_bytes()[4096:])

    assert start() == ""
    assert start() == ""
    assert suspicion(known).exists()


@pytest.fixture
def encrypted(known, home, folder, tmp_path):
    """The file with the key of the store, which is encrypted."""
    key_file = tmp_path / "key"
    with Engine.open(folder, home) as engine:
        engine.care.encrypt(key_file)
    return key_file


def test_an_encrypted_store_is_read_with_its_key_and_its_words_are_spooled_nowhere(
    start, encrypted, home, spooled, no_daemon
):
    assert RULE.rstrip(".") in start()

    assert not any(b"Tuesdays" in file.read_bytes() for file in home.rglob("*") if file.is_file())
    assert [len(event.shown.items) for event in spooled()] == [1]


def test_without_its_key_an_encrypted_store_says_nothing(start, encrypted, no_daemon):
    encrypted.unlink()

    assert start() == ""


def test_a_keychain_that_never_answers_costs_the_briefing_and_not_the_event(
    start, encrypted, known, spooled, tmp_path, no_daemon, monkeypatch
):
    note = known.with_name("recollect.db.key.json")
    note.write_text(json.dumps(json.loads(note.read_text()) | {"where": "keychain"}))
    (tmp_path / "stuck.py").write_text(
        "import threading, keyring.backend\n"
        "class Stuck(keyring.backend.KeyringBackend):\n"
        "    priority = 1\n"
        "    def get_password(self, service, name): threading.Event().wait()\n"
        "    def set_password(self, service, name, text): pass\n"
        "    def delete_password(self, service, name): pass\n"
    )

    environment = {"PYTHON_KEYRING_BACKEND": "stuck.Stuck", "PYTHONPATH": str(tmp_path)}
    assert start(environment=environment) == ""

    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(encrypted))
    assert len(spooled()) == 1


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"session_id": 1}', b'{"session_id": "s1", "cwd": 5}'])
def test_what_is_no_start_of_a_session_says_nothing(hook, known, no_daemon, body):
    assert hook("SessionStart", body) == b""


def test_a_folder_that_is_gone_says_nothing(start, known, no_daemon, tmp_path):
    assert start(body={"cwd": str(tmp_path / "gone")}) == ""


def test_no_model_and_no_tokenizer_is_loaded(known, home, folder, no_daemon):
    code = (
        "import sys, json; from recollect.__main__ import main\n"
        "main(['hook', 'claude-code', 'SessionStart'])\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'splintr', 'tree_sitter', 'click', 'mcp'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    body = json.dumps({"session_id": "s1", "cwd": str(folder)}).encode()

    done = subprocess.run([sys.executable, "-c", code], input=body, capture_output=True, timeout=60)

    assert RULE.rstrip(".") in done.stdout.decode()
    assert done.stderr == b"[]\n"


# the first prompt of a session


PATIENT = {"RECOLLECT_FIRST_PROMPT_SECONDS": "600"}  # longer than a test may take
HASTY = {"RECOLLECT_HOOK_DEADLINE": "0.2"}  # gives up a daemon that is silent


def test_the_first_prompt_of_a_session_waits_for_a_daemon_that_is_starting(hook, home, no_daemon):
    printed = []
    prompt = threading.Thread(target=lambda: printed.append(hook(environment=PATIENT)))

    prompt.start()
    until(lambda: list(home.glob("run/first-prompts/*")))
    with FakeDaemon(home, b"ok 7\n{ready}") as heard:
        prompt.join(60)

    assert printed == [b"{ready}"]
    assert float(heard[0].split(b"\t")[8]) > 60
    assert not HookSpool(home).waiting()


def test_later_prompts_do_not_wait(hook, home, no_daemon):
    FirstPrompts(home).claim("s1", "e0")

    assert hook(environment=PATIENT) == b""


def test_the_first_prompt_waits_for_a_daemon_that_is_too_busy_to_say_a_word_yet(hook, home, no_daemon):
    printed = []
    prompt = threading.Thread(target=lambda: printed.append(hook(environment=PATIENT | HASTY)))
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(home / protocol.SOCKET))
        busy.listen(8)
        prompt.start()
        line, _ = busy.accept()
        until(lambda: list(home.glob("run/first-prompts/*")))  # it has given up once, and waits on

        line.sendall(b"ok 7\n{ready}")
        prompt.join(60)
        line.close()

    assert printed == [b"{ready}"]


def test_hook_and_daemon_agree_on_the_first_prompt_of_a_session(home):
    prompts = FirstPrompts(home)

    assert [prompts.claim("s1", event) for event in ("e1", "e2", "e1")] == [True, False, True]


def test_a_daemon_that_hangs_is_not_waited_for_at_any_prompt(hook, home, no_daemon):
    os.utime(home / protocol.LOCK, (0, 0))  # it has not just started
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(home / protocol.SOCKET))
        silent.listen(8)

        assert hook(environment=PATIENT | HASTY) == b""


def test_other_events_do_not_wait(hook, home, no_daemon):
    assert hook("PreToolUse", environment=PATIENT) == b""
    assert not list(home.glob("run/first-prompts/*"))


def test_the_wait_can_be_switched_off(hook, home, no_daemon):
    assert hook(environment={"RECOLLECT_FIRST_PROMPT_SECONDS": "0"}) == b""


def test_a_daemon_may_ask_for_more_time(hook, home, no_daemon):
    with FakeDaemon(home, b"wait 10.000\nok 7\n{ready}"):
        assert hook() == b"{ready}"


def test_an_answer_to_an_event_that_was_not_recorded_is_printed_and_the_event_kept(hook, home, no_daemon):
    with FakeDaemon(home, b"unrecorded 7\n{ready}") as heard:
        assert hook() == b"{ready}"
        until(lambda: HookSpool(home).waiting())

    assert heard


def test_the_marks_of_old_sessions_are_deleted(home):
    prompts = FirstPrompts(home)
    for number in range(MOST + 5):
        prompts.claim(f"s{number}", "e1")
    old = home / "run" / "first-prompts" / "old"
    old.touch()
    os.utime(old, (0, 0))

    prompts.clean()

    assert len(list(old.parent.iterdir())) == MOST
    assert not old.exists()


def until(condition, seconds=60):
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        os.sched_yield()
