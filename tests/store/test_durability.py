"""The short form of `bench/durability.py`: nothing that was acknowledged is ever lost."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import child
from recollect.engine import Engine
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, MINE, keep, memory

WRITER = """
import sys
from pathlib import Path
from recollect.engine import Engine
from samples import sentence
home, folder, first, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
with Engine.open(folder, home) as engine:
    for number in range(first, first + count):
        print(engine.remember(sentence(number)).id, flush=True)
"""


@pytest.fixture(autouse=True)
def no_model(home, monkeypatch):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("RECOLLECT_USER", "ada")  # whose eyes the samples see with


def kept_in(path):
    """The ids that are there, in whatever state; all parts of the store must agree."""
    store = SqliteStore(path, "ada")
    try:
        assert store.check() == []
        assert store.notices == ()
        return {each.id for each in store.newest(EVERYTHING)}
    finally:
        store.close()


def test_what_a_killed_writer_has_printed_is_there(home, folder):
    pick = random.Random(11)
    acknowledged = set()

    for number in range(3):
        process = child.start(WRITER, home, folder, number * 1000, 60)
        seen = [process.stdout.readline() for _ in range(pick.randrange(1, 58))]
        seen += child.kill(process).splitlines()
        acknowledged |= {line.strip() for line in seen}

        assert acknowledged <= kept_in(home / "recollect.db")

    assert len(acknowledged) > 3


def test_eight_processes_write_at_once_and_nothing_is_missing(home, folder):
    processes = [child.start(WRITER, home, folder, number * 1000, 25) for number in range(8)]

    acknowledged = {line for process in processes for line in child.finish(process).splitlines()}

    assert len(acknowledged) == 200
    assert kept_in(home / "recollect.db") == acknowledged


SAME = """
import sys
from pathlib import Path
from recollect.engine import Engine
with Engine.open(Path(sys.argv[2]), Path(sys.argv[1])) as engine:
    print("ready", flush=True)
    sys.stdin.readline()
    receipt = engine.remember("Never push to main on a Friday.")
    print(receipt.id, receipt.outcome)
"""


def test_the_same_sentence_from_eight_at_once_is_one_memory_of_strength_eight(home, folder):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SAME, home, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"

    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [child.finish(process).split() for process in processes]

    assert len({name for name, _ in said}) == 1
    assert sorted(outcome for _, outcome in said) == ["reinforced"] * 7 + ["stored"]
    with Engine.open(folder, home) as engine:
        (memory,) = engine.list(state="all")
        assert memory.strength == 8
        assert len(memory.reinforcements) == 7
        assert engine.store.check() == []


LOGGER = """
import sys
from pathlib import Path
from recollect.engine import Engine
from samples import sentence
home, folder = Path(sys.argv[1]), Path(sys.argv[2])
wal = home / "recollect.db-wal"
with Engine.open(folder, home) as engine:
    with engine.store._db.reading() as connection:  # the only one: it is used for all that follows
        connection.wal_autocheckpoint(0)
    for number in range(40):
        print(engine.remember(sentence(number)).id, wal.stat().st_size, flush=True)
    sys.stdin.read()
"""


def test_a_log_cut_off_anywhere_loses_no_commit_that_lies_before_the_cut(home, folder, tmp_path):
    pick = random.Random(13)
    process = subprocess.Popen(
        [sys.executable, "-c", LOGGER, home, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**child.os.environ, "PYTHONPATH": child.os.pathsep.join(path for path in sys.path if path)},
    )
    written = [process.stdout.readline().split() for _ in range(20)]
    database = (home / "recollect.db").read_bytes()
    logs = [Path(home / "recollect.db-wal").read_bytes()]  # while it is being written
    written += [process.stdout.readline().split() for _ in range(20)]
    logs.append(Path(home / "recollect.db-wal").read_bytes())
    assert (home / "recollect.db").read_bytes() == database
    process.kill()
    process.communicate()

    for number in range(24):
        log = logs[number % 2]
        cut = pick.randrange(len(log) + 1)
        copy = tmp_path / f"cut-{number}"
        copy.mkdir()
        (copy / "recollect.db").write_bytes(database)
        (copy / "recollect.db-wal").write_bytes(log[:cut])

        there = kept_in(copy / "recollect.db")

        expected = {name for name, size in written if int(size) <= cut}
        assert expected <= there, f"cut at {cut} of {len(log)}"
        shutil.rmtree(copy)


def test_a_reader_in_another_process_never_sees_half_a_transaction(home):
    path = home / "recollect.db"
    SqliteStore(path, "ada").close()
    code = (
        "import sys; from pathlib import Path; from recollect.store.sqlite.store import SqliteStore\n"
        "from samples import keep, memory\n"
        "store = SqliteStore(Path(sys.argv[1]), 'ada')\n"
        "for number in range(60): keep(store, memory(f'{number} a'), memory(f'{number} b'), memory(f'{number} c'))"
    )
    process = child.start(code, path)
    store = SqliteStore(path, "ada")

    while process.poll() is None:
        assert len(store.newest(MINE)) % 3 == 0

    child.finish(process)
    keep(store, memory("And one more."))
    assert store.count(MINE) == 181
    store.close()
