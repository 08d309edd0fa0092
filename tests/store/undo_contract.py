"""What every store must do with changes: record them, list them, undo them, and let them expire."""

from dataclasses import replace
from datetime import timedelta

import pytest

import recollect.model as m
from recollect.errors import ChangeNotFound, Refused
from samples import EVERYTHING, NOW, keep, memory, unit

LATER = NOW + timedelta(hours=1)


def change(name="01jchange000000001", **fields):
    values = {"user_id": "ada", "project_id": "shop", "at": NOW, "actor": "user", "action": "merge"}
    return m.Change(**{**values, **fields}, id=name, summary="for a test")


class UndoContract:
    def test_a_change_is_listed_and_found_by_either_end_of_its_id(self, store):
        made = change()
        with store.changes.recorded(made):
            kept = keep(store, memory())

        store.changes.finish(replace(made, summary="1 memory", finished_at=LATER))

        assert store.changes.newest("ada", "shop", 5) == [
            replace(made, summary="1 memory", finished_at=LATER)
        ]
        assert store.changes.newest("eve", "shop", 5) == []
        assert store.changes.newest("ada", "shop", 5, actions=["forget"]) == []
        assert [
            each.id for each in store.changes.newest("ada", "shop", 5, actions=["edit", made.action])
        ] == [made.id]
        assert store.changes.newest("ada", "bank", 5) == []
        assert [each.id for each in store.changes.newest("ada", None, 5, all_projects=True)] == [made.id]
        assert store.changes.get("ada", "01jch").id == store.changes.get("ada", "00001").id == made.id
        assert store.changes.touched(made.id) == [kept.id]
        for user, name in (("eve", made.id), ("ada", "x" * 200_000), ("ada", "é" * 100)):
            with pytest.raises(ChangeNotFound):
                store.changes.get(user, name)

    def test_a_change_knows_the_texts_that_it_replaced(self, store):
        edited, tagged = keep(store, memory("One.")), keep(store, memory("Two."))
        made = change()
        for text in ("Uno.", "Un."):
            with store.changes.recorded(made):
                store.put(replace(edited, content=text, fingerprint=m.fingerprint(text)))
                store.put(replace(tagged, tags=("b",)))
                keep(store, memory(f"New {text}"))

        assert store.changes.texts_before(made.id) == {edited.id: "One."}
        assert store.changes.texts_before("01jchange000000009") == {}

    def test_a_change_that_wrote_nothing_leaves_no_entry(self, store):
        with store.changes.recorded(change()):
            pass

        assert store.changes.newest("ada", "shop", 5) == []

    def test_a_rolled_back_part_leaves_no_entry(self, store):
        with pytest.raises(ValueError, match="no"), store.changes.recorded(change()):
            keep(store, memory())
            raise ValueError("no")

        assert store.changes.newest("ada", "shop", 5) == []

    def test_a_change_of_many_parts_is_undone_exactly(self, store):
        one, two = memory("One.", tags=("a",)), memory("Two.")
        keep(store, one, two)
        store.put_vector(one.id, "fake", unit(1, 0))
        made = change()
        for part in range(5):
            with store.changes.recorded(made):
                store.put(
                    replace(
                        one, content=f"Part {part}.", fingerprint=m.fingerprint(f"Part {part}."), tags=("b",)
                    )
                )
                keep(store, memory(f"New {part}."))
        with store.changes.recorded(made):
            store.delete(two.id)

        with store.transaction():
            undone = store.changes.undo(made.id, LATER)

        assert sorted(store.iter_memories(EVERYTHING), key=lambda each: each.content) == [one, two]
        assert store.vector(one.id, "fake") == unit(1, 0)
        assert undone.left_alone == ()
        assert store.changes.get("ada", made.id).undone_at == LATER
        store.changes.mark_undone(made.id, None)
        assert store.changes.get("ada", made.id).undone_at is None
        assert store.check() == []

    def test_what_others_changed_since_is_left_alone_and_named(self, store):
        one, two = memory("One."), memory("Two.")
        keep(store, one, two)
        made = change()
        with store.changes.recorded(made):
            for each in (one, two):
                store.put(replace(each, importance=0.9))
        theirs = replace(store.get(two.id), importance=0.1)
        store.put(theirs)

        with store.transaction():
            undone = store.changes.undo(made.id, LATER)

        assert (undone.restored, undone.left_alone) == ((one.id,), (two.id,))
        assert (store.get(one.id), store.get(two.id)) == (one, theirs)

    def test_a_memory_that_an_undo_removed_comes_back_beside_younger_ones(self, store):
        made, tagged, back = (change(f"01jchange00000000{number}") for number in (7, 8, 9))
        with store.changes.recorded(made):
            one = keep(store, memory("One."))
        with store.changes.recorded(tagged):
            store.put(replace(one, tags=("a",), importance=0.9))
        with store.changes.recorded(back):
            store.delete(one.id)
        two = keep(store, memory("Two.", tags=("a",), importance=0.9))

        with store.transaction():
            store.changes.undo(tagged.id, LATER)  # which is not about the younger memory
        with store.transaction():
            store.changes.undo(back.id, LATER)

        assert store.get(one.id) == replace(one, tags=("a",), importance=0.9)
        assert store.get(two.id) == two

    @pytest.mark.parametrize("relation", ["relates_to", "contradicts"])
    def test_a_memory_goes_with_the_loose_links_of_later_ones(self, store, relation):
        made, back = change(), change("01jchange000000002")
        with store.changes.recorded(made):
            one = keep(store, memory("One."))
        two = keep(store, memory("Two."))
        link = m.Link(two.id, one.id, m.Relation(relation), NOW)
        store.put_link(link)

        with store.changes.recorded(back):
            store.changes.undo(made.id, LATER)

        assert (list(store.iter_memories(EVERYTHING)), store.check()) == ([two], [])
        with store.transaction():
            store.changes.undo(back.id, LATER)
        assert list(store.links(one.id)) == [link]

    @pytest.mark.parametrize("relation", ["supersedes", "derived_from", "depends_on", "caused_by"])
    def test_a_memory_that_later_ones_need_stays(self, store, relation):
        made = change()
        with store.changes.recorded(made):
            one = keep(store, memory("One."))
        two = keep(store, memory("Two."))
        store.put_link(m.Link(two.id, one.id, m.Relation(relation), NOW))

        with pytest.raises(Refused, match="depends on"), store.transaction():
            store.changes.undo(made.id, LATER)

    def test_uses_counted_since_stay_counted(self, store):
        one = keep(store, memory("One."))
        made = change()
        with store.changes.recorded(made):
            store.put(replace(one, importance=0.9, access_count=1))
        store.put(replace(store.get(one.id), access_count=7))

        with store.transaction():
            store.changes.undo(made.id, LATER)

        assert (store.get(one.id).importance, store.get(one.id).access_count) == (one.importance, 7)

    def test_settings_gaps_sessions_and_messages_come_back_with_their_project(self, store):
        store.put_session(m.Session("s1", "ada", "shop", NOW))
        store.put_finding(m.Finding("f1", "s1", "mark", "fact", "Something.", NOW))
        store.put_gap(m.Gap("g1", "shop", "what is missing", NOW))
        store.set_setting("shop", "seasons", ["autumn"])
        store.messages.put([m.Message("s1", 0, "user", "Said.", NOW, "ada", "shop")], None, None)
        made = change()
        with store.changes.recorded(made, projects=True):
            store.clear("ada", "shop", NOW)
        assert store.get_session("s1") is None

        with store.transaction():
            store.changes.undo(made.id, LATER)

        assert store.get_session("s1") is not None
        assert [each.id for each in store.findings("s1")] == ["f1"]
        assert [each.id for each in store.gaps("shop", 5)] == ["g1"]
        assert store.setting("shop", "seasons") == ["autumn"]
        assert store.messages.count("ada", "shop") == 1

    def test_a_purge_erases_what_a_memory_left_that_a_change_removed(self, store):
        one, two = keep(store, memory("One.")), keep(store, memory("Two."))
        store.put_session(m.Session("s1", "ada", "shop", NOW))
        for name, kept in (("f1", one), ("f2", two)):
            store.put_finding(m.Finding(name, "s1", kept.fingerprint, "fact", kept.content, NOW))
        with store.changes.recorded(change()):
            store.delete(one.id)

        store.purge(NOW, "agent:memory", LATER)
        assert [each.id for each in store.findings("s1")] == ["f1", "f2"]
        store.purge(LATER, "agent:memory", LATER)

        assert [each.id for each in store.findings("s1")] == ["f2"]

    def test_an_expired_change_is_still_listed_and_cannot_be_undone(self, store):
        made = change()
        with store.changes.recorded(made):
            keep(store, memory())

        assert store.changes.expire(NOW) == 0
        assert store.changes.expire(LATER) == 1

        assert [each.id for each in store.changes.newest("ada", "shop", 5)] == [made.id]
        with pytest.raises(Refused), store.transaction():
            store.changes.undo(made.id, LATER)
