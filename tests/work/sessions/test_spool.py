"""What could not be handed over waits on disk, and is taken in once, in order, whatever happens meanwhile."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.work.sessions.spool import EventSpool


@pytest.fixture
def spool(tmp_path):
    return EventSpool(tmp_path / "spool")


def taken(engine, spool):
    engine.sessions.drain_spool(spool)
    return [event.text for event in engine.sessions.recorded.events("s1")]


def test_what_waited_comes_in_in_order(engine, spool, talk, clock):
    talk.user("one").assistant("two").user("three")
    for event in talk.events:
        assert spool.append("s1", [event], clock())

    assert taken(engine, spool) == ["one", "two", "three"]
    assert engine.sessions.drain_spool(spool) == 0


def test_an_event_that_is_in_the_store_already_counts_once(engine, spool, talk, clock):
    talk.user("one").assistant("two")
    engine.sessions.start("s1")
    engine.sessions.record("s1", talk.events[:1])
    spool.append("s1", talk.events, clock())

    assert taken(engine, spool) == ["one", "two"]


def test_a_drain_that_was_cut_short_is_done_again(engine, spool, talk, clock, tmp_path):
    spool.append("s1", talk.user("one").events, clock())

    with pytest.raises(ZeroDivisionError):
        spool.drain(lambda session, events: 1 / 0)

    assert [path.suffix for path in (tmp_path / "spool").glob("s1*")] == [".draining"]
    assert taken(engine, spool) == ["one"]


def test_a_line_that_was_cut_off_costs_only_itself(engine, spool, talk, clock, tmp_path):
    spool.append("s1", talk.user("one").events, clock())
    with (tmp_path / "spool" / "s1.jsonl").open("ab") as file:
        file.write(b'{"session": "s1", "id": "x", "at"')

    assert taken(engine, spool) == ["one"]


def test_many_writers_and_a_drainer_lose_nothing(engine, spool, clock, talk):
    for number in range(200):
        talk.user(f"message {number}")
    seen = []

    with ThreadPoolExecutor(9) as pool:
        writing = [pool.submit(spool.append, "s1", [event], clock()) for event in talk.events]
        while not all(each.done() for each in writing):
            spool.drain(lambda session, events: seen.extend(event.id for event in events))
    spool.drain(lambda session, events: seen.extend(event.id for event in events))

    assert sorted(seen) == sorted(event_id for event_id, _ in talk.events)


def test_a_full_file_takes_no_more_and_says_so(tmp_path, talk, clock):
    spool = EventSpool(tmp_path / "spool", largest=300)
    talk.user("a" * 100).user("b" * 100).user("c" * 100)

    assert [spool.append("s1", [event], clock()) for event in talk.events] == [True, False, False]


def test_secrets_do_not_reach_the_spool(spool, talk, clock, tmp_path):
    secret = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    spool.append("s1", talk.user(f"the token is {secret}").run(f"export T={secret}", secret).events, clock())

    assert secret not in (tmp_path / "spool" / "s1.jsonl").read_text()


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "x" * 500, "naïve\n"])
def test_a_sessions_name_stays_within_the_folder(spool, talk, clock, tmp_path, name):
    spool.append(name, talk.user("hello").events, clock())

    (file,) = (tmp_path / "spool").glob("*.jsonl")
    assert json.loads(file.read_text())["session"] == name
    assert oct(file.stat().st_mode)[-3:] == "600"
