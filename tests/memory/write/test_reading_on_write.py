"""Statements are read with those that are near them, where a process has loaded the model for it."""

import pytest

import recollect.model as m
from recollect.context.pair_reader import Relatedness
from recollect.embed.pair_reader import BundledReader
from recollect.engine import Engine

OLD = "Every function that you write gets a docstring, private helpers included."
NEW = "Please stop adding docstrings everywhere; the code speaks for itself."


@pytest.fixture(scope="module")
def reader():
    reader = BundledReader()
    reader.load()
    return reader


@pytest.fixture
def open_engine(home, folder, clock):
    return lambda reader: Engine.open(folder, home, clock=clock, reader=reader)


def conflicts(engine):
    return [question.review for question in engine.questions() if question.review.kind == "contradiction"]


def test_a_contradiction_in_other_words_is_asked_about_and_says_who_read_it(open_engine, reader):
    with open_engine(reader) as engine:
        old = engine.remember(OLD)

        new = engine.remember(NEW)

        assert new.conflicts_with == (old.id,)
        assert not new.supersedes
        assert engine.get(old.id).state is m.State.ACTIVE
        (question,) = conflicts(engine)
        assert "read as a contradiction" in question.reason
        assert question.reason.endswith("(pair reader, unsure)")


def test_nothing_is_read_before_the_model_is_loaded(open_engine):
    with open_engine(BundledReader()) as engine:
        engine.remember(OLD)

        assert engine.remember(NEW).conflicts_with == ()
        assert conflicts(engine) == []


def test_no_model_is_asked_in_a_transaction(open_engine, reader, monkeypatch):
    with open_engine(reader) as engine, open_engine(None) as other:
        writer = engine.memory.writer
        prepared = writer.prepare(m.Draft(NEW))
        other.remember(OLD)  # so that the writer compares again
        monkeypatch.setattr(reader, "relate", lambda pairs: pytest.fail("the transaction waits for a model"))

        receipt = writer.write(prepared, engine.context.new_change("remember"))

        assert engine.get(receipt.id).content == NEW


class ScriptedReader:
    name = "scripted reader"
    is_loaded = True

    def __init__(self, same):
        self.answer = Relatedness(0.0, same, 1 - same)

    def load(self):
        pass

    def relate(self, pairs):
        return [self.answer for _ in pairs]


BRIEF = "Priya wants the answers of the assistant short."
BRIEF_AGAIN = "Keep what the assistant replies to Priya brief."


def states(engine, *receipts):
    return [engine.get(receipt.id).state for receipt in receipts]


def test_consolidation_merges_what_was_surely_read_as_the_same(open_engine):
    with open_engine(ScriptedReader(0.99)) as engine:
        both = engine.remember(BRIEF), engine.remember(BRIEF_AGAIN)
        assert states(engine, *both) == [m.State.ACTIVE] * 2

        engine.care.consolidate()

        assert sorted(states(engine, *both)) == [m.State.ACTIVE, m.State.SUPERSEDED]
        assert [question for question in engine.questions() if question.review.kind == "merge"] == []


def test_what_was_edited_after_it_was_read_is_not_merged(open_engine, clock):
    with open_engine(ScriptedReader(0.99)) as engine:
        both = engine.remember(BRIEF), engine.remember(BRIEF_AGAIN)
        clock.advance(minutes=1)
        engine.edit(both[1].id, content="Keep what the assistant replies to Anil brief.")

        engine.care.consolidate()

        assert states(engine, *both) == [m.State.ACTIVE] * 2


def test_consolidation_does_not_ask_again_about_what_was_read_as_the_same(open_engine):
    with open_engine(ScriptedReader(0.6)) as engine:
        engine.remember("The importer skips drafts.")
        engine.remember("The importer does not take drafts.")

        engine.care.consolidate()

        assert conflicts(engine) == []


def test_long_sentences_with_a_common_end_are_not_merged(open_engine, reader):
    with open_engine(reader) as engine:
        told = [
            engine.remember(f"The billing worker {does} the finance department when a customer cancels.")
            for does in ("is owned by", "takes its input from", "is restarted by")
        ]

        engine.care.consolidate()

        assert states(engine, *told) == [m.State.ACTIVE] * 3


def test_a_merge_is_proposed_of_what_is_read_as_the_same(open_engine, reader):
    with open_engine(reader) as engine:
        old = engine.remember("Never edit the generated files in src/gen.")

        new = engine.remember("No manual changes to generated code under src/gen.")

        (question,) = [each.review for each in engine.questions() if each.review.kind == "merge"]
        assert question.memories == (old.id, new.id)
        assert "read as the same" in question.reason
        assert [engine.get(each.id).state for each in (old, new)] == [m.State.ACTIVE] * 2
