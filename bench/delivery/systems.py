"""The ways in which an agent is told something for a prompt. Each returns the ids of memories and the text.

Each prompt is asked in a session of its own.
"""

import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bench.delivery.datasets import DeliveryTask
from recollect import MemoryAgent
from recollect.engine import Engine
from recollect.interfaces.daemon.hook_session import HookSession
from recollect.text import tokens
from recollect.work.hosts.hook_input import HostEvent, host_event

HOST = "claude-code"
_RULES = re.compile(r"<always>.*?</always>", re.S)
_SHOWN_ID = re.compile(r"#([0-9a-z]{4,})")
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    """What an agent is told for one prompt."""

    memories: tuple[str, ...]  # ids
    text: str
    at_start: tuple[str, ...] = ()  # ids of rules, which belong to the start of a session

    @property
    def tokens(self) -> int:
        return tokens.count(self.text)


Ask = Callable[[DeliveryTask], PromptAnswer]


@contextmanager
def unstarted_prompt(engine: Engine) -> Iterator[Ask]:
    """The daemon's answer to a prompt in a session whose start it has not seen."""
    ids = _ids(engine)
    yield lambda task: _answer_of(_prompt(engine, _session(), task.prompt), ids)


@contextmanager
def prompt_after_start(engine: Engine) -> Iterator[Ask]:
    """The daemon's answer to a prompt after the start of the session."""
    ids = _ids(engine)

    yield lambda task: _after_start(engine, _session(), task, ids)


@contextmanager
def prompt_and_files(engine: Engine) -> Iterator[Ask]:
    """The daemon's answers to a prompt and to the files that the agent then opens one after the other."""
    ids = _ids(engine)

    def ask(task: DeliveryTask) -> PromptAnswer:
        session = _session()
        answer = _after_start(engine, session, task, ids)
        for path in task.opens or ():
            read = _event(session, "PostToolUse", tool_name="Read", tool_input={"file_path": path})
            more = _answer_of(_answer(engine, session, read), ids)
            answer = PromptAnswer(
                (*answer.memories, *more.memories), "\n".join((answer.text, more.text)), answer.at_start
            )
        return answer

    yield ask


@contextmanager
def recall(engine: Engine) -> Iterator[Ask]:
    """`recollect recall PROMPT`."""
    ids = _ids(engine)
    yield lambda task: _answer_of(engine.recall(task.prompt, host=HOST).text, ids)


@contextmanager
def agent(engine: Engine) -> Iterator[Ask]:
    """What `MemoryAgent` has ready after the prompt."""
    with MemoryAgent(engine) as memory_agent:

        def ask(task: DeliveryTask) -> PromptAnswer:
            memory_agent.submit([{"role": "user", "content": task.prompt}], f"bench-{next(_numbers)}")
            memory_agent.settle(60)
            pending = memory_agent.take_pending()
            return PromptAnswer(tuple(hit.memory.id for hit in pending.hits), pending.text)

        yield ask


FILES = "prompt and files"  # for projects whose tasks say which files are opened
SYSTEMS = {
    "prompt": prompt_after_start,
    FILES: prompt_and_files,
    "prompt, start missed": unstarted_prompt,
    "recall": recall,
    "memory agent": agent,
}


def _session() -> HookSession:
    return HookSession(f"bench-{next(_numbers)}", HOST, ".")


def _after_start(
    engine: Engine, session: HookSession, task: DeliveryTask, ids: Iterable[str]
) -> PromptAnswer:
    start = _answer(engine, session, _event(session, "SessionStart", source="startup"))
    told = _answer_of(start, ids)
    answer = _answer_of(_prompt(engine, session, task.prompt), ids)
    return replace(answer, at_start=(*told.memories, *told.at_start))


def _prompt(engine: Engine, session: HookSession, prompt: str) -> str:
    return _answer(engine, session, _event(session, "UserPromptSubmit", prompt=prompt))


def _answer(engine: Engine, session: HookSession, event: HostEvent) -> str:
    session.record(event)
    request = session.request_for(event)
    if request is None:
        return ""
    composed = session.compose(engine, request)
    session.received(engine, [composed])
    return composed.delivery.text


def _event(session: HookSession, name: str, **body: Any) -> HostEvent:
    return host_event(
        HOST, name, f"e{next(_numbers)}", str(time.time_ns()), ".", {"session_id": session.session, **body}
    )


def _ids(engine: Engine) -> tuple[str, ...]:
    return tuple(memory.id for memory in engine.store.iter_memories(engine.context.view()))


def _answer_of(text: str, ids: Iterable[str]) -> PromptAnswer:
    """Read which memories a text shows: each stands there with the end of its id. Rules belong to the start."""
    rules, rest = "".join(_RULES.findall(text)), _RULES.sub("", text)
    shown, at_start = (
        tuple(name for name in ids if any(name.endswith(end) for end in set(_SHOWN_ID.findall(part))))
        for part in (rest, rules)
    )
    return PromptAnswer(shown, text, at_start)
