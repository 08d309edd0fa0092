"""Out to a file and back in."""

import contextlib
import io
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import FakeClock, FakeEmbedder
from recollect import Engine
from recollect.code.modules.merge import Correction
from recollect.embed.open import NoEmbedder
from recollect.errors import BadImport, RecollectError, StoreError
from recollect.memory.transfer.import_file import lines_of, read_import_file
from recollect.model import (
    CO_EDIT,
    ERROR_FIX,
    REFACTOR,
    WORKFLOW,
    CoEdit,
    Finding,
    Gap,
    PatternSighting,
    Project,
    Relation,
    Review,
    Scope,
    Session,
    SessionLearning,
    Source,
    Standing,
    State,
    ToolExecution,
    View,
    Visibility,
    fingerprint,
)
from recollect.store.sqlite.connection import connect
from recollect.work.episodes.failures import as_data, failure_of
from recollect.work.episodes.queries import as_pattern

SECRET = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"
DAY = "2026-01-01T00:00:00.000000Z"
DAY_ONE = datetime(2026, 1, 1, tzinfo=UTC)


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
        opened.append(Engine.open(folder, tmp_path / home, **{"embedder": NoEmbedder(), **options}))
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()


def export(engine, **options):
    out = io.StringIO()
    engine.export(out, **options)
    return out.getvalue()


def bring(engine, text):
    file = read_import_file(lines_of(text.encode()), "file")
    return engine.transfer.import_records(file.records, file)


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
    here, there = open_engine("one"), open_engine("two", project="elsewhere")
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


def test_an_import_that_the_store_cuts_short_tells_what_is_kept(open_engine):
    engine = open_engine()

    def records():
        yield from ({"content": f"Statement {number}"} for number in range(200))
        raise StoreError("The disk is full: nothing was changed.", "Free some space.")

    with pytest.raises(StoreError, match="part of it is stored") as caught:
        engine.transfer.import_records(records())

    (change,) = engine.care.changes()
    assert change.id in caught.value.hint
    assert (change.finished_at, engine.memory.count() > 0) == (None, True)
    engine.care.undo(change.id)
    assert engine.memory.count() == 0


def test_an_import_takes_no_memory_away_from_its_user(open_engine):
    engine = open_engine()
    name = engine.remember("Mail is sent by a worker").id
    later = "2030-01-01T00:00:00Z"

    report = engine.transfer.import_records(
        [{"id": name, "content": "Ours now", "user_id": "mallory", "updated_at": later}]
    )

    assert (report.refused, report.change) == (
        [(0, f"Memory {name} already exists and belongs to another user.")],
        None,
    )
    assert engine.get(name).content == "Mail is sent by a worker"


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

    report = engine.transfer.import_records(lines)

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

    report = engine.transfer.import_records([record])
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
        ('{"format": "recollect-export", "version": 1, "memories": [', "complete"),
        ('{"format": "recollect-export", "version": 99, "memories": []}', "newer"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(text, line):
    with pytest.raises(BadImport, match=line):
        read_import_file(lines_of(text.encode()), "file")


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

    report = engine.transfer.import_records([{"content": "Odd one", field: value}, {"content": "Good one"}])

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

    report = engine.transfer.import_records(records)

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


when = st.datetimes(datetime(1970, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC))
titles = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)
works = st.fixed_dictionaries(
    {
        "sessions": st.lists(st.tuples(titles, st.none() | when, when), max_size=3),
        "findings": st.lists(titles, max_size=3, unique_by=fingerprint),
        "gaps": st.lists(titles, max_size=3),
        "reviews": st.lists(st.tuples(titles, st.none() | titles), max_size=3),
        "tags": st.dictionaries(titles, titles, max_size=2),
        "messages": st.lists(st.tuples(st.sampled_from(["user", "assistant"]), titles), max_size=4),
    }
)


def keep_work(engine, work):
    """What sessions leave behind, past the doors: ids of ours, texts of whatever kind."""
    store, user, here, now = engine.store, engine.settings.user, engine.project.id, DAY_ONE
    for number, (summary, ended, active) in enumerate(work["sessions"]):
        place = here if number % 2 else None
        store.put_session(
            Session(
                f"s{number}", user, place, now, "agent:a", ended_at=ended, summary=summary, active_at=active
            )
        )
        for at, content in enumerate(work["findings"]):
            if content.strip():
                finding = Finding(f"f{number}{at}", f"s{number}", fingerprint(content), "fact", content, now)
                store.put_finding(finding)
    for number, context in enumerate(work["gaps"]):
        store.put_gap(Gap(f"g{number}", here if number % 2 else None, context, now))
    for number, (reason, decision) in enumerate(work["reviews"]):
        review = Review(
            f"r{number}", user, here if number % 2 else None, "merge", (f"m{number}",), reason, now
        )
        store.reviews.ask(review)
        if decision is not None:
            store.reviews.decide(review.id, decision, now)
    engine.import_messages(
        {"session": "s0", "order": order, "author": author, "text": text, "created_at": DAY}
        for order, (author, text) in enumerate(work["messages"])
    )
    everything = View(user, all_projects=True, all_sessions=True, states=frozenset(State))
    for tag in engine.store.tags(everything):
        if tag.name in work["tags"] or len(work["tags"]) == 1:
            store.describe_tag(tag.name, next(iter(work["tags"].values())))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(records, min_size=1, max_size=6), pairs, works)
def test_whatever_was_kept_goes_out_and_in_unchanged(lines, ends, work):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            Engine.open(folder, folder / "one", embedder=FakeEmbedder(dim=8)) as here,
            Engine.open(folder, folder / "two", embedder=FakeEmbedder(dim=8)) as there,
        ):
            ids = [each for each in here.import_memories(lines) if each]
            links = [
                link(ids[a % len(ids)], ids[b % len(ids)], relation=relation)
                for a, b, relation in ends
                if ids
            ]
            bring(here, document(links=links))
            keep_work(here, work)
            first = export(here, messages=True, vectors=True)

            report = bring(there, first)

            assert (report.refused, report.notes) == ([], ())
            assert without_time(export(there, messages=True, vectors=True)) == without_time(first)
            assert there.store.check() == []
            assert len(there.embedder.texts) == len(json.loads(first)["messages"]), (
                "memories came with theirs"
            )


def fill(engine, clock):
    """Something of everything an export holds."""
    receipt = engine.remember("Use tabs", tags=("style",), session="s1")
    other = engine.remember("Mail goes out by a worker", scope="global")
    engine.link(receipt.id, other.id)
    engine.store.describe_tag("style", "How code looks")
    engine.preferences.add_alias("till", ["cash register"])
    engine.preferences.remove_alias("db", ["database"])
    engine.preferences.start_season("release-week")
    engine.preferences.set_budget(900)
    here, now, store = engine.project.id, clock(), engine.store
    user = engine.settings.user
    store.put_session(
        Session("s1", user, here, now, "agent:a", "codex", "main", None, now, "Tabs", "/tmp/talk.jsonl", now)
    )
    store.put_session(Session("s2", user, None, now))
    content = "Prettier overrides the editor"
    store.put_finding(
        Finding("f1", "s1", fingerprint(content), "fact", content, now, tags=("style",), promoted_to=other.id)
    )
    store.put_gap(Gap("g1", here, "how are prices rounded", now, "s1"))
    store.put_gap(Gap("g2", here, "answered long ago", now, None, now))
    store.reviews.ask(Review("r1", user, here, "merge", (receipt.id, other.id), "alike", now))
    store.reviews.ask(Review("r2", user, None, "stale", (other.id,), "old", now))
    store.reviews.decide("r2", "rejected", now)
    said = {"session": "s1", "author": "assistant", "created_at": DAY}
    engine.import_messages([{**said, "order": n, "text": f"Message {n}"} for n in range(3)])
    fill_work(engine, now)
    return receipt.id


def fill_work(engine, now):
    """A map that a person has corrected, and one of every kind of what was learnt from work."""
    (engine.context.root / "till.py").write_text("def ring():\n    return 1\n")
    engine.maps.rescan()
    engine.maps.correct(engine.maps.current().modules[0].name, Correction(description="Where carts are paid"))
    shelf, owner = engine.store.episodes, engine.episodes.owner
    shelf.add(owner, [ToolExecution("raw", now, "s1", "Bash", {"command": "make it-so"}, True)], [])
    failure = failure_of("ModuleNotFoundError: No module named 'till'", "pytest")
    mended = {
        "failure": as_data(failure),
        "error": "No module named 'till'",
        "command": "pytest",
        "files": ["till.py"],
        "commands": ["pip install till"],
        "instead": "",
    }
    for sighting in (
        PatternSighting(ERROR_FIX, "0123456789abcdef01234567", mended, "k1", now),
        PatternSighting(REFACTOR, "a → b", {"rename": ["a", "b"], "files": ["a.py", "b.py"]}, "k2", now),
        PatternSighting(WORKFLOW, "look → edit → pytest", {"steps": ["look", "edit", "pytest"]}, "k3", now),
    ):
        shelf.add_sighting(owner, sighting)
    pair = CoEdit(("a.py", "b.py"), 3, now, now)
    shelf.put_patterns(owner, CO_EDIT, [as_pattern(pair)])
    for learnt in (
        SessionLearning(
            "file_purpose", "till.py", {"path": "till.py", "says": "", "tasks": ["x"], "times": 3}, 0.5, "s1"
        ),
        SessionLearning("common_error", "pytest: E", {"error": "E", "command": None, "times": 3}, 0.6, "s1"),
        SessionLearning("workflow", "look → edit", {"steps": ["look", "edit"], "times": 3}, 0.7, "s1"),
    ):
        shelf.put_learning(owner, learnt)


@pytest.mark.parametrize("options", [{}, {"messages": True}, {"vectors": True, "messages": True}])
def test_everything_that_cannot_be_made_anew_moves_to_another_machine(open_engine, options):
    clock, embedder = FakeClock(), FakeEmbedder()
    here = open_engine("one", embedder=embedder, clock=clock)
    fill(here, clock)
    embedder.texts.clear()
    clock.advance(days=1)
    there = open_engine("two", embedder=embedder, clock=clock)
    first = export(here, **options)

    report = bring(there, first)

    assert (report.refused, report.notes) == ([], ())
    assert without_time(export(there, **options)) == without_time(first)
    assert there.store.check() == []
    document = json.loads(first)
    counts = {name: len(records) for name, records in document.items() if isinstance(records, list)}
    assert counts == {
        "projects": 1,
        "settings": 3,
        "tags": 1,
        "sessions": 2,
        "memories": 2,
        "links": 1,
        "findings": 1,
        "gaps": 1,
        "reviews": 2,
        "maps": 1,
        "patterns": 4,
        "learnings": 3,
        **({"messages": 3} if "messages" in options else {}),
    }
    assert there.maps.known().modules[0].said == {"description": "user"}
    assert there.episodes.fixes_for("ModuleNotFoundError: No module named 'till'", "pytest")
    assert "make it-so" not in first, "what was run is of this machine"
    assert "/tmp/talk.jsonl" not in first, "a file of this machine says nothing on another"
    memories = {each["content"] for each in document["memories"]}
    assert not memories & set(embedder.texts) or "vectors" not in options
    assert here.store.count_without_vector("fake") == there.store.count_without_vector("fake") == 0


@pytest.mark.parametrize(
    "ours, theirs, holds",
    [
        ("agent:a", "agent:a", "newer"),
        ("user", "agent:a", "ours"),
        ("agent:a", "user", "theirs"),
        ("user", "user", "newer"),
    ],
)
@pytest.mark.parametrize("ours_is_newer", [True, False])
def test_of_two_maps_the_one_a_person_corrected_holds_and_else_the_newer(
    open_engine, ours, theirs, holds, ours_is_newer
):
    clock = FakeClock()
    machines = {"ours": ours, "theirs": theirs}
    engines = {}
    for name in sorted(machines, reverse=ours_is_newer):
        clock.advance(days=1)
        engine = engines[name] = open_engine(name, clock=clock, actor=machines[name])
        (engine.context.root / "till.py").write_text("x = 1\n")
        engine.remember("Use tabs")
        engine.maps.correct(engine.maps.current().modules[0].name, Correction(description=name))
        engine.close()
    newer = "ours" if ours_is_newer else "theirs"

    told = {}
    texts = {name: export(open_engine(name, clock=clock)) for name in machines}
    for name, other in (("ours", "theirs"), ("theirs", "ours")):
        engine = open_engine(name, clock=clock)
        bring(engine, texts[other])
        told[name] = engine.maps.known().modules[0].description

    wanted = newer if holds == "newer" else holds
    assert told == {"ours": wanted, "theirs": wanted}


def test_of_two_patterns_the_one_that_was_seen_more_often_holds(open_engine):
    clock = FakeClock()
    here, there = open_engine("one", clock=clock), open_engine("two", clock=clock)
    for engine, times in ((here, 5), (there, 2)):
        engine.remember("Use tabs")
        for number in range(times):
            seen = PatternSighting(
                WORKFLOW, "edit → test", {"steps": ["edit", "test"]}, f"k{number}", clock()
            )
            engine.store.episodes.add_sighting(engine.episodes.owner, seen)
    first, second = export(here), export(there)

    bring(here, second)
    bring(there, first)

    assert [each.count for each in here.episodes.patterns()] == [5]
    assert [each.count for each in there.episodes.patterns()] == [5]


def test_an_agent_brings_no_map_and_no_patterns(open_engine):
    clock = FakeClock()
    here = open_engine("one", clock=clock)
    here.remember("Use tabs")
    fill_work(here, clock())
    agent = open_engine("two", clock=clock, actor="agent:a")

    bring(agent, export(here))

    assert agent.maps.known() is None
    assert agent.episodes.patterns() == ()


def test_what_was_not_exported_by_us_is_read_in_any_layout(open_engine):
    here, there = open_engine("one"), open_engine("two")
    here.remember("Use tabs")
    text = export(here)

    bring(there, json.dumps(json.loads(text), indent=4))

    assert without_time(export(there)) == without_time(text)


@pytest.mark.parametrize("form", ["export", "lines"])
def test_a_file_is_read_a_record_at_a_time(open_engine, form):
    engine = open_engine()
    engine.import_memories({"content": f"Chapter {number}"} for number in range(300))
    text = export(engine)
    if form == "lines":
        text = "".join(json.dumps(each) + "\n" for each in json.loads(text)["memories"])
    taken = 0

    def lines():
        nonlocal taken
        for line in text.encode().splitlines(keepends=True):
            taken += 1
            yield line

    file = read_import_file(lines, "file")
    checked, taken = taken, 0
    first = next(file.records)

    assert checked >= 300, "all of it is checked before the first record is given out"
    assert file.counts["memories"] == 300
    assert first["content"] == "Chapter 0"
    assert taken < 30


@pytest.mark.parametrize(
    "vector",
    [
        {"model": "fake", "values": "AAAA"},
        {"model": "fake", "values": "no base64!"},
        {"model": "fake", "values": "AADAfwAAwH8="},
        {"model": "fake"},
        {"model": 7, "values": "AACAPw=="},
        "AACAPw==",
    ],
)
def test_a_vector_that_is_none_is_refused_with_its_record(open_engine, vector):
    engine = open_engine(embedder=FakeEmbedder())

    report = engine.transfer.import_records(
        [{"content": "Use tabs", "vector": vector}, {"content": "Use spaces"}]
    )

    assert [number for number, _ in report.refused] == [0]
    assert "vector" in report.refused[0][1]


def test_a_vector_of_another_model_or_of_a_text_with_a_secret_is_made_anew(open_engine):
    embedder = FakeEmbedder(dim=1)
    engine = open_engine(embedder=embedder)
    vector = {"model": "other", "values": "AACAPw=="}
    longer = {"model": "fake", "values": "AACAPwAAAAA="}

    engine.transfer.import_records(
        [
            {"content": "Use tabs", "vector": vector},
            {"content": "Use both", "vector": longer},
            {"content": f"Use {SECRET}", "vector": {**vector, "model": "fake"}},
            {"content": "Use spaces", "vector": {**vector, "model": "fake"}},
        ]
    )

    assert len(embedder.texts) == 3
    assert engine.store.check() == []
    assert "Use spaces" not in embedder.texts


def test_who_is_called_otherwise_on_the_other_machine_is_still_the_same(open_engine, monkeypatch):
    here = open_engine("one")
    here.remember("Use tabs")
    monkeypatch.setenv("RECOLLECT_USER", "somebody")
    there = open_engine("two")

    bring(there, export(here))

    assert [memory.user_id for memory in there.list()] == ["somebody"]


@pytest.mark.parametrize(
    "section, record, told",
    [
        ("settings", {"name": "agreed", "value": ["https://evil.com"]}, "setting.name"),
        ("settings", {"name": "budget", "value": 0}, "setting.value"),
        ("settings", {"name": "aliases", "value": {"added": [1]}}, "setting.value.added"),
        ("settings", {"name": "aliases", "value": {"removed": [["a"]]}}, "setting.value.removed"),
        ("sessions", {"id": "s1"}, "session.started_at"),
        ("sessions", 7, "not an object"),
        ("findings", {"id": "f1", "session": "s9"}, "finding.kind"),
        (
            "findings",
            {"id": "f1", "session": "s9", "kind": "fact", "content": "x", "created_at": DAY},
            "session",
        ),
        ("gaps", {"id": "g1", "context": 7, "created_at": DAY}, "gap.context"),
        ("reviews", {"id": "r1", "kind": "merge", "memories": "a", "created_at": DAY}, "review.memories"),
        ("tags", {"name": "x"}, "tag.description"),
        ("messages", {"session": "s1", "text": "hi"}, "order"),
    ],
)
def test_what_else_cannot_be_kept_is_left_out_and_told(open_engine, section, record, told):
    engine = open_engine()
    whole = {"format": "recollect-export", "version": 2, "memories": [{"content": "Use tabs"}]}

    report = bring(engine, json.dumps({**whole, section: [record]}))

    assert report.kept == 1
    assert told in report.notes[0]
    assert "1 " in report.notes[0]


def test_secrets_are_taken_out_of_what_is_no_memory_too(open_engine, tmp_path):
    engine = open_engine()
    whole = {
        "format": "recollect-export",
        "version": 2,
        "settings": [{"name": "seasons", "value": [f"x {SECRET}"]}],
        "tags": [{"name": "ci", "description": SECRET}],
        "sessions": [{"id": "s1", "started_at": DAY, "summary": f"used {SECRET}", "branch": SECRET}],
        "findings": [
            {"id": "f1", "session": "s1", "kind": "fact", "content": f"is {SECRET}", "created_at": DAY}
        ],
        "gaps": [{"id": "g1", "context": f"what is {SECRET}", "created_at": DAY}],
        "reviews": [{"id": "r1", "kind": "merge", "memories": ["a"], "created_at": DAY, "reason": SECRET}],
        "messages": [{"session": "s1", "order": 0, "text": f"it is {SECRET}"}],
    }

    report = bring(engine, json.dumps(whole))
    engine.backup()
    engine.close()

    assert report.redacted == 8
    nowhere_on_disk(SECRET, tmp_path / "home")


def test_an_import_is_one_change_and_its_undoing_leaves_no_trace(open_engine, tmp_path):
    clock = FakeClock()
    here = open_engine("one", clock=clock)
    there = open_engine("two", clock=clock)
    for number in range(150):  # more than a transaction
        here.remember(f"Chapter {number} is about theme {number * 7}")
    first = here.list()[-1]
    bring(there, export(here))
    clock.advance(hours=1)
    here.edit(first.id, content="The first chapter is lost")
    here.remember("Mail goes out by a worker")
    here.link(first.id, here.list()[0].id)
    clock.advance(hours=1)
    before = rows_of(tmp_path / "two")

    report = bring(there, export(here))
    (change, *_), _ = there.care.changes(), clock.advance(hours=1)
    undone = there.care.undo(report.change)

    assert (change.id, change.action, change.project_id) == (report.change, "import", None)
    assert change.summary == "Imported 151 memories and 1 link."
    assert len(undone.restored) == 2
    assert rows_of(tmp_path / "two") == before
    assert there.store.check() == []


def test_an_import_that_brings_nothing_new_is_no_change(open_engine):
    engine = open_engine()
    engine.remember("Use tabs")
    before = len(engine.audit(100))

    report = bring(engine, export(engine))

    assert report.change is None
    assert [change.action for change in engine.care.changes()] == ["remember"]
    assert len(engine.audit(100)) == before


def rows_of(home):
    db = connect(home / "recollect.db", None)
    tables = "tags memory_tags vectors links reviews findings".split()
    try:
        kept = {table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables}
        memories = db.execute("SELECT * FROM memories ORDER BY id").fetchall()
    finally:
        db.close()
    return kept | {"memories": [(num, name, *rest) for num, name, _seq, *rest in memories]}


# two machines


def merge_both_ways(one, two, rounds):
    """Each takes what the other exported, in turn (A from B, then B from A), or both from what was there before."""
    for at_once in rounds:
        first = export(one)
        if at_once:
            bring(one, export(two))
            bring(two, first)
        else:
            bring(two, first)
            bring(one, export(two))


def test_edits_of_one_text_on_two_machines_are_both_kept(open_engine):
    clock = FakeClock()
    here, there = open_engine("one", clock=clock), open_engine("two", clock=clock)
    name = here.remember("The port is 8080", tags=("net",)).id
    bring(there, export(here))
    clock.advance(hours=1)
    here.edit(name, content="Ports are given by the platform")
    clock.advance(hours=1)
    there.edit(name, content="The port is in PORT")
    clock.advance(hours=1)

    report = bring(here, export(there))
    bring(there, export(here))

    assert report.beside == 1
    assert without_time(export(here)) == without_time(export(there))
    assert here.get(name).content == "The port is in PORT"
    (lost,) = here.list(state="superseded")
    assert (lost.content, lost.superseded_by) == ("Ports are given by the platform", name)
    assert [(each.source, each.target, each.relation) for each in here.links(name)] == [
        (name, lost.id, Relation.SUPERSEDES)
    ]
    assert here.store.check() == there.store.check() == []


def test_an_edit_of_one_machine_leaves_nothing_beside(open_engine):
    clock = FakeClock()
    here, there = open_engine("one", clock=clock), open_engine("two", clock=clock)
    name = here.remember("The port is 8080").id
    bring(there, export(here))
    clock.advance(hours=1)
    here.edit(name, content="Ports are given by the platform")

    bring(there, export(here))

    assert [memory.content for memory in there.list(state="all")] == ["Ports are given by the platform"]


def test_what_is_forgotten_here_is_forgotten_there_unless_it_was_edited_later(open_engine):
    clock = FakeClock()
    here, there = open_engine("one", clock=clock), open_engine("two", clock=clock)
    gone = here.remember("The port is 8080").id
    edited = here.remember("Mail goes out by a worker").id
    bring(there, export(here))
    clock.advance(hours=1)
    here.forget(gone)
    here.forget(edited)
    clock.advance(hours=1)
    there.edit(edited, content="Mail goes out by a queue")

    merge_both_ways(here, there, [False])

    assert {each.get(gone).state for each in (here, there)} == {State.DELETED}
    assert {each.get(edited).content for each in (here, there)} == {"Mail goes out by a queue"}
    assert here.get(edited).state is State.ACTIVE


def test_vectors_of_texts_kept_beside_come_too(open_engine):
    clock, embedder = FakeClock(), FakeEmbedder()
    here = open_engine("one", clock=clock, embedder=embedder)
    there = open_engine("two", clock=clock, embedder=embedder)
    name = here.remember("The port is 8080").id
    bring(there, export(here, vectors=True))
    clock.advance(hours=1)
    here.edit(name, content="Ports are given by the platform")
    clock.advance(hours=1)
    there.edit(name, content="The port is in PORT")

    merge_both_ways(here, there, [True])

    assert without_time(export(here, vectors=True)) == without_time(export(there, vectors=True))
    assert here.store.count_without_vector("fake") == 0


texts = st.sampled_from(
    [
        "The port is 8080",
        "Use tabs",
        "Mail goes out by a worker",
        "Prices are in cents",
        "Deploys are on Monday",
    ]
)
acts = st.lists(
    st.tuples(
        st.sampled_from(["remember", "edit", "forget", "restore", "pin", "tag", "link", "helpful", "settle"]),
        st.integers(0, 5),
        st.integers(0, 5),
        texts,
    ),
    max_size=8,
)


def do(engine, act, first, second, text):
    ids = [memory.id for memory in engine.list(state="all")]
    if act == "remember" or not ids:
        engine.remember(text)
        return
    one, other = ids[first % len(ids)], ids[second % len(ids)]
    {
        "edit": lambda: engine.edit(one, content=f"{text}, {first}"),
        "forget": lambda: engine.forget(one),
        "restore": lambda: engine.restore(one),
        "pin": lambda: engine.pin(one),
        "tag": lambda: engine.tag(one, [f"tag{second}"]),
        "link": lambda: engine.link(one, other),
        "helpful": lambda: engine.feedback(one, helpful=first % 2 == 0),
        "settle": lambda: engine.resolve(one, other, "both"),
    }[act]()


def do_all(engine, acts, clock, tick):
    for act in acts:
        clock.advance(minutes=int(tick))
        with contextlib.suppress(RecollectError):  # what cannot be done is left undone
            do(engine, *act)


def texts_of(engine):
    return {memory.content for memory in engine.list(state="all")}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(acts, acts, acts, st.lists(st.booleans(), min_size=1, max_size=2), st.booleans())
def test_two_machines_with_different_edits_hold_the_same_after_merging(before, mine, theirs, rounds, tick):
    with tempfile.TemporaryDirectory() as name:
        folder, clock = Path(name), FakeClock()
        options = {"embedder": NoEmbedder(), "clock": clock}
        with (
            Engine.open(folder, folder / "one", **options) as here,
            Engine.open(folder, folder / "two", **options) as there,
        ):
            do_all(here, before, clock, tick)
            bring(there, export(here))
            known = texts_of(here)
            do_all(here, mine, clock, tick)
            do_all(there, theirs, clock, tick)
            said = (texts_of(here) | texts_of(there)) - known

            merge_both_ways(here, there, rounds)

            assert without_time(export(here)) == without_time(export(there))
            assert here.store.check() == there.store.check() == []
            assert texts_of(here) >= said, "what either side has written is kept"
            once = export(here)
            bring(here, export(there))
            assert export(here) == once
