"""What a host said through a hook, as events of a session: the same that its transcript would tell."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recollect.interfaces.install import shapes
from recollect.work.transcripts import injected
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event
from recollect.work.transcripts.fields import arguments, identifier, mapping, plain, string

LONGEST_ID = 200  # characters of a session's name


@dataclass(frozen=True, slots=True)
class HostEvent:
    """As it came in."""

    host: str
    name: str  # the host's own
    id: str  # minted by the hook: whatever comes twice counts once
    at: datetime
    folder: str  # where the hook ran; the host may say better
    body: Mapping[str, Any]

    @property
    def shape(self) -> shapes.Shape | None:
        """None for an event that is nothing to us."""
        return shapes.EVENTS.get(self.host, {}).get(self.name)

    @property
    def session(self) -> str:
        """Empty where the host does not say."""
        return identifier(_first(self.body, shapes.SESSION))[:LONGEST_ID]

    @property
    def cwd(self) -> str:
        roots = self.body.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots else ""
        return string(_first(self.body, shapes.FOLDER)) or string(first) or self.folder


def host_event(
    host: str, name: str, event_id: str, at_ns: str, folder: str, body: Mapping[str, Any]
) -> HostEvent:
    """Raises `ValueError` for a time that is none."""
    named = name if name not in ("", "-") else string(_first(body, ("hook_event_name", "agent_action_name")))
    return HostEvent(host, named, event_id, datetime.fromtimestamp(int(at_ns) / 1e9, UTC), folder, body)


def told(event: HostEvent) -> list[tuple[str, Event]]:
    """What happened, each with an id of its own; nothing for events that only ask."""
    return [
        (f"{event.id}.{number}" if number else event.id, each) for number, each in enumerate(_told(event))
    ]


def _told(event: HostEvent) -> Iterator[Event]:
    kind = event.shape.kind if event.shape else ""
    if kind == shapes.PROMPT:
        for text, foreign in injected.parts(prompt_of(event)):
            yield _event(event, author=USER, text=text, injected=foreign)
    elif kind in (shapes.AFTER, shapes.FAILED):
        tool, call = tool_of(event), identifier(_first(event.body, shapes.CALL)) or event.id
        yield _event(event, author=ASSISTANT, text="", tool=tool, call=call, input=input_of(event))
        yield _event(
            event, author=TOOL, text=output_of(event), tool=tool, call=call, failed=has_failed(event)
        )
    elif kind in (shapes.TURN, shapes.SAID) and (text := answer_of(event)).strip():
        yield _event(event, author=ASSISTANT, text=text)


def _event(event: HostEvent, **fields: Any) -> Event:
    agent = identifier(_first(event.body, shapes.AGENT))
    return Event(session=event.session, order=0, at=event.at, cwd=event.cwd, agent=agent, **fields)


def prompt_of(event: HostEvent) -> str:
    """What the person said."""
    return string(_first(event.body, shapes.PROMPTED)) or plain(event.body.get("parts"))


def answer_of(event: HostEvent) -> str:
    """What the agent said last."""
    return plain(_first(event.body, shapes.ANSWERED))


def tool_of(event: HostEvent) -> str:
    return shapes.TOOLS.get(event.name) or string(_first(event.body, shapes.TOOL)) or "unnamed"


def input_of(event: HostEvent) -> Mapping[str, Any]:
    given = _first(event.body, shapes.INPUT)
    if given is None and event.name in shapes.TOOLS:
        said = mapping(event.body.get("tool_info"))
        return {shapes.INPUTS.get(name, name): value for name, value in said.items()}
    return arguments(given)


def output_of(event: HostEvent) -> str:
    """What the tool answered, as the agent reads it."""
    if event.shape is not None and event.shape.kind == shapes.FAILED:
        return plain(_first(event.body, shapes.ERROR))
    return _readable(response_of(event))


def response_of(event: HostEvent) -> Any:
    """What the tool answered, as the host tells it."""
    return _first(event.body, shapes.OUTPUT)


def has_failed(event: HostEvent) -> bool | None:
    """None where the host does not say."""
    if event.shape is not None and event.shape.kind == shapes.FAILED:
        return True
    if _first(event.body, ("tool_response.error", "tool_response.is_error", "tool_response.isError")):
        return True
    return False if event.host == "claude-code" else None


def transcript_of(event: HostEvent) -> str:
    """Where the host says that it writes the session down; not to be trusted."""
    return string(event.body.get("transcript_path"))


def words_of(value: Any) -> Iterator[str]:
    """All the text in something a tool is called with."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from words_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item)


def _readable(answer: Any) -> str:
    if isinstance(answer, dict):
        if "stdout" in answer:
            return "\n".join(filter(None, (string(answer.get(name)) for name in ("stdout", "stderr"))))
        for name in ("llmContent", "output", "content", "result", "text"):
            if answer.get(name):
                return plain(answer[name])
        return json.dumps(answer, ensure_ascii=False)
    return plain(answer)


def _first(body: Mapping[str, Any], paths: Iterable[str]) -> Any:
    """The first of `paths` that leads somewhere; None if none does."""
    for path in paths:
        value: Any = body
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None
