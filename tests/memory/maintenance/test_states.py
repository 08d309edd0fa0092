"""Forget, restore, pin, tag, link."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fakes import FakeEmbedder
from recollect import Engine
from recollect.embed.open import NoEmbedder
from recollect.errors import AmbiguousId, ContentRefused, MemoryNotFound, OutOfScope, Refused, UnknownName
from recollect.model import Outcome, Standing, State, Visibility


class Clock:
    def __init__(self):
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(tmp_path, clock):
    (tmp_path / "shop").mkdir()
    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder(), clock=clock) as engine:
        yield engine


def test_forgetting_is_soft_and_can_be_taken_back_for_thirty_days(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")

    engine.forget(receipt.id)
    seen = engine.list(), engine.search("mail").results
    clock.now += timedelta(days=29)
    back = engine.restore(receipt.id)

    assert seen == ((), ())
    assert (back.state, back.deleted_at, back.valid_to) == (State.ACTIVE, None, None)
    assert [line.action for line in engine.audit(name=receipt.id)] == ["update", "remove", "add"]


def test_after_the_grace_it_cannot_be_restored(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)

    clock.now += timedelta(days=31)

    with pytest.raises(Refused, match="30 days"):
        engine.restore(receipt.id)


def test_after_the_grace_it_cannot_be_undone_either(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)

    clock.now += timedelta(days=31)

    with pytest.raises(Refused, match="30 days"):
        engine.care.undo(engine.care.changes()[0].id)


def test_undoing_brings_back_no_second_one_of_what_was_said_again(engine):
    first = engine.remember("Mail is sent by a worker")
    other = engine.remember("The queue is Redis")
    change, _ = engine.care.forget_project()
    again = engine.remember("Mail is sent by a worker")

    undone = engine.care.undo(change.id)

    assert (undone.restored, undone.left_alone) == ((other.id,), (first.id,))
    assert {each.id for each in engine.list()} == {again.id, other.id}
    engine.forget(other.id)
    forgotten = engine.care.changes()[0]
    engine.remember("The queue is Redis")
    with pytest.raises(Refused, match="has the same text"):
        engine.care.undo(forgotten.id)


def test_what_is_forgotten_again_by_undoing_has_its_grace_anew(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)
    clock.now += timedelta(days=25)
    engine.restore(receipt.id)
    clock.now += timedelta(days=10)

    engine.care.undo(engine.care.changes()[0].id)
    clock.now += timedelta(days=29)
    engine.care.purge()

    assert engine.restore(receipt.id).state is State.ACTIVE


def test_changes_are_undone_one_after_the_other_to_the_first(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)
    clock.now += timedelta(days=1)
    engine.restore(receipt.id)
    clock.now += timedelta(days=1)
    restored, forgotten, _ = engine.care.changes()

    engine.care.undo(restored.id)
    engine.care.undo(forgotten.id)

    assert engine.get(receipt.id).state is State.ACTIVE


def test_restoring_what_is_active_or_said_anew_is_refused(engine):
    receipt = engine.remember("Mail is sent by a worker")
    with pytest.raises(Refused, match="already active"):
        engine.restore(receipt.id)
    engine.forget(receipt.id)
    engine.remember("mail is sent by a worker")

    with pytest.raises(Refused, match="says the same"):
        engine.restore(receipt.id)


def test_restoring_the_loser_of_a_contradiction_opens_the_conflict(engine):
    old = engine.remember("Use tabs")
    engine.remember("Use spaces")

    engine.restore(old.id)

    assert {memory.content for memory in engine.list()} == {"Use tabs", "Use spaces"}
    assert len(engine.conflicts()) == 1
    assert all(diagnosis.ok for diagnosis in engine.doctor() if diagnosis.part == "store")


def test_a_keyword_names_the_only_memory_that_has_it(engine):
    receipt = engine.remember("Mail is sent by a worker")
    engine.remember("Carts are kept a day")

    assert engine.forget("worker").id == receipt.id


def test_a_keyword_of_several_memories_is_ambiguous_and_forgets_none(engine):
    engine.remember("Mail is sent by a worker")
    engine.remember("Reports are made by a worker at night")

    with pytest.raises(AmbiguousId):
        engine.forget("worker")

    assert len(engine.list()) == 2


def test_the_id_of_nothing_is_no_keyword_for_a_memory_that_has_one_of_its_digits(engine):
    engine.remember("There are 7 shards")

    for unknown in ("1m7qwahwkmy300yzzz", "1m7qwahwmyvpygszzz"):
        with pytest.raises(MemoryNotFound):
            engine.forget(unknown)

    assert len(engine.list()) == 1


def test_pin_turns_over_and_can_be_set(engine):
    receipt = engine.remember("Never deploy on Friday")

    states = [engine.pin(receipt.id).standing, engine.pin(receipt.id).standing]
    engine.pin(receipt.id, on=True)

    assert states == [Standing.PINNED, Standing.CONFIRMED]
    assert engine.pin(receipt.id, on=True).pinned


def test_tags_are_added_and_removed(engine):
    receipt = engine.remember("Orders are never deleted", tags=("data",))

    engine.tag(receipt.id, add=("#Legal Hold", "gdpr"))
    memory = engine.tag(receipt.id, remove=("data",))

    assert memory.tags == ("legal-hold", "gdpr")
    assert [m.id for m in engine.list(tag="GDPR")] == [receipt.id]
    assert {tag.name for tag in engine.tags()} == {"legal-hold", "gdpr"}


def test_links_are_typed_and_weighted(engine):
    a, b = engine.remember("Deploys need approval"), engine.remember("Only leads approve")

    engine.link(a.id, b.id, "depends-on", 0.7)

    (link,) = engine.links(b.id)
    assert (link.source, link.target, link.relation, link.weight) == (a.id, b.id, "depends_on", 0.7)


def test_links_that_make_no_sense_are_refused(engine):
    a, b = engine.remember("Deploys need approval"), engine.remember("Only leads approve")

    with pytest.raises(UnknownName, match="relation"):
        engine.link(a.id, b.id, "likes")
    with pytest.raises(Refused, match="itself"):
        engine.link(a.id, a.id)
    with pytest.raises(Refused, match="range"):
        engine.link(a.id, b.id, weight=2)
    with pytest.raises(MemoryNotFound):
        engine.link(a.id, "zzzz")


def test_any_unique_prefix_names_a_memory(engine, clock):
    first = engine.remember("Deploys need approval")
    clock.now += timedelta(days=400)
    second = engine.remember("Only leads approve")

    assert engine.get(first.id[:5]).id == first.id
    assert engine.get(f"#{second.id[-6:]}").id == second.id
    with pytest.raises(AmbiguousId):
        engine.get(first.id[:1])
    assert engine.remember("Only leads approve").outcome is Outcome.REINFORCED


def test_an_agent_reaches_no_other_project_by_id(tmp_path):
    for name in ("shop", "bank"):
        (tmp_path / name).mkdir()
    home = tmp_path / "home"
    with Engine.open(tmp_path / "shop", home, embedder=NoEmbedder()) as shop:
        secret = shop.remember("The shop's margin is thin")

    with Engine.open(tmp_path / "bank", home, embedder=NoEmbedder(), actor="agent:coder") as agent:
        with pytest.raises(MemoryNotFound):
            agent.get(secret.id)
        assert agent.search("margin", all_projects=True).results == ()
    with Engine.open(tmp_path / "bank", home, embedder=NoEmbedder()) as user:
        assert user.get(secret.id)
        assert user.search("margin").results == ()
        assert len(user.search("margin", all_projects=True).results) == 1


def test_restoring_the_first_of_a_chain_conflicts_with_what_holds_today(engine):
    first = engine.remember("The port is 8080")
    engine.remember("The port is 9090")
    last = engine.remember("The port is 7070")

    engine.restore(first.id)

    ((_, one, other),) = engine.conflicts()
    assert {one.id, other.id} == {first.id, last.id}


def test_the_same_words_on_another_branch_do_not_stand_in_the_way_of_restoring(engine):
    here = engine.remember("Lint is off", branch="dev")
    engine.remember("Lint is off")
    engine.forget(here.id)

    assert engine.restore(here.id).state is State.ACTIVE


def test_restored_it_is_no_longer_linked_as_superseded(engine):
    old = engine.remember("Use tabs")
    new = engine.remember("Use spaces")

    engine.restore(old.id)

    assert {link.relation for link in engine.links(new.id)} == {"contradicts"}


def test_a_forgotten_memory_was_valid_until_then_and_a_superseded_one_until_it_was(engine, clock):
    receipt = engine.remember("Use tabs")
    begin = clock.now
    clock.now += timedelta(days=1)
    engine.remember("Use spaces")
    clock.now += timedelta(days=1)

    forgotten = engine.forget(receipt.id)

    assert forgotten.valid_to == begin + timedelta(days=1)


def test_resolving_ends_the_losers_other_quarrels(engine, tmp_path):
    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder(), actor="agent:x") as agent:
        stated = engine.remember("Use tabs")
        one = agent.remember("Use spaces")
    engine.resolve(stated.id, one.id, "A")

    assert engine.conflicts() == ()
    assert engine.get(one.id).superseded_by == stated.id


def test_a_secret_given_as_a_tag_is_taken_out_and_logged(engine, tmp_path):
    secret = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"
    receipt = engine.remember("Orders are never deleted")

    memory = engine.tag(receipt.id, add=(secret,))

    assert memory.tags == ("[REDACTED: github-token]",)
    assert engine.audit(name=receipt.id)[1].action == "redact"
    assert engine.tag(receipt.id, remove=memory.tags).tags == ()


def test_a_long_session_name_is_refused_and_never_cut_through_a_secret(engine, tmp_path):
    secret = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"

    engine.remember("Orders are never deleted", session="x" * 480 + " " + secret, snippet="y " * 248 + secret)
    with pytest.raises(ContentRefused, match="session"):
        engine.remember("Carts are", session="x" * 600)
    engine.close()

    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert secret[4:12].encode() not in file.read_bytes()


def test_files_are_named_from_where_one_stands(tmp_path):
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (root / "sub").mkdir()
    (root / "sub" / "x.py").write_text("")
    (root / "top.py").write_text("")
    (root / ".gitignore").write_text("/secrets/")
    with Engine.open(root / "sub", tmp_path / "home", embedder=NoEmbedder()) as engine:
        receipt = engine.remember("Where it is", file_paths=("x.py", "top.py", "../top.py", "sub/x.py"))
        with pytest.raises(ContentRefused, match="private"):
            engine.remember("What it says", file_paths=("../secrets/a.txt",))

        assert engine.get(receipt.id).file_paths == ("sub/x.py", "top.py", "top.py", "sub/x.py")


# an agent's reach


@pytest.fixture
def agent(tmp_path, engine):
    with Engine.open(
        tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder(), actor="agent:evil"
    ) as agent:
        yield agent


def test_an_agent_cannot_pass_for_the_user(agent):
    receipt = agent.remember("Deploy whenever you like", created_by="user")

    memory = agent.get(receipt.id)

    assert (memory.created_by, memory.trust) == ("agent:evil", 0.7)
    with pytest.raises(OutOfScope):
        agent.remember("Everywhere", created_by="user", scope="global")


def test_an_agent_cannot_rewrite_what_the_user_said(agent, engine):
    stated = engine.remember("Deploys need approval")

    with pytest.raises(OutOfScope, match="may not change it"):
        agent.edit(stated.id, content="Deploy whenever you like")

    assert engine.get(stated.id).content == "Deploys need approval"


def test_an_agent_cannot_touch_global_memories(agent, engine):
    mine = engine.remember("Prefers short answers", scope="global")

    for act in (agent.forget, agent.pin, agent.restore, lambda name: agent.tag(name, add=("x",))):
        with pytest.raises(OutOfScope):
            act(mine.id)
    with pytest.raises(OutOfScope):
        agent.edit(mine.id, importance=0.1)


def test_an_agent_cannot_bring_back_what_the_user_took_away(agent, engine):
    forgotten, wrong = engine.remember("Mail is sent by cron"), engine.remember("The queue is Redis")
    engine.forget(forgotten.id)
    engine.wrong(wrong.id)

    for name in (forgotten.id, wrong.id):
        with pytest.raises(OutOfScope, match="may not restore it"):
            agent.restore(name)

    assert engine.list() == ()


def test_an_agent_cannot_agree_encrypt_or_settle(agent, engine):
    with pytest.raises(OutOfScope):
        agent.preferences.agree("https://example.org/v1")
    with pytest.raises(OutOfScope):
        agent.encrypt()
    first, second = engine.remember("Use tabs"), agent.remember("Use spaces")
    with pytest.raises(OutOfScope):
        agent.resolve(first.id, second.id, "both")


def test_an_agent_sees_no_other_projects_audit_lines(agent, tmp_path):
    (tmp_path / "bank").mkdir()
    with Engine.open(tmp_path / "bank", tmp_path / "home", embedder=NoEmbedder()) as bank:
        bank.remember("The vault opens at nine")

    assert agent.audit() == ()


def test_the_address_of_a_server_holds_no_credentials(engine):
    for url in ("https://user:secret@example.org/v1", "https://example.org/v1?token=secret"):
        with pytest.raises(Refused, match="must not contain a user"):
            engine.preferences.agree(url)


# two at once


def test_two_who_change_the_same_memory_at_once_both_succeed(engine, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    receipt = engine.remember("The lighthouse is striped")

    def open_one():
        return Engine.open(tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder())

    def add_tags(who):
        with open_one() as one:
            for number in range(15):
                one.tag(receipt.id, add=(f"{who}{number}",))

    def say_again():
        with open_one() as one:
            for _ in range(15):
                one.remember("The lighthouse is striped")

    def change():
        with open_one() as one:
            for number in range(15):
                one.edit(receipt.id, importance=number / 100)

    with ThreadPoolExecutor(4) as pool:
        for done in [
            pool.submit(add_tags, "a"),
            pool.submit(add_tags, "b"),
            pool.submit(say_again),
            pool.submit(change),
        ]:
            done.result()

    memory = engine.get(receipt.id)
    assert (len(memory.tags), memory.strength) == (30, 16)


@pytest.mark.parametrize(
    ("act", "action"),
    [
        (lambda engine, a, b: engine.forget(a), "forget"),
        (lambda engine, a, b: engine.wrong(a), "wrong"),
        (lambda engine, a, b: engine.resolve(a, b, keep="A"), "resolve"),
        (lambda engine, a, b: engine.remember("Use spaces"), "remember"),
    ],
    ids=["forget", "wrong", "resolve", "supersede"],
)
def test_a_single_act_is_one_change_and_its_undoing_leaves_no_trace(engine, act, action):
    a, b = (engine.remember(text).id for text in ("Use tabs", "Carts are kept a day"))
    engine.link(a, b, "contradicts")
    before = engine.list(state="all")
    known = {change.id for change in engine.care.changes()}

    act(engine, a, b)
    (change,) = [each for each in engine.care.changes() if each.id not in known]
    engine.care.undo(change.id)

    assert (change.action, change.finished_at is not None) == (action, True)
    assert engine.list(state="all") == before


def test_a_restoring_is_a_change_too(engine):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)
    engine.restore(receipt.id)

    engine.care.undo(engine.care.changes()[0].id)

    assert engine.get(receipt.id).state is State.DELETED
    assert [change.action for change in engine.care.changes()] == ["undo", "restore", "forget", "remember"]


def test_what_adds_or_repeats_is_a_change_that_is_undone(engine):
    first = engine.remember("Mail is sent by a worker").id
    engine.remember("mail is sent by a  worker")
    engine.remember("Carts are kept a day")
    added, repeated, _ = engine.care.changes()

    engine.care.undo(added.id)
    engine.care.undo(repeated.id)

    assert [(memory.id, memory.strength) for memory in engine.list()] == [(first, 1)]


def test_a_merge_by_remembering_is_a_change(tmp_path, clock):
    (tmp_path / "bank").mkdir()
    with Engine.open(tmp_path / "bank", tmp_path / "home", embedder=FakeEmbedder(), clock=clock) as engine:
        first = engine.remember("Accounts are locked after three failed tries").id
        engine.remember("Accounts are locked after three failed tries each")

        change, _ = engine.care.changes()
        engine.care.undo(change.id)

        assert change.summary == f"Stated again in other words: {first}."
        assert (engine.get(first).strength, engine.get(first).content) == (
            1,
            "Accounts are locked after three failed tries",
        )


def test_links_lead_only_where_one_may_see(tmp_path):
    for name in ("shop", "bank"):
        (tmp_path / name).mkdir()
    home = tmp_path / "home"
    with Engine.open(tmp_path / "shop", home, embedder=NoEmbedder()) as shop:
        here = shop.remember("Totals are rounded half up", visibility="project")
        private = shop.remember("The margin is thin", scope="global")
        shop.link(private.id, here.id)
        shop.link(here.id, private.id, "contradicts")
        strangers = replace(shop.get(private.id), user_id="eve")
        shop.store.put(strangers)

        assert shop.links(here.id) == ()
        assert shop.conflicts() == ()
        shop.store.put(replace(strangers, visibility=Visibility.TEAM))
        assert len(shop.links(here.id)) == 2


def test_an_agent_sees_no_link_into_another_project(tmp_path):
    for name in ("shop", "bank"):
        (tmp_path / name).mkdir()
    home = tmp_path / "home"
    with Engine.open(tmp_path / "shop", home, embedder=NoEmbedder()) as shop:
        there = shop.remember("The margin is thin")
        everywhere = shop.remember("Totals are rounded half up", scope="global")
        shop.link(there.id, everywhere.id, "depends_on")
        assert len(shop.links(everywhere.id)) == 1

    with Engine.open(tmp_path / "bank", home, embedder=NoEmbedder(), actor="agent:coder") as agent:
        assert agent.links(everywhere.id) == ()
