"""What hooks cost, how a session starts without a daemon, whether anything is lost when the daemon is abused, and a
recorded day replayed through hooks.

python -m bench.hooks                           all of it
python -m bench.hooks cost start abuse day      some; --rounds, --events and --seconds make it smaller
"""

import argparse
import gzip
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.engine import Engine
from recollect.interfaces.daemon_client import control, protocol
from recollect.interfaces.daemon_client.first_prompts import FirstPrompts
from recollect.interfaces.daemon_client.start import start as start_daemon
from recollect.interfaces.daemon_client.start import take_lock
from recollect.interfaces.install.machine import running_hook_program
from recollect.model import from_text, to_text, utc_now
from recollect.store.sqlite.connection import connect
from recollect.work.extract import extract
from recollect.work.hosts.transcripts import read
from recollect.work.sessions.events import clean_event
from recollect.work.sessions.transcript import LearningReport, learn_from_file
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.reading import Report

# As `recollect install` tells hosts to run it; in a folder with a space in its name a script cannot be started.
PROGRAM = running_hook_program() or (sys.executable, str(Path(sys.executable).with_name("recollect-hook")))
TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
DAY = ("claude-code-01", "claude-code-05", "claude-code-02")
AT_ONCE = 50
_STAMP = re.compile(r'"timestamp":\s*"([^"]+)"')
PROMPT = "Why does the payment webhook answer twice when the queue is full?"


def run(
    parts: tuple[str, ...] = ("cost", "start", "abuse", "day"),
    rounds: int = 100,
    events: int = 2000,
    seconds: float = 60,
) -> dict[str, Any]:
    makers = {
        "cost": lambda: _cost(rounds),
        "start": lambda: _start(max(rounds // 10, 3)),
        "abuse": lambda: _abuse(events, seconds),
        "day": _day,
    }
    return {name: makers[name]() for name in parts}


# the cost of a hook


def _cost(rounds: int) -> dict[str, Any]:
    """Bare interpreters and hooks in turns, so that other work on the machine slows both."""
    with _place() as (home, project):
        with Engine.open(project, home) as engine:
            engine.remember("The payment webhook answers twice when the queue is full.", kind="gotcha")

        def hook(number: int) -> None:
            prompt = f"{PROMPT} Look at case {number} of the list."
            _hook("UserPromptSubmit", {"session_id": f"s{number % 5}", "cwd": str(project), "prompt": prompt})

        for number in range(5):  # their first prompts would wait for the daemon
            FirstPrompts(home).claim(f"s{number}", "earlier")
        lock = take_lock(str(home))  # no daemon, and none on its way up
        assert lock is not None
        absent = _in_turns(rounds, hook)
        os.close(lock)
        _wait(lambda: not _carriers(home), 120)
        control.ensure(home)
        for number in range(10):
            hook(number)
        warm = _in_turns(rounds, hook)
        pid = _daemon(home)
        os.kill(pid, signal.SIGSTOP)
        try:
            stopped = _in_turns(max(rounds // 5, 3), hook)
        finally:
            os.kill(pid, signal.SIGCONT)
    return {"warm daemon": warm, "no daemon": absent, "stopped daemon": stopped}


def _in_turns(rounds: int, act: Any) -> dict[str, float]:
    bare, ours = [], []
    for number in range(rounds):
        bare.append(_timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)))
        began = time.perf_counter()
        act(number)
        ours.append(time.perf_counter() - began)
    median = statistics.median(bare)
    return {
        "bare_ms": round(1000 * median, 1),
        "median_ms": round(1000 * statistics.median(ours), 1),
        "p95_ms": round(1000 * _p95(ours), 1),
        "median_ratio": round(statistics.median(ours) / median, 2),
        "p95_ratio": round(_p95(ours) / median, 2),
        "p95_to_p95": round(_p95(ours) / _p95(bare), 2),
    }


# the start of a session without a daemon


def _start(rounds: int) -> dict[str, Any]:
    """What a hook takes to compose the briefing itself, and how soon a daemon answers that it has started."""
    found: dict[str, Any] = {}
    for name in ("plain", "encrypted"):
        with _place() as (home, project):
            _fill(home, project)
            if name == "encrypted":
                with Engine.open(project, home) as engine:
                    engine.care.encrypt(home.parent / "key")
            lock = take_lock(str(home))
            assert lock is not None
            started = [_cpu_of_start(project, number) for number in range(rounds + 1)][1:]  # with bytecode
            bare = [_cpu(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in started]
            os.close(lock)
            found[f"{name} store"] = {
                "cpu_s": round(statistics.median(started), 3),
                "max_cpu_s": round(max(started), 3),
                "bare_cpu_s": round(statistics.median(bare), 3),
            }
            if name == "plain":
                found["daemon"] = _cold_daemon(home, project, min(rounds, 5))
    return found


def _fill(home: Path, project: Path) -> None:
    """Store what a year of work leaves: 500 memories and a module map."""
    for number in range(40):
        folder = project / f"part{number % 8}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.py").write_text(f"def work{number}(order):\n    return order + {number}\n")
    (project / "pyproject.toml").write_text('[project]\nname = "shop"\n[tool.pytest.ini_options]\n')
    kinds = ("convention", "decision", "preference", "gotcha", "fact", "procedure", "pattern")
    with Engine.open(project, home) as engine:
        for number in range(500):
            text = f"Part {number} of the shop keeps its {kinds[number % 7]} in table {number * 7}, and never in file {number * 3}."
            engine.remember(text, kind=kinds[number % 7])
        engine.maps.rescan()


def _cpu_of_start(project: Path, number: int) -> float:
    printed: list[str] = []
    payload = {"session_id": f"start-{number}", "cwd": str(project), "source": "startup"}
    took = _cpu(lambda: printed.append(_hook("SessionStart", payload)))
    assert "project_memory" in printed[0], "the session was not briefed"
    return took


def _cpu(act: Any) -> float:
    """User and system time of the processes that `act` waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    act()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cold_daemon(home: Path, project: Path, rounds: int) -> dict[str, Any]:
    """Start a daemon for a project and ask at once: when it listens, and when the first prompt has its answer."""
    listening, answered, ready, told = [], [], [], 0
    for number in range(rounds):
        control.stop(home)
        began = time.perf_counter()
        start_daemon(str(home), str(project), pause=0)
        listens, answer = _ask_until_answered(home, project, number)
        told += b"project_memory" in answer
        answered.append(time.perf_counter() - began)
        listening.append(listens - began)
        while not (control.status(home) or {}).get("model_ready"):
            time.sleep(0.01)
        ready.append(time.perf_counter() - began)
    return {
        "listening_s": round(statistics.median(listening), 2),
        "first_answer_s": round(statistics.median(answered), 2),
        "model_s": round(statistics.median(ready), 2),
        "told": f"{told} of {rounds}",
    }


def _ask_until_answered(home: Path, project: Path, number: int) -> tuple[float, bytes]:
    """Return when the daemon listened, and its answer to the prompt."""
    prompt = "Which table does part 12 of the shop keep its decision in?"
    body = {"session_id": f"cold-{number}", "cwd": str(project), "prompt": prompt}
    while True:
        asked = time.perf_counter()
        at = time.time_ns()
        fields = ("claude-code", "UserPromptSubmit", f"cold{at}", str(at), "0.150", str(project))
        try:
            answer = protocol.ask(str(home), "hook", fields, json.dumps(body).encode(), 10)
        except protocol.NoAnswer:
            time.sleep(0.005)
            continue
        return asked, answer


# abuse


def _abuse(events: int, seconds: float) -> dict[str, Any]:
    with _place() as (home, project):
        at_once = _at_once(home, project)
        killed = _killed(home, project, events, seconds)
        two = _two_at_once(home)
        upgrade = _upgrade(home, project)
    return {"fifty at once": at_once, "killed every second": killed, "two daemons": two, "upgrade": upgrade}


def _at_once(home: Path, project: Path) -> dict[str, Any]:
    began = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda number: _tool_event(project, "at-once", number), range(AT_ONCE)))
    took = time.perf_counter() - began
    return {"hooks": AT_ONCE, "seconds": round(took, 1), **_settled(home, "at-once", AT_ONCE)}


def _killed(home: Path, project: Path, events: int, seconds: float) -> dict[str, Any]:
    kills = 0
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(5) as pool:
        sent = [pool.submit(_tool_event, project, "killed", number) for number in range(events)]
        while not all(each.done() for each in sent) or time.monotonic() < until:
            time.sleep(1)
            if time.monotonic() < until and (pid := _daemon(home)):
                os.kill(pid, signal.SIGKILL)
                kills += 1
    return {"events": events, "kills": kills, **_settled(home, "killed", events)}


def _two_at_once(home: Path) -> dict[str, Any]:
    control.stop(home)
    words = [sys.executable, "-m", "recollect.interfaces.daemon", str(home)]
    both = [subprocess.Popen(words, stdin=subprocess.DEVNULL) for _ in range(2)]
    client_status = _wait(lambda: control.status(home))
    _wait(lambda: any(each.poll() is not None for each in both))
    alive = [each for each in both if each.poll() is None]
    found = {"alive": len(alive), "answers": client_status is not None}
    control.stop(home)
    for each in both:
        each.wait(30)
    return found


def _upgrade(home: Path, project: Path) -> dict[str, Any]:
    """A hook of a newer version comes: the old daemon serves it and leaves, and the next hook starts another."""
    before = control.ensure(home)
    assert before is not None
    _memory_grows(home, project, 200)
    steady = control.status(home)
    _memory_grows(home, project, 400)
    grown = control.status(home)
    newer = protocol.__version__
    protocol.__version__ = "999.0"
    try:
        control.status(home)
    finally:
        protocol.__version__ = newer
    _wait(lambda: _daemon(home) != before["pid"])
    for number in range(20):
        _tool_event(project, "upgrade", number)
    result = _settled(home, "upgrade", 20)
    after = control.ensure(home)
    assert after is not None and steady is not None and grown is not None
    return {
        "replaced": after["pid"] != before["pid"],
        "memory_mb": [steady["memory_mb"], grown["memory_mb"]],
        **result,
    }


def _memory_grows(home: Path, project: Path, events: int) -> None:
    """Straight to the daemon: what it keeps in mind is its own, not the hook's."""
    body = json.dumps(_tool_payload(project, "memory", 1)).encode()
    for number in range(events):
        fields = (
            "claude-code",
            "PostToolUse",
            f"m{time.time_ns()}-{number}",
            str(time.time_ns()),
            "1",
            str(project),
        )
        protocol.ask(str(home), "hook", fields, body, 10)


def _settled(home: Path, session: str, expected: int) -> dict[str, Any]:
    """All is quiet: nothing waits, one daemon, and what is stored is what was sent."""

    def quiet() -> bool:
        said = control.ensure(home)
        return said is not None and not said["waiting"] and not _carriers(home)

    _wait(quiet, 180)
    database = connect(home / "recollect.db", None)
    ids = [row[0] for row in database.execute("SELECT id FROM session_events WHERE session = ?", (session,))]
    calls = {
        json.loads(row[0])["input"]["command"]
        for row in database.execute(
            "SELECT event FROM session_events WHERE session = ? AND event LIKE '%\"command\"%'", (session,)
        )
    }
    database.close()
    daemons = _processes(f"recollect.interfaces.daemon {home}")
    return {
        "stored": len(calls),
        "lost": expected - len(calls),
        "twice": len(ids) - 2 * len(calls),
        "daemons": len(daemons),
        "zombies": len(_zombies()),
    }


# a recorded day


def _day() -> dict[str, Any]:
    missing = [name for name in DAY if not (TRACES / f"{name}.jsonl.gz").exists()]
    if missing:
        return {"skipped": f"{missing[0]} is not in {TRACES}"}
    return {
        f"{name}, {'with' if written else 'without'} its file": _replayed(
            TRACES / f"{name}.jsonl.gz", written
        )
        for name in DAY
        for written in (True, False)
    }


def _replayed(trace: Path, written: bool) -> dict[str, Any]:
    """`written` = the host writes the session down meanwhile, as it does unless it is told not to.

    Without, the findings lack what hooks do not tell; they must be those of the events that hooks do tell.
    """
    with _place() as (home, project):
        told = home.parent / "told.jsonl"
        told.write_bytes(_as_of_today(trace, project))
        events = list(read(told, "claude-code", Report()))
        session = events[0].session
        file = home.parent / "claude" / "projects" / "day" / f"{session}.jsonl"
        file.parent.mkdir(parents=True)
        os.environ["CLAUDE_CONFIG_DIR"] = str(home.parent / "claude")
        control.ensure(home)
        lines = told.read_bytes().splitlines(keepends=True)
        hooks = list(stream(told, events))
        for number, (name, payload) in enumerate(hooks):
            if written:  # a host only appends: nobody finds it empty meanwhile
                some = lines[len(lines) * number // len(hooks) : len(lines) * (number + 1) // len(hooks)]
                with file.open("ab") as out:
                    out.writelines(some)
            place = {"session_id": session, "cwd": str(project), "transcript_path": str(file)}
            _hook(name, {**payload, **place})
        _settled(home, session, 0)
        _wait(lambda: _ended(home, project, session))
        briefing = _hook("SessionStart", {"session_id": "next", "cwd": str(project), "source": "startup"})
        control.stop(home)
        with Engine.open(project, home) as engine:
            found = _learnt(engine, session)
        with Engine.open(project, home.parent / "extracted") as engine:
            learn_from_file(engine.sessions, told, LearningReport())
            wanted = _learnt(engine, session)
    if not written:
        heard = extract(map(clean_event, _heard(events)), utc_now())
        wanted["findings of what hooks tell"] = [each.content for each in heard]
        found["findings of what hooks tell"] = found["findings"]
    text = json.loads(briefing)["hookSpecificOutput"]["additionalContext"] if briefing else ""
    return {
        "hooks": len(hooks),
        **{what: _compared(wanted[what], found[what]) for what in wanted},
        "in the next briefing": sum(_begins(content) in text for content in found["findings"]),
        "details": {
            f"{what} {kind}": list(map(str, each))
            for what in wanted
            for kind, each in (
                ("missing", _less(wanted[what], found[what])),
                ("more", _less(found[what], wanted[what])),
            )
        },
    }


def _heard(events: list[Event]) -> Iterator[Event]:
    """Without what the agent says between two tools, or a host puts in: of a turn, hooks tell the last words alone."""
    last: list[Event] = []
    for event in events:
        if not event.is_message:
            yield event
        elif event.injected or event.agent:
            continue
        elif event.author == "user":
            yield from last
            last = []
            yield event
        else:
            last = [event]
    yield from last


def _as_of_today(trace: Path, project: Path) -> bytes:
    """The transcript as if it had been made in `project` until now: what is old is not recorded as new work."""
    text = gzip.decompress(trace.read_bytes()).decode(errors="replace")
    folder = next(event.cwd for event in read(trace, "claude-code", Report()) if event.cwd)
    text = re.sub(rf"{re.escape(folder)}(?=[/\"\\])", str(project), text)
    later = utc_now() - max(map(from_text, _STAMP.findall(text)))
    return _STAMP.sub(
        lambda found: found[0].replace(found[1], to_text(from_text(found[1]) + later)), text
    ).encode()


def _learnt(engine: Engine, session: str) -> dict[str, list[Any]]:
    """What a session came to, without ids and times."""
    shelf, owner = engine.store.episodes, engine.episodes.owner
    known = engine.sessions.get(session)
    return {
        "sessions": [(known.id, known.host, known.agent, known.extracted_at is not None)],
        "tools": [
            (each.tool, json.dumps(each.parameters, sort_keys=True), each.success)
            for each in shelf.executions(owner, session=session, limit=100_000)
        ],
        "files": [
            (each.path, str(each.operation), each.lines, each.success, each.changes)
            for each in sorted(shelf.touches(owner, session=session, limit=100_000), key=lambda each: each.id)
        ],
        "tasks": [
            (each.description, each.intent, str(each.status)) for each in engine.episodes.tasks(limit=1000)
        ],
        "findings": [each.content for each in engine.sessions.findings(session)],
    }


def _compared(wanted: list[Any], found: list[Any]) -> str:
    missing, more = len(_less(wanted, found)), len(_less(found, wanted))
    mixed = wanted != found and not missing and not more
    same = f"{len(wanted) - missing} of {len(wanted)}"
    return same + (f" and {more} more" if more else "") + (", in another order" if mixed else "")


def _less(some: list[Any], others: list[Any]) -> list[Any]:
    return list((Counter(some) - Counter(others)).elements())


def _begins(content: str) -> str:
    """Enough to know it by, as a briefing writes it."""
    return " ".join(content.split())[:60].replace("&", "&amp;").replace("<", "&lt;")


def stream(trace: Path, events: list[Event]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The hooks that Claude Code would have called, with what it would have told them."""
    results = _results(trace)
    calls: dict[str, Event] = {}
    said = ""
    yield "SessionStart", {"source": "startup"}
    asked = False
    for event in events:
        who = {"agent_id": event.agent} if event.agent else {}
        if event.is_message and event.author == "user":
            if event.injected:
                continue
            if asked:
                yield "Stop", {"last_assistant_message": said, "stop_hook_active": False}
            asked, said = True, ""
            yield "UserPromptSubmit", {"prompt": event.text}
        elif event.is_message:
            said = event.text if not event.injected and not event.agent else said
        elif event.is_call:
            calls[event.call] = event
            yield (
                "PreToolUse",
                {"tool_name": event.tool, "tool_input": event.input, "tool_use_id": event.call, **who},
            )
        elif event.call in calls:
            call = calls.pop(event.call)
            payload = {"tool_name": call.tool, "tool_input": call.input, "tool_use_id": event.call, **who}
            if event.failed:
                yield "PostToolUseFailure", {**payload, "error": event.text}
            else:
                yield "PostToolUse", {**payload, "tool_response": results.get(event.call) or event.text}
    yield "Stop", {"last_assistant_message": said, "stop_hook_active": False}
    yield "SessionEnd", {"reason": "other"}


def _results(trace: Path) -> dict[str, Any]:
    """The structured results, by call: hooks get those, and not the text that the model reads."""
    found = {}
    with trace.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                record = json.loads(line)
                if isinstance(record.get("toolUseResult"), dict):
                    for block in record["message"]["content"]:
                        found[block["tool_use_id"]] = record["toolUseResult"]
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
    return found


def _ended(home: Path, project: Path, session: str) -> bool:
    with Engine.open(project, home) as engine:
        known = engine.store.get_session(session)
        return known is not None and known.extracted_at is not None


# processes


@contextmanager
def _place() -> Iterator[tuple[Path, Path]]:
    """A home and a project of their own; the daemon is gone at the end."""
    with tempfile.TemporaryDirectory(prefix="recollect-hooks-") as name:
        home, project = Path(name) / "home", Path(name) / "project"
        home.mkdir(mode=0o700)
        project.mkdir()
        os.environ["RECOLLECT_HOME"] = str(home)
        try:
            yield home, project
        finally:
            _wait(lambda: not _carriers(home), 60)
            control.stop(home)


def _hook(event: str, payload: dict[str, Any]) -> str:
    done = subprocess.run(
        [*PROGRAM, "claude-code", event],
        input=json.dumps({**payload, "hook_event_name": event}).encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def _tool_payload(project: Path, session: str, number: int) -> dict[str, Any]:
    return {
        "session_id": session,
        "cwd": str(project),
        "tool_name": "Bash",
        "tool_input": {"command": f"echo {session} {number}"},
        "tool_use_id": f"call-{number}",
        "tool_response": {"stdout": f"{number}", "stderr": ""},
    }


def _tool_event(project: Path, session: str, number: int) -> None:
    _hook("PostToolUse", _tool_payload(project, session, number))


def _daemon(home: Path) -> int:
    """Its process; 0 if there is none."""
    try:
        words = (home / protocol.LOCK).read_text().split()
    except OSError:
        return 0
    pid = int(words[0]) if words and words[0].isdigit() else 0
    return pid if pid in _processes(f"recollect.interfaces.daemon {home}") else 0


def _carriers(home: Path) -> list[int]:
    """Hooks that are still about, in the background."""
    return [
        pid for pid in _processes("hook claude-code") if _environment(pid).get("RECOLLECT_HOME") == str(home)
    ]


def _processes(words: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in line:
            found.append(int(folder.name))
    return found


def _environment(pid: int) -> dict[str, str]:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(item.split("=", 1) for item in data.split("\0") if "=" in item)


def _zombies() -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if state == "Z" and parent != "1" and name.startswith(("recollect", "python")):  # 1 takes its time
            found.append(int(folder.name))
    return found


def _wait(condition: Any, seconds: float = 60) -> Any:
    until = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > until:
            raise TimeoutError("it did not come to that")
        time.sleep(0.05)
    return found


def _timed(act: Any) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


def show(found: dict[str, Any]) -> None:
    for part, rows in found.items():
        print(f"-- {part}")
        if "skipped" in rows:
            print(f"skipped: {rows['skipped']}")
            continue
        for name, figures in rows.items():
            print(
                f"{name:22}",
                "  ".join(f"{key} {value}" for key, value in figures.items() if key != "details"),
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    parser.add_argument("parts", nargs="*", default=["cost", "start", "abuse", "day"])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("-v", "--verbose", action="store_true", help="list the findings that differ")
    options = parser.parse_args()
    figures = run(tuple(options.parts), options.rounds, options.events, options.seconds)
    show(figures)
    if options.verbose:
        for name, rows in figures.get("day", {}).items():
            for kind, texts in rows["details"].items():
                print(*(f"{name} {kind}: {text}" for text in texts), sep="\n")
