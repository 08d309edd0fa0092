"""Sources of extras for a message: code, past work, memories. A source that fails or is slow adds nothing."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Protocol

from recollect.frozen import frozen
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told
from recollect.work.window.backing import WindowEngine
from recollect.work.window.item import ItemType

logger = logging.getLogger(__name__)

SIMILAR = 3  # tasks at most
_FILES = 5  # named per task
_HOST = "claude-code"  # in whose format memories are written: XML


@frozen
class Extra:
    text: str
    type: ItemType = ItemType.GRAPH
    relevance: float = 1.0
    path: str = ""
    lines: tuple[int, int] | None = None  # None = not of a file


class ExtraSources(Protocol):
    """Each method returns extras for a text, best first, in about `budget` tokens."""

    def code(self, text: str, budget: int) -> Sequence[Extra]: ...

    def past_work(self, text: str, budget: int) -> Sequence[Extra]: ...

    def memories(self, text: str, budget: int) -> Sequence[Extra]: ...


class EngineSources:
    def __init__(self, engine: WindowEngine, session: str) -> None:
        self._engine = engine
        self._session = session
        self._told = Told(has_started=True)  # the window asks for what each message needs

    def code(self, text: str, budget: int) -> Sequence[Extra]:
        relevant = self._engine.relevant(text, budget=budget, patient=False)
        return [
            Extra(
                f"{snippet.path}:{snippet.lines[0]}-{snippet.lines[1]}\n{snippet.text}",
                ItemType.CODE,
                min(snippet.score, 1.0),
                snippet.path,
                snippet.lines,
            )
            for snippet in relevant.snippets
        ]

    def past_work(self, text: str, budget: int) -> Sequence[Extra]:
        if not self._engine.episodes.on:
            return []
        similar = self._engine.episodes.similar_tasks(text, SIMILAR)
        return [
            Extra(
                f"Past work: {task.description}: {task.outcome or task.status}"
                + (f" ({', '.join(task.files[:_FILES])})" if task.files else ""),
                relevance=0.8,
            )
            for task in (past.task for past in similar)
            if task.session != self._session
        ]

    def memories(self, text: str, budget: int) -> Sequence[Extra]:
        request = DeliveryRequest(
            Moment.PROMPT, text, session=self._session, host=_HOST, budget=max(budget, 1)
        )
        delivery = self._engine.delivery.compose(request, self._told)
        return [Extra(delivery.text)] if delivery.text else []


def gather(
    searches: Mapping[str, Callable[[], Sequence[Extra]]], deadline: float
) -> dict[str, Sequence[Extra]]:
    """Run searches in parallel and return their results; one that fails or exceeds `deadline` seconds has none.

    A search that is late goes on in its thread. The interpreter waits for it before it exits: a thread that is cut off
    inside a model aborts the process.
    """
    executor = ThreadPoolExecutor(len(searches), "recollect-search")
    running = {executor.submit(search): name for name, search in searches.items()}
    executor.shutdown(wait=False)
    results: dict[str, Sequence[Extra]] = dict.fromkeys(searches, ())
    for search in wait(running, deadline).done:
        try:
            results[running[search]] = search.result()
        except Exception:  # extras are optional: the message goes out without them
            logger.exception("The search for %s failed.", running[search])
    return results
