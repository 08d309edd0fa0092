"""Threads that write wait for each other in turn, also through several stores on one file."""

import threading

import pytest

from recollect.store import open_store
from recollect.store.fair_lock import FairLock, lock_of
from recollect.store.sqlite import connection
from samples import keep, memory


def waiting(lock):
    return len(lock._waiting)


def start(work, *words):
    thread = threading.Thread(target=work, args=words)
    thread.start()
    return thread


def test_threads_get_the_lock_in_the_order_in_which_they_asked():
    lock, order = FairLock(), []

    def work(number):
        with lock():
            order.append(number)

    with lock():
        threads = []
        for number in range(20):
            threads.append(start(work, number))
            while waiting(lock) <= number:
                threads[-1].join(0.001)
    for thread in threads:
        thread.join()

    assert order == list(range(20))


def test_a_thread_that_has_just_written_does_not_overtake_one_that_waits():
    lock, order, is_free = FairLock(), [], threading.Event()

    def patient():
        with lock():
            order.append("patient")

    def eager():
        with lock():
            is_free.wait()
        with lock():
            order.append("eager")

    first = start(eager)
    while not lock._held:
        first.join(0.001)
    second = start(patient)
    while waiting(lock) < 1:
        second.join(0.001)
    is_free.set()
    first.join()
    second.join()

    assert order == ["patient", "eager"]


def test_an_error_while_the_lock_is_held_gives_it_back():
    lock = FairLock()

    with pytest.raises(ValueError, match="boom"), lock():
        raise ValueError("boom")

    with lock():
        assert lock._held
    assert not lock._held


def test_two_stores_on_one_file_queue_together(home):
    one, other = open_store(home / "recollect.db", "ada"), open_store(home / "recollect.db", "ada")
    done = []

    def write(store, number):
        keep(store, memory(f"Number {number}."))
        done.append(number)

    with one.transaction():
        threads = [start(write, other, number) for number in range(4)]
        while waiting(lock_of(home / "recollect.db")) < 4:
            threads[0].join(0.001)
        assert done == []
    for thread in threads:
        thread.join()

    assert sorted(done) == [0, 1, 2, 3]
    one.close()
    other.close()


def test_many_threads_write_through_two_stores_and_sqlite_has_to_wait_for_nobody(home, monkeypatch):
    connect = connection.connect
    monkeypatch.setattr(connection, "connect", lambda path, key, *_, **__: connect(path, key, 0.0))
    stores = [open_store(home / "recollect.db", "ada") for _ in range(2)]
    errors = []

    def work(number):
        try:
            for each in range(4):
                keep(stores[number % 2], memory(f"Number {number} {each}."))
        except Exception as error:
            errors.append(error)

    threads = [start(work, number) for number in range(32)]
    for thread in threads:
        thread.join()

    assert errors == []
    for store in stores:
        store.close()
