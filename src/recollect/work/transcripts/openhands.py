"""OpenHands: the output of a run with one session per line, or one session as a list of its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import identifier, items, mapping, moment, string
from recollect.work.transcripts.lines import opened, records
from recollect.work.transcripts.reading import EventOrigin, TranscriptFormat, TranscriptReading

_IGNORED = {
    "recall",
    "change_agent_state",
    "agent_state_changed",
    "null",
    "condensation",
    "condensation_request",
}
_HOST_FIELDS = {"thought", "is_input", "blocking", "is_static", "hidden", "confirmation_state", "impl_source"}


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        for line in records(stream, reading):
            if "source" in line:
                yield from _event(line, reading.name, reading)
                continue
            session = identifier(line.get("instance_id")) or reading.name
            for happened in items(line.get("history")):
                # Older versions pair an action with its observation.
                for event in happened if isinstance(happened, list) else [happened]:
                    yield from _event(mapping(event), session, reading)


def read_document(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        for _, event in members(stream, reading, {"", "history"}):
            yield from _event(mapping(event), reading.name, reading)


def _event(event: Mapping[str, Any], session: str, reading: TranscriptReading) -> Iterator[Event]:
    action, observation = string(event.get("action")), string(event.get("observation"))
    place = EventOrigin(session, moment(event.get("timestamp")))
    if (action or observation) in _IGNORED:
        reading.ignore(action or observation)
    elif action:
        yield from _action(event, action, place, reading)
    elif observation:
        yield from _observation(event, observation, place, reading)
    else:
        reading.skip("an event that is neither an action nor an observation")


def _action(
    event: Mapping[str, Any], action: str, place: EventOrigin, reading: TranscriptReading
) -> Iterator[Event]:
    given = mapping(event.get("args"))
    author = USER if event.get("source") == "user" else ASSISTANT
    if action == "system":
        yield from reading.message(place, USER, string(given.get("content")), injected=True)
    elif action == "message":
        yield from reading.message(
            place, author, string(given.get("content")) or string(event.get("message"))
        )
    elif action == "finish":
        text = (
            string(given.get("final_thought")) or string(given.get("thought")) or string(event.get("message"))
        )
        yield from reading.message(place, author, text)
    else:
        thought = string(given.get("thought"))
        if thought.strip() and action != "think":
            yield from reading.message(place, author, thought)
        kept = (
            given
            if action == "think"
            else {k: v for k, v in given.items() if k not in _HOST_FIELDS and v is not None}
        )
        yield reading.tool_call(place, action, kept, identifier(event.get("id")), author=author)


def _observation(
    event: Mapping[str, Any], observation: str, place: EventOrigin, reading: TranscriptReading
) -> Iterator[Event]:
    extras = mapping(event.get("extras"))
    metadata = mapping(extras.get("metadata"))
    code, success = metadata.get("exit_code", extras.get("exit_code")), event.get("success")
    failed: bool | None = None
    if observation == "error":
        failed = True
    elif isinstance(code, int) and code != -1:  # -1: it was still running
        failed = code != 0
    elif isinstance(success, bool):
        failed = not success
    where = EventOrigin(place.session, place.at, cwd=string(metadata.get("working_dir")))
    cause = identifier(event.get("cause"))
    tool = "" if observation == "error" else observation
    yield reading.tool_result(where, string(event.get("content")), cause, failed, tool)


def _is_record(record: Mapping[str, Any]) -> bool:
    return {"instance_id", "history"} <= record.keys() or (
        "source" in record and bool(record.keys() & {"action", "observation"})
    )


OPENHANDS = TranscriptFormat("openhands", read, read_document, _is_record)
