import numpy as np
import pytest

from recollect.code.relevant.question import POSTING, question_terms
from recollect.code.terms import terms_of


def terms(text):
    return {int(term): int(count) for term, count in np.frombuffer(terms_of(text), POSTING)}


@pytest.mark.parametrize(
    "other", ["parse config", "ParseConfig", "parseConfigs", "config.parsed", "PARSE_CONFIG"]
)
def test_the_parts_of_an_identifier_are_found_however_it_is_spelt(other):
    wanted, found = terms("parse config"), terms(other)

    assert wanted.keys() <= found.keys()


def test_a_name_as_a_whole_is_a_term_of_its_own():
    same, other = terms("get_or_create"), terms("create_or_get")

    assert len(same.keys() - other.keys()) == 1


def test_terms_are_counted():
    assert sorted(terms("cart Cart carts total").values()) == [1, 3]


def test_stop_words_and_data_have_no_terms():
    assert terms("the of and") == {}
    assert terms("x" * 1000) == {}


def test_no_text_can_be_read_from_the_terms():
    kept = terms_of("password hunter2")

    assert b"hunter" not in kept
    assert len(kept) % POSTING.itemsize == 0


@pytest.mark.parametrize("text", ["", " ", "\n\n", "¿?", "<!-- a form -->", "https://example.com/cart"])
def test_a_question_that_says_nothing_asks_for_nothing(text):
    assert question_terms(text) == {}


def test_the_first_line_of_a_question_weighs_most_per_word():
    weights = question_terms(
        "Discount is lost\n" + "When the cart is emptied the receipt still says it. " * 5
    )

    (lost,) = terms("lost")
    (receipt,) = terms("receipt")
    assert weights[lost] > weights[receipt] / 2.7  # that stands there five times
    assert sum(weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["cart", "(cart)", "2cart", "“cart”", "kasse—cart", "cart \ud800"])
def test_a_word_is_the_same_whatever_stands_beside_it(text):
    assert terms("cart").items() <= terms(text).items()


def test_letters_of_other_alphabets_are_letters():
    assert terms("Straße") != terms("Strae")
    assert len(terms("корзина, total")) == 2


def test_a_count_that_does_not_fit_is_the_highest_that_does():
    assert list(terms("cart " * 70_000).values()) == [65_535]
