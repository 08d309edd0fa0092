import json
import threading

import pytest

from recollect.memory.search.latency import Deadline, LatencyWindow


def window_of(*latencies):
    window = LatencyWindow()
    for ms in latencies:
        window.add(ms)
    return window


@pytest.mark.parametrize(
    ("latencies", "p95"),
    [
        ([], 0),
        ([40], 40),
        ([10, 30, 20], 30),
        (range(1, 21), 19),
        (range(1, 101), 95),
        (range(1, 301), 295),  # the last hundred
    ],
)
def test_p95_is_the_nearest_rank_of_the_last_hundred(latencies, p95):
    assert window_of(*latencies).p95 == p95


@pytest.mark.parametrize(
    ("latencies", "degraded"),
    [
        ([], False),
        ([900] * 4, False),  # too few to tell
        ([900] * 5, True),
        ([300] * 50, False),  # 300 is not above 300
        ([301] * 50, True),
        ([900] * 5 + [10] * 94, True),  # five of 99 are slow: p95 is one of them
        ([900] * 5 + [10] * 95, False),
        ([900] * 10 + [250] * 95, False),
        ([100] * 10 + [250] * 95, False),
        ([900] * 100 + [200] * 100, False),
        ([900] * 100 + [199] * 100, False),
    ],
)
def test_searches_are_degraded_while_their_p95_is_above_300_ms(latencies, degraded):
    assert window_of(*latencies).degraded == degraded


def test_a_window_survives_its_process():
    slow = window_of(*[900] * 10, *[250] * 95)

    again = LatencyWindow.from_json(json.loads(json.dumps(slow.as_json())))

    assert (again.p95, again.degraded, len(again)) == (slow.p95, slow.degraded, 100)


@pytest.mark.parametrize(
    "kept",
    [
        None,
        {},
        {"latencies": None, "degraded": True},
        {"latencies": ["a", 1], "degraded": True},
        {"latencies": [float("nan")] * 9, "degraded": True},
        {"latencies": [-1.0] * 9},
        {"latencies": [900, 900], "degraded": True},  # too few to be degraded
    ],
)
def test_malformed_data_starts_a_healthy_window(kept):
    assert not LatencyWindow.from_json(kept).degraded


def test_threads_share_a_window():
    window = LatencyWindow()

    def work():
        for ms in range(500):
            window.add(ms)
            assert window.p95 >= 0

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(window) == 100


class Stopwatch:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.mark.parametrize(("after", "left"), [(0, 200), (150, 50), (200, 0), (900, 0)])
def test_a_deadline_says_what_is_left_and_never_less_than_nothing(after, left):
    clock = Stopwatch()
    deadline = Deadline(200, clock)

    clock.seconds += after / 1000

    assert deadline.left() == pytest.approx(left, abs=1e-6)
