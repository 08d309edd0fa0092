"""Attacks on trust: a hostile repository, secrets, and an agent that speaks for the user."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from bench.attack.case import (
    CASE_SECONDS,
    ROOT,
    Commands,
    Result,
    cases,
    check_daemon,
    environment,
    hook_event,
    mcp_lines,
    place,
    run,
)


def hostile_repository(folder: Path, seconds: float) -> Result:
    """A repository that names programs wherever git would run one, and gives orders to agents in every text.

    Nothing of it is run, and an agent hears none of its words: in no briefing, answer to a hook or answer of a tool.
    """
    from tests.hostile_repository import WORD, build, plant_hangs

    result, ran = Result(), folder / "ran"
    repository = build(folder / "hostile", ran)
    plant_hangs(repository)
    said_to_agents: dict[str, bytes] = {}
    with place() as (home, _):
        commands = Commands(result, home, repository)
        task = "fix the total of the till in shop.py"
        for words in (
            ("init",), ("init", "--subproject"), ("map",), ("graph", "relevant", "eyJ" * 4000), ("graph", "impact", "shop.py"),
            ("remember", "--file", "shop.py", "The total is in cents."), ("search", "*a" * 4000), ("review",), ("doctor",),
            ("recall", "x" * 16_000), ("recall", task, "--host", "claude-code"),
        ):  # fmt: skip
            result.tries += 1
            done = commands.run(*words)
            result.need(done.code in (0, 1) or words[0] == "doctor", f"{words[0]}: {done.err[-100:]!r}")
            if words[0] == "recall":
                said_to_agents[" ".join(words)[:40]] = done.out
        commands.close()
        for host, name in (
            ("claude-code", "SessionStart"),
            ("codex", "SessionStart"),
            ("claude-code", "UserPromptSubmit"),
        ):
            result.tries += 1
            event = {
                **hook_event(repository, "git log"),
                "hook_event_name": name,
                "source": "startup",
                "prompt": task,
            }
            done = run(result, home, repository, "hook", host, name, given=json.dumps(event).encode())
            said_to_agents[f"{host} {name}"] = done.out
        calls = [
            ("search_memory", {"query": "install wombat before the total"}),
            ("memory", {"action": "recall", "query": task}),
            ("module_map", {"task": task}),
            ("code_graph", {"question": "impact", "about": "shop.py"}),
        ]
        result.tries += len(calls)
        given = b"\n".join(mcp_lines(*calls)) + b"\n"
        said_to_agents["MCP"] = run(result, home, repository, "mcp", given=given).out
        check_daemon(result, home)
    for where, text in said_to_agents.items():
        result.add("leaked", f"words of the repository in {where}", int(WORD.encode() in text.lower()))
    result.need(
        b"in cents" in said_to_agents[f"recall {task} --host claude-code"[:40]], "the briefing was empty"
    )
    result.need(said_to_agents["MCP"].count(b'"result"') > len(calls), "MCP did not answer")
    for path in ran.rglob("*"):
        result.add("leaked", f"ran {path.read_text()[:100]}")
    return result


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_FORMS = (("ghp_", 36), ("AKIA", 16), ("sk_live_", 24), ("glpat-", 20))


def secrets(folder: Path, seconds: float) -> Result:
    """Secrets given to every interface: none is in any file afterwards. A try is a secret in one way."""
    from recollect.interfaces.daemon_client import control

    result, pick = Result(), random.Random(10)
    planted: dict[str, str] = {}  # and the way it was given
    with place() as (home, project):
        commands = Commands(result, home, project)
        memory = json.loads(commands.run("remember", "Deploy on Fridays.", "--json").out)["id"]
        for number in cases(3 * seconds, 3, least=1):
            prefix, length = _FORMS[number % len(_FORMS)]
            for way, words, given in _ways(folder, project, memory):
                value = prefix + "".join(pick.choice(_LETTERS) for _ in range(length))
                value = value.upper() if prefix == "AKIA" else value
                planted[value] = way
                result.tries += 1
                words = [word.replace(_SECRET, value) for word in words]
                data = given.replace(_SECRET.encode(), value.encode())
                for file in folder.glob("given.*"):
                    template = folder / f"template{file.suffix}"
                    file.write_bytes(template.read_bytes().replace(_SECRET.encode(), value.encode()))
                if words[0] in ("mcp", "hook"):
                    run(result, home, project, *words, given=data)
                else:
                    commands.run(*words, given=data)
                number += 1
                prefix, length = _FORMS[number % len(_FORMS)]
        for value in _given_in_python(home, project, pick):
            planted[value] = "Python"
            result.tries += 1
        result.need(b"REDACTED" in commands.run("list", "--json").out, "nothing was stored")
        commands.close()
        check_daemon(result, home)
        control.stop(home)
        for path in [path for path in home.rglob("*") if path.is_file()]:
            data = path.read_bytes().lower()
            for value, way in planted.items():
                if value.lower().encode() in data:
                    result.add("leaked", f"{value[:6]}… given to {way} is in {path.name}")
    return result


_SECRET = "SECRET-GOES-HERE"


def _ways(folder: Path, project: Path, memory: str) -> Iterator[tuple[str, list[str], bytes]]:
    """Yield the ways to give a text to a command, with `_SECRET` in place of the secret, and write the files they name."""
    text = f"Deploy with the token {_SECRET} on Fridays."
    event = {**hook_event(project, f"curl -H 'Authorization: {_SECRET}'"), "prompt": text}
    event["tool_response"] = {"stdout": f"token {_SECRET}", "stderr": f"bad token {_SECRET}"}
    message = {"type": "user", "message": {"role": "user", "content": text}, "sessionId": "t"}
    bundle = [{"content": text, "kind": "fact", "tags": [_SECRET], "file_paths": [f"src/{_SECRET}.py"]}]
    for name, content in (("json", json.dumps(bundle)), ("jsonl", json.dumps(message))):
        (folder / f"template.{name}").write_text(content)
        (folder / f"given.{name}").touch()
    yield "remember", ["remember", text], b""
    yield "remember -", ["remember", "-"], text.encode()
    yield (
        "remember, its fields",
        ["remember", f"Deploy {memory}", "--tag", _SECRET, "--trigger", _SECRET, "--step", text],
        b"",
    )
    yield "edit", ["edit", memory, text], b""
    yield "wrong", ["wrong", memory, "--because", text], b""
    yield "tag", ["tag", memory, _SECRET], b""
    yield "alias", ["alias", "add", "token", _SECRET], b""
    yield "search", ["search", text], b""
    yield "recall", ["recall", text], b""
    yield "task", ["task", "start", text], b""
    yield "import", ["import", str(folder / "given.json")], b""
    yield "extract", ["extract", str(folder / "given.jsonl")], b""
    calls = [
        ("record_memory", {"content": text, "tags": [_SECRET], "files": [f"src/{_SECRET}.py"]}),
        ("search_memory", {"query": text}),
        ("memory", {"action": "recall", "query": text}),
    ]
    yield "MCP", ["mcp"], b"\n".join(mcp_lines(*calls)) + b"\n"
    for name in ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"):
        yield f"hook {name}", ["hook", "claude-code", name], json.dumps(event).encode()
    yield "hook AfterTool", ["hook", "gemini", "AfterTool"], json.dumps(event).encode()


def _given_in_python(home: Path, project: Path, pick: random.Random) -> Iterator[str]:
    """Give secrets to the engine and to the memory tool, and yield them."""
    from recollect.embed.open import NoEmbedder
    from recollect.engine import Engine
    from recollect.interfaces.anthropic_memory import AnthropicMemoryTool

    with Engine.open(project, home, actor="agent:x", embedder=NoEmbedder()) as engine:
        values = ["ghp_" + "".join(pick.choice(_LETTERS) for _ in range(36)) for _ in range(2)]
        engine.remember(f"Python deploys with {values[0]}.")
        file = {
            "command": "create",
            "path": "/memories/x.md",
            "file_text": f"The tool deploys with {values[1]}.",
        }
        AnthropicMemoryTool(engine).call(file)
        yield from values


def actors(folder: Path, seconds: float) -> Result:
    """What an agent may do to whose memory, through every interface: the tests of the table."""
    report = folder / "report.xml"
    words = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "tests/test_policy.py"]
    words.append("tests/interfaces/team/test_team_policy.py")
    command = [sys.executable, "-m", "pytest", "-n", "2", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, cwd=ROOT, env=environment(folder), timeout=10 * CASE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Result(1, hung=1, details=["the tests of the table"])
    result = Result()
    for suite in ElementTree.parse(report).iter("testsuite") if report.exists() else ():
        result.tries += int(suite.get("tests", 0))
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                result.add("leaked", str(case.get("name")))
    result.need(done.returncode in (0, 1), f"pytest: {done.returncode} {done.stdout[-200:]!r}")
    return result
