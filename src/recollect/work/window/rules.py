"""Rules of the APIs for a list of messages, beyond the types of their SDKs. A debugging aid: `problems(messages)`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recollect.work.window.anthropic import MOST_MARKERS
from recollect.work.window.forms import ANTHROPIC, form_of, plain

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_OPENAI_NAME, _OPENAI_CALL = 64, 40


def problems(messages: Sequence[Any], form: str | None = None) -> list[str]:
    """Return the reasons why an API would reject the list, each with the number of the message.

    `form` is "anthropic" or "openai"; None detects it.
    """
    checked = [plain(message) for message in messages]
    if not checked:
        return ["the list is empty"]
    return list(_anthropic(checked) if (form or form_of(checked)) == ANTHROPIC else _openai(checked))


def _anthropic(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if messages[0]["role"] != "user":
        yield "0: the first message is not the user's"
    if messages[-1]["role"] == "assistant" and (text := _last_text(messages[-1])) != text.rstrip():
        yield f"{len(messages) - 1}: the last message is the assistant's and ends in white space"
    seen: set[str] = set()
    open_calls: set[str] = set()
    markers = 0
    for number, message in enumerate(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            yield f"{number}: it is empty"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        yield from _per_name(number, "a tool_use without a result here", open_calls - set(results))
        yield from _per_name(
            number, "a tool_result without its tool_use right before", set(results) - open_calls
        )
        if len(results) != len(set(results)):
            yield f"{number}: a tool_use has two results"
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            yield f"{number}: something stands before a tool_result"
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if (calls and message["role"] != "assistant") or (results and message["role"] != "user"):
            yield f"{number}: a tool_use of the user's or a tool_result of the assistant's"
        open_calls = {block["id"] for block in calls}
        yield from _per_name(number, "an id that was used before", seen & open_calls)
        yield from _bad_names(number, ((block["id"], block["name"]) for block in calls))
        if len(open_calls) != len(calls):
            yield f"{number}: two calls have one id"
        seen |= open_calls
        for block in blocks:
            markers += "cache_control" in block
            if block["type"] == "text" and not block["text"].strip():
                yield f"{number}: an empty text"
    yield from _per_name(len(messages) - 1, "a tool_use without a result", open_calls)
    if markers > MOST_MARKERS:
        yield f"{markers} cache markers, at most {MOST_MARKERS} are allowed"


def _openai(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role == "tool":
            call = message.get("tool_call_id", "")
            if call not in open_calls:
                yield f"{number}: a tool message without its call right before ({call})"
            open_calls.discard(call)
            continue
        yield from _per_name(number, "a tool call without a tool message", open_calls)
        calls = message.get("tool_calls") or []
        open_calls = {call["id"] for call in calls}
        if len(open_calls) != len(calls):
            yield f"{number}: two calls have one id"
        functions = [call.get("function") or call.get("custom") for call in calls]
        for call, function in zip(calls, functions, strict=True):
            yield from _bad_names(number, [(call["id"], function["name"])])
            if len(function["name"]) > _OPENAI_NAME or len(call["id"]) > _OPENAI_CALL:
                yield f"{number}: a name or an id that is too long ({function['name']}, {call['id']})"
        if not content and not calls and not message.get("refusal") and not message.get("audio"):
            yield f"{number}: it is empty"
        if "tool_calls" in message and not calls:
            yield f"{number}: tool_calls is an empty list"
    yield from _per_name(len(messages) - 1, "a tool call without a tool message", open_calls)


def _per_name(number: int, what: str, names: Iterable[str]) -> Iterator[str]:
    return (f"{number}: {what} ({name})" for name in sorted(names))


def _bad_names(number: int, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for pair in pairs:
        for name in pair:
            if not _NAME.fullmatch(name):
                yield f"{number}: a name the API does not allow ({name!r})"


def _last_text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    last = content[-1] if content else {}
    return str(last.get("text", ""))
