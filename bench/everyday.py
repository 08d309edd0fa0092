"""What people feel every day: the size of an installation, and the CPU time of whole commands in new processes.

    python -m bench everyday                 # installs Recollect, basic-memory and mem0 into new environments: minutes
    python -m bench.everyday --here          # this environment only, without sizes

Sizes are `du -sm` of a new virtual environment after `pip install`. Times are CPU seconds, user and system, of the command and
what it starts and waits for: the smallest of five, so that other work on the machine counts little. A daemon's own time is not
in them. What cannot be installed is left out with the reason.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.interfaces.daemon_client import protocol

ROOT = Path(__file__).parent.parent
TURNS = 5
LARGEST = 15  # packages that are listed
SIZE_MB = 350
FACTS = (
    "Use pnpm to run scripts.",
    "Tests need a running Redis.",
    "Amounts of money are integers in cents.",
    "The staging database is restored every night from the backup of production.",
)
# Command lines, with the CPU seconds that are allowed without a daemon and with one; None = no target.
COMMANDS: dict[str, tuple[tuple[str, ...], float | None, float | None]] = {
    "--help": (("--help",), 0.15, 0.1),
    "list": (("list",), 0.15, 0.1),
    "remember": (("remember", "The queue of mails is called outbox{turn}."), 0.45, 0.15),
    "search": (("search", "how do I start the tests"), 0.45, 0.15),
    "recall": (("recall", "start the tests"), 0.45, 0.15),
    "graph callers": (("graph", "callers", "total"), 0.3, None),
    "doctor": (("doctor",), 0.6, None),
}
SOURCES = {
    "shop/cart.py": "def total(items):\n    return sum(items)\n",
    "shop/order.py": "from shop.cart import total\n\n\ndef place(items):\n    return total(items)\n",
    "shop/__init__.py": "",
}
# Others: what pip installs, and the commands that store and find a note with it, in a folder of its own.
BASIC_MEMORY = {
    "help": ("basic-memory", "--help"),
    "search": ("basic-memory", "tool", "search-notes", "how do I start the tests"),
}
MEM0 = "import mem0"  # it has no command line: this is what a program pays before its first call


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, Any] = {"recollect": _installed(Path(folder) / "recollect", str(ROOT))}
        program = Path(folder) / "recollect" / "bin" / "recollect"
        found["times"] = _times(program if program.exists() else _own_program(), Path(folder))
        for name, package in (("basic-memory", "basic-memory"), ("mem0", "mem0ai==2.2.1")):
            place = Path(folder) / name
            found[name] = _installed(place, package)
            if "skipped" not in found[name]:
                found[name]["times"] = _others(name, place, Path(folder))
    return found


def run_here() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return {"times": _times(_own_program(), Path(folder))}


def _own_program() -> Path:
    return Path(sys.executable).with_name("recollect")


def _installed(place: Path, package: str) -> dict[str, Any]:
    """Install a package into a new environment; return its size, and the largest folders in it."""
    venv.create(place, with_pip=True)
    done = subprocess.run(
        [place / "bin" / "pip", "install", "--quiet", package], capture_output=True, text=True
    )
    if done.returncode:
        return {"skipped": (done.stderr.strip().splitlines() or ["pip failed"])[-1][:200]}
    (packages,) = (place / "lib").glob("python*/site-packages")
    largest = sorted(((_megabytes(path), path.name) for path in packages.iterdir()), reverse=True)
    return {"mb": _megabytes(place), "largest": largest[:LARGEST]}


def _megabytes(path: Path) -> int:
    done = subprocess.run(["du", "-sm", str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0])


def _times(program: Path, folder: Path) -> dict[str, Any]:
    project = folder / "shop"
    for name, text in SOURCES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    environment = _environment(RECOLLECT_HOME=str(folder / "home"))
    for fact in FACTS:
        _cpu([program, "remember", fact], project, environment)
    _cpu([program, "init"], project, environment)
    alone = {name: _best([program, *line], project, environment) for name, (line, _, _) in COMMANDS.items()}
    home = folder / "home"
    daemon = subprocess.Popen(
        [program.with_name("python"), "-m", "recollect.interfaces.daemon", str(home)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while not (home / protocol.SOCKET).exists() and time.monotonic() < until:
            time.sleep(0.1)
        with_daemon = {
            name: _best([program, *line], project, environment)
            for name, (line, _, target) in COMMANDS.items()
            if target is not None
        }
    finally:
        daemon.terminate()
        daemon.wait(60)
    return {
        "python": _best([program.with_name("python"), "-c", "pass"], project, environment),
        "alone": alone,
        "with_daemon": with_daemon,
    }


def _others(name: str, place: Path, folder: Path) -> dict[str, float]:
    home = folder / f"{name}-home"
    home.mkdir(exist_ok=True)
    environment = _environment(HOME=str(home), MEM0_TELEMETRY="False", MEM0_DIR=str(home / "mem0"))
    if name == "mem0":
        return {"import mem0": _best([place / "bin" / "python", "-c", MEM0], home, environment)}
    return {
        what: _best([place / "bin" / program, *line], home, environment)
        for what, (program, *line) in BASIC_MEMORY.items()
    }


def _environment(**variables: str) -> dict[str, str]:
    """As a user has it: Python may keep its compiled files."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RECOLLECT"))}
    return {**kept, **variables}


def _best(command: Sequence[object], folder: Path, environment: Mapping[str, str]) -> float:
    times = []
    for turn in range(TURNS):
        times.append(_cpu([str(word).replace("{turn}", str(turn)) for word in command], folder, environment))
    return min(times)


def _cpu(command: Sequence[object], folder: Path, environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=300,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(found: dict[str, Any]) -> None:
    for name in ("recollect", "basic-memory", "mem0"):
        if name not in found:
            continue
        if reason := found[name].get("skipped"):
            print(f"{name:<14} not installed: {reason}")
            continue
        target = f"   (target ≤ {SIZE_MB})" if name == "recollect" else ""
        print(f"{name:<14}{found[name]['mb']:>6} MB installed{target}")
    if "recollect" in found and "largest" in found["recollect"]:
        print("largest: " + ", ".join(f"{name} {mb}" for mb, name in found["recollect"]["largest"]))
    times = found["times"]
    print(f"\n{'CPU seconds':<16}{'alone':>8}{'target':>8}{'daemon':>8}{'target':>8}")
    print(f"{'python -c pass':<16}{times['python']:>8.2f}")
    for name, (_, alone, daemon) in COMMANDS.items():
        cells = [f"{times['alone'][name]:>8.2f}{_target(alone):>8}"]
        if name in times["with_daemon"]:
            cells.append(f"{times['with_daemon'][name]:>8.2f}{_target(daemon):>8}")
        print(f"{name:<16}" + "".join(cells))
    for name in ("basic-memory", "mem0"):
        for what, seconds in found.get(name, {}).get("times", {}).items():
            print(f"{name + ', ' + what:<24}{seconds:>8.2f}")


def _target(seconds: float | None) -> str:
    return "" if seconds is None else f"≤ {seconds:g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", action="store_true", help="this environment only, without sizes")
    show(run_here() if parser.parse_args().here else run())
