"""The checks of a store take work in proportion to its memories."""

from make_store import memory, vector

from recollect.store.sqlite.check import find_problems

FEW = 60


def steps_of_check(store):
    """Return how many steps SQLite takes for the checks: the same on every machine."""
    steps = 0

    def count():
        nonlocal steps
        steps += 1
        return False

    with store._db.reading() as db:
        db.set_progress_handler(count, 10)
        try:
            assert find_problems(db) == []
        finally:
            db.set_progress_handler(None)
    return steps


def test_twice_as_many_memories_take_about_twice_as_many_steps(store):
    counts = []
    for start in (0, FEW, 2 * FEW):
        for number in range(start, max(2 * start, FEW)):
            made = memory(f"Memory {number}.", number)
            store.put(made)
            store.put_vector(made.id, "fake", vector(1, 2))
        counts.append(steps_of_check(store))

    assert counts[2] < 2.6 * counts[1]
