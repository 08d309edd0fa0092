"""Open engines for the projects in use, shared by the daemon and the MCP server.

`EnginePool.use` lends the engine for a folder and an actor, and opens it if needed. `EngineOpener` opens engines that
share one embedder, so that its model is loaded once. Nothing of the engine is imported before the first use: the MCP
server answers its handshake without it.
"""

import contextlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.context.embedder import ForwardingEmbedder
from recollect.embed.pair_reader import BundledReader
from recollect.errors import NoSuchFolder, RecollectError

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.context.embedder import Embedder, Rows
    from recollect.context.project import ProjectFolder
    from recollect.engine import Engine

logger = logging.getLogger(__name__)

Opener = Callable[[Path, str], "Engine"]  # for a folder and an actor


@dataclass(slots=True)
class _PooledEngine:
    engine: "Engine"
    users: int = 0
    last_used: float = field(default_factory=time.monotonic)


class EnginePool:
    """Keeps engines open between uses, from any thread. An engine is closed only while nobody uses it."""

    def __init__(self, opener: Opener, *, max_open: int | None = None) -> None:
        """Close the least recently used engines when more than `max_open` are open; None = keep all."""
        self._opener = opener
        self._max_open = max_open
        self._engines: OrderedDict[tuple[ProjectFolder, str], _PooledEngine] = OrderedDict()
        self._opening: dict[tuple[ProjectFolder, str], threading.Lock] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def use(self, folder: Path | str, actor: str, *, keep_open: bool = True) -> "Iterator[Engine]":
        """Yield the engine for the project and branch that `folder` is on now.

        With `keep_open=False` the use does not count when `close_idle` looks for idle engines. Raise `NoSuchFolder` if
        there is no such folder.
        """
        pooled = self._acquire(folder, actor)
        try:
            yield pooled.engine
        finally:
            self._release(pooled, keep_open)

    def _acquire(self, folder: Path | str, actor: str) -> _PooledEngine:
        from recollect.context.project import locate

        if not str(folder):
            raise NoSuchFolder(folder)
        place = locate(Path(folder))
        key = (place, actor)
        if (pooled := self._acquire_open(key)) is not None:
            return pooled
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:  # of this engine: one that does not open must not keep others from opening
            if (pooled := self._acquire_open(key)) is not None:
                return pooled
            engine = self._opener(place.folder, actor)
            with self._lock:
                self._opening.pop(key, None)
                self._engines[key] = pooled = _PooledEngine(engine, users=1)
            return pooled

    def _acquire_open(self, key: "tuple[ProjectFolder, str]") -> _PooledEngine | None:
        with self._lock:
            pooled = self._engines.get(key)
            if pooled is not None:
                self._engines.move_to_end(key)
                pooled.users += 1
            return pooled

    def _release(self, pooled: _PooledEngine, keep_open: bool) -> None:
        with self._lock:
            pooled.users -= 1
            if keep_open:
                pooled.last_used = time.monotonic()
            surplus = 0 if self._max_open is None else max(len(self._engines) - self._max_open, 0)
            closing = self._remove(self._idle()[:surplus])
        _close_all(closing)

    def close_idle(self, seconds: float = 0.0) -> int:
        """Close the engines that nobody has used for `seconds` and return how many; closing runs due maintenance."""
        now = time.monotonic()
        with self._lock:
            idle = [key for key in self._idle() if now - self._engines[key].last_used >= seconds]
            closing = self._remove(idle)
        _close_all(closing)
        return len(closing)

    def close(self) -> None:
        """Close every engine, also those in use."""
        with self._lock:
            closing = self._remove(list(self._engines))
        _close_all(closing)

    def folders(self) -> list[str]:
        """Return the folders of the open engines, least recently used first."""
        with self._lock:
            return [str(place.folder) for place, _ in self._engines]

    def __len__(self) -> int:
        return len(self._engines)

    def _idle(self) -> "list[tuple[ProjectFolder, str]]":
        return [key for key, pooled in self._engines.items() if not pooled.users]

    def _remove(self, keys: "Sequence[tuple[ProjectFolder, str]]") -> "list[Engine]":
        return [self._engines.pop(key).engine for key in keys]


class EngineOpener:
    """Opens engines that share the embedder of the first one, and a reader."""

    def __init__(
        self,
        settings: "Callable[[], Settings]",
        embedder: "Callable[[Settings], Embedder | None]" = lambda settings: None,
    ) -> None:
        """`settings` loads the settings of a new engine; `embedder` names one to use instead of the settings' own."""
        self._settings = settings
        self._find_embedder = embedder
        self._embedder: Embedder | None = None  # None until the first engine is open
        self._reader = BundledReader()
        self._first = threading.Lock()

    def __call__(self, folder: Path, actor: str) -> "Engine":
        if self._embedder is not None:
            return self._open(folder, actor)
        with self._first:  # the others share its embedder
            return self._open(folder, actor)

    def _open(self, folder: Path, actor: str) -> "Engine":
        from recollect.engine import Engine

        settings = self._settings()
        embedder = self._embedder or self._find_embedder(settings)
        engine = Engine.open(folder, actor=actor, settings=settings, embedder=embedder, reader=self._reader)
        if self._embedder is not None:
            return engine
        self._embedder = CachingEmbedder(engine.embedder)
        shared = Engine(replace(engine.context, embedder=self._embedder))
        shared.measures = engine.measures  # which time the embedder
        return shared


class CachingEmbedder(ForwardingEmbedder):
    """An embedder that keeps the vectors of its last single texts: recall embeds the same prompt twice."""

    def __init__(self, embedder: "Embedder") -> None:
        super().__init__(embedder)
        self._embed_one = lru_cache(maxsize=64)(lambda text: embedder.embed([text]))

    def forget(self) -> None:
        """Drop the vectors that are kept."""
        self._embed_one.cache_clear()

    def embed(self, texts: Sequence[str]) -> "Rows":
        return self._embed_one(texts[0]) if len(texts) == 1 else super().embed(texts)


def _close_all(engines: "Sequence[Engine]") -> None:
    for engine in engines:
        try:
            engine.close()
        except (RecollectError, OSError):
            logger.exception("maintenance failed while an engine was closed")
