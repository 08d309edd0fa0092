import json
import os

import pytest


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
    assert "2 refused" in said.err
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
        (b'{"format": "recollect-export", "version": 1, "memories": [', "not a whole export"),
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
