"""The index over a real store: it sees every change, and only what a view shows."""

import threading
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect.model as m
from recollect.memory.index.index import MemoryIndex
from samples import MINE, Undo, keep, memory, placed, unit, views


@pytest.fixture
def index(store):
    return MemoryIndex(store)


def test_near_gives_the_nearest_first_above_the_floor(store, index):
    kept = [memory(f"Number {number}.") for number in range(4)]
    keep(store, *kept)
    for each, vector in zip(kept, [(1, 0), (1, 1), (0, 1), (-1, 0)], strict=True):
        store.put_vector(each.id, "fake", unit(*vector))

    found = index.near(MINE, "fake", unit(1, 0), 10)

    assert [name for name, _ in found] == [each.id for each in kept]
    assert [round(score, 3) for _, score in found] == [1.0, 0.707, 0.0, -1.0]
    assert index.near(MINE, "fake", unit(1, 0), 2) == found[:2]
    assert index.near(MINE, "fake", unit(1, 0), 10, floor=0.5) == found[:2]
    assert index.near(MINE, "fake", unit(1, 0), 0) == []


def test_near_breaks_ties_by_id_whatever_the_limit(store, index):
    kept = [memory(f"Number {number}.") for number in range(40)]
    keep(store, *kept)
    with store.transaction():
        for each in reversed(kept):
            store.put_vector(each.id, "fake", unit(1, 0))

    for limit in (1, 3, 39):
        found = [name for name, _ in index.near(MINE, "fake", unit(1, 0), limit)]
        assert found == [each.id for each in kept[:limit]]


def test_vectors_of_different_models_are_never_mixed(store, index):
    kept = keep(store, memory())
    store.put_vector(kept.id, "small", unit(1, 0))
    store.put_vector(kept.id, "large", unit(1, 0, 0))
    other = keep(store, memory("Other."))
    store.put_vector(other.id, "large", unit(0, 1, 0))

    assert [name for name, _ in index.near(MINE, "small", unit(1, 0), 5)] == [kept.id]
    assert [name for name, _ in index.near(MINE, "large", unit(1, 0, 0), 5)] == [kept.id, other.id]
    assert index.near(MINE, "small", unit(1, 0, 0), 5) == []
    assert index.near(MINE, "unknown", unit(1, 0), 5) == []


def test_a_vector_of_the_wrong_length_spoils_nothing(store, index):
    kept = [memory(f"Number {number}.") for number in range(3)]
    keep(store, *kept)
    for each, vector in zip(kept, [(1, 0), (1, 0, 0, 0), (0, 1)], strict=True):
        store.put_vector(each.id, "fake", unit(*vector))

    assert [name for name, _ in index.near(MINE, "fake", unit(1, 0), 5)] == [kept[0].id, kept[2].id]
    assert len(store.check()) == 1


def test_near_follows_every_change(store, index, open_store):
    kept = keep(store, memory())
    store.put_vector(kept.id, "fake", unit(1, 0))
    assert index.near(MINE, "fake", unit(0, 1), 5)[0][1] == pytest.approx(0)

    store.put_vector(kept.id, "fake", unit(0, 1))
    assert index.near(MINE, "fake", unit(0, 1), 5)[0][1] == pytest.approx(1)

    store.put(replace(kept, state=m.State.DELETED))
    assert index.near(MINE, "fake", unit(0, 1), 5) == []

    other = open_store()
    theirs = keep(other, memory("Theirs."))
    other.put_vector(theirs.id, "fake", unit(1, 1))
    assert [name for name, _ in index.near(MINE, "fake", unit(0, 1), 5)] == [theirs.id]

    other.delete(theirs.id)
    assert index.near(MINE, "fake", unit(0, 1), 5) == []


def test_a_rollback_leaves_the_vectors_right(store, index):
    kept = keep(store, memory())
    store.put_vector(kept.id, "fake", unit(1, 0))

    with pytest.raises(Undo), store.transaction():
        store.put_vector(kept.id, "fake", unit(0, 1))
        keep(store, new := memory("New."))
        store.put_vector(new.id, "fake", unit(1, 0))
        store.delete(kept.id)
        assert [name for name, _ in index.near(MINE, "fake", unit(1, 0), 5)] == [new.id]
        raise Undo

    assert index.near(MINE, "fake", unit(1, 0), 5) == [(kept.id, pytest.approx(1))]


@given(kept=st.lists(placed, min_size=1, max_size=8), view=views)
@settings(max_examples=150)
def test_words_and_vectors_agree_with_the_view(store, index, kept, view):
    expected = {each.id for each in kept if view.shows_memory(each)}

    with pytest.raises(Undo), store.transaction():
        for each in kept:
            store.put(each)
            store.put_vector(each.id, "fake", unit(1, 0))

        assert {name for name, _ in index.near(view, "fake", unit(1, 0), 100)} == expected
        with index.words.lock:
            index.words.refresh()
            assert {index.words.ids[row] for row in index.words.mask(view).nonzero()[0]} == expected
        raise Undo


def test_a_rollback_leaves_the_words_right(store, index):
    keep(store, memory("Redis holds the locks."))

    def contents():
        with index.words.lock:
            index.words.refresh()
            return index.words.bm25.known_terms("redis mailer")

    before = contents()
    with pytest.raises(Undo), store.transaction():
        keep(store, memory("The mailer retries."))
        during = contents()
        raise Undo
    keep(store, memory("Webhooks are signed."))  # takes the sequence number that was rolled back

    assert (len(before), len(during)) == (1, 2)
    assert len(contents()) == 1
    assert len(index.words.ids) == 2


def test_the_index_is_read_while_threads_write(store, index):
    errors, done = [], threading.Event()

    def write(worker):
        for number in range(25):
            with store.transaction():
                kept = keep(store, memory(f"Worker {worker} wrote {number}."))
                store.put_vector(kept.id, "fake", unit(1, worker, number))

    def read():
        try:
            while not done.is_set():
                for name, _ in index.near(MINE, "fake", unit(1, 1, 1), 10):
                    store.get(name)
        except BaseException as error:
            errors.append(error)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()

    assert errors == []
    assert len(index.near(MINE, "fake", unit(1, 1, 1), 1000)) == 100
