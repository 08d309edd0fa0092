"""What episodes are told of a window: code that left it was looked at, and what was in it at a moment."""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from recollect.errors import RecollectError
from recollect.work.window.backing import Backing
from recollect.work.window.gist import gist_of
from recollect.work.window.item import ContextItem, ItemType
from recollect.work.window.pairs import Unit


class Diary(Protocol):
    def removed(self, units: Iterable[Unit]) -> None:
        """They are about to leave the window."""

    def snapshot(
        self, items: Sequence[ContextItem], gone: Sequence[Unit], task: str | None, reason: str
    ) -> None:
        """What is in the window now, and what has just gone: sizes and summaries, never the texts."""


class EngineDiary:
    """Notes are a help: where the store cannot take one, the work goes on without it."""

    def __init__(self, engine: Backing, session: str) -> None:
        self._engine = engine
        self._session = session

    def removed(self, units: Iterable[Unit]) -> None:
        shown = (item for unit in units for item in unit.items if item.type is ItemType.CODE and item.path)
        with contextlib.suppress(RecollectError):
            for item in shown:
                self._engine.episodes.touch(
                    item.path, session=self._session, lines=item.lines, context="left the context window"
                )

    def snapshot(
        self, items: Sequence[ContextItem], gone: Sequence[Unit], task: str | None, reason: str
    ) -> None:
        with contextlib.suppress(RecollectError):
            self._engine.episodes.snapshot(
                self._session,
                [_told(item) for item in items],
                sum(item.tokens for item in items),
                pruned=[_told(unit.items[0]) | _summary(unit) for unit in gone],
                reason=reason,
                task=task,
            )


def _told(item: ContextItem) -> dict[str, Any]:
    return {"id": item.id, "type": str(item.type), "tokens": item.tokens, "relevance": item.relevance}


def _summary(unit: Unit) -> dict[str, Any]:
    """What a model said is not kept, not even its first line."""
    first = unit.items[0]
    said = first.type is ItemType.ASSISTANT and not first.calls
    return {"tokens": unit.tokens} if said else {"tokens": unit.tokens, "summary": gist_of(unit)}
