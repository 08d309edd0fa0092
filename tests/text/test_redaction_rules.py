"""The rules in `text/data/redaction.toml` are well formed."""

import re

import pytest

from recollect.text.redaction_rules import CHECKS, CONTEXTS, FORMATS, PII, RedactionRule
from recollect.text.secret_values import DATA, WORDS

RULES = [*FORMATS, *CONTEXTS, *PII]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.type} {rule.source[:20]}")
def test_a_rule_compiles_and_names_its_type_and_hints_in_lower_case(rule: RedactionRule) -> None:
    assert "<<" not in rule.source
    assert re.fullmatch(r"[a-z]+(?:-[a-z]+)*", rule.type)
    assert [hint for hint in rule.hints if not hint or hint != hint.lower()] == []
    assert rule.pattern.search("") is None


def test_every_check_is_used() -> None:
    named = {
        row.get("accepts", "not_filler") for name in ("formats", "contexts", "pii") for row in DATA[name]
    }

    assert named - {"assigned"} == CHECKS.keys()


@pytest.mark.parametrize("name", sorted(DATA["words"]))
def test_a_word_list_names_each_word_once(name: str) -> None:
    assert sorted(WORDS[name]) == sorted(DATA["words"][name].split())
