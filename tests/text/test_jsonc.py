"""Editing JSON as text."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from jsonc_texts import texts
from recollect.interfaces.install.edits import JsonEdit
from recollect.interfaces.install.entries import hook_entry, server_entry
from recollect.interfaces.install.machine import Machine
from recollect.text import jsonc
from recollect.work.hosts.registry import HOSTS

HOST = HOSTS["claude-code"]
MACHINE = Machine(Path("/user"), ("/opt/bin/recollect",), {}, "linux")
EDIT = JsonEdit(
    Path("/user/settings.json"),
    tuple((hook.event, hook_entry(HOST, hook, MACHINE)) for hook in HOST.hooks),
    "mcpServers",
    server_entry(HOST, MACHINE),
)
COMMENT = re.compile(
    r"// a remark, with a comma|/\* two\s+lines \*/|/\* here \*/|// at the end \}|/\* done \*/|// nothing here"
)


@given(texts())
@settings(max_examples=60, deadline=None)
def test_what_is_put_in_any_configuration_can_be_taken_out_again(text):
    with_us = EDIT.apply(text)

    without = EDIT.remove(with_us, text)

    assert EDIT.is_applied(with_us)
    assert jsonc.load(without) == jsonc.load(text)
    assert COMMENT.findall(text) == COMMENT.findall(with_us) == COMMENT.findall(without)


@given(texts())
@settings(max_examples=40, deadline=None)
def test_only_what_is_ours_is_added(text):
    with_us = EDIT.apply(text)

    rest = iter(with_us)
    assert all(char in rest for char in text), "the text is no longer in it, in its order"
    assert with_us.count("\r\n") == with_us.count("\n") or "\r\n" not in text


@given(texts())
@settings(max_examples=40, deadline=None)
def test_what_others_add_meanwhile_stays(text):
    with_us = jsonc.append(
        EDIT.apply(text), ("hooks", "Stop"), {"hooks": [{"type": "command", "command": "theirs"}]}
    )
    with_us = jsonc.put(with_us, ("later",), {"added": [1]})

    without = jsonc.load(EDIT.remove(with_us, text))

    before = jsonc.load(text)
    assert without["later"] == {"added": [1]}
    assert without["hooks"]["Stop"] == [
        *before.get("hooks", {}).get("Stop", []),
        {"hooks": [{"type": "command", "command": "theirs"}]},
    ]


@pytest.mark.parametrize(
    "text, where",
    [
        ('{"a": 1', "line 1, column 8"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ("{a: 1}", "line 1, column 2"),
        ('{"a" 1}', "line 1, column 6"),
        ("{} {}", "line 1, column 4"),
        ("/* for ever", "line 1, column 1"),
        ('{"a": tru}', "line 1, column 7"),
        ("[" * 1000, "column 202: nested too deeply"),
    ],
)
def test_broken_json_is_named_with_its_place(text, where):
    with pytest.raises(jsonc.BadJson, match=where):
        jsonc.parse(text)


@pytest.mark.parametrize(
    "before, after",
    [
        ("{}", '{\n  "a": 1\n}'),
        ("", '{\n  "a": 1\n}\n'),
        ("// only words\n", '// only words\n{\n  "a": 1\n}\n'),
        ('{"b": 2}', '{"b": 2, "a": 1}'),
        ('{\n\t"b": 2\n}\n', '{\n\t"b": 2,\n\t"a": 1\n}\n'),
        ('{\n  "b": 2, // why\n}', '{\n  "b": 2, // why\n  "a": 1,\n}'),
        ('{\n  "b": 2 // why\n}', '{\n  "b": 2, // why\n  "a": 1\n}'),
        ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "a": 1\n}'),
        ('\ufeff{\r\n  "b": 2\r\n}\r\n', '\ufeff{\r\n  "b": 2,\r\n  "a": 1\r\n}\r\n'),
    ],
)
def test_a_member_is_added_in_the_style_of_the_file(before, after):
    assert jsonc.put(before, ("a",), 1) == after


@pytest.mark.parametrize(
    "before, path, after",
    [
        ('{"a": 1}', ("a",), "{}"),
        ('{"a": 1, "b": 2}', ("a",), '{ "b": 2}'),
        ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
        ('{\n  "a": 1,\n  "b": 2\n}', ("b",), '{\n  "a": 1\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
        ('{\n  // mine\n  "b": 2 }', ("b",), "{\n  // mine\n   }"),
        ('{"a": [1, 2, 3]}', ("a", 1), '{"a": [1, 3]}'),
    ],
)
def test_a_member_or_item_is_taken_out_with_its_comma(before, path, after):
    taken = jsonc.take(before, path)

    assert taken == after
    jsonc.parse(taken)


def test_of_two_members_with_one_name_the_last_counts_as_it_does_everywhere():
    text = '{"hooks": 1, "hooks": {}}'

    assert jsonc.load(text) == json.loads(text)
    assert jsonc.put(text, ("hooks", "a"), 1) == '{"hooks": 1, "hooks": {"a": 1}}'


@pytest.mark.parametrize("text", ["[]", "1", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_what_has_another_shape_than_the_host_wants_is_refused(text):
    with pytest.raises(ValueError, match="is no"):
        EDIT.apply(text)
