"""Which warnings a context calls up, and which patterns are not let near it."""

import logging
import re
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect.model as m
from recollect.memory.search import triggers

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def warning(*patterns, kind="negative", **fields):
    return m.Memory(
        id=m.new_id(),
        user_id="ada",
        project_id="shop",
        scope=m.Scope.PROJECT,
        kind=kind,
        content="Never do that.",
        summary="Never do that.",
        fingerprint=m.fingerprint("Never do that."),
        created_at=NOW,
        updated_at=NOW,
        valid_from=NOW,
        provenance=(m.Provenance(m.Source.USER_STATED, NOW),),
        triggers=patterns,
        **fields,
    )


def fires(pattern, context):
    return bool(triggers.matching([warning(pattern)], context))


@pytest.mark.parametrize(
    "pattern, context",
    [
        ("println!", 'println!("x = {}", x);'),
        ("print!", "    print!(x)"),
        ("rm -rf", "sudo RM  -rf\n/tmp"),
        (".env", "git add config/.env"),
        (".env", "cat .env.local"),
        (".unwrap()", "let x = row.unwrap();"),
        (":latest", "image: nginx:latest"),
        ("git push --force", "then git push --force origin"),
        ("déjà", "c'est du DÉJÀ vu"),
        ("/git push .*--force(?!-with-lease)/", "git push origin main --force"),
        (r"/\bDROP\s+TABLE\b/", "run: drop   table users"),
        ("/^deploy/", "one\ndeploy it"),
    ],
)
def test_a_trigger_fires_where_it_stands_as_a_word(pattern, context):
    assert fires(pattern, context)


@pytest.mark.parametrize(
    "pattern, context",
    [
        ("print!", 'println!("x")'),
        ("print!", "eprint!(x)"),
        ("rm -rf", "farm -rfx"),
        ("rm -rf", "rm -r"),
        (".env", "the .environment"),
        ("deploy", "redeployed"),
        ("/git push .*--force(?!-with-lease)/", "git push --force-with-lease"),
        ("/a.b/", "a\nb"),
        ("x", ""),
        ("x", "   "),
        ("", "anything"),
    ],
)
def test_it_does_not_fire_inside_another_word(pattern, context):
    assert not fires(pattern, context)


def test_only_kinds_that_warn_come_up(store):
    quiet, loud, steps = (warning("deploy", kind=kind) for kind in ("fact", "negative", "procedure"))

    found = triggers.matching([quiet, loud, steps], "time to deploy")

    assert [memory for memory, _ in found] == [loud, steps]


def test_the_trigger_that_fired_is_told():
    memory = warning("dbg!", "println!")

    assert triggers.matching([memory], "println!()") == [(memory, "println!")]


def test_a_procedure_fires_by_its_own_trigger():
    memory = warning(kind="procedure", procedure=m.Procedure("Deploy", "deploy to production", ("make",)))

    assert triggers.matching([memory], "Please deploy to Production")[0][1] == "deploy to production"


@pytest.mark.parametrize(
    "pattern, why",
    [
        ("/(a+)+b/", "repeats"),
        ("/(a|aa)*b/", "repeats"),
        ("/((a?){20})b/", "repeats"),
        ("/(x+x+)+y/", "repeats"),
        ("/([a-z]+)*$/", "repeats"),
        ("/.*.*.*=/", "too many ways"),
        ("/" + "a?" * 40 + "a" * 40 + "/", "too many ways"),
        ("/" + "(a|b)" * 30 + "c/", "too many ways"),
        (r"/(a)\1/", "back"),
        ("/(?P<x>a)(?P=x)/", "back"),
        ("/(unclosed/", "not a valid regular expression"),
        ("/" + "a" * 300 + "/", "300|302"),
        ("   ", "empty"),
    ],
)
def test_a_dangerous_or_broken_expression_is_named_and_passed_over(pattern, why):
    assert re.search(why, triggers.problem_with(pattern))
    assert not fires(pattern, "a" * 5000)


@pytest.mark.parametrize(
    "pattern",
    ["/(ab)+c/", "/(foo|bar|baz)/", r"/\d{1,3}\.\d{1,3}/", "/[*+?]{2}/", r"/\(\)\+*/", "/(?:x|y)?z/"],
)
def test_a_plain_expression_is_fine(pattern):
    assert triggers.problem_with(pattern) is None


def test_a_bad_pattern_is_reported_once(caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert not fires("/(b+)+reported once/", "bbbb")

    assert len(caplog.records) == 1


@given(st.text("ab()|*+?{}[]^$.\\1,/ ", max_size=30), st.text("ab\n ", max_size=200))
def test_no_pattern_raises_or_hangs(pattern, context):
    begin = time.thread_time()

    fires(pattern, context)
    fires(f"/{pattern}/", context * 20)

    assert time.thread_time() - begin < 5  # what hangs takes for ever


def test_the_worst_that_is_allowed_ends_soon():
    begin = time.thread_time()

    triggers.matching([warning(f"/a*a*b?{number}/") for number in range(50)], "a" * 20_000)

    assert time.thread_time() - begin < 5  # all of them would take minutes


def test_of_a_long_context_the_end_counts():
    context = "early bird " + "x " * triggers.LONGEST_CONTEXT + "late bird"

    assert fires("late bird", context)
    assert not fires("early bird", context)


def test_the_store_finds_those_with_triggers_in_the_view(store):
    mine, plain, other = warning("rm -rf"), warning(), replace(warning("rm -rf"), project_id="other")
    gone = replace(warning("rm -rf"), state=m.State.ARCHIVED)
    loose = warning("rm -rf", kind="fact")
    steps = warning(kind="procedure", procedure=m.Procedure("Deploy", "deploy"))
    with store.transaction():
        for each in (mine, plain, other, gone, loose, steps):
            store.put(each)

    found = store.with_triggers(triggers.warning_view(m.View("ada", "shop")), 10)

    assert [each.id for each in found] == [steps.id, mine.id]
    assert len(store.with_triggers(m.View("ada", "shop"), 1)) == 1


def test_a_view_of_some_kinds_stays_one_of_those():
    view = m.View("ada", kinds=frozenset({"fact", "negative"}))

    assert triggers.warning_view(view).kinds == {"negative"}
