import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from recollect.engine import Engine
from recollect.memory.search import channels
from recollect.text import tokens

KEYS_OF_A_BRIEFING = {"text", "host", "tokens", "by_tier", "shown", "conflicts", "budget", "notes"}


@pytest.fixture
def shop(remember):
    """A few memories of a shop, by a short name."""
    return {
        "redis": remember("Tests need a running Redis", "--kind", "gotcha", "--file", "tests/conftest.py"),
        "cache": remember("The cache lives in Redis 7", "--file", "src/cache.py"),
        "total": remember("The invoice total is rounded half up", "--kind", "decision"),
    }


def test_a_command_in_its_own_process_waits_for_its_search(run, shop, monkeypatch):
    monkeypatch.setattr(channels, "DEADLINES_MS", dict.fromkeys(channels.DEADLINES_MS, 0.0))

    found = run("search", "redis", "--json").json

    assert {shop["redis"], shop["cache"]} <= {each["memory"]["id"] for each in found["results"]}
    assert not found["partial"]


def test_recall_prints_the_text_as_an_agent_gets_it_and_nothing_else(run, shop):
    told = run("recall", "fix", "the redis tests", "--host", "claude-code")

    with Engine.open() as engine:
        text = engine.recall("fix the redis tests", host="claude-code").text
    assert told.out == text + "\n"
    assert told.out.startswith("<project_memory")
    assert "! Tests need a running Redis" in told.out
    assert told.err == ""


@pytest.mark.parametrize("how", [["fix the redis tests"], ["--task", "fix the redis tests"], ["-"]])
def test_the_task_is_given_as_words_as_an_option_or_on_standard_input(run, shop, how):
    told = run("recall", *how, "--json", stdin="fix the redis tests").json

    assert set(told) == KEYS_OF_A_BRIEFING
    assert set(told["shown"]) >= {shop["redis"], shop["total"]}
    assert sum(told["by_tier"].values()) == told["tokens"] <= told["budget"]["total"] == 5000


def test_recall_for_programs_is_a_document_of_its_own(run, shop):
    told = run("recall", "redis", "--host", "json").json

    assert told["source"] == "recollect-memory"
    assert [each["kind"] for each in told["always"]] == ["decision"]
    assert {each["kind"] for each in told["task"]} == {"gotcha", "fact"}


@pytest.mark.parametrize(
    "how",
    [
        ["--files", "src/a.py", "src/cache.py"],
        ["--file", "src/a.py", "--file", "src/cache.py"],
        ["-f", "src/cache.py"],
        ["--files", "src/a.py", "--files", "src/cache.py"],
    ],
)
def test_files_at_hand_are_named_in_any_way_a_shell_hands_them_over(run, shop, how):
    told = run("recall", "--task", "redis", *how, "--role", "coder", "--json").json

    assert told["shown"] == [shop["total"], shop["cache"]]


def test_files_at_hand_do_without_a_task(run, shop):
    told = run("recall", "--files", "src/cache.py", "--json").json

    assert shop["cache"] in told["shown"]


def test_names_end_with_the_next_option_or_two_dashes(run, shop):
    after_dashes = run("recall", "--files", "src/cache.py", "--role", "coder", "--", "redis", "--json")
    given = run("recall", "--files", "src/cache.py", "--role", "coder", "--task", "redis --json")

    assert after_dashes.out == given.out != ""


def test_recall_keeps_to_what_remains_and_to_the_budget(run, shop):
    remaining = run("recall", "redis", "--remaining", "2000", "--json").json
    budget = run("recall", "redis", "--budget", "60", "--json").json

    assert (remaining["budget"]["total"], budget["budget"]["total"]) == (160, 60)
    assert remaining["tokens"] <= 160
    assert budget["tokens"] <= 60


def test_a_session_sees_its_own_memories_too(run, remember):
    name = remember("Redis is on port 7000 today", "--scope", "session", "--session", "s1")

    assert name in run("recall", "redis", "--session", "s1", "--json").json["shown"]
    assert run("recall", "redis", "--json").json["shown"] == []


@pytest.mark.parametrize(
    "options, told",
    [
        ([], "No memories yet"),
        (["--remaining", "0"], "No budget for a briefing"),
        (["--budget", "3"], "none fits into 3 tokens"),
    ],
)
def test_nothing_to_say_is_said_beside_the_answer(run, remember, options, told):
    if options:
        remember("Use tabs", "--kind", "convention")

    answer = run("recall", "anything", *options)

    assert (answer.code, answer.out) == (0, "")
    assert told in answer.err


@pytest.mark.parametrize("counts", [["--json"], ["--budget", "500"]])
def test_tokens_are_counted_exactly_only_where_the_number_matters(run, remember, monkeypatch, counts):
    remember("Start Redis before the tests", "--kind", "convention")
    loaded = []
    monkeypatch.setattr(tokens, "_tokenizer", None)
    load = tokens.load
    monkeypatch.setattr(tokens, "load", lambda: (loaded.append(True), load()))

    assert "Redis" in run("recall", "start the tests").out
    assert (loaded, tokens._tokenizer) == ([], None)
    assert "Redis" in run("recall", "start the tests", *counts).out
    assert loaded


def test_a_terminal_is_told_how_much_of_the_budget_it_took(home, shop):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "recall", "redis"], stdout=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    text = os.read(ours, 100_000).decode()
    os.close(ours)

    assert re.search(rb"\d+ of 5,000 tokens, 3 memories\.", done.stderr)
    assert "tokens" not in text


def test_a_briefing_is_utf_8_whatever_the_terminal_speaks(recollect, remember):
    remember("Naïve 😀", "--kind", "convention")

    told = recollect("recall", "--host", "json", PYTHONIOENCODING="ascii")

    assert told.json["always"][0]["text"] == "Naïve 😀"


def test_search_says_in_a_sentence_why_the_first_is_first(run, shop):
    said = run("search", "redis tests", "--no-graph", "--explain").out.splitlines()

    assert said[0].startswith("First because it shares ‘")
    assert re.search(r"‘tests’.*\. Ahead of the second mostly by words \(\+\d\.\d\d\)\.$", said[0])
    assert shop["redis"][-6:] in said[1]


def test_a_sentence_tells_of_meaning_and_of_the_only_hit(run, remember, monkeypatch):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "minilm")
    remember("Tests need a running Redis")

    said = run("search", "why do the tests fail", "--explain").out.splitlines()

    assert re.match(r"The only result: it is closest in meaning \(0\.\d\d\) and shares ‘tests’\.", said[0])


@pytest.mark.parametrize("recipe", ["default", "seed-000", "seed-002", "seed-003"])
def test_the_bars_of_every_recipe_make_up_the_score(run, shop, recipe):
    hit = run("search", "redis tests", "--recipe", recipe, "--json").json["results"][0]
    explained = run("search", "redis tests", "--recipe", recipe, "--explain")

    parts = hit["why"]["parts"].values()
    made = sum(parts)
    if hit["why"]["combined"] == "product":
        made = 1.0
        for part in parts:
            made *= part
    assert made == pytest.approx(hit["score"], abs=1e-4)
    assert explained.out.startswith("First because it ")


def test_files_at_hand_weigh_more(run, shop):
    plain = run("search", "redis", "--json").json["results"]
    weighed = run("search", "redis", "--files", "src/cache.py", "lib/x.py", "--json")
    named_last = run("search", "redis", "--json", "--files", "lib/x.py", "src/cache.py").json["results"]

    assert weighed.code == 0
    assert {hit["memory"]["id"] for hit in plain} == {shop["redis"], shop["cache"]}
    assert named_last[0]["memory"]["id"] == shop["cache"]
    assert named_last[0]["why"]["parts"]["file"] > 0
    assert (
        "about one of the given files" in run("search", "redis", "--explain", "--files", "src/cache.py").out
    )


@pytest.mark.parametrize("then", ["2020-02-01", "2020-02-01T12:00:00Z", "2020-02-01T12:00"])
def test_as_of_answers_from_what_was_valid_then(run, remember, then):
    record = {
        "content": "Deploys run on Tuesdays",
        "created_at": "2020-01-01T00:00:00Z",
        "valid_to": "2021-01-01T00:00:00Z",
        "state": "superseded",
    }
    run("import", "-", stdin=json.dumps(record))
    remember("Deploys run on Fridays now, with the bot")

    was = run("search", "deploys run", "--as-of", then, "--json").json["results"]
    before = run("search", "deploys run", "--as-of", "2019-01-01", "--json").json["results"]

    assert [hit["memory"]["content"] for hit in was] == ["Deploys run on Tuesdays"]
    assert before == []


@pytest.mark.parametrize("ago", ["90min", "30d", "2w", "1mo", "1y", "0d"])
def test_as_of_takes_how_long_ago(run, remember, ago):
    remember("Use tabs")

    found = run("search", "tabs", "--as-of", ago, "--json")

    assert found.code == 0
    assert len(found.json["results"]) == (ago == "0d")


def test_the_graph_can_be_left_out_and_a_session_taken_in(run, remember):
    of_session = remember("Redis is on port 7000 today", "--scope", "session", "--session", "s1")

    assert run("search", "redis", "--no-graph", "--json").json["results"] == []
    found = run("search", "redis", "--session", "s1", "--no-graph", "--json").json["results"]
    assert [hit["memory"]["id"] for hit in found] == [of_session]


def test_similar_finds_what_is_like_it_and_says_by_what(run, shop):
    told = run("similar", shop["redis"], "-n", "1")
    results = run("similar", shop["redis"], "--json").json["results"]

    assert len(told.out.splitlines()) == 1
    assert "Compared by words only" in told.err
    assert results[0]["memory"]["id"] == shop["cache"]
    assert results[0].keys() == {"memory", "score", "why"}


def test_similar_that_finds_nothing_says_so(run, remember):
    told = run("similar", remember("Use tabs"))

    assert (told.code, told.out) == (0, "")
    assert "No similar memories found" in told.err


def test_feedback_raises_and_lowers_confidence(run, shop):
    name = shop["redis"]
    before = run("show", name, "--json").json["memory"]["confidence"]

    helped = run("feedback", name, "--helpful", "--json").json["memory"]["confidence"]
    said = run("feedback", name, "--not-helpful")

    assert helped > before
    assert re.search(r"Lowered the confidence of \w+ to 0\.\d\d", said.out)
    assert run("show", name, "--json").json["memory"]["confidence"] < helped


def test_gaps_lists_what_nothing_was_known_of(run, shop):
    import recollect.model as m

    with Engine.open() as engine:
        gap = m.Gap("g1", engine.project.id, "How are refunds paid?", datetime.now(UTC))
        engine.store.put_gap(gap)

    listed, told = run("gaps"), run("gaps", "-n", "5", "--json").json["gaps"]

    assert listed.out == "now  How are refunds paid?\n"
    assert [each["context"] for each in told] == ["How are refunds paid?"]


def test_a_gap_is_closed_when_a_later_search_finds_the_answer(run, shop):
    question = "quarterly payout schedule promoters"
    run("search", question)
    before = [each["context"] for each in run("gaps", "--json").json["gaps"]]
    run("remember", "The quarterly payout schedule of promoters is the fifth working day")

    unanswered = [each["context"] for each in run("gaps", "--json").json["gaps"]]
    run("search", question)

    assert before == unanswered == [question]
    assert run("gaps", "--json").json["gaps"] == []


def test_no_gaps_is_said_beside_the_answer(run):
    told = run("gaps")

    assert (told.code, told.out) == (0, "")
    assert "No unanswered questions" in told.err


def test_stats_says_how_fast_recall_is(run, shop):
    before = run("stats").out
    run("search", "redis")

    told = run("stats", "--json").json["recall"]

    assert "no searches yet" in before
    assert re.search(r"recall +95 % of the last 1 answers within \d+ ms", run("stats").out)
    assert (told["samples"], told["degraded"]) == (1, False)


def test_stats_says_when_recall_is_slow(run, shop):
    with Engine.open() as engine:
        engine.store.set_setting(None, "latencies", {"latencies": [900.0] * 10, "degraded": True})

    assert "within 900 ms; slow" in run("stats").out


def test_a_briefing_is_written_to_a_file_and_over_an_older_one(run, tmp_path):
    run("remember", "Totals are rounded half up", "--kind", "decision")
    file = tmp_path / "context.md"

    first = run("recall", "--write", str(file))
    run("remember", "Money is kept in cents", "--kind", "decision")
    run("recall", "--write", str(file))

    assert (first.code, first.out) == (0, "")
    assert "Money is kept in cents" in file.read_text() and "rounded half up" in file.read_text()


def test_a_file_that_holds_something_else_is_left_alone(run, tmp_path):
    run("remember", "Totals are rounded half up", "--kind", "decision")
    file = tmp_path / "AGENTS.md"
    file.write_text("Be kind.\n")

    told = run("recall", "--write", str(file))

    assert (told.code, file.read_text()) == (1, "Be kind.\n")
    assert "is not a briefing" in told.err
