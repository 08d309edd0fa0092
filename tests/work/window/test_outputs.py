"""Long outputs made short, and what must not be lost on the way."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import tokens
from recollect.work.window.outputs import cut, output_id, shorten
from recollect.work.window.pruned_texts import store_outputs, stored_text
from recollect.work.window.rewrite import rewritten

LOG = [f"step {number}: compiled" for number in range(2_000)]


def test_an_output_within_its_budget_is_left_alone():
    assert shorten("Bash", "2 passed", 100) == ("2 passed", False)


def test_a_long_output_keeps_its_beginning_its_end_and_what_went_wrong():
    lines = [*LOG[:900], "cart.py:12: TypeError: cannot add None", *LOG[900:], "1 failed, 7 passed"]

    short, keep = shorten("Bash", "\n".join(lines), 400)

    assert keep
    assert tokens.count(short) <= 400
    assert short.startswith("step 0")
    assert "cart.py:12: TypeError: cannot add None" in short
    assert short.endswith("1 failed, 7 passed")


def test_it_says_how_to_have_all_of_it_again():
    text = "\n".join(LOG)

    short, _ = shorten("Bash", text, 200)

    assert f"recollect history output {output_id(text)}" in short


def test_of_a_file_the_beginning_counts_most_and_of_a_run_the_end():
    text = "\n".join(LOG)

    read, ran = (shorten(tool, text, 400).text for tool in ("Read", "Bash"))

    assert read.index("[shortened") > ran.index("[shortened")
    assert "step 1980:" in ran


def test_one_endless_line_is_cut_too():
    short, keep = shorten("Bash", "x" * 100_000, 200)

    assert keep
    assert tokens.count(short) <= 200


@given(st.text(max_size=4_000), st.sampled_from(["Bash", "Read", "Grep", "mine"]), st.integers(60, 300))
def test_what_comes_out_is_never_over_the_budget(text, tool, budget):
    assert tokens.count(shorten(tool, text * 3, budget).text) <= budget


@pytest.mark.parametrize("budget", [1, 5, 20])
def test_a_budget_too_small_for_anything_is_kept_as_well(budget):
    assert tokens.count(cut("\n".join(LOG), budget, "[shortened]")) <= budget


BASH = {"stdout": "\n".join(LOG), "stderr": "", "interrupted": False, "isImage": False}


def test_claude_code_is_given_the_same_shape_with_less_in_it():
    answer, whole = rewritten("claude-code", "Bash", BASH, 400)

    said = answer["hookSpecificOutput"]
    assert said["hookEventName"] == "PostToolUse"
    assert said["updatedToolOutput"].keys() == BASH.keys()
    assert tokens.count(said["updatedToolOutput"]["stdout"]) <= 400
    assert list(whole.values()) == [BASH["stdout"]]


def test_opencode_is_given_the_short_output_alone():
    answer, whole = rewritten("opencode", "bash", {"output": BASH["stdout"], "metadata": BASH}, 400)

    assert answer.keys() == {"output"}
    assert tokens.count(answer["output"]) <= 400
    assert list(whole.values()) == [BASH["stdout"]]


@pytest.mark.parametrize(
    "host, tool, response",
    [
        ("claude-code", "Bash", {"stdout": "ok"}),
        ("claude-code", "Bash", BASH | {"isImage": True}),
        ("claude-code", "Bash", BASH | {"persistedOutputPath": "/tmp/out.txt"}),
        ("claude-code", "Read", {"type": "text", "file": {"content": BASH["stdout"]}}),
        ("claude-code", "Edit", {"filePath": "a.py", "originalFile": BASH["stdout"]}),
        ("claude-code", "mcp__web__shot", [{"type": "image", "data": "iVBORw0KGgo" * 900}]),
        ("codex", "Bash", BASH),
        ("codex", "mcp__shop__orders", BASH),
        ("vscode", "Bash", BASH),
        ("cursor", "Bash", BASH),
        ("gemini", "run_shell_command", {"llmContent": BASH["stdout"]}),
    ],
)
def test_what_is_short_or_cannot_be_replaced_is_left_alone(host, tool, response):
    assert rewritten(host, tool, response, 400) is None


def test_a_shortened_output_is_kept_whole_and_redacted(engine, clock):
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    text = "\n".join([*LOG, f"token: {secret}"])
    _, whole = rewritten("claude-code", "Bash", {"stdout": text}, 400)

    store_outputs(engine, "s1", "Bash", whole, clock())

    kept = engine.store.pruned.get(engine.settings.user, output_id(text))
    assert kept.text.startswith("\n".join(LOG))
    assert secret not in kept.text


def test_what_was_kept_too_long_goes_when_more_comes(engine, clock):
    store_outputs(engine, "s1", "Bash", {"0abc123xyz789": "old"}, clock())
    days = engine.settings.pruned_days + 1

    store_outputs(engine, "s1", "Bash", {"1abc123xyz780": "new"}, clock() + timedelta(days=days))

    assert stored_text(engine, "0abc123xyz789") is None
    assert stored_text(engine, "1abc123xyz780").text == "new"
