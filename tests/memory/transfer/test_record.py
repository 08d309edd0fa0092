"""What a field of a foreign record may be."""

from datetime import UTC, datetime

import pytest

from recollect.errors import ContentRefused, RecollectError
from recollect.memory.transfer.fields import LONGEST
from recollect.memory.transfer.record import RecordReader

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SECRET = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"


def read(**fields):
    return RecordReader("ada", None, lambda: NOW).memory({"content": "Use tabs", **fields}, {})


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def crumb(**more):
    return [{"source": "observed", "at": "2026-01-01", **more}]


@pytest.mark.parametrize(
    "field, value",
    [
        ("tags", "abc"),
        ("tags", {"a": 1}),
        ("tags", [{"a": 1}]),
        ("tags", [None]),
        ("tags", deep(5_000)),
        ("tags", ["x"] * 300),
        ("tags", ["\ud800"]),
        ("file_paths", "a.py"),
        ("triggers", [7]),
        ("summary", {"a": 1}),
        ("summary", "x" * 3_000_000),
        ("season", {"a": 1}),
        ("branch", ["main"]),
        ("created_by", ""),
        ("created_by", " "),
        ("project_id", ""),
        ("project_id", {"a": 1}),
        ("project_id", SECRET),
        ("user_id", ""),
        ("user_id", SECRET),
        ("session", {"a": 1}),
        ("session", 7),
        ("session", "\ud800"),
        ("author", "root"),
        ("kind", ["fact"]),
        ("kind", SECRET),
        ("kind", "x" * 3_000_000),
        ("scope", "everywhere"),
        ("scope", {}),
        ("visibility", 1),
        ("id", SECRET),
        ("id", "0123456789abcdef0123"),
        ("id", "x" * 41),
        ("id", ""),
        ("id", 7),
        ("superseded_by", SECRET),
        ("superseded_by", "deadbeef" * 4),
        ("importance", float("nan")),
        ("importance", float("inf")),
        ("importance", True),
        ("importance", "0.5"),
        ("importance", 10**400),
        ("strength", 10**40),
        ("strength", 1.5),
        ("strength", -1),
        ("order", 2**53),
        ("created_at", 7),
        ("created_at", "x" * 3_000_000),
        ("created_at", "\ud800"),
        ("procedure", "abc"),
        ("procedure", {"name": "x", "steps": "abc"}),
        ("procedure", {"name": "x", "steps": [1, 2]}),
        ("procedure", {"name": "x", "steps": ["y" * 3_000_000]}),
        ("procedure", {"steps": ["y"]}),
        ("anchors", [{"path": None}]),
        ("anchors", [{"path": ""}]),
        ("anchors", [{"path": "a.py", "digest": SECRET}]),
        ("anchors", [{"path": "a.py", "digest": "a" * 65}]),
        ("anchors", {"path": "a.py"}),
        ("provenance", "text"),
        ("provenance", {"source": "observed"}),
        ("provenance", [1]),
        ("provenance", [{"at": "2026-01-01"}]),
        ("provenance", crumb(messages=[1])),
        ("provenance", crumb(messages=[1, float("nan")])),
        ("provenance", crumb(messages={"0": 1})),
        ("provenance", crumb(session={"a": 1})),
        ("provenance", crumb(snippet="x" * 3_000_000)),
        ("provenance", crumb(reason="\ud800")),
        ("reinforcements", [{"at": "2026-01-01", "by": 7}]),
        ("reinforcements", [[]]),
    ],
)
def test_a_field_of_another_shape_is_refused_by_its_name(field, value):
    with pytest.raises(RecollectError) as refused:
        read(**{field: value})

    assert field in refused.value.message
    assert "object has no" not in refused.value.message
    assert SECRET[4:20] not in refused.value.message
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("record", [None, 7, "text", ["content"], deep(5_000)])
def test_a_record_is_an_object(record):
    with pytest.raises(ContentRefused, match="not an object"):
        RecordReader("ada", None, lambda: NOW).memory(record, {})


@pytest.mark.parametrize("name", ["0123456789abcdefgh", "old1", "a" * 3 + "z" * 37])
def test_ids_of_ours_and_plain_ones_are_kept(name):
    assert read(id=name).id == name


def test_null_is_as_if_it_were_not_there():
    fields = ("id", "summary", "tags", "project_id", "created_by", "provenance", "created_at", "kind")

    memory = read(**dict.fromkeys(fields))

    assert (memory.summary, memory.created_by, memory.kind) == ("Use tabs", "user", "fact")
    assert memory.created_at == NOW


def test_what_no_table_names_is_not_read():
    assert read(nonsense=deep(5_000), fingerprint=SECRET, pinned=SECRET).fingerprint != SECRET


def test_tags_are_made_normal_and_single():
    assert read(tags=["#CI", "ci", "Unit Tests", " ", "unit_tests"]).tags == ("ci", "unit-tests")


def test_a_long_trail_keeps_its_origin_and_its_newest():
    day = "2026-01-01T00:00:00Z"
    chain = [{"source": "observed", "at": day, "session": f"s{number}"} for number in range(5_000)]
    crumbs = [{"at": day, "by": "user", "session": f"s{number}"} for number in range(5_000)]

    memory = read(provenance=chain, reinforcements=crumbs)

    assert [each.session for each in memory.provenance] == ["s0", *(f"s{n}" for n in range(4_950, 5_000))]
    assert [each.session for each in memory.reinforcements] == [f"s{n}" for n in range(4_950, 5_000)]


@pytest.mark.parametrize("born", ["0001-01-01", "1969-12-31T23:59:59Z"])
def test_what_is_older_than_our_calendar_sorts_as_oldest(born):
    assert read(created_at=born).id < read(created_at="1980-01-01").id < read(created_at="9999-12-31").id


def test_a_text_may_grow_by_redaction_but_not_beyond_the_limit():
    addresses = "a@b.co " * 70
    many = ("a@b.co " * 400)[:LONGEST]

    memory = read(season=addresses)

    assert "a@b.co" not in (memory.season or "")
    assert read(season=memory.season).season == memory.season
    with pytest.raises(ContentRefused, match="season"):
        read(season=many)


def test_a_secret_seen_before_is_counted_again():
    reader = RecordReader("ada", None, lambda: NOW)

    for _ in range(2):
        memory = reader.memory({"content": "Use tabs", "branch": SECRET, "tags": [SECRET]}, {})

        assert reader.redacted == 2
        assert SECRET not in str(memory)


@pytest.mark.parametrize(
    "field, value",
    [
        ("weight", float("nan")),
        ("weight", 0),
        ("weight", 1.5),
        ("weight", 10**40),
        ("verdict", SECRET),
        ("relation", "hates"),
        ("reason", {"a": 1}),
        ("source", ["a"]),
        ("target", None),
        ("created_at", "yesterday"),
    ],
)
def test_a_link_with_a_field_that_cannot_be_is_refused(field, value):
    link = {"source": "a", "target": "b", "relation": "relates_to", "created_at": "2026-01-01"}

    with pytest.raises(ContentRefused, match=field):
        RecordReader("ada", None, lambda: NOW).link({**link, field: value})


@pytest.mark.parametrize(
    "field, value",
    [
        ("id", SECRET),
        ("id", ""),
        ("name", ""),
        ("name", {"a": 1}),
        ("keys", "remote:x"),
        ("keys", ["x"]),
        ("keys", [f"remote:host/{SECRET}"]),
        ("keys", ["remote:" + "x" * 5_000]),
        ("keys", ["remote:\ud800"]),
    ],
)
def test_a_project_with_a_field_that_cannot_be_is_refused(field, value):
    with pytest.raises(ContentRefused, match=field):
        RecordReader("ada", None, lambda: NOW).project(
            {"id": "shop", "name": "shop", "keys": [], field: value}
        )


MODULE = {"key": "src", "name": "src"}
MAP = {"project_id": "p0123456789abcdef", "version": 1, "modules": [MODULE], "updated_at": "2026-01-01"}


@pytest.mark.parametrize(
    "fields",
    [
        {"version": 2},
        {"modules": None},
        {"modules": [{**MODULE, "name": ""}]},
        {"modules": [{**MODULE, "kind": "secret"}]},
        {"modules": [{**MODULE, "core_files": "a.py"}]},
        {"modules": [{**MODULE, "core_files": ["x"] * 60_001}]},
        {"modules": [{**MODULE, "said": ["user"]}]},
        {"tools": [{"path": "", "tool": "make", "commands": {"test": deep(5_000)}}]},
        {"files": {"a.py": {"key": "src"}}},
        {"project_id": None},
    ],
)
def test_a_map_that_is_not_one_is_refused(fields):
    with pytest.raises(ContentRefused):
        RecordReader("ada", None, lambda: NOW).module_map({**MAP, **fields}, {})


def test_a_secret_in_a_map_is_taken_out():
    module = {**MODULE, "description": f"Logs in with {SECRET}"}

    _, found = RecordReader("ada", None, lambda: NOW).module_map({**MAP, "modules": [module]}, {})

    assert found.modules[0].description == "Logs in with [REDACTED: github-token]"


SEEN = {"name": "n", "confidence": 0.5, "count": 2, "first_seen": "2026-01-01", "last_seen": "2026-01-01"}
FIX = {"error": "E", "command": "make", "files": [], "commands": [], "instead": ""}


@pytest.mark.parametrize(
    "kind, data",
    [
        ("gossip", {}),
        ("workflow", {}),
        ("workflow", "look"),
        ("workflow", {"steps": [1]}),
        ("co-edit", {"files": ["a.py"], "operations": [], "within_seconds": 1}),
        ("refactor", {"rename": ["a"], "files": []}),
        ("error-fix", FIX),
        ("error-fix", {**FIX, "failure": {"head": "make", "lines": []}}),
        ("error-fix", {**FIX, "failure": {"head": "make", "lines": ["E"]}}),
        ("error-fix", {**FIX, "failure": {"head": "make", "lines": [["E", [1]]]}}),
    ],
)
def test_a_pattern_that_could_not_be_read_later_is_refused(kind, data):
    with pytest.raises(ContentRefused):
        RecordReader("ada", None, lambda: NOW).pattern({**SEEN, "kind": kind, "data": data}, {})
