"""Versions of a memory that meet, in whatever order."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect.model as m
from recollect.memory.transfer.join import NEWEST, join, join_links, lost_text

DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)
ORIGIN = m.Provenance(m.Source.USER_STATED, START)


def memory(content="Use tabs", **fields):
    values = {
        "id": "1m7gk2b10v6tdbpz96",
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": "fact",
        "content": content,
        "summary": content,
        "fingerprint": m.fingerprint(content),
        "created_at": START,
        "updated_at": START,
        "valid_from": START,
        "provenance": (ORIGIN,),
    }
    return m.Memory(**{**values, **fields})


def edited(content, days, **fields):
    when = START + days * DAY
    said = m.Provenance(m.Source.USER_STATED, when, reason="edited")
    return memory(content, updated_at=when, provenance=(ORIGIN, said), **fields)


times = st.integers(0, 3).map(lambda days: START + days * DAY)
crumbs = st.lists(st.builds(m.Reinforcement, times, st.sampled_from(["user", "agent:a"])), max_size=4)
chain = st.lists(
    st.builds(m.Provenance, st.sampled_from(m.Source), times, reason=st.sampled_from(["", "edited"])),
    max_size=3,
)
versions = st.builds(
    lambda content, provenance, reinforcements, **fields: memory(
        content, provenance=(ORIGIN, *provenance), reinforcements=tuple(reinforcements), **fields
    ),
    st.sampled_from(["Use tabs", "Use spaces", "Use nothing"]),
    chain,
    crumbs,
    updated_at=times,
    standing=st.sampled_from(m.Standing),
    state=st.sampled_from(m.State),
    tags=st.sampled_from([(), ("style",), ("ci", "style")]),
    strength=st.integers(1, 4),
    access_count=st.integers(0, 4),
    last_accessed_at=st.none() | times,
    settled_at=st.none() | times,
)


@given(versions, versions, versions)
def test_versions_that_meet_in_any_order_become_the_same(a, b, c):
    assert join(a, a) == a
    assert join(a, b) == join(b, a)
    assert join(join(a, b), b) == join(a, b)
    assert len({m.dumps(join(join(x, y), z)) for x, y, z in permutations((a, b, c))}) == 1
    assert join(join(a, b), c) == join(a, join(b, c))


@given(versions, versions)
def test_both_machines_keep_the_same_lost_text(a, b):
    lost = lost_text(a, b)

    assert lost == lost_text(b, a)
    assert lost_text(join(a, b), a) in (None, lost)
    if lost is not None:
        assert {lost.content, join(a, b).content} == {a.content, b.content}
        assert lost.id != a.id
        assert lost.state is not m.State.ACTIVE


def test_what_was_written_last_holds_and_counts_of_both_are_kept():
    here = memory(strength=5, access_count=1, last_accessed_at=START + 9 * DAY)
    there = edited("Use spaces", 2, strength=2, access_count=7, standing=m.Standing.PINNED)

    joined = join(here, there)

    assert (joined.content, joined.standing) == ("Use spaces", m.Standing.PINNED)
    assert (joined.strength, joined.access_count) == (5, 7)
    assert joined.last_accessed_at == START + 9 * DAY


def test_crumbs_of_both_are_kept_in_order_and_the_newest_of_many():
    mine = [m.Reinforcement(START + n * DAY, "user") for n in range(0, 80, 2)]
    theirs = [m.Reinforcement(START + n * DAY, "agent:a") for n in range(1, 80, 2)]

    joined = join(memory(reinforcements=tuple(mine)), memory(reinforcements=tuple(theirs)))

    assert len(joined.reinforcements) == NEWEST
    assert [each.at for each in joined.reinforcements] == [START + n * DAY for n in range(30, 80)]


def test_a_text_rewritten_on_both_sides_is_kept_beside():
    here, there = edited("Use spaces", 1, access_count=3, standing=m.Standing.PINNED), edited("Use both", 2)

    lost = lost_text(here, there)

    assert (lost.content, lost.state, lost.superseded_by) == ("Use spaces", m.State.SUPERSEDED, here.id)
    assert (lost.access_count, lost.standing) == (0, m.Standing.CONFIRMED)
    assert lost.id[:9] == m.new_id(START)[:9], "it sorts by when the memory was made"


def test_a_text_that_one_side_left_alone_is_no_loss():
    assert lost_text(memory("Use tabs"), edited("Use spaces", 1)) is None


def test_a_text_whose_words_the_other_side_has_heard_is_no_loss():
    crumb = m.Reinforcement(START + DAY, "user", said="Use tabs")
    here = memory("Use tabs, always", reinforcements=(crumb,), updated_at=START + DAY)
    there = replace(edited("Use spaces", 2), reinforcements=(crumb,))

    assert lost_text(here, there) is None


@pytest.mark.parametrize("order", [1, -1])
def test_a_later_deletion_wins_and_takes_the_other_text_with_it(order):
    gone = replace(memory(), state=m.State.DELETED, deleted_at=START + 3 * DAY, updated_at=START + 3 * DAY)
    pair = [gone, edited("Use spaces", 1)][::order]

    assert join(*pair).state is m.State.DELETED
    assert (lost_text(*pair).state, lost_text(*pair).deleted_at) == (m.State.DELETED, gone.deleted_at)


@pytest.mark.parametrize("order", [1, -1])
def test_a_later_edit_wins_over_a_deletion(order):
    gone = replace(memory(), state=m.State.DELETED, deleted_at=START + DAY, updated_at=START + DAY)

    joined = join(*[gone, edited("Use spaces", 3)][::order])

    assert (joined.state, joined.deleted_at, joined.content) == (m.State.ACTIVE, None, "Use spaces")


links = st.builds(
    m.Link,
    st.just("a"),
    st.just("b"),
    st.just(m.Relation.CONTRADICTS),
    times,
    weight=st.sampled_from([0.5, 1.0]),
    resolved_at=st.none() | times,
)


@given(links, links, links)
def test_links_that_meet_in_any_order_become_the_same_and_what_is_settled_stays_so(a, b, c):
    assert join_links(a, a) == a
    assert join_links(a, b) == join_links(b, a)
    assert join_links(join_links(a, b), c) == join_links(a, join_links(b, c))
    assert (join_links(a, b).resolved_at is None) == (a.resolved_at is None and b.resolved_at is None)
