"""When a turn is worth a look, and why."""

import pytest

from recollect.work.agent.triggers import Baseline, baseline, reasons
from recollect.work.agent.turn import current_turn


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    "messages, expected",
    [
        ([user("Add retries to the payment webhook handler")], ("a new request",)),
        ([user("thanks, looks good")], ()),
        ([user("ok")], ()),
        ([user("yes please continue")], ()),
        ([user("")], ()),
        ([], ()),
        ([user("How should we design the invoice schema?")], ("a new request", "a discussion of design")),
        ([user("why"), assistant("Traceback (most recent call last): KeyError")], ("an error",)),
        ([user("go"), assistant("see src/app/main.go")], ("another type of file",)),
        ([user("go"), assistant("x " * 1500)], ("much new content",)),
    ],
)
def test_a_first_turn_is_looked_into_for_these_reasons(messages, expected):
    assert reasons(current_turn(messages), Baseline()) == expected


def test_the_same_turn_again_gives_no_reason():
    context = current_turn([user("Add retries to the payment webhook handler in src/pay.py")])

    assert reasons(context, baseline(context)) == ()


def test_an_error_counts_when_it_appears_and_not_while_it_stays():
    first = current_turn([user("run it"), assistant("ValueError: bad input, the run failed")])
    second = current_turn([user("run it"), assistant("ValueError: bad input, the run failed"), user("hm")])

    assert reasons(second, baseline(first)) == ()


def test_tools_and_our_own_text_are_not_the_request():
    context = current_turn(
        [
            user("Fix the login test"),
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "1", "input": {"command": "pytest"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "2 failed"}]},
            user("recollect-memory: earlier sessions learnt that…"),
        ]
    )

    assert context.request == "Fix the login test"
    assert "2 failed" in context.answered and "2 failed" not in context.text


@pytest.mark.parametrize(
    "nonsense", [None, 7, "text", {"role": "user"}, {"content": [3]}, {"role": 1, "content": 2}]
)
def test_what_is_no_message_is_passed_over(nonsense):
    assert current_turn([nonsense, user("Fix the login test")]).request == "Fix the login test"


def test_a_long_text_is_cut_between_words():
    context = current_turn([user("word " * 399 + "ghp_" + "q7Rk2mX9" * 4 + "aBcd and more")])

    assert context.request.endswith("word") and "ghp_" not in context.text
