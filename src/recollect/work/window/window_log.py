"""A log of a context window in episodes: code that left the window, and snapshots of its contents."""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from recollect.errors import RecollectError
from recollect.work.window.backing import WindowEngine
from recollect.work.window.gist import gist_of
from recollect.work.window.item import ContextItem, ItemType
from recollect.work.window.pairs import Unit


class WindowLog(Protocol):
    def removed(self, units: Iterable[Unit]) -> None:
        """Log units that are about to leave the window."""

    def snapshot(
        self, items: Sequence[ContextItem], gone: Sequence[Unit], task: str | None, reason: str
    ) -> None:
        """Log what is in the window now and what has just left it: sizes and summaries, never texts."""


class EngineWindowLog:
    """Writes the log through the engine's episodes. A store that cannot be written to costs the log only."""

    def __init__(self, engine: WindowEngine, session: str) -> None:
        self._engine = engine
        self._session = session

    def removed(self, units: Iterable[Unit]) -> None:
        code = (item for unit in units for item in unit.items if item.type is ItemType.CODE and item.path)
        with contextlib.suppress(RecollectError):
            for item in code:
                self._engine.episodes.touch(
                    item.path, session=self._session, lines=item.lines, context="left the context window"
                )

    def snapshot(
        self, items: Sequence[ContextItem], gone: Sequence[Unit], task: str | None, reason: str
    ) -> None:
        with contextlib.suppress(RecollectError):
            self._engine.episodes.snapshot(
                self._session,
                [_as_data(item) for item in items],
                sum(item.tokens for item in items),
                pruned=[_as_data(unit.items[0]) | _summary(unit) for unit in gone],
                reason=reason,
                task=task,
            )


def _as_data(item: ContextItem) -> dict[str, Any]:
    return {"id": item.id, "type": str(item.type), "tokens": item.tokens, "relevance": item.relevance}


def _summary(unit: Unit) -> dict[str, Any]:
    """Return the size of a unit and a summary, except of a model's answer, which is never stored."""
    first = unit.items[0]
    is_answer = first.type is ItemType.ASSISTANT and not first.calls
    return {"tokens": unit.tokens} if is_answer else {"tokens": unit.tokens, "summary": gist_of(unit)}
