"""Resolving many files: here, and in processes beside."""

import subprocess
import sys
from functools import partial

import pytest
from sources import write

from recollect.code.facts import FileFacts
from recollect.code.graph import invalidation, resolving, workers
from recollect.code.graph.database import GraphDatabase, WriteFailed
from recollect.code.graph.invalidation import LazyFacts
from recollect.code.graph.parsing import parse_file
from recollect.code.graph.resolving import config_reader, resolve_files, stored_facts
from recollect.code.languages.resolver import resolver_for
from recollect.code.packing import ParsedFile, unpack_edges


@pytest.fixture
def files(folder, stored):
    """A row of files that call each other, and a receiver whose name is all that tells its type."""
    write(
        folder,
        till="class Till:\n    def ring(self): pass\n",
        **{
            f"m{number}": f"import till\nimport m{number - 1}\n\ndef f{number}(desk):\n    m{number - 1}.f{number - 1}(1)\n"
            f"    desk.ring()\n\ndesk = till.Till()\n"
            for number in range(1, 9)
        },
    )
    return kept(folder, stored)


@pytest.fixture
def stored(tmp_path):
    database = GraphDatabase(tmp_path / "code.db", None)
    database.load()
    yield database
    database.close()


def kept(folder, stored):
    """The keys of all files, whose facts are in the database."""
    keys = {}
    for file in sorted(folder.glob("*.py")):
        found = parse_file(folder, file.name, "python")
        keys[file.name] = found.blob, "python"
        stored.keep({keys[file.name]: found.parse}, 0)
    return keys


def new_resolver(folder, files, stored):
    facts = LazyFacts(files, lambda path: stored_facts(stored, files[path]))
    return resolver_for("python", facts, config_reader(folder))


def resolved(folder, files, stored):
    make = partial(new_resolver, folder, files, stored)
    found = resolve_files("python", make, files, lambda: files, stored, folder)
    return {path: set(unpack_edges(edges)) for path, edges in found}


@pytest.mark.parametrize("cores", [2, 3])
def test_processes_find_the_same_edges(folder, files, stored, monkeypatch, cores):
    here = resolved(folder, files, stored)

    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: cores)
    beside = resolved(folder, files, stored)

    assert here == beside
    assert {edge.rule for edge in here["m3.py"]} == {"written", "import", "vote"}


def test_what_processes_found_out_is_kept(folder, files, stored, monkeypatch):
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    resolver = new_resolver(folder, files, stored)

    dict(resolve_files("python", lambda: resolver, files, lambda: files, stored, folder))

    assert resolver.majority_types == {"desk": ("till.py", 0)}


def test_only_the_wanted_files_are_resolved(folder, files, stored, monkeypatch):
    everything = resolved(folder, files, stored)
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    make = partial(new_resolver, folder, files, stored)

    found = dict(resolve_files("python", make, ["m3.py", "m7.py", "m5.py"], lambda: files, stored, folder))

    assert {path: set(unpack_edges(edges)) for path, edges in found.items()} == {
        path: everything[path] for path in ("m3.py", "m5.py", "m7.py")
    }


def test_without_processes_all_is_resolved_here(folder, files, stored, monkeypatch):
    here = resolved(folder, files, stored)

    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert resolved(folder, files, stored) == here


def test_nothing_more_comes_once_it_is_stopped(folder, files, stored, monkeypatch):
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    make = partial(new_resolver, folder, files, stored)
    found = []

    for path, _ in resolve_files(
        "python", make, files, lambda: files, stored, folder, lambda: len(found) == 2
    ):
        found.append(path)

    assert len(found) == 2


STRANGE = {
    "dies before it has read all": "pass",
    "reads and says nothing": "import sys; sys.stdin.buffer.read()",
    "says something else": "import os; os.write(1, bytes([5, 0, 0, 0]) + b'hello')",
    "prints something before it answers": "print('hello'); {program}",
    "dies in the middle of an answer": "import sys; sys.stdin.buffer.read(); sys.stdout.write('recollect\\n\\0\\0')",
}


@pytest.mark.parametrize("program", STRANGE.values(), ids=STRANGE)
def test_a_process_that_is_not_as_it_should_be_costs_no_edge(folder, files, stored, monkeypatch, program):
    here = resolved(folder, files, stored)
    begun = []

    def started(module):
        real = f"import sys; sys.path[:] = {sys.path!r}; from {module} import serve; serve()"
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", program.replace("{program}", real)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        return begun[-1]

    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    monkeypatch.setattr(workers, "start_worker", started)

    assert resolved(folder, files, stored) == here
    assert all(each.returncode is not None and each.stdout.closed and each.stdin.closed for each in begun)


def test_the_order_of_files_turns_no_election(folder, stored):
    """Of many voters only some are asked: always the same ones."""
    write(
        folder,
        till="class Till:\n    def ring(self): pass\n\nclass Bell:\n    def ring(self): pass\n",
        use="def use(desk):\n    desk.ring()\n",
        **{
            f"m{number:02}": f"import till\n\ndesk = till.{'Bell' if number % 2 else 'Till'}()\n"
            for number in range(60)
        },
    )
    packed = kept(folder, stored)
    shuffled = dict(sorted(packed.items(), key=lambda item: (item[0][-4], item[0])))

    assert resolved(folder, packed, stored) == resolved(folder, shuffled, stored)


def test_few_facts_are_kept_at_once_and_the_edges_are_the_same(folder, files, stored, monkeypatch):
    here = resolved(folder, files, stored)
    facts = LazyFacts(files, lambda path: stored_facts(stored, files[path]))
    seen = []

    monkeypatch.setattr(invalidation, "MOST_FACTS", 2)
    for path in files:
        facts[path]
        seen.append(len(facts._fetched.keys() | facts._older.keys()))

    assert max(seen) == 2
    assert resolved(folder, files, stored) == here


def test_facts_that_are_used_again_and_again_are_fetched_once(monkeypatch):
    fetched = []
    monkeypatch.setattr(invalidation, "MOST_FACTS", 4)
    facts = LazyFacts("abcdefghi", lambda path: fetched.append(path) or FileFacts("python"))

    for path in "abcdefghi":
        facts[path]
        facts["a"]

    assert fetched == list("abcdefghi")


def test_facts_that_were_replaced_are_not_fetched_again(files, stored):
    facts = LazyFacts(files, lambda path: stored_facts(stored, files[path]))
    old, new = facts["m1.py"], facts["m2.py"]

    facts["m1.py"] = new
    del facts["m2.py"]

    assert old != new
    assert facts["m1.py"] is new
    assert "m2.py" not in facts


def test_processes_read_the_facts_themselves(folder, files, stored, monkeypatch):
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    sent = []
    send = workers.send_frame
    monkeypatch.setattr(workers, "send_frame", lambda pipe, frame: sent.append(frame) or send(pipe, frame))

    resolved(folder, files, stored)

    assert len(sent) == 2  # the request and the digest


def parsed(database, key):
    return ParsedFile(*database.facts(key)[1:], b"", b"", b"", b"", False)


def test_what_could_not_be_written_is_resolved_in_this_process(folder, files, stored, tmp_path, monkeypatch):
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    here = resolved(folder, files, stored)
    full = GraphDatabase(tmp_path / "full.db", None)
    full.load()
    full._connection.execute(
        "CREATE TRIGGER full BEFORE INSERT ON parses BEGIN SELECT raise(ABORT, 'full'); END"
    )

    with pytest.raises(WriteFailed):
        full.keep({key: parsed(stored, key) for key in files.values()}, 0)

    assert full.shared is None
    assert resolved(folder, files, full) == here
    full.close()
