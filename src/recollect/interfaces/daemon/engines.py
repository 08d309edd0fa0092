"""Engines for the projects that are being worked on, open as long as they are; the model is loaded once for all."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.code import project as places
from recollect.config import Settings
from recollect.context.embedder import Embedder
from recollect.engine import Engine
from recollect.errors import NoSuchFolder, RecollectError

if TYPE_CHECKING:
    from recollect.context.embedder import Rows

logger = logging.getLogger(__name__)

ACTOR = "agent:hook"


@dataclass(slots=True)
class _Open:
    engine: Engine
    users: int = 0
    left: float = field(default_factory=time.monotonic)  # when it was last used


class _Remembering:
    """An embedder that knows the last texts again: a look asks for the same one twice."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._one = lru_cache(maxsize=64)(lambda text: embedder.embed([text]))

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> "Rows":
        return self._one(texts[0]) if len(texts) == 1 else self._embedder.embed(texts)

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return self._embedder.embed_each(batches)


class Engines:
    """From any thread. An engine is closed only while nobody uses it."""

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self._settings = settings
        self._embedder: Embedder | None = embedder and _Remembering(embedder)
        self._open: dict[places.Place, _Open] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def at(self, folder: str, *, passing: bool = False) -> Iterator[Engine]:
        """The engine for `folder`, as git has it now: after a change of branch it is another. Raises `NoSuchFolder`.

        A look in passing does not keep it from being closed.
        """
        if not folder:
            raise NoSuchFolder(folder)
        place = places.look(Path(folder))
        with self._lock:
            if place not in self._open:
                self._open[place] = _Open(self._new(place))
            here = self._open[place]
            here.users += 1
        try:
            yield here.engine
        finally:
            with self._lock:
                here.users -= 1
                if not passing:
                    here.left = time.monotonic()

    def _new(self, place: places.Place) -> Engine:
        engine = Engine.open(place.folder, settings=self._settings, embedder=self._embedder, actor=ACTOR)
        if self._embedder is None:  # the first one: all others share its model
            self._embedder = engine.embedder = _Remembering(engine.embedder)
        return engine

    def __len__(self) -> int:
        return len(self._open)

    def folders(self) -> list[str]:
        with self._lock:
            return [str(place.folder) for place in self._open]

    def close_idle(self, seconds: float = 0.0) -> int:
        """Close those that nobody has used for so long; how many. Backups and compaction are done then."""
        now = time.monotonic()
        with self._lock:
            idle = [
                place for place, here in self._open.items() if not here.users and now - here.left >= seconds
            ]
            closing = [self._open.pop(place).engine for place in idle]
        for engine in closing:
            try:
                engine.close()
            except (RecollectError, OSError):
                logger.exception("an engine could not be looked after when it was closed")
        return len(closing)
