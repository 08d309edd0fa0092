"""Out to a file and back in."""

import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Engine
from recollect.embed.open import NoEmbedder
from recollect.errors import BadImport
from recollect.model import Project, Relation, Scope, Source, Standing, State, Visibility
from recollect.tend.transfer import read_parcel

SECRET = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"
DAY = "2026-01-01T00:00:00.000000Z"


@pytest.fixture
def open_engine(tmp_path):
    opened = []

    def open_one(home="home", project="shop", remote=None, **options):
        folder = tmp_path / project
        folder.mkdir(exist_ok=True)
        if remote:
            (folder / ".git").mkdir(exist_ok=True)
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main")
            (folder / ".git" / "config").write_text(f'[remote "origin"]\nurl = https://{remote}\n')
        opened.append(Engine.open(folder, tmp_path / home, embedder=NoEmbedder(), **options))
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


def document(memories=(), links=(), projects=()):
    head = {"format": "recollect-export", "version": 1}
    return json.dumps({**head, "projects": [*projects], "memories": [*memories], "links": [*links]})


def link(source, target, **more):
    return {"source": source, "target": target, "relation": "relates_to", "created_at": DAY, **more}


def nowhere_on_disk(secret, folder):
    for file in folder.rglob("*"):
        if file.is_file():
            assert secret[4:20].encode() not in file.read_bytes(), file


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
    secret = SECRET
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
    nowhere_on_disk(secret, tmp_path / "home")


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


def test_a_secret_in_any_other_part_of_an_export_reaches_no_file(open_engine, tmp_path):
    engine = open_engine()
    memories = [
        {"id": "one", "content": "Use tabs"},
        {"id": "two", "content": "Tests need Redis"},
        {"id": SECRET.replace("_", "").lower(), "content": "Odd"},
        {"content": "Odd", "superseded_by": SECRET},
        {"content": "Odd", "anchors": [{"path": "a.py", "digest": SECRET}]},
        {"content": "Odd", "summary": {"a": SECRET}},
        {"content": "Odd", "tags": {SECRET: 1}},
        {"content": "Odd", "project_id": SECRET},
        {"content": "Odd", "user_id": SECRET},
        {"content": "Odd", "kind": SECRET},
        {"content": "Odd", "state": SECRET},
    ]
    links = [link("one", "two", reason=SECRET), link("two", "one", verdict=SECRET), link(SECRET, "one")]
    projects = [
        {"id": SECRET, "name": "a", "keys": []},
        {"id": "b", "name": SECRET, "keys": []},
        {"id": "c", "name": "c", "keys": [f"remote:host/{SECRET}"]},
        {"id": "d", "name": "d", "keys": [f"dir:/home/{SECRET}"]},
    ]

    report = bring(engine, document(memories, links, projects))
    engine.backup()
    engine.close()

    assert [number for number, _ in report.refused] == list(range(2, 11))
    assert report.links == 1
    assert report.notes[0].startswith("2 projects were left out: project.")
    assert report.notes[1].startswith("2 links were left out: link.")
    nowhere_on_disk(SECRET, tmp_path / "home")


def test_links_keep_the_rules_of_linking(open_engine):
    engine = open_engine()
    memories = [
        {"id": "here", "content": "Use tabs"},
        {"id": "there", "content": "Use spaces", "project_id": "p0123456789abcde"},
        {"id": "all", "content": "Be kind", "scope": "global"},
    ]
    bad = [
        link("here", "here"),
        link("here", "there"),
        link("here", "gone"),
        link("here", "all", weight=float("nan")),
        link("here", "all", weight=0),
        link("here", "all", reason="lone \ud800"),
        ["here", "all"],
        7,
    ]

    report = bring(engine, document(memories, [*bad, link("here", "all"), link("there", "all")]))

    assert report.links == 2
    assert [note.partition(":")[0] for note in report.notes] == ["8 links were left out"]
    assert {(each.source, each.target) for each in engine.links("all")} == {("here", "all"), ("there", "all")}


def test_an_older_copy_does_not_open_a_settled_conflict(open_engine):
    engine = open_engine()
    engine.import_memories([{"id": "one", "content": "Use tabs"}, {"id": "two", "content": "Use spaces"}])
    quarrel = link("one", "two", relation="contradicts", verdict="ambiguous")
    bring(engine, document(links=[quarrel]))
    engine.resolve("one", "two", "both")

    bring(engine, document(links=[quarrel]))

    assert engine.conflicts() == ()


def test_what_is_superseded_across_projects_leaves_the_store_in_order(open_engine):
    engine = open_engine()

    engine.import_memories(
        [
            {"id": "old", "content": "Use tabs", "state": "superseded", "superseded_by": "new"},
            {"id": "new", "content": "Use spaces", "project_id": "p0123456789abcde"},
        ]
    )

    assert engine.get("old").superseded_by is None
    assert all(diagnosis.ok for diagnosis in engine.doctor() if diagnosis.part == "store")


def test_of_two_records_with_one_id_the_later_wins_and_counts_once(open_engine):
    engine = open_engine()
    records = [
        {"id": "one", "content": "second", "updated_at": "2026-01-02"},
        {"id": "one", "content": "third", "updated_at": "2026-01-03"},
        {"id": "one", "content": "first", "updated_at": "2026-01-01"},
    ]

    report = engine.bring_in(records)

    assert engine.get("one").content == "third"
    assert (report.kept, report.ids) == (1, ["one"] * 3)


def test_a_file_cannot_take_over_a_project(open_engine):
    engine = open_engine(remote="github.com/acme/shop")
    engine.remember("Use tabs")
    other = Project("p0123456789abcde", "other", "/srv/other", "")
    engine.store.put_project(other, ["dir:/srv/other"])
    mine, keys = engine.project, engine.store.project_keys(engine.project.id)
    projects = [
        {"id": "pffffffffffffff0", "name": "evil", "keys": ["remote:evil.com/x", *keys, "dir:/srv/other"]},
        {"id": mine.id, "name": "evil", "keys": ["remote:evil.com/y"]},
        {"id": other.id, "name": "evil", "keys": ["dir:/home/evil"]},
    ]

    bring(engine, document(projects=projects))

    known = {each.id: each for each in engine.store.projects()}
    assert engine.store.project_keys(mine.id) == keys
    assert (known[mine.id].name, known[mine.id].root) == ("shop", mine.root)
    assert (known[other.id].name, known[other.id].root) == ("other", "/srv/other")
    assert engine.store.project_keys(other.id) == ["dir:/srv/other"]
    assert engine.store.project_for(["remote:evil.com/y"]) not in (mine.id, other.id)
    assert engine.store.project_for(["dir:/home/evil"]) is None


def test_a_project_is_recognised_by_its_remote_whatever_its_id_was(open_engine):
    engine = open_engine(remote="github.com/acme/shop")
    project = {"id": "p0123456789abcde", "name": "old name", "keys": ["remote:github.com/acme/shop"]}

    bring(
        engine, document([{"id": "one", "content": "Use tabs", "project_id": project["id"]}], (), [project])
    )

    assert engine.get("one").project_id == engine.project.id
    assert [each.name for each in engine.store.projects()] == ["shop"]


def test_a_project_that_is_new_waits_for_its_folder(open_engine):
    here = open_engine("one", "shop", remote="github.com/acme/shop")
    here.remember("Use tabs")
    elsewhere = open_engine("two", "other")
    bring(elsewhere, export(here))
    elsewhere.close()

    there = open_engine("two", "clone", remote="github.com/acme/shop")

    assert [memory.content for memory in there.list()] == ["Use tabs"]


def test_an_export_of_this_project_tells_nothing_of_the_others(open_engine, tmp_path):
    engine = open_engine("one", "shop")
    engine.remember("Use tabs")
    engine.store.put_project(Project("p0123456789abcde", "hidden", "/srv/hidden", ""), ["dir:/srv/hidden"])
    agent = open_engine("one", "shop", actor="agent:coder")
    out = io.StringIO()

    engine.export(out, this_project=True)

    for text in (out.getvalue(), export(agent)):
        assert [each["id"] for each in json.loads(text)["projects"]] == [engine.project.id]
        assert "hidden" not in text
    assert str(tmp_path) not in export(engine), "a folder says nothing on another machine"


def test_an_agents_import_is_its_own_and_for_this_project(open_engine):
    user = open_engine()
    theirs = user.remember("Ports are given by the platform").id
    agent = open_engine(actor="agent:coder")
    record = {
        "content": "Use tabs",
        "project_id": "p0123456789abcde",
        "scope": "global",
        "user_id": "someone",
        "created_by": "user",
        "visibility": "private",
        "standing": "pinned",
        "state": "superseded",
        "superseded_by": theirs,
        "trust": 1.0,
        "confidence": 1.0,
        "importance": 1.0,
        "strength": 99,
        "provenance": [{"source": "user_corrected", "at": DAY}, {"source": "user_stated", "at": DAY}],
    }
    records = [
        {**record, "id": "mine"},
        {**record, "id": theirs, "updated_at": "2999-01-01"},
        {"id": "mine", "content": "Use spaces", "updated_at": "2999-01-01", "provenance": []},
    ]
    links = [link("mine", theirs)]
    projects = [{"id": "pffffffffffffff0", "name": "evil", "keys": ["remote:evil.com/x"]}]

    report = bring(agent, document(records[:2], links, projects))

    kept = agent.get("mine")
    assert report.ids == ["mine", None]
    assert [number for number, _ in report.refused] == [1]
    assert (kept.project_id, kept.scope, kept.user_id) == (
        agent.project.id,
        Scope.PROJECT,
        user.settings.user,
    )
    assert (kept.created_by, kept.visibility) == ("agent:coder", Visibility.PROJECT)
    assert {each.source for each in kept.provenance} == {Source.OBSERVED}
    assert (kept.trust, kept.confidence, kept.importance, kept.strength) == (0.7, 0.7, 0.7, 1)
    assert (kept.standing, kept.superseded_by) == (Standing.CONFIRMED, None)
    assert agent.links("mine") == ()
    assert [each.id for each in user.store.projects()] == [user.project.id]
    assert user.get(theirs).content == "Ports are given by the platform"

    assert bring(agent, document(records[2:])).refused == []
    assert agent.get("mine").content == "Use spaces"


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)
names = st.lists(words, max_size=4)
times = st.datetimes().map(lambda when: when.isoformat() + "Z")
crumbs = {"session": words, "branch": words, "snippet": words, "reason": words, "agent": words}
records = st.fixed_dictionaries(
    {"content": words},
    optional={
        "kind": st.sampled_from(["fact", "decision", "gotcha"]),
        "summary": words,
        "tags": names,
        "file_paths": names,
        "triggers": names,
        "season": words,
        "branch": words,
        "session": words,
        "created_at": times,
        "updated_at": times,
        "valid_to": times,
        "importance": st.floats(0, 1),
        "trust": st.floats(0, 1),
        "strength": st.integers(0, 2**53 - 1),
        "standing": st.sampled_from(Standing),
        "state": st.sampled_from(State),
        "scope": st.sampled_from(Scope),
        "procedure": st.fixed_dictionaries({"name": words}, optional={"steps": names, "warnings": names}),
        "anchors": st.lists(st.fixed_dictionaries({"path": words}, optional={"symbol": words}), max_size=2),
        "reinforcements": st.lists(
            st.fixed_dictionaries({"at": times, "by": words}, optional={"said": words}), max_size=3
        ),
        "provenance": st.lists(
            st.fixed_dictionaries({"source": st.sampled_from(Source), "at": times}, optional=crumbs),
            max_size=3,
        ),
    },
)
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(Relation)), max_size=4)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(records, min_size=1, max_size=6), pairs)
def test_whatever_was_kept_goes_out_and_in_unchanged(lines, ends):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            Engine.open(folder, folder / "one", embedder=NoEmbedder()) as here,
            Engine.open(folder, folder / "two", embedder=NoEmbedder()) as there,
        ):
            ids = [each for each in here.import_memories(lines) if each]
            links = [
                link(ids[a % len(ids)], ids[b % len(ids)], relation=relation)
                for a, b, relation in ends
                if ids
            ]
            bring(here, document(links=links))
            first = export(here)

            report = bring(there, first)

            assert report.refused == []
            assert without_time(export(there)) == without_time(first)
            assert there.store.check() == []
