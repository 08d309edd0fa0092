import json
import os
import subprocess
import sys

import pytest


def test_init_says_which_project_it_is_and_why(run, tmp_path):
    subprocess.run(["git", "init", "-q", "."], check=True)

    said, told = run("init"), run("init", "--json").json

    assert "Project shop (the git directory" in said.out
    assert "recollect remember" in said.out
    assert told["project"]["name"] == "shop"


def test_init_can_make_a_folder_a_project_of_its_own(run, remember, tmp_path):
    subprocess.run(["git", "init", "-q", "."], check=True)
    remember("Use tabs")
    part = tmp_path / "shop" / "api"
    part.mkdir()

    told = run("init", "--subproject", "--project", str(part), "--json").json

    assert told["project"]["name"] == "api"
    assert run("list", "--project", str(part), "--json").json["memories"] == []


def test_init_makes_the_vectors_that_are_missing(run, remember, monkeypatch):
    remember("Tests need a running Redis")
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "minilm")

    made = run("init", "--json").json

    assert made["vectors_made"] == 1
    assert run("search", "database for caching", "--json").json["notes"] == []


def test_init_records_that_the_user_agrees(run):
    run("init", "--agree", "https://embed.example/v1")

    assert any("agreed" in line["detail"] for line in run("audit", "--json").json["lines"])


def test_backup_says_where_it_is(run, remember, home):
    remember("Use tabs")

    assert run("backup").out == f"Backed up to {home / 'backups' / 'recollect-1.db'}\n"
    assert run("backup", "--json").json["backup"].endswith("recollect-1.db")


def test_encrypt_and_back(run, remember, home, tmp_path):
    remember("Tests need a running Redis")
    key = tmp_path / "key"

    said = run("encrypt", "--key-file", str(key))
    listed = run("list", "--json").json["memories"]
    files = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    undone = run("encrypt", "--off", "--json").json

    assert str(key) in said.out
    assert "Keep a copy" in said.out
    assert len(listed) == 1
    assert b"Redis" not in files
    assert undone["encrypted"] is False
    assert (home / "recollect.db").read_bytes().startswith(b"SQLite format 3")


def test_a_wrong_key_is_called_that_and_changes_nothing(run, remember, home, tmp_path, monkeypatch):
    remember("Use tabs")
    run("encrypt", "--key-file", str(tmp_path / "key"))
    before = (home / "recollect.db").read_bytes()
    monkeypatch.setenv("RECOLLECT_KEY", "another")

    refused = run("list")

    assert refused.code == 1
    assert "wrong key" in refused.err
    assert (home / "recollect.db").read_bytes() == before


def edit_in_terminal(name: str, editor: str) -> subprocess.CompletedProcess[bytes]:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "edit", name],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "EDITOR": editor},
    )
    os.close(ours)
    os.close(theirs)
    return done


def test_edit_opens_the_editor(run, remember):
    name = remember("Use tabs")

    done = edit_in_terminal(name, "sed -i s/tabs/spaces/")

    assert done.returncode == 0, done.stderr
    assert run("show", name, "--json").json["memory"]["content"] == "Use spaces"


def test_an_editor_would_put_an_encrypted_memory_in_the_clear(run, remember, tmp_path):
    name = remember("Use tabs")
    run("encrypt", "--key-file", str(tmp_path / "key"))

    done = edit_in_terminal(name, "sed -i s/tabs/spaces/")

    assert done.returncode == 1
    assert b"to an unencrypted file" in done.stderr


def test_audit_tells_who_did_what_without_the_text(run, remember):
    name = remember("Tests need a running Redis")
    remember("The invoice total is rounded half up")
    run("pin", name)

    lines = run("audit", "--json").json["lines"]
    of_one = run("audit", "--memory", name, "--json").json["lines"]
    shown = run("audit", "-n", "1").out

    assert [line["action"] for line in lines] == ["pin", "add", "add"]
    assert [line["action"] for line in of_one] == ["pin", "add"]
    assert "pin" in shown
    assert "Redis" not in json.dumps(lines)


def test_stats_counts(run, remember):
    remember("Tests need a running Redis", "--kind", "gotcha")

    told, shown = run("stats", "--json").json, run("stats").out

    assert (told["memories"], told["by_kind"]) == (1, {"gotcha": 1})
    assert "1 gotcha" in shown


def test_doctor_ticks_what_is_well_and_explains_the_project(run, remember, monkeypatch):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "minilm")
    remember("Tests need a running Redis")

    well, told = run("doctor"), run("doctor", "--json").json

    assert well.code == 0, well
    assert "✓ project" in well.out
    assert "the folder itself" in well.out
    assert told["ok"] is True
    assert {"part", "ok", "finding", "hint"} == set(told["checks"][0])


def test_doctor_crosses_what_is_not_well_and_exits_1(run, remember, home):
    remember("Tests need a running Redis")
    home.chmod(0o755)

    ill, told = run("doctor"), run("doctor", "--json")

    assert (ill.code, told.code) == (1, 1)
    assert "✗ home" in ill.out
    assert "chmod 700" in ill.out
    assert told.json["ok"] is False


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_and_how_to_install_it(run, shell):
    printed = run("completion", shell)

    assert printed.code == 0
    assert f"recollect completion {shell} >" in printed.out
    assert "_RECOLLECT_COMPLETE" in printed.out


@pytest.mark.parametrize(
    "typed, offered",
    [
        ("recollect re", {"remember", "recall", "restore", "resolve", "review"}),
        ("recollect list --kind go", {"gotcha"}),
        ("recollect list --state d", {"deprecated", "deleted"}),
        ("recollect recall --host c", {"claude-code", "codex", "cursor"}),
        ("recollect recall --role p", {"planner"}),
        ("recollect search --recipe d", {"default"}),
        ("recollect links e", {"export"}),
    ],
)
def test_the_shell_completes_commands_and_names(recollect, typed, offered):
    words = typed.split()
    variables = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "_RECOLLECT_COMPLETE": "bash_complete",
    }

    completed = recollect(**variables)

    assert {line.split(",")[1] for line in completed.out.splitlines()} == offered


def test_the_shell_completes_ids(recollect, remember):
    name = remember("Use tabs")

    for command in ("show", "links", "similar", "describe"):
        completed = recollect(
            COMP_WORDS=f"recollect {command} {name[:4]}", COMP_CWORD="2", _RECOLLECT_COMPLETE="bash_complete"
        )

        assert completed.out == f"plain,{name}\n"


def test_the_shell_completes_ids_as_lists_show_them(recollect, run, remember):
    name = remember("Use tabs")
    shown = run("list").out.split()[0]

    for typed in ("", shown[:2], shown.upper()[:3]):
        completed = recollect(
            COMP_WORDS=f"recollect show {typed}", COMP_CWORD="2", _RECOLLECT_COMPLETE="bash_complete"
        )

        assert completed.out == f"plain,{shown}\n"
    assert name.endswith(shown)


def test_stats_does_not_invent_what_was_saved(run):
    told = run("stats", "--explain-saved").out

    assert "no sessions" in told
