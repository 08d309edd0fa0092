"""A long session made of real ones: several tasks at a time, taken up and left again, repeated with variation."""

import random
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.window.facts import FACTS
from recollect.work.hosts.transcripts import read
from recollect.work.transcripts.event import Event

TASKS = 4  # at a time
OF_A_FILE = 12  # sessions: one file has hundreds of short ones, which would crowd out the rest
SHORTEST = 6  # steps a task must have
LONGEST_OUTPUT = 60_000  # characters; hosts cut what tools print
_NUMBER = re.compile(r"\b\d{2,6}\b")


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    input: Mapping[str, Any]
    output: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One turn: something the user says, or the assistant, with the tools it calls and what they answer."""

    said: str
    by_user: bool = False
    calls: tuple[Call, ...] = ()
    task: str = ""
    pause: float = 0.5  # minutes before it


@dataclass(frozen=True, slots=True)
class Fact:
    text: str
    need: str
    planted: int  # turn
    soon: int  # the turn it is first needed in: at most an eighth of the session later
    late: int  # and again: at least a quarter of it later


def sessions_in(folder: Path) -> list[list[Step]]:
    """Of all transcripts, in the order of their names; those with a few steps at least."""
    found: list[list[Step]] = []
    for path in sorted(folder.glob("*.gz")):
        together: dict[str, list[Event]] = {}
        for event in read(path):
            if not event.injected and not event.agent:
                together.setdefault(event.session, []).append(event)
        long_enough = [
            steps for events in together.values() if len(steps := list(_steps(events))) >= SHORTEST
        ]
        found += long_enough[:OF_A_FILE]
    return found


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    """Calls that are answered before anything else happens belong to one step."""
    said, open_calls, answers = "", [], {}
    for event in events:
        if event.is_answer:
            answers[event.call] = event
            continue
        if open_calls and (event.is_message or answers):
            yield _acted(said, open_calls, answers)
            said, open_calls, answers = "", [], {}
        if event.is_call:
            open_calls.append(event)
        elif event.author == "user":
            yield Step(event.text[:LONGEST_OUTPUT], by_user=True)
        else:
            said = event.text
            yield Step(said)
            said = ""
    if open_calls:
        yield _acted(said, open_calls, answers)


def _acted(said: str, calls: list[Event], answers: Mapping[str, Event]) -> Step:
    made = []
    for call in calls:
        answer = answers.get(call.call)
        output = answer.text[:LONGEST_OUTPUT] if answer else ""
        made.append(Call(call.tool, dict(call.input), output, bool(answer and answer.failed)))
    return Step(said, calls=tuple(made))


def long_session(sessions: list[list[Step]], turns: int, seed: int) -> list[Step]:
    """So many turns; a task goes on for a while, then another one is taken up."""
    chance = random.Random(seed)
    waiting = chance.sample(sessions, len(sessions))
    running: list[tuple[str, list[Step]]] = []
    made: list[Step] = []
    number = 0
    while len(made) < turns:
        while len(running) < TASKS:
            if not waiting:
                waiting = [_varied(steps, chance) for steps in chance.sample(sessions, len(sessions))]
            running.append((f"task-{number}", list(waiting.pop())))
            number += 1
        place = chance.randrange(TASKS)
        task, steps = running[place]
        stretch = chance.randint(5, 30)
        taken, steps[:] = steps[:stretch], steps[stretch:]
        for order, step in enumerate(taken):
            pause = chance.uniform(3, 20) if order == 0 else chance.uniform(0.2, 1.5)
            made.append(replace(step, task=task, pause=pause))
        if not steps:
            del running[place]
    return made[:turns]


def _varied(steps: list[Step], chance: random.Random) -> list[Step]:
    """The same work with other numbers and another name in front: no text comes twice to the letter."""
    mark = "".join(chance.choices(string.ascii_lowercase, k=5))

    def vary(text: str) -> str:
        return _NUMBER.sub(lambda found: str(int(found[0]) + chance.randint(1, 9)), text)

    def varied(call: Call) -> Call:
        return replace(call, output=f"{mark}: {vary(call.output)}")

    return [
        replace(step, said=vary(step.said), calls=tuple(varied(call) for call in step.calls))
        for step in steps
    ]


def with_facts(steps: list[Step], seed: int) -> tuple[list[Step], list[Fact]]:
    """Facts planted in the first half, in what is said or printed, each needed soon and once more in the second."""
    chance = random.Random(seed + 1)
    made = list(steps)
    facts = []
    half = len(steps) // 2
    places = chance.sample(range(20, half), len(FACTS))
    for (text, need), planted in zip(FACTS, places, strict=True):
        value = (
            "".join(chance.choices("23456789", k=3)) + chance.choice("bcdfghjk") + str(chance.randint(10, 99))
        )
        said = text.format(value)
        made[planted] = _plant(made[planted], said, chance)
        soon = planted + chance.randint(10, len(steps) // 8)
        late = chance.randint(max(half, planted + len(steps) // 4), len(steps) - 1)
        facts.append(Fact(said, need, planted, soon, late))
    return made, facts


def _plant(step: Step, fact: str, chance: random.Random) -> Step:
    """As a line among the others, of an output where there is one."""
    if step.calls:
        which = chance.randrange(len(step.calls))
        call = step.calls[which]
        planted = replace(call, output=_amid(call.output, fact, chance))
        return replace(step, calls=(*step.calls[:which], planted, *step.calls[which + 1 :]))
    return replace(step, said=_amid(step.said, fact, chance))


def _amid(text: str, fact: str, chance: random.Random) -> str:
    lines = text.splitlines()
    lines.insert(chance.randint(0, len(lines)), fact)
    return "\n".join(lines)
