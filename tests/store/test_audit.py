"""The log holds together from the first archived line to the newest, or says where it does not."""

import json

import pytest

from samples import keep, memory


@pytest.fixture
def archive(home):
    return home / "audit-archive.jsonl"


@pytest.fixture
def trimmed(store):
    """A store with lines 1 to 20 archived in two goes, and 21 to 30 in the store."""
    keep(store, *(memory(f"Number {number}.") for number in range(25)))
    assert store.trim_audit(keep=20, down_to=12) == 13
    keep(store, *(memory(f"Number {number}.") for number in range(25, 30)))
    assert store.trim_audit(keep=10, down_to=10) == 7
    return store


def test_every_line_is_checked_across_archives(trimmed):
    checked = trimmed.verify_audit()

    assert (checked.lines, checked.archived, checked.problem) == (30, 20, None)
    assert trimmed.check() == []


def test_an_empty_log_holds(store):
    checked = store.verify_audit()

    assert (checked.lines, checked.archived, checked.problem) == (0, 0, None)


def edited(lines):
    return [line.replace('"user"', '"someone"') if number == 4 else line for number, line in enumerate(lines)]


def forged(lines):
    """A line of an old number, which would be skipped if only numbers were looked at."""
    return [*lines[:8], lines[3].replace('"add"', '"remove"'), *lines[8:]]


@pytest.mark.parametrize(
    "tamper, told",
    [
        (edited, "archived line 5"),
        (lambda lines: [*lines[:6], *lines[7:]], "archived line 8"),
        (lambda lines: [*lines[:6], lines[5], *lines[6:]], "archived line 6"),
        (forged, "archived line 4"),
        (lambda lines: [*lines[:6], lines[7], lines[6], *lines[8:]], "archived line 8"),
        (lambda lines: lines[3:], "archived line 4"),
        (lambda lines: lines[:-3], "line 21"),
        (lambda lines: [*lines[:-1], lines[-1][:-30]], "line 21"),
        (lambda lines: [], "line 21"),
        (lambda lines: [*lines[:2], "garbage\n", *lines[2:]], "line 3 of audit-archive.jsonl"),
        (lambda lines: [*lines[:2], "[1, 2]\n", *lines[2:]], "line 3 of audit-archive.jsonl"),
        (lambda lines: [*lines[:2], '{"seq": 3}\n', *lines[2:]], "line 3 of audit-archive.jsonl"),
    ],
)
def test_an_archive_that_was_tampered_with_is_found_where_it_was(trimmed, archive, tamper, told):
    archive.write_text("".join(tamper(archive.read_text().splitlines(keepends=True))))

    problem = trimmed.verify_audit().problem

    assert problem is not None
    assert told in problem.what
    assert "altered" in trimmed.check()[0].what


def test_an_archive_that_is_gone_is_missed(trimmed, archive):
    archive.unlink()

    assert "line 21" in trimmed.verify_audit().problem.what


@pytest.mark.parametrize(
    "tampering, told, lines",
    [
        ("UPDATE audit SET actor = 'someone' WHERE seq = 25", "line 25", 24),
        ("DELETE FROM audit WHERE seq = 25", "line 26", 24),
        ("DELETE FROM audit WHERE seq > 27", "lines 28 to 30 are gone", 27),
        ("DELETE FROM audit", "lines 1 to 30 are gone", 20),
        (
            "INSERT INTO audit SELECT 31, at, actor, action, memory_id, detail, hash FROM audit WHERE seq = 25",
            "line 31",
            30,
        ),
        ("UPDATE audit SET seq = 99 WHERE seq = 25", "line 26", 24),
    ],
)
def test_a_store_that_was_tampered_with_is_found_where_it_was(trimmed, execute, tampering, told, lines):
    execute(tampering)

    checked = trimmed.verify_audit()

    assert checked.lines == lines
    assert told in checked.problem.what


def test_lines_that_are_in_both_after_a_power_cut_are_counted_once(trimmed, archive, execute):
    rows = execute("SELECT seq, at, actor, action, memory_id, detail, hash FROM audit ORDER BY seq LIMIT 4")
    with archive.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)

    assert (trimmed.verify_audit().lines, trimmed.verify_audit().problem) == (30, None)

    trimmed.trim_audit(keep=5, down_to=3)

    seqs = [json.loads(line)[0] for line in archive.read_text().splitlines()]
    assert seqs == list(range(1, 28))
    assert trimmed.verify_audit().lines == 30


def test_a_line_that_is_in_both_must_be_the_same_in_both(trimmed, archive, execute):
    (row,) = execute("SELECT seq, at, actor, action, memory_id, detail, hash FROM audit WHERE seq = 21")
    with archive.open("a") as file:
        file.write(json.dumps(row) + "\n")

    execute("UPDATE audit SET actor = 'someone' WHERE seq = 21")

    assert "line 21" in trimmed.verify_audit().problem.what
