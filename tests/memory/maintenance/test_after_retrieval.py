"""What a retrieval leaves behind: links, confidence, gaps, a tag; once."""

from itertools import count

import pytest

import recollect.model as m
from recollect.memory.maintenance.feedback import MOST_CONTEXT, after_retrieval


@pytest.fixture
def remember(engine):
    return lambda text, **details: engine.remember(text, **details).id


@pytest.fixture
def after(engine, clock):
    numbers = count()

    def run(**found):
        values = {"retrieval": f"r{next(numbers)}", "shown": [], **found}
        return after_retrieval(engine.store, clock, engine.context.view(), **values)

    return run


@pytest.fixture
def three(remember):
    return [
        remember("Mail is sent by a worker.", created_by="agent:coder"),
        remember("Seats are held in Redis.", created_by="agent:coder"),
        remember("Node 22 is needed for the web build.", created_by="agent:coder"),
    ]


def weights(engine, name):
    return {
        frozenset((link.source, link.target)): link.weight
        for link in engine.links(name)
        if link.relation is m.Relation.RELATES_TO
    }


def test_what_was_used_is_surer_and_has_been_accessed(engine, after, three, clock):
    before = engine.get(three[0])
    now = clock.advance(hours=2)

    report = after(shown=three, used=three[:1])

    memory = engine.get(three[0])
    assert report.used == (three[0],)
    assert (memory.access_count, memory.last_accessed_at) == (1, now)
    assert memory.confidence == pytest.approx(before.confidence + 0.05)
    assert memory.updated_at == before.updated_at


def test_being_shown_is_not_being_used(engine, after, three):
    before = [engine.get(name) for name in three]

    report = after(shown=three, context="how is mail sent to customers")

    assert [engine.get(name) for name in three] == before
    assert report.gap is None  # what was shown and not rejected may have been relevant


def test_what_was_rejected_is_a_little_less_sure(engine, after, three):
    before = engine.get(three[0]).confidence

    after(shown=three, used=three[1:2], rejected=[three[0], three[1]])

    assert engine.get(three[0]).confidence == pytest.approx(before - 0.02)
    assert engine.get(three[1]).confidence > before  # used counts for more


def test_the_users_word_and_what_the_user_pinned_lose_nothing(engine, after, three, remember):
    pinned, said = engine.pin(three[0]), engine.get(remember("Seats are sold twice."))
    everywhere = engine.get(remember("I prefer tabs.", scope="global"))

    after(shown=three, rejected=[pinned.id, said.id, everywhere.id])

    for before in (pinned, said, everywhere):
        assert engine.get(before.id).confidence == before.confidence


def test_confidence_stays_between_none_and_all(engine, after, three):
    for _ in range(60):
        after(shown=three, used=three[:1], rejected=three[1:2])

    assert engine.get(three[0]).confidence == 1.0
    assert engine.get(three[1]).confidence == 0.0


def test_what_was_used_together_is_linked_and_then_more_strongly(engine, after, three):
    pair = frozenset(three[:2])

    first = after(shown=three, used=three[:2])
    new = weights(engine, three[0])
    for _ in range(9):
        after(shown=three, used=reversed(three[:2]))

    assert [weight for _, _, weight in first.linked] == [0.5]
    assert new == {pair: 0.5}
    assert weights(engine, three[0]) == {pair: 1.0}
    assert len(engine.links(three[0])) == 1


def test_the_same_retrieval_changes_nothing_the_second_time(engine, after, three):
    found = {"retrieval": "same", "shown": three, "used": three[:2], "rejected": three[2:]}
    after(**found)
    before = [engine.get(name) for name in three], engine.links(three[0]), engine.audit(1)

    report = after(**found)

    assert report.repeated
    assert ([engine.get(name) for name in three], engine.links(three[0]), engine.audit(1)) == before


def test_the_record_of_retrievals_is_bounded(engine, after):
    for _ in range(220):
        after()

    kept = engine.store.setting(engine.project.id, "retrievals")
    assert kept["count"] == 220
    assert len(kept["recent"]) == 200


def test_every_change_has_its_line_in_the_audit_log(engine, after, three):
    before = engine.audit(1)[0].seq

    after(shown=three, used=three[:2], rejected=three[2:])

    new = [line for line in engine.audit(20) if line.seq > before]
    assert sorted(str(line.memory_id) for line in new if "link" not in line.detail) == sorted(three)
    assert sum("link" in line.detail for line in new) == 1
    assert {line.actor for line in new} == {"agent:memory"}
    assert engine.store.check() == []


def test_what_is_outside_the_view_is_left_alone(engine, after, remember, three):
    elsewhere = remember("Postgres 16 runs in production.", scope="session", session="s1")
    engine.forget(three[0])
    before = engine.get(elsewhere), engine.get(three[0])

    report = after(shown=three, used=[elsewhere, three[0], "nosuchmemory"])

    assert report.used == ()
    assert (engine.get(elsewhere), engine.get(three[0])) == before


def test_a_context_for_which_there_was_nothing_is_a_gap(engine, after, three):
    report = after(shown=three, rejected=three, context="rotate the TLS certificates of Kafka", session="s9")

    assert engine.store.gaps(engine.project.id, 5) == [report.gap]
    assert (report.gap.context, report.gap.session) == ("rotate the TLS certificates of Kafka", "s9")


def test_a_gap_is_noted_once_however_it_is_put(engine, after):
    after(context="rotate the TLS certificates of Kafka")
    again = after(context="Rotate  TLS certificates of the Kafka?")

    assert again.gap is None
    assert len(engine.store.gaps(engine.project.id, 5)) == 1


@pytest.mark.parametrize(
    "context",
    ["", "ok", "yes do that", "and then the other one", "<recollect-memory> Kafka certificates rotation"],
)
def test_what_says_nothing_or_is_our_own_is_no_gap(after, context):
    assert after(context=context).gap is None


def test_a_gap_holds_no_secret_and_is_short(after):
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

    gap = after(context=f"deploy fails with token {secret} " + "certificate rotation kafka " * 100).gap

    assert len(gap.context) <= MOST_CONTEXT
    assert secret[:12] not in gap.context
    assert "[REDACTED" in gap.context


def test_a_word_that_three_used_memories_share_becomes_their_tag(engine, after, remember):
    used = [
        remember("The turnstile firmware reboots at midnight."),
        remember("Paper tickets jam when the turnstile is wet."),
        remember("Each turnstile has its own network port."),
    ]
    other = remember("Mail is sent by a worker.")

    report = after(shown=used, used=[*used, other], context="why does the turnstile at gate 4 not open")

    assert set(report.tagged) == {(name, "turnstile") for name in used}
    assert all("turnstile" in engine.get(name).tags for name in used)
    assert "turnstile" not in engine.get(other).tags


@pytest.mark.parametrize(
    "tags, context",
    [
        (("gate",), "the turnstile is broken"),  # they have a tag in common already
        ((), "the gate is broken"),  # nobody asked about it
    ],
)
def test_a_tag_is_inferred_only_where_it_adds_something(engine, after, remember, tags, context):
    texts = "The turnstile reboots.", "Wet turnstile jams paper.", "A turnstile needs a port."
    used = [remember(text, tags=tags) for text in texts]

    assert after(shown=used, used=used, context=context).tagged == ()


def test_clusters_are_due_after_fifty_retrievals(after):
    reports = [after() for _ in range(50)]

    assert [report.clusters_due for report in reports] == [False] * 49 + [True]
