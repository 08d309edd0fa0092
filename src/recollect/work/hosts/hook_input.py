"""What a host sends through a hook, as events of a session: the same that its transcript would have."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from recollect.frozen import frozen
from recollect.work.hosts.host import COMMON_FIELDS, Hook, HookKind, Host
from recollect.work.hosts.registry import HOSTS
from recollect.work.transcripts import injected
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event
from recollect.work.transcripts.fields import arguments, identifier, mapping, plain, string

LONGEST_ID = 200  # characters of a session's name


@frozen
class HostEvent:
    """An event as a host's hook sent it."""

    host: str
    name: str  # the host's own
    id: str  # made by the hook program: an event that comes twice counts once
    at: datetime
    folder: str  # where the hook ran; the host may name a better one
    body: Mapping[str, Any]

    @property
    def hook(self) -> Hook | None:
        """The host's hook for this event; None if it means nothing to us."""
        row = HOSTS.get(self.host)
        return row.hook(self.name) if row else None

    @property
    def kind(self) -> HookKind | None:
        return self.hook.kind if self.hook else None

    @property
    def session(self) -> str:
        """The session's name; empty if the host does not say."""
        return identifier(self.value("session"))[:LONGEST_ID]

    @property
    def cwd(self) -> str:
        """The folder that the host names, or else where the hook ran."""
        named = (string(_first(self.body, (path,))) for path in field_names(self.host, "folder"))
        return next(filter(None, named), self.folder)

    def value(self, name: str) -> Any:
        """Return the value of a field of `COMMON_FIELDS`, wherever the host puts it; None if it is not there."""
        return _first(self.body, field_names(self.host, name))


def field_names(host: str, name: str) -> tuple[str, ...]:
    """Return where `host`, known or not, may put a value in what it sends."""
    return HOSTS[host].field_names(name) if host in HOSTS else COMMON_FIELDS[name]


def host_event(
    host: str, name: str, event_id: str, at_ns: str, folder: str, body: Mapping[str, Any]
) -> HostEvent:
    """Return the event; a name of "-" is looked up in `body`. Raise `ValueError` if `at_ns` is not a time."""
    if name in ("", "-"):
        name = string(_first(body, field_names(host, "event")))
    return HostEvent(host, name, event_id, datetime.fromtimestamp(int(at_ns) / 1e9, UTC), folder, body)


def session_events(event: HostEvent) -> list[tuple[str, Event]]:
    """Return what happened, each with an id of its own; nothing for events that only ask."""
    return [
        (f"{event.id}.{number}" if number else event.id, each)
        for number, each in enumerate(_session_events(event))
    ]


def _session_events(event: HostEvent) -> Iterator[Event]:
    kind = event.kind
    if kind is HookKind.PROMPT:
        for text, foreign in injected.parts(_prompt(event)):
            yield _event(event, author=USER, text=text, injected=foreign)
    elif kind in (HookKind.AFTER_TOOL, HookKind.TOOL_FAILED):
        tool, call = tool_of(event), identifier(event.value("call")) or event.id
        yield _event(event, author=ASSISTANT, text="", tool=tool, call=call, input=input_of(event))
        yield _event(
            event, author=TOOL, text=output_of(event), tool=tool, call=call, failed=has_failed(event)
        )
    elif kind is HookKind.COMPACTION and (summary := string(event.body.get("compact_summary"))).strip():
        yield _event(event, author=ASSISTANT, text=summary)
    elif kind in (HookKind.TURN_END, HookKind.AGENT_MESSAGE) and (text := answer_of(event)).strip():
        yield _event(event, author=ASSISTANT, text=text)


def _event(event: HostEvent, **fields: Any) -> Event:
    agent = identifier(event.value("agent"))
    return Event(session=event.session, order=0, at=event.at, cwd=event.cwd, agent=agent, **fields)


def prompt_of(event: HostEvent) -> str:
    """Return what the person typed, without what a host or a hook added to it."""
    return injected.own_words(_prompt(event))


def _prompt(event: HostEvent) -> str:
    text = string(event.value("prompt")) or plain(event.body.get("parts"))
    return _row(event).clean_prompt(text)


def answer_of(event: HostEvent) -> str:
    """Return the agent's last message."""
    return plain(event.value("answer"))


def tool_of(event: HostEvent) -> str:
    """Return the name of the tool that the event is about."""
    return (event.hook.tool if event.hook else "") or string(event.value("tool")) or "unnamed"


def input_of(event: HostEvent) -> Mapping[str, Any]:
    """Return what the tool was called with."""
    given = event.value("input")
    if given is None and event.hook is not None and event.hook.tool:
        names = _row(event).input_names
        return {names.get(name, name): value for name, value in mapping(event.body.get("tool_info")).items()}
    return arguments(given)


def output_of(event: HostEvent) -> str:
    """Return what the tool answered, as the agent reads it."""
    if event.kind is HookKind.TOOL_FAILED:
        return plain(event.value("error"))
    return _readable(response_of(event))


def response_of(event: HostEvent) -> Any:
    """Return what the tool answered, as the host sends it."""
    return event.value("output")


def has_failed(event: HostEvent) -> bool | None:
    """Return whether the tool failed; None if the host does not say."""
    if event.kind is HookKind.TOOL_FAILED:
        return True
    if _first(event.body, ("tool_response.error", "tool_response.is_error", "tool_response.isError")):
        return True
    given = event.value("exit")
    code = given if isinstance(given, int) else _row(event).exit_code(output_of(event))
    if code is not None:
        return code != 0
    return False if _row(event).reports_failures else None


def transcript_of(event: HostEvent) -> str:
    """Return where the host says that it writes the transcript; not to be trusted."""
    return string(event.body.get("transcript_path"))


def words_of(value: Any) -> Iterator[str]:
    """Yield all the texts in a tool's input."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from words_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item)


def _row(event: HostEvent) -> Host:
    return HOSTS[event.host]


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
    """Return the value at the first of `paths` that leads to one; None if none does."""
    for path in paths:
        value: Any = body
        for name in path.split("."):
            if isinstance(value, list):
                value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
            else:
                value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None
