"""How likely a hit is to be useful to the agent that is told it."""

import pytest

import recollect.model as m
from recollect.memory import ranking
from recollect.memory.search.usefulness import judge_hits

TEXTS = [f"The {name} team meets in room {place}" for place, name in enumerate("abcdefghijklmnop")]


@pytest.fixture
def found(engine):
    """Hits of one search: the first with the given score and kind, the others far behind."""

    def found(score, content="Commit messages are imperative", kind="convention", cosine=0.5, **parts):
        hits = [_hit(engine.get(engine.remember(content, kind=kind).id), score, cosine, **parts)]
        return hits + [_hit(engine.get(engine.remember(text).id), 0.3) for text in TEXTS]

    return found


def _hit(memory, score, cosine=0.2, **parts):
    channels = {"words": {"score": 10.0}, "meaning": {"cosine": cosine}}
    why = {"channels": channels, "parts": {"meaning": 0.1, **parts}}
    return m.Hit(memory, score, why)


def test_a_hit_that_stands_out_is_shown_and_the_others_are_not(found):
    hits = found(1.0)

    assert judge_hits("commit it", hits).select(hits) == hits[:1]


def test_for_a_general_question_a_hit_must_stand_out_further(found):
    hits = found(0.8)

    asked, ordered = (
        judge_hits(text, hits) for text in ("how do I undo my last commit with git", "commit the fix")
    )
    assert asked.known < ranking.KNOWN_FLOOR < ordered.known
    assert asked.select(hits) == []
    assert ordered.select(hits) == hits[:1]


def test_the_kind_of_work_alone_shows_nothing(found):
    by_work = judge_hits("commit it", found(1.0, cosine=0.2, activity=0.6))

    assert by_work.known < ranking.KNOWN_FLOOR


def test_a_hit_in_the_area_of_a_better_one_is_likelier_to_be_useful(engine):
    def judged(tags, files):
        best = engine.get(
            engine.remember(
                "Labels begin with the allergy note", tags=["packing"], file_paths=["depot/packing.py"]
            ).id
        )
        other = engine.get(
            engine.remember(f"Printers take code page 858 {tags}", tags=tags, file_paths=files).id
        )
        rest = [engine.get(engine.remember(text).id) for text in TEXTS]
        hits = [_hit(best, 1.0, 0.5), _hit(other, 0.5), *(_hit(memory, 0.3) for memory in rest)]
        return judge_hits("move the allergy note on the label", hits).probabilities[other.id]

    elsewhere, same_tag, same_folder = (
        judged(["network"], ["office/printers.py"]),
        judged(["packing"], ["office/printers.py"]),
        judged(["network"], ["depot/printers.py"]),
    )

    assert elsewhere < min(same_tag, same_folder)


def test_an_area_that_most_hits_share_says_nothing(engine):
    texts = [*TEXTS, "Labels begin with the allergy note"]
    apart, together = (
        [
            _hit(engine.get(engine.remember(f"{text} {name}", tags=tags).id), 0.3 + 0.04 * place)
            for place, text in enumerate(texts)
        ]
        for name, tags in (("upstairs", []), ("downstairs", ["depot"]))
    )

    of_apart, of_together = (
        list(judge_hits("a label", hits).probabilities.values()) for hits in (apart, together)
    )
    assert of_together == pytest.approx(of_apart, abs=0.02)


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
