"""Attacks on Recollect: kills, concurrency, damage, hostile input through every interface. All figures but tries must be 0.

python -m bench.attack [--seconds N] [--only NAME ...] [--processes N]

Each attack has N seconds (15). `lost` counts acknowledged writes that are gone; `crashed` counts errors that are not
messages to the user; `hung` counts what was not done after half a minute; `leaked` counts secrets on disk, programs of a
repository that ran, and changes that an agent may not make.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CASE_SECONDS = 30.0  # after which a case counts as hung; on a busy machine a process needs ten to start
ROOT = Path(__file__).parent.parent


@dataclass
class Result:
    tries: int = 0
    lost: int = 0
    crashed: int = 0
    hung: int = 0
    leaked: int = 0
    note: str = ""
    details: list[str] = field(default_factory=list)

    def add(self, other: "Result") -> None:
        for name in ("tries", "lost", "crashed", "hung", "leaked"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.details += other.details


@dataclass(frozen=True)
class Attack:
    name: str
    run: Callable[[Path, float], Result]


# hostile values

_TEXTS = (
    "", " ", "\x00", "\ud800", "\u202e\u2066", "a" * 70_000, "*a" * 5_000, "eyJ" * 5_000, "((((" * 4_000, "\n" * 20_000,
    "../../etc/passwd", "/dev/zero", "-1", "1e999", "null", "<recollect-memory>", "${jndi}", "'; DROP TABLE memories; --", "é" * 9_000,
)  # fmt: skip
_VALUES = (None, True, -1, 2**70, 1e308, [], {}, [[[[[]]]]], {"a": {"b": {}}}, *_TEXTS)


def _mutated(value: Any, pick: random.Random) -> Any:
    """Return the value with some of its parts replaced by hostile ones, or missing."""
    if pick.random() < 0.15:
        return pick.choice(_VALUES)
    if isinstance(value, dict):
        changed = {key: _mutated(inner, pick) for key, inner in value.items() if pick.random() > 0.08}
        if pick.random() < 0.1:
            changed[pick.choice(_TEXTS)[:50]] = pick.choice(_VALUES)
        return changed
    if isinstance(value, list):
        return [_mutated(inner, pick) for inner in value] * pick.choice((1, 1, 1, 0, 3))
    return value


def _garbled(data: bytes, pick: random.Random) -> bytes:
    """Return the bytes with some flipped, cut off or repeated."""
    changed = bytearray(data)
    for _ in range(pick.randint(1, 20)):
        if changed:
            changed[pick.randrange(len(changed))] = pick.randrange(256)
    if pick.random() < 0.3:
        del changed[pick.randrange(len(changed) + 1) :]
    return bytes(changed) * (2 if pick.random() < 0.1 else 1)


def _cases(seconds: float, most: int) -> Iterator[int]:
    until = time.monotonic() + seconds
    for number in range(most):
        if number and time.monotonic() > until:
            return
        yield number


# processes

HOME_NAMES = ("RECOLLECT_HOME", "RECOLLECT_EMBEDDER", "RECOLLECT_MCP_TOOLS")


def _environment(home: Path) -> dict[str, str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return {
        **os.environ,
        "PYTHONPATH": paths,
        "RECOLLECT_HOME": str(home),
        "RECOLLECT_EMBEDDER": "none",
        "RECOLLECT_MCP_TOOLS": "all",
    }


def _run(
    home: Path, folder: Path, *words: str, given: bytes = b"", result: Result | None = None
) -> "subprocess.CompletedProcess[bytes] | None":
    """Run a command; a traceback counts as a crash, and None is returned for one that hangs."""
    command = [sys.executable, "-m", "recollect", *words]
    try:
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            cwd=folder,
            env=_environment(home),
            timeout=CASE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        if result is not None:
            result.hung += 1
            result.details.append(f"hung: {' '.join(words)[:80]}")
        return None
    if result is not None and (b"Traceback" in done.stderr or done.returncode not in (0, 1, 2)):
        result.crashed += 1
        result.details.append(
            f"crashed: {' '.join(words)[:80]}: {done.stderr[-200:].decode(errors='replace')}"
        )
    return done


@contextmanager
def _place() -> Iterator[tuple[Path, Path]]:
    """Yield a home and a project; no daemon is left behind."""
    from recollect.interfaces.daemon_client import control

    with tempfile.TemporaryDirectory(prefix="recollect-attack-") as name:
        home, folder = Path(name) / "home", Path(name) / "project"
        home.mkdir(mode=0o700)
        folder.mkdir()
        (folder / "main.py").write_text("def main() -> None:\n    print('hello')\n")
        try:
            yield home, folder
        finally:
            control.stop(home)


class _Hung(Exception):
    """A case has not ended in time."""


def _guarded(result: Result, what: str, case: Callable[[], object]) -> None:
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
        result.hung += 1
        result.details.append(f"hung: {what}")
    except Exception as error:
        result.crashed += 1
        result.details.append(f"crashed: {what}: {type(error).__name__}: {error}"[:200])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# attacks


def _kills(folder: Path, seconds: float) -> Result:
    """Writers that are killed in the middle of a write."""
    from bench.durability import _killed

    figures = _killed(folder, max(2, int(seconds // 3)), 60)
    return Result(figures["rounds"], figures["lost"], figures["problems"])


def _killed_daemons(folder: Path, seconds: float) -> Result:
    """A daemon that is killed again and again while hooks report events."""
    import apsw

    from recollect.interfaces.daemon_client import control

    result, pick = Result(), random.Random(3)
    with _place() as (home, project):
        for number in _cases(seconds, 30):
            result.tries += 1
            event = _hook_event(project, f"echo {number}")
            _run(
                home,
                project,
                "hook",
                "claude-code",
                "PostToolUse",
                given=json.dumps(event).encode(),
                result=result,
            )
            status = control.status(home)
            if status is not None and pick.random() < 0.5:
                os.kill(int(status["pid"]), signal.SIGKILL)
        wanted, found = {f"echo {number}" for number in range(result.tries)}, set()
        until = time.monotonic() + 2 * CASE_SECONDS
        while time.monotonic() < until and wanted - found:
            control.ensure(home)
            if (home / "recollect.db").exists():
                database = apsw.Connection(str(home / "recollect.db"))
                try:
                    rows = [
                        json.loads(row[0]) for row in database.execute("SELECT event FROM session_events")
                    ]
                    found = {row["input"]["command"] for row in rows if "input" in row}
                except apsw.Error:
                    pass
                finally:
                    database.close()
            time.sleep(0.2)
        result.lost = len(wanted - found)
    return result


def _hook_event(project: Path, command: str) -> dict[str, Any]:
    return {
        "session_id": "s1",
        "cwd": str(project),
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": "ok", "stderr": ""},
        "prompt": "Use pnpm here, never npm.",
    }


PROCESSES = 16


def _concurrency(folder: Path, seconds: float) -> Result:
    """Processes that write and search in one store at once."""
    result = Result()
    with _place() as (home, project):
        _run(home, project, "remember", "The shop uses PostgreSQL.")
        words = [sys.executable, "-m", "bench.attack", "--worker"]
        workers = [
            subprocess.Popen(
                [*words, str(project), str(seconds), str(number)],
                env=_environment(home),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=ROOT,
            )
            for number in range(PROCESSES)
        ]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()  # it is ready
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(b"go\n")
            worker.stdin.flush()
        reports, errors = [], b""
        for worker in workers:
            try:
                out, errors = worker.communicate(timeout=seconds + 4 * CASE_SECONDS)
                reports.append(json.loads(out.splitlines()[-1]))
            except (subprocess.TimeoutExpired, ValueError, IndexError):
                worker.kill()
                result.hung += 1
                result.details.append(
                    errors[-300:].decode(errors="replace") if worker.returncode else "no report"
                )
        from recollect.engine import Engine

        with Engine.open(project, home, embedder=_no_embedder()) as engine:
            kept = {
                memory.id for memory in engine.store.get_many([i for r in reports for i in r["ids"]]).values()
            }
    result.lost = len({each for report in reports for each in report["ids"]} - kept)
    searches = sorted(ms for report in reports for ms in report["search"])
    result.tries = len(searches) + sum(len(report["ids"]) for report in reports)
    for report in reports:
        result.crashed += len(report["errors"])
        result.details += report["errors"][:3]
    if len(searches) > 10:
        median, tail = statistics.median(searches), searches[int(0.99 * (len(searches) - 1))]
        result.note = f"search p50 {median:.0f} ms, p99 {tail:.0f} ms ({tail / median:.1f}x)"
    return result


def _no_embedder() -> Any:
    from recollect.embed.open import NoEmbedder

    return NoEmbedder()


def _worker(project: str, seconds: float, number: int) -> None:
    """Remember and search until the time is over, and print what happened."""
    from recollect.engine import Engine

    report: dict[str, list[Any]] = {"ids": [], "errors": [], "search": []}
    pick = random.Random(number)
    with Engine.open(project) as engine:
        engine.search("PostgreSQL")
        print("ready", flush=True)
        sys.stdin.readline()
        count, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            count += 1
            try:
                if pick.random() < 0.3:
                    text = f"Worker {number} keeps figure {count} in table {pick.randrange(10**6)}."
                    report["ids"].append(engine.remember(text).id)
                else:
                    begun = time.perf_counter()
                    engine.search(pick.choice(("figure in table", "PostgreSQL", f"worker {number}")))
                    report["search"].append((time.perf_counter() - begun) * 1000)
            except Exception as error:
                report["errors"].append(f"{type(error).__name__}: {error}"[:200])
    print(json.dumps(report))


def _damage(folder: Path, seconds: float) -> Result:
    """A store with flipped or missing bytes: it is repaired from a backup, or refused with a message."""
    result, pick = Result(), random.Random(5)
    with _place() as (home, project):
        sentences = ("Invoices are stored as PDF.", "The queue is Redis.", "Deploy on Tuesdays only.")
        for sentence in sentences:
            _run(home, project, "remember", sentence)
        _run(home, project, "backup")
        whole = (home / "recollect.db").read_bytes()
        for _ in _cases(seconds, 40):
            result.tries += 1
            for name in ("recollect.db-wal", "recollect.db-shm"):
                (home / name).unlink(missing_ok=True)
            (home / "recollect.db").write_bytes(_garbled(whole, pick))
            _run(
                home,
                project,
                pick.choice(("list", "search", "doctor")),
                *pick.choice(([], ["tool"])),
                result=result,
            )
        for damaged in home.glob("recollect.db*"):
            damaged.unlink()
        _run(home, project, "backup", "restore")
        done = _run(home, project, "list", "--json")
        listed = b"" if done is None else done.stdout
        result.lost = sum(sentence.encode() not in listed for sentence in sentences)
    return result


def _hooks(folder: Path, seconds: float) -> Result:
    """Events that no host would send: a hook exits with 0 and prints no error."""
    from recollect.work.hosts.registry import HOSTS

    result, pick = Result(), random.Random(6)
    with _place() as (home, project):
        for _ in _cases(seconds, 100):
            host = pick.choice(sorted(HOSTS))
            names = [hook.event for hook in HOSTS[host].hooks] or ["PostToolUse"]
            event = _mutated(_hook_event(project, "ls"), pick)
            data = json.dumps(event).encode()
            data = data if pick.random() < 0.7 else _garbled(data, pick)
            result.tries += 1
            done = _run(home, project, "hook", host, str(pick.choice(names)), given=data, result=result)
            if done is not None and (done.returncode or done.stderr):
                result.crashed += 1
                result.details.append(f"hook: {done.returncode} {done.stderr[-100:]!r}")
    return result


def _mcp(folder: Path, seconds: float) -> Result:
    """Requests that no client would send: each with an id is answered, and the server goes on."""
    result, pick = Result(), random.Random(7)
    tools = {
        "search_memory": {"query": "x"},
        "record_memory": {"content": "Use pnpm."},
        "memory": {"action": "list"},
        "module_map": {"task": "x"},
        "code_graph": {"query": "main"},
        "work_history": {"query": "x"},
        "session_search": {"query": "x"},
    }
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "attack", "version": "1"},
    }
    with _place() as (home, project):
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}).encode()
        ]
        lines.append(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        for number in range(int(min(10 * seconds, 150))):
            name = pick.choice(sorted(tools))
            params = {"name": name, "arguments": _mutated(tools[name], pick)}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            lines.append(json.dumps(message).encode())
            if pick.random() < 0.2:
                lines.append(_garbled(lines[-1], pick).replace(b"\n", b" ") + b"\xff")
            result.tries += 1
        try:
            done = subprocess.run(
                [sys.executable, "-m", "recollect", "mcp"],
                input=b"\n".join(lines) + b"\n",
                capture_output=True,
                cwd=project,
                env=_environment(home),
                timeout=seconds + 4 * CASE_SECONDS,
            )
            answered = {json.loads(line).get("id") for line in done.stdout.splitlines()}
            unanswered = [number for number in range(result.tries) if number not in answered]
            result.crashed += b"Traceback" in done.stderr
        except subprocess.TimeoutExpired:
            unanswered = [-1]
        result.hung += len(unanswered)
        result.details += [
            f"no answer to {lines[2 + number][:150]!r}" for number in unanswered[:5] if number >= 0
        ]
    return result


def _files(folder: Path, seconds: float) -> Result:
    """Files to import and transcripts that are garbled."""
    from recollect.engine import Engine

    result, pick = Result(), random.Random(8)
    with _place() as (home, project):
        _run(home, project, "remember", "The shop uses PostgreSQL.")
        exported = _run(home, project, "export", "--json") or _run(home, project, "export")
        bundle = exported.stdout if exported is not None else b"{}"
        transcript = b"\n".join(
            json.dumps(
                {"type": kind, "message": {"role": kind, "content": "Use pnpm, never npm."}, "sessionId": "s"}
            ).encode()
            for kind in ("user", "assistant") * 5
        )
        with Engine.open(project, home, embedder=_no_embedder()):
            pass
        for number in _cases(seconds, 40):
            data, command = (bundle, "import") if number % 2 else (transcript, "extract")
            file = folder / f"case-{number}.{'json' if number % 2 else 'jsonl'}"
            file.write_bytes(_garbled(data, pick))
            result.tries += 1
            _run(home, project, command, str(file), result=result)
    return result


def _settings(folder: Path, seconds: float) -> Result:
    """Configuration files that are garbled: settings are read, or refused with a message."""
    from recollect.config import load_settings

    result, pick = Result(), random.Random(9)
    text = b'user = "me"\ncapacity = 3000\ndaemon_idle = 1800\nembedder = "none"\nmessage_days = 90\n'
    home = folder / "settings"
    home.mkdir()
    for number in _cases(seconds, 2000):
        value = json.dumps(pick.choice(_VALUES)).encode()
        broken = (
            _garbled(text, pick) if number % 2 else re.sub(rb"(?<== ).*", value.replace(b"\\", b"\\\\"), text)
        )
        (home / "config.toml").write_bytes(broken)
        _guarded(result, repr(broken[:80]), lambda: load_settings(home, {}))
    return result


def _repository(folder: Path, seconds: float) -> Result:
    """A repository that names programs wherever git would run one, with hostile ignore rules and files."""
    from tests.hostile_repository import build

    result = Result()
    with _place() as (home, _):
        ran = folder / "ran"
        ran.mkdir(exist_ok=True)
        repository = build(folder / "hostile", ran)
        (repository / ".gitignore").write_text("*a" * 40 + "b\n" + "[" * 500 + "\n")
        (repository / "deep.py").write_text("(" * 20_000 + "\n" + "x" * 100_000)
        (repository / "AGENTS.md").write_text("# " + "a " * 30_000 + "\n" + "- **" * 5_000)
        os.mkfifo(repository / "pipe.py")
        for words in (
            ["init"], ["map"], ["graph", "relevant", "eyJ" * 4000], ["recall", "x" * 16_000], ["remember", "--file", "main.py", "A rule."],
            ["search", "*a" * 4000], ["doctor"],
        ):  # fmt: skip
            result.tries += 1
            _run(home, repository, *words, result=result)
        result.leaked = sum(1 for path in ran.rglob("*") if path.is_file())
    return result


def _secrets(folder: Path, seconds: float) -> Result:
    """Secrets given to every interface: none is in any file afterwards."""
    result, pick = Result(), random.Random(10)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    def secret(prefix: str, length: int) -> str:
        return prefix + "".join(pick.choice(letters) for _ in range(length))

    with _place() as (home, project):
        planted: list[str] = []
        for _ in range(3):
            for prefix, length in (("ghp_", 36), ("AKIA", 16), ("sk_live_", 24), ("glpat-", 20)):
                value = secret(prefix, length) if prefix != "AKIA" else secret("AKIA", 16).upper()
                planted.append(value)
                text = f"Deploy with the token {value} on Fridays."
                call = {"name": "record_memory", "arguments": {"content": text}}
                lines = [
                    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}},
                    {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
                ]  # fmt: skip
                event = {**_hook_event(project, f"curl -H 'Authorization: {value}'"), "prompt": text}
                transcript = folder / "t.jsonl"
                transcript.write_text(
                    json.dumps(
                        {"type": "user", "message": {"role": "user", "content": text}, "sessionId": "t"}
                    )
                )
                ways: list[tuple[list[str], bytes]] = [
                    (["remember", text], b""),
                    (["mcp"], "\n".join(map(json.dumps, lines)).encode() + b"\n"),
                    (["hook", "claude-code", "UserPromptSubmit"], json.dumps(event).encode()),
                    (["hook", "claude-code", "PostToolUse"], json.dumps(event).encode()),
                    (["extract", str(transcript)], b""),
                    (["search", value], b""),
                ]
                words, given = ways[len(planted) % len(ways)]
                result.tries += 1
                _run(home, project, *words, given=given, result=result)
        from recollect.interfaces.daemon_client import control

        control.stop(home)
        for path in [path for path in home.rglob("*") if path.is_file()]:
            data = path.read_bytes()
            for value in planted:
                if value.encode() in data or value.lower().encode() in data:
                    result.leaked += 1
                    result.details.append(f"leaked: {value[:6]}… in {path.name}")
    return result


def _actors(folder: Path, seconds: float) -> Result:
    """What an agent may do to whose memory, through Python, MCP and the memory tool: the tests of the table."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_policy.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    counts = dict[str, int]()
    for count, what in re.findall(r"(\d+) (passed|failed|error)", done.stdout):
        counts[what] = int(count)
    passed = counts.get("passed") or (
        len(re.findall(r"^[.F]+", done.stdout, re.MULTILINE))
        and sum(
            line.count(".") for line in done.stdout.splitlines() if re.fullmatch(r"[.F]+ *\[ *\d+%\]", line)
        )
    )
    failed = max(counts.get("failed", 0), len(re.findall(r"^FAILED", done.stdout, re.MULTILINE)))
    result = Result(passed + failed, leaked=failed, crashed=int(done.returncode not in (0, 1)))
    result.details += re.findall(r"^FAILED.*", done.stdout, re.MULTILINE)
    return result


def _expressions(folder: Path, seconds: float) -> Result:
    """Every regular expression on the texts that are worst for it."""
    from tests.expressions import all_expressions, attacks, has_exploded

    result = Result()
    for expression in all_expressions():
        for attack in attacks(expression):
            result.tries += 1
            if has_exploded(expression, attack):
                result.hung += 1
                result.details.append(f"slow: {expression.place}")
    return result


ATTACKS = (
    Attack("kills of writers", _kills),
    Attack("kills of the daemon", _killed_daemons),
    Attack("16 processes", _concurrency),
    Attack("damaged stores", _damage),
    Attack("hook events", _hooks),
    Attack("MCP requests", _mcp),
    Attack("imports, transcripts", _files),
    Attack("configuration", _settings),
    Attack("hostile repository", _repository),
    Attack("secrets", _secrets),
    Attack("actors", _actors),
    Attack("expressions", _expressions),
)


def run(seconds: float = 15.0, only: list[str] | None = None) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for attack in ATTACKS:
        if only and not any(word in attack.name for word in only):
            continue
        with tempfile.TemporaryDirectory(prefix="recollect-attack-") as folder:
            result = attack.run(Path(folder), seconds)
        figures[attack.name] = vars(result)
        print(_line(attack.name, vars(result)), flush=True)
    return figures


def _line(name: str, row: dict[str, Any]) -> str:
    numbers = "".join(f"{row[key]:>9,}" for key in ("tries", "lost", "crashed", "hung", "leaked"))
    return f"{name:22}{numbers}  {row['note']}"


def show(figures: dict[str, Any]) -> None:
    print(f"\n{'':22}{'tries':>9}{'lost':>9}{'crashed':>9}{'hung':>9}{'leaked':>9}")
    for name, row in figures.items():
        print(_line(name, row))
    for name, row in figures.items():
        for detail in row["details"][:10]:
            print(f"{name}: {detail}")


def main() -> int:
    if sys.argv[1:2] == ["--worker"]:
        _worker(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
        return 0
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seconds", type=float, default=15.0, help="for each attack")
    options.add_argument("--only", nargs="+", help="parts of names of attacks")
    given = options.parse_args()
    figures = run(given.seconds, given.only)
    show(figures)
    keys = ("lost", "crashed", "hung", "leaked")
    return int(any(row[key] for row in figures.values() for key in keys))


if __name__ == "__main__":
    sys.exit(main())
