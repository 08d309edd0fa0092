"""What people feel every day: the size of an installation, and the CPU time of whole commands in new processes.

    python -m bench everyday                 # installs Recollect and the others into new environments: minutes
    python -m bench.everyday --here          # this environment only, without sizes

Sizes are `du -sm` of a new virtual environment after `pip install`. Times are CPU seconds, user and system, of the command and
what it starts and waits for: the smallest of five (of others, three), so that other work on the machine counts little. A daemon's own time is not
in them. What cannot be installed is left out with the reason.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.matrix import find_interpreters

from recollect.interfaces.daemon_client import protocol

ROOT = Path(__file__).parent.parent
TURNS = 5
OTHERS_TURNS = 3
LARGEST = 15  # packages that are listed
LONGEST = 900  # seconds that an installation may take
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


class Tool(NamedTuple):
    """Another memory: how to install it, and commands that prepare it and that are timed, in a home of its own."""

    package: str  # with a version, for pip or npm
    prepare: tuple[tuple[str, ...], ...] = ()
    timed: tuple[tuple[str, ...], ...] = ()
    environment: Mapping[str, str] = {}
    newest_python: bool = False  # it does not work with the oldest Python that Recollect works with
    npm: bool = False


# The newest versions that could be installed here on 2026-11-18. Programs are those of the environment.
OTHERS = {
    "basic-memory": Tool(
        "basic-memory==0.23.2",
        (
            ("basic-memory", "project", "add", "shop", "notes", "--default"),
            *(
                (
                    "basic-memory",
                    "tool",
                    "write-note",
                    "--title",
                    f"note {number}",
                    "--folder",
                    "notes",
                    "--content",
                    fact,
                    "--project",
                    "shop",
                )
                for number, fact in enumerate(FACTS)
            ),
        ),
        (
            ("basic-memory", "--help"),
            ("basic-memory", "tool", "search-notes", "running Redis", "--project", "shop"),
        ),
        # Without this it searches by meaning, which needs a Python whose SQLite loads extensions.
        environment={"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"},
        newest_python=True,
    ),
    "mem0": Tool("mem0ai==2.2.1", timed=(("python", "-c", "import mem0"),)),  # it has no command line
    "mcp-memory-service": Tool("mcp-memory-service==12.2.0", timed=(("memory", "--help"),)),
    "claude-mem": Tool("claude-mem@13.25.3", npm=True),
}


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, Any] = {"recollect": _installed(Path(folder) / "recollect", str(ROOT))}
        program = Path(folder) / "recollect" / "bin" / "recollect"
        found["times"] = _times(program if program.exists() else _own_program(), Path(folder))
        found["others"] = {name: _other(tool, Path(folder) / name) for name, tool in OTHERS.items()}
    return found


def _other(tool: Tool, place: Path) -> dict[str, Any]:
    place.mkdir()
    environment = _environment(
        HOME=str(place),
        MEM0_TELEMETRY="False",
        npm_config_cache=str(place / "cache"),
        **tool.environment,
    )
    if tool.npm:
        done = _run(["npm", "install", "--prefix", place / "program", tool.package], place, environment)
        if done.returncode:
            return {"skipped": _last_line(done.stderr)}
        return {"mb": _megabytes(place / "program")}
    python = _newest_python() if tool.newest_python else Path(sys.executable)
    result = _installed(place / "program", tool.package, python)
    if "skipped" in result:
        return result
    programs = place / "program" / "bin"
    for program, *line in tool.prepare:
        done = _run([programs / program, *line], place, environment)
        if done.returncode:
            return {**result, "failed": f"{program} {line[0]}: {_last_line(done.stdout + done.stderr)}"}
    result["times"] = {
        " ".join((program, *line)): _best([programs / program, *line], place, environment, OTHERS_TURNS)
        for program, *line in tool.timed
    }
    return result


def _newest_python() -> Path:
    return max(find_interpreters(), key=lambda python: tuple(map(int, python.version.split(".")))).program


def _run(
    command: Sequence[object], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    words = list(map(str, command))
    try:
        return subprocess.run(
            words, cwd=folder, env=dict(environment), capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"not done within {LONGEST} seconds")


def _last_line(text: str) -> str:
    said = (line.strip() for line in text.splitlines())
    lines = [line for line in said if line and "log of this run" not in line and line != "npm notice"]
    reasons = [line for line in lines if "No matching version" in line]
    return (reasons or lines or ["failed"])[-1][:200]


def run_here() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return {"times": _times(_own_program(), Path(folder))}


def _own_program() -> Path:
    return Path(sys.executable).with_name("recollect")


def _installed(place: Path, package: str, python: Path = Path(sys.executable)) -> dict[str, Any]:
    """Install a package into a new environment; return its size, and the largest folders in it."""
    subprocess.run([python, "-m", "venv", place], check=True)
    done = _run([place / "bin" / "pip", "install", "--quiet", package], ROOT, os.environ)
    if done.returncode:
        return {"skipped": _last_line(done.stderr)}
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


def _environment(**variables: str) -> dict[str, str]:
    """As a user has it: Python may keep its compiled files."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RECOLLECT"))}
    return {**kept, **variables}


def _best(
    command: Sequence[object], folder: Path, environment: Mapping[str, str], turns: int = TURNS
) -> float:
    times = []
    for turn in range(turns):
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
    if "recollect" in found:
        _show_size("recollect", found["recollect"], f"   (target ≤ {SIZE_MB})")
        if "largest" in found["recollect"]:
            print("largest: " + ", ".join(f"{name} {mb}" for mb, name in found["recollect"]["largest"]))
    for name, other in found.get("others", {}).items():
        _show_size(name, other)
    times = found["times"]
    print(f"\n{'CPU seconds':<16}{'alone':>8}{'target':>8}{'× bare':>8}{'daemon':>8}{'target':>8}")
    print(f"{'python -c pass':<16}{times['python']:>8.3f}")
    for name, (_, alone, daemon) in COMMANDS.items():
        seconds = times["alone"][name]
        cells = [f"{seconds:>8.2f}{_target(alone):>8}{seconds / times['python']:>8.0f}"]
        if name in times["with_daemon"]:
            cells.append(f"{times['with_daemon'][name]:>8.2f}{_target(daemon):>8}")
        print(f"{name:<16}" + "".join(cells))
    for name, other in found.get("others", {}).items():
        if "failed" in other:
            print(f"{name}: {other['failed']}")
        for command, seconds in other.get("times", {}).items():
            print(f"{command[:60]:<64}{seconds:>8.2f}{seconds / times['python']:>8.0f}")


def _show_size(name: str, found: dict[str, Any], target: str = "") -> None:
    if "skipped" in found:
        print(f"{name:<20} not installed: {found['skipped']}")
    else:
        print(f"{name:<20}{found['mb']:>6} MB installed{target}")


def _target(seconds: float | None) -> str:
    return "" if seconds is None else f"≤ {seconds:g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", action="store_true", help="this environment only, without sizes")
    show(run_here() if parser.parse_args().here else run())
