"""Gemini CLI, SWE-agent, OpenHands, aider, and plain messages: what is awkward about each."""

import pytest
from transcript_samples import (
    ANTHROPIC,
    AT,
    GEMINI_CALL,
    GEMINI_MESSAGES,
    GEMINI_META,
    OPENAI,
    SWE_AGENT,
    Lines,
    happened,
)

from recollect.work.hosts.transcripts import read
from recollect.work.transcripts.tools import command_of, family_of, path_of


def test_a_gemini_message_that_grows_is_told_once(tell):
    wish, calling, word = GEMINI_MESSAGES
    running = {**calling, "toolCalls": [{**GEMINI_CALL, "status": "executing", "result": None}]}
    masked = {**calling, "toolCalls": [{**GEMINI_CALL, "result": [{"text": "[masked]"}]}]}

    told = tell(
        Lines([GEMINI_META, wish, running, calling, {**calling, "tokens": {"total": 3}}, masked, word])
    )

    assert [event.text for event in told.answers] == ["2 failed"]
    assert len(told.calls) == 1
    assert told.said("assistant") == ["The till rounds twice."]


def test_a_gemini_command_that_failed_is_no_success(tell):
    failing = {
        **GEMINI_CALL,
        "status": "success",
        "result": [
            {
                "functionResponse": {
                    "response": {"output": "Output: 2 failed\nExit Code: 1\nProcess Group PGID: 7"}
                }
            }
        ],
    }
    told = tell(Lines([GEMINI_META, {**GEMINI_MESSAGES[1], "toolCalls": [failing]}]))

    assert [answer.failed for answer in told.answers] == [True]


def test_what_hooks_added_to_a_gemini_message_is_not_the_persons(tell):
    added = "<hook_context>## Project memory\n&gt; recollect-memory: notes\n&gt; end of recollect-memory</hook_context>"
    message = {"id": "m1", "timestamp": AT, "type": "user", "content": [{"text": f"{added}\n\nUse tabs."}]}

    told = tell(Lines([GEMINI_META, message]))

    assert told.said("user") == ["Use tabs."]
    assert told.said("user", injected=True) == [added]


def test_what_was_rewound_in_gemini_happened_all_the_same(tell):
    later = {"id": "m4", "timestamp": AT, "type": "user", "content": "No, the other till"}
    summary = {
        "$set": {"messages": [*GEMINI_MESSAGES, {**later, "id": "m5", "content": "<state_snapshot>so far"}]}
    }

    told = tell(Lines([GEMINI_META, *GEMINI_MESSAGES, {"$rewindTo": "m1"}, later, summary]))

    assert told.said("user") == ["Make the till tests pass", "No, the other till"]
    assert told.said("assistant")[-1:] == ["<state_snapshot>so far"]
    assert len(told.calls) == len(told.answers) == 1


def test_a_gemini_sub_agent_belongs_to_the_session_of_its_folder(tmp_path):
    folder = tmp_path / "chats" / "s1"
    folder.mkdir(parents=True)
    path = folder / "s2.jsonl"
    path.write_text('{"sessionId": "s2", "projectHash": "a", "kind": "subagent", "directories": ["/shop"]}\n')
    with path.open("a") as file:
        file.write(
            '{"id": "m1", "type": "user", "content": "Explore"}\n{"id": "m2", "type": "info", "content": "hm"}\n'
        )

    (event,) = read(path)

    assert (event.session, event.agent, event.cwd, event.injected) == ("s1", "s2", "/shop", True)


def test_gemini_notes_beside_its_sessions_which_folder_they_were_held_in(tmp_path):
    chats = tmp_path / "shop" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / "shop" / ".project_root").write_text("/work/shop\n")
    path = chats / "session-1.jsonl"
    path.write_text(
        '{"sessionId": "s1", "projectHash": "a"}\n{"id": "m1", "type": "user", "content": "Explore"}\n'
    )

    (event,) = read(path)

    assert event.cwd == "/work/shop"


@pytest.mark.parametrize(
    "action, tool, family, path",
    [
        ('open "src/till.py" 14', "open", "read", "src/till.py"),
        ("create till.py", "create", "write", "till.py"),
        ("edit 1:2\nx = 1\nend_of_edit", "edit", "edit", "/shop/open.py"),
        ("str_replace_editor view /shop/till.py", "str_replace_editor", "read", "/shop/till.py"),
        (
            "str_replace_editor str_replace /shop/till.py --old_str 'a b' --new_str 'c\nd'",
            "str_replace_editor",
            "edit",
            "/shop/till.py",
        ),
        ("find_file till.py src", "find_file", "search", None),
        ("echo 'never closed", "bash", "run", None),
        ("submit", "submit", "other", None),
    ],
)
def test_a_command_of_swe_agents_own_is_known_by_its_name(action, tool, family, path, tell):
    state = {"working_dir": "/shop", "open_file": "/shop/open.py"}
    step = {"action": action, "observation": "ok", "thought": "Hm.", "state": state}

    told = tell({**SWE_AGENT, "trajectory": [step]})

    (call,) = told.calls
    assert (call.tool, family_of(call), path_of(call), call.cwd) == (tool, family, path, "/shop")


def test_a_demonstration_is_not_what_the_person_said(tell):
    demo = [{"role": role, "content": "like this", "is_demo": True} for role in ("user", "assistant")]
    history = [*demo, *SWE_AGENT["history"]]

    told = tell({**SWE_AGENT, "history": history})

    assert told.said("user") == ["Make the till tests pass"]
    assert told.said("user", injected=True) == ["like this", "You are a programmer."]


def test_an_openhands_run_is_one_session_a_line(tell):
    pair = [
        happened(
            1, "agent", action="edit", args={"path": "/shop/till.py", "new_str": "x", "thought": "I see it."}
        ),
        happened(2, "agent", observation="edit", cause=1, content="done", extras={"path": "/shop/till.py"}),
    ]
    lines = [
        {"instance_id": "a", "history": [pair]},
        {"instance_id": "b", "history": [happened(1, "user", action="recall", args={}), *pair]},
        {"instance_id": "c", "history": None},
        {
            "instance_id": "d",
            "history": [happened(0, "agent", observation="error", content="no such tool"), {}, 5],
        },
    ]

    told = tell(Lines(lines))

    assert dict(told.report.sessions) == {"a": 3, "b": 3, "d": 1}
    assert told.said("assistant") == ["I see it.", "I see it."]
    assert [(path_of(call), family_of(call)) for call in told.calls] == [("/shop/till.py", "edit")] * 2
    assert [(answer.tool, answer.failed) for answer in told.answers] == [
        ("edit", None),
        ("edit", None),
        ("", True),
    ]
    assert told.report.skipped == 2


AIDER = """> left over from before  

# aider chat started at 2026-03-01 10:00:00

> Aider v0.99  
> Added till.py to the chat.  

#### Round once  
#### and say so  

I will. See this:

till.py
```python
> no quote
#### no wish
```

> A quote of the model's, unlike aider's own

> Tokens: 5 sent  
> Applied edit to till.py  
> Commit abc1234 fix: Round once  
> Running pytest  
> ==== test session starts ====
collected 2 items
    
> assert 1 == 2
2 failed  

#### !git status  
> clean  

#### # Fix any errors below, if possible.  

# aider chat started at 2026-03-01 10:00:00

#### Thanks  

# aider chat started at never

#### Bye  
"""  # noqa: W291, W293 - the two spaces are aider's


def test_aider_keeps_many_sessions_in_one_file(tell):
    told = tell(AIDER, name=".aider.chat.history.md")

    assert list(told.report.sessions) == [
        ".aider.chat.history.md-0",
        "aider 2026-03-01 10:00:00",
        "aider 2026-03-01 10:00:00 (2)",
        "aider never",
    ]
    assert told.events[1].at is not None
    assert told.events[-1].at is None


def test_aider_tells_edits_commits_and_commands_as_calls(tell):
    told = tell(AIDER)

    assert [(call.author, call.tool, path_of(call) or command_of(call)) for call in told.calls] == [
        ("assistant", "edit", "till.py"),
        ("assistant", "commit", None),
        ("assistant", "run", "pytest"),
        ("user", "/run", "git status"),
    ]
    by_call = {answer.call: answer.text for answer in told.answers if answer.call}
    assert by_call[told.calls[2].call].splitlines()[-1] == "2 failed"
    assert by_call[told.calls[3].call] == "clean"


def test_in_aider_only_its_own_marks_part_what_was_said(tell):
    told = tell(AIDER)

    assert told.said("user") == ["Round once\nand say so", "Thanks", "Bye"]
    assert told.said("user", injected=True) == ["# Fix any errors below, if possible."]
    assert "> no quote\n#### no wish" in told.said("assistant")[0]


def test_a_whole_session_a_line_has_the_name_it_is_given(tell):
    told = tell(Lines([{"id": "a", "messages": OPENAI}, {"messages": ANTHROPIC}]), name="chats.jsonl")

    assert dict(told.report.sessions) == {"a": 4, "chats-2": 4}


def test_messages_of_unknown_roles_are_skipped_and_system_prompts_injected(tell):
    told = tell(
        [{"role": "system", "content": "Be brief"}, {"role": "oracle", "content": "?"}, {"x": 1}, 5, *OPENAI]
    )

    assert told.said("user", injected=True) == ["Be brief"]
    assert told.report.skipped == 3
    assert len(told.events) == 5


@pytest.mark.parametrize(
    "typed, command",
    [
        ("/git status", "git status"),
        ("! ls", "ls"),
        ("/test make test", "make test"),
        ("/running late", None),
        ("/run", None),
    ],
)
def test_a_command_typed_into_aider_is_a_call(typed, command, tell):
    told = tell(f"# aider chat started at 2026-03-01 10:00:00\n\n#### {typed}  \n")

    assert [command_of(call) for call in told.calls] == ([command] if command else [])
    assert told.said("user") == ([] if command else [typed])
