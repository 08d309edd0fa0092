"""Which sessions have something that the next one should know."""

import pytest

from recollect.work.sessions.work_done import WorkDone
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event

CWD = "/home/dev/shop"


def said(author, text, **more):
    return [Event("s1", 0, author, text, cwd=CWD, **more)]


def ran(command, failed=False, output="ok"):
    call = f"call {command} {failed}"
    return [
        Event("s1", 0, ASSISTANT, "", tool="Bash", call=call, input={"command": command}, cwd=CWD),
        Event("s1", 0, TOOL, output, tool="Bash", call=call, failed=failed, cwd=CWD),
    ]


def edited(path, failed=False, tool="Edit"):
    call = f"edit {path} {failed}"
    return [
        Event("s1", 0, ASSISTANT, "", tool=tool, call=call, input={"file_path": path}, cwd=CWD),
        Event("s1", 0, TOOL, "ok", tool=tool, call=call, failed=failed, cwd=CWD),
    ]


def called(tool, **given):
    return [Event("s1", 0, ASSISTANT, "", tool=tool, call="c", input=given, cwd=CWD)]


def done(*events):
    work = WorkDone()
    for event in (each for group in events for each in group):
        work.read(event)
    return work


PROMPT = said(USER, "Build the front end of the shop")
ERROR = "ModuleNotFoundError: No module named 'httpx'"


@pytest.mark.parametrize(
    "events, worth",
    [
        ([PROMPT, ran("npm run build"), said(USER, "No, use pnpm, not npm")], "the user corrected you"),
        (
            [PROMPT, ran("pytest", failed=True, output=ERROR), ran("pip install httpx"), ran("pytest")],
            "a failure was mended",
        ),
        ([PROMPT, *(edited(f"{CWD}/src/{name}.py") for name in "abc")], "3 files were edited"),
        (
            [PROMPT, *(ran(f"cat > src/{name}.py <<'END'\nx = 1\nEND") for name in "abc")],
            "3 files were edited",
        ),
    ],
)
def test_a_session_that_did_something_is_worth_keeping(events, worth):
    assert done(*events).worth == worth


@pytest.mark.parametrize(
    "events",
    [
        [],
        [PROMPT, said(ASSISTANT, "It is built.")],
        [PROMPT, ran("npm run build")],
        [PROMPT, ran("pytest", failed=True, output=ERROR)],
        [PROMPT, ran("ls missing", failed=True, output="No such file or directory"), ran("ls")],
        [PROMPT, edited(f"{CWD}/a.py"), edited(f"{CWD}/a.py"), edited(f"{CWD}/b.py")],
        [PROMPT, *(edited(f"{CWD}/{name}.py", failed=True) for name in "abc")],
        [PROMPT, *(edited(f"/tmp/{name}.py") for name in "abc")],
        [PROMPT, ran("npm run build"), said(USER, "No, use pnpm, not npm", injected=True)],
        [PROMPT, ran("npm run build"), said(USER, "Thanks, that works!")],
    ],
)
def test_a_small_session_is_not(events):
    assert done(*events).worth == ""


@pytest.mark.parametrize(
    "call",
    [
        called("mcp__recollect__record_memory", content="x"),
        called("mcp__plugin_recollect_recollect__record_memory", content="x"),
        called("mcp_recollect_record_gotcha", content="x"),
        called("recollect_memory", action="remember", content="x"),
        called("Bash", command="cd /x && recollect remember 'Prices are cents'"),
    ],
)
def test_an_agent_that_stored_a_memory_has_recorded_something(call):
    assert done(PROMPT, call).has_recorded


@pytest.mark.parametrize(
    "call",
    [
        called("mcp__recollect__search_memory", query="x"),
        called("recollect_memory", action="recall", query="x"),
        called("Bash", command="recollect recall 'prices'"),
        called("Bash", command="echo recollect remember"),
        called("mcp__other__record_memory", content="x"),
    ],
)
def test_an_agent_that_only_looked_has_not(call):
    assert not done(PROMPT, call).has_recorded
