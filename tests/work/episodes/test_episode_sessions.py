"""Episodes as sessions bring them: from hooks as things happen, and from a host's own record."""

from doings import Doings


def test_what_happens_in_a_session_is_recorded(engine):
    engine.sessions.start("s1", host="claude-code")
    doings = Doings().user("fix the login loop please").edit("login.py").run("pytest -q", "3 passed in 0.2s")

    engine.sessions.record("s1", [(f"e{event.order}", event) for event in doings.events])
    engine.sessions.checkpoint("s1")
    engine.sessions.end("s1")

    assert engine.episodes.file("login.py").total.edits == 1
    (task,) = engine.episodes.tasks()
    assert (task.description, task.tools) == ("fix the login loop please", {"Edit": 1, "Bash": 1})


def test_nothing_is_recorded_while_memory_is_off(engine):
    engine.sessions.start("s1", host="claude-code")
    engine.store.set_setting(None, "memory", False)

    engine.sessions.record("s1", [(f"e{event.order}", event) for event in Doings().edit("login.py").events])
    engine.sessions.end("s1")

    assert engine.episodes.file("login.py").total.last_seen is None


def test_our_own_tools_are_recorded_by_the_server_and_not_once_more_from_the_host(engine):
    engine.sessions.start("s1", host="claude-code")
    doings = Doings().user("fix the login loop please").edit("login.py")
    doings.use("mcp__recollect__search_memory", {"query": "login"})

    engine.sessions.record("s1", [(f"e{event.order}", event) for event in doings.events])
    engine.sessions.end("s1")

    assert [task.tools for task in engine.episodes.tasks()] == [{"Edit": 1}]
