import gzip
from importlib.util import find_spec

import pytest
from transcript_samples import ANSWER, CLAUDE_CODE, COMMAND, SAMPLES, WISH, WORD, Lines, as_bytes

from recollect.errors import Refused, UnknownName
from recollect.work.hosts.transcripts import FORMATS, detect, read
from recollect.work.transcripts.reading import Report
from recollect.work.transcripts.tools import command_of, family_of


def test_every_format_has_a_sample():
    assert {format for format, _ in SAMPLES.values()} == set(FORMATS)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_format_is_known_by_what_is_in_the_file(sample, tmp_path):
    format, content = SAMPLES[sample]
    path = tmp_path / "misleading.txt"
    path.write_bytes(as_bytes(content))

    assert detect(path) == format


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_format_tells_the_same_story(sample, tell):
    _, content = SAMPLES[sample]

    told = tell(content)

    (call,) = told.calls
    answer = next(each for each in told.answers if each.text == ANSWER)
    assert told.said("user") == [WISH]
    assert told.said("assistant") == [WORD]
    assert (command_of(call), family_of(call)) == (COMMAND, "run")
    assert answer.call == call.call != ""
    assert answer.tool == call.tool
    assert answer.failed is not False
    assert told.report.skipped == 0


@pytest.mark.parametrize("sample", SAMPLES)
def test_events_are_numbered_from_nought_within_their_session(sample, tell):
    _, content = SAMPLES[sample]

    told = tell(content)

    assert [event.order for event in told.events] == list(range(len(told.events)))
    assert told.report.events == len(told.events)
    assert dict(told.report.sessions) == {told.events[0].session: len(told.events)}


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "opencode"])  # a database has no end
def test_a_broken_end_loses_only_what_is_broken(sample, tell):
    _, content = SAMPLES[sample]
    whole = tell(content)

    cut = tell(as_bytes(content)[:-9])

    assert len(cut.events) >= len(whole.events) - 1
    assert cut.report.skipped == (0 if sample == "aider" else 1)


def test_what_is_compressed_is_read_like_the_rest(tell):
    packed = gzip.compress(as_bytes(CLAUDE_CODE))

    told = tell(packed, name="no-ending")

    assert told.events == tell(CLAUDE_CODE).events


def test_zstd_is_read_where_python_can_and_refused_clearly_where_it_cannot(tell):
    content = as_bytes(Lines([{"role": "user", "content": WISH}]))
    frame = (
        b"\x28\xb5\x2f\xfd\x20"
        + bytes([len(content)])
        + (len(content) << 3 | 1).to_bytes(3, "little")
        + content
    )
    can = any(find_spec(package) and find_spec(f"{package}.zstd") for package in ("compression", "backports"))

    if can:
        assert tell(frame).said("user") == [WISH]
    else:
        with pytest.raises(Refused, match="zstd") as refused:
            tell(frame)
        assert "zstd -d" in refused.value.hint


@pytest.mark.parametrize(
    "content", ["Dear diary,\n", '{"a": 1}\n{"b": 2}\n', "[1, 2]", '"text"', "{", b"\xff\xfe\x00"]
)
def test_an_unknown_format_is_refused_by_name(content, tell, tmp_path):
    with pytest.raises(Refused, match="diary"):
        tell(content, name="diary")
    with pytest.raises(Refused) as refused:
        detect(tmp_path / "diary")
    assert "claude-code" in refused.value.hint


def test_a_format_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UnknownName, match="claude"):
        read(tmp_path / "file", format="claude")


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_opened_is_refused(name, tmp_path):
    with pytest.raises(Refused, match="cannot be read"):
        list(read(tmp_path / name))


def test_an_empty_file_is_reported_and_tells_nothing(tell):
    told = tell(b"")

    assert told.events == []
    assert [problem.reason for problem in told.report.problems] == ["the file is empty"]


def test_one_report_may_serve_many_files(tmp_path):
    report = Report()
    for name in ("one", "two"):
        path = tmp_path / name
        path.write_bytes(as_bytes(CLAUDE_CODE))

        list(read(path, report=report))

    assert report.events == report.sessions["s1"] == 8
