import pytest

from recollect.work.metrics.discovery import Discovery
from recollect.work.metrics.saved import saved
from recollect.work.metrics.timing import bucket_of, milliseconds, quantile
from recollect.work.transcripts.event import Event


def call(tool, order, **given):
    return Event("s", order, "assistant", "", tool=tool, call=f"c{order}", input=given)


def answer(order, text, size=0):
    return Event("s", order + 100, "tool", text, call=f"c{order}", size=size)


def watched(*events):
    found = Discovery()
    for event in events:
        found.add(event)
    return found


def test_what_is_read_and_searched_before_the_first_edit_is_exploration():
    found = watched(
        call("Grep", 1, pattern="login"),
        answer(1, "src/auth.py: def login"),
        call("Read", 2, file_path="src/auth.py"),
        answer(2, "def login(): ..."),
        call("Edit", 3, file_path="src/auth.py"),
        answer(3, "done"),
        call("Read", 4, file_path="src/other.py"),
        answer(4, "a very long file " * 100),
    )

    assert (found.looks, found.edited) == (2, True)
    assert 5 < found.tokens < 30


def test_what_a_command_prints_is_not_exploration():
    assert watched(call("Bash", 1, command="make"), answer(1, "word " * 500)).tokens == 0


def test_a_text_of_which_only_the_ends_were_kept_counts_whole():
    short = watched(call("Read", 1, file_path="a"), answer(1, "word " * 100))
    clipped = watched(call("Read", 1, file_path="a"), answer(1, "word " * 100, size=5000))

    assert clipped.tokens == pytest.approx(10 * short.tokens, rel=0.02)


WITHOUT = [{"discovery_tokens": float(n), "edited": 1.0} for n in (8000, 10_000, 12_000)]
WITH = {"discovery_tokens": 2500.0, "edited": 1.0, "injected": 4.0}


def test_what_is_saved_is_the_usual_less_what_was_spent():
    found = saved(WITH, WITHOUT)

    assert (found.tokens, found.usual, found.spent, found.compared) == (7500, 10_000, 2500, 3)
    assert found.line == "Memory saved about 7,500 tokens of exploration this session"
    assert "10,000" in found.why


@pytest.mark.parametrize(
    ("session", "others", "why"),
    [
        (WITH, WITHOUT[:2], "no baseline"),
        ({**WITH, "injected": 0.0}, WITHOUT, "No memory was shown"),
        ({**WITH, "edited": 0.0}, WITHOUT, "edited nothing"),
        (WITH, [{**each, "injected": 1.0} for each in WITHOUT], "no baseline"),
        (WITH, [{**each, "on_demand": 1.0} for each in WITHOUT], "no baseline"),
    ],
)
def test_without_a_comparison_nothing_is_claimed(session, others, why):
    found = saved(session, others)

    assert found.tokens is None
    assert found.line == ""
    assert why in found.why


def test_a_session_that_took_longer_than_usual_saved_nothing():
    found = saved({**WITH, "discovery_tokens": 20_000.0}, WITHOUT)

    assert found.tokens == -10_000
    assert found.line == ""


def test_times_are_kept_to_within_a_tenth():
    for seconds in (0.000_05, 0.004, 0.9, 12):
        assert milliseconds(bucket_of(seconds)) == pytest.approx(1000 * seconds, rel=0.1)


def test_a_quantile_is_that_of_the_counts():
    counts = {bucket_of(0.001): 94, bucket_of(0.1): 6}

    assert quantile(counts, 0.5) == pytest.approx(1, rel=0.1)
    assert quantile(counts, 0.95) == pytest.approx(100, rel=0.1)
    assert quantile({}, 0.5) == 0
