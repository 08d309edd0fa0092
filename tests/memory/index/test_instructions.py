"""What a person wants from now on, and requests that it bears on."""

import pytest

from recollect.memory.index.instructions import gives_instruction, is_request


@pytest.mark.parametrize(
    "text",
    [
        "Always show the types when you describe an API.",
        "Thanks. Never push to main.",
        "- always log before you raise again",
        "user: Please always use British spelling",
        "Name the file and the line whenever I ask about a failure.",
        "From now on the tests run in Docker.",
        "In future, ask before you add a dependency.",
        "Remember that the staging database is shared.",
        "Make sure to always close the cursor.",
        "I'd rather have one long function than ten short ones.",
        "For messages I really prefer the imperative.",
    ],
)
def test_what_holds_from_now_on_is_an_instruction(text: str) -> None:
    assert gives_instruction(text)


@pytest.mark.parametrize(
    "text",
    [
        "The build has always been slow.",
        "I've never used Redis before.",
        "I remember that we talked about it.",
        "This would rather point to the cache.",
        "What will the parser do in the future?",
        "Rename the preferences page.",
    ],
)
def test_what_is_told_is_no_instruction(text: str) -> None:
    assert not gives_instruction(text)


@pytest.mark.parametrize(
    "question",
    [
        "Can you show me how to log in?",
        "How should I list my sources?",
        "Which libraries should we use?",
        "I'm planning to add an export. Any ideas?",
        "What are some good names for this?",
        "Please write the release notes.",
    ],
)
def test_advice_and_work_are_requests(question: str) -> None:
    assert is_request(question)


@pytest.mark.parametrize(
    "question",
    [
        "When did the release fail?",
        "Which formatter does the project use?",
        "How many parrots has Jon?",
        "tests on Windows",
    ],
)
def test_a_question_of_what_is_or_was_is_no_request(question: str) -> None:
    assert not is_request(question)
