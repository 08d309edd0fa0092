"""A run that is killed leaves a sound store, and the next one finishes its work."""

import hashlib
import os
import signal
import subprocess
import sys

import pytest
from consolidating import Bench, rows_of

from recollect.memory.maintenance.consolidate.operations import OPERATIONS

BATCH = OPERATIONS["merge"].batch

# Dies at the given write to the store; a step is one of the transactions of the run.
RUN = """
import os, signal, sys
from pathlib import Path
from consolidating import Bench
from recollect.store.sqlite.changes import SqliteChangeLog
from recollect.store.sqlite.store import SqliteStore

home, steps, inside = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "inside"
bench = Bench(SqliteStore(home / "recollect.db", "ada"), home)
recorded = bench.store.changes.recorded
left = [steps]

class Dying:
    def __init__(self, change):
        self.within = recorded(change)
    def __enter__(self):
        left[0] -= 1
        return self.within.__enter__()
    def __exit__(self, *error):
        if left[0] == 0 and inside:
            os.kill(os.getpid(), signal.SIGKILL)
        result = self.within.__exit__(*error)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

bench.store.changes.recorded = Dying
bench.run()
"""


def sentence(number):
    """One of many that share no word that matters."""
    one, two, three = (hashlib.sha256(f"{number} {part}".encode()).hexdigest()[:8] for part in "abc")
    return f"Module x{one} hands y{two} over to z{three}"


@pytest.fixture
def bench(store, home):
    bench = Bench(store, home)
    for number in range(3 * BATCH):
        text = sentence(number)
        bench.say(text, like=text, tags=("test",))
        bench.say(f"{text}!", like=text, tags=("tests",))
    for number in range(BATCH):
        bench.say(sentence(1000 + number))
    bench.store.describe_tag("orphan", "")
    return bench


@pytest.mark.parametrize("inside", ["inside", "between"])
@pytest.mark.parametrize("steps", [1, 3, 5])
def test_killed_anywhere_it_leaves_a_sound_store_and_the_next_run_finishes(bench, home, steps, inside):
    before = rows_of(home / "recollect.db")
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}

    killed = subprocess.run(
        [sys.executable, "-c", RUN, str(home), str(steps), inside], env=environment, capture_output=True
    )

    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert bench.store.check() == []
    done = bench.run()
    assert done.finished
    assert done.resumed is (steps > 1 or inside == "between")
    assert (done.counts["merged"], done.counts["vectors"]) == (3 * BATCH, BATCH)
    assert bench.run().counts == {}
    assert bench.store.check() == []
    (change,) = bench.store.changes.newest("ada", None, 5)
    bench.undo(change)
    assert rows_of(home / "recollect.db") == before
