"""How soon the MCP server answers, and whether other people's clients get along with it: `make bench BENCH=mcp`.

From a cold process to the answer to tools/list, beside a server that has one tool and does nothing, by turns. Then a
client from the npm registry lists and calls the tools; it is installed into bench/out, and left out without npm.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "out"
ROUNDS = 15
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
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "RECOLLECT_HOME": home}
        figures: dict[str, Any] = {}
        for era, messages in ERAS.items():
            times: dict[str, list[float]] = {"minimal": [], "ours": []}
            for _ in range(ROUNDS):
                times["minimal"].append(_listed(MINIMAL, messages, environment))
                times["ours"].append(_listed(OURS, messages, environment))
            medians = {name: statistics.median(taken) for name, taken in times.items()}
            figures[era] = {**medians, "ratio": medians["ours"] / medians["minimal"]}
        figures["client"] = _other_client(home)
        return figures


def show(figures: dict[str, Any]) -> None:
    print("cold process to the answer to tools/list, median of", ROUNDS)
    for era in ERAS:
        each = figures[era]
        print(
            f"  {era:10}  minimal {each['minimal'] * 1000:5.0f} ms  recollect {each['ours'] * 1000:5.0f} ms"
            f"  {each['ratio']:.2f} ×"
        )
    print(f"{CLIENT}: {figures['client']}")


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
