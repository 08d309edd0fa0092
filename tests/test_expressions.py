"""No regular expression of the source takes more than linear time, whatever text it is given."""

import re

import pytest
from tests.expressions import Attack, Expression, all_expressions, attacks, has_exploded


def test_the_time_of_every_expression_grows_with_the_length_of_the_text():
    expressions = all_expressions()
    slow = []
    for expression in expressions:
        attack = next((each for each in attacks(expression) if has_exploded(expression, each)), None)
        if attack is not None:
            slow.append(f"{expression.place}: {expression.pattern!r} on {attack}")

    assert slow == []
    assert len(expressions) > 400


@pytest.mark.parametrize(
    "pattern",
    [r"\w+=", r"^(\s*(?:- )?\s*)x", r"(?:a+)+b", r"eyJ[\w.-]+\.", r"<!--.*?-->", r"[ \t]+\n", r"(\w+\s*)*:"],
)
def test_a_careless_expression_is_noticed(pattern: str):
    expression = Expression(pattern, 0, "here", is_anchored=False)

    assert any(has_exploded(expression, attack) for attack in attacks(expression))


def test_a_text_has_the_size_it_was_asked_for():
    text = Attack("head", "unit", "!").text(4000)

    assert len(text) == 4000
    assert re.fullmatch(r"head(?:unit)+(?:u|un|uni)?!", text)
