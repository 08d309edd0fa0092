"""A search by words and by meaning, each hit with its reasons."""

from collections.abc import Sequence
from time import perf_counter

import recollect.model as m
from recollect.embed.protocol import Embedder
from recollect.errors import EmbedderUnavailable, Refused
from recollect.store.protocol import Store

CANDIDATES = 100  # of each channel
WORDS = MEANING = 0.5  # share of each channel in the score
NEAR_ENOUGH = 0.25  # below this cosine two texts have nothing to do with each other
LONGEST_QUERY = 20_000  # characters; the rest of a pasted file tells nothing new


def search(
    store: Store,
    embedder: Embedder,
    view: m.View,
    query: str,
    limit: int,
    *,
    tag: str | None = None,
    file: str | None = None,
) -> m.Answer:
    """Best first. Without vectors it goes by words alone and says so. Raises `Refused` for an empty query."""
    begin = perf_counter()
    text = query[:LONGEST_QUERY].strip()
    if not text:
        raise Refused(
            "There is nothing to search for: the query is empty.", "`recollect list` shows everything."
        )
    words = store.match(view, text, CANDIDATES)
    notes: tuple[str, ...] = ()
    try:
        vector = embedder.embed([text])[0].astype("<f4").tobytes()
        near = store.near(view, embedder.model, vector, CANDIDATES, NEAR_ENOUGH)
    except EmbedderUnavailable as error:
        near = []
        if not error.by_choice:
            notes = (f"By words only: {error.message} {error.hint}".strip(),)
    ranked = _fuse(words, near)
    found = store.get_many([each for each, _, _ in ranked])
    hits = [m.Hit(found[name], score, why) for name, score, why in ranked if name in found]
    hits = [hit for hit in hits if _fits(hit.memory, tag, file)][:limit]
    return m.Answer(tuple(hits), bool(notes), round((perf_counter() - begin) * 1000, 2), notes)


def _fits(memory: m.Memory, tag: str | None, file: str | None) -> bool:
    if tag is not None and tag not in memory.tags:
        return False
    return file is None or any(path == file or path.endswith(f"/{file}") for path in memory.file_paths)


def _fuse(
    words: Sequence[tuple[str, float]], near: Sequence[tuple[str, float]]
) -> list[tuple[str, float, dict[str, object]]]:
    """Both channels on one scale, added up: what `why` shows is what the score is made of."""
    best = max((score for _, score in words), default=0.0)
    parts: dict[str, dict[str, object]] = {}
    totals: dict[str, float] = {}
    for channel, share, ranked, scale in (("words", WORDS, words, best), ("meaning", MEANING, near, 1.0)):
        for rank, (name, score) in enumerate(ranked, start=1):
            part = share * score / scale if scale > 0 else 0.0
            parts.setdefault(name, {})[channel] = {
                "rank": rank,
                "score": round(score, 4),
                "part": round(part, 4),
            }
            totals[name] = totals.get(name, 0.0) + part
    order = sorted(totals, key=lambda name: (-totals[name], name))
    return [(name, round(totals[name], 4), parts[name]) for name in order]
