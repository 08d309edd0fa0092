import pytest

from recollect.code.relevant.question import question_terms, weigh_question

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
    weights = weigh_question(SAID + code)

    assert min(weights[term] for term in question_terms("customers wait")) > max(
        weights[term] for term in question_terms("prices")
    )


def test_a_question_of_words_alone_is_what_is_asked():
    assert weigh_question(SAID) == pytest.approx(question_terms(SAID))


def test_a_question_of_code_alone_is_asked_too():
    assert weigh_question("```\ntotal = prices\n```").keys() == question_terms("total prices").keys()
