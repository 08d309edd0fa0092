"""A Claude Code session told by its hooks, by its own record, or by both: the same episodes, each counted once."""

import json
from dataclasses import replace
from itertools import product

import pytest
from doings import Doings
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.engine import Engine
from recollect.errors import StoreBusy
from recollect.model import StoredEvent
from recollect.work.hosts.hook_input import host_event, session_events
from recollect.work.sessions.events import stored_event
from recollect.work.sessions.spool import EventSpool
from recollect.work.transcripts.event import Event

# What is asked, or a tool with what it is given, what it answers and whether it failed.
DAY = [
    "Please fix the login loop of the shop",
    ("Bash", {"command": "pytest -q tests/test_login.py"}, "1 failed in 0.2s", True),
    ("Read", {"file_path": "{root}/login.py", "offset": 10, "limit": 20}, "text of the file", False),
    ("Edit", {"file_path": "{root}/login.py", "old_string": "a = 1", "new_string": "a = 2"}, "ok", False),
    "go on",
    ("Bash", {"command": "pytest -q tests/test_login.py"}, "1 passed in 0.2s", False),
    "go on",
    ("Grep", {"pattern": "loop", "path": "{root}/src"}, "nothing", False),
    ("Write", {"file_path": "{root}/notes.md", "content": "how it was done\n" * 300}, "ok", False),
]
START = 1_767_268_800_000_000_000  # nanoseconds: the first second of the fake clock's day


def moments(number):
    return START + number * 10_000_000_000


def by_hooks(root, day=DAY):
    """As the daemon keeps it: what each hook told."""
    for number, (name, body) in enumerate(hooks(root, day)):
        event = host_event("claude-code", name, f"hook-{number}", str(moments(number)), root, body)
        yield from session_events(event)


def hooks(root, day):
    for number, each in enumerate(day):
        if isinstance(each, str):
            yield "UserPromptSubmit", {"session_id": "s1", "prompt": each}
            continue
        tool, given_to_it, answer, failed = placed(each, root)
        body = {
            "session_id": "s1",
            "tool_name": tool,
            "tool_input": given_to_it,
            "tool_use_id": f"toolu_{number}",
        }
        if failed:
            yield "PostToolUseFailure", {**body, "error": answer}
        else:
            yield "PostToolUse", {**body, "tool_response": {"stdout": answer, "stderr": ""}}


def write_record(path, root, day=DAY):
    """As the host writes it down, with what only it tells: what the agent said, and its sub-agent's place."""
    lines = []
    for number, each in enumerate(day):
        if isinstance(each, str):
            lines.append(("user", {"type": "text", "text": each}))
            lines.append(("assistant", {"type": "text", "text": f"I will look at it, step {number}."}))
            continue
        tool, given_to_it, answer, failed = placed(each, root)
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given_to_it}
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{number}",
            "content": answer,
            "is_error": failed,
        }
        lines += [("assistant", call), ("user", result)]
    path.write_text(
        "".join(
            json.dumps(
                {
                    "type": role,
                    "uuid": f"u{number}",
                    "sessionId": "s1",
                    "cwd": root,
                    "timestamp": f"2026-01-01T12:{number:02}:00.000Z",
                    "message": {"role": role, "content": [block]},
                }
            )
            + "\n"
            for number, (role, block) in enumerate(lines)
        )
    )


def placed(each, root):
    return json.loads(json.dumps(each).replace("{root}", root))


def episodes(engine):
    """Without ids and times."""
    shelf, owner = engine.store.episodes, engine.episodes.owner
    tools = shelf.executions(owner, session="s1", limit=1000)
    touches = sorted(shelf.touches(owner, session="s1", limit=1000), key=lambda each: each.id)
    return {
        "tools": [(each.tool, each.parameters, each.success) for each in tools],
        "files": [(each.path, each.operation, each.lines, each.success, each.changes) for each in touches],
        "tasks": [(each.description, each.tools, each.files) for each in engine.episodes.tasks()],
    }


@pytest.fixture
def extracted(folder, tmp_path, clock, embedder):
    """What `extract` makes of the host's own record, in a home of its own."""
    record = tmp_path / "extracted.jsonl"
    write_record(record, str(folder))
    with Engine.open(folder, tmp_path / "other", embedder=embedder, clock=clock) as engine:
        engine.sessions.start("s1", host="claude-code", transcript=str(record))
        engine.sessions.end("s1")
        return episodes(engine)


def tell(engine, record, folder, parts):
    """A day in parts, each told by hooks and ended by a checkpoint; True = the record is there by then."""
    engine.sessions.start("s1", host="claude-code", transcript=str(record))
    all_told = list(by_hooks(str(folder)))
    for number, there in enumerate(parts, 1):
        record.unlink(missing_ok=True)
        if there:
            write_record(record, str(folder), DAY[: len(DAY) * number // len(parts)])
        engine.sessions.record("s1", all_told[: len(all_told) * number // len(parts)])
        engine.sessions.checkpoint("s1")
        yield
    engine.sessions.end("s1")


@pytest.mark.parametrize("parts", list(product([False, True], repeat=3)))
def test_hooks_and_the_record_tell_the_same_in_whatever_turns(engine, folder, tmp_path, extracted, parts):
    for _ in tell(engine, tmp_path / "s1.jsonl", folder, parts):
        pass

    assert [tool for tool, _, _ in extracted["tools"]] == ["Bash", "Read", "Edit", "Bash", "Grep", "Write"]
    assert episodes(engine) == extracted


@pytest.mark.parametrize("parts", list(product([False, True], repeat=3)))
def test_a_daemon_that_begins_anew_each_time_counts_nothing_twice(engine, folder, tmp_path, extracted, parts):
    for _ in tell(engine, tmp_path / "s1.jsonl", folder, parts):
        engine.episodes._followed.clear()  # all that a killed one would have known

    assert episodes(engine) == extracted


def test_what_a_sub_agent_does_counts_once_by_whatever_name_it_is_told(engine):
    work = Doings().edit("login.py")

    for name in ("", "a1b2"):  # older hooks do not name the agent
        list(engine.episodes.watch("s1", [replace(event, agent=name) for event in work.events]))

    assert engine.episodes.file("login.py").total.edits == 1


def test_the_same_words_asked_again_after_a_session_was_resumed_are_another_request(engine):
    asked = Event("s1", 0, "user", "Please fix the login loop of the shop")

    for name in ("first", "resumed"):
        engine.sessions.start("s1", host="claude-code")
        engine.sessions.record("s1", [(name, asked)])
        engine.sessions.end("s1")

    assert len(engine.episodes.tasks()) == 2


# switches


def test_nothing_is_recorded_by_any_interface_while_memory_is_off(engine, folder):
    engine.preferences.set_switch("memory", False)

    engine.sessions.start("s1", host="claude-code")
    engine.sessions.record("s1", list(by_hooks(str(folder))))
    engine.sessions.end("s1")
    engine.episodes.record("Bash", {"command": "ls"}, session="s1")
    engine.episodes.touch("login.py", session="s1")
    engine.episodes.flush()

    assert episodes(engine) == {"tools": [], "files": [], "tasks": []}


def test_what_was_kept_before_memory_was_turned_off_is_not_recorded_after(engine, folder):
    engine.sessions.start("s1", host="claude-code")
    engine.store.events.append(
        "s1", [stored_event(event, name, engine.sessions.clock()) for name, event in by_hooks(str(folder))]
    )
    engine.preferences.set_switch("memory", False)

    engine.sessions.end("s1")

    assert episodes(engine) == {"tools": [], "files": [], "tasks": []}


def test_with_learning_off_what_was_done_is_recorded_and_nothing_found(engine, folder, extracted):
    engine.preferences.set_switch("auto", False)

    engine.sessions.start("s1", host="claude-code")
    engine.sessions.record("s1", list(by_hooks(str(folder))))
    engine.sessions.end("s1")

    assert episodes(engine) == extracted
    assert engine.sessions.findings("s1") == ()


# odd events

texts = st.text(st.characters(codec=None), max_size=20)  # halves of characters, too
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
named = st.sampled_from(
    [
        "command",
        "cmd",
        "file_path",
        "path",
        "view_range",
        "offset",
        "limit",
        "new_string",
        "old_string",
        "patch",
    ]
)
odd_events = st.builds(
    Event,
    session=st.just("s1"),
    order=st.integers(-5, 5) | st.none(),
    author=st.sampled_from(["user", "assistant", "tool", "", None]),
    text=texts | st.none() | st.binary(max_size=4),
    tool=st.sampled_from(["Bash", "Edit", "Read", "str_replace_editor", "apply_patch", "", None, 7]),
    call=st.sampled_from(["odd-1", "odd-2", "", None]),
    input=st.dictionaries(named, json_values, max_size=4) | json_values,
    failed=st.booleans() | st.none(),
    agent=st.sampled_from(["", "a1", None]),
)


@settings(max_examples=50)
@given(odd=st.lists(odd_events | json_values, max_size=12), number=st.uuids().map(str))
def test_whatever_a_host_tells_what_comes_after_is_recorded(engine, odd, number):
    good = Doings().user("Please fix the login loop").edit("login.py").run("pytest -q", "1 passed").events

    seen = list(engine.episodes.watch(number, [*odd, *good], over=True))

    done = engine.store.episodes.executions(engine.episodes.owner, session=number, limit=100)
    assert len(seen) == len(odd) + len(good)
    assert {"Edit", "Bash"} <= {each.tool for each in done if each.success}


@settings(max_examples=50)
@given(
    odd=st.lists(
        json_values.map(json.dumps)
        | st.text(st.characters(codec="utf-8"), max_size=30)
        | st.fixed_dictionaries(
            {
                "at": st.just("2026-01-01T12:00:00Z"),
                "author": st.sampled_from(["user", "tool"]) | json_values,
            },
            optional=dict.fromkeys(("text", "tool", "call", "input", "failed", "agent", "more"), json_values),
        ).map(json.dumps),
        max_size=6,
    ),
    number=st.uuids().map(str),
)
@example(odd=["null", "[" * 100_000, '{"at": 5}', "{}"], number="s0")
def test_a_session_with_damaged_events_is_learnt_from(engine, odd, number):
    now = engine.sessions.clock()
    engine.sessions.start(number, host="claude-code")
    engine.store.events.append(
        number, [StoredEvent(f"{number}.{place}", now, text) for place, text in enumerate(odd)]
    )
    good = Doings().user("Remember: we always deploy the shop with make ship, never by hand.").edit("ship.py")
    engine.sessions.record(number, [(f"{number}.e{event.order}", event) for event in good.events])

    engine.sessions.end(number)

    done = engine.store.episodes.executions(engine.episodes.owner, session=number, limit=100)
    assert "Edit" in [each.tool for each in done]
    assert any("make ship" in each.content for each in engine.sessions.findings(number))


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "[" * 100_000,
        '{"session": "s1", "id": 5, "at": "2026-01-01T12:00:00Z", "event": "{}"}',
        '{"session": "s1", "id": "e", "at": "2026-01-01T12:00:00Z", "event": {"author": "user"}}',
        '{"session": "s1", "id": "\\ud800", "at": "2026-01-01T12:00:00Z", "event": "{}"}',
        '{"session": ["s1"], "id": "e", "at": "2026-01-01T12:00:00Z", "event": "{}"}',
    ],
)
def test_a_damaged_line_that_waited_costs_only_itself(engine, folder, tmp_path, extracted, line):
    spool = EventSpool(tmp_path / "waiting")
    spool.append("s1", list(by_hooks(str(folder))), engine.sessions.clock())
    with (tmp_path / "waiting" / "s1.jsonl").open("a") as file:
        file.write(f"{line}\n")

    engine.sessions.drain_spool(spool)
    engine.sessions.end("s1")

    assert episodes(engine) == extracted


def test_a_huge_event_costs_no_more_than_its_own_place(engine):
    huge = (
        Doings().run("cat <<E " * 200_000, "x" * 5_000_000).edit("login.py", "a" * 3_000_000, "b" * 3_000_000)
    )

    for _ in engine.episodes.watch("s1", huge.events):
        pass

    rows = engine.store.episodes.executions(engine.episodes.owner, session="s1", limit=10)
    assert [each.tool for each in rows] == ["Bash", "Edit"]
    assert len(json.dumps([each.parameters for each in rows])) < 2000


def test_a_store_that_is_busy_costs_only_the_episodes_and_only_for_now(engine, monkeypatch):
    engine.sessions.start("s1", host="claude-code")
    work = Doings().user("Remember: we always deploy the shop with make ship, never by hand.").edit("ship.py")
    shelf = engine.store.episodes
    monkeypatch.setattr(engine.episodes, "store", BusyForEpisodes(engine.store))
    engine.sessions.record("s1", [(f"e{event.order}", event) for event in work.events])
    engine.sessions.checkpoint("s1")
    recorded = shelf.executions(engine.episodes.owner, session="s1", limit=10)
    monkeypatch.undo()

    ended = engine.sessions.end("s1")

    assert recorded == []
    assert ended.findings == 1
    assert engine.episodes.file("ship.py").total.edits == 1


class BusyForEpisodes:
    """A store whose episodes another process holds."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    @property
    def episodes(self):
        raise StoreBusy("The store is busy.", "Try again.")
