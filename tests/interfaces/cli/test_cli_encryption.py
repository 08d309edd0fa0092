"""Encryption leaves nothing in the clear: `doctor` finds what others left, and events that were refused are counted."""

import json
import os
import time

import pytest

from recollect.store.keys import note_path

RAW = "0123456789abcdef" * 4
PROMPT = {"session_id": "s1", "prompt": "Where does the quokka sleep?"}


@pytest.fixture
def encrypted(run, remember, home, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    remember("The quokka sleeps in the attic")
    run("backup")
    assert run("encrypt").code == 0
    return home


def checks(run, part):
    return [check for check in run("doctor", "--json").json["checks"] if check["part"] == part]


def test_a_hook_without_the_key_writes_nothing_in_the_clear_and_loses_nothing(
    recollect, encrypted, monkeypatch, tmp_path
):
    body = json.dumps(PROMPT | {"cwd": str(tmp_path / "shop")}).encode()
    monkeypatch.delenv("RECOLLECT_KEY")

    hook = recollect(
        "hook", "claude-code", "UserPromptSubmit", stdin=body, RECOLLECT_FIRST_PROMPT_SECONDS="0"
    )

    assert (hook.code, hook.out, hook.err) == (0, "", "")
    end = time.monotonic() + 60
    while not list(encrypted.glob("spool/hooks/*.jsonl")):  # written in the background
        assert time.monotonic() < end
        os.sched_yield()
    assert not [path for path in encrypted.rglob("*") if path.is_file() and b"quokka" in path.read_bytes()]
    recollect("daemon", "stop")


def test_doctor_finds_every_plain_file_beside_an_encrypted_store(run, encrypted):
    clean = checks(run, "encryption")
    (encrypted / "backups" / "recollect-3.db").write_bytes(b"SQLite format 3\x00" + bytes(4096))
    (encrypted / "recollect.db.damaged-20260101-120000").write_bytes(b"quokka")
    (encrypted / "export.json").write_bytes(b'{"format": "recollect-export", "version": 1,')
    (encrypted / "notes.md").write_bytes(b"The quokka")
    (encrypted / "spool" / "hooks").mkdir(parents=True, exist_ok=True)
    (encrypted / "spool" / "hooks" / "s1.jsonl").write_bytes(b'{"prompt": "quokka"}\n')

    found = checks(run, "encryption")

    assert [check["ok"] for check in clean] == [True]
    assert [check["finding"].split()[0] for check in found] == [
        "backups/recollect-3.db",
        "export.json",
        "notes.md",
        "recollect.db.damaged-20260101-120000",
        "spool/hooks/s1.jsonl",
    ]
    assert not any(check["ok"] for check in found)


def test_a_store_that_is_not_encrypted_has_no_such_check(run, remember):
    remember("The quokka sleeps in the attic")

    assert checks(run, "encryption") == []


def test_refused_events_are_counted_until_they_are_repaired(run, encrypted, monkeypatch):
    from recollect.interfaces.daemon_client.spool import HookSpool

    note = note_path(encrypted / "recollect.db")
    old = {name: value for name, value in json.loads(note.read_text()).items() if name != "public"}
    note.write_text(json.dumps(old))
    fields = ("claude-code", "UserPromptSubmit", "e1", "1", "0", "/shop")

    assert not HookSpool(encrypted).append(fields, json.dumps(PROMPT).encode())

    refused = checks(run, "spool")[0]
    assert (refused["ok"], refused["finding"].startswith("1 event was refused")) == (False, True)
    assert "Reset the count of 1 refused event." in run("doctor", "--fix").err
    assert checks(run, "spool")[0]["ok"]
    assert HookSpool(encrypted).append(fields, json.dumps(PROMPT).encode())
