"""Where a window looks for what bears on a message: code, past work, memories. Each may fail or be slow; it goes on."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol

from recollect.memory.briefing.render import format_for, memory_note, short_ids
from recollect.work.window.backing import Backing
from recollect.work.window.item import ItemType

logger = logging.getLogger(__name__)

SEARCHED = 5  # memories at most
SIMILAR = 3  # tasks at most
_FILES = 5  # of a task are named
FITS = 0.3  # score from which a memory bears on the message
_HOST = "claude-code"  # whose format memories are written in


@dataclass(frozen=True, slots=True)
class Found:
    text: str
    type: ItemType = ItemType.GRAPH
    relevance: float = 1.0
    path: str = ""
    lines: tuple[int, int] | None = None  # None = not of a file


class Sources(Protocol):
    """What is found for a text, best first, in about `budget` tokens."""

    def code(self, text: str, budget: int) -> Sequence[Found]: ...

    def past_work(self, text: str, budget: int) -> Sequence[Found]: ...

    def memories(self, text: str, budget: int) -> Sequence[Found]: ...


class EngineSources:
    def __init__(self, engine: Backing, session: str) -> None:
        self._engine = engine
        self._session = session

    def code(self, text: str, budget: int) -> Sequence[Found]:
        found = self._engine.relevant(text, budget=budget, patient=False)
        return [
            Found(
                f"{each.path}:{each.lines[0]}-{each.lines[1]}\n{each.text}",
                ItemType.CODE,
                min(each.score, 1.0),
                each.path,
                each.lines,
            )
            for each in found.snippets
        ]

    def past_work(self, text: str, budget: int) -> Sequence[Found]:
        similar = self._engine.episodes.similar_tasks(text, SIMILAR)
        return [
            Found(
                f"Past work: {task.description}: {task.outcome or task.status}"
                + (f" ({', '.join(task.files[:_FILES])})" if task.files else ""),
                relevance=0.8,
            )
            for task in (each.task for each in similar)
            if task.session != self._session
        ]

    def memories(self, text: str, budget: int) -> Sequence[Found]:
        hits = [
            hit
            for hit in self._engine.search(text, SEARCHED, session=self._session).results
            if hit.score >= FITS
        ]
        form, names = format_for(_HOST), short_ids(hit.memory.id for hit in hits)
        return [
            Found(
                form.document(
                    [form.section("found", [form.write(memory_note(hit.memory, names[hit.memory.id]))])]
                ),
                relevance=min(hit.score, 1.0),
            )
            for hit in hits
        ]


def gather(looks: Mapping[str, Callable[[], Sequence[Found]]], deadline: float) -> dict[str, Sequence[Found]]:
    """What each look has found within `deadline` seconds; one that fails or takes longer has found nothing."""
    done: SimpleQueue[tuple[str, Sequence[Found]]] = SimpleQueue()

    def look(name: str, find: Callable[[], Sequence[Found]]) -> None:
        try:
            done.put((name, find()))
        except Exception:  # what is added is a help; without it the work goes on
            logger.exception("Looking for %s failed.", name)
            done.put((name, ()))

    for name, find in looks.items():
        threading.Thread(target=look, args=(name, find), name=f"look for {name}", daemon=True).start()
    found: dict[str, Sequence[Found]] = dict.fromkeys(looks, ())
    end = time.monotonic() + deadline
    for _ in looks:
        try:
            name, these = done.get(timeout=max(end - time.monotonic(), 0.0))
        except Empty:
            break
        found[name] = these
    return found
