import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import child
from recollect.errors import StoreBusy, StoreDamaged, StoreError, StoreTooNew, StoreUnwritable
from recollect.store import open_store_to_read, rows
from recollect.store.sqlite import connection, opening
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, MINE, keep, memory

NEWEST = len(list((Path(opening.__file__).parent / "migrations").glob("*.sql")))


@pytest.fixture
def path(home):
    return home / "recollect.db"


def filled(path, count=200):
    """A store of `count` memories with a backup of all but the last, closed."""
    store = SqliteStore(path, "ada")
    keep(store, *(memory(f"Number {number}: {'x' * 200}", tags=("t",)) for number in range(count)))
    store.backup()
    keep(store, memory("After the backup."))
    store.close()


def contents(path):
    """What is in the store, and what the user is told on opening it."""
    store = SqliteStore(path, "ada")
    try:
        return len(store.newest(EVERYTHING)), store.notices, store.check()
    finally:
        store.close()


def scribble(path, offset=None, size=4096):
    data = bytearray(path.read_bytes())
    offset = len(data) // 2 if offset is None else offset
    data[offset : offset + size] = bytes(255 - byte for byte in data[offset : offset + size])
    path.write_bytes(data)


def set_version(path, number):
    db = connection.connect(path, None)
    db.pragma("user_version", number)
    db.close()


# migrations


def test_a_fresh_store_has_the_newest_version(path):
    store = SqliteStore(path, "ada")

    assert store.info().version == NEWEST
    assert store.notices == ()
    assert not (path.parent / "backups").exists()
    store.close()


def of_version_1(path):
    """A store as the first version left it, with one memory in it."""
    kept = memory()
    db = connection.connect(path, None)
    db.execute((Path(opening.__file__).parent / "migrations" / "0001_memories.sql").read_text())
    known = {row[1] for row in db.execute("PRAGMA table_info(memories)")}
    row = dict(zip(rows.MEMORY_COLUMNS, rows.memory_row(kept), strict=True))
    row = {"num": 1, "seq": 0, **{name: value for name, value in row.items() if name in known}}
    places = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO memories ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
    db.execute("INSERT INTO memory_words (rowid, content) VALUES (1, ?)", (kept.content,))
    db.pragma("user_version", 1)
    db.close()
    return kept


def test_an_older_store_is_brought_up_to_date_after_a_backup(path):
    kept = of_version_1(path)

    store = SqliteStore(path, "ada")

    assert store.info().version == NEWEST
    assert store.get(kept.id) == kept
    store.log("add", "user", kept.created_at, kept.id, {})
    assert store.check() == []
    store.close()
    backup = connection.connect(path.parent / "backups" / "recollect-1.db", None)
    assert backup.pragma("user_version") == 1
    assert backup.execute("SELECT id FROM memories").get == kept.id
    backup.close()


def test_processes_that_migrate_at_once_do_not_disturb_each_other(path):
    kept = of_version_1(path)
    code = (
        "import sys; from pathlib import Path; from recollect.store.sqlite.store import SqliteStore\n"
        "input(); store = SqliteStore(Path(sys.argv[1]), 'ada'); print(store.info().version); store.close()"
    )
    processes = [
        subprocess.Popen(
            [child.sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]

    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()

    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (out.strip(), process.returncode) == (str(NEWEST), 0), err
    store = SqliteStore(path, "ada")
    assert store.get(kept.id) == kept
    store.close()


def test_processes_that_make_the_store_at_once_do_not_disturb_each_other(path):
    code = (
        "import sys; from pathlib import Path; from recollect.store.sqlite.store import SqliteStore\n"
        "from samples import keep, memory\n"
        "store = SqliteStore(Path(sys.argv[1]), 'ada'); keep(store, memory(sys.argv[2])); store.backup(); store.close()"
    )

    processes = [child.start(code, path, f"Number {number}.") for number in range(6)]

    for process in processes:
        child.finish(process)
    assert contents(path) == (6, (), [])


def test_a_store_that_was_migrated_while_it_was_open_is_no_longer_written_to(path):
    filled(path, 2)
    store = SqliteStore(path, "ada")
    db = connection.connect(path, None)
    db.pragma("user_version", NEWEST + 1)
    db.close()

    with pytest.raises(StoreTooNew, match=f"version {NEWEST + 1}"):
        keep(store, memory("New."))

    assert store.count(EVERYTHING) == 3
    store.close()


def test_a_newer_store_is_refused_and_left_as_it_is(path):
    filled(path, 3)
    set_version(path, NEWEST + 1)
    before = path.read_bytes()

    with pytest.raises(StoreTooNew, match=f"version {NEWEST + 1}"):
        SqliteStore(path, "ada")

    assert path.read_bytes() == before
    set_version(path, NEWEST)
    assert contents(path) == (4, (), [])


# damage


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 100])


def empty(path):
    path.write_bytes(b"")


def garble(path):
    path.write_bytes(b"This is not a database.\n" * 1000)


@pytest.mark.parametrize(
    "damage",
    [lambda path: scribble(path, 0, 100), cut, empty, garble],
    ids=["header", "cut", "empty", "text"],
)
def test_a_damaged_file_is_set_aside_and_the_newest_backup_restored(path, damage):
    filled(path)
    damage(path)
    damaged = path.read_bytes()
    backup = (path.parent / "backups" / "recollect-1.db").read_bytes()
    made = (path.parent / "backups" / "recollect-1.db").stat().st_mtime

    count, notices, problems = contents(path)
    if not notices:  # only reading shows it: the next opening restores
        count, notices, problems = contents(path)

    assert (count, problems) == (200, [])
    assert "restored from the backup of" in notices[0]
    (aside,) = path.parent.glob("recollect.db.damaged-*[0-9]")
    assert aside.name in notices[0]
    assert len(aside.read_bytes()) == len(damaged)
    restored = path.parent / "backups" / "recollect-1.db"
    assert (restored.read_bytes(), restored.stat().st_mtime) == (backup, made)
    assert contents(path) == (200, (), [])


def test_damage_in_the_middle_is_found_by_whoever_reads_it(path):
    filled(path)
    scribble(path, path.read_bytes().index(b"Number 100:") // 4096 * 4096, size=3 * 4096)
    store = SqliteStore(path, "ada")

    with pytest.raises(StoreDamaged, match="damaged"):
        store.newest(EVERYTHING)
    store.close()

    count, notices, problems = contents(path)
    assert (count, len(notices), problems) == (200, 1, [])


def test_damage_within_a_text_is_found_by_whoever_reads_it(path):
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Number 7:", b"Number \xff:"))
    store = SqliteStore(path, "ada")

    with pytest.raises(StoreDamaged, match="does not match its checksum"):
        store.newest(EVERYTHING)
    store.close()

    count, notices, problems = contents(path)
    assert (count, len(notices), problems) == (201, 1, [])


def test_check_finds_damage_and_the_next_opening_repairs_it(path):
    filled(path)
    path.write_bytes(path.read_bytes().replace(b"Number 7:", b"Number \xff:"))
    store = SqliteStore(path, "ada")

    assert "does not match its checksum" in store.check()[0].what
    store.close()

    assert contents(path)[0] == 201


def test_when_the_newest_backup_is_bad_too_the_one_before_is_restored(path):
    filled(path, 50)
    store = SqliteStore(path, "ada")
    store.backup()
    store.close()
    scribble(path, 0, 100)
    scribble(path.parent / "backups" / "recollect-1.db", size=8192)

    count, notices, problems = contents(path)

    assert (count, len(notices), problems) == (50, 1, [])


@pytest.mark.parametrize("backups", ["none", "bad"])
def test_without_a_good_backup_a_damaged_file_is_left_alone(path, backups):
    filled(path, 50)
    scribble(path, 0, 100)
    for backup in (path.parent / "backups").glob("*.db"):
        backup.unlink() if backups == "none" else garble(backup)
    before = path.read_bytes()

    for _ in range(2):
        with pytest.raises(StoreDamaged, match="No intact backup") as error:
            SqliteStore(path, "ada")
        assert "import" in error.value.hint

    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.damaged-*"))


def test_an_empty_file_without_backups_is_a_new_store(path):
    path.touch()

    assert contents(path) == (0, (), [])


def test_a_restore_that_was_cut_off_is_finished(path):
    filled(path, 50)
    path.rename(path.with_name("recollect.db.damaged-20260101-000000"))
    shutil.copy(path.parent / "backups" / "recollect-1.db", path.with_name("recollect.db.restored"))

    assert contents(path) == (50, (), [])


def test_nothing_is_restored_under_the_hands_of_another_process(path):
    filled(path, 50)
    code = (
        "import sys; from pathlib import Path; from recollect.store.sqlite.store import SqliteStore\n"
        "store = SqliteStore(Path(sys.argv[1]), 'ada'); print('open', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [child.sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    scribble(path, 0, 100)

    with pytest.raises(StoreDamaged, match="still has it open"):
        SqliteStore(path, "ada")

    process.communicate("")
    assert contents(path)[0] == 50


def test_processes_that_meet_the_damage_at_once_restore_it_once(path):
    filled(path, 50)
    scribble(path, 0, 100)
    code = (
        "import sys; from pathlib import Path; from recollect.store.sqlite.store import SqliteStore\n"
        "from samples import keep, memory\n"
        "store = SqliteStore(Path(sys.argv[1]), 'ada'); keep(store, memory(sys.argv[2])); print(len(store.notices))"
    )

    processes = [child.start(code, path, f"Number {number}.") for number in range(4)]

    assert sum(int(child.finish(process)) for process in processes) == 1
    assert contents(path) == (54, (), [])
    assert len(list(path.parent.glob("*.damaged-*[0-9]"))) == 1


def test_the_lock_is_given_back_after_a_failed_opening(path):
    filled(path, 5)
    set_version(path, NEWEST + 1)
    with pytest.raises(StoreTooNew):
        SqliteStore(path, "ada")
    set_version(path, NEWEST)
    store = SqliteStore(path, "ada")

    with store._db.alone("try"):
        pass
    store.close()


def test_nobody_is_alone_while_another_has_it_open(path):
    first, second = SqliteStore(path, "ada"), SqliteStore(path, "ada")

    with pytest.raises(StoreBusy, match="another process"), first._db.alone("try"):
        pass
    second.close()
    with first._db.alone("try"):
        pass
    with pytest.raises(StoreBusy, match="in use"), first.transaction(), first._db.alone("try"):
        pass
    assert first.count(MINE) == 0
    first.close()


# an unclean end

WRITER = """
import sys
from pathlib import Path
from recollect.store.sqlite.store import SqliteStore
from samples import keep, memory
store = SqliteStore(Path(sys.argv[1]), "ada")
for number in range(20):
    keep(store, memory(f"Number {number} of the dead."))
print("written", flush=True)
sys.stdin.read()
"""


def killed(path):
    """A writer has died and left its log."""
    process = subprocess.Popen(
        [child.sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in child.sys.path if p)},
    )
    assert process.stdout.readline() == "written\n"
    process.kill()
    process.communicate()
    assert Path(f"{path}-wal").stat().st_size > 0


def test_what_is_in_the_log_of_a_killed_process_is_there(path):
    killed(path)

    assert contents(path) == (20, (), [])


def test_after_an_unclean_end_the_whole_file_is_checked(path):
    filled(path)
    killed(path)
    # A page that opening does not need.
    scribble(path, offset=path.stat().st_size - 40 * 4096, size=20 * 4096)

    store = SqliteStore(path, "ada")

    assert "damaged" in store.notices[0]
    assert store.count(EVERYTHING) == 200
    assert store.check() == []
    store.close()
    (aside,) = path.parent.glob("recollect.db.damaged-*[0-9]")
    assert b"of the dead" in aside.read_bytes()


# homes that cannot be written to


@pytest.fixture
def read_only(home):
    """Makes the home read-only when it is called, until the end of the test."""
    if not child.CAN_OBEY_MODES:
        pytest.skip(child.WHY_NOT)
    yield lambda: child.make_read_only(home)
    child.make_writable(home)


READ_AND_TRY_TO_WRITE = (
    child.OBEY_MODES
    + """
import sys
from pathlib import Path
import recollect.errors as errors
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, MINE, keep, memory
store = SqliteStore(Path(sys.argv[1]), "ada")
print(len(store.newest(EVERYTHING)), len(store.match(MINE, "number", 100)), len(store.check()))
for write in (lambda: keep(store, memory("New.")), store.backup):
    try:
        write()
    except errors.StoreUnwritable as error:
        print(error.message)
store.close()
"""
)


def test_a_read_only_home_can_be_read_and_refuses_writes(home, path, read_only):
    filled(path, 20)
    read_only()
    before = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}

    lines = child.run(READ_AND_TRY_TO_WRITE, path).splitlines()

    assert lines[0] == "21 20 0"
    assert "read-only: nothing was changed" in lines[1]
    assert "Nothing was changed" in lines[2]
    assert {file: file.read_bytes() for file in home.rglob("*") if file.is_file()} == before


def test_a_read_only_home_shows_what_a_killed_process_left_in_the_log(path, read_only):
    killed(path)
    read_only()

    lines = child.run(READ_AND_TRY_TO_WRITE, path).splitlines()

    assert lines[0] == "20 20 0"


def test_an_older_store_in_a_read_only_home_says_why_it_cannot_be_opened(home, path, read_only):
    fixture = Path(__file__).parent / "fixtures" / "v13.db.gz"
    path.write_bytes(gzip.decompress(fixture.read_bytes()))
    read_only()
    code = f"""{child.OBEY_MODES}
import sys
from pathlib import Path
import recollect.errors as errors
from recollect.store.sqlite.store import SqliteStore
try:
    SqliteStore(Path(sys.argv[1]), "ada")
except errors.StoreUnwritable as error:
    print(error.message, error.hint)
"""

    out = child.run(code, path)

    assert "older Recollect (version 13" in out
    assert "read-only: nothing was changed" in out


def test_a_home_that_cannot_be_made_says_so(home, read_only):
    read_only()
    code = f"""{child.OBEY_MODES}
import sys
from pathlib import Path
import recollect.errors as errors
from recollect.store.sqlite.store import SqliteStore
try:
    SqliteStore(Path(sys.argv[1]) / "new" / "recollect.db", "ada")
except errors.StoreUnwritable as error:
    print(error.message, error.hint)
"""

    out = child.run(code, home)

    assert "new" in out
    assert "RECOLLECT_HOME" in out


# a full disk

FILL = """
import resource, signal, sys
from pathlib import Path
from recollect.errors import StoreUnwritable
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, keep, memory
store = SqliteStore(Path(sys.argv[1]), "ada")
limit = int(sys.argv[2])
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    while True:
        print(keep(store, memory(f"Full: {'x' * 1500}")).id, flush=True)
except StoreUnwritable as error:
    print("refused", error.message, flush=True)
print(len(store.newest(EVERYTHING)))
try:
    store.backup()
except StoreUnwritable as error:
    print("refused", error.message)
store.close()
"""


def check_full(path, lines):
    acknowledged = [line for line in lines if " " not in line][:-1]
    refusals = [line for line in lines if line.startswith("refused")]
    assert refusals
    assert "othing was changed" in refusals[0]
    assert int(next(line for line in lines if line.isdigit() and len(line) < 6)) == 50 + 1 + len(acknowledged)
    return acknowledged


def test_a_file_that_may_not_grow_loses_nothing(path):
    filled(path, 50)

    lines = child.run(FILL, path, 2_000_000).splitlines()

    acknowledged = check_full(path, lines)
    store = SqliteStore(path, "ada")
    assert set(acknowledged) <= {each.id for each in store.newest(EVERYTHING)}
    assert store.check() == []
    keep(store, memory("There is room again."))
    store.close()


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a disk (root); a file that may not grow is tested without")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_loses_nothing(small_disk):
    path = small_disk / "recollect.db"
    filled(path, 50)

    lines = child.run(FILL, path, 0).splitlines()

    acknowledged = check_full(path, lines)
    (small_disk / "backups" / "recollect-1.db").unlink()
    store = SqliteStore(path, "ada")
    assert set(acknowledged) <= {each.id for each in store.newest(EVERYTHING)}
    assert store.check() == []
    store.close()


def test_a_store_cannot_be_made_on_a_full_disk(small_disk):
    (small_disk / "big").write_bytes(b"x" * 2_093_056)

    with pytest.raises(StoreUnwritable, match="othing was changed"):
        SqliteStore(small_disk / "recollect.db", "ada")

    (small_disk / "big").unlink()
    assert contents(small_disk / "recollect.db") == (0, (), [])


# opening to read


def read(path):
    """What a reader finds in the store, having changed no byte of it."""
    before = path.read_bytes()
    store = open_store_to_read(path, "ada")
    try:
        return store.count(EVERYTHING)
    finally:
        store.close()
        assert path.read_bytes() == before


def test_a_reader_sees_what_there_is_and_may_not_write(path):
    filled(path, 20)
    store = open_store_to_read(path, "ada")

    assert store.count(EVERYTHING) == 21
    for write in (lambda: keep(store, memory("New.")), store.vacuum):
        with pytest.raises(StoreUnwritable, match="othing was changed"):
            write()
    store.close()


def test_a_reader_does_not_wait_for_a_writer(path):
    filled(path, 20)
    writer = SqliteStore(path, "ada")
    with writer.transaction():
        keep(writer, memory("Not committed yet."))

        assert read(path) == 21
    writer.close()


def test_a_reader_sees_what_a_killed_process_left_in_the_log_and_leaves_the_check_to_others(path):
    killed(path)

    assert read(path) == 20

    store = SqliteStore(path, "ada")
    assert store.count(EVERYTHING) == 20
    store.close()


def test_a_reader_creates_nothing(path):
    with pytest.raises(StoreError):
        open_store_to_read(path, "ada")

    assert not list(path.parent.iterdir())


@pytest.mark.parametrize(("version", "error"), [(NEWEST + 1, StoreTooNew), (NEWEST - 1, StoreUnwritable)])
def test_a_reader_migrates_nothing(path, version, error):
    filled(path, 2)
    set_version(path, version)

    with pytest.raises(error):
        open_store_to_read(path, "ada")

    db = connection.connect(path, None)
    assert db.pragma("user_version") == version
    db.close()


def test_a_reader_restores_nothing(path):
    filled(path)
    scribble(path, offset=0)

    with pytest.raises(StoreDamaged):
        open_store_to_read(path, "ada")

    assert not list(path.parent.glob("*.damaged-*"))


def test_a_file_that_is_suspected_of_damage_is_not_read(path):
    filled(path, 2)
    connection.suspicion(path).touch()

    with pytest.raises(StoreDamaged):
        open_store_to_read(path, "ada")


def test_a_reader_does_not_wait_for_one_who_has_the_file_alone(path):
    filled(path, 2)
    db = connection.connect(path, None)
    db.pragma("locking_mode", "exclusive")
    db.execute("BEGIN EXCLUSIVE")

    with pytest.raises(StoreBusy):
        open_store_to_read(path, "ada")
    db.close()
