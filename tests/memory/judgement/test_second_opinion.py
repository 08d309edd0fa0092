"""Who decides where the rules are unsure."""

import pytest

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare
from recollect.memory.judgement.comparison import Comparison
from recollect.memory.judgement.second_opinion import TimeLimit, asked_of, held_back

UNSURE = Comparison(StatementRelation.CONTRADICTION, "npm → pnpm", certain=False, rule="other value")
SAME = Comparison(StatementRelation.MERGEABLE, "cosine 0.88", certain=True, rule="similar")
CERTAIN = Comparison(StatementRelation.CONTRADICTION, "port 80 → 81", certain=True, rule="other value")


class Scripted:
    name = "scripted"

    def __init__(self, answer):
        self.answer = answer

    def relate(self, new, old):
        return self.answer

    def contradicts(self, one, other):
        return self.answer


def test_a_language_model_decides_and_is_named():
    decided = asked_of(Scripted(StatementRelation.DUPLICATE), UNSURE, "new", "old")

    assert (decided.relation, decided.certain) == (StatementRelation.DUPLICATE, True)
    assert decided.explanation == "npm → pnpm (scripted, certain)"


def test_without_an_answer_the_rules_stand():
    assert asked_of(Scripted(None), UNSURE, "new", "old") is UNSURE
    assert held_back(Scripted(None), UNSURE, "new", "old") is UNSURE


@pytest.mark.parametrize(
    "comparison, contradicts, relation",
    [
        (SAME, True, StatementRelation.RELATED),
        (SAME, False, StatementRelation.MERGEABLE),
        (UNSURE, False, StatementRelation.RELATED),
        (UNSURE, True, StatementRelation.CONTRADICTION),
        (CERTAIN, False, StatementRelation.CONTRADICTION),
    ],
)
def test_a_model_of_inference_only_holds_back(comparison, contradicts, relation):
    decided = held_back(Scripted(contradicts), comparison, "new", "old")

    assert decided.relation is relation
    assert decided.certain is comparison.certain


def test_the_rules_of_the_user_add_tools_to_a_role(tmp_path):
    from recollect.memory.judgement.roles import learn_roles

    old, new = "The tickets sit on acmetrack.", "We keep tickets with otherboard."
    assert compare(new, old, 0.6).relation is not StatementRelation.CONTRADICTION
    file = tmp_path / "roles.toml"
    file.write_text('"ticket board" = "acmetrack otherboard"\n')

    learn_roles(str(file))

    assert compare(new, old, 0.6).relation is StatementRelation.CONTRADICTION


def test_a_file_of_roles_that_cannot_be_read_changes_nothing(tmp_path):
    from recollect.memory.judgement.roles import learn_roles

    file = tmp_path / "broken.toml"
    file.write_text("not = [toml")

    learn_roles(str(file))
    learn_roles(str(tmp_path / "missing.toml"))

    assert compare("Use yarn.", "Use npm.", 0.8).relation is StatementRelation.CONTRADICTION


@pytest.mark.parametrize(("took", "has_room"), [(0.014, True), (0.066, False), (0.14, False)])
def test_another_question_is_asked_only_if_it_ends_within_the_time(took, has_room):
    times = iter([0.0, took])
    limit = TimeLimit(0.15, clock=lambda: next(times))

    held = limit.held_back(Scripted(False), UNSURE, "new", "old")

    assert held.relation is StatementRelation.RELATED
    assert limit.has_room is has_room
