"""SWE-agent: one run in one `.traj` file.

Its `history` has the prompts, its `trajectory` every step with its observation and folder. The file is read twice, once
for each.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Set
from itertools import pairwise
from pathlib import Path
from typing import Any

from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import arguments, mapping, plain, string
from recollect.work.transcripts.lines import opened
from recollect.work.transcripts.reading import EventOrigin, Report, TranscriptFormat, TranscriptReading

# SWE-agent's own commands; all others are the shell's.
_OWN_COMMANDS = set(
    """
    open goto scroll_up scroll_down create edit insert append str_replace_editor find_file search_dir search_file
    submit view_image filemap set_cursors
    """.split()
)


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    yield from _prompts(path, reading)
    with opened(path) as stream:
        for number, (_, step) in enumerate(members(stream, reading, {"trajectory"})):
            yield from _step(mapping(step), number, reading)


def _prompts(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    """Yield what comes before the first step: instructions, a demonstration, the task."""
    place = EventOrigin(reading.name)
    aside = TranscriptReading(path, Report())  # the second time through reports what is broken
    with opened(path) as stream:
        for _, item in members(stream, aside, {"history"}):
            message = mapping(item)
            role, demo = string(message.get("role")), bool(message.get("is_demo"))
            if role in (ASSISTANT, "tool") and not demo:
                return
            reading.report.lines += 1
            author = ASSISTANT if role == ASSISTANT else USER
            injected = demo or role not in (USER, ASSISTANT)
            yield from reading.message(place, author, plain(message.get("content")), injected=injected)


def _step(step: Mapping[str, Any], number: int, reading: TranscriptReading) -> Iterator[Event]:
    state = arguments(step.get("state"))
    place = EventOrigin(reading.name, cwd=string(state.get("working_dir")))
    thought, action = string(step.get("thought")), string(step.get("action")).strip()
    if said := thought.strip() or (string(step.get("response")) if not action else ""):
        yield from reading.message(place, ASSISTANT, said)
    if action:
        tool, given = _call(action, string(state.get("open_file")))
        call = f"step-{number}"
        yield reading.tool_call(place, tool, given, call)
        yield reading.tool_result(place, string(step.get("observation")), call, None)


def _call(action: str, open_file: str) -> tuple[str, Mapping[str, Any]]:
    """Return the tool and its input: SWE-agent's own commands by name, all others as the shell's."""
    head, _, body = action.partition("\n")
    try:
        words = shlex.split(action if action.startswith("str_replace_editor") else head)
    except ValueError:
        words = head.split()
    if not words or words[0] not in _OWN_COMMANDS:
        return "bash", {"command": action}
    tool, rest = words[0], words[1:]
    if tool == "str_replace_editor":
        named = {key.removeprefix("--"): value for key, value in pairwise(rest[2:]) if key[:2] == "--"}
        return tool, {"command": "".join(rest[:1]), "path": "".join(rest[1:2]), **named}
    given: dict[str, Any] = {"line": action}
    if tool in ("open", "create", "view_image") and rest:
        given["path"] = rest[0]
    elif tool in ("edit", "insert", "append"):
        given["text"] = body.removesuffix("end_of_edit").rstrip("\n")
        if open_file and open_file != "n/a":
            given["path"] = open_file
    return tool, given


def _is_record(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("trajectory"), list)


def _is_member(name: str, value: Mapping[str, Any], seen: Set[str]) -> bool:
    return name == "trajectory" or (name == "history" and "role" in value)


SWE_AGENT = TranscriptFormat("swe-agent", read, read, _is_record, _is_member)
