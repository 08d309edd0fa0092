"""`recollect mirror`, as a person and a program see it."""

import json


def test_hand_edits_come_in_and_are_told(run, remember, tmp_path):
    name = remember("Use tabs")
    folder = tmp_path / "mirror"
    first = run("mirror", str(folder))
    file = folder / "shop.json"
    file.write_text(file.read_text().replace("Use tabs", "Use four spaces"))

    said, again = run("mirror", str(folder)), run("mirror", str(folder), "--json").json

    assert first.out == f"Wrote 1 file to {folder}\n"
    assert said.out.startswith("Imported: 1 changed.")
    assert run("show", name, "--json").json["memory"]["content"] == "Use four spaces"
    assert again == {
        "written": [],
        "changed": [],
        "remembered": [],
        "forgotten": [],
        "both": [],
        "refused": [],
        "redacted": 0,
        "change": None,
    }


def test_a_file_that_cannot_be_read_is_told_by_name_and_line(run, remember, tmp_path):
    remember("Use tabs")
    remember("Be kind", "--scope", "global")
    folder = tmp_path / "mirror"
    run("mirror", str(folder))
    (folder / "shop.json").write_text("{\n oops")
    (folder / "global.json").unlink()

    refused, told = run("mirror", str(folder)), run("mirror", str(folder), "--json")

    assert (refused.code, told.code) == (1, 1)
    assert f"Not read: {folder / 'shop.json'}, line 2: not valid JSON" in refused.err
    assert (folder / "global.json").exists()
    assert [each["file"] for each in told.json["refused"]] == ["shop.json"]
    assert (folder / "shop.json").read_text() == "{\n oops"


def test_what_changed_on_both_sides_is_told(run, remember, tmp_path):
    name = remember("Use tabs")
    folder = tmp_path / "mirror"
    run("mirror", str(folder))
    run("edit", name, "Use two spaces")
    document = json.loads((folder / "shop.json").read_text())
    document["memories"][0]["content"] = "Indentation is up to the formatter"
    (folder / "shop.json").write_text(json.dumps(document))

    said = run("mirror", str(folder))

    assert f"Changed on both sides: {name}." in said.err
    assert len(run("list", "--json").json["memories"]) == 2


def test_an_encrypted_store_needs_a_word_more(run, remember, tmp_path):
    remember("Use tabs")
    run("encrypt", "--key-file", str(tmp_path / "key"))

    refused, done = (run("mirror", str(tmp_path / "m"), *more) for more in ((), ("--plaintext",)))

    assert refused.code == 1
    assert "--plaintext" in refused.err
    assert done.code == 0


def test_a_folder_that_cannot_be_used_is_named(run, tmp_path):
    (tmp_path / "file").write_text("")

    refused = run("mirror", str(tmp_path / "file"))

    assert refused.code == 1
    assert f"Cannot use {tmp_path / 'file'}" in refused.err


def test_the_log_is_verified_with_its_archive(run, remember, home):
    remember("Use tabs")
    remember("Mail goes out by a worker")
    said, told = run("audit", "verify"), run("audit", "verify", "--json")

    (home / "audit-archive.jsonl").write_text('[1, "garbage"]\n')
    broken = run("audit", "verify")

    assert said.out == "Checked 2 entries, 0 of them archived: no entry was altered.\n"
    assert told.json == {"ok": True, "lines": 2, "archived": 0, "problem": None}
    assert broken.code == 1
    assert "line 1 of audit-archive.jsonl" in broken.err
    assert run("audit", "-n", "1", "--json").json["lines"][0]["seq"] == 2
