"""How soon the MCP server answers, what open windows cost, and whether other people's clients get along with it:
`make bench BENCH=mcp`.

From a cold process to the answer to tools/list, beside a server that has one tool and does nothing, by turns: with a
running daemon, without one, and the very first time, when no list has been answered before. Then ten windows at once,
each of which has searched: the memory of all processes. Then `recollect search` with a daemon and without. Last, a
client from the npm registry lists and calls the tools; it is installed into bench/out, and left out without npm.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from recollect import Engine
from recollect.interfaces.daemon_client import control
from recollect.interfaces.mcp.relay import LISTS

OUT = Path(__file__).parent / "out"
ROUNDS = 9
FEW = 5  # rounds of what takes seconds
WINDOWS = 10
MEMORIES = 300
CLIENT = "@modelcontextprotocol/inspector@2.12.0"

MINIMAL = """
from mcp.server import MCPServer

server = MCPServer("minimal")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


server.run()
"""
OURS = "import sys; from recollect.__main__ import main; sys.exit(main(['mcp']))"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
}
ERAS = {
    "initialize": [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ],
    "stateless": [{"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": MODERN}],
}


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        environment = {**os.environ, "RECOLLECT_HOME": name}
        figures: dict[str, Any] = {}
        try:
            _fill(home)
            control.ensure(home)
            for era, messages in ERAS.items():
                times: dict[str, list[float]] = {"minimal": [], "ours": []}
                for _ in range(ROUNDS):
                    times["minimal"].append(_listed(MINIMAL, messages, environment))
                    times["ours"].append(_listed(OURS, messages, environment))
                medians = {name: statistics.median(taken) for name, taken in times.items()}
                figures[era] = {**medians, "ratio": medians["ours"] / medians["minimal"]}
            figures["without a daemon"] = _median(lambda: _without_daemon(home, environment))
            figures["first time"] = _median(lambda: _first_time(home, environment))
            figures["first time, in process"] = _median(lambda: _in_process(home, environment))
            control.ensure(home)
            figures["windows"] = _windows(home, environment)
            figures["search"] = _searches(home, environment)
        finally:
            control.stop(home)
        figures["client"] = _other_client(name)
        return figures


def show(figures: dict[str, Any]) -> None:
    print("cold process to the answer to tools/list, median of", ROUNDS)
    for era in ERAS:
        each = figures[era]
        print(
            f"  {era:10}  minimal {each['minimal'] * 1000:5.0f} ms  recollect {each['ours'] * 1000:5.0f} ms"
            f"  {each['ratio']:.2f} ×"
        )
    for name in ("without a daemon", "first time", "first time, in process"):
        print(f"  {name:24} {figures[name] * 1000:5.0f} ms")
    windows = figures["windows"]
    print(f"{WINDOWS} windows that have searched among {MEMORIES} memories, {windows['measure']}:")
    print(
        f"  daemon {windows['daemon']:.0f} MB, relays {windows['relays']:.0f} MB, all {windows['all']:.0f} MB"
    )
    for name, each in figures["search"].items():
        print(
            f"recollect search, {name}: {each['wall'] * 1000:.0f} ms, CPU of the process {each['cpu'] * 1000:.0f} ms"
        )
    print(f"{CLIENT}: {figures['client']}")


def _fill(home: Path) -> None:
    with Engine.open(home, home) as engine:
        for number in range(MEMORIES):
            engine.remember(
                f"Shelf {number} of the {number % 17} th hall holds {number * 7} boxes of size {number % 5}"
            )


def _median(measure: Any) -> float:
    return statistics.median(measure() for _ in range(FEW))


def _without_daemon(home: Path, environment: dict[str, str]) -> float:
    control.stop(home)
    return _listed(OURS, ERAS["initialize"], environment)


def _first_time(home: Path, environment: dict[str, str]) -> float:
    control.stop(home)
    (home / LISTS).unlink(missing_ok=True)
    return _listed(OURS, ERAS["initialize"], environment)


def _in_process(home: Path, environment: dict[str, str]) -> float:
    """Seconds if no daemon can be started."""
    control.stop(home)
    (home / LISTS).unlink(missing_ok=True)
    return _listed(OURS, ERAS["initialize"], {**environment, "RECOLLECT_SESSION_LIMIT": "nonsense"})


def _windows(home: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Megabytes of the daemon and of the relays, with every window open."""
    opened = [_window(home, environment) for _ in range(WINDOWS)]
    for number, window in enumerate(opened):
        assert window.stdin and window.stdout
        call = {"name": "search_memory", "arguments": {"query": f"boxes of shelf {number}"}}
        messages = [
            *ERAS["initialize"][:2],
            {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call},
        ]
        window.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
        window.stdin.flush()
        answers = [json.loads(window.stdout.readline()) for _ in range(2)]
        assert "Shelf" in answers[1]["result"]["content"][0]["text"], answers[1]
    status = control.status(home)
    assert status and status["mcp_sessions"] == WINDOWS, status
    relays = [_megabytes(window.pid) for window in opened]
    daemon = _megabytes(status["pid"])
    for window in opened:
        window.communicate(timeout=60)
    return {
        "measure": daemon[1],
        "daemon": daemon[0],
        "relays": sum(size for size, _ in relays),
        "all": daemon[0] + sum(size for size, _ in relays),
    }


def _window(home: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=home,
        env=environment,
    )


def _megabytes(pid: int) -> tuple[float, str]:
    """What a process takes, and how that was measured: its share of pages, or else all of its resident ones."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024, "PSS"
    except OSError:
        done = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
        )
        return int(done.stdout) / 1024, "RSS"


def _searches(home: Path, environment: dict[str, str]) -> dict[str, dict[str, float]]:
    words = [sys.executable, "-m", "recollect", "search", "how many boxes does shelf 7 hold"]
    ways = {"daemon": words, "in its own process": [*words, "--home", str(home)]}
    return {name: _timed(command, home, environment) for name, command in ways.items()}


def _timed(command: list[str], home: Path, environment: dict[str, str]) -> dict[str, float]:
    walls, cpus = [], []
    for _ in range(FEW):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True)
        walls.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus)}


def _listed(program: str, messages: list[dict[str, Any]], environment: dict[str, str]) -> float:
    """Seconds until the tools were listed."""
    sent = "".join(json.dumps(message) + "\n" for message in messages).encode()
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(sent)
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:
                taken = time.perf_counter() - begin
                assert answer["result"]["tools"], answer
                return taken
    raise RuntimeError("the server hung up")


def _other_client(home: str) -> str:
    npm = shutil.which("npm")
    if npm is None:
        return "left out: there is no npm here"
    folder = OUT / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    got = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), CLIENT],
        capture_output=True,
        text=True,
    )
    if got.returncode:
        return f"left out: it could not be installed ({got.stderr.strip()[:200]})"
    tools = _inspect(folder, home, "tools/list")
    kept = _inspect(
        folder,
        home,
        "tools/call",
        "--tool-name",
        "record_memory",
        "--tool-arg",
        "content=Tests need a running Redis",
    )
    found = _inspect(
        folder, home, "tools/call", "--tool-name", "search_memory", "--tool-arg", "query=why do tests fail"
    )
    assert kept["structuredContent"]["outcome"] == "stored", kept
    assert "Redis" in found["content"][0]["text"], found
    return f"lists {len(tools['tools'])} tools, records a memory and finds it"


def _inspect(folder: Path, home: str, method: str, *more: str) -> Any:
    program = folder / "node_modules" / ".bin" / "mcp-inspector"
    server = [sys.executable, "-m", "recollect", "mcp", "--home", home, "--project", home]
    command = [str(program), "--cli", "--method", method, *more, "--", *server]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)
