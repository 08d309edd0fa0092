"""Where the text of what left a window is kept: in the store, redacted, or in this process where there is no engine."""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import recollect.model as m
from recollect.errors import StoreError
from recollect.model import PrunedText
from recollect.text import tokens
from recollect.text.redact import redact
from recollect.text.stem import stem
from recollect.text.terms import passages, searchable, terms
from recollect.work.sessions.kept import label
from recollect.work.transcripts.lines import whole as complete
from recollect.work.window.backing import Backing
from recollect.work.window.item import SHOWN_ID, ContextItem, as_json, from_json

logger = logging.getLogger(__name__)

# What names something in a part or a block, and would not work again if it were redacted.
_NAMES = frozenset("part id call name type tool_use_id tool_call_id media_type format signature".split())
_FREE = frozenset({"input", "fields"})  # below these, any name may stand for any text


class Kept(Protocol):
    def put(self, texts: Sequence[PrunedText]) -> None: ...

    def get(self, name: str) -> PrunedText | None:
        """By its id or the end of one."""

    def find(self, query: str, limit: int) -> list[PrunedText]:
        """Those that share most words with `query`, best first."""

    def save(self, items: Mapping[str, tuple[int, ContextItem]], gone: Iterable[str]) -> None:
        """Items of the window that are new or changed, with their positions, and the ids of those that left."""

    def load(self) -> list[ContextItem]:
        """The window as it was last saved."""


class KeptInStore:
    """For as many days as the settings say; none keep nothing."""

    def __init__(self, engine: Backing, session: str, clock: m.Clock) -> None:
        self._shelf = engine.store.pruned
        self._user = engine.settings.user
        self._project = engine.project.id if engine.project else None
        self._days = engine.settings.pruned_days
        self._session = session
        self._clock = clock
        self._here = KeptHere()  # for when the store cannot be written to

    def put(self, texts: Sequence[PrunedText]) -> None:
        if not self._days:
            return
        redacted = [each._replace(gist=redact(each.gist)[0], text=redact(each.text)[0]) for each in texts]
        try:
            self._shelf.drop_before(_oldest(self._clock(), self._days))
            self._shelf.put(self._user, self._project, redacted)
        except StoreError as error:
            logger.warning("What left the window is kept in this process only: %s", error)
            self._here.put(redacted)

    def get(self, name: str) -> PrunedText | None:
        return self._here.get(name) or self._shelf.get(self._user, name, self._session)

    def find(self, query: str, limit: int) -> list[PrunedText]:
        found = self._shelf.find(self._user, self._session, query, limit)
        return [*found, *self._here.find(query, limit)][:limit]

    def save(self, items: Mapping[str, tuple[int, ContextItem]], gone: Iterable[str]) -> None:
        if self._days:
            told = {name: (position, _redacted(item)) for name, (position, item) in items.items()}
            try:
                self._shelf.save_window(self._user, self._project, self._session, self._clock(), told, gone)
            except StoreError as error:
                logger.warning("The window was not saved: %s", error)

    def load(self) -> list[ContextItem]:
        return [from_json(told) for told in self._shelf.window(self._user, self._session)]


class KeptHere:
    """As long as this process lives."""

    def __init__(self) -> None:
        self._texts: dict[str, PrunedText] = {}
        self._passages: list[tuple[str, frozenset[str]]] = []  # with the id of the text
        self._spread: Counter[str] = Counter()  # in how many passages a word stands

    def put(self, texts: Sequence[PrunedText]) -> None:
        for text in texts:
            if text.id in self._texts:
                continue
            self._texts[text.id] = text
            for passage in passages(f"{text.gist}\n{text.text}"):
                words = frozenset(map(stem, terms(searchable(passage), limit=1_000)))
                self._passages.append((text.id, words))
                self._spread.update(words)

    def get(self, name: str) -> PrunedText | None:
        if name in self._texts or len(name) < SHOWN_ID:
            return self._texts.get(name)
        return next((text for key, text in reversed(self._texts.items()) if key.endswith(name)), None)

    def find(self, query: str, limit: int) -> list[PrunedText]:
        rarity = {
            word: math.log(1 + len(self._passages) / self._spread[word])
            for word in map(stem, terms(query))
            if word in self._spread
        }
        best: dict[str, float] = {}
        for name, words in self._passages:
            score = math.fsum(weight for word, weight in rarity.items() if word in words)
            best[name] = max(best.get(name, 0.0), score)
        first = sorted(best, key=best.__getitem__, reverse=True)[:limit]
        return [self._texts[name] for name in first if best[name]]

    def save(self, items: Mapping[str, tuple[int, ContextItem]], gone: Iterable[str]) -> None:
        """A window without an engine lives in this process only."""

    def load(self) -> list[ContextItem]:
        return []


def _redacted(item: ContextItem) -> dict[str, Any]:
    """To be kept: no secret in what was said, called or answered; names, ids and pictures stay as they are."""
    told = as_json(item)
    return told | {
        name: _clean(told[name], name not in _FREE) for name in ("parts", "fields", "gists", "path")
    }


def _clean(value: Any, names: bool) -> Any:
    """`names` says whether what is called a name is one."""
    if isinstance(value, str):
        return value if names and value.startswith("data:image/") else redact(value)[0]
    if isinstance(value, Mapping):
        told = _NAMES | {"data"} if "media_type" in value and value.get("type") == "base64" else _NAMES
        return {
            key: each if names and key in told else _clean(each, names and key not in _FREE)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_clean(each, names) for each in value]
    return value


def keep_outputs(engine: Backing, session: str, tool: str, whole: Mapping[str, str], now: datetime) -> bool:
    """Keep outputs that are shown shortened, by their ids; False where the settings keep nothing. Raises `StoreError`."""
    days = engine.settings.pruned_days
    if not days:
        return False
    project = engine.project.id if engine.project else None
    texts = [
        PrunedText(name, session, None, now, label(tool), redact(complete(text))[0], tokens.count(text))
        for name, text in whole.items()
    ]
    engine.store.pruned.drop_before(_oldest(now, days))
    engine.store.pruned.put(engine.settings.user, project, texts)
    return True


def kept_text(engine: Backing, name: str, *, anywhere: bool = False) -> PrunedText | None:
    """What left a window or was shortened, by its id or the end of one: in this project, or in any."""
    shelf, user = engine.store.pruned, engine.settings.user
    if anywhere:
        return shelf.get(user, name)
    return shelf.get_in(user, engine.project.id if engine.project else None, name)


def _oldest(now: datetime, days: int) -> datetime:
    return now - timedelta(days=min(days, 36_500))
