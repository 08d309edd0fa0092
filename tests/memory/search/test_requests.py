"""Requests that need nothing a project remembers."""

import pytest

from recollect.memory.search.requests import is_general, is_mechanical


@pytest.mark.parametrize(
    "request_",
    [
        "what is the difference between a list and a tuple",
        "can you explain git rebase --onto",
        "how do I undo my last commit but keep the changes",
        "write a limerick about our linter",
        "regex for a German licence plate please",
        "thanks, that did it!",
    ],
)
def test_general_questions_and_small_talk_need_no_memory(request_):
    assert is_general(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "how do I deploy this to staging",
        "how do we commit here",
        "explain why the nightly job fails",
        "what is the release process",
        "great, now deploy it",
        "hello world test is red",
        "what's the port of the local database again",
    ],
)
def test_questions_about_the_project_are_not_general(request_):
    assert not is_general(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "rename n to numEntries in internal/index/writer.go",
        "rename the variable `foo` to `bar`",
        "put the fields of sizeHint in alphabetical order",
    ],
)
def test_an_edit_that_says_everything_needs_no_memory(request_):
    assert is_mechanical(request_)


@pytest.mark.parametrize(
    "request_", ["rename the customers column to clients", "rename the shop to Market", "move the label up"]
)
def test_a_change_with_consequences_is_not_mechanical(request_):
    assert not is_mechanical(request_)
