"""What every store must do. A backend's test file subclasses `StoreContract` and is done.

A store on a machine of one's own must also do what `LocalStoreContract` has: episodes, pruned texts, and the care of a file.
"""

import os
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from undo_contract import UndoContract
from work_contract import LocalWorkContract, WorkContract

import recollect.model as m
from recollect.errors import AmbiguousId, ContentRefused, MemoryNotFound
from recollect.kinds import KINDS
from samples import EVERYTHING, MINE, NOW, USERS, Undo, keep, memory, placed, unit, views


class Place:
    """A session, a finding, a question, a message and a gap of someone's in a project."""

    def __init__(self, store, project, user="ada"):
        self.ids = [m.new_id() for _ in range(3)]
        self.gap = m.new_id()
        session, finding, review = self.ids
        store.put_session(m.Session(session, user, project, NOW))
        store.put_finding(m.Finding(finding, session, "mark", "fact", "Something.", NOW))
        store.reviews.ask(m.Review(review, user, project, "merge", (review,), "alike", NOW))
        store.messages.put([m.Message(session, 0, "user", "hi", NOW, user, project)], None, None)
        store.put_gap(m.Gap(self.gap, project, "something", NOW))


# No surrogates: what is not UTF-8 is refused, see below. No NUL: PostgreSQL cannot store it.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters, max_size=40)
names = st.text(characters, min_size=1, max_size=12)
times = st.datetimes(timezones=st.just(UTC))
shares = st.floats(0, 1)
lists = st.lists(names, max_size=3).map(tuple)
spans = st.none() | st.tuples(st.integers(0, 9), st.integers(9, 99))

provenances = st.builds(
    m.Provenance,
    source=st.sampled_from(m.Source),
    at=times,
    session=st.none() | names,
    messages=spans,
    agent=st.none() | names,
    branch=st.none() | names,
    snippet=texts,
    reason=texts,
)
memories = st.builds(
    m.Memory,
    id=st.builds(m.new_id),
    user_id=st.just("ada"),
    project_id=st.none() | names,
    scope=st.sampled_from(m.Scope),
    kind=st.sampled_from(sorted(KINDS)),
    content=texts,
    summary=texts,
    fingerprint=names,
    created_at=times,
    updated_at=times,
    valid_from=times,
    provenance=st.lists(provenances, min_size=1, max_size=2).map(tuple),
    created_by=names,
    visibility=st.sampled_from(m.Visibility),
    standing=st.sampled_from(m.Standing),
    state=st.sampled_from(m.State),
    state_reason=st.none() | texts,
    superseded_by=st.none() | names,
    tags=st.lists(names, max_size=3, unique=True).map(tuple),
    file_paths=lists,
    anchors=st.lists(st.builds(m.Anchor, path=names, symbol=texts, digest=texts), max_size=2).map(tuple),
    triggers=lists,
    when_needed=lists,
    procedure=st.none()
    | st.builds(m.Procedure, name=texts, trigger=texts, steps=lists, prerequisites=lists, warnings=lists),
    season=st.none() | names,
    branch=st.none() | names,
    importance=shares,
    confidence=shares,
    trust=shares,
    strength=st.integers(1, 10**6),
    access_count=st.integers(0, 10**6),
    last_accessed_at=st.none() | times,
    valid_to=st.none() | times,
    deleted_at=st.none() | times,
    reinforcements=st.lists(
        st.builds(m.Reinforcement, at=times, by=names, session=st.none() | names, said=texts), max_size=2
    ).map(tuple),
    order=st.none() | st.integers(0, 10**6),
    promoted_at=st.none() | times,
    settled_at=st.none() | times,
)


class StoreContract(WorkContract, UndoContract):
    # memories

    @given(memory=memories)
    @settings(max_examples=60)
    def test_a_memory_comes_back_as_it_was_kept(self, store, memory):
        store.put(memory)

        assert store.get(memory.id) == memory

    def test_two_steps_that_differ_only_in_what_was_said_are_kept_apart(self, store):
        step = m.Provenance(m.Source.USER_STATED, NOW)
        texts = ("", "first", "second", "first")
        said = tuple(replace(step, snippet=text) for text in texts)
        again = tuple(m.Reinforcement(NOW, "ada", said=text) for text in texts)

        kept = keep(store, memory(provenance=said, reinforcements=again))

        assert store.get(kept.id) == kept

    def test_a_memory_outlives_the_store_object(self, open_store):
        first = open_store()
        kept = keep(first, memory())
        first.close()

        assert open_store().get(kept.id) == kept

    def test_long_names_come_back_whole(self, store):
        long = "x" * 300
        fields = {
            "project_id": long,
            "branch": long,
            "created_by": f"agent:{long}",
            "tags": (long, f"{long}y"),
        }
        kept = keep(store, memory(**fields))
        store.set_setting(long, f"{long}y", 1)

        assert store.get(kept.id) == kept
        assert store.newest(m.View("ada", long), tag=long) == [kept]
        assert store.setting(long, long) is None

    def test_put_replaces_what_has_the_same_id(self, store):
        old = keep(store, memory("Deploys run on Friday.", tags=("deploy", "friday"), file_paths=("a.py",)))
        new = replace(old, content="Deploys run on Monday.", tags=("monday",), file_paths=())

        store.put(new)

        assert store.get(old.id) == new
        assert store.count(EVERYTHING) == 1
        assert [tag.name for tag in store.tags(MINE)] == ["monday"]
        assert store.match(MINE, "friday", 5) == []
        assert [name for name, _ in store.match(MINE, "monday", 5)] == [old.id]

    def test_get_many_gives_those_that_exist(self, store):
        a, b = memory("One."), memory("Two.")
        keep(store, a, b)

        assert store.get_many([b.id, "nothing", a.id, a.id]) == {a.id: a, b.id: b}
        assert store.get_many([]) == {}

    def test_get_names_what_is_missing(self, store):
        with pytest.raises(MemoryNotFound, match="nothing"):
            store.get("nothing")

    @pytest.mark.parametrize("name", ["abc1", "abc1uvwxyz", "ABC1", "#abc1", "  abc1 ", "uvwxyz", "#1UVWXYZ"])
    def test_resolve_takes_any_unambiguous_beginning_or_end(self, store, name):
        keep(store, memory(id="abc1uvwxyz"), memory("Other.", id="abc2rstuvw"))

        assert store.resolve(MINE, name) == "abc1uvwxyz"

    def test_resolve_takes_no_end_that_may_be_a_word(self, store):
        keep(store, memory(id="abc1forget"), memory("Other.", id="abc2x"))

        with pytest.raises(MemoryNotFound):
            store.resolve(MINE, "orget")

    def test_resolve_prefers_the_whole_id_to_a_longer_one(self, store):
        keep(store, memory(id="abc"), memory("Other.", id="abcd"), memory("Third.", id="xabc"))

        assert store.resolve(MINE, "abc") == "abc"

    def test_resolve_refuses_to_guess(self, store):
        keep(store, memory(id="abc1uvwxyz"), memory("Other.", id="abc2uvwxyz"))

        for name in ("abc", "uvwxyz"):
            with pytest.raises(AmbiguousId, match="abc1uvwxyz"):
                store.resolve(MINE, name)

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "#",
            "*",
            "abc*",
            "a?c",
            "[a-z]",
            "%",
            "abc%",
            "' OR 1=1 --",
            "abc1'; DROP TABLE memories; --",
            "\x00",
            "é",
            "\udcff",
            "zzz",
            "a" * 200_000,
        ],
    )
    def test_a_name_is_never_a_pattern_nor_sql(self, store, name):
        keep(store, memory(id="abc1xyz"))

        with pytest.raises(MemoryNotFound):
            store.resolve(MINE, name)

        assert store.count(MINE) == 1

    def test_resolve_does_not_see_past_the_view(self, store):
        keep(store, memory(id="abc1", project_id="blog"))

        with pytest.raises(MemoryNotFound):
            store.resolve(MINE, "abc1")

    def test_newest_comes_first_and_each_gives_the_oldest_first(self, store):
        kept = [memory(f"Number {number}.") for number in range(7)]
        keep(store, *kept)

        assert store.newest(MINE) == kept[::-1]
        assert store.newest(MINE, limit=2) == [kept[6], kept[5]]
        assert store.newest(MINE, limit=0) == []
        assert list(store.iter_memories(MINE)) == kept

    def test_each_goes_through_more_than_a_page(self, store):
        kept = [memory(f"Number {number}.") for number in range(520)]
        keep(store, *kept)

        assert [each.id for each in store.iter_memories(MINE)] == [each.id for each in kept]
        assert list(store.iter_memories(MINE, kept[516].id)) == kept[517:]
        assert list(store.iter_memories(MINE, kept[516].id, user=MINE.user_id)) == kept[517:]
        assert list(store.iter_memories(MINE, user="somebody else")) == []

    def test_counts_by_field(self, store):
        keep(store, memory("A."), memory("B.", kind="decision"), memory("C.", state=m.State.ARCHIVED))

        assert store.count(MINE) == 2
        assert store.counts(MINE, "kind") == {"decision": 1, "fact": 1}
        assert store.counts(EVERYTHING, "state") == {"active": 2, "archived": 1}
        with pytest.raises(ValueError):
            store.counts(MINE, "content; DROP TABLE memories")

    def test_a_page_is_a_part_of_what_passes_in_the_order_that_was_asked_for(self, store):
        kept = [
            keep(store, memory(f"Number {number}.", access_count=number % 3, importance=number / 10))
            for number in range(6)
        ]
        newest = [each.id for each in reversed(kept)]
        everything, order = m.MemoryFilter(), m.MemoryOrder

        def ids(*args):
            return [each.id for each in store.page(MINE, everything, *args)]

        assert ids(order.NEWEST, 4) == newest[:4]
        assert ids(order.NEWEST, 4, 4) == newest[4:]
        assert ids(order.USED, 2) == [kept[5].id, kept[2].id]
        assert ids(order.IMPORTANCE, 9) == newest
        assert sorted(ids(order.UPDATED, 9)) == sorted(ids(order.CONFIDENCE, 9)) == sorted(newest)
        assert store.count_page(MINE, everything) == 6

    def test_a_page_holds_what_its_filter_lets_pass(self, store):
        plain = keep(store, memory("Plain."))
        special = keep(
            store,
            memory(
                "Special.",
                tags=("till",),
                file_paths=("src/till.py",),
                standing=m.Standing.PINNED,
                created_by="agent:codex",
                branch="topic",
            ),
        )
        store.put_link(m.Link(plain.id, special.id, m.Relation.CONTRADICTS, NOW))
        filters = {
            "tag": "till",
            "file": "till.py",
            "standing": m.Standing.PINNED,
            "author": "agent:codex",
            "branch": "topic",
            "ids": frozenset({special.id}),
            "but": frozenset({plain.id, "nothing"}),
        }

        for name, value in filters.items():
            which = m.MemoryFilter(**{name: value})
            assert store.page(EVERYTHING, which, m.MemoryOrder.NEWEST, 9) == [special]
            assert store.count_page(EVERYTHING, which) == 1
            assert [which.passes(special), which.passes(plain)] == [True, False]
        both = m.MemoryFilter(in_conflict=True)
        assert store.count_page(EVERYTHING, both) == 2
        assert store.count_page(EVERYTHING, replace(both, tag="till")) == 1
        store.put_link(m.Link(plain.id, special.id, m.Relation.CONTRADICTS, NOW, resolved_at=NOW))
        assert store.page(EVERYTHING, both, m.MemoryOrder.NEWEST, 9) == []

    def test_what_does_not_say_when_it_is_needed_comes_by_importance(self, store):
        def kept(text, **values):
            return keep(store, memory(text, **{"trust": 0.7, "promoted_at": NOW, **values}))

        agents = kept("An agent's.", kind="gotcha")
        unused = kept("A rule of an agent's that nobody used.", kind="decision")
        rule = kept("A rule that use has confirmed.", kind="convention", access_count=1)
        kept("A candidate.", kind="fact", standing=m.Standing.CANDIDATE, access_count=3)
        older, newer = kept("A person's.", trust=0.9), kept("A person's, later.", trust=0.9)
        feedback = kept("What a person said of the work.", kind="human_feedback", trust=1.0)
        kept("Needed.", trust=0.9, when_needed=("somebody asks",))
        kept("Pinned.", trust=0.9, standing=m.Standing.PINNED)
        kept("A moment.", kind="context", trust=0.9)
        kept("Proposed.", trust=0.6, created_by=f"{m.SEEDS_OF}shop")
        kept("Global.", trust=0.9, scope=m.Scope.GLOBAL, project_id=None)
        kept("Archived.", trust=0.9, state=m.State.ARCHIVED)

        found = store.undescribed(MINE, 6)

        assert found == [feedback, rule, newer, older, unused, agents]
        assert len(store.undescribed(MINE, 100)) == 7
        assert store.undescribed(MINE, 0) == []
        assert store.count_described(MINE) == (1, 8)
        assert store.count_described(replace(MINE, project_id="another")) == (0, 0)

    @pytest.mark.parametrize("tag", ["api", "c++", "*", "a'b", "[x]", "ünïcode"])
    def test_newest_by_tag_means_exactly_this_tag(self, store, tag):
        keep(store, kept := memory("With it.", tags=("first", tag)), memory("Without.", tags=("first",)))

        assert store.newest(MINE, tag=tag) == [kept]

    @pytest.mark.parametrize("file", ["src/[id].ts", "src/a*.py", "src/what?.md", "src/ü/é.py", "src/'.py"])
    def test_newest_by_file_takes_the_path_or_its_end_literally(self, store, file):
        kept = memory("With it.", file_paths=("other.py", file))
        keep(store, kept, memory("Without.", file_paths=("src/i.ts", "src/ab.py", "src/whatx.md", "x")))

        assert store.newest(MINE, file=file) == [kept]
        assert store.newest(MINE, file=file.removeprefix("src/")) == [kept]

    @pytest.mark.parametrize("file", ["rc/main.py", "*", "main", "", "/", "%", "x" * 100_000])
    def test_newest_by_file_never_takes_part_of_a_name(self, store, file):
        keep(store, memory(file_paths=("src/main.py",)))

        assert store.newest(MINE, file=file) == []

    def test_twins_say_the_same_word_for_word(self, store):
        kept = memory("Use  TABS.")
        keep(store, kept, memory("Use spaces."), memory("use tabs.", project_id="blog"))

        assert store.with_fingerprint(MINE, m.fingerprint("use tabs.")) == [kept]

    def test_written_in_counts_one_writer_in_one_session(self, store):
        agent = {"created_by": "agent:coder"}
        keep(
            store,
            memory("A.", session="s1", **agent),
            memory("B.", session="s1", **agent),
            memory("C.", session="s2", **agent),
            memory("D.", session="s1"),
            memory("E.", **agent),
            memory("F.", session="s1", created_at=NOW - timedelta(days=9), **agent),
        )

        assert store.count_written("s1", "agent:coder", NOW) == 2
        assert store.count_written("s1", "agent:coder", NOW - timedelta(days=10)) == 3
        assert store.count_written(None, "agent:coder", NOW) == 1

    def test_ageing_gives_what_programs_kept_and_something_is_due_for(self, store):
        store.put_session(m.Session("over", "ada", "shop", NOW, ended_at=NOW))
        long_ago = {"created_at": NOW - timedelta(days=100), "promoted_at": NOW - timedelta(days=100)}
        due = [
            memory("Its kind lives for 21 days.", kind="file_change", access_count=2, **long_ago),
            memory("Half of it is gone every 7 days.", kind="context", confidence=0.7, trust=0.7, **long_ago),
            memory("Nobody believes it.", kind="observation", confidence=0.1, trust=0.7, promoted_at=NOW),
            memory("Of a session.", scope=m.Scope.SESSION, session="over", promoted_at=NOW),
            memory("On trial.", standing=m.Standing.CANDIDATE, promoted_at=NOW - timedelta(days=1)),
        ]
        others = [
            memory("A person said it.", **{**long_ago, "promoted_at": None}),
            memory("An old fact costs nothing.", confidence=0.2, trust=0.7, **long_ago),
            memory("Used three times.", kind="decision", access_count=3, **long_ago),
            memory("Used today.", last_accessed_at=NOW - timedelta(hours=1), **long_ago),
            memory("Pinned.", standing=m.Standing.PINNED, **long_ago),
            memory("Still on trial.", standing=m.Standing.CANDIDATE, promoted_at=NOW),
        ]
        elsewhere = memory("Of another project.", kind="discovery", project_id="blog", **long_ago)
        keep(store, *due, *others, elsewhere)
        view = replace(MINE, all_sessions=True)

        assert store.ageing(view, NOW, 0) == due
        assert store.ageing(view, NOW, 10) == due
        assert store.ageing(view, NOW, 9) == [*due, *others[1:]]  # ten were kept by programs

    def test_delete_takes_out_everything(self, store):
        gone = keep(store, memory("Zebrafish live here.", tags=("fish",), file_paths=("aquarium.py",)))
        stays = keep(store, memory("Cats live here.", tags=("cat",)))
        store.put_vector(gone.id, "fake", unit(1, 0))
        store.put_link(m.Link(stays.id, gone.id, m.Relation.RELATES_TO, NOW))
        store.put_clusters("shop", [m.Cluster("c", "shop", "pets", "fake", b"", (gone.id, stays.id), NOW)])

        store.delete(gone.id)

        with pytest.raises(MemoryNotFound):
            store.get(gone.id)
        assert store.match(MINE, "zebrafish aquarium fish", 5) == []
        assert store.count_vectors("fake") == 0
        assert store.vector(gone.id, "fake") is None
        assert store.links(stays.id) == []
        assert [tag.name for tag in store.tags(EVERYTHING)] == ["cat"]
        assert store.clusters("shop")[0].members == (stays.id,)
        assert store.check() == []
        with pytest.raises(MemoryNotFound):
            store.delete(gone.id)

    def test_a_memory_may_outlive_what_superseded_it(self, store):
        new = memory("Use spaces.")
        old = memory("Use tabs.", state=m.State.SUPERSEDED, superseded_by=new.id)
        keep(store, new, old)
        store.put_link(m.Link(new.id, old.id, m.Relation.SUPERSEDES, NOW))

        store.delete(new.id)

        assert store.check() == []

    def test_what_is_not_utf8_is_refused_and_nothing_is_changed(self, store):
        seq = store.seq()

        for bad in (memory("\ud800"), memory(tags=("\udcff",)), memory(branch="\udfff")):
            with pytest.raises(ContentRefused):
                keep(store, bad)
        with pytest.raises(ContentRefused):
            store.newest(MINE, file="\udcff")

        assert store.seq() == seq
        assert store.count(EVERYTHING) == 0
        assert store.audit(5) == []

    def test_seq_grows_with_every_write_of_whatever_process(self, store, open_store):
        other = open_store()
        seen = [store.seq()]

        kept = keep(other, memory())
        seen.append(store.seq())
        other.put_vector(kept.id, "fake", unit(1, 0))
        seen.append(store.seq())
        other.delete(kept.id)
        seen.append(store.seq())

        assert seen == sorted(set(seen))

    # finding

    @pytest.mark.parametrize(
        "query",
        ["", "foo-bar", 'say "hi"', "NOT", "a:b*", "(", '"', "NEAR(a b)", "{x}", "^", "\x00", "\udcff"],
    )
    def test_a_query_is_words_and_never_syntax(self, store, query):
        keep(store, memory("Something else entirely."))

        assert store.match(MINE, query, 5) == []

    @pytest.mark.parametrize(
        ("content", "query"),
        [
            ("The foo-bar service is down.", "foo-bar"),
            ('They say "hi" first.', 'say "hi"'),
            ("parseHTTPConfig reads it.", "http config"),
            ("parse_http_config reads it.", "parseHttpConfig"),
            ("See src/auth/login_page.py.", "login page"),
            ("Das Café schließt früh.", "cafe fruh"),
            ("El cafe\u0301 abre.", "café"),
            ("Not that one.", "NOT"),
            ("It is what it is.", "what is it"),
            ("Tests were running.", "run test"),
            ("Port 8080 is taken.", "8080"),
            ("データベースは遅い", "データベースは遅い"),
        ],
    )
    def test_match_finds_words_as_people_write_them(self, store, content, query):
        kept = keep(store, memory(content))
        keep(store, memory("Unrelated."))

        assert [name for name, _ in store.match(MINE, query, 5)] == [kept.id]

    def test_match_looks_at_tags_paths_and_kind_too(self, store):
        tagged = keep(store, memory("A.", tags=("billing",)))
        placed = keep(store, memory("B.", file_paths=("src/checkout.py",)))
        decided = keep(store, memory("C.", kind="decision"))

        for query, expected in (("billing", tagged), ("checkout", placed), ("decision", decided)):
            assert [name for name, _ in store.match(MINE, query, 5)] == [expected.id]

    def test_match_gives_the_best_first_and_no_more_than_asked_for(self, store):
        keep(store, *(memory(f"Redis note {number}.") for number in range(5)))
        best = keep(store, memory("Redis cache expires."))

        found = store.match(MINE, "redis cache expires", 3)

        assert len(found) == 3
        assert found[0][0] == best.id
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)

    def test_a_huge_query_is_no_trouble(self, store):
        kept = keep(store, memory("Needle here."))

        assert store.match(MINE, "needle " + "hay" * 33_000, 5)[0][0] == kept.id
        store.match(MINE, " ".join(f"word{number}" for number in range(15_000)), 5)

    @given(query=st.text(max_size=60), content=texts)
    @settings(max_examples=60)
    def test_no_query_can_break_match(self, store, query, content):
        with pytest.raises(Undo), store.transaction():
            store.put(memory(content))
            store.match(MINE, query, 5)
            store.match(MINE, content, 5)
            raise Undo

    def test_vectors_are_served_by_model_since_a_change(self, store):
        kept = [memory(f"Number {number}.") for number in range(3)]
        keep(store, *kept)
        for each, vector in zip(kept, [(1, 0), (0, 1)], strict=False):
            store.put_vector(each.id, "fake", unit(*vector))
        rows = list(store.vectors_since("fake", -1))
        seq = store.seq()
        store.put_vector(kept[2].id, "fake", unit(1, 1))
        later = list(store.vectors_since("fake", seq))
        again = list(store.vectors_since("fake", -1))

        assert [(row.id, row.vector) for row in rows] == [
            (kept[0].id, unit(1, 0)),
            (kept[1].id, unit(0, 1)),
        ]
        assert [row.num for row in again] == [text.num for text in store.texts_since(-1)]
        assert [row.key for row in again] == [text.key for text in store.texts_since(-1)]
        assert [(row.id, row.vector) for row in later] == [(kept[2].id, unit(1, 1))]
        assert list(store.vectors_since("other", -1)) == []
        assert [row.vector for row in store.vectors_since("other", seq)] == [None]
        assert (store.count_vectors("fake"), store.count_vectors("other")) == (3, 0)

    def test_what_was_made_of_all_memories_is_given_back_or_not_kept(self, store):
        keep(store, memory())
        seq, generation = store.change()

        store.write_index("words", seq, generation, [b"ab", memoryview(b"c")])
        kept = store.read_index("words")
        store.write_index("words", seq, ("another", generation), [b"d"])

        assert kept is None or (kept[0], bytes(kept[1])) == (seq, b"abc")
        assert store.read_index("vectors") is None
        assert (store.read_index("words") is None) is (kept is None)

    def test_the_generation_changes_when_served_rows_are_gone(self, store):
        kept = keep(store, memory())
        store.put_vector(kept.id, "fake", unit(1, 0))
        _, before = store.change()

        with pytest.raises(Undo), store.transaction():
            keep(store, memory("Not read before it was rolled back."))
            raise Undo
        _, unread = store.change()
        with pytest.raises(Undo), store.transaction():
            keep(store, memory("Read."))
            list(store.texts_since(-1))
            raise Undo
        _, rolled_back = store.change()
        store.delete(kept.id)
        _, deleted = store.change()

        assert before == unread
        assert len({before, rolled_back, deleted}) == 3

    def test_a_vector_of_another_length_is_reported(self, store):
        kept = [memory(f"Number {number}.") for number in range(3)]
        keep(store, *kept)
        for each, vector in zip(kept, [(1, 0), (1, 0, 0, 0), (0, 1)], strict=True):
            store.put_vector(each.id, "fake", unit(*vector))

        assert len(store.check()) == 1

    def test_what_has_no_vector_yet_is_known(self, store):
        kept = [memory(f"Number {number}.") for number in range(3)]
        keep(store, *kept, memory("Gone.", state=m.State.DELETED))
        store.put_vector(kept[0].id, "fake", unit(1, 0))

        assert store.without_vector("fake", 10) == [(kept[2].id, "Number 2."), (kept[1].id, "Number 1.")]
        assert store.without_vector("fake", 1) == [(kept[2].id, "Number 2.")]
        assert store.without_vector("fake", -1) == store.without_vector("fake", 10)
        assert store.count_without_vector("fake") == 2
        assert store.count_without_vector("other") == 3
        with pytest.raises(MemoryNotFound):
            store.put_vector("nothing", "fake", unit(1, 0))

    def test_a_vector_of_situations_lives_as_long_as_they_do(self, store):
        model = "fake" + m.WHEN_MODEL
        plain, needed = memory("Plain."), memory("Needed.", when_needed=("somebody asks",))
        keep(store, plain, needed)

        assert store.without_vector(model, 10) == [(needed.id, "Needed.")]
        assert store.count_without_vector(model) == 1
        assert [text.when_needed for text in store.texts_since(-1)] == [(), ("somebody asks",)]
        for name in ("fake", model):
            store.put_vector(needed.id, name, unit(1, 0))
        store.put(replace(needed, importance=0.9))
        assert store.vector(needed.id, model) == unit(1, 0)
        store.put(replace(needed, when_needed=("nobody asks",)))
        assert store.vector(needed.id, model) is None
        assert store.vector(needed.id, "fake") == unit(1, 0)
        assert store.get(needed.id).when_needed == ("nobody asks",)

    # who sees what

    @given(kept=st.lists(placed, min_size=1, max_size=8), view=views)
    @settings(max_examples=80)
    def test_every_way_to_find_agrees_with_the_view(self, stores, kept, view):
        expected = {each.id for each in kept if view.shows_memory(each)}
        store = stores[view.user_id]
        try:
            for each in kept:
                stores[each.user_id].put(each)
                stores[each.user_id].put_vector(each.id, "fake", unit(1, 0))

            assert {each.id for each in store.newest(view)} == expected
            assert {each.id for each in store.iter_memories(view)} == expected
            assert {each.id for each in store.with_fingerprint(view, kept[0].fingerprint)} == expected
            assert {name for name, _ in store.match(view, "pnpm", 100)} == expected
            assert {name for name, _ in store.vectors(view, "fake")} == expected
            assert store.count(view) == sum(store.counts(view, "kind").values()) == len(expected)
        finally:
            for each in kept:
                stores[each.user_id].delete(each.id)

    @pytest.fixture
    def stores(self, open_store_as):
        """The stores of some users."""
        return {user: open_store_as(user) for user in USERS}

    # the graph

    def test_links_come_back_from_both_ends(self, store):
        a, b = memory("One."), memory("Two.")
        keep(store, a, b)
        link = m.Link(a.id, b.id, m.Relation.DERIVED_FROM, NOW, 0.25, "made of it", "ambiguous", NOW)

        store.put_link(link)

        assert store.links(a.id) == store.links(b.id) == store.all_links(MINE) == [link]
        store.put_link(replace(link, weight=0.75))
        assert store.links(a.id) == [replace(link, weight=0.75)]
        assert store.drop_link(a.id, b.id, m.Relation.DERIVED_FROM)
        assert not store.drop_link(a.id, b.id, m.Relation.DERIVED_FROM)
        assert store.links(a.id) == []

    def test_a_conflict_of_ones_own_memories_may_be_settled(self, store):
        a, b = memory("One."), memory("Two.")
        keep(store, a, b)

        assert store.may_settle(a.id, b.id)

    def test_a_link_needs_both_ends(self, store):
        kept = keep(store, memory())

        with pytest.raises(MemoryNotFound):
            store.put_link(m.Link(kept.id, "nothing", m.Relation.RELATES_TO, NOW))

        assert store.links(kept.id) == []

    def test_conflicts_are_the_open_contradictions_in_view(self, store):
        a, b, c = memory("One."), memory("Two."), memory("Three.")
        far = memory("Far.", project_id="blog")
        keep(store, a, b, c, far)
        first = m.Link(a.id, b.id, m.Relation.CONTRADICTS, NOW)
        second = m.Link(c.id, b.id, m.Relation.CONTRADICTS, NOW + timedelta(seconds=1))
        for link in (
            first,
            second,
            m.Link(a.id, c.id, m.Relation.CONTRADICTS, NOW, resolved_at=NOW),
            m.Link(a.id, c.id, m.Relation.RELATES_TO, NOW),
            m.Link(a.id, far.id, m.Relation.CONTRADICTS, NOW),
        ):
            store.put_link(link)

        assert store.conflicts(MINE) == [first, second]
        assert store.conflicts(MINE, [a.id]) == [first]
        assert store.conflicts(MINE, [b.id]) == [first, second]
        assert store.conflicts(MINE, []) == []

    def test_tags_come_commonest_first_with_their_description(self, store):
        keep(store, memory("A.", tags=("x", "y")), memory("B.", tags=("y",)))
        keep(store, memory("Far.", project_id="blog", tags=("x", "z")))

        store.describe_tag("y", "Why")

        assert store.tags(MINE) == [m.Tag("y", "Why", 2), m.Tag("x", "", 1)]

    def test_clusters_are_replaced_as_a_whole(self, store):
        a, b = memory("One."), memory("Two.")
        keep(store, a, b)
        first = m.Cluster("c1", "shop", "First", "fake", unit(1, 0), tuple(sorted((a.id, b.id))), NOW)
        elsewhere = m.Cluster("c2", None, "Global", "fake", unit(0, 1), (), NOW)
        store.put_clusters(None, [elsewhere])
        store.put_clusters("shop", [first])
        assert store.clusters("shop") == [first]

        second = replace(first, id="c3", members=(b.id, "purged meanwhile"))
        store.put_clusters("shop", [second])

        assert store.clusters("shop") == [replace(second, members=(b.id,))]
        assert store.clusters(None) == [elsewhere]

    def test_links_of_what_was_last_used_in_one_moment_are_told(self, store):
        a, b, c = (memory(name, last_accessed_at=NOW) for name in ("One.", "Two.", "Three."))
        other = memory("Four.", last_accessed_at=NOW + timedelta(minutes=1))
        gone = memory("Five.", last_accessed_at=NOW, state=m.State.ARCHIVED)
        keep(store, a, b, c, other, gone)
        link = m.Link(a.id, b.id, m.Relation.RELATES_TO, NOW, 0.5)
        strong = m.Link(a.id, c.id, m.Relation.RELATES_TO, NOW, 1.0)
        for each in (link, strong, replace(link, target=other.id), replace(link, target=gone.id)):
            store.put_link(each)

        assert store.used_together("ada", None) == [link]
        assert store.used_together("ada", NOW - timedelta(hours=1)) == [link]
        assert store.used_together("ada", NOW) == []
        assert store.used_together("bob", None) == []

    def test_one_cluster_can_be_kept_or_dropped_beside_the_others(self, store):
        a = keep(store, memory("One."))
        first, second = (m.Cluster(name, "shop", name, "fake", unit(1, 0), (a.id,), NOW) for name in "cd")
        store.put_clusters("shop", [first])

        store.put_cluster(second)
        store.put_cluster(replace(second, label="again"))

        assert store.clusters("shop") == [first, replace(second, label="again")]
        assert store.drop_cluster("c")
        assert not store.drop_cluster("c")
        assert [cluster.id for cluster in store.clusters("shop")] == ["d"]

    def test_only_a_tag_that_nobody_has_or_described_can_be_dropped(self, store):
        keep(store, memory("One.", tags=("used",)))
        store.describe_tag("described", "By someone")
        store.describe_tag("orphan", "")

        assert store.orphan_tags() == ["orphan"]
        assert not store.drop_tag("used")
        assert not store.drop_tag("described")
        assert store.drop_tag("orphan")
        assert store.orphan_tags() == []
        assert store.check() == []

    # work

    def test_sessions_come_back_newest_first(self, store):
        first = m.Session("s1", "ada", "shop", NOW, "coder", "codex", "main", None)
        second = m.Session("s2", "ada", "shop", NOW + timedelta(hours=1), parent="s1")
        outside = m.Session("s3", "ada", None, NOW)
        for session in (first, second, outside):
            store.put_session(session)
        ended = replace(first, ended_at=NOW + timedelta(hours=2), summary="All done.")
        store.put_session(ended)

        assert store.get_session("s1") == ended
        assert store.get_session("nothing") is None
        assert store.sessions("ada", "shop", 10) == [second, ended]
        assert store.sessions("ada", "shop", 1) == [second]
        assert store.sessions("ada", None, 10) == [outside]
        assert store.sessions("bob", "shop", 10) == []

    def test_live_sessions_are_open_and_did_something_lately(self, store):
        started, now = NOW, NOW + timedelta(days=2)
        silent = m.Session("silent", "ada", "shop", started)
        busy = m.Session("busy", "ada", "shop", started, active_at=now)
        ended = m.Session("ended", "ada", "shop", started, active_at=now, ended_at=now)
        elsewhere = m.Session("elsewhere", "ada", "bank", started, active_at=now)
        for session in (silent, busy, ended, elsewhere):
            store.put_session(session)

        assert store.live_sessions("shop", now - timedelta(days=1)) == [busy]

    def test_a_finding_is_kept_once_a_session(self, store):
        store.put_session(m.Session("s1", "ada", "shop", NOW))
        finding = m.Finding(
            "f1", "s1", "print", "fact", "Seen.", NOW, 0.7, 0.8, ("tag",), ("a.py",), (3, 5), "promoted"
        )

        assert store.put_finding(finding)
        assert not store.put_finding(replace(finding, id="f2"))
        assert store.put_finding(other := replace(finding, id="f3", fingerprint="other", messages=None))
        assert store.findings("s1") == [finding, other]
        assert store.findings("s2") == []

    def test_gaps_are_listed_while_they_are_open(self, store):
        first = m.Gap("g1", "shop", "deploying", NOW, "s1")
        second = m.Gap("g2", "shop", "testing", NOW + timedelta(hours=1))
        for gap in (first, second, m.Gap("g3", None, "elsewhere", NOW)):
            store.put_gap(gap)
        assert store.gaps("shop", 10) == [second, first]
        assert store.gaps("shop", 1) == [second]

        store.put_gap(replace(second, closed_at=NOW))

        assert store.gaps("shop", 10) == [first]

    def test_an_export_sees_all_that_is_the_users_in_its_projects(self, store, open_store_as):
        here, there = (Place(store, project) for project in ("shop", "bank"))
        nowhere = Place(store, None)
        Place(open_store_as("bob"), "shop", user="bob")

        everything, mine = (
            [
                [each.id for each in found]
                for found in (
                    store.iter_sessions(view),
                    store.iter_findings(view),
                    store.reviews.iterate(view),
                )
            ]
            for view in (EVERYTHING, MINE)
        )

        every, own = (here, there, nowhere), (here, nowhere)
        assert everything == [sorted(each.ids[at] for each in every) for at in range(3)]
        assert mine == [sorted(each.ids[at] for each in own) for at in range(3)]
        assert {each.session for each in store.messages.iterate(MINE)} == {here.ids[0], nowhere.ids[0]}
        assert {each.id for each in store.iter_gaps(MINE)} == {here.gap, nowhere.gap}

    def test_an_export_goes_through_more_than_a_page(self, store):
        for number in range(501):
            store.put_session(m.Session(f"s{number:04}", "ada", None, NOW))
        said = [m.Message("s", number, "user", "hi", NOW, "ada", None) for number in range(501)]
        store.messages.put(said, None, None)

        assert [each.id for each in store.iter_sessions(MINE)] == [f"s{number:04}" for number in range(501)]
        assert list(store.messages.iterate(MINE)) == said

    def test_links_come_a_page_at_a_time_by_their_ends(self, store):
        kept = [memory(f"Number {number}.") for number in range(24)]
        hidden = memory("Hidden.", project_id="bank")
        keep(store, *kept, hidden)
        for one in kept:
            for other in kept:
                if one.id != other.id:
                    store.put_link(m.Link(one.id, other.id, m.Relation.RELATES_TO, NOW))
        store.put_link(m.Link(kept[0].id, hidden.id, m.Relation.RELATES_TO, NOW))

        found = list(store.iter_links(MINE))

        assert len(found) == 24 * 23
        assert found == sorted(store.all_links(MINE), key=lambda link: (link.source, link.target))

    def test_a_gap_that_was_closed_is_not_opened_again_by_an_older_copy(self, store):
        gap = m.Gap(m.new_id(), "shop", "how are prices rounded", NOW)
        store.adopt_gap(gap)
        assert store.gaps("shop", 5) == [gap]
        store.put_gap(replace(gap, closed_at=NOW))

        store.adopt_gap(gap)

        assert store.gaps("shop", 5) == []

    def test_a_project_is_known_by_any_of_its_keys(self, store):
        shop = m.Project("p1", "shop", "/src/shop", "")
        store.put_project(shop, ["remote:x", "git:y"])

        assert store.project_for(["nothing", "git:y"]) == "p1"
        assert store.project_for(["nothing"]) is None
        assert store.project_for([]) is None
        assert store.project_keys("p1") == ["git:y", "remote:x"]
        store.put_project(moved := replace(shop, root="/elsewhere"), ["dir:z"])
        assert store.projects() == [moved]
        assert store.project_keys("p1") == ["dir:z", "git:y", "remote:x"]
        store.put_project(m.Project("p2", "blog", "/blog", ""), ["git:y"])
        assert store.project_for(["git:y"]) == "p2"

    @pytest.mark.parametrize("value", [True, 0, 1.5, "text", "ünï", ["a", 1], {"a": None}, None])
    def test_a_setting_comes_back_for_its_project_only(self, store, value):
        store.set_setting("shop", "name", "old")
        store.set_setting("shop", "name", value)

        assert store.setting("shop", "name") == value
        assert store.setting(None, "name") is None
        assert store.setting("shop", "other") is None

    # audit

    def test_audit_lines_come_newest_first_and_hold_each_other(self, store):
        kept = keep(store, memory())
        store.log("pin", "user", NOW + timedelta(hours=1), kept.id, {"ünï": [1, None]})
        store.log("update", "agent:x", NOW, None, {})

        lines = store.audit(10)

        assert [line.action for line in lines] == ["update", "pin", "add"]
        assert lines[1].detail == {"ünï": [1, None]}
        assert lines[1].at == NOW + timedelta(hours=1)
        assert len({line.hash for line in lines}) == 3
        assert store.audit(1) == lines[:1]
        assert store.audit(10, kept.id) == lines[1:]
        assert store.check() == []

    @pytest.mark.parametrize(
        "tampering",
        [
            "UPDATE audit SET actor = 'someone' WHERE seq = 2",
            "UPDATE audit SET detail = '{}' WHERE seq = 2",
            "UPDATE audit SET memory_id = NULL WHERE seq = 2",
            "UPDATE audit SET at = '2020-01-01T00:00:00.000000Z' WHERE seq = 2",
            "UPDATE audit SET hash = (SELECT hash FROM audit WHERE seq = 1) WHERE seq = 2",
            "DELETE FROM audit WHERE seq = 2",
            "DELETE FROM audit WHERE seq = 1",
        ],
    )
    def test_a_line_that_was_tampered_with_is_found(self, store, execute, tampering):
        keep(store, *(memory(f"Number {number}.") for number in range(3)))
        assert store.check() == []

        execute(tampering)

        assert "audit" in store.check()[0].what.lower()

    def test_trimming_keeps_the_chain_and_the_newest(self, store):
        kept = [memory(f"Number {number}.") for number in range(30)]
        keep(store, *kept)
        assert store.trim_audit(keep=30, down_to=10) == 0

        assert store.trim_audit(keep=29, down_to=10) == 20

        assert [line.memory_id for line in store.audit(100)] == [each.id for each in kept[:19:-1]]
        assert store.check() == []
        keep(store, memory("After."))
        assert store.trim_audit(keep=5, down_to=0) == 10
        keep(store, memory("Last."))
        assert store.check() == []

    # transactions and threads

    def test_a_transaction_is_all_or_nothing(self, store):
        kept = keep(store, memory())

        with pytest.raises(Undo), store.transaction():
            keep(store, memory("Other."))
            store.put(replace(kept, content="Changed."))
            store.put_link(m.Link(kept.id, store.newest(MINE)[0].id, m.Relation.RELATES_TO, NOW))
            store.set_setting(None, "name", 1)
            assert store.count(MINE) == 2
            raise Undo

        assert store.newest(MINE) == [kept]
        assert store.links(kept.id) == []
        assert store.setting(None, "name") is None
        assert len(store.audit(10)) == 1
        assert store.check() == []

    def test_nested_transactions_are_one(self, store, open_store):
        other = open_store()

        with pytest.raises(Undo), store.transaction():
            with store.transaction():
                keep(store, memory())
            assert other.count(MINE) == 0
            raise Undo

        assert store.count(MINE) == 0

    def test_threads_write_and_read_at_once(self, store):
        workers, each_writes = 8, 15
        errors, ready, done = [], threading.Barrier(workers + 2), threading.Event()

        def write(worker):
            for number in range(each_writes):
                with store.transaction():
                    kept = keep(store, memory(f"Worker {worker} wrote {number}.", tags=(f"w{worker}",)))
                    store.put_vector(kept.id, "fake", unit(1, worker, number))

        def read():
            while not done.is_set():
                for row in store.vectors_since("fake", store.seq() - 10):
                    store.get(row.id)
                assert len(store.newest(MINE, limit=5)) <= 5
                store.match(MINE, "worker wrote", 5)

        def run(work, *args):
            ready.wait()
            try:
                work(*args)
            except BaseException as error:
                errors.append(error)

        writers = [threading.Thread(target=run, args=(write, number)) for number in range(workers)]
        readers = [threading.Thread(target=run, args=(read,)) for _ in range(2)]
        for thread in writers + readers:
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        for thread in readers:
            thread.join()

        assert errors == []
        assert store.count(MINE) == workers * each_writes
        assert store.count_vectors("fake") == workers * each_writes
        assert store.check() == []

    # forgetting

    def test_clearing_a_project_takes_all_of_it_and_nothing_else(self, store, open_store_as):
        mine, others = memory("Mine."), memory("Eve's.", user_id="eve")
        elsewhere, everywhere = memory("Of the bank.", project_id="bank"), memory("Global.", project_id=None)
        theirs = open_store_as("eve")
        keep(store, mine, elsewhere, everywhere)
        keep(theirs, others)
        for project in ("shop", "bank"):
            store.put_session(m.Session(f"{project} monday", "ada", project, NOW))
            store.put_gap(m.Gap(m.new_id(), project, "what is missing", NOW))
            message = m.Message(f"{project} monday", 0, "user", "Said.", NOW, "ada", project)
            store.messages.put([message], None, None)
            store.set_setting(project, "seasons", ["autumn"])

        cleared = store.clear("ada", "shop", NOW)

        assert (cleared.memories, cleared.messages, cleared.sessions, cleared.gaps) == (1, 1, 1, 1)
        assert store.get(mine.id).state is m.State.DELETED
        assert {store.get(each.id).state for each in (elsewhere, everywhere)} == {m.State.ACTIVE}
        assert theirs.get(others.id).state is m.State.ACTIVE
        assert [store.messages.count("ada", project) for project in ("shop", "bank")] == [0, 1]
        assert [len(store.sessions("ada", project, 9)) for project in ("shop", "bank")] == [0, 1]
        assert [len(store.gaps(project, 9)) for project in ("shop", "bank")] == [0, 1]
        assert [store.setting(project, "seasons") for project in ("shop", "bank")] == [None, ["autumn"]]
        assert store.check() == []

    def test_clearing_everything_is_for_one_user_in_all_projects(self, store, open_store_as):
        mine = [memory(f"Mine in {project}.", project_id=project) for project in ("shop", "bank", None)]
        others = memory("Eve's.", user_id="eve", visibility=m.Visibility.TEAM)
        keep(store, *mine)
        keep(open_store_as("eve"), others)
        store.set_setting(None, "agreed", ["https://example.org"])

        cleared = store.clear("ada", None, NOW)

        assert cleared.memories == 3
        assert [each.id for each in store.newest(m.View("ada", all_projects=True))] == [others.id]
        assert store.setting(None, "agreed") == ["https://example.org"]

    def test_a_purge_takes_what_was_forgotten_before_then(self, store):
        old = memory("Old.", state=m.State.DELETED, deleted_at=NOW - timedelta(days=31), tags=("gone",))
        new = memory("New.", state=m.State.DELETED, deleted_at=NOW - timedelta(days=29))
        here = memory("Here.")
        keep(store, old, new, here)
        store.put_vector(old.id, "fake", unit(1, 0))
        store.put_link(m.Link(old.id, here.id, m.Relation.RELATES_TO, NOW))
        before = NOW - timedelta(days=30)
        assert store.purge_due(before)

        purged = store.purge(before, "agent:memory", NOW)

        assert purged.memories == (old.id,)
        assert {each.id for each in store.iter_memories(EVERYTHING)} == {new.id, here.id}
        assert store.links(here.id) == []
        assert store.match(EVERYTHING, "old gone", 5) == []
        assert store.count_vectors("fake") == 0
        assert not store.purge_due(before)
        assert store.purge(before, "agent:memory", NOW).memories == ()
        assert store.check() == []

    # one user's handle

    def test_a_new_store_has_no_notices_and_knows_its_user(self, store):
        assert store.notices == ()
        assert store.user_id == "ada"

    def test_settings_gaps_and_tags_are_those_of_the_user(self, store, open_store_as):
        other = open_store_as("eve")
        store.set_setting(None, "agreed", ["https://example.org"])
        store.put_gap(m.Gap("g1", "shop", "what is missing", NOW))
        store.describe_tag("node", "The runtime")

        assert other.setting(None, "agreed") is None
        assert other.gaps("shop", 5) == []
        assert list(other.iter_gaps(m.View("eve", "shop"))) == []
        assert not other.close_gap("g1", NOW)
        other.set_setting(None, "agreed", [])
        other.describe_tag("node", "")
        assert other.orphan_tags() == ["node"]
        assert other.drop_tag("node")

        assert store.setting(None, "agreed") == ["https://example.org"]
        assert [gap.id for gap in store.gaps("shop", 5)] == ["g1"]
        keep(store, memory(tags=("node",)))
        assert store.tags(MINE) == [m.Tag("node", "The runtime", 1)]

    def test_a_gap_is_closed_once(self, store):
        store.put_gap(m.Gap("g1", "shop", "what is missing", NOW))

        assert store.close_gap("g1", NOW)
        assert not store.close_gap("g1", NOW)
        assert not store.close_gap("unknown", NOW)

        assert store.gaps("shop", 5) == []

    def test_an_adopted_project_takes_only_keys_that_are_free(self, store):
        store.put_project(m.Project("p1", "Shop", "/shop", ""), ["remote:shop"])

        store.adopt_project(m.Project("p2", "Other", "/other", ""), ["remote:shop", "remote:other"])
        store.adopt_project(m.Project("p1", "Renamed", "/else", ""), ["remote:new"])

        assert store.project_for(["remote:shop"]) == "p1"
        assert store.project_for(["remote:other"]) == "p2"
        assert store.project_for(["remote:new"]) is None
        assert [project.name for project in store.projects()] == ["Other", "Shop"]

    def test_the_audit_log_is_verified_with_its_archive(self, store):
        keep(store, *(memory(f"Number {number}.") for number in range(5)))
        store.trim_audit(keep=4, down_to=2)

        assert store.verify_audit() == m.AuditCheck(lines=5, archived=3, problem=None)

    def test_vectors_come_with_their_ids_oldest_first(self, store):
        one, two, deleted = memory("One."), memory("Two."), memory("Gone.", state=m.State.DELETED)
        keep(store, one, two, deleted)
        for each, vector in ((two, unit(0, 1)), (one, unit(1, 0)), (deleted, unit(1, 1))):
            store.put_vector(each.id, "fake", vector)

        assert list(store.vectors(MINE, "fake")) == [(one.id, unit(1, 0)), (two.id, unit(0, 1))]
        assert list(store.vectors(MINE, "other")) == []

    def test_memories_with_triggers_or_steps_come_newest_first(self, store):
        trigger, steps, plain = (
            memory("When deploying, tag.", triggers=("deploy",)),
            memory("Release.", procedure=m.Procedure("Release", steps=("tag",))),
            memory("Plain."),
        )
        keep(store, trigger, steps, plain)

        assert [each.id for each in store.with_triggers(MINE, 5)] == [steps.id, trigger.id]
        assert [each.id for each in store.with_triggers(MINE, 1)] == [steps.id]

    def test_neighbours_are_one_link_tag_or_cluster_away(self, store):
        one, linked, tagged, clustered, newer = (
            memory("One.", tags=("rare",)),
            memory("Linked."),
            memory("Tagged.", tags=("rare",)),
            memory("Clustered."),
            memory("Newer."),
        )
        keep(store, one, linked, tagged, clustered, newer)
        store.put_link(m.Link(linked.id, one.id, m.Relation.RELATES_TO, NOW, 0.5))
        store.put_link(m.Link(newer.id, one.id, m.Relation.SUPERSEDES, NOW))
        members = (one.id, clustered.id)
        store.put_clusters("shop", [m.Cluster("c1", "shop", "both", "fake", unit(1, 0), members, NOW)])

        edges = {edge.target: edge for edge in store.neighbours(MINE, [one.id], 5)}

        assert {target: edge.relation for target, edge in edges.items()} == {
            linked.id: "relates_to",
            newer.id: "supersedes",
            tagged.id: "tag",
            clustered.id: "cluster",
        }
        assert not edges[linked.id].forward
        assert (edges[tagged.id].name, edges[clustered.id].name) == ("rare", "both")
        assert store.neighbours(MINE, [newer.id], 5) == []
        assert {edge.relation for edge in store.neighbours(MINE, [one.id], 0)} == set()


class LocalStoreContract(StoreContract, LocalWorkContract):
    """What a store in a file must do besides."""

    def test_a_vacuum_gives_back_what_is_free(self, store):
        store.set_setting(None, "ballast", "x" * 1_000_000)
        store.set_setting(None, "ballast", "")
        free = store.info().free

        saved = store.vacuum()

        assert free > 900_000
        assert (saved > 900_000, store.info().free) == (True, 0)
        assert store.check() == []

    def test_info_and_backup_tell_where_things_are(self, store):
        keep(store, memory())
        assert store.backup_age(NOW) is None

        made = store.backup()

        assert os.path.exists(made)  # noqa: PTH110
        assert store.backup_age(datetime.now(UTC)) < 1
        (checked,) = store.check_backups()
        assert (checked.path, checked.problem) == (made, None)
        assert checked.made_at.tzinfo is UTC
        info = store.info()
        assert info.size > 0
        assert info.version > 0
        assert not info.encrypted

    def test_an_encrypted_store_stays_readable_and_can_be_decrypted(self, store):
        kept = keep(store, memory())
        note = m.KeyNote("check", "00", "variable")

        assert store.encrypt(lambda: ("ab" * 32, note)) == note
        assert store.info().encrypted
        assert store.get(kept.id) == kept

        store.decrypt()
        assert not store.info().encrypted
        assert store.get(kept.id) == kept
