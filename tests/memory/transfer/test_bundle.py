"""A file that only its passphrase opens."""

import random

import pytest

from fakes import FakeEmbedder
from recollect import Engine
from recollect.errors import BadImport, RecollectError, Refused
from recollect.memory.transfer import bundle as bundles
from recollect.memory.transfer.bundle import MARK, is_bundle, open_bundle, write_bundle

WORDS = "correct horse battery staple"
LINES = [f'{{"content": "Line {number} says something of its own"}}\n' for number in range(400)]


COST = bundles._COST


@pytest.fixture(autouse=True)
def guesses_are_cheap(monkeypatch):
    """Derives keys in no time. Commands have bundles at the real cost in their tests."""
    monkeypatch.setattr(bundles, "_COST", 2**10)


@pytest.fixture
def bundle(tmp_path):
    file = tmp_path / "memories.bundle"
    write_bundle(file, WORDS, LINES)
    return file


def text_of(file, passphrase=WORDS):
    return b"".join(open_bundle(file, passphrase)()).decode()


def test_what_goes_in_comes_out_as_often_as_it_is_asked_for(bundle):
    lines = open_bundle(bundle, WORDS)

    assert is_bundle(bundle)
    assert bundle.stat().st_mode & 0o777 == 0o600
    assert list(lines()) == list(lines()) == [line.encode() for line in LINES]


def test_a_guess_takes_64_megabytes():
    assert 128 * 8 * COST == 64 << 20  # by the definition of scrypt with blocks of 8


def test_nothing_of_it_is_on_the_disk_in_the_clear_at_any_moment(tmp_path):
    seen = set()

    def watched():
        for line in LINES * 50:  # more than SQLite keeps in memory
            yield line
            for file in tmp_path.iterdir():
                seen.add(file.name)
        for file in tmp_path.iterdir():
            assert b"something" not in file.read_bytes()
            assert file.stat().st_mode & 0o777 == 0o600

    write_bundle(tmp_path / "memories.bundle", WORDS, watched())

    assert len(seen) == 1, "one file, and no journal beside it"
    assert [file.name for file in tmp_path.iterdir()] == ["memories.bundle"]
    assert b"something" not in (tmp_path / "memories.bundle").read_bytes()


@pytest.mark.parametrize("wrong", ["correct horse battery stapler", WORDS.upper(), " " + WORDS])
def test_a_wrong_passphrase_is_refused_by_name(bundle, wrong):
    with pytest.raises(BadImport, match=r"passphrase does not open .*memories\.bundle"):
        open_bundle(bundle, wrong)


def test_a_passphrase_is_the_same_however_the_keyboard_composes_it(tmp_path):
    write_bundle(tmp_path / "b", "K\u00e4se und Brot", LINES[:1])

    assert text_of(tmp_path / "b", "Ka\u0308se und Brot") == LINES[0]


@pytest.mark.parametrize("short", ["", "1234567"])
def test_a_short_passphrase_is_refused_and_nothing_written(tmp_path, short):
    with pytest.raises(Refused, match="fewer than 8"):
        write_bundle(tmp_path / "b", short, LINES)

    assert list(tmp_path.iterdir()) == []


def test_a_flipped_byte_anywhere_is_refused(bundle):
    whole, chance = bundle.read_bytes(), random.Random(7)
    places = [len(MARK), 15, 16, 20, 24, 100, 4095, len(whole) - 1]
    places += [chance.randrange(len(MARK), len(whole)) for _ in range(12)]

    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << chance.randrange(8)
        bundle.write_bytes(data)
        with pytest.raises(BadImport, match=r"memories\.bundle"):
            open_bundle(bundle, WORDS)


@pytest.mark.parametrize("kept", [16, 4096, 20_000, -1, -4096])
def test_a_bundle_that_was_cut_off_is_refused(bundle, kept):
    bundle.write_bytes(bundle.read_bytes()[:kept])

    with pytest.raises(BadImport, match=r"memories\.bundle"):
        open_bundle(bundle, WORDS)


def test_a_bundle_whose_seal_does_not_fit_its_lines_is_refused(tmp_path, bundle):
    other = tmp_path / "other"
    write_bundle(other, WORDS, LINES[:-1])
    mixed = bytearray(bundle.read_bytes())
    mixed[4096:] = other.read_bytes()[4096:]  # pages of one in the file of another
    bundle.write_bytes(mixed)

    with pytest.raises(BadImport, match="damaged"):
        open_bundle(bundle, WORDS)


def test_a_bundle_that_cannot_be_written_leaves_the_old_one(bundle, tmp_path):
    def failing():
        yield LINES[0]
        raise OSError(28, "No space left on device")

    with pytest.raises(RecollectError, match="Cannot write"):
        write_bundle(bundle, WORDS, failing())

    assert text_of(bundle) == "".join(LINES)
    assert [file.name for file in tmp_path.iterdir()] == ["memories.bundle"]


def test_a_bundle_holds_what_an_export_holds(tmp_path):
    with Engine.open(tmp_path, tmp_path / "home", embedder=FakeEmbedder()) as engine:
        engine.remember("Use tabs")
        engine.remember("Mail goes out by a worker")

        count = engine.bundle(tmp_path / "b", WORDS, vectors=True)
        with (tmp_path / "plain").open("w") as out:
            engine.export(out, vectors=True)

    assert count == 2
    assert text_of(tmp_path / "b").split("\n")[1:] == (tmp_path / "plain").read_text().split("\n")[1:]
