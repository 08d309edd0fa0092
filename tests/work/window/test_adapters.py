"""Messages of both APIs: in and out again, from one to the other, and made to fit."""

import copy

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making import NOON, call, item, result, windows

from apis import is_accepted
from recollect import fit
from recollect.errors import RecollectError, Refused
from recollect.work.window.adapters import items_of, messages_of
from recollect.work.window.forms import form_of
from recollect.work.window.item import ItemType, Text
from recollect.work.window.pairs import repaired
from recollect.work.window.prune import STUB, prune
from recollect.work.window.rules import problems

PNG = "iVBORw0KGgo="
MARK = {"type": "ephemeral"}


def used(name, **given):
    return {"type": "tool_use", "id": name, "name": "Bash", "input": given or {"command": "make"}}


def answered(name, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


ANTHROPIC = [
    {"role": "user", "content": "Why does the till print twice?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
            {"type": "text", "text": "Looking."},
            used("toolu_1", command="grep -rn print till"),
            used("toolu_2", path="till.py"),
        ],
    },
    {
        "role": "user",
        "content": [
            answered("toolu_1", "till.py:12: print(receipt)"),
            answered("toolu_2", [{"type": "text", "text": "no such file"}], is_error=True),
            {"type": "text", "text": "Go on.", "cache_control": MARK},
        ],
    },
    {"role": "assistant", "content": "It is printed in two places."},
    {
        "role": "user",
        "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/till.png"}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "notes"}},
            {"type": "text", "text": "And this?"},
        ],
    },
]
OPENAI = [
    {"role": "developer", "content": "You mend tills."},
    {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
    {"role": "user", "content": "Why does the till print twice?", "name": "ada"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "sh", "arguments": '{"cmd":"make"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "sh", "arguments": "not json"}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "till.py:12: print(receipt)"},
    {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "no such file"}]},
    {"role": "assistant", "content": "It is printed in two places."},
    {"role": "assistant", "content": [{"type": "text", "text": "Twice."}], "refusal": None},
    {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
            {"type": "text", "text": "And this?"},
        ],
    },
]
LISTS = {"anthropic": ANTHROPIC, "openai": OPENAI}


@pytest.mark.parametrize("form", LISTS)
def test_the_lists_of_these_tests_are_accepted(form):
    assert is_accepted(LISTS[form], form)


@pytest.mark.parametrize("form", LISTS)
def test_messages_come_out_as_they_went_in(form):
    given = copy.deepcopy(LISTS[form])

    assert messages_of(items_of(given, form, NOON), form) == LISTS[form]
    assert given == LISTS[form]


@pytest.mark.parametrize("form", LISTS)
def test_the_api_of_a_list_is_seen(form):
    assert form_of(LISTS[form]) == form


@pytest.mark.parametrize("source, target", [("anthropic", "openai"), ("openai", "anthropic")])
def test_messages_of_one_api_can_be_sent_to_the_other(source, target):
    items = items_of(LISTS[source], source, NOON)

    sent = messages_of(items, target)

    assert is_accepted(sent, target)
    assert "printed in two places" in str(sent)
    assert PNG in str(sent)
    assert "no such file" in str(sent)


def test_hidden_reasoning_is_never_told_to_another_api():
    assert "Let me look" not in str(messages_of(items_of(ANTHROPIC, "anthropic", NOON), "openai"))


def test_objects_of_the_sdks_may_stand_in_a_list():
    from anthropic.types import Message
    from openai.types.chat import ChatCompletionMessage

    block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}, "caller": {"type": "direct"}}
    message = Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "x",
            "content": [block],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    said = ChatCompletionMessage(role="assistant", content="Done.")
    user = {"role": "user", "content": "Go."}

    mixed = [
        user,
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": [answered("toolu_1")]},
    ]

    assert is_accepted(fit(mixed, 1_000), "anthropic")
    assert is_accepted(fit([user, said], 1_000, form="openai"), "openai")


def test_only_four_markers_of_the_cache_are_sent_the_newest():
    marked = [
        {"role": "user", "content": [{"type": "text", "text": f"{number}", "cache_control": MARK}]}
        for number in range(6)
    ]

    sent = messages_of(items_of(marked, "anthropic", NOON), "anthropic")

    assert ["cache_control" in message["content"][0] for message in sent] == [False] * 2 + [True] * 4


@pytest.mark.parametrize("nothing", ["", " \n", [], [{"type": "text", "text": ""}]])
def test_what_says_nothing_is_not_told_to_anthropics_api(nothing):
    messages = [{"role": "user", "content": "Go on."}, {"role": "user", "content": nothing}]

    assert fit(messages, 1000) == messages[:1]


def test_results_without_calls_and_calls_without_results_are_mended():
    items = [
        item("asked"),
        result("lost", "nobody"),
        call("acts", "c1", "c2"),
        result("r1", "c1"),
        item("more"),
    ]

    for form in LISTS:
        assert is_accepted(messages_of(repaired(items), form), form)


def test_results_that_came_late_are_sent_right_behind_their_calls():
    items = [item("asked"), call("acts", "c1"), item("code", ItemType.CODE), result("r1", "c1")]

    for form in LISTS:
        assert is_accepted(messages_of(repaired(items), form), form)


@pytest.mark.parametrize("name", ["functions.Bash:0", "x" * 200, "ünïcode"])
def test_names_that_an_api_does_not_allow_are_changed_alike_in_call_and_result(name):
    items = [item("asked"), call("acts", name), result("r", name)]

    for form in LISTS:
        assert is_accepted(messages_of(items, form), form)


@given(windows(), st.sampled_from([600, 1_500, 6_000]), st.sampled_from(list(LISTS)))
def test_a_pruned_window_is_accepted_by_both_apis(items, limit, form):
    opening = item("opening", sticky=True)
    assume(sum(each.tokens for each in [opening, *items] if each.sticky) <= limit - STUB)

    pruned = prune([opening, *items], limit, NOON, "t1")

    assert is_accepted(messages_of(repaired(pruned.items), form), form)


@given(windows(), st.sampled_from(list(LISTS)))
def test_any_list_comes_out_as_it_went_in(items, form):
    sent = messages_of([item("opening"), *repaired(items)], form)

    assert messages_of(items_of(sent, form, NOON), form) == sent


def long_list(form):
    """Some 20,000 tokens."""
    texts = [f"{number}: " + "the till prints twice, the cart rounds down. " * 40 for number in range(50)]
    items = [item("asked", parts=[Text("Mend the till.")])]
    for number, text in enumerate(texts):
        items += [call(f"a{number}", f"call_{number}"), result(f"r{number}", f"call_{number}", text)]
    return messages_of([*items, item("last", parts=[Text("Now say what you did.")])], form)


@pytest.mark.parametrize("form", LISTS)
def test_a_list_that_fits_is_left_as_it_is(form):
    assert fit(LISTS[form], 8_000) == LISTS[form]


@pytest.mark.parametrize("form", LISTS)
def test_a_long_list_is_made_to_fit_and_stays_valid(form):
    shorter = fit(long_list(form), 8_000)

    assert is_accepted(shorter, form)
    assert sum(each.tokens for each in items_of(shorter, form, NOON)) <= 8_000
    assert "Now say what you did." in str(shorter[-1])
    assert "[left out: " in str(shorter)


def test_old_reasoning_goes_and_that_of_the_running_turn_stays():
    def turn(number):
        thought = {"type": "thinking", "thinking": f"thought {number} " * 200, "signature": "c2ln"}
        return [
            {"role": "user", "content": f"Question {number}"},
            {"role": "assistant", "content": [thought, used(f"toolu_{number}")]},
            {"role": "user", "content": [answered(f"toolu_{number}")]},
        ]

    shorter = fit([*turn(1), *turn(2)], 800)

    assert "thought 1" not in str(shorter)
    assert "thought 2" in str(shorter)


@pytest.mark.parametrize("bad", [["text"], [{"content": "x"}], [{"role": "king", "content": "x"}]])
def test_what_is_no_message_is_refused_by_its_place(bad):
    with pytest.raises(Refused):
        fit(bad, 1_000)


def test_an_api_that_is_not_known_is_refused():
    with pytest.raises(RecollectError, match="gemini"):
        fit(ANTHROPIC, 1_000, form="gemini")


@pytest.mark.parametrize(
    "messages, problem",
    [
        ([], "empty"),
        ([{"role": "assistant", "content": "hi"}], "first message"),
        ([{"role": "user", "content": " "}], "empty text"),
        ([{"role": "user", "content": []}], "it is empty"),
        ([ANTHROPIC[0], {"role": "assistant", "content": [used("t1")]}], "without a result"),
        ([{"role": "user", "content": [answered("t1")]}], "without its tool_use"),
        (
            [
                ANTHROPIC[0],
                {"role": "assistant", "content": [used("t1")]},
                {"role": "user", "content": [{"type": "text", "text": "x"}, answered("t1")]},
            ],
            "before a tool_result",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": MARK}] * 5}],
            "5 cache",
        ),
        ([ANTHROPIC[0], {"role": "assistant", "content": "So: "}], "white space"),
    ],
)
def test_what_anthropics_api_would_refuse_is_told(messages, problem):
    assert problem in " ".join(problems(messages, "anthropic"))


@pytest.mark.parametrize(
    "messages, problem",
    [
        ([{"role": "tool", "tool_call_id": "c", "content": "x"}], "without its call"),
        ([OPENAI[3], OPENAI[4], OPENAI[6]], "without a tool message"),
        ([OPENAI[3]], "without a tool message"),
        ([{"role": "assistant", "content": None}], "it is empty"),
        ([{"role": "assistant", "content": "x", "tool_calls": []}], "empty list"),
    ],
)
def test_what_openais_api_would_refuse_is_told(messages, problem):
    assert problem in " ".join(problems(messages, "openai"))
