import numpy as np

from recollect.code.relevant.index import Field, Index, best
from recollect.code.relevant.postings import terms_of
from recollect.code.relevant.terms import asked


def index(*texts, usual=None):
    return Index([Field([terms_of(text) for text in texts])], enough=1.2, usual=usual)


def test_a_rare_term_says_more_than_a_common_one():
    scores = index("cart price", "cart discount", "cart tax").scores(asked("cart discount"))

    assert best(scores, 3) == [1, 2, 0] or best(scores, 3) == [1, 0, 2]
    assert scores[1] > 2 * scores[0] > 0


def test_what_shares_nothing_scores_nothing():
    scores = index("cart", "mail").scores(asked("zebra"))

    assert scores.tolist() == [0, 0]
    assert best(scores, 5) == []


def test_a_long_text_is_held_back():
    scores = index("discount", "discount " + "filler words of all kinds " * 40).scores(asked("discount"))

    assert scores[0] > scores[1]


def test_a_field_counts_as_much_as_it_weighs():
    texts = [terms_of("mail"), terms_of("cart")]
    names = [terms_of("cart"), terms_of("mail")]

    scores = Index([Field(texts), Field(names, weight=5)], enough=4).scores(asked("cart"))

    assert scores[0] > scores[1] > 0


def test_rarity_is_told_from_the_usual_texts_alone():
    texts = ("cart", "mail", "cart", "cart", "cart")

    all_alike = index(*texts).scores(asked("cart"))
    tests_apart = index(*texts, usual=[True, True, False, False, False]).scores(asked("cart"))

    assert tests_apart[0] > all_alike[0]


def test_rarity_can_be_told_from_elsewhere():
    question = asked("cart discount")
    elsewhere = index("cart", "cart discount", "cart mail").rarity(question)

    scores = index("cart", "discount").scores(question, elsewhere)

    assert scores[1] > scores[0] > 0


def test_an_empty_index_answers():
    assert Index([Field([])], enough=1).scores(asked("cart")).tolist() == []
    assert index("", "").scores(asked("cart")).tolist() == [0, 0]


def test_the_best_are_those_above_nothing_in_order():
    assert best(np.array([0, 3, 1, 2, 0], np.float32), 2) == [1, 3]
    assert best(np.array([0, 3, 0], np.float32), 5) == [1]
