from datetime import UTC, datetime, timedelta, timezone

import pytest
from doings import BEGIN, Doings, watch

from recollect.errors import Refused
from recollect.model import TaskStatus
from recollect.work.episodes.learnings import purpose_of

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def edited_together(engine, times, apart=timedelta(seconds=30)):
    """cart.py and price.py, so many times, in a task of their own each."""
    for number in range(times):
        session = f"s{number}"
        engine.episodes.start_task(f"task number {number}", session=session)
        first = Doings(BEGIN + timedelta(hours=number)).edit("cart.py")
        second = Doings(BEGIN + timedelta(hours=number) + apart).edit("price.py")
        watch(engine, first, session)
        engine.episodes._followed.clear()
        second.events = [
            each.__class__(**{**_fields(each), "call": f"{each.call}b"}) for each in second.events
        ]
        watch(engine, second, session)


def _fields(event):
    return {name: getattr(event, name) for name in event.__dataclass_fields__}


def test_a_file_s_history_is_newest_first_with_its_totals(engine, doings):
    watch(engine, doings.read("src/cart.py").edit("src/cart.py").edit("src/price.py").edit("src/cart.py"))

    found = engine.episodes.file("src/cart.py", limit=2)

    assert [str(each.operation) for each in found.touches] == ["edit", "edit"]
    assert found.touches[0].at > found.touches[1].at
    assert (found.total.reads, found.total.edits) == (1, 2)


def test_a_file_is_found_by_a_name_that_only_one_ends_in(engine, doings):
    watch(engine, doings.edit("src/shop/cart.py").edit("src/shop/price.py").edit("tests/price.py"))

    assert engine.episodes.file("cart.py").path == "src/shop/cart.py"
    assert engine.episodes.file("price.py").touches == ()


@pytest.mark.parametrize("path", ["", "%", "_", "nothing.py", "a'b", "\\", "…/x"])
def test_a_path_is_never_a_pattern(engine, doings, path):
    watch(engine, doings.edit("src/cart.py"))

    assert engine.episodes.file(path).total.last_seen is None


def test_tools_are_counted_with_their_success(engine, doings):
    doings.run("pytest", "ok").run("pytest", "1 failed", failed=True).read("a.py")
    watch(engine, doings)

    bash, read = engine.episodes.tools(LONG_AGO)

    assert (bash.tool, bash.total, bash.successes, bash.rate, bash.average_ms) == ("Bash", 2, 1, 0.5, 10_000)
    assert (read.tool, read.total) == ("Read", 1)


def test_tools_are_counted_since_a_moment_only(engine, doings):
    watch(engine, doings.run("make").run("make"))

    assert engine.episodes.tools(BEGIN + timedelta(seconds=15))[0].total == 1
    assert engine.episodes.tools(BEGIN + timedelta(days=1)) == ()


def test_a_moment_is_the_same_in_every_zone(engine, doings):
    watch(engine, doings.run("make").run("make"))
    elsewhere = (BEGIN + timedelta(seconds=15)).astimezone(timezone(timedelta(hours=9)))

    assert engine.episodes.tools(elsewhere)[0].total == 1


def test_what_comes_later_is_counted_too(engine, doings):
    watch(engine, doings.run("make"))
    before = engine.episodes.tools(LONG_AGO)[0].total
    watch(engine, doings.run("make").run("make"))

    assert (before, engine.episodes.tools(LONG_AGO)[0].total) == (1, 3)


def test_files_edited_three_times_together_are_a_pair(engine):
    edited_together(engine, 3)

    (pair,) = engine.episodes.coedits()

    assert (pair.files, pair.count) == (("cart.py", "price.py"), 3)
    assert engine.episodes.coedits("price.py") == (pair,)
    assert engine.episodes.coedits("other.py") == ()


def test_the_order_of_the_two_does_not_matter(engine):
    edited_together(engine, 3, apart=-timedelta(minutes=4))

    assert engine.episodes.coedits()[0].count == 3


@pytest.mark.parametrize("times, apart", [(2, timedelta(seconds=30)), (3, timedelta(minutes=6))])
def test_less_often_or_further_apart_is_no_pair(engine, times, apart):
    edited_together(engine, times, apart)

    assert engine.episodes.coedits() == ()


def test_what_was_i_doing_names_what_is_open_and_nothing_else(engine, clock):
    engine.episodes.start_task("fix the login loop", session="s1")
    engine.episodes.finish_task()
    engine.episodes.start_task("speed up the cart", session="s1")
    clock.advance(minutes=1)
    engine.episodes.start_task("write the docs", session="s1")

    found = engine.episodes.what_was_i_doing()

    assert [(task.description, task.status) for task in found] == [
        ("write the docs", TaskStatus.ACTIVE),
        ("speed up the cart", TaskStatus.PAUSED),
    ]


def test_tasks_like_this_one_come_with_their_outcome(engine, doings):
    engine.episodes.start_task("fix rounding of prices in the cart", session="s1")
    watch(engine, doings.edit("cart.py"))
    engine.episodes.finish_task(outcome="used Decimal")
    engine.episodes.start_task("write the docs", session="s2")

    (found,) = engine.episodes.similar_tasks("the cart rounds prices wrongly")

    assert (found.task.outcome, found.task.files, dict(found.task.tools)) == (
        "used Decimal",
        ("cart.py",),
        {"Edit": 1},
    )


def test_tasks_are_found_by_words_when_there_is_no_embedder(engine, embedder):
    engine.episodes.start_task("fix rounding of prices", session="s1")
    embedder.broken = True

    assert len(engine.episodes.similar_tasks("price rounding")) == 1
    assert engine.episodes.similar_tasks("deploy to the moon") == ()
    assert engine.episodes.similar_tasks("") == ()


def test_tasks_are_found_by_meaning_once_they_have_vectors(engine, embedder):
    task = engine.episodes.start_task("fix rounding of prices", session="s1")
    engine.episodes.embed_tasks()
    numbers, vectors = engine.store.episodes.task_vectors(engine.episodes.owner, embedder.model)

    assert numbers == [task.number]
    assert len(vectors) == 4 * embedder.dim
    assert engine.episodes.similar_tasks("rounding of prices")[0].score > 0.8


def test_the_last_work_on_a_topic_is_in_files_and_tasks(engine, doings):
    engine.episodes.start_task("mend the auth flow", session="s1")
    watch(engine, doings.edit("src/auth/token.py").edit("src/cart.py"))

    found = engine.episodes.last("auth")

    assert [task.description for task in found.tasks] == ["mend the auth flow"]
    assert [touch.path for touch in found.touches] == ["src/auth/token.py"]


def test_a_snapshot_holds_what_was_in_context_and_what_left(engine):
    number = engine.episodes.snapshot(
        "s1",
        [{"id": "1", "type": "message", "tokens": 9, "relevance": 0.5}],
        9,
        pruned=[{"id": "2"}],
        reason="pruning",
    )

    found = engine.episodes.sql("SELECT id, total_tokens, reason, context_items FROM context_snapshots")

    assert found.rows[0][:3] == (number, 9, "pruning")
    assert '"relevance":0.5' in found.rows[0][3]


# growing old


def test_old_rows_are_summed_up_before_they_go(engine, doings, clock):
    watch(engine, doings.run("make").run("make", "1 failed", failed=True).edit("cart.py"))
    clock.advance(days=91)

    gone = engine.episodes.roll_up_if_due()

    assert gone == 4
    assert engine.store.episodes.size() == 0
    assert [(each.tool, each.total, each.successes) for each in engine.episodes.tools(LONG_AGO)] == [
        ("Bash", 2, 1),
        ("Edit", 1, 1),
    ]
    total = engine.episodes.file("cart.py").total
    assert (total.edits, total.last_seen) == (1, doings.events[4].at)


def test_what_was_summed_up_is_not_counted_again_when_it_is_told_again(engine, doings, clock):
    watch(engine, doings.run("make"))
    clock.advance(days=91)
    engine.episodes.roll_up_if_due()
    engine.episodes._followed.clear()

    watch(engine, doings)

    assert engine.episodes.tools(LONG_AGO)[0].total == 1


def test_rows_are_kept_for_good_where_the_setting_says_so(engine, doings, clock):
    from dataclasses import replace

    watch(engine, doings.run("make"))
    clock.advance(days=1000)
    settings = replace(engine.settings, episode_days=0)
    engine.episodes.context = replace(engine.context, settings=settings)

    assert engine.episodes.roll_up_if_due() == 0


def test_they_are_looked_at_once_a_day(engine, doings, clock):
    engine.episodes.roll_up_if_due()
    clock.advance(hours=23)
    watch(engine, Doings(clock() - timedelta(days=89)).run("make"))
    clock.advance(minutes=30)

    assert engine.episodes.roll_up_if_due() == 0


def test_of_too_many_rows_the_oldest_are_summed_up(engine, doings, monkeypatch):
    monkeypatch.setattr("recollect.work.episodes.episodes.MOST_ROWS", 3)
    watch(engine, doings.run("make one").run("make two").run("make three").run("make four").run("make five"))

    gone = engine.episodes.roll_up_if_due()

    assert gone == 2
    assert engine.episodes.tools(LONG_AGO)[0].total == 5


def test_of_too_many_files_the_oldest_are_summed_up_where_no_tool_has_run(engine, clock, monkeypatch):
    monkeypatch.setattr("recollect.work.episodes.episodes.MOST_ROWS", 3)
    for number in range(5):
        clock.advance(minutes=1)
        engine.episodes.touch(f"{number}.py")

    gone = engine.episodes.roll_up_if_due()

    assert gone == 2
    assert engine.episodes.file("0.py").total.reads == 1


def test_a_question_after_rows_have_gone_does_not_count_them(engine, doings, clock):
    watch(engine, doings.run("make"))
    before = engine.episodes.sql("SELECT count(*) FROM tool_executions").rows
    clock.advance(days=91)
    engine.episodes.roll_up_if_due()

    assert (before, engine.episodes.sql("SELECT count(*) FROM tool_executions").rows) == (((1,),), ((0,),))


def test_a_forgotten_project_leaves_no_episodes(engine, doings, owner):
    watch(engine, doings.user("fix the login loop please").run("make").edit("cart.py"))
    engine.episodes.refresh()

    engine.store.clear(owner.user_id, owner.project_id, engine.episodes.clock())

    assert engine.store.episodes.size() == 0
    assert engine.episodes.tasks() == ()
    assert engine.episodes.patterns() == ()
    assert engine.episodes.tools(LONG_AGO) == ()


# exporting


def test_the_tables_are_exported_to_parquet(engine, doings, tmp_path):
    import duckdb

    watch(engine, doings.user("fix the login loop please").run("make").edit("cart.py"))

    rows = engine.episodes.export(tmp_path / "out")

    assert rows["tool_executions"] == 2
    with duckdb.connect() as db:
        path = tmp_path / "out" / "tool_executions.parquet"
        assert db.execute(f"SELECT tool_name, success FROM '{path}' ORDER BY id").fetchall() == [
            ("Bash", True),
            ("Edit", True),
        ]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == sorted(
        f"{name}.parquet" for name in rows
    )


def test_an_export_replaces_nothing_unless_told_to(engine, tmp_path):
    engine.episodes.export(tmp_path)

    with pytest.raises(Refused, match="already"):
        engine.episodes.export(tmp_path)
    engine.episodes.export(tmp_path, force=True)


def test_an_export_into_a_file_is_refused(engine, tmp_path):
    (tmp_path / "file").write_text("mine")

    with pytest.raises(Refused):
        engine.episodes.export(tmp_path / "file", force=True)


# learnings


@pytest.mark.parametrize(
    "text, purpose",
    [
        ('"""Prices, and how they are rounded.\n\nMore.\n"""\n', "Prices, and how they are rounded."),
        ("#!/bin/sh\n# Deploys the shop to production.\n", "Deploys the shop to production."),
        ("/** Formats an invoice for print. */\nexport", "Formats an invoice for print."),
        ("// Copyright 2026 Somebody\n", ""),
        ("x = 1\n", ""),
        ("", ""),
    ],
)
def test_a_file_says_at_its_beginning_what_it_is_for(text, purpose):
    assert purpose_of(text) == purpose


def test_a_file_that_comes_up_in_three_tasks_has_a_purpose(engine, folder):
    (folder / "cart.py").write_text('"""The cart and its total."""\n')
    for number in range(3):
        engine.episodes.start_task(f"task number {number}", session=f"s{number}")
        watch(engine, Doings().edit("cart.py"), f"s{number}")

    engine.episodes.refresh()

    (learnt,) = engine.episodes.learnings("file_purpose")
    assert learnt.data["says"] == "The cart and its total."
    assert learnt.data["times"] == 3


def test_an_error_that_comes_again_is_counted(engine, doings):
    for number in (1, 2, 3):
        doings.run("make build", f"error: no rule for target {number}", failed=True)
    watch(engine, doings.run("make docs", "error: cannot open shared object", failed=True))

    engine.episodes.refresh()
    engine.episodes.refresh()

    (learnt,) = engine.episodes.learnings("common_error")
    assert learnt.data["times"] == 3


def test_a_way_of_working_that_comes_again_is_learnt(engine):
    for number in range(3):
        doings = Doings().read("a.py").edit("a.py").run("pytest -q", "3 passed")
        watch(engine, doings, f"s{number}")

    engine.episodes.refresh()

    (learnt,) = engine.episodes.learnings("workflow")
    assert learnt.data["steps"] == ["look", "edit", "pytest"]
