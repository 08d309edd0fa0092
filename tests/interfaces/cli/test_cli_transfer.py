import json
import os
from pathlib import Path

import pytest

WORDS = "correct horse battery staple"


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_an_export_comes_back_whole(run, remember, tmp_path):
    a, b = remember("Tests need a running Redis", "--tag", "ci"), remember("The total is rounded — half up")
    run("link", a, b)
    before = run("list", "--json").json
    file = tmp_path / "out.json"

    said = run("export", str(file))
    back = run("import", str(file), "--home", str(tmp_path / "new"), "--json").json

    assert said.out == f"Exported 2 memories to {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert (back["kept"], back["links"], back["ids"], back["refused"]) == (2, 1, [a, b], [])
    assert run("list", "--home", str(tmp_path / "new"), "--json").json == before


def test_an_export_goes_to_standard_output_unless_told_otherwise(run, remember):
    remember("Use tabs")

    document = run("export").json

    assert document["format"] == "recollect-export"
    assert [memory["content"] for memory in document["memories"]] == ["Use tabs"]


def test_an_export_replaces_a_file_at_once_and_writes_through_a_link(run, remember, tmp_path):
    remember("Use tabs")
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")

    told = run("export", str(tmp_path / "link.json"), "--json").json

    assert told["exported"] == 1
    assert json.loads((tmp_path / "real.json").read_text())["memories"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "link.json", "real.json", "shop"]


def test_a_device_is_written_to_and_never_replaced(run, remember, tmp_path):
    remember("Use tabs")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    assert run("export", str(pipe)).code == 0

    assert json.loads(os.read(reader, 100_000))["memories"]
    assert pipe.is_fifo()
    os.close(reader)


@pytest.mark.parametrize("target", ["missing/out.json", ".", "a" * 300])
def test_an_export_that_cannot_be_written_says_so(run, target):
    refused = run("export", target)

    assert refused.code == 1
    assert "Cannot write" in refused.err


def test_plain_json_lines_are_imported_and_refusals_have_their_line(run):
    data = lines(
        {"content": "Tests need a running Redis", "session": "s1", "author": "assistant"},
        {"content": ""},
        {"content": "Use tabs", "kind": "conventon"},
        {"content": "The invoice total is rounded half up", "kind": "convention"},
    )

    said = run("import", "-", stdin=data)
    told = run("import", "-", "--json", stdin=data).json

    assert said.code == 0
    assert said.out.startswith("Imported 2 memories")
    assert "Refused 2 records" in said.err
    assert "line 2: There is nothing to remember" in said.err
    assert "line 3: Unknown kind 'conventon'" in said.err
    assert [each["line"] for each in told["refused"]] == [2, 3]
    assert [each is None for each in told["ids"]] == [False, True, True, False]


def test_only_the_first_reasons_are_shown(run):
    said = run("import", "-", stdin=lines(*[{"content": " "}] * 30))

    assert said.code == 1
    assert said.err.count("  line ") == 10
    assert "20 more" in said.err


@pytest.mark.parametrize(
    "data, told",
    [
        (b'{"content": "fine"}\nnot json\n', "line 2"),
        (b'{"content": "fine"}\n\n[1, 2]\n', "line 3"),
        (b'{"content": "fine"}\n{"text": "x"}\n', "line 2"),
        (b'{"content": "fine"}\n{"content": "\xff"}\n', "line 2: not valid UTF-8"),
        (b'{"format": "recollect-export", "version": 1, "memories": [', "not a complete export"),
        (b'{"format": "recollect-export", "version": 99, "memories": []}', "newer Recollect"),
        (b"[" * 100_000, "line 1"),
    ],
)
def test_a_malformed_file_changes_nothing(run, tmp_path, data, told):
    file = tmp_path / "in.jsonl"
    file.write_bytes(data)

    refused, for_programs = run("import", str(file)), run("import", str(file), "--json")

    assert (refused.code, for_programs.code) == (1, 1)
    assert told in refused.err
    assert for_programs.json["error"]["type"] == "BadImport"
    assert run("list", "--json").json["memories"] == []


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_file_that_cannot_be_read_is_named(run, name):
    refused = run("import", name)

    assert refused.code == 1
    assert f"Cannot read {name}" in refused.err


def test_a_lone_surrogate_is_refused_by_line(run):
    refused = run("import", "-", stdin=b'{"content": "half a pair \\ud800"}\n')

    assert refused.code == 1
    assert "line 1: The text is not valid UTF-8" in refused.err


# merging


def test_an_import_is_a_change_that_undo_takes_back(run, remember, tmp_path):
    name = remember("Use tabs")
    run("export", str(tmp_path / "out.json"))
    run("edit", name, "Use spaces")
    there = ("--home", str(tmp_path / "new"))

    told = run("import", str(tmp_path / "out.json"), *there, "--json").json
    changes = run("changes", *there, "--json").json
    undone = run("undo", told["change"], *there)

    assert [(each["id"], each["action"]) for each in changes] == [(told["change"], "import")]
    assert undone.code == 0
    assert run("list", *there, "--json").json["memories"] == []


def test_a_text_rewritten_on_two_machines_is_told(run, remember, tmp_path):
    name, file, there = remember("Use tabs"), str(tmp_path / "out.json"), ("--home", str(tmp_path / "new"))
    run("export", file)
    run("import", file, *there)
    run("edit", name, "Use spaces")
    run("edit", name, "Indent as the formatter does", *there)
    run("export", file)

    said = run("import", file, *there)

    assert "Stored 1 text separately, because both sides had changed." in said.out


def test_messages_and_vectors_come_along_if_asked_for(run, remember):
    remember("Use tabs")
    run("import", "--messages", "-", stdin=lines({"session": "s1", "order": 0, "text": "Hello"}))

    plain, whole = run("export").json, run("export", "--messages", "--vectors").json

    assert "messages" not in plain
    assert [each["text"] for each in whole["messages"]] == ["Hello"]
    assert "vector" in whole["memories"][0]
    assert "vector" not in plain["memories"][0]


# bundles


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "passphrase"
    file.write_text(WORDS + "\n")
    return str(file)


@pytest.fixture
def bundle(run, remember, secret, tmp_path):
    remember("Tests need a running Redis")
    remember("Mail goes out by a worker")
    file = tmp_path / "memories.bundle"
    made = run("export", "--bundle", str(file), "--passphrase-file", secret, "--json")
    assert made.json == {"exported": 2, "file": str(file)}
    return file


def test_a_bundle_is_opened_by_its_passphrase_on_another_machine(run, bundle, monkeypatch, tmp_path):
    monkeypatch.setenv("RECOLLECT_PASSPHRASE", WORDS)
    there = ("--home", str(tmp_path / "new"))

    said = run("import", str(bundle), *there)

    assert said.out == "Imported 2 memories, 0 links.\n"
    assert b"Redis" not in bundle.read_bytes()
    assert run("list", *there, "--json").json == run("list", "--json").json


@pytest.mark.parametrize(
    "harm, told",
    [
        (lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:], "is damaged"),
        (lambda data: data[:9] + bytes([data[9] ^ 1]) + data[10:], "or the file is damaged"),
        (lambda data: bytes([data[0] ^ 0x80]) + data[1:], "not valid UTF-8"),
        (lambda data: data[:-100], "is damaged"),
    ],
)
def test_a_bundle_with_a_flipped_byte_changes_nothing(run, bundle, secret, tmp_path, harm, told):
    bundle.write_bytes(harm(bundle.read_bytes()))
    there = ("--home", str(tmp_path / "new"))

    refused = run("import", str(bundle), "--passphrase-file", secret, *there)

    assert refused.code == 1
    assert str(bundle) in refused.err
    assert told in refused.err
    assert run("list", *there, "--json").json["memories"] == []


def test_a_wrong_passphrase_changes_nothing_and_is_not_repeated(run, bundle, monkeypatch, tmp_path):
    monkeypatch.setenv("RECOLLECT_PASSPHRASE", "something else")
    there = ("--home", str(tmp_path / "new"))

    refused = run("import", str(bundle), *there)

    assert refused.code == 1
    assert f"The passphrase does not open {bundle}" in refused.err
    assert "something else" not in refused.err
    assert run("list", *there, "--json").json["memories"] == []


def test_a_bundle_without_a_passphrase_asks_for_one_only_in_a_terminal(run, bundle, tmp_path):
    written, read = run("export", "--bundle", str(tmp_path / "b")), run("import", str(bundle))

    for refused in (written, read):
        assert refused.code == 1
        assert "no terminal to ask" in refused.err
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("text", ["", "short", None])
def test_a_passphrase_that_is_none_is_refused(run, tmp_path, text):
    file = tmp_path / "passphrase"
    if text is not None:
        file.write_text(text)

    refused = run("export", "--bundle", str(tmp_path / "b"), "--passphrase-file", str(file))

    assert refused.code == 1
    assert not (tmp_path / "b").exists()


def test_a_bundle_goes_to_a_file_and_comes_from_one(run, bundle, secret):
    to_screen = run("export", "--bundle", "--passphrase-file", secret)
    from_pipe = run("import", "-", stdin=bundle.read_bytes())

    assert to_screen.code == 2
    assert "needs FILE" in to_screen.err
    assert from_pipe.code == 1
    assert "cannot be read from a pipe" in from_pipe.err


# to be read


def test_markdown_is_by_project_and_kind(run, remember, tmp_path):
    remember("Use tabs", "--kind", "convention", "--tag", "style", "--file", "notes")
    pinned = remember("Tests need\na running Redis", "--kind", "gotcha")
    run("pin", pinned)
    remember("The till prints twice", "--kind", "gotcha")
    remember("Be kind", "--scope", "global")
    run("forget", remember("Prices are in cents"))

    one, many = run("export", "--markdown"), run("export", "--markdown", f"{tmp_path}/pages/", "--json")

    assert [line for line in one.out.splitlines() if line.startswith("#")] == [
        "# Everywhere",
        "## Fact",
        "# shop",
        "## Convention",
        "## Gotcha",
    ]
    assert one.out.index("Tests need  \n  a running Redis") < one.out.index("The till prints twice")
    assert "`notes` · #style" in one.out
    assert "cents" not in one.out
    assert many.json["exported"] == 4
    pages = {file.name: file for file in (tmp_path / "pages").iterdir()}
    assert sorted(pages) == ["global.md", "shop.md"]
    assert pages["shop.md"].read_text() in one.out
    assert pages["shop.md"].stat().st_mode & 0o777 == 0o600


def test_markdown_obeys_no_control_character(run, remember):
    remember("Ring the bell \x1b[31m now")

    assert "\x1b" not in run("export", "--markdown").out


def test_markdown_may_be_one_file(run, remember, tmp_path):
    remember("Use tabs")

    said = run("export", "--markdown", str(tmp_path / "all.md"))

    assert said.out == f"Exported 1 memory to {tmp_path / 'all.md'}\n"
    assert "Use tabs" in (tmp_path / "all.md").read_text()


@pytest.mark.parametrize("options", [("--bundle", "--markdown"), ("--markdown", "--vectors")])
def test_ways_to_export_exclude_each_other(run, options):
    assert run("export", "out", *options).code == 2
    assert not Path("out").exists()
