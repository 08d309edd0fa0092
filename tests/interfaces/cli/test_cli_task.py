def test_a_task_is_started_and_finished(run):
    begun = run("task", "start", "fix", "the", "login", "loop")
    done = run("task", "done", "the cookie was set twice", "--json").json

    assert (begun.code, begun.out.split()[:2]) == (0, ["#1", "active"])
    assert (done["status"], done["outcome"]) == ("completed", "the cookie was set twice")


def test_tasks_are_listed_newest_first(run):
    run("task", "start", "fix the login loop")
    run("task", "start", "speed up the cart")
    run("task", "fail", "no time")

    listed = run("task", "list").out.splitlines()
    paused = run("task", "list", "--status", "paused", "--json").json["tasks"]

    assert [line.split()[1] for line in listed] == ["failed", "paused"]
    assert [each["description"] for each in paused] == ["fix the login loop"]


def test_one_can_go_back_to_a_task_that_waits(run):
    run("task", "start", "fix the login loop")
    run("task", "start", "speed up the cart")

    assert run("task", "switch", "1").out.split()[1] == "active"
    assert run("task", "pause").out.split()[:2] == ["#1", "paused"]


def test_a_task_that_is_not_there_is_an_error_with_a_way_out(run):
    result = run("task", "switch", "7")

    assert result.code == 1
    assert "No task '7' in this project." in result.err
    assert "task list" in result.err


def test_a_number_longer_than_any_task_s_is_simply_not_there(run):
    assert "No task" in run("task", "show", "9" * 5000).err


def test_nothing_to_pause_is_an_error(run):
    assert run("task", "pause").code == 1


def test_a_description_is_printed_without_what_a_terminal_obeys(run):
    assert "\x1b" not in run("task", "start", "fix \x1b[2J the loop").out


def test_a_task_is_shown_with_what_came_of_it(run):
    run("task", "start", "fix the login loop")
    run("task", "done", "it works")

    shown = run("task", "show", "#1")
    told = run("task", "show", "1", "--json").json

    assert "it works" in shown.out
    assert told["touches"] == []


def test_without_tasks_it_says_how_to_begin_one(run):
    result = run("task", "list")

    assert (result.code, result.out) == (0, "")
    assert "task start" in result.err
