"""Out to a file and back in."""

import io
import json

import pytest

from recollect import Engine
from recollect.embed.open import NoEmbedder
from recollect.errors import BadImport
from recollect.model import State
from recollect.tend.transfer import read_parcel


@pytest.fixture
def open_engine(tmp_path):
    opened = []

    def open_one(home="home", project="shop"):
        (tmp_path / project).mkdir(exist_ok=True)
        opened.append(Engine.open(tmp_path / project, tmp_path / home, embedder=NoEmbedder()))
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()


def export(engine):
    out = io.StringIO()
    engine.export(out)
    return out.getvalue()


def bring(engine, text):
    parcel = read_parcel(text, "file")
    return engine.bring_in(parcel.records, parcel)


def without_time(text):
    return text.split("\n", 1)[1]


def test_export_import_export_gives_the_same_bytes_apart_from_the_time(open_engine):
    here, there = open_engine("one"), open_engine("two")
    here.remember("Use tabs", kind="preference", tags=("style",), file_paths=("a.py",), triggers=("indent",))
    here.remember("Use spaces", kind="preference")
    here.remember("Release", steps=("tag", "push"), season="release-week", session="s1", branch="main")
    here.remember("Mail goes out by a worker", scope="global")
    here.forget("mail")
    here.remember("Use spaces")
    first = export(here)

    report = bring(there, first)

    assert report.refused == []
    assert without_time(export(there)) == without_time(first)
    assert all(diagnosis.ok for diagnosis in there.doctor() if diagnosis.part == "store")


def test_importing_twice_changes_nothing(open_engine):
    here, there = open_engine("one"), open_engine("two")
    here.remember("Use tabs")
    text = export(here)
    bring(there, text)
    before = export(there)

    bring(there, text)

    assert without_time(export(there)) == without_time(before)


def test_an_older_copy_does_not_undo_a_newer_edit(open_engine):
    engine = open_engine()
    receipt = engine.remember("The port is 8080")
    old = export(engine)
    engine.edit(receipt.id, content="Ports are given by the platform")

    bring(engine, old)

    assert engine.get(receipt.id).content == "Ports are given by the platform"


def test_plain_lines_are_kept_as_given_and_not_merged(open_engine):
    engine = open_engine()
    lines = [
        {
            "content": "Use tabs",
            "session": "s1",
            "order": 3,
            "author": "user",
            "created_at": "2026-01-05T10:00:00Z",
        },
        {"content": "Use spaces", "session": "s1", "order": 4, "author": "assistant"},
        {"content": "Use tabs", "kind": "preference", "tags": ["style"], "importance": 0.9, "strength": 4},
    ]

    ids = engine.import_memories(lines)

    first, second, third = (engine.get(each) for each in ids)
    assert {first.state, second.state, third.state} == {State.ACTIVE}
    assert (first.session, first.order, first.created_at.year) == ("s1", 3, 2026)
    assert (first.source, second.source) == ("user_stated", "observed")
    assert (third.kind, third.tags, third.importance, third.strength) == ("preference", ("style",), 0.9, 4)
    assert ids[0] < ids[2], "an id sorts by when the memory was made, not by when it was imported"


def test_what_cannot_be_kept_is_refused_with_its_reason_and_the_rest_kept(open_engine):
    engine = open_engine()
    lines = [
        {"content": "Good"},
        {"content": ""},
        {"content": "x" * 3000},
        {"content": "Odd", "kind": "nonsense"},
        {"content": "Odd", "created_at": "yesterday"},
        {"content": "Odd", "importance": "very"},
        {"content": "Odd", "tags": 7},
        {"content": "Odd", "id": "../../etc"},
        {"content": "lone \ud800"},
        {"content": 42},
        {"content": "Also good"},
    ]

    report = engine.bring_in(lines)

    assert [number for number, _ in report.refused] == list(range(1, 10))
    assert all(reason for _, reason in report.refused)
    assert [each is not None for each in report.ids] == [True] + [False] * 9 + [True]
    assert len(engine.list()) == 2


def test_secrets_are_taken_out_of_every_imported_field(open_engine, tmp_path):
    engine = open_engine()
    secret = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"
    record = {
        "content": f"token {secret}",
        "summary": secret,
        "tags": [secret],
        "file_paths": [secret],
        "triggers": [secret],
        "season": secret,
        "branch": secret,
        "session": secret,
        "created_by": f"agent:{secret}",
        "state_reason": secret,
        "procedure": {"name": secret, "steps": [secret]},
        "reinforcements": [{"at": "2026-01-01", "by": secret, "said": secret}],
        "provenance": [{"source": "observed", "at": "2026-01-01", "snippet": secret, "session": secret}],
        "anchors": [{"path": secret}],
    }

    report = engine.bring_in([record])
    engine.backup()
    engine.close()

    assert report.redacted >= 14
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert secret[4:20].encode() not in file.read_bytes(), file


@pytest.mark.parametrize(
    "text, line",
    [
        ('{"content": "a"}\n{"content": ', "line 2"),
        ('{"content": "a"}\n\n["b"]', "line 3"),
        ('{"text": "a"}', "line 1"),
        ("not json", "line 1"),
        ('{"format": "recollect-export", "version": 1, "memories": [', "whole"),
        ('{"format": "recollect-export", "version": 99, "memories": []}', "newer"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(text, line):
    with pytest.raises(BadImport, match=line):
        read_parcel(text, "file")


def test_sql_in_a_record_is_only_text(open_engine):
    engine = open_engine()
    text = "'); DROP TABLE memories;--"

    (made,) = engine.import_memories([{"content": text, "session": text, "tags": [text], "branch": text}])

    assert engine.get(made).content == text


def test_an_export_is_json_with_one_memory_a_line(open_engine):
    engine = open_engine()
    for number in range(3):
        engine.remember(f"Chapter {number} is about theme {number * 7}")

    document = json.loads(export(engine))

    assert document["format"] == "recollect-export"
    assert len(document["memories"]) == 3
    assert document["memories"][0]["content"].startswith("Chapter")


def test_another_users_private_memories_are_not_exported(open_engine):
    engine = open_engine()
    engine.import_memories([{"content": "Mine"}, {"content": "Theirs", "user_id": "someone-else"}])

    assert "Theirs" not in export(engine)


def test_a_line_may_be_superseded_by_one_that_comes_after_it(open_engine):
    engine = open_engine()

    engine.import_memories(
        [
            {"id": "old1", "content": "Use tabs", "state": "superseded", "superseded_by": "new1"},
            {"id": "new1", "content": "Use spaces"},
            {"id": "old2", "content": "Use vi", "state": "superseded", "superseded_by": "gone"},
            {"id": "old3", "content": "Use ed", "state": "superseded"},
        ]
    )

    assert [link.source for link in engine.links("old1")] == ["new1"]
    assert all(diagnosis.ok for diagnosis in engine.doctor() if diagnosis.part == "store")


@pytest.mark.parametrize(
    "field, value",
    [
        ("provenance", [{"source": "observed", "at": "2026-01-01", "session": {"a": 1}}]),
        ("provenance", "text"),
        ("procedure", {"name": 7}),
        ("procedure", {"name": "x", "steps": "not a list"}),
        ("reinforcements", [1, 2]),
        ("anchors", [{"path": ["x"]}]),
        ("strength", 10**400),
        ("created_at", "99999-01-01"),
        ("tags", [["nested"]]),
    ],
)
def test_a_record_with_a_malformed_part_is_refused_alone(open_engine, field, value):
    engine = open_engine()

    report = engine.bring_in([{"content": "Odd one", field: value}, {"content": "Good one"}])

    assert [number for number, _ in report.refused] == [0]
    assert [memory.content for memory in engine.list()] == ["Good one"]
