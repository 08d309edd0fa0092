import numpy as np
import pytest

from recollect.code.relevant.question import POSTING
from recollect.code.terms import find_references, reference_terms

HASH = "464a4c0c59277056b5d3c1132ac1b4c6085aee08"


def kept(message):
    return set(np.frombuffer(reference_terms(HASH, message), POSTING)["term"].tolist())


@pytest.mark.parametrize(
    "text", [HASH, HASH[:7], f"https://forge.example/commit/{HASH}", f"(regression in {HASH[:10]})"]
)
def test_a_commit_is_referred_to_by_its_hash_or_the_beginning_of_it(text):
    assert find_references(text).keys() <= kept("Support vouchers")
    assert find_references(text)


@pytest.mark.parametrize(
    "text", ["#4711", "gh-4711", "https://forge.example/shop/issues/4711", "/ticket/4711"]
)
def test_a_number_refers_to_what_was_said_under_it_less_surely(text):
    (term,) = find_references(text)

    assert term in kept("Fixed #4711 -- Support vouchers")
    assert find_references(text)[term] < 1


@pytest.mark.parametrize(
    "text", ["", "1234567", "deadbeef", "defaced", "item 4711", "#4", "version 3.2.1", HASH + "00"]
)
def test_most_numbers_and_words_refer_to_nothing(text):
    assert find_references(text) == {}
