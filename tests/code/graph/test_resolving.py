"""Resolving many files: here, and in processes beside."""

import subprocess
import sys

import pytest
from sources import write

from recollect.code.graph import resolving, workers
from recollect.code.graph.parsing import parse_file
from recollect.code.graph.resolving import resolve_files
from recollect.code.packing import unpack_edges


@pytest.fixture
def files(folder):
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
    packed = {}
    for file in folder.glob("*.py"):
        parse = parse_file(folder, file.name, "python").parse
        packed[file.name] = ("python", *parse[:3])
    return packed


def unfolded(found):
    return {path: set(unpack_edges(edges)) for path, edges in found}


@pytest.mark.parametrize("cores", [2, 3])
def test_processes_find_the_same_edges(folder, files, monkeypatch, cores):
    here = unfolded(resolve_files("python", files, folder))

    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: cores)
    beside = unfolded(resolve_files("python", files, folder))

    assert here == beside
    assert {edge.rule for edge in here["m3.py"]} == {"written", "import", "vote"}


def test_what_processes_found_out_is_kept(folder, files, monkeypatch):
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    kept = []

    dict(resolve_files("python", files, folder, keep=lambda digest, votes: kept.append((digest, votes))))

    ((digest, votes),) = kept
    assert digest
    assert votes == {"desk": ("till.py", 0)}


def test_without_processes_all_is_resolved_here(folder, files, monkeypatch):
    here = unfolded(resolve_files("python", files, folder))

    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert unfolded(resolve_files("python", files, folder)) == here


def test_nothing_more_comes_once_it_is_stopped(folder, files, monkeypatch):
    monkeypatch.setattr(resolving, "MANY_FILES", 1)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    found = []

    for path, _ in resolve_files("python", files, folder, lambda: len(found) == 2):
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
def test_a_process_that_is_not_as_it_should_be_costs_no_edge(folder, files, monkeypatch, program):
    here = unfolded(resolve_files("python", files, folder))
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

    assert unfolded(resolve_files("python", files, folder)) == here
    assert all(each.returncode is not None and each.stdout.closed and each.stdin.closed for each in begun)


def test_the_order_of_files_turns_no_election(folder):
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
    packed = {}
    for file in sorted(folder.glob("*.py")):
        parse = parse_file(folder, file.name, "python").parse
        packed[file.name] = ("python", *parse[:3])
    shuffled = dict(sorted(packed.items(), key=lambda item: (item[0][-4], item[0])))

    assert unfolded(resolve_files("python", packed, folder)) == unfolded(
        resolve_files("python", shuffled, folder)
    )
