import pytest

from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import (
    FAMILIES,
    command_of,
    family_of,
    is_ours,
    path_of,
    paths_of,
    text_of,
)

PATCH = "*** Begin Patch\n*** Update File: a.py\n-a\n+b\n*** End Patch"


def called(tool, **given):
    return Event("s", 0, "assistant", "", tool=tool, input=given)


@pytest.mark.parametrize(
    "event, family, command, path, text",
    [
        (called("Bash", command="ls", description="List"), "run", "ls", None, None),
        (called("Edit", file_path="a.py", old_string="a", new_string="b"), "edit", None, "a.py", "b"),
        (called("MultiEdit", file_path="a.py", edits=[]), "edit", None, "a.py", None),
        (called("Write", file_path="a.py", content="b"), "write", None, "a.py", "b"),
        (called("NotebookEdit", notebook_path="a.ipynb", new_source="b"), "edit", None, "a.ipynb", "b"),
        (called("Read", file_path="a.py", limit=5), "read", None, "a.py", None),
        (called("Grep", pattern="till", path="src"), "search", None, "src", None),
        (called("Glob", pattern="*.py"), "search", None, None, None),
        (called("WebFetch", url="https://x"), "web", None, None, None),
        (called("run_shell_command", command="ls"), "run", "ls", None, None),
        (called("replace", file_path="a.py", new_string="b"), "edit", None, "a.py", "b"),
        (called("edit", filePath="a.py", newString="b"), "edit", None, "a.py", "b"),
        (called("replace_string_in_file", filePath="a.py", newString="b"), "edit", None, "a.py", "b"),
        (called("create_file", filePath="a.py", content="b"), "write", None, "a.py", "b"),
        (called("run_in_terminal", command="ls"), "run", "ls", None, None),
        (called("str_replace_editor", command="create", path="a", file_text="b"), "write", None, "a", "b"),
        (called("str_replace_editor", command="view", path="a"), "read", None, "a", None),
        (called("str_replace_editor", command="dance"), "other", None, None, None),
        (called("execute_ipython_cell", code="1 + 1"), "run", "1 + 1", None, None),
        (called("mcp__till__ring", path="a", command="b"), "other", None, None, None),
        (called("Bash"), "run", None, None, None),
        (called("Bash", command=7), "run", None, None, None),
        (called("shell", command=[]), "run", None, None, None),
        (called("Read", file_path=""), "read", None, None, None),
        (called("apply_patch"), "edit", None, None, None),
        (called("apply_patch", command=PATCH), "edit", None, "a.py", PATCH),
        (Event("s", 0, "user", "Bash"), "other", None, None, None),
    ],
)
def test_the_table_says_what_a_tool_does_and_to_what(event, family, command, path, text):
    assert family_of(event) == family
    assert command_of(event) == command
    assert path_of(event) == path
    assert text_of(event) == text


def test_an_answer_has_the_family_of_its_tool_and_no_input():
    answer = Event("s", 1, "tool", "2 failed", tool="Bash", call="t1")

    assert family_of(answer) == "run"
    assert paths_of(answer) == ()


def test_families_are_the_seven_we_know():
    assert set(FAMILIES.values()) == {"run", "edit", "write", "read", "search", "web"}


@pytest.mark.parametrize(
    "event, kinds",
    [
        (Event("s", 0, "user", "hi"), (True, False, False)),
        (Event("s", 0, "assistant", "", tool="Bash"), (False, True, False)),
        (Event("s", 0, "user", "", tool="Bash"), (False, True, False)),
        (Event("s", 0, "tool", "out", tool="Bash"), (False, False, True)),
        (Event("s", 0, "tool", "out"), (False, False, True)),
    ],
)
def test_an_event_is_one_of_a_message_a_call_and_an_answer(event, kinds):
    assert (event.is_message, event.is_call, event.is_answer) == kinds


@pytest.mark.parametrize(
    ("tool", "ours"),
    [
        ("mcp__recollect__search_memory", True),
        ("mcp__plugin_recollect_recollect__memory", True),
        ("mcp_recollect_record_gotcha", True),
        ("recollect_read_source", True),
        ("recollect.session_search", True),
        ("mcp__shop__recollect_orders", False),
        ("recollect", False),
        ("Bash", False),
    ],
)
def test_our_own_tools_are_known_by_any_hosts_name_for_them(tool, ours):
    assert is_ours(called(tool)) is ours
