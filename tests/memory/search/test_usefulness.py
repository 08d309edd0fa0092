"""How likely a hit is to be useful to the agent that is told it."""

import pytest

import recollect.model as m
from recollect.memory import ranking
from recollect.memory.search.usefulness import judge_hits

TEXTS = [f"The {name} team meets in room {place}" for place, name in enumerate("abcdefghijklmnop")]


@pytest.fixture
def found(engine):
    """Hits of one search: the first with the given score and kind, the others far behind."""

    def found(score, content="Commit messages are imperative", kind="convention", **parts):
        hits = [_hit(engine.get(engine.remember(content, kind=kind).id), score, **parts)]
        return hits + [_hit(engine.get(engine.remember(text).id), 0.3) for text in TEXTS]

    return found


def _hit(memory, score, **parts):
    why = {"channels": {"words": {"score": 10.0}, "meaning": {}}, "parts": {"meaning": 0.1, **parts}}
    return m.Hit(memory, score, why)


def test_a_hit_that_stands_out_is_shown_and_the_others_are_not(found):
    hits = found(1.0)

    assert judge_hits("commit it", hits).select(hits) == hits[:1]


def test_for_a_general_question_a_hit_must_stand_out_further(found):
    hits = found(0.7)

    asked, ordered = (
        judge_hits(text, hits) for text in ("how do I undo my last commit with git", "commit the fix")
    )
    assert asked.known < ranking.KNOWN_FLOOR < ordered.known
    assert asked.select(hits) == []
    assert ordered.select(hits) == hits[:1]


def test_the_kind_of_work_alone_shows_nothing(found):
    plain, by_work = judge_hits("commit it", found(0.4)), judge_hits("commit it", found(1.0, activity=0.6))

    assert by_work.known == pytest.approx(plain.known, abs=0.05)
    assert by_work.known < ranking.KNOWN_FLOOR


def test_advice_is_likelier_to_be_useful_than_a_fact(found):
    rule, fact = (
        judge_hits("commit it", found(0.8, content, kind))
        for content, kind in (
            ("Commits are signed off", "convention"),
            ("Commits are sent to the wall", "fact"),
        )
    )

    assert rule.known > fact.known


def test_without_hits_nothing_is_known():
    nothing = judge_hits("commit it", [])

    assert nothing.known == 0.0
    assert nothing.select([]) == []
