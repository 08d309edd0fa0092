import json
import threading

import pytest
from doings import Doings, watch

from recollect.errors import StoreBusy
from recollect.model import FileOperation
from recollect.work.episodes.record import CallPairing, bounded, rename_in, stored_command, summary_of
from recollect.work.episodes.recorder import Recorder
from recollect.work.transcripts.event import Event


def executions(engine):
    return engine.store.episodes.executions(engine.episodes.owner, limit=100)


def call(tool, **given):
    return Event("s", 0, "assistant", "", tool=tool, call="c", input=given)


def everything(execute):
    """All that the six tables hold, as one text."""
    tables = (
        "tool_executions",
        "file_interactions",
        "task_history",
        "context_snapshots",
        "learned_patterns",
        "session_learnings",
    )
    return json.dumps([execute(f"SELECT * FROM {table}") for table in tables], default=str)


@pytest.fixture
def execute(engine):
    from recollect.store.sqlite.connection import connect

    def run(sql):
        connection = connect(engine.settings.database, None)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    return run


def test_a_call_and_its_answer_become_one_execution(engine, doings):
    watch(engine, doings.run("pytest -q", "2 passed in 0.1s"))

    (done,) = executions(engine)
    assert (done.tool, done.success, done.duration_ms) == ("Bash", True, 10_000)
    assert done.parameters == {"command": "pytest -q"}
    assert done.result == {"chars": 16, "lines": 1}


def test_an_event_delivered_twice_is_recorded_once(engine, doings):
    doings.user("fix the login loop please").edit("login.py").run("pytest -q", "1 failed", failed=True)

    watch(engine, doings)
    engine.episodes._followed.clear()  # as a new process would
    watch(engine, doings)

    assert len(executions(engine)) == 2
    (task,) = engine.episodes.tasks()
    assert task.tools == {"Edit": 1, "Bash": 1}
    assert task.files == ("login.py",)


def test_a_failed_run_keeps_the_line_that_says_why_and_not_its_output(engine, doings):
    output = (
        "collecting\nlots of noise here\nE   ModuleNotFoundError: No module named 'redis'\n1 error in 0.1s"
    )

    watch(engine, doings.run("pytest -q", output, failed=True))

    (done,) = executions(engine)
    assert done.error == "ModuleNotFoundError: No module named 'redis'"
    assert "lots of noise" not in json.dumps(done.result)


@pytest.mark.parametrize(
    "tool, given, operation, lines",
    [
        ("Read", {"file_path": "a.py", "offset": 10, "limit": 41}, FileOperation.READ, (10, 50)),
        ("view_nothing", {"path": "a.py"}, None, None),
        (
            "str_replace_editor",
            {"command": "view", "path": "a.py", "view_range": [3, 9]},
            FileOperation.READ,
            (3, 9),
        ),
        ("Write", {"file_path": "a.py", "content": "x"}, FileOperation.WRITE, None),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, FileOperation.EDIT, None),
        ("Grep", {"pattern": "x", "path": "a.py"}, FileOperation.SEARCH, None),
        ("Bash", {"command": "sed -n '5,20p' a.py"}, FileOperation.READ, (5, 20)),
        ("Bash", {"command": "grep -n total a.py"}, FileOperation.SEARCH, None),
        ("Bash", {"command": "mypy --strict a.py"}, FileOperation.ANALYZE, None),
        ("Bash", {"command": "echo x > a.py"}, FileOperation.WRITE, None),
        ("Bash", {"command": "ls"}, None, None),
    ],
)
def test_what_is_done_with_a_file_is_told_by_the_tool_or_the_command(
    engine, doings, tool, given, operation, lines
):
    watch(engine, doings.use(tool, given))

    touches = engine.episodes.file("a.py").touches
    assert [(each.operation, each.lines) for each in touches] == ([(operation, lines)] if operation else [])


def test_files_are_named_from_the_project_s_folder(engine, doings):
    watch(engine, doings.edit(f"{engine.project.root}/src/cart.py"))

    assert engine.episodes.file("src/cart.py").total.edits == 1


def test_nothing_that_must_not_be_tracked_is_stored(engine, execute):
    secret = "AKIA" + "Q3EGRIV7ZKPO5MXB"
    doings = (
        Doings().user("fix the login loop please").assistant("RAWANSWER I will now think about it at length")
    )
    doings.use("Write", {"file_path": "a.py", "content": "WHOLEFILE\n" * 50})
    doings.use("Edit", {"file_path": "a.py", "old_string": "x = OLDTEXT", "new_string": "y = NEWTEXT"})
    doings.use("Task", {"prompt": "SUBPROMPT", "thinking": "HIDDENREASONING"})
    for name in ("input", "command"):
        patch = "*** Begin Patch\n*** Update File: b.py\n-PATCHED\n+PATCHED2\n*** End Patch"
        doings.use("apply_patch", {name: patch})
    doings.run("cat > c.py <<'EOF'\nHEREDOC\nEOF", "")
    doings.run(f"aws configure set aws_access_key_id {secret}", "")
    doings.run("pytest", "RAWOUTPUT line\nAssertionError: 1 == 2", failed=True)

    watch(engine, doings)
    engine.episodes.snapshot("s1", [{"id": 1, "type": "message", "content": "CONTEXTTEXT"}], 10)
    engine.episodes.refresh()

    told = everything(execute)
    for mark in "RAWANSWER WHOLEFILE OLDTEXT NEWTEXT SUBPROMPT HIDDENREASONING PATCHED HEREDOC RAWOUTPUT CONTEXTTEXT".split():
        assert mark not in told
    assert secret not in told
    assert "fix the login loop" in told


def test_texts_are_kept_as_sizes_and_a_digest():
    kept = bounded({"file_path": "a.py", "content": "one\ntwo\n", "limit": 3})

    assert kept["file_path"] == "a.py"
    assert kept["limit"] == 3
    assert kept["content"] == {"chars": 8, "lines": 3, "digest": kept["content"]["digest"]}


def test_parameters_are_bounded_however_deep_and_many():
    deep = {"a": {"b": {"c": {"d": {"e": "x" * 5000}}}}, **{f"k{n}": "y" * 5000 for n in range(100)}}

    assert len(json.dumps(bounded(deep))) < 3000


def test_a_command_is_kept_without_the_file_in_it():
    assert stored_command("cat > a.py <<'EOF'\nsecret text\nEOF") == "cat > a.py <<'EOF' …13 characters… EOF"


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("total = grand()", "sum_ = grand()", ("total", "sum_")),
        ("f(total, total)", "f(sum_, sum_)", ("total", "sum_")),
        ("total = 1", "total = 2", None),
        ("a = total", "a = total + 1", None),
        ("total, tax", "sum_, vat", None),
        ("total = sum_", "sum_ = sum_", None),
    ],
)
def test_a_rename_is_one_identifier_in_the_place_of_another(old, new, expected):
    assert rename_in(call("Edit", file_path="a.py", old_string=old, new_string=new)) == expected


def test_an_edit_is_summed_up_by_its_lines_and_what_is_defined_there():
    edit = call("Edit", file_path="a.py", old_string="pass", new_string="def total(cart):\n    return 1")

    assert summary_of(edit) == "+2 −1 lines (total)"


def test_an_answer_without_its_call_is_passed_over(clock):
    assert CallPairing("s").add(Event("s", 0, "tool", "ok", tool="Bash", call="lost"), clock()) is None


# the Python API


def test_what_is_recorded_is_in_the_store_after_a_flush(engine):
    recorded = engine.episodes.record(
        "search",
        {"query": "cart"},
        session="mine",
        files=[("src/cart.py", "search")],
        duration_ms=12,
        context_tokens=900,
    )
    engine.episodes.flush()

    assert recorded
    (done,) = executions(engine)
    assert (done.tool, done.session, done.duration_ms, done.context_tokens) == ("search", "mine", 12, 900)
    assert engine.episodes.file("src/cart.py").touches[0].operation is FileOperation.SEARCH


def test_what_is_recorded_belongs_to_the_active_task(engine):
    task = engine.episodes.start_task("speed up the cart", session="mine")

    engine.episodes.record(
        "Edit", {"file_path": "cart.py", "old_string": "a", "new_string": "b"}, session="mine"
    )
    engine.episodes.flush()

    assert engine.episodes.task(task.id).files == ("cart.py",)
    assert engine.episodes.files_of(task.id)[0].path == "cart.py"


def test_recording_under_one_key_counts_once(engine):
    for _ in range(2):
        engine.episodes.record("x", key="the same")
    engine.episodes.flush()

    assert len(executions(engine)) == 1


def test_a_full_queue_drops_and_counts_and_never_waits():
    hold, begun, written = threading.Event(), threading.Event(), []

    def write(batch):
        begun.set()
        hold.wait()
        written.extend(batch)

    recorder = Recorder(write, max_queued=3)
    recorder.put(0)
    begun.wait()

    taken = [recorder.put(number) for number in range(1, 6)]
    hold.set()
    recorder.close()

    assert taken == [True, True, True, False, False]
    assert recorder.dropped == 2
    assert written == [0, 1, 2, 3]


def test_a_batch_that_cannot_be_written_is_counted_and_the_next_one_is():
    written = []

    def write(batch):
        if not written:
            written.append("failed")
            raise StoreBusy("busy", "wait")
        written.extend(batch)

    recorder = Recorder(write)
    recorder.put(1)
    recorder.flush()
    recorder.put(2)
    recorder.close()

    assert (recorder.dropped, written) == (1, ["failed", 2])


def test_nothing_is_taken_after_closing():
    recorder = Recorder(lambda batch: None)
    recorder.close()

    assert recorder.put(1) is False


def test_another_project_sees_none_of_it(engine, doings, tmp_path, clock, embedder, home):
    from recollect.engine import Engine

    watch(engine, doings.edit("src/cart.py"))
    other = tmp_path / "other"
    other.mkdir()

    with Engine.open(other, home, embedder=embedder, clock=clock) as elsewhere:
        assert elsewhere.episodes.file("src/cart.py").total.last_seen is None
        assert elsewhere.episodes.tools(doings.events[0].at) == ()
