import pytest

from recollect.code.relevant.prose import question
from recollect.code.relevant.terms import asked

SAID = "Receipts are late\nSince Monday customers wait.\n"


@pytest.mark.parametrize(
    "code",
    [
        "```\ntotal = prices\n```",
        "    total = prices",
        "\ttotal = prices",
        ">>> total = prices",
        "from total import prices as (total)",
        '  File "total/prices", line 3, in total',
    ],
)
def test_words_weigh_more_than_code(code):
    weights = question(SAID + code)

    assert min(weights[term] for term in asked("customers wait")) > max(
        weights[term] for term in asked("prices")
    )


def test_a_question_of_words_alone_is_what_is_asked():
    assert question(SAID) == pytest.approx(asked(SAID))


def test_a_question_of_code_alone_is_asked_too():
    assert question("```\ntotal = prices\n```").keys() == asked("total prices").keys()
