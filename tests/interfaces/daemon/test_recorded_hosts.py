"""What real hosts sent to their hooks, as `python -m livehosts record` kept it: what Recollect makes of it.

In the first run the user asks for a migration, which fails once; in the second, of the same session, they correct the agent;
the third is a new session.
"""

import json
from pathlib import Path

import apsw
import pytest
from hook_fields import answered, fields

from recollect.work.hosts.hook_input import host_event, session_events
from recollect.work.hosts.host import HookKind
from recollect.work.transcripts.event import USER
from recollect.work.transcripts.tools import command_of

RECORDED = Path(__file__).parent / "recorded"
RULE = "Answer in British English"
FIRST, CORRECTION = "Migrate the database of the shop", "No, use pnpm, not npm"
FAILED = {
    "claude-code": "PostToolUseFailure",
    "codex": "PostToolUse",
    "gemini": "AfterTool",
    "opencode": "tool.execute.after",
}
TOOLS = (HookKind.AFTER_TOOL, HookKind.TOOL_FAILED)
LATER = "Which language do I want, and how is the front end built?"


@pytest.fixture(params=sorted(path.stem for path in RECORDED.glob("*.jsonl")))
def host(request):
    return request.param


@pytest.fixture
def user(tmp_path, monkeypatch):
    """The home folder of the user, where hosts keep their transcripts."""
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def lines(host, folder, user):
    """The lines of the recording, with the folders of this test."""
    text = (RECORDED / f"{host}.jsonl").read_text(encoding="utf-8")
    for name, path in (("$PROJECT", folder), ("$HOME", user)):
        text = text.replace(f"{name}-as-a-name", "the-shop").replace(name, str(path))
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def events(host, folder, lines):
    """The events of all runs, as the daemon reads them."""
    return [
        host_event(host, line["event"], f"e{number}", str(number), str(folder), line["body"])
        for number, line in enumerate(lines)
        if "event" in line
    ]


@pytest.fixture
def replay(host, folder, lines, service):
    """Gives the events of a run to the daemon, with the transcripts as they were; returns what it printed for each."""

    def run(number, session=""):
        of_run = [line for line in lines if line["run"] == number]
        for line in of_run:
            if "transcript" in line:
                path = Path(line["transcript"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(line["text"], encoding="utf-8")
            elif "database" in line:
                write_database(Path(line["database"]), line["tables"])
        events = [(line["event"], line["body"]) for line in of_run if "event" in line]
        if session:
            events = [
                (event, {**body, "session_id": session, "transcript_path": ""}) for event, body in events
            ]
        printed = [
            (event, answered(service, fields(host, event, folder=folder), body).decode())
            for event, body in events
        ]
        service.settle(20)
        return printed

    return run


def write_database(path, tables):
    """Write the tables that a host keeps its sessions in, without their indexes and types."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    connection = apsw.Connection(str(path))
    for name, rows in tables.items():
        columns = ", ".join(rows[0])
        connection.execute(f"CREATE TABLE {name} ({columns})")
        values = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {name} VALUES ({values})", [tuple(row.values()) for row in rows])
    connection.close()


def test_a_prompt_is_what_the_user_typed(events):
    prompts = [
        said.text
        for event in events
        for _, said in session_events(event)
        if said.author == USER and not said.injected
    ]

    assert prompts == [FIRST, CORRECTION, LATER]


def test_the_command_that_failed_is_the_only_one_that_did(host, events):
    pairs = [[said for _, said in session_events(event)] for event in events if event.kind in TOOLS]

    shell = [(command, answer.failed) for call, answer in pairs if (command := command_of(call))]

    unsaid = host == "codex"  # whose hooks get what a command printed, and not how it exited
    assert shell == [
        ("./migrate.sh", None if unsaid else True),
        ("./prepare-db.sh", None if unsaid else False),
        ("./migrate.sh", None if unsaid else False),
        ("npm run build", None if unsaid else False),
        ("pnpm run build", None if unsaid else False),
    ]


def test_the_fix_that_worked_is_offered_when_the_command_fails_again(host, replay):
    replay(1)

    printed = replay(1, session="another")

    assert FAILED[host] in [event for event, text in printed if "prepare-db.sh" in text]


def test_the_correction_is_learnt_as_a_rule_of_the_users_and_shown_next(host, replay, memory):
    memory.remember(RULE, kind="preference")
    memory.remember("The front end is built with npm", created_by="agent:codex")
    replay(1)
    replay(2)

    printed = "\n".join(text for _, text in replay(3))

    assert "Use pnpm, not npm" in printed
    assert RULE in printed
    assert "built with npm" not in printed


def test_nothing_that_recollect_said_is_learnt(host, replay, memory):
    memory.remember(RULE, kind="preference")
    for run in (1, 2, 3):
        replay(run)

    learnt = [one.content for one in memory.list() if one.content != RULE]

    assert [text for text in learnt if "British" in text or "recollect" in text.lower()] == []


def test_the_session_is_over_when_the_host_says_so(host, replay, memory):
    replay(1)
    replay(2)
    replay(3)

    ended = [session.ended_at is not None for session in memory.sessions.newest(9)]

    assert ended == [True, True]


def test_no_memory_is_shown_twice_in_a_session(host, replay, memory):
    memory.remember(RULE, kind="preference")

    printed = [text for run in (1, 2) for _, text in replay(run)]

    assert sum(text.count(RULE) for text in printed) == 1
