"""The code graph of a large project: what it costs to make, load, change and ask; beside universal-ctags and aider's repository map.

    RECOLLECT_BENCH_REPOS=… [RECOLLECT_BENCH_AIDER=…/bin/python] python -m bench.django [home-assistant/core]

Repositories are bare git directories, `<owner>+<name>/repo` under RECOLLECT_BENCH_REPOS. aider's part needs the Python of an
environment where aider-chat is installed, ctags' part a `ctags` on the path; what is not there is not measured. Every step
is a process of its own: CPU seconds are its own and its children's, memory is the most that all of them had at one moment
(RSS, looked at 50 times a second).

The graph and the map of aider are made by turns, three times (once for a project larger than Django), and the quickest of
each counts. "full" is what `Codebase.refresh` does, after which files can be found; "fresh" is the first question then, with the
history read and the edges of the best files resolved; "edges" resolves all others, which callers and the map need. The map is
made through aider's `RepoMap`, of all files that git knows, with 1,024 tokens and a count of tokens that costs nothing; "change"
is a line more in one file and the map made again by the same process. Ours is the same line, `Codebase.refresh`, and all edges
resolved. ctags has no such thing: it is started again. The map ranks files by the names that they share, without resolving what
a name means: that is more than "full" and less than "full" and "edges", so that both are compared.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.checkouts import NEEDS, git_dir

DJANGO = "django/django"
CHANGED = {DJANGO: "django/db/models/query.py", "home-assistant/core": "homeassistant/helpers/entity.py"}
QUESTION = (
    "QuerySet.only() after select_related() crashes on proxy models. When I optimise a query using select_related() and "
    "only() methods from the proxy model I encounter an error: 'NoneType' object has no attribute '_meta'"
)
TARGETS = {
    "full_cpu_s": 7.5,
    "full_and_edges_cpu_s": 15.0,  # what a build took when it resolved all edges
    "full_peak_mb": 300.0,
    "load_s": 1.0,
    "change_ms": 100.0,
    "first_change_cpu_s": 0.15,
    "first_question_cpu_s": 0.5,
    "relevant_ms": 150.0,
    "aider_cold_times": 3.0,
    "aider_cold_times_with_edges": 3.0,
    "aider_change_times": 40.0,
}
LARGE_TARGETS = TARGETS | {
    "full_cpu_s": float("inf"),
    "full_and_edges_cpu_s": float("inf"),
    "full_peak_mb": 500.0,
    "first_change_cpu_s": 0.5,
}
_ROUNDS = 5
TURNS = 3  # of the whole graph and aider's map: others may be at work on the machine


def run(repository: str = DJANGO) -> dict[str, Any]:
    source = git_dir(repository)
    if source is None:
        return {"skipped": f"{NEEDS}; {repository} is not there"}
    figures: dict[str, Any] = {"repository": repository}
    full, aider = [], []
    for turn in range(TURNS if repository == DJANGO else 1):
        with tempfile.TemporaryDirectory() as folder:
            root, shelf = Path(folder) / "project", Path(folder) / "shelf" / "code.db"
            subprocess.run(["git", "clone", "-q", "--shared", str(source), str(root)], check=True)
            full.append(_step("full", root, shelf))
            if not turn:
                # The first one reads git's history, once for ever.
                figures["fresh"] = _step("relevant", root, shelf)
                for name in ("edges", "load", "change", "relevant"):
                    figures[name] = _step(name, root, shelf, CHANGED[repository])
                figures["crowd"] = _step("crowd", Path(folder) / "crowd", Path(folder) / "crowd.db")
                figures["ctags"] = _ctags(root)
            aider.append(_aider(root, CHANGED[repository]))
    figures["full"] = min(full, key=lambda one: one["cpu_s"])
    figures["aider"] = min(aider, key=lambda one: one.get("cold_cpu_s", 0.0))
    return figures | {"summary": _summary(figures)}


def _summary(figures: dict[str, Any]) -> dict[str, float]:
    full, change, aider = figures["full"], figures["change"], figures["aider"]
    summary = {
        "full_cpu_s": full["cpu_s"],
        "full_and_edges_cpu_s": full["cpu_s"] + figures["edges"]["cpu_s"],
        "full_peak_mb": max(full["peak_mb"], figures["edges"]["peak_mb"]),
        "load_s": figures["load"]["load_s"],
        "change_ms": change["change_ms"],
        "first_change_cpu_s": change["first_change_cpu_s"],
        "first_question_cpu_s": figures["relevant"]["first_cpu_s"],
        "relevant_ms": figures["relevant"].get("relevant_ms", float("nan")),
    }
    if "skipped" not in aider:
        summary["aider_cold_times"] = aider["cold_cpu_s"] / full["cpu_s"]
        summary["aider_cold_times_with_edges"] = aider["cold_cpu_s"] / summary["full_and_edges_cpu_s"]
        summary["aider_change_times"] = aider["change_cpu_s"] / change["change_cpu_s"]
    return summary


def show(figures: dict[str, Any]) -> None:
    for name in ("full", "fresh", "edges", "load", "change", "relevant", "crowd", "ctags", "aider"):
        parts = (
            f"{key} {value:,.2f}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures[name].items()
        )
        print(f"{name:9}", ", ".join(parts))
    print()
    for name, value in figures["summary"].items():
        target = (TARGETS if figures["repository"] == DJANGO else LARGE_TARGETS)[name]
        at_least = name.startswith("aider")
        good = value >= target if at_least else value <= target
        print(f"{name:27} {value:8.2f}  {'≥' if at_least else '≤'} {target:g}  {'ok' if good else 'MISSED'}")


# one process each


def _step(name: str, root: Path, shelf: Path, changed: str = "") -> dict[str, Any]:
    return _measured([sys.executable, "-m", "bench.django", name, str(root), str(shelf), changed])


def _measured(command: list[str]) -> dict[str, Any]:
    """What it printed as JSON, and what it cost."""
    begun = time.perf_counter()
    before = os.times()
    # Modules are compiled once, as they are when a package is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    peak = 0.0
    watching = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not watching.wait(0.02):
            peak = max(peak, _memory(process.pid))

    thread = threading.Thread(target=watch)
    thread.start()
    out = process.communicate()[0]
    watching.set()
    thread.join()
    after = os.times()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed.")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    last = (out.splitlines() or [""])[-1]
    told = json.loads(last) if last.startswith("{") else {}
    return {
        **told,
        "cpu_s": cpu,
        "peak_mb": peak,
        "seconds": told.get("seconds", time.perf_counter() - begun),
    }


def _memory(pid: int) -> float:
    """Megabytes that a process and those below it have now."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for task in Path(f"/proc/{pid}/task").iterdir():
            if task.name != str(pid):
                children += (task / "children").read_text().split()
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
    return own / 1024 + sum(_memory(int(child)) for child in children)


def _full(root: Path, shelf: Path, changed: str) -> dict[str, Any]:
    from recollect.code.codebase import Codebase

    shutil.rmtree(shelf.parent, ignore_errors=True)
    done = Codebase(root, shelf, None).refresh()
    return {
        "files": done.files,
        "seconds": done.seconds,
        "left_out": dict(done.left_out),
        "shelf_mb": shelf.stat().st_size / 1e6,
    }


def _edges(root: Path, shelf: Path, changed: str) -> dict[str, Any]:
    """Resolve all edges, which the first question about callers would do, or the daemon before."""
    from recollect.code.codebase import Codebase

    graph = Codebase(root, shelf, None).graph
    pending = len(graph.pending(graph.paths))
    begun = time.perf_counter()
    graph.resolve()
    return {
        "resolved": pending,
        "seconds": time.perf_counter() - begun,
        "shelf_mb": shelf.stat().st_size / 1e6,
    }


def _load(root: Path, shelf: Path, changed: str) -> dict[str, Any]:
    """With a look at all files; then everything is unfolded that any question could need."""
    from recollect.code.codebase import Codebase

    begun = time.perf_counter()
    graph = Codebase(root, shelf, None).graph
    loaded = time.perf_counter()
    symbols = sum(len(graph.outline(path)) for path in graph.paths)
    edges = sum(len(graph.edges_of(path)) for path in graph.paths)
    unfolded = time.perf_counter()
    return {
        "load_s": loaded - begun,
        "unfold_s": unfolded - loaded,
        "symbols": symbols,
        "edges": edges,
    }


def _change(root: Path, shelf: Path, changed: str) -> dict[str, Any]:
    from recollect.code.codebase import Codebase

    code = Codebase(root, shelf, None)

    def refresh() -> int:
        affected = code.refresh().affected
        code.graph.resolve()
        return affected

    refresh()
    file = root / changed
    text = file.read_text()
    inside: list[float] = []
    cpu: list[float] = []
    outward: list[float] = []
    resolved = 0
    for number in range(1, _ROUNDS + 2):
        file.write_text(text + f"\n\ndef _added():\n    print({number})\n    return iter([])\n")
        begun, worked = time.perf_counter(), time.process_time()
        refresh()
        cpu.append(time.process_time() - worked)
        inside.append((time.perf_counter() - begun) * 1000)
    for number in range(_ROUNDS):
        file.write_text(text + f"\n\ndef added_{number}(): pass\n")
        begun = time.perf_counter()
        resolved = refresh()
        outward.append((time.perf_counter() - begun) * 1000)
    begun = time.perf_counter()
    refresh()
    nothing = (time.perf_counter() - begun) * 1000
    file.write_text(text)
    refresh()
    return {
        "change_ms": statistics.median(inside[1:]),
        "change_cpu_s": statistics.median(cpu[1:]),
        "first_change_ms": inside[0],
        "first_change_cpu_s": cpu[0],
        "outward_change_ms": statistics.median(outward),
        "outward_resolved": resolved,
        "nothing_changed_ms": nothing,
    }


def _relevant(root: Path, shelf: Path, changed: str) -> dict[str, Any]:
    """The first question is asked as `graph relevant` asks it, without lines to read; for the others the tokenizer is loaded."""
    from recollect.code.codebase import Codebase

    code = Codebase(root, shelf, None)
    took, cpu = [], []
    for budget in (0, *[2000] * (_ROUNDS + 1)):
        begun, worked = time.perf_counter(), time.process_time()
        code.relevant(QUESTION, budget=budget)
        cpu.append(time.process_time() - worked)
        took.append((time.perf_counter() - begun) * 1000)
    return {
        "relevant_ms": statistics.median(took[2:]),
        "first_ms": took[0],
        "first_cpu_s": cpu[0],
        "first_with_lines_cpu_s": cpu[0] + cpu[1],
    }


def _crowd(root: Path, shelf: Path, changed: str) -> dict[str, Any]:
    """50,000 tiny files: none may cost more than it is worth."""
    from recollect.code.codebase import Codebase
    from recollect.code.files import list_files

    for folder in range(500):
        (root / f"package{folder}").mkdir(parents=True)
        for number in range(100):
            text = f"def f{folder}_{number}(): pass\n"
            (root / f"package{folder}" / f"module{number}.py").write_text(text)
    begun = time.perf_counter()
    found = len(list_files(root).files)
    walked = time.perf_counter() - begun
    code = Codebase(root, shelf, None)
    done = code.refresh()
    begun = time.perf_counter()
    code.refresh()
    return {
        "found": found,
        "walk_s": walked,
        "files": done.files,
        "seconds": done.seconds,
        "nothing_changed_ms": (time.perf_counter() - begun) * 1000,
    }


# the others


def _ctags(root: Path) -> dict[str, Any]:
    if not shutil.which("ctags"):
        return {"skipped": "no ctags on the path"}
    done = _measured(["ctags", "-R", "--fields=+n", "-f", str(root.parent / "tags"), str(root)])
    return done | {"tags": sum(1 for _ in (root.parent / "tags").open(encoding="utf-8", errors="replace"))}


_AIDER = """
import json, subprocess, sys, time
from pathlib import Path
from aider.io import InputOutput
from aider.repomap import RepoMap

class Model:
    def token_count(self, text):
        return len(text) / 4

root, changed = Path(sys.argv[1]), sys.argv[2]
names = subprocess.check_output(["git", "ls-files"], cwd=root, text=True).splitlines()
files = [str(root / name) for name in names if (root / name).is_file()]
io = InputOutput(yes=True, pretty=False, fancy_input=False)
repo_map = RepoMap(map_tokens=1024, root=str(root), main_model=Model(), io=io, refresh="always")
begun = time.process_time()
text = repo_map.get_repo_map([], files)
cold = time.process_time() - begun
file = root / changed
before = file.read_text()
took = []
for number in range(3):
    file.write_text(before + f"\\n\\ndef added_{number}(): pass\\n")
    begun = time.process_time()
    repo_map.get_repo_map([], files)
    took.append(time.process_time() - begun)
file.write_text(before)
print()
print(json.dumps({"cold_cpu_s": cold, "change_cpu_s": sorted(took)[1], "characters": len(text or "")}))
"""


def _aider(root: Path, changed: str) -> dict[str, Any]:
    python = os.environ.get("RECOLLECT_BENCH_AIDER")
    if not python:
        return {"skipped": "RECOLLECT_BENCH_AIDER names no Python with aider-chat"}
    try:
        return _measured([python, "-c", _AIDER, str(root), changed])
    except SystemExit:
        return {"skipped": "it failed"}  # or was stopped: of 24,000 files, its map takes more than 11 GB


STEPS = {
    "full": _full,
    "edges": _edges,
    "load": _load,
    "change": _change,
    "relevant": _relevant,
    "crowd": _crowd,
}


def main(arguments: list[str]) -> None:
    if len(arguments) > 1:
        name, root, shelf, changed = arguments
        print(json.dumps(STEPS[name](Path(root), Path(shelf), changed)))
        return
    figures = run(*arguments)
    if "skipped" in figures:
        print(f"skipped: {figures['skipped']}")
        return
    show(figures)


if __name__ == "__main__":
    main(sys.argv[1:])
