"""Plays the session into a window of ours, and beside it into one that drops the oldest and one that keeps the newest.

Needs `../shared/data/traces` beside the repository and the SDKs of both APIs. The rules of the APIs are checked on every
turn for both, the SDKs' types and a count of the tokens that are really sent on every 20th.
"""

import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.window.plot import draw
from bench.window.session import Fact, Step, long_session, sessions_in, with_facts
from recollect import ContextWindow, Engine
from recollect.config import load_settings
from recollect.text import tokens
from recollect.work.window.item import ItemType
from recollect.work.window.rules import problems

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"
TURNS = 2_000
LIMIT = 100_000
SEED = 8
CLOSELY = 20  # every so many turns the SDKs' types are asked too
SYSTEM = "You are a coding agent at work on several tasks. What stands in [left out: …] can be had again by its id."
FOUND = 3  # of what is found for a need are looked at


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


class Truncation:
    """Drops the oldest, `share` of all of it at a time, when there is more than `most`."""

    def __init__(self, most: float, share: float) -> None:
        self._most, self._share = most, share
        self._steps: deque[tuple[int, int]] = deque()  # turn and size
        self.tokens = 0

    def add(self, turn: int, size: int) -> None:
        self._steps.append((turn, size))
        self.tokens += size
        if self.tokens > self._most:
            enough = min(self._most, self.tokens * (1 - self._share))
            while self.tokens > enough:
                self.tokens -= self._steps.popleft()[1]

    def has(self, turn: int) -> bool:
        return bool(self._steps) and self._steps[0][0] <= turn


def run(turns: int = TURNS, seed: int = SEED) -> dict[str, Any]:
    if not DATA.exists():
        return {"skipped": f"needs {DATA}"}
    try:
        from bench.window.types import accepts
    except ImportError as error:
        return {"skipped": f"needs the SDKs of both APIs ({error.name}): pip install 'recollect[dev]'"}
    steps, facts = with_facts(long_session(sessions_in(DATA), turns, seed), seed)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        home = Path(folder, "home")
        home.mkdir()
        project = Path(folder, "shop")
        project.mkdir()
        clock = Clock()
        settings = load_settings(home, {}, embedder="none")
        with Engine.open(project, home, settings=settings, clock=clock) as engine:
            window = ContextWindow(engine, LIMIT, "long", clock, sources=Nothing())
            return _play(window, clock, steps, facts, accepts)


class Nothing:
    """The window alone is measured, not what memory adds to it."""

    def code(self, text: str, budget: int) -> tuple[()]:
        return ()

    past_work = memories = code


def _play(
    window: ContextWindow, clock: Clock, steps: Sequence[Step], facts: Sequence[Fact], accepts: Any
) -> dict[str, Any]:
    oldest, newest = Truncation(LIMIT, 0.0), Truncation(0.8 * LIMIT, 0.3)
    needs: dict[int, list[tuple[str, Fact]]] = {}
    for fact in facts:
        needs.setdefault(fact.soon, []).append(("soon", fact))
        needs.setdefault(fact.late, []).append(("late", fact))
    sizes: dict[str, list[int]] = {"ours": [], "drop the oldest": [], "keep the newest": []}
    answers = {when: {name: Counter[str]() for name in sizes} for when in ("soon", "late")}
    over = invalid = misfits = most_sent = 0
    pruning = 0.0
    missed: list[str] = []
    window.add(SYSTEM, ItemType.SYSTEM)
    for turn, step in enumerate(steps):
        clock.advance(step.pause)
        before = window.prunings
        began = time.process_time()
        lists = _take(window, turn, step)
        if window.prunings > before:
            pruning = max(pruning, time.process_time() - began)
        size = _size(step)
        oldest.add(turn, size)
        newest.add(turn, size)
        over += window.tokens > LIMIT
        invalid += any(problems(messages, form) for form, messages in lists.items())
        if turn % CLOSELY == 0:
            misfits += sum(not accepts(messages, form) for form, messages in lists.items())
            sent = max(_sent(messages) for messages in lists.values())
            most_sent = max(most_sent, sent)
            over += sent > LIMIT
        for name, count in zip(sizes, (window.tokens, oldest.tokens, newest.tokens), strict=True):
            sizes[name].append(count)
        for when, fact in needs.get(turn, ()):
            counted = answers[when]
            how = _reach(window, fact, lists["openai"], bring_back=when == "late")
            counted["ours"][how] += 1
            counted["drop the oldest"]["in context" if oldest.has(fact.planted) else "lost"] += 1
            counted["keep the newest"]["in context" if newest.has(fact.planted) else "lost"] += 1
            if how == "lost":
                missed.append(f"{fact.need} ({when})")
    return {
        "turns": len(steps),
        "limit": LIMIT,
        "tokens_played": sum(map(_size, steps)),
        "prunings": window.prunings,
        "slowest_pruning_cpu_s": pruning,
        "over_the_limit": over,
        "most_tokens": max(sizes["ours"]),
        "most_sent": most_sent,
        "invalid_by_rules": invalid,
        "invalid_by_types": misfits,
        "checked_by_types": len(range(0, len(steps), CLOSELY)) * 2,
        "facts": len(facts),
        "answers": {
            when: {name: dict(each) for name, each in counted.items()} for when, counted in answers.items()
        },
        "reached": {
            when: {name: 1 - each["lost"] / len(facts) for name, each in counted.items()}
            for when, counted in answers.items()
        },
        "missed": missed,
        "plot": str(draw(sizes, LIMIT) or ""),
        "details": sizes,
    }


def _take(window: ContextWindow, turn: int, step: Step) -> dict[str, list[dict[str, Any]]]:
    """Put the step in; what would be sent to either API after it."""
    window.current_task = step.task
    if step.by_user:
        return {"anthropic": window.prepare(step.said), "openai": window.messages("openai")}
    calls = [(f"call_{turn}_{number}", call.tool, call.input) for number, call in enumerate(step.calls)]
    window.add(step.said, ItemType.ASSISTANT, calls=calls)
    for (name, _, _), call in zip(calls, step.calls, strict=True):
        window.add(call.output, ItemType.TOOL_RESULT, call=name, failed=call.failed)
    return {form: window.messages(form) for form in ("anthropic", "openai")}


def _size(step: Step) -> int:
    return tokens.count(step.said) + sum(tokens.count(f"{call.input}{call.output}") for call in step.calls)


def _sent(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of all texts in a list, counted anew."""
    return sum(tokens.count(text) for text in _texts(list(messages)))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _reach(window: ContextWindow, fact: Fact, sent: Sequence[Mapping[str, Any]], bring_back: bool) -> str:
    """In context; or found in the words of the need, brought back and then in what is sent; or lost."""
    if any(fact.text in text for text in _texts(list(sent))):
        return "in context"
    found = next((each for each in window.find(fact.need, FOUND) if fact.text in each.text), None)
    if found is None:
        return "lost"
    if bring_back:
        window.restore(found.id)
        if not any(fact.text in text for text in _texts(window.messages("openai"))):
            return "lost"
    return "restorable"


def show(figures: Mapping[str, Any]) -> None:
    print(
        f"{figures['turns']:,} turns, {figures['tokens_played']:,} tokens, window {figures['limit']:,}:"
        f" {figures['prunings']} prunings, the slowest turn with one {figures['slowest_pruning_cpu_s']:.2f} CPU-s"
    )
    print(
        f"over the limit: {figures['over_the_limit']} (most {figures['most_tokens']:,}, sent {figures['most_sent']:,});"
        f" refused by the rules: {figures['invalid_by_rules']}, by the SDKs' types: {figures['invalid_by_types']}"
        f" of {figures['checked_by_types']}"
    )
    for when, reached in figures["reached"].items():
        print(f"{figures['facts']} facts needed {when}:")
        for name, share in reached.items():
            counted = ", ".join(f"{how} {count}" for how, count in figures["answers"][when][name].items())
            print(f"  {name:16} {share:6.1%}  ({counted})")
    print("Late is a quarter of the session or more: further back than a window without a memory can reach.")
