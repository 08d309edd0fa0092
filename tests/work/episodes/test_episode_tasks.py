import pytest
from doings import Doings, watch

from recollect.errors import Refused
from recollect.model import TaskIntent, TaskStatus
from recollect.work.episodes.tasks import intent_of, outcome_of


@pytest.mark.parametrize(
    "description, intent",
    [
        ("fix the login loop", TaskIntent.FIXING),
        ("the tests fail on CI", TaskIntent.FIXING),
        ("add a test for the rounding bug", TaskIntent.FIXING),
        ("add an export to CSV", TaskIntent.WRITING),
        ("rename Cart to Basket", TaskIntent.WRITING),
        ("explain how sessions end", TaskIntent.READING),
        ("where are prices rounded?", TaskIntent.EXPLORING),
        ("hello", None),
    ],
)
def test_the_intent_is_told_by_the_words(description, intent):
    assert intent_of(description) == intent


def test_the_first_request_of_a_session_begins_a_task(engine, doings):
    watch(engine, doings.user("Please fix the login loop.\nIt happens twice a day.").edit("login.py"))

    (task,) = engine.episodes.tasks()
    assert (task.description, task.status, task.intent) == (
        "Please fix the login loop.",
        TaskStatus.ACTIVE,
        TaskIntent.FIXING,
    )
    assert task.files == ("login.py",)


def test_a_request_about_something_else_begins_another_and_the_first_waits(engine, doings):
    doings.user("fix the login loop in auth").user("write documentation about invoice exports")

    watch(engine, doings)

    assert [(task.description[:3], task.status) for task in engine.episodes.tasks()] == [
        ("wri", TaskStatus.ACTIVE),
        ("fix", TaskStatus.PAUSED),
    ]


def test_a_request_on_the_same_topic_or_of_few_words_begins_nothing(engine, doings):
    doings.user("fix the login loop in auth").user("yes, go on").user("fix the login loop in auth tests")

    watch(engine, doings)

    assert len(engine.episodes.tasks()) == 1


def test_a_request_that_objects_to_what_was_done_begins_nothing(engine, doings):
    doings.user("fix the login loop in auth").user("no, write documentation about invoice exports in German")

    watch(engine, doings)

    assert [task.description for task in engine.episodes.tasks()] == ["fix the login loop in auth"]


def test_without_an_embedder_a_session_has_one_task(engine, doings, embedder):
    embedder.broken = True

    watch(engine, doings.user("fix the login loop in auth").user("write documentation about invoice exports"))

    assert len(engine.episodes.tasks()) == 1


def test_what_a_host_injects_begins_no_task(engine):
    from dataclasses import replace

    doings = Doings().user("Here is what you should remember about the project")
    doings.events = [replace(each, injected=True) for each in doings.events]

    watch(engine, doings)

    assert engine.episodes.tasks() == ()


def test_a_task_goes_through_its_life(engine, clock):
    first = engine.episodes.start_task("fix the login loop", session="s1")
    second = engine.episodes.start_task("speed up the cart", session="s1")
    waiting = engine.episodes.task(str(first.number))
    again = engine.episodes.switch_task(f"#{first.number}")
    paused = engine.episodes.task(second.id)
    clock.advance(minutes=5)
    done = engine.episodes.finish_task(outcome="the cookie was set twice")
    failed = engine.episodes.fail_task(str(second.number), "no time")

    assert (waiting.status, again.status, paused.status) == (
        TaskStatus.PAUSED,
        TaskStatus.ACTIVE,
        TaskStatus.PAUSED,
    )
    assert (done.id, done.status, done.outcome) == (
        first.id,
        TaskStatus.COMPLETED,
        "the cookie was set twice",
    )
    assert done.completed_at == clock()
    assert (failed.status, failed.outcome) == (TaskStatus.FAILED, "no time")


def test_sessions_have_an_active_task_each(engine):
    engine.episodes.start_task("fix the login loop", session="s1")
    engine.episodes.start_task("speed up the cart", session="s2")

    assert [task.status for task in engine.episodes.tasks()] == [TaskStatus.ACTIVE, TaskStatus.ACTIVE]


def test_a_task_that_a_person_starts_belongs_to_the_session_at_work(engine):
    engine.sessions.start("s1", host="claude-code")

    task = engine.episodes.start_task("fix the login loop")

    assert task.session == "s1"


def test_a_task_started_outside_any_session_takes_what_the_next_one_does(engine, doings):
    task = engine.episodes.start_task("fix the login loop")

    watch(engine, doings.edit("login.py"))

    assert task.session == ""
    assert engine.episodes.task(task.id).files == ("login.py",)


@pytest.mark.parametrize("name", ["99", "nothing", "", "#"])
def test_a_task_that_is_not_there_is_refused(engine, name):
    with pytest.raises(Refused, match="No task"):
        engine.episodes.switch_task(name)


def test_without_an_active_task_there_is_nothing_to_finish(engine):
    with pytest.raises(Refused, match="No task is active"):
        engine.episodes.finish_task()


def test_a_task_needs_a_description(engine):
    with pytest.raises(Refused, match="description"):
        engine.episodes.start_task("  ")


def test_a_secret_in_a_request_is_not_kept(engine):
    task = engine.episodes.start_task("deploy with token ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a")

    assert "ghp_" not in task.description


def test_at_the_end_of_a_session_a_task_whose_check_passed_is_completed(engine, doings):
    doings.user("fix the login loop").edit("login.py").run("pytest -q", "3 passed in 0.2s")
    watch(engine, doings)

    task = engine.episodes.close_task("s1")

    assert (task.status, task.outcome) == (TaskStatus.COMPLETED, "Changed login.py; pytest passed last")


def test_at_the_end_of_a_session_a_task_whose_check_failed_waits(engine, doings):
    doings.user("fix the login loop").edit("login.py").run("pytest -q", "1 failed", failed=True)
    watch(engine, doings)

    task = engine.episodes.close_task("s1")

    assert (task.status, task.outcome) == (TaskStatus.PAUSED, "Changed login.py; pytest failed last")


def test_an_outcome_that_begins_with_a_command_spells_it_as_it_is_run(engine, doings):
    doings.user("run the tests").run("npm test", "1 failed", failed=True)
    watch(engine, doings)

    assert engine.episodes.close_task("s1").outcome == "npm test failed last"


def test_a_change_after_the_commit_is_not_committed(engine, doings):
    doings.user("fix the login loop").edit("a.py").run("git commit -m x").edit("b.py")
    watch(engine, doings)

    assert outcome_of(engine.episodes._executions_of(engine.episodes.tasks()[0]))[0] is TaskStatus.PAUSED


def test_where_words_say_nothing_the_intent_is_told_by_what_was_done(engine, doings):
    watch(engine, doings.user("the usual thing again today").edit("a.py"))

    assert engine.episodes.close_task("s1").intent is TaskIntent.WRITING


def test_the_task_of_a_session_that_is_over_is_settled(engine, doings):
    doings.user("fix the login loop").edit("login.py").run("pytest -q", "3 passed in 0.2s")

    for _ in engine.episodes.watch("s1", doings.events, over=True):
        pass

    assert engine.episodes.tasks()[0].status is TaskStatus.COMPLETED
