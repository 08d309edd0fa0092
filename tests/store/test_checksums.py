"""Pages of an unencrypted store have checksums: a flipped bit is noticed, and nothing is lost by it."""

import contextlib
import gzip
import random
from pathlib import Path

import apsw
import pytest

from recollect.errors import StoreDamaged, StoreError
from recollect.store import open_store
from recollect.store.sqlite import checksums, connection
from samples import EVERYTHING, keep, memory

FIXTURES = Path(__file__).parent / "fixtures"
BEFORE = [
    f"Sentence {number} is about the Till, in {word}." for number in range(40) for word in ("may", "june")
]
AFTER = "The queue is Redis, since the backup."


@pytest.fixture
def path(home):
    """A store with a backup of all but the last memory, closed."""
    path = home / "recollect.db"
    store = open_store(path, "ada")
    keep(store, *(memory(text) for text in BEFORE))
    store.backup()
    keep(store, memory(AFTER))
    store.close()
    return path


def flip(path, place, bit=0x20):
    data = bytearray(path.read_bytes())
    data[place] ^= bit
    path.write_bytes(data)


def read(path):
    """What the store holds, and the notices on opening it."""
    store = open_store(path, "ada")
    try:
        return sorted(each.content for each in store.newest(EVERYTHING, limit=1000)), store.notices
    finally:
        store.close()


def test_a_letter_that_became_another_letter_is_noticed_and_comes_back(path):
    flip(path, path.read_bytes().index(b"Till, in may"))  # "till" has the same fingerprint

    with pytest.raises(StoreDamaged, match="does not match its checksum"):
        read(path)
    texts, notices = read(path)

    assert texts == sorted([*BEFORE, AFTER])
    assert len(notices) == 1
    assert "repaired: nothing is missing" in notices[0]
    assert "1 rows came from a backup" in notices[0]
    assert read(path)[1] == ()


def test_a_letter_that_no_backup_has_is_named(path):
    wanted = open_store(path, "ada")
    [new] = [each for each in wanted.newest(EVERYTHING, limit=1000) if each.content == AFTER]
    wanted.close()
    flip(path, path.read_bytes().index(b"Redis, since"))

    with pytest.raises(StoreDamaged):
        read(path)
    _, notices = read(path)

    assert new.id in notices[0]


def test_wherever_a_bit_flips_it_is_noticed_or_changes_nothing(path):
    """A sentence may be missing only with a notice that later writes are."""
    whole, dice, expected = path.read_bytes(), random.Random(8), sorted([*BEFORE, AFTER])
    backups = {each: each.read_bytes() for each in (path.parent / "backups").glob("*.db")}

    for _ in range(60):
        for left in path.parent.glob("recollect.db?*"):
            left.unlink()
        for backup, data in backups.items():
            backup.write_bytes(data)
        path.write_bytes(whole)
        flip(path, dice.randrange(len(whole)), 1 << dice.randrange(8))

        try:
            texts, notices = read(path)
        except StoreDamaged:
            texts, notices = read(path)

        assert texts == expected or (texts == sorted(BEFORE) and "later writes are missing" in notices[0])


def test_an_index_that_hides_a_row_is_made_again(path):
    store = open_store(path, "ada")
    store.close()
    data = path.read_bytes()
    [name] = [each for each in read_ids(path) if each[1] == AFTER]
    places = [place for place in range(len(data)) if data.startswith(name[0].encode(), place)]
    assert len(places) > 1  # the row, and entries of indexes

    for place in places:
        path.write_bytes(data)
        flip(path, place + 10, 0x01)

        with pytest.raises(StoreDamaged):
            checked(path)
        assert read(path)[0] == sorted([*BEFORE, AFTER])


def read_ids(path):
    store = open_store(path, "ada")
    try:
        return [(each.id, each.content) for each in store.newest(EVERYTHING, limit=1000)]
    finally:
        store.close()


def checked(path):
    store = open_store(path, "ada")
    try:
        if problems := store.check():
            raise StoreDamaged(problems[0].what)
    finally:
        store.close()


def test_an_old_store_gets_checksums_with_its_next_backup(home):
    path = home / "recollect.db"
    path.write_bytes(gzip.decompress((FIXTURES / "v13.db.gz").read_bytes()))
    store = open_store(path, "ada")
    assert not store._db.has_checksums

    store.backup()

    assert store._db.has_checksums
    assert store.check() == []
    assert [backup.problem for backup in store.check_backups()] == [None, None]
    store.close()


def test_an_old_store_that_another_process_has_open_gets_checksums_later(home):
    path = home / "recollect.db"
    path.write_bytes(gzip.decompress((FIXTURES / "v13.db.gz").read_bytes()))
    other, store = open_store(path, "ada"), open_store(path, "ada")

    store.backup()
    assert not store._db.has_checksums
    other.close()
    store.backup()

    assert store._db.has_checksums
    store.close()


def test_a_connection_made_before_the_file_had_a_page_compares_checksums_too(home):
    path = home / "recollect.db"
    path.touch()
    early = apsw.Connection(str(path), vfs=checksums.vfs())
    store = open_store(path, "ada")

    late = connection.connect(path, None)

    assert not checksums.are_compared(early)
    assert checksums.are_compared(late)
    early.close()
    late.close()
    store.close()


def test_a_store_that_is_larger_than_the_cache_is_backed_up_with_checksums(home):
    # SQLite keeps 2 MB of pages, and writes what is over that in any order.
    store = open_store(home / "recollect.db", "ada")
    keep(store, *(memory(f"Sentence {number} is about the till.") for number in range(1800)))
    backup = Path(store.backup())
    store.close()

    with contextlib.closing(apsw.Connection(str(backup), vfs=checksums.vfs())) as copy:
        assert checksums.are_needed(copy)
        assert copy.pragma("integrity_check") == "ok"


def test_a_flipped_bit_in_a_backup_is_found(path):
    [backup] = (path.parent / "backups").glob("*.db")
    flip(backup, backup.read_bytes().index(b"Till, in may"))
    store = open_store(path, "ada")

    assert [each.problem for each in store.check_backups()] == ["a page does not match its checksum"]
    store.close()


def test_a_damaged_store_is_not_backed_up(path):
    [backup] = (path.parent / "backups").glob("*.db")
    whole = backup.read_bytes()
    flip(path, path.read_bytes().index(b"Till, in may"))
    store = open_store(path, "ada")

    with pytest.raises(StoreDamaged):
        store.backup()

    store.close()
    assert backup.read_bytes() == whole


def test_a_store_that_another_program_has_written_to_keeps_what_it_holds(path):
    """SQLite's own program writes pages without checksums: this looks like damage, and loses nothing."""
    other = apsw.Connection(str(path))
    other.execute("UPDATE memories SET summary = 'by hand'")
    other.close()

    with contextlib.suppress(StoreDamaged):
        read(path)
    texts, _ = read(path)

    assert texts == sorted([*BEFORE, AFTER])


def test_without_the_extension_a_store_with_checksums_is_refused(path, monkeypatch):
    monkeypatch.setattr(checksums, "vfs", lambda: None)

    with pytest.raises(StoreError, match="has checksums"):
        open_store(path, "ada")


def test_other_users_of_sqlite_in_the_process_keep_their_vfs(path):
    assert checksums.vfs() not in (None, apsw.vfs_names()[0])


def test_adding_checksums_that_was_killed_before_its_last_step_is_finished(home, tmp_path):
    path = home / "recollect.db"
    path.write_bytes(gzip.decompress((FIXTURES / "v13.db.gz").read_bytes()))
    open_store(path, "ada").close()
    db = connection.connect(path, None)
    checksums.reserve(db)
    db.execute("VACUUM")  # what it wrote is in the log only
    killed = tmp_path / "killed.db"
    for end in ("", "-wal"):
        Path(f"{killed}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    db.close()

    store = open_store(killed, "ada")

    assert store.check() == []
    assert store._db.has_checksums
    store.backup()
    assert [backup.problem for backup in store.check_backups()] == [None]
    store.close()
