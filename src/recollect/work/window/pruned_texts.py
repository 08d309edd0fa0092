"""Texts that left a context window: redacted in the store or, without an engine, in this process's memory."""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import recollect.model as m
from recollect.context.confirmed_time import confirmed_now
from recollect.errors import StoreError
from recollect.model import PrunedText
from recollect.text import tokens
from recollect.text.redact import redact
from recollect.text.stem import stem
from recollect.text.words import index_text, passages, query_terms
from recollect.work.sessions.events import clean_name
from recollect.work.transcripts.lines import without_surrogates as complete
from recollect.work.window.backing import WindowEngine
from recollect.work.window.item import SHOWN_ID, ContextItem, as_json, from_json

logger = logging.getLogger(__name__)

# Keys of identifiers in a part or a block, which must not be redacted.
_NAMES = frozenset("part id call name type tool_use_id tool_call_id media_type format signature".split())
_FREE = frozenset({"input", "fields"})  # below these, any key may hold any text


class PrunedTexts(Protocol):
    def put(self, texts: Sequence[PrunedText]) -> None: ...

    def get(self, name: str) -> PrunedText | None:
        """Return the text with this id, or whose id ends so."""

    def find(self, query: str, limit: int) -> list[PrunedText]:
        """Return the texts that share most words with `query`, best first."""

    def save(self, items: Mapping[str, tuple[int, ContextItem]], gone: Iterable[str]) -> None:
        """Save the items that are new or changed, with their positions, and delete those with the ids in `gone`."""

    def load(self) -> list[ContextItem]:
        """Return the items of the window as they were last saved."""


class StoredTexts:
    """Stores texts for `pruned_days`; with 0 days it stores nothing."""

    def __init__(self, engine: WindowEngine, session: str, clock: m.Clock) -> None:
        self._store = engine.store.pruned
        self._engine_store = engine.store
        self._user = engine.settings.user
        self._project = engine.project.id if engine.project else None
        self._days = engine.settings.pruned_days
        self._session = session
        self._clock = clock
        self._fallback = InMemoryTexts()  # used while the store cannot be written to

    def put(self, texts: Sequence[PrunedText]) -> None:
        if not self._days:
            return
        redacted = [text._replace(gist=redact(text.gist)[0], text=redact(text.text)[0]) for text in texts]
        try:
            self._store.drop_before(_oldest(confirmed_now(self._engine_store, self._clock), self._days))
            self._store.put(self._user, self._project, redacted)
        except StoreError as error:
            logger.warning("Pruned texts are kept in this process only: %s", error)
            self._fallback.put(redacted)

    def get(self, name: str) -> PrunedText | None:
        return self._fallback.get(name) or self._store.get(self._user, name, self._session)

    def find(self, query: str, limit: int) -> list[PrunedText]:
        stored = self._store.find(self._user, self._session, query, limit)
        return [*stored, *self._fallback.find(query, limit)][:limit]

    def save(self, items: Mapping[str, tuple[int, ContextItem]], gone: Iterable[str]) -> None:
        if self._days:
            rows = {name: (position, _redacted(item)) for name, (position, item) in items.items()}
            try:
                self._store.save_window(self._user, self._project, self._session, self._clock(), rows, gone)
            except StoreError as error:
                logger.warning("The window was not saved: %s", error)

    def load(self) -> list[ContextItem]:
        return [from_json(row) for row in self._store.window(self._user, self._session)]


class InMemoryTexts:
    """Keeps texts as long as this process runs."""

    def __init__(self) -> None:
        self._texts: dict[str, PrunedText] = {}
        self._passages: list[tuple[str, frozenset[str]]] = []  # with the id of the text
        self._spread: Counter[str] = Counter()  # number of passages that have a word

    def put(self, texts: Sequence[PrunedText]) -> None:
        for text in texts:
            if text.id in self._texts:
                continue
            self._texts[text.id] = text
            for passage in passages(f"{text.gist}\n{text.text}"):
                words = frozenset(map(stem, query_terms(index_text(passage), limit=1_000)))
                self._passages.append((text.id, words))
                self._spread.update(words)

    def get(self, name: str) -> PrunedText | None:
        if name in self._texts or len(name) < SHOWN_ID:
            return self._texts.get(name)
        return next((text for key, text in reversed(self._texts.items()) if key.endswith(name)), None)

    def find(self, query: str, limit: int) -> list[PrunedText]:
        rarity = {
            word: math.log(1 + len(self._passages) / self._spread[word])
            for word in map(stem, query_terms(query))
            if word in self._spread
        }
        best: dict[str, float] = {}
        for name, words in self._passages:
            score = math.fsum(weight for word, weight in rarity.items() if word in words)
            best[name] = max(best.get(name, 0.0), score)
        first = sorted(best, key=best.__getitem__, reverse=True)[:limit]
        return [self._texts[name] for name in first if best[name]]

    def save(self, items: Mapping[str, tuple[int, ContextItem]], gone: Iterable[str]) -> None:
        """Do nothing: a window without an engine cannot be recovered."""

    def load(self) -> list[ContextItem]:
        return []


def _redacted(item: ContextItem) -> dict[str, Any]:
    """Return an item as data without secrets; identifiers and pictures stay as they are."""
    data = as_json(item)
    return data | {
        name: _clean(data[name], name not in _FREE) for name in ("parts", "fields", "gists", "path")
    }


def _clean(value: Any, names: bool) -> Any:
    """Redact all texts in `value`; with `names`, the keys in `_NAMES` hold identifiers, which stay."""
    if isinstance(value, str):
        return value if names and value.startswith("data:image/") else redact(value)[0]
    if isinstance(value, Mapping):
        unchanged = _NAMES | {"data"} if "media_type" in value and value.get("type") == "base64" else _NAMES
        return {
            key: item if names and key in unchanged else _clean(item, names and key not in _FREE)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_clean(item, names) for item in value]
    return value


def store_outputs(
    engine: WindowEngine, session: str, tool: str, whole: Mapping[str, str], now: datetime
) -> bool:
    """Store the whole outputs, by id, that are shown shortened. Return False if the settings store nothing.

    Raise `StoreError` if they cannot be written.
    """
    days = engine.settings.pruned_days
    if not days:
        return False
    project = engine.project.id if engine.project else None
    texts = [
        PrunedText(name, session, None, now, clean_name(tool), redact(complete(text))[0], tokens.count(text))
        for name, text in whole.items()
    ]
    engine.store.pruned.drop_before(_oldest(min(now, confirmed_now(engine.store, m.utc_now)), days))
    engine.store.pruned.put(engine.settings.user, project, texts)
    return True


def stored_text(engine: WindowEngine, name: str, *, anywhere: bool = False) -> PrunedText | None:
    """Return a text that left a window or was shortened, by its id or the end of it: of this project, or of any."""
    store, user = engine.store.pruned, engine.settings.user
    if anywhere:
        return store.get(user, name)
    return store.get_in_project(user, engine.project.id if engine.project else None, name)


def _oldest(now: datetime, days: int) -> datetime:
    return now - timedelta(days=min(days, 36_500))
