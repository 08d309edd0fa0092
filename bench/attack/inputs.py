"""Attacks by input that nobody should send: events, requests, files, settings, and texts that are worst for expressions."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.attack.case import (
    CASE_SECONDS,
    VALUES,
    Commands,
    Result,
    cases,
    check_daemon,
    environment,
    garbled,
    guarded,
    hook_event,
    mcp_lines,
    mutated,
    place,
    run,
)

SENTENCE = "The shop uses PostgreSQL."


def hook_events(folder: Path, seconds: float) -> Result:
    """Events that no host would send: a hook exits with 0 and prints no error, and the daemon goes on."""
    from recollect.interfaces.daemon_client import control
    from recollect.work.hosts.registry import HOSTS

    result, pick = Result(), random.Random(6)
    with place() as (home, project):
        for _ in cases(seconds, 200, least=10):
            host = pick.choice(sorted(HOSTS))
            names = [hook.event for hook in HOSTS[host].hooks] or ["PostToolUse"]
            data = json.dumps(mutated(hook_event(project, "ls"), pick)).encode()
            data = data if pick.random() < 0.7 else garbled(data, pick)
            result.tries += 1
            done = run(result, home, project, "hook", host, str(pick.choice(names)), given=data)
            if done.code or done.err:
                result.add("crashed", f"hook: {done.code} {done.err[-100:]!r}")
        status = control.ensure(home)
        if status is None:
            result.add("hung", "the daemon does not answer any more")
        check_daemon(result, home)
    return result


TOOLS: dict[str, Any] = {
    "search_memory": {"query": "x", "limit": 5},
    "record_memory": {"content": "Use pnpm.", "kind": "convention", "files": ["main.py"], "tags": ["x"]},
    "memory": {"action": "list", "query": "x"},
    "module_map": {"task": "x"},
    "update_module_map": {"name": "main", "description": "Says hello"},
    "code_graph": {"question": "relevant", "about": "main"},
    "work_history": {"question": "like", "about": "x"},
    "session_search": {"query": "x"},
    "read_source": {"id": "x"},
    "record_gotcha": {"content": "Port 80 is taken."},
}


def mcp_requests(folder: Path, seconds: float) -> Result:
    """Requests that no client would send: each with an id is answered, and the server goes on."""
    result, pick = Result(), random.Random(7)
    names = [pick.choice(sorted(TOOLS)) for _ in range(int(min(max(10 * seconds, 30), 200)))]
    calls = [(name, mutated(TOOLS[name], pick)) for name in names]
    lines = mcp_lines(*calls)
    for number in range(len(lines) - 1, 1, -1):
        if pick.random() < 0.2:
            lines.insert(number + 1, garbled(lines[number], pick).replace(b"\n", b" ") + b"\xff")
    last = len(calls)
    lines += mcp_lines(*calls, ("search_memory", {"query": "x"}))[-1:]  # a request like any other
    result.tries = last + 1
    with place() as (home, project):
        command = [sys.executable, "-m", "recollect", "mcp"]
        try:
            done = subprocess.run(
                command,
                input=b"\n".join(lines) + b"\n",
                capture_output=True,
                cwd=project,
                env=environment(home),
                timeout=seconds + 2 * CASE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            result.add("hung", "the server")
            return result
        answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
        for number, call in [*enumerate(calls), (last, ("search_memory", {}))]:
            if number not in answers:
                result.add("hung", f"no answer to {json.dumps(call)[:150]}")
        accepted = {number for number, answer in answers.items() if _is_accepted(answer)}
        result.add(
            "hung", "the last request, which is like any other, was refused", int(last not in accepted)
        )
        result.need(len(accepted) > last // 10, "nearly every request was refused")
        if b"Traceback" in done.stderr:
            result.add("crashed", done.stderr[-250:].decode(errors="replace"))
        check_daemon(result, home)
    result.note = f"{len(accepted)} accepted"
    return result


def _is_accepted(answer: dict[str, Any]) -> bool:
    return "result" in answer and not answer["result"].get("isError")


def files(folder: Path, seconds: float) -> Result:
    """Files to import and transcripts that are garbled or have hostile values."""
    result, pick, accepted = Result(), random.Random(8), 0
    with place() as (home, project):
        commands = Commands(result, home, project)
        commands.run("remember", SENTENCE)
        bundle = commands.run("export").out
        result.need(SENTENCE.encode() in bundle, "nothing was exported")
        messages = [
            {"type": kind, "message": {"role": kind, "content": "Use pnpm, never npm."}, "sessionId": "s"}
            for kind in ("user", "assistant") * 5
        ]
        for number in cases(seconds, 400, least=10):
            is_import, is_garbled = number % 2 == 0, number % 4 < 2
            if is_import:
                value = json.loads(bundle)
                data = bundle if is_garbled else json.dumps(mutated(value, pick)).encode()
            else:
                lines = messages if is_garbled else [mutated(message, pick) for message in messages]
                data = b"\n".join(json.dumps(line).encode() for line in lines)
            file = folder / f"case.{'json' if is_import else 'jsonl'}"
            file.write_bytes(garbled(data, pick) if is_garbled else data)
            result.tries += 1
            done = commands.run("import" if is_import else "extract", str(file))
            accepted += done.code == 0
        listed = commands.run("list", "--state", "all", "--json")
        result.add("lost", "the first sentence", int(SENTENCE.encode() not in listed.out))
        commands.close()
    result.note = f"{accepted} accepted"
    result.need(accepted, "every file was refused")
    return result


def configuration(folder: Path, seconds: float) -> Result:
    """Configuration files that are garbled: settings are read, or refused with a message."""
    from recollect.config import load_settings

    result, pick = Result(), random.Random(9)
    text = b'user = "me"\ncapacity = 3000\ndaemon_idle = 1800\nembedder = "none"\nmessage_days = 90\n'
    home = folder / "settings"
    home.mkdir()
    for number in cases(seconds / 2, 2000, least=50):
        value = json.dumps(pick.choice(VALUES)).encode()
        line = pick.choice((rb"(?<==) .*", rb"(?<=user =) .*", rb"(?<=idle =) .*"))
        broken = garbled(text, pick) if number % 2 else re.sub(line, lambda _, v=value: b" " + v, text)
        (home / "config.toml").write_bytes(broken)
        guarded(result, repr(broken[:80]), lambda: load_settings(home, {}))
    return result


def expressions(folder: Path, seconds: float) -> Result:
    """Every regular expression on the texts that are worst for it."""
    from tests.expressions import all_expressions, attacks, has_exploded

    result = Result()
    for expression in all_expressions():
        for attack in attacks(expression):
            result.tries += 1
            if has_exploded(expression, attack):
                result.add("hung", f"{expression.place}: {expression.pattern!r}")
    return result
