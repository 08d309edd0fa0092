import copy
import gzip
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript_samples import ANSWER, CLAUDE_CODE, SAMPLES, SWE_AGENT, Lines, as_bytes, claude, text

from recollect.errors import Refused
from recollect.work.hosts.transcripts import read
from recollect.work.transcripts.reading import SHOWN_PROBLEMS, Report

GOOD = as_bytes(Lines([claude("user", "hello", "u1")]))
AFTER = as_bytes(Lines([claude("user", "still here", "u2")]))


@pytest.mark.parametrize(
    "damage, reason",
    [
        (b'{"type": "user", "uuid": "x"\n', "not JSON"),
        (b"\0\0\0\0\0\n", "NUL"),
        (b"[1]\n", "not a JSON object"),
        (b'"text"\n', "not a JSON object"),
        (b"\xff\xfe{}\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
        (b'{"a":' * 100_000 + b"\n", "nested too deeply"),
        (b'{"type": "user", "uuid": "x", "n": ' + b"9" * 5000 + b"}\n", "not JSON"),
        (b'{"type": ["user"], "uuid": "x"}\n', "unknown kind"),
    ],
)
def test_a_damaged_line_is_reported_by_number_and_the_rest_is_read(damage, reason, tell):
    told = tell(GOOD + damage + AFTER)

    assert told.said("user") == ["hello", "still here"]
    assert told.report.skipped == 1
    problem = next(each for each in told.report.problems if reason in each.reason)
    assert problem.line == 2
    assert str(problem).endswith(f"file:2: {problem.reason}")


def test_a_damaged_first_line_does_not_hide_the_format(tell):
    told = tell(b'{"type": "us\n\n' + GOOD)

    assert told.said("user") == ["hello"]
    assert told.report.skipped == 1


@pytest.mark.parametrize(
    "words, read_as",
    [(b"caf\xe9 au lait", "caf\ufffd au lait"), (b"ca\0fe", "cafe"), (rb"half \ud83d of it", "half ? of it")],
)
def test_bytes_that_are_no_text_are_mended(words, read_as, tell):
    told = tell(GOOD.replace(b"hello", words))

    assert told.said("user") == [read_as]
    assert told.report.skipped == 0
    told.events[0].text.encode()


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_no_trouble(tell):
    told = tell(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n") + b"\r\n\n" + AFTER.rstrip())

    assert told.said("user") == ["hello", "still here"]
    assert (told.report.lines, told.report.skipped, told.report.problems) == (2, 0, [])


def test_every_line_is_accounted_for(tell):
    told = tell(
        Lines([*CLAUDE_CODE, {"type": "progress", "uuid": "p"}, {"type": "?"}, claude("assistant", [], "u9")])
    )

    assert told.report.lines == 7
    assert told.report.events + told.report.left_out.total() + told.report.skipped == 7


def test_a_compressed_file_that_breaks_off_is_read_as_far_as_it_goes(tell):
    lines = Lines([claude("user", f"message {number}", f"u{number}") for number in range(20_000)])
    packed = gzip.compress(as_bytes(lines))

    told = tell(packed[: len(packed) // 2])

    assert len(told.events) > 1000
    assert told.report.skipped in (1, 2)
    assert "ends early" in told.report.problems[-1].reason


def test_only_the_first_problems_are_kept_and_all_are_counted(tell):
    told = tell(GOOD + b"{\n" * 500)

    assert told.report.skipped == 500
    assert len(told.report.problems) == SHOWN_PROBLEMS


def test_a_broken_item_in_a_document_costs_only_itself(tell):
    document = json.dumps(SWE_AGENT, indent=1).replace('"observation": ""', '"observation": nothing')

    told = tell(document)

    assert [event.text for event in told.answers] == [ANSWER]
    assert told.report.skipped == 1


@pytest.mark.parametrize(
    "document", ['[{"role": "user", "content": "a"} }', '[{"role": "user", "content": "a"}, ]]', "[}"]
)
def test_a_document_with_the_wrong_brackets_comes_to_an_end(document, tell):
    told = tell(document, format="messages")

    assert told.said("user") in (["a"], [])


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


def _places(value, path=()):
    """Where in a JSON value something could be put in the place of something else."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from _places(inner, (*path, key))


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name not in ("aider", "opencode")])
@given(data=st.data())
@settings(max_examples=40)
def test_a_value_of_any_type_in_any_place_harms_nothing(sample, data, tmp_path):
    format, content = SAMPLES[sample]
    changed = copy.deepcopy(content)
    *way, last = data.draw(st.sampled_from(list(_places(changed))))
    target = changed
    for key in way:
        target = target[key]
    target[last] = data.draw(_ANY)
    path = tmp_path / "file"
    path.write_bytes(as_bytes(changed))

    events = list(read(path, format))

    assert all(
        isinstance(event.text, str) and event.author in ("user", "assistant", "tool") for event in events
    )


@pytest.mark.parametrize("sample", SAMPLES)
@given(at=st.integers(1, 2000), drop=st.integers(0, 40), put=st.binary(max_size=6))
@settings(max_examples=40)
def test_bytes_changed_anywhere_harm_nothing(sample, at, drop, put, tmp_path):
    format, content = SAMPLES[sample]
    raw = as_bytes(content)
    at = min(at, len(raw) - 1)  # never the first byte: that one tells how a file is compressed
    path = tmp_path / "file"
    path.write_bytes(raw[:at] + put + raw[at + drop :])

    events = list(read(path, format))

    assert [event.order for event in events if event.session == "s1"] == list(
        range(sum(event.session == "s1" for event in events))
    )


def test_a_long_file_is_read_as_a_stream(tmp_path):
    path = tmp_path / "long.jsonl"
    line = as_bytes(Lines([claude("assistant", [text("word " * 600)], "NUMBER")]))
    with path.open("wb") as file:
        for number in range(10_000):
            file.write(line.replace(b"NUMBER", b"%d" % number))
    assert path.stat().st_size > 30e6

    count, peak = _peak(path)

    assert count == 10_000
    assert peak < 4e6


def test_a_long_document_is_read_as_a_stream(tmp_path):
    path = tmp_path / "long.json"
    item = json.dumps({"role": "user", "content": "word " * 600})
    with path.open("w") as file:
        file.write('{"messages": [')
        for _ in range(10_000):
            file.write(item + ",\n")
        file.write(item + "]}")
    assert path.stat().st_size > 30e6

    count, peak = _peak(path)

    assert count == 10_001
    assert peak < 4e6


def test_a_file_of_one_line_that_is_too_long_is_not_called_empty(tmp_path):
    path = tmp_path / "wide"
    path.write_bytes(b"x" * (17 * 2**20))

    with pytest.raises(Refused, match="not a transcript in a known format"):
        list(read(path))


@pytest.mark.parametrize("opening, closing", [(b"", b""), (b"[", b"]")])
def test_a_line_of_50_mb_is_passed_over_in_pieces(opening, closing, tmp_path):
    path = tmp_path / "wide"
    between, item = (b",", b'{"role": "user", "content": "hello"}\n') if opening else (b"", GOOD)
    with path.open("wb") as file:
        file.write(opening + item + between + b'{"role": "user", "content": "')
        for _ in range(50):
            file.write(b"x" * 2**20)
        file.write(b'"}\n' + between + item.replace(b"u1", b"u2") + closing)
    report = Report()

    count, peak = _peak(path, report)

    assert count == 2
    assert report.skipped == 1
    assert report.problems[0].line == 2
    assert "16 MB" in report.problems[0].reason
    assert peak < 120e6


def _peak(path, report=None):
    """How many events, and the most memory that was held at once on the way."""
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(path, report=report))
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
