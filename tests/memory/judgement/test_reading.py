"""What a model that reads two statements at once adds to the rules."""

import pytest

from recollect.context.pair_reader import Relatedness
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare
from recollect.memory.judgement.reading import MOST_READ, read_neighbours

KEYS = "Primary keys are bigint sequences."
UUIDS = "Every table is keyed by a UUIDv7."
CONTRADICTS = Relatedness(0.97, 0.01, 0.02)


class ScriptedReader:
    name = "scripted reader"
    is_loaded = True

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def load(self):
        pass

    def relate(self, pairs):
        self.asked += pairs
        return None if self.answer is None else [self.answer for _ in pairs]


def read(reader, new, old, cosine=0.5):
    (comparison,) = read_neighbours(reader, new, [(old, cosine, compare(new, old, cosine))])
    return comparison


def test_a_contradiction_that_no_rule_sees_is_asked_about_and_explained():
    found = read(ScriptedReader(CONTRADICTS), UUIDS, KEYS)

    assert (found.relation, found.certain) == (StatementRelation.CONTRADICTION, False)
    assert found.explanation == (
        "'Primary bigint sequences' → 'table UUIDv7', read as a contradiction, 97% (scripted reader, unsure)"
    )


def test_without_an_answer_the_rules_stand():
    assert read(ScriptedReader(None), UUIDS, KEYS) == compare(UUIDS, KEYS, 0.5)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Fixed the flaky login test.", "The login test is flaky."),
        ("Should we use tabs?", "Use spaces."),
        ("In production the cache is Redis.", "In staging the cache is a dictionary."),
        ("Lint everything, except for generated files.", "Lint everything."),
        ("Address a few more warnings.", "Suppress some errors now that we've stopped running it."),
        ("Sidestep one warning of the checker.", "Address remaining warnings."),
    ],
)
def test_what_the_rules_know_to_hold_beside_is_not_read(new, old):
    reader = ScriptedReader(CONTRADICTS)

    assert read(reader, new, old) == compare(new, old, 0.5)
    assert reader.asked == []


def test_a_contradiction_of_the_rules_is_not_read():
    reader = ScriptedReader(CONTRADICTS)

    found = read(reader, "The API listens on port 9090.", "The API listens on port 8080.", 0.9)

    assert (found.relation, found.certain) == (StatementRelation.CONTRADICTION, True)
    assert reader.asked == []


SAME = Relatedness(0.01, 0.97, 0.02)
DRAFTS = "The importer skips drafts."
DRAFTS_AGAIN = "The importer does not take drafts."


def test_a_contradiction_that_the_rules_only_suspect_is_none_if_it_is_read_as_the_same():
    suspected = compare(DRAFTS_AGAIN, DRAFTS, 0.7)
    assert (suspected.relation, suspected.certain) == (StatementRelation.CONTRADICTION, False)

    assert read(ScriptedReader(CONTRADICTS), DRAFTS_AGAIN, DRAFTS, 0.7) == suspected
    proposed = read(ScriptedReader(Relatedness(0.05, 0.9, 0.05)), DRAFTS_AGAIN, DRAFTS, 0.7)
    merged = read(ScriptedReader(SAME), DRAFTS_AGAIN, DRAFTS, 0.7)

    assert [found.relation for found in (proposed, merged)] == [StatementRelation.MERGEABLE] * 2
    assert [found.certain for found in (proposed, merged)] == [False, True]
    assert "read as the same, 97%" in merged.explanation


@pytest.mark.parametrize(
    ("new", "old", "merges"),
    [
        ("Keep replies to Priya brief.", "Priya wants short answers.", True),
        ("Keep replies to Anil brief.", "Priya wants short answers.", False),
        ("Keep replies in `ops` brief.", "Short answers in `dev`, please.", False),
        ("Keep replies brief if it is late.", "Short answers, please.", False),
    ],
)
def test_what_is_surely_the_same_is_merged_unless_words_tell_the_two_apart(new, old, merges):
    found = read(ScriptedReader(SAME), new, old)

    assert (found.relation, found.certain) == (StatementRelation.MERGEABLE, merges)


def test_only_the_nearest_are_read_and_nothing_that_is_far_away():
    reader = ScriptedReader(CONTRADICTS)
    judged = [
        (f"Statement {name} says this.", 0.41 + place / 100, compare(UUIDS, KEYS, 0.4))
        for place, name in enumerate("abcdef")
    ]

    read_neighbours(
        reader,
        UUIDS,
        [*judged, (KEYS, 0.1, compare(UUIDS, KEYS, 0.1)), (KEYS, None, compare(UUIDS, KEYS, None))],
    )

    assert [old for old, _ in reader.asked] == [text for text, _, _ in reversed(judged)][:MOST_READ]


def test_what_is_probably_the_same_is_proposed_and_not_merged():
    found = read(
        ScriptedReader(Relatedness(0.01, 0.6, 0.39)), "Answer her briefly.", "The user wants short answers."
    )

    assert (found.relation, found.certain) == (StatementRelation.MERGEABLE, False)
    assert "read as the same, 60% (scripted reader, unsure)" in found.explanation


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("billing publishes its changes to Kafka.", "tax publishes its changes to Kafka."),
        ("A request to quotes times out after 16 seconds.", "Answers of quotes are cached for 16 minutes."),
    ],
)
def test_what_speaks_of_another_thing_or_amount_is_never_read_as_the_same(new, old):
    reader = ScriptedReader(Relatedness(0.01, 0.9, 0.09))

    assert read(reader, new, old) == compare(new, old, 0.5)
