"""Attacks on what is stored: kills, many processes at once, damaged files. Nothing acknowledged may be lost."""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.attack.case import (
    CASE_SECONDS,
    ROOT,
    Commands,
    Result,
    cases,
    check_daemon,
    environment,
    garbled,
    hook_event,
    mcp_lines,
    one_bit,
    place,
    run,
)

PROCESSES = 16
MODEL = "all-MiniLM-L6-v2"
TAIL = 20  # times its median that the 99th percentile of a search may take


def kill_writers(folder: Path, seconds: float) -> Result:
    """Writers that are killed in the middle of a write; a try is an acknowledged write."""
    from bench.durability import _killed

    (folder / "project").mkdir()
    rounds = max(4, int(seconds / 3))
    figures = _killed(folder, rounds, 60)
    result = Result(figures["acknowledged"], figures["lost"], note=f"{rounds} kills")
    result.add("crashed", "the store has faults", figures["problems"])
    result.need(figures["acknowledged"] >= rounds, "writers were killed before they wrote")
    return result


def kill_daemons(folder: Path, seconds: float) -> Result:
    """A daemon that is killed again and again while hooks report events; a try is an event."""
    from recollect.interfaces.daemon_client import control
    from recollect.interfaces.daemon_client.protocol import LOCK

    result, pick, kills = Result(), random.Random(3), 0
    with place() as (home, project):
        for number in cases(seconds, 60, least=6):
            result.tries += 1
            event = json.dumps(hook_event(project, f"echo {number}")).encode()
            run(result, home, project, "hook", "claude-code", "PostToolUse", given=event)
            status = control.status(home) or control.ensure(home)
            if status is not None and (number < 2 or pick.random() < 0.5):
                with suppress(ProcessLookupError):
                    os.kill(int(status["pid"]), signal.SIGKILL)
                    kills += 1
                os.utime(home / LOCK, (0, 0))  # a hook starts no daemon within two seconds of the last start
        wanted, found = {f"echo {number}" for number in range(result.tries)}, set[str]()
        until = time.monotonic() + CASE_SECONDS
        while wanted - found and time.monotonic() < until:
            control.ensure(home)
            found = _recorded_commands(home)
            time.sleep(0.2)
        result.add("lost", f"events {sorted(wanted - found)[:5]}", len(wanted - found))
        check_daemon(result, home)
    result.note = f"{kills} kills"
    result.need(kills, "no daemon was killed")
    return result


def _recorded_commands(home: Path) -> set[str]:
    import apsw

    from recollect.store.sqlite.connection import connect

    if not (home / "recollect.db").exists():
        return set()
    database = connect(home / "recollect.db", None)
    try:
        events = [json.loads(row[0]) for row in database.execute("SELECT event FROM session_events")]
    except apsw.Error:  # busy, or not made yet
        return set()
    finally:
        database.close()
    return {event["input"]["command"] for event in events if "input" in event}


def crowd(folder: Path, seconds: float) -> Result:
    """Processes that write and search in one store at once, each with the model; a try is a write or a search."""
    result = Result()
    with place() as (home, project):
        run(result, home, project, "remember", "The shop uses PostgreSQL.")
        words = [sys.executable, "-m", "bench.attack.children", "crowd", str(project), str(seconds)]
        workers = [
            subprocess.Popen(
                [*words, str(number)],
                env=environment(home, "minilm"),
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
            with suppress(BrokenPipeError):  # it has ended: there will be no report
                worker.stdin.write(b"go\n")
                worker.stdin.flush()
        reports = [_report_of(worker, seconds, result) for worker in workers]
        acknowledged = {name for report in reports for name in report["ids"]}
        from recollect.embed.open import NoEmbedder
        from recollect.engine import Engine

        with Engine.open(project, home, embedder=NoEmbedder()) as engine:
            kept = engine.store.get_many(list(acknowledged)).keys()
    result.add("lost", "acknowledged writes", len(acknowledged - kept))
    searches = sorted(ms for report in reports for ms in report["search"])
    result.tries = len(searches) + len(acknowledged)
    for report in reports:
        for error in report["errors"]:
            result.add("crashed", error)
    result.need(all(report["search"] or report["ids"] for report in reports), "a process did nothing")
    result.need({report["model"] for report in reports} == {MODEL}, "not every process had the model")
    if len(searches) > 10:
        median, tail = statistics.median(searches), searches[int(0.99 * (len(searches) - 1))]
        result.note = f"search p50 {median:.0f} ms, p99 {tail:.0f} ms ({tail / median:.1f} x, at most {TAIL})"
        if tail > TAIL * median:
            result.add("hung", f"searches at the 99th percentile took {tail / median:.0f} times the median")
    return result


def starts(folder: Path, seconds: float) -> Result:
    """Processes that all start at once, without a daemon: agents' hooks, MCP servers and searches; a try is a process.

    Each must answer without an error, and none may take more than `TAIL` times as long as one alone.
    """
    from recollect.interfaces.daemon_client import control

    result, notes = Result(), []
    with place() as (home, project):
        run(result, home, project, "remember", SENTENCES[1])
        run(result, home, project, "search", "queue")
        lines = b"\n".join(mcp_lines(("search_memory", {"query": "which queue"}))) + b"\n"
        event = json.dumps({**hook_event(project, "ls"), "source": "startup"}).encode()
        kinds: tuple[tuple[str, tuple[str, ...], bytes], ...] = (
            ("search", ("search", "which queue"), b""),
            ("MCP", ("mcp",), lines),
            ("hook", ("hook", "claude-code", "SessionStart"), event),
        )
        for name, words, given in kinds:
            took = []
            for count in (1, PROCESSES):
                control.stop(home)
                took.append(max(_started_at_once(result, home, project, words, given, count)))
            notes.append(f"{name} {took[0]:.1f} to {took[1]:.1f} s ({took[1] / took[0]:.1f} x)")
            if took[1] > TAIL * took[0]:
                result.add(
                    "hung", f"the slowest {name} took {took[1] / took[0]:.0f} times as long as one alone"
                )
        check_daemon(result, home)
    result.note = ", ".join(notes)
    return result


def _started_at_once(
    result: Result, home: Path, project: Path, words: tuple[str, ...], given: bytes, count: int
) -> list[float]:
    """Start processes at the same moment; return how many seconds each took."""
    begun = time.perf_counter()

    def one(_: int) -> float:
        done = run(result, home, project, *words, given=given, embedder="minilm")
        is_answered = words[0] == "hook" or b"Redis" in done.out
        if done.code or done.err or not is_answered:
            result.add("crashed", f"{words[0]}: {done.code} {done.out[-100:]!r} {done.err[-200:]!r}")
        return time.perf_counter() - begun

    result.tries += count
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def _report_of(worker: "subprocess.Popen[bytes]", seconds: float, result: Result) -> dict[str, Any]:
    try:
        out, errors = worker.communicate(timeout=seconds + 2 * CASE_SECONDS)
        report: dict[str, Any] = json.loads(out.splitlines()[-1])
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.communicate()
        result.add("hung", "one of the processes")
    except (ValueError, IndexError):
        result.add("crashed", errors[-300:].decode(errors="replace"))
    else:
        if errors:
            result.add("crashed", f"printed: {errors[-300:].decode(errors='replace')}")
        return report
    return {"ids": [], "errors": [], "search": [], "model": ""}


SENTENCES = ("Invoices are stored as PDF.", "The queue is Redis.", "Deploy on Tuesdays only.")


def damage(folder: Path, seconds: float) -> Result:
    """A store with flipped or missing bytes: all is there (repaired from a backup), or the command says what is wrong."""
    result, pick, refused = Result(), random.Random(5), 0
    with place() as (home, project):
        commands = Commands(result, home, project)
        for sentence in SENTENCES:
            commands.run("remember", sentence)
        result.need(commands.run("backup").code == 0, "there is no backup")
        commands.close()
        whole = (home / "recollect.db").read_bytes()
        for _ in cases(seconds, 300, least=5):
            result.tries += 1
            for name in ("recollect.db-wal", "recollect.db-shm"):
                (home / name).unlink(missing_ok=True)
            damaged = one_bit(whole, pick) if pick.random() < 0.5 else garbled(whole, pick)
            (home / "recollect.db").write_bytes(damaged)
            if pick.random() < 0.3:
                commands.run(*pick.choice((("search", "queue"), ("doctor",), ("stats",), ("changes",))))
            listed = commands.run("list", "--json")
            if listed.code == 0:
                missing = [sentence for sentence in SENTENCES if sentence.encode() not in listed.out]
                result.add("lost", f"not listed, and nothing said: {missing}", len(missing))
            elif listed.code is not None:
                refused += 1
                if not (listed.err or listed.out):
                    result.add("crashed", "refused without a message")
        for left in home.glob("recollect.db*"):
            left.unlink()
        commands.run("backup", "restore")
        listed = commands.run("list", "--json")
        missing = [sentence for sentence in SENTENCES if sentence.encode() not in listed.out]
        result.add("lost", f"not in the backup: {missing}", len(missing))
        commands.close()
    result.note = f"{refused} refused with a message"
    return result
