from datetime import timedelta

import pytest

import recollect.model as m
from recollect.engine import Engine
from recollect.work.transcripts.event import Event
from recollect.work.window.pruned_texts import store_outputs


@pytest.fixture
def worked(home):
    """A session: a failing build, an edit, a build that passes."""
    begin = m.utc_now() - timedelta(hours=1)
    steps = [
        ("Bash", {"command": "make build"}, "error: no rule for target", True),
        (
            "Edit",
            {"file_path": "src/cart.py", "old_string": "a = 1", "new_string": "a = 2\nb = 3"},
            "ok",
            False,
        ),
        ("Edit", {"file_path": "src/price.py", "old_string": "a = 1", "new_string": "a = 2"}, "ok", False),
        ("Bash", {"command": "make build"}, "done", False),
    ]
    with Engine.open() as engine:
        engine.episodes.start_task("mend the build of the cart", session="s1")
        events = []
        for number, (tool, given, output, failed) in enumerate(steps):
            at, call = begin + number * timedelta(seconds=9), f"c{number}"
            events.append(Event("s1", 2 * number, "assistant", "", at=at, tool=tool, call=call, input=given))
            events.append(
                Event("s1", 2 * number + 1, "tool", output, at=at, tool=tool, call=call, failed=failed)
            )
        for _ in engine.episodes.watch("s1", events):
            pass
        engine.episodes.finish_task(outcome="a rule was missing")


def test_a_file_s_history_is_told(run, worked):
    told = run("history", "file", "src/cart.py")

    assert told.out.startswith("src/cart.py: 0 reads, 1 edit, last ")
    assert "+2 −1 lines" in told.out
    assert run("history", "file", "cart.py", "--json").json["path"] == "src/cart.py"


def test_a_file_never_touched_says_so(run, home):
    result = run("history", "file", "nothing.py")

    assert (result.code, result.out) == (0, "")
    assert "No earlier work on nothing.py found." in result.err


def test_tools_are_told_with_their_success(run, worked):
    lines = run("history", "tools").out.splitlines()
    told = run("history", "tools", "--since", "1y", "--json").json["tools"]

    assert [line.split()[:3] for line in lines] == [["Bash", "2", "50%"], ["Edit", "2", "100%"]]
    assert told[0]["successes"] == 1


def test_a_time_that_is_none_is_refused(run, home):
    assert run("history", "tools", "--since", "yesterdayish").code == 1


def test_tasks_are_told(run, worked):
    assert "mend the build of the cart" in run("history", "tasks", "--status", "completed").out
    assert run("history", "tasks", "--status", "failed").out == ""


def test_tasks_like_one_come_with_outcome_files_and_tools(run, worked):
    told = run("history", "like", "the", "build", "of", "the", "cart", "is", "broken").out

    assert "completed · a rule was missing · src/cart.py, src/price.py · Bash, Edit" in told


def test_nothing_alike_says_so(run, worked):
    assert "No similar tasks found" in run("history", "like", "fly to the moon").err


def test_too_few_edits_together_are_no_pair(run, worked):
    result = run("history", "coedits", "src/cart.py")

    assert (result.code, result.out) == (0, "")


def test_what_was_i_doing_names_what_is_open(run, worked):
    run("task", "start", "speed up the cart")

    assert "speed up the cart" in run("history", "what-was-i-doing").out


def test_the_last_work_on_a_topic_is_told(run, worked):
    told = run("history", "last", "cart").out

    assert "mend the build of the cart" in told
    assert "src/cart.py" in told


def test_what_mended_a_failure_is_told(run, worked):
    told = run("history", "fixes", "-", "--command", "make build", stdin=b"error: no rule for target\n")

    assert "passed after a change in `src/cart.py`, `src/price.py`" in told.out
    assert run("history", "fixes", "error: something else entirely", "--json").json == {"fixes": []}


def test_sql_is_answered_as_a_table(run, worked):
    told = run("history", "sql", "SELECT tool_name, count(*) AS n FROM tool_executions GROUP BY 1 ORDER BY 1")

    assert [line.split() for line in told.out.splitlines()] == [
        ["tool_name", "n"],
        ["Bash", "2"],
        ["Edit", "2"],
    ]


def test_sql_that_writes_is_refused(run, home):
    result = run("history", "sql", "DELETE FROM tool_executions", "--json")

    assert result.code == 1
    assert "DELETE is not allowed" in result.out + result.err


def test_the_tables_are_exported(run, worked, tmp_path):
    first = run("history", "export", "--parquet", str(tmp_path / "out"))
    second = run("history", "export", "--parquet", str(tmp_path / "out"))

    assert first.code == 0
    assert (tmp_path / "out" / "tool_executions.parquet").exists()
    assert second.code == 1
    assert run("history", "export", "--parquet", str(tmp_path / "out"), "--force").code == 0


def test_all_of_a_shortened_output_is_printed_as_it_was(run, home):
    text = "def cart():\n    return 1\n\n\tdone"
    with Engine.open() as engine:
        store_outputs(engine, "s1", "Bash", {"5f0c1e9ab2d4": text}, m.utc_now())

    assert run("history", "output", "5f0c1e9ab2d4").out == f"{text}\n"
    assert run("history", "output", "9ab2d4", "--json").json["text"] == text


def test_an_output_that_is_not_kept_says_why(run, home):
    result = run("history", "output", "5f0c1e9ab2d4")

    assert (result.code, result.out) == (1, "")
    assert "No stored text named '5f0c1e9ab2d4' found." in result.err
    assert "14 days" in result.err
