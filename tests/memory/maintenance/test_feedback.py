"""Someone says whether it helped."""

import pytest

from recollect.memory.maintenance.feedback import feedback


def test_what_helped_is_stronger_surer_and_was_used(engine, clock):
    memory = engine.get(engine.remember("Mail is sent by a worker.").id)
    now = clock.advance(hours=1)

    after = feedback(engine.store, memory, True, "user", now)

    assert after == engine.get(memory.id)
    assert (after.access_count, after.strength, after.last_accessed_at) == (1, 2, now)
    assert after.confidence == pytest.approx(memory.confidence + 0.05)
    assert engine.audit(1)[0].detail["feedback"] == "helpful"


def test_what_did_not_help_is_less_sure_and_nothing_else(engine, clock):
    memory = engine.get(engine.remember("Mail is sent by a worker.").id)

    after = feedback(engine.store, memory, False, "agent:coder", clock())

    assert after.confidence == pytest.approx(memory.confidence - 0.1)
    assert (after.access_count, after.strength) == (0, 1)
    assert engine.audit(1)[0].actor == "agent:coder"


def test_confidence_stays_between_none_and_all(engine, clock):
    memory = engine.get(engine.remember("Mail is sent by a worker.").id)

    for _ in range(12):
        low = feedback(engine.store, memory, False, "user", clock())
    for _ in range(25):
        high = feedback(engine.store, memory, True, "user", clock())

    assert (low.confidence, high.confidence) == (0.0, 1.0)


def test_feedback_counts_from_what_is_stored_and_not_from_what_was_shown(engine, clock):
    shown = engine.get(engine.remember("Mail is sent by a worker.").id)

    feedback(engine.store, shown, True, "user", clock())
    after = feedback(engine.store, shown, True, "user", clock())

    assert after.access_count == 2
