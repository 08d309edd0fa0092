import numpy as np

from recollect.code.relevant.index import Field, Index, Texts, top_scores
from recollect.code.relevant.question import question_terms
from recollect.code.terms import terms_of


def index(*texts, usual=None):
    return Index([Field(Texts.of(terms_of(text) for text in texts))], half_saturation=1.2, usual=usual)


def test_a_rare_term_says_more_than_a_common_one():
    scores = index("cart price", "cart discount", "cart tax").scores(question_terms("cart discount"))

    assert top_scores(scores, 3) == [1, 2, 0] or top_scores(scores, 3) == [1, 0, 2]
    assert scores[1] > 2 * scores[0] > 0


def test_what_shares_nothing_scores_nothing():
    scores = index("cart", "mail").scores(question_terms("zebra"))

    assert scores.tolist() == [0, 0]
    assert top_scores(scores, 5) == []


def test_a_long_text_is_held_back():
    scores = index("discount", "discount " + "filler words of all kinds " * 40).scores(
        question_terms("discount")
    )

    assert scores[0] > scores[1]


def test_a_field_counts_as_much_as_it_weighs():
    texts = [terms_of("mail"), terms_of("cart")]
    names = [terms_of("cart"), terms_of("mail")]

    scores = Index([Field(Texts.of(texts)), Field(Texts.of(names), weight=5)], half_saturation=4).scores(
        question_terms("cart")
    )

    assert scores[0] > scores[1] > 0


def test_rarity_is_told_from_the_usual_texts_alone():
    texts = ("cart", "mail", "cart", "cart", "cart")

    all_alike = index(*texts).scores(question_terms("cart"))
    tests_apart = index(*texts, usual=[True, True, False, False, False]).scores(question_terms("cart"))

    assert tests_apart[0] > all_alike[0]


def test_rarity_can_be_told_from_elsewhere():
    question = question_terms("cart discount")
    elsewhere = index("cart", "cart discount", "cart mail").rarity(question)

    scores = index("cart", "discount").scores(question, elsewhere)

    assert scores[1] > scores[0] > 0


def test_an_empty_index_answers():
    assert Index([Field(Texts.of([]))], half_saturation=1).scores(question_terms("cart")).tolist() == []
    assert index("", "").scores(question_terms("cart")).tolist() == [0, 0]


def test_the_best_are_those_above_nothing_in_order():
    assert top_scores(np.array([0, 3, 1, 2, 0], np.float32), 2) == [1, 3]
    assert top_scores(np.array([0, 3, 0], np.float32), 5) == [1]


def test_an_index_answers_the_same_before_and_after_it_is_sorted():
    texts = [f"cart{number % 7} mail{number % 3} price tax{number}" for number in range(200)]
    names = [f"cart{number % 5}" for number in range(200)]
    fields = [Field(Texts.of(map(terms_of, texts))), Field(Texts.of(map(terms_of, names)), weight=3)]
    questions = [question_terms(text) for text in ("cart3 price", "tax17 mail1", "zebra", "cart1 cart2 tax5")]
    quick, sorted_first = Index(fields, 1.2), Index(fields, 1.2)
    sorted_first.sort()

    before = [quick.scores(question).tolist() for question in questions]

    assert before == [sorted_first.scores(question).tolist() for question in questions]
    assert [quick.coverage(question, 3) for question in questions] == [
        sorted_first.coverage(question, 3) for question in questions
    ]


def test_one_question_sorts_only_the_postings_of_its_terms(monkeypatch):
    one = index(*["cart mail price"] * 2000, "zebra")
    sorted_sizes = []
    sort = np.argsort
    monkeypatch.setattr(
        np, "argsort", lambda keys, **how: sorted_sizes.append(len(keys)) or sort(keys, **how)
    )

    one.scores(question_terms("zebra"))

    assert sum(sorted_sizes) < 100
