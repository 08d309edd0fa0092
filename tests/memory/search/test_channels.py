"""Channels that are late: left out, unless the machine had no processor for them."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from recollect.memory.search import channels
from recollect.memory.search.channels import STARVED_MS, ChannelRunner, waited_for_processor


@pytest.fixture
def waited(monkeypatch):
    """Milliseconds that our threads have waited for a processor, one value per look."""
    looks: list[float] = []
    monkeypatch.setattr(channels, "DEADLINES_MS", dict.fromkeys(channels.DEADLINES_MS, 0.0))
    monkeypatch.setattr(
        channels, "waited_for_processor", lambda: looks.pop(0) if len(looks) > 1 else looks[0]
    )
    return looks


@pytest.fixture
def runner(waited):
    def make():
        with ThreadPoolExecutor(1) as pool:
            return ChannelRunner(pool)

    return make


def test_a_channel_that_is_late_on_a_free_machine_is_left_out(runner, waited):
    waited[:] = [100.0]
    late = runner()

    assert late.result("words", Future()) is None
    assert late.late == ["words"]


def test_time_without_a_processor_does_not_count(runner, waited, monkeypatch):
    waited[:] = [100.0, 600.0]
    starved, answer = runner(), Future[str]()
    monkeypatch.setattr(channels, "waited_for_processor", lambda: answer.set_result("found") or 600.0)

    assert starved.result("words", answer) == "found"
    assert starved.late == []


def test_a_machine_that_stays_busy_is_not_waited_for_without_end(runner, waited):
    waited[:] = [0.0, 5.0, 10.0, STARVED_MS - 790.0, STARVED_MS * 10]
    starved = runner()
    starved._granted = STARVED_MS - 1.0

    assert starved.result("words", Future()) is None
    assert starved._granted <= STARVED_MS


def test_the_system_tells_how_long_threads_waited():
    assert waited_for_processor() >= 0.0
