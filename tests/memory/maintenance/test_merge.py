"""Two memories that say the same become one, and nothing either knew is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import recollect.model as m
from recollect.memory.decay import confidence_now
from recollect.memory.maintenance.merge import merge, merged
from recollect.memory.write.reinforce import survivor_of

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def memory(content, **fields):
    created = fields.pop("created_at", NOW)
    values = {
        "id": m.new_id(),
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": "fact",
        "content": content,
        "summary": content,
        "fingerprint": m.fingerprint(content),
        "created_at": created,
        "updated_at": created,
        "valid_from": created,
        "provenance": (m.Provenance(m.Source.USER_STATED, created),),
    }
    return m.Memory(**{**values, **fields})


def keep(store, *memories):
    with store.transaction():
        for each in memories:
            store.log("add", each.created_by, NOW, each.id, {"kind": each.kind})
            store.put(each)


@pytest.mark.parametrize(
    "better",
    [{"trust": 1.0}, {"standing": m.Standing.PINNED}, {"strength": 3}],
    ids=["trusted", "pinned", "strong"],
)
def test_the_better_one_stays_whichever_is_named_first(better):
    one, other = memory("Use pnpm."), memory("Use pnpm here.", **better)

    assert survivor_of(one, other) == (other, one)
    assert survivor_of(other, one) == (other, one)


def test_of_equals_the_older_stays():
    older, newer = memory("Use pnpm."), memory("Use pnpm here.")

    assert survivor_of(newer, older) == (older, newer)


def test_all_that_either_knew_is_in_the_survivor():
    survivor = memory("Tests need Redis", tags=("tests",), file_paths=("a.py",), access_count=2, strength=2)
    other = memory(
        "Tests need Redis",
        tags=("redis", "tests"),
        file_paths=("b.py",),
        access_count=3,
        standing=m.Standing.PINNED,
        last_accessed_at=NOW - DAY,
        valid_from=NOW - 9 * DAY,
    )

    kept = merged(survivor, other, NOW)

    assert (kept.tags, kept.file_paths) == (("tests", "redis"), ("a.py", "b.py"))
    assert (kept.strength, kept.access_count, kept.last_accessed_at) == (3, 5, NOW - DAY)
    assert (kept.pinned, kept.valid_from) == (True, NOW - 9 * DAY)


def test_being_put_together_makes_nothing_fresh_again():
    old, older = (memory("Tests need Redis", created_at=NOW - days * DAY) for days in (30, 60))

    kept = merged(old, older, NOW)

    assert [crumb.at for crumb in kept.reinforcements] == [NOW - 60 * DAY]
    assert confidence_now(kept, NOW) <= confidence_now(old, NOW)


@pytest.mark.parametrize(("trust", "richer"), [(0.9, True), (0.6, False)])
def test_the_richer_words_are_kept_if_they_are_trusted_as_much(trust, richer):
    short = memory("Tests need Redis")
    long = memory("Tests need a running Redis server on port 6380", trust=trust)

    kept = merged(short, long, NOW)

    assert kept.content == (long if richer else short).content
    assert kept.reinforcements[-1].said == (short if richer else long).content


def test_the_vector_goes_with_the_words_and_the_store_stays_sound(store):
    survivor, other = memory("Tests need Redis"), memory("Tests need a running Redis server on port 6380")
    keep(store, survivor, other)
    store.put_vector(survivor.id, "fake", b"\0\0\x80?" + bytes(4))
    store.put_vector(other.id, "fake", bytes(4) + b"\0\0\x80?")

    with store.transaction():
        kept = merge(store, survivor, other, "fake", "user", NOW)

    assert store.get(survivor.id) == kept
    assert store.vector(survivor.id, "fake") == bytes(4) + b"\0\0\x80?"
    gone = store.get(other.id)
    assert (gone.state, gone.superseded_by) == (m.State.SUPERSEDED, survivor.id)
    assert store.check() == []


def test_what_was_linked_to_either_is_linked_to_the_survivor(store):
    survivor, other = memory("Tests need Redis"), memory("Tests need Redis!")
    near, rival, replaced = (
        memory("Redis is fast"),
        memory("Tests need nothing"),
        memory("Tests need a cache"),
    )
    keep(store, survivor, other, near, rival, replaced)
    store.put_link(m.Link(near.id, other.id, m.Relation.DERIVED_FROM, NOW))
    store.put_link(m.Link(other.id, rival.id, m.Relation.CONTRADICTS, NOW))
    store.put_link(m.Link(other.id, replaced.id, m.Relation.SUPERSEDES, NOW))
    store.put_link(m.Link(other.id, survivor.id, m.Relation.RELATES_TO, NOW))

    with store.transaction():
        merge(store, survivor, other, "fake", "user", NOW)

    found = {(link.source, link.target, link.relation) for link in store.links(survivor.id)}
    assert found == {
        (near.id, survivor.id, "derived_from"),
        (survivor.id, rival.id, "contradicts"),
        (other.id, survivor.id, "relates_to"),
        (survivor.id, other.id, "supersedes"),
    }
    assert [(link.source, link.target) for link in store.conflicts(m.View("ada", "shop"))] == [
        (survivor.id, rival.id)
    ]


def test_what_a_person_kept_is_no_programs_any_more():
    mine, its = memory("Tests need Redis"), memory("Tests need Redis", promoted_at=NOW)

    assert merged(its, mine, NOW).promoted_at is None
    assert merged(its, replace(its, id=m.new_id()), NOW).promoted_at == NOW
