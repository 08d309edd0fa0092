"""Files beside the store: what is changed on either side comes to the other."""

import json

import pytest

from fakes import FakeClock, FakeEmbedder
from recollect import Engine
from recollect.errors import OutOfScope, Refused
from recollect.model import Project, Relation, Source, State

SECRET = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"


@pytest.fixture
def there(tmp_path):
    return tmp_path / "mirror"


@pytest.fixture
def sync(engine, there, clock):
    def run(**options):
        clock.advance(minutes=1)
        return engine.care.mirror(there, **options)

    return run


def entries(file):
    return json.loads(file.read_text())["memories"]


def edit(file, change):
    """As a person does it: the file is read, changed and saved."""
    document = json.loads(file.read_text())
    document["memories"] = change(document["memories"]) or document["memories"]
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False))


def test_there_is_a_file_for_each_project_and_one_for_what_holds_everywhere(engine, sync, there):
    name = engine.remember("Use tabs", kind="convention", tags=("style",), file_paths=("notes",)).id
    engine.remember("Be kind", scope="global")

    report = sync()

    assert sorted(report.written) == ["global.json", "shop.json"]
    assert entries(there / "shop.json") == [
        {
            "id": name,
            "content": "Use tabs",
            "kind": "convention",
            "tags": ["style"],
            "file_paths": ["notes"],
            "importance": 0.5,
            "pinned": False,
        }
    ]
    assert [each["content"] for each in entries(there / "global.json")] == ["Be kind"]
    assert {file.stat().st_mode & 0o777 for file in there.iterdir()} == {0o600}
    assert there.stat().st_mode & 0o777 == 0o700


def test_a_second_run_changes_nothing(engine, sync, there):
    engine.remember("Use tabs")
    sync()
    before = {file: file.stat().st_mtime_ns for file in there.iterdir()}

    report = sync()

    assert (report.written, report.changed, report.change) == ([], [], None)
    assert {file: file.stat().st_mtime_ns for file in there.iterdir()} == before
    assert [change.action for change in engine.care.changes()] == ["remember"]


def test_what_changes_in_the_store_is_written(engine, sync, there):
    kept, gone = engine.remember("Use tabs").id, engine.remember("Mail goes out by a worker").id
    sync()
    engine.edit(kept, content="Use spaces")
    engine.forget(gone)
    engine.remember("Prices are in cents")

    report = sync()

    assert report.written == ["shop.json"]
    assert [each["content"] for each in entries(there / "shop.json")] == ["Use spaces", "Prices are in cents"]


def test_hand_edits_come_back_in_as_one_change(engine, sync, there):
    text, details, pinned = (
        engine.remember(said).id for said in ("Use tabs", "Mail goes out by a worker", "Prices are in cents")
    )
    everywhere = engine.remember("Be kind", scope="global").id
    sync()

    def by_hand(found):
        found[0]["content"] = "Use four spaces"
        found[1] |= {"kind": "gotcha", "tags": ["Mail Out"], "file_paths": ["mail.py"], "importance": 0.9}
        found[2]["pinned"] = True

    edit(there / "shop.json", by_hand)
    edit(there / "global.json", lambda found: found[0].update(content="Be kind and brief"))
    report = sync()

    assert set(report.changed) == {text, details, pinned, everywhere}
    assert engine.get(text).content == "Use four spaces"
    assert engine.get(text).provenance[-1].reason == "edited"
    changed = engine.get(details)
    assert (changed.kind, changed.tags, changed.file_paths) == ("gotcha", ("mail-out",), ("mail.py",))
    assert changed.importance == 0.9
    assert engine.get(pinned).pinned
    assert engine.get(everywhere).content == "Be kind and brief"
    mirrored, *stated = engine.care.changes()
    assert (mirrored.id, mirrored.action) == (report.change, "mirror")
    assert {change.action for change in stated} == {"remember"}
    assert engine.care.changes()[0].finished_at is not None

    engine.care.undo(report.change)

    assert engine.get(text).content == "Use tabs"
    assert engine.get(details).kind == "fact"
    assert not engine.get(pinned).pinned
    assert engine.store.check() == []


def test_an_entry_taken_out_is_forgotten_with_grace(engine, sync, there):
    name = engine.remember("Use tabs").id
    engine.remember("Mail goes out by a worker")
    sync()

    edit(there / "shop.json", lambda found: found[1:])
    report = sync()

    assert report.forgotten == [name]
    assert engine.get(name).state is State.DELETED
    assert engine.restore(name).state is State.ACTIVE


def test_a_new_entry_is_remembered_and_gets_its_id(engine, sync, there):
    engine.remember("Use tabs")
    sync()

    edit(there / "shop.json", lambda found: [*found, {"content": "Prices are in cents", "pinned": True}])
    report = sync()

    (name,) = report.remembered
    memory = engine.get(name)
    assert (memory.content, memory.pinned, memory.source) == ("Prices are in cents", True, Source.USER_STATED)
    assert memory.project_id == engine.project.id
    assert name in {each["id"] for each in entries(there / "shop.json")}
    assert sync().remembered == []


def test_a_file_that_is_gone_is_written_again_and_nothing_forgotten(engine, sync, there):
    engine.remember("Use tabs")
    sync()

    (there / "shop.json").unlink()
    report = sync()

    assert (report.written, report.forgotten) == (["shop.json"], [])
    assert len(engine.list()) == 1


def test_a_text_changed_on_both_sides_is_kept_twice(engine, sync, there):
    name = engine.remember("Use tabs").id
    sync()
    engine.edit(name, content="Use two spaces")

    edit(there / "shop.json", lambda found: found[0].update(content="Indentation is up to the formatter"))
    report = sync()

    ((both, what),) = report.both
    (made,) = report.remembered
    assert both == name
    assert made in what
    assert engine.get(name).content == "Use two spaces"
    assert engine.get(made).content == "Indentation is up to the formatter"
    assert (made, name, Relation.RELATES_TO) in [
        (each.source, each.target, each.relation) for each in engine.links(name)
    ]
    assert len(entries(there / "shop.json")) == 2
    assert sync().both == []


def test_details_changed_on_both_sides_stay_as_the_store_has_them(engine, sync, there):
    name = engine.remember("Use tabs").id
    sync()
    engine.tag(name, ["style"])

    edit(there / "shop.json", lambda found: found[0].update(importance=1.0))
    report = sync()

    assert [each for each, _ in report.both] == [name]
    assert engine.get(name).importance == 0.5
    assert entries(there / "shop.json")[0]["tags"] == ["style"]


def test_what_was_taken_out_but_has_changed_here_stays(engine, sync, there):
    name = engine.remember("Use tabs").id
    engine.remember("Mail goes out by a worker")
    sync()
    engine.edit(name, content="Use spaces")

    edit(there / "shop.json", lambda found: found[1:])
    report = sync()

    assert [each for each, _ in report.both] == [name]
    assert engine.get(name).state is State.ACTIVE


def test_what_was_edited_by_hand_and_forgotten_here_is_said_anew(engine, sync, there):
    name = engine.remember("Use tabs").id
    engine.remember("Mail goes out by a worker")
    sync()
    engine.forget(name)

    edit(there / "shop.json", lambda found: found[0].update(content="Use tabs in Makefiles"))
    report = sync()

    (made,) = report.remembered
    assert engine.get(name).state is State.DELETED
    assert engine.get(made).content == "Use tabs in Makefiles"


def test_secrets_do_not_come_in_and_leave_the_file(engine, sync, there, tmp_path):
    engine.remember("Use tabs")
    sync()

    edit(there / "shop.json", lambda found: found[0].update(content=f"The token is {SECRET}"))
    report = sync()
    engine.backup()

    assert report.redacted == 1
    assert SECRET not in (there / "shop.json").read_text()
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert SECRET[4:20].encode() not in file.read_bytes(), file


def without(field):
    def change(found):
        del found[1][field]

    return change


@pytest.mark.parametrize(
    "nonsense, told",
    [
        (lambda file: file.write_text("{]"), "line 1: not valid JSON"),
        (
            lambda file: file.write_text(file.read_text().replace('"preference",', '"preference"', 1)),
            "line 9: not valid JSON",
        ),
        (lambda file: file.write_bytes(file.read_bytes() + b"\n\xff"), "not valid UTF-8"),
        (lambda file: file.write_text("[" * 100_000), "not valid JSON"),
        (lambda file: file.write_text("[]"), 'no list of "memories"'),
        (lambda file: file.write_text('{"memories": 5}'), 'no list of "memories"'),
        (lambda file: edit(file, lambda found: [7]), "entry 1: not an object"),
        (lambda file: edit(file, lambda found: found[1].update(content="")), "entry 2"),
        (lambda file: edit(file, lambda found: found[1].update(content="x" * 3000)), "3,000 bytes"),
        (lambda file: edit(file, lambda found: found[1].update(content=7)), "entry 2"),
        (lambda file: edit(file, lambda found: found[1].update(kind="nonsense")), "Unknown kind"),
        (lambda file: edit(file, lambda found: found[1].update(tags="style")), "tags must be a list"),
        (lambda file: edit(file, lambda found: found[1].update(importance=7)), "importance must be"),
        (lambda file: edit(file, lambda found: found[1].update(pinned="yes")), "pinned must be"),
        (lambda file: edit(file, lambda found: found[1].update(tgas=[])), "tgas is not a field"),
        (
            lambda file: edit(file, lambda found: found[1].update(id="nobody")),
            "no such memory in this project",
        ),
        (lambda file: edit(file, lambda found: found[1].update(id=7)), "no such memory in this project"),
        (lambda file: edit(file, lambda found: found[1].update(id=found[0]["id"])), "this id twice"),
        (lambda file: edit(file, lambda found: found[1].update(content="Use TABS")), "says exactly this"),
        (lambda file: edit(file, without("importance")), "importance is missing"),
    ],
)
def test_a_file_edited_into_nonsense_is_refused_by_name_and_the_rest_is_brought_up_to_date(
    engine, sync, there, nonsense, told
):
    engine.remember("Use tabs")
    engine.remember("Mail goes out by a worker")
    everywhere = engine.remember("Be kind", scope="global").id
    sync()
    before = [memory for memory in engine.list() if memory.project_id]
    edit(there / "shop.json", lambda found: found[0].update(importance=0.8))
    nonsense(there / "shop.json")
    left = (there / "shop.json").read_bytes()
    edit(there / "global.json", lambda found: found[0].update(content="Be kind and brief"))

    report = sync()

    ((name, why),) = report.refused
    assert name == "shop.json"
    assert told in why
    assert str(there / "shop.json") in why
    assert (there / "shop.json").read_bytes() == left
    assert [memory for memory in engine.list() if memory.project_id] == before
    assert report.changed == [everywhere]
    assert engine.store.check() == []


def test_a_file_saved_with_a_byte_order_mark_is_read(engine, sync, there):
    name = engine.remember("Use tabs").id
    sync()
    file = there / "shop.json"
    file.write_text(file.read_text().replace("Use tabs", "Use spaces"), encoding="utf-8-sig")

    report = sync()

    assert (report.refused, report.changed) == ([], [name])


def test_projects_of_one_name_have_files_of_their_own(engine, sync, there):
    engine.remember("Use tabs")
    other = Project("p0123456789abcde", "shop", "/srv/shop", "")
    engine.store.put_project(other, ["dir:/srv/shop"])
    engine.transfer.import_records([{"content": "Prices are in cents", "project_id": other.id}])

    sync()

    assert len([file for file in there.iterdir() if file.name.startswith("shop")]) == 2
    assert sync().written == []


def test_a_file_of_that_name_that_is_not_ours_is_left_alone(engine, sync, there):
    engine.remember("Use tabs")
    there.mkdir()
    (there / "shop.json").write_text('{"name": "my shop"}')

    report = sync()

    assert [name for name, _ in report.refused] == ["shop.json"]
    assert (there / "shop.json").read_text() == '{"name": "my shop"}'


def test_an_encrypted_store_is_mirrored_only_if_the_user_says_so(engine, sync, there, tmp_path):
    engine.remember("Use tabs")
    engine.encrypt(tmp_path / "key")

    with pytest.raises(Refused, match="encrypted"):
        sync()

    assert not there.exists()
    assert sync(plaintext=True).written == ["shop.json"]


def test_an_agent_may_not_mirror(home, folder, there):
    with (
        Engine.open(folder, home, embedder=FakeEmbedder(), clock=FakeClock(), actor="agent:coder") as agent,
        pytest.raises(OutOfScope),
    ):
        agent.care.mirror(there)

    assert not there.exists()
