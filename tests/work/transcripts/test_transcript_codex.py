import json

import pytest
from transcript_samples import WHEN, Lines, item, message, rollout

from recollect.work.transcripts.tools import command_of, family_of, path_of, paths_of

META = rollout("session_meta", id="s1", cwd="/shop", git={"branch": "main"})
PATCH = (
    "*** Begin Patch\n*** Update File: src/till.py\n@@\n-a\n+b\n*** Add File: src/new.py\n+c\n*** End Patch\n"
)


def call(name, **given):
    return item(type="function_call", name=name, arguments=json.dumps(given), call_id="t1")


def test_an_event_says_where_and_when(tell):
    turn = rollout("turn_context", cwd="/shop/till")

    told = tell(Lines([META, item(**message("user", "one")), turn, item(**message("user", "two"))]))

    first, second = told.events
    assert (first.session, first.at, first.cwd, first.branch) == ("s1", WHEN, "/shop", "main")
    assert second.cwd == "/shop/till"


@pytest.mark.parametrize("event_first", [True, False])
def test_a_message_written_down_twice_is_told_once(event_first, tell):
    def both(role, words):
        kind = "user_message" if role == "user" else "agent_message"
        pair = [item(**message(role, words)), rollout("event_msg", type=kind, message=words + "\n")]
        return pair[::-1] if event_first else pair

    told = tell(Lines([META, *both("user", "go on"), *both("assistant", "Done."), *both("user", "go on")]))

    assert [event.text.strip() for event in told.events] == ["go on", "Done.", "go on"]
    assert told.report.left_out["repeated"] == 3


def test_a_message_that_stands_only_in_an_event_is_told(tell):
    told = tell(Lines([META, rollout("event_msg", type="user_message", message="Fix the till")]))

    assert told.said("user") == ["Fix the till"]


def test_the_summary_of_a_compaction_is_what_the_agent_wrote(tell):
    line = rollout(
        "compacted", message="So far we fixed the till", replacement_history=[message("user", "old")]
    )

    (event,) = tell(Lines([META, line])).events

    assert (event.author, event.injected, event.text) == ("assistant", False, "So far we fixed the till")


@pytest.mark.parametrize(
    "line",
    [
        item(**message("developer", "Be brief")),
        item(**message("user", "<environment_context>\n<cwd>/shop</cwd>\n</environment_context>")),
        item(**message("user", "# AGENTS.md instructions for /shop\n\nUse pnpm")),
        item(**message("user", "--- recollect-memory: notes ---\nuse pnpm\n--- end of recollect-memory ---")),
    ],
)
def test_what_the_person_did_not_say_is_marked_injected(line, tell):
    (event,) = tell(Lines([META, line])).events

    assert event.injected


@pytest.mark.parametrize(
    "line, command",
    [
        (call("shell", command=["bash", "-lc", "make test"], workdir="/shop"), "make test"),
        (call("shell", command=["git", "commit", "-m", "a b"]), "git commit -m 'a b'"),
        (call("shell_command", command="make test"), "make test"),
        (call("exec_command", cmd="make test"), "make test"),
        (
            item(
                type="local_shell_call", call_id="t1", action={"type": "exec", "command": ["sh", "-c", "ls"]}
            ),
            "ls",
        ),
    ],
)
def test_a_command_is_found_in_every_shape(line, command, tell):
    (event,) = tell(Lines([META, line])).calls

    assert (family_of(event), command_of(event)) == ("run", command)


@pytest.mark.parametrize(
    "line",
    [
        item(type="custom_tool_call", name="apply_patch", input=PATCH, call_id="t1"),
        call("apply_patch", input=PATCH),
        call("shell", command=["apply_patch", PATCH]),
        call("shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]),
    ],
)
def test_a_patch_is_an_edit_of_the_files_it_names(line, tell):
    (event,) = tell(Lines([META, line])).calls

    assert family_of(event) == "edit"
    assert path_of(event) == "src/till.py"
    assert paths_of(event) == ("src/till.py", "src/new.py")


@pytest.mark.parametrize(
    "output, words, failed",
    [
        ("plain", "plain", None),
        (json.dumps({"output": "out", "metadata": {"exit_code": 0}}), "out", False),
        (json.dumps({"output": "out", "metadata": {"exit_code": 2}}), "out", True),
        ({"content": "out", "success": True}, "out", False),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "x"}],
            "a\n[image]",
            None,
        ),
        ("Exit code: 1\nWall time: 2 s\nOutput:\nboom", "Exit code: 1\nWall time: 2 s\nOutput:\nboom", True),
        (
            "Chunk ID: 1\nProcess exited with code 0\nOutput:\nok",
            "Chunk ID: 1\nProcess exited with code 0\nOutput:\nok",
            False,
        ),
        ('{"output": "of the program itself"}', '{"output": "of the program itself"}', None),
        ("notes say: Exit code: 1\nOutput:\n", "notes say: Exit code: 1\nOutput:\n", None),
        (None, "", None),
    ],
)
def test_an_answer_is_read_in_every_wrapping(output, words, failed, tell):
    lines = [META, call("shell", command="x"), item(type="function_call_output", call_id="t1", output=output)]

    (answer,) = tell(Lines(lines)).answers

    assert (answer.text, answer.failed, answer.tool) == (words, failed, "shell")


def test_a_fork_keeps_its_own_name_and_a_sub_agent_its_parents_session(tell):
    parent = rollout("session_meta", id="s0", cwd="/old")
    spawned = rollout(
        "session_meta", id="s2", source={"subagent": {"thread_spawn": {"parent_thread_id": "s1"}}}
    )

    fork = tell(Lines([META, parent, item(**message("user", "hello"))]))
    child = tell(Lines([spawned, item(**message("user", "Explore"))]))

    assert [(event.session, event.cwd) for event in fork.events] == [("s1", "/shop")]
    assert [(e.session, e.agent, e.injected) for e in child.events] == [("s1", "s2", True)]


def test_reasoning_and_the_hosts_own_notes_are_left_out(tell):
    told = tell(
        Lines(
            [
                META,
                item(
                    type="reasoning",
                    summary=[{"type": "summary_text", "text": "secretly"}],
                    encrypted_content="x",
                ),
                rollout("event_msg", type="token_count", info=None),
                rollout("event_msg", type="agent_reasoning", text="secretly"),
                rollout("world_state"),
                item(type="hologram"),
                {"timestamp": "x", "type": "hologram", "payload": 3},
            ]
        )
    )

    assert told.events == []
    assert told.report.skipped == 2
    assert [problem.line for problem in told.report.problems] == [6, 7]


def test_arguments_that_are_no_json_are_kept_as_they_stand(tell):
    broken = item(type="function_call", name="shell", arguments='{"command": ["ba', call_id="t1")

    (event,) = tell(Lines([META, broken])).calls

    assert event.input == {"input": '{"command": ["ba'}
    assert command_of(event) is None
