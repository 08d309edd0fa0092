"""What the attacks share: counts, hostile values, processes that run commands."""

import base64
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CASE_SECONDS = 60.0  # after which a case counts as hung; on a busy machine a process needs ten to start
ROOT = Path(__file__).parents[2]
FIGURES = ("tries", "lost", "crashed", "hung", "leaked")


@dataclass
class Result:
    tries: int = 0
    lost: int = 0
    crashed: int = 0
    hung: int = 0
    leaked: int = 0
    note: str = ""
    details: list[str] = field(default_factory=list)

    def add(self, figure: str, detail: str, count: int = 1) -> None:
        """Count something that must not happen."""
        if count:
            setattr(self, figure, getattr(self, figure) + count)
            self.details.append(f"{figure}: {detail}"[:400])

    def need(self, condition: object, what: str) -> None:
        """Count an attack that did not take place as a crash: a row of zeros must not come from trying nothing."""
        if not condition:
            self.add("crashed", f"the attack did not take place: {what}")


# hostile values

_TEXTS = (
    "", " ", "\x00", "\ud800", "\u202e\u2066", "a" * 70_000, "*a" * 5_000, "eyJ" * 5_000, "((((" * 4_000, "\n" * 20_000,
    "../../etc/passwd", "/dev/zero", "-1", "1e999", "null", "<recollect-memory>", "${jndi}", "'; DROP TABLE memories; --", "é" * 9_000,
)  # fmt: skip
VALUES = (None, True, -1, 2**70, 1e308, [], {}, [[[[[]]]]], {"a": {"b": {}}}, *_TEXTS)


def mutated(value: Any, pick: random.Random) -> Any:
    """Return the value with some of its parts replaced by hostile ones, or missing."""
    if pick.random() < 0.15:
        return pick.choice(VALUES)
    if isinstance(value, dict):
        changed = {key: mutated(inner, pick) for key, inner in value.items() if pick.random() > 0.08}
        if pick.random() < 0.1:
            changed[pick.choice(_TEXTS)[:50]] = pick.choice(VALUES)
        return changed
    if isinstance(value, list):
        return [mutated(inner, pick) for inner in value] * pick.choice((1, 1, 1, 0, 3))
    return value


def garbled(data: bytes, pick: random.Random) -> bytes:
    """Return the bytes with some flipped, cut off or repeated."""
    changed = bytearray(data)
    for _ in range(pick.randint(1, 20)):
        if changed:
            changed[pick.randrange(len(changed))] = pick.randrange(256)
    if pick.random() < 0.3:
        del changed[pick.randrange(len(changed) + 1) :]
    return bytes(changed) * (2 if pick.random() < 0.1 else 1)


def one_bit(data: bytes, pick: random.Random) -> bytes:
    """Return the bytes with one bit flipped, in a byte that is not 0: most of a small store is empty space."""
    changed = bytearray(data)
    place = pick.choice([place for place, byte in enumerate(data) if byte])
    changed[place] ^= 1 << pick.randrange(8)
    return bytes(changed)


def cases(seconds: float, most: int, least: int = 1) -> Iterator[int]:
    """Yield numbers until the time is over: at least `least` and at most `most`."""
    until = time.monotonic() + seconds
    for number in range(most):
        if number >= least and time.monotonic() > until:
            return
        yield number


# processes


@contextmanager
def place() -> Iterator[tuple[Path, Path]]:
    """Yield a home and a project; no daemon is left behind."""
    from recollect.interfaces.daemon_client import control

    with tempfile.TemporaryDirectory(prefix="recollect-attack-", ignore_cleanup_errors=True) as name:
        home, folder = Path(name) / "home", Path(name) / "project"
        home.mkdir(mode=0o700)
        folder.mkdir()
        (folder / "main.py").write_text("def main() -> None:\n    print('hello')\n")
        try:
            yield home, folder
        finally:
            control.stop(home)


def environment(home: Path, embedder: str = "none") -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return {
        **ours,
        "PYTHONPATH": paths,
        "RECOLLECT_HOME": str(home),
        "RECOLLECT_EMBEDDER": embedder,
        "RECOLLECT_MCP_TOOLS": "all",
    }


@dataclass(frozen=True)
class Output:
    """What a command printed; `code` None = it hung or its process died."""

    code: int | None
    out: bytes = b""
    err: bytes = b""


def run(
    result: Result, home: Path, folder: Path, *words: str, given: bytes = b"", embedder: str = "none"
) -> Output:
    """Run a command in a process of its own; a traceback counts as a crash."""
    command = [sys.executable, "-m", "recollect", *words]
    try:
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            cwd=folder,
            env=environment(home, embedder),
            timeout=CASE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        result.add("hung", " ".join(words)[:80])
        return Output(None)
    if b"Traceback" in done.stderr or done.returncode not in (0, 1, 2):
        text = done.stderr[-250:].decode(errors="replace")
        result.add("crashed", f"{' '.join(words)[:80]}: {done.returncode} {text}")
    return Output(done.returncode, done.stdout, done.stderr)


class Commands:
    """Runs many commands in one process, because to start one for each would take most of the time."""

    def __init__(self, result: Result, home: Path, folder: Path) -> None:
        self._result = result
        self._home = home
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, *words: str, given: bytes = b"") -> Output:
        """Run a command. An exception or a dead process counts as a crash, and no answer as a hang."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.attack.children", "commands"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self._folder,
                env=environment(self._home),
            )
        process, request = self._process, {"words": words, "given": base64.b64encode(given).decode()}
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], CASE_SECONDS)
        line = process.stdout.readline() if ready else b""
        if not line:
            self.close()
            self._result.add("crashed" if ready else "hung", f"{' '.join(words)[:80]}: {process.returncode}")
            return Output(None)
        answer = json.loads(line)
        if answer["trace"]:
            self._result.add("crashed", f"{' '.join(words)[:80]}: {answer['trace'][-250:]}")
        return Output(answer["code"], base64.b64decode(answer["out"]), base64.b64decode(answer["err"]))

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                assert stream is not None
                stream.close()
            self._process = None


def check_daemon(result: Result, home: Path) -> None:
    """Count the errors that the daemon has logged, and work that it gave up. An event may be refused with an error of ours."""
    from recollect import errors

    for file in home.glob("daemon.log*"):
        for line in file.read_text("utf-8", "replace").splitlines():
            entry = json.loads(line)
            is_refusal = entry["what"] == "an event was not recorded" and hasattr(
                errors, str(entry.get("error"))
            )
            if entry.get("error") and not is_refusal:
                result.add("crashed", f"daemon: {entry['what']}: {entry['error']} {entry.get('where', '')}")
            elif entry["what"] == "abandoned":
                result.add("hung", f"daemon: {entry.get('work')}")


class _Hung(Exception):
    """A case has not ended in time."""


def guarded(result: Result, what: str, case: Callable[[], object]) -> None:
    """Run a case in this process: any error but ours is a crash, and too long is a hang."""
    from recollect.errors import RecollectError

    def late(number: int, frame: object) -> None:
        raise _Hung

    result.tries += 1
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, CASE_SECONDS)
    try:
        case()
    except RecollectError:
        pass
    except _Hung:
        result.add("hung", what)
    except Exception as error:
        result.add("crashed", f"{what}: {type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def hook_event(project: Path, command: str) -> dict[str, Any]:
    return {
        "session_id": "s1",
        "cwd": str(project),
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": "ok", "stderr": ""},
        "prompt": "Use pnpm here, never npm.",
    }


def mcp_lines(*calls: tuple[str, Any]) -> list[bytes]:
    """Return the lines of a client that starts a session and calls tools, numbered from 0."""
    client = {"name": "attack", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (name, arguments) in enumerate(calls):
        params = {"name": name, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return [json.dumps(message).encode() for message in messages]
