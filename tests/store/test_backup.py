from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import child
from recollect.errors import StoreUnwritable
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, keep, memory


@pytest.fixture
def path(home):
    return home / "recollect.db"


def count_in(backup, tmp_path):
    """How many memories a backup holds, opened as a store of its own; it must be sound."""
    copy = tmp_path / "copy" / "recollect.db"
    copy.parent.mkdir(exist_ok=True)
    for old in copy.parent.glob("recollect.db*"):
        old.unlink()
    copy.write_bytes(Path(backup).read_bytes())
    store = SqliteStore(copy, "ada")
    try:
        assert store.check() == []
        assert store.notices == ()
        return store.count(EVERYTHING)
    finally:
        store.close()


def test_the_three_newest_backups_are_kept_newest_first(path, tmp_path):
    store = SqliteStore(path, "ada")

    for number in range(5):
        keep(store, memory(f"Number {number}."))
        assert store.backup() == str(path.parent / "backups" / "recollect-1.db")

    store.close()
    names = sorted(each.name for each in (path.parent / "backups").glob("*.db*"))
    assert names == ["recollect-1.db", "recollect-2.db", "recollect-3.db"]
    counts = [count_in(path.parent / "backups" / name, tmp_path) for name in names]
    assert counts == [5, 4, 3]


def test_a_backup_holds_what_only_the_log_has(path, tmp_path):
    store = SqliteStore(path, "ada")
    keep(store, *(memory(f"Number {number}.") for number in range(100)))
    assert Path(f"{path}-wal").stat().st_size > 0

    assert count_in(store.backup(), tmp_path) == 100

    store.close()


def test_the_age_of_the_newest_backup_is_known(path):
    store = SqliteStore(path, "ada")
    now = datetime.now(UTC)
    assert store.backup_age(now) is None

    store.backup()

    assert store.backup_age(now + timedelta(hours=30)) == pytest.approx(30, abs=0.1)
    store.close()


WRITER = """
import sys
from pathlib import Path
from recollect.store.sqlite.store import SqliteStore
from samples import keep, memory
store = SqliteStore(Path(sys.argv[1]), "ada")
number = 0
while True:
    keep(store, *(memory(f"Number {number} of {each}.") for each in "ab"))  # always both
    number += 1
    print(number, flush=True)
"""


def test_a_backup_taken_while_another_process_writes_is_consistent(path, tmp_path):
    SqliteStore(path, "ada").close()
    process = child.start(WRITER, path)
    store = SqliteStore(path, "ada")

    counts = []
    for _ in range(5):
        written = int(process.stdout.readline())
        counts.append((written, count_in(store.backup(), tmp_path)))

    child.kill(process)
    store.close()
    assert all(count % 2 == 0 and count >= 2 * written for written, count in counts)


def test_backups_made_by_many_at_once_do_not_disturb_each_other(path, tmp_path):
    store = SqliteStore(path, "ada")
    keep(store, memory())
    code = (
        "import sys; from pathlib import Path; from recollect.store.sqlite.store import SqliteStore\n"
        "store = SqliteStore(Path(sys.argv[1]), 'ada')\n"
        "for _ in range(10): store.backup()\n"
        "store.close()"
    )

    for process in [child.start(code, path) for _ in range(4)]:
        child.finish(process)

    store.close()
    backups = sorted((path.parent / "backups").glob("*.db*"))
    assert [count_in(each, tmp_path) for each in backups] == [1, 1, 1]


def test_a_backup_that_cannot_be_made_changes_nothing(path):
    store = SqliteStore(path, "ada")
    keep(store, memory())
    (path.parent / "backups").write_text("in the way")

    with pytest.raises(StoreUnwritable, match="backups"):
        store.backup()

    assert store.count(EVERYTHING) == 1
    assert store.check() == []
    store.close()


CRASHING_BACKUP = """
import sys
from pathlib import Path
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, keep, memory
from crash import crash_everywhere

home, work = map(Path, sys.argv[1:])
store = SqliteStore(home / "recollect.db", "ada")
for number in range(4):
    keep(store, memory(f"Number {number}."))
    store.backup()
store.close()

def back_up(home):
    store = SqliteStore(home / "recollect.db", "ada")
    keep(store, memory("Number 5."))
    store.backup()
    store.close()

for crashed in crash_everywhere(home, work, back_up):
    store = SqliteStore(crashed / "recollect.db", "ada")
    assert store.count(EVERYTHING) >= 4 and store.check() == [], crashed
    store.close()
    (crashed / "recollect.db").write_bytes(b"damaged " * 999)
    store = SqliteStore(crashed / "recollect.db", "ada")  # some backup is always there
    assert store.count(EVERYTHING) >= 3 and store.check() == [], crashed
    store.backup()
    store.close()
    left = {each.name for each in (crashed / "backups").glob("*.db*")}
    assert left <= {f"recollect-{number}.db" for number in (1, 2, 3)}, left
    print(crashed.name)
"""


def test_a_backup_killed_at_any_step_leaves_good_ones(home, tmp_path):
    steps = child.run(CRASHING_BACKUP, home, tmp_path).splitlines()

    assert len(steps) >= 5


CRASHING_RESTORE = """
import sys
from pathlib import Path
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, keep, memory
from crash import crash_everywhere

home, work = map(Path, sys.argv[1:])
store = SqliteStore(home / "recollect.db", "ada")
keep(store, *(memory(f"Number {number}.") for number in range(9)))
store.backup()
store.close()
(home / "recollect.db").write_bytes(b"damaged " * 999)

for crashed in crash_everywhere(home, work, lambda home: SqliteStore(home / "recollect.db", "ada").close()):
    store = SqliteStore(crashed / "recollect.db", "ada")
    assert store.count(EVERYTHING) == 9 and store.check() == [], crashed
    store.close()
    assert not list(crashed.glob("*.restored*")), crashed
    print(crashed.name)
"""


def test_a_restore_killed_at_any_step_is_finished_by_the_next_opening(home, tmp_path):
    steps = child.run(CRASHING_RESTORE, home, tmp_path).splitlines()

    assert len(steps) >= 4
