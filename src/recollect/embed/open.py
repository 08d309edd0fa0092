"""`open_embedder`: the only place that knows which embedders there are."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.config import Settings
from recollect.context.embedder import Embedder
from recollect.embed.minilm import MiniLM
from recollect.errors import BadSetting, EmbedderUnavailable, UnknownName, VectorsTurnedOff

if TYPE_CHECKING:
    from recollect.context.embedder import Rows


def embedder_for(settings: Settings, agreed: Collection[str]) -> Embedder:
    """Return the embedder of the settings. A remote server is used only if its address is in `agreed`."""
    url = settings.embedder_url
    if settings.embedder == "http" and not _is_local(url) and url not in agreed:
        return NoEmbedder(
            EmbedderUnavailable(
                f"You have not agreed to send texts of memories to {url}.",
                f"Run `recollect init --agree {url}` to agree.",
            )
        )
    return open_embedder(
        settings.embedder,
        url=url or None,
        model=settings.embedder_model or None,
        key=os.environ.get("RECOLLECT_EMBEDDER_KEY"),
        dim=settings.embedder_dim or None,
        path=Path(settings.embedder_path) if settings.embedder_path else None,
        providers=settings.embedder_providers,
    )


def _is_local(url: str) -> bool:
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def open_embedder(
    embedder: str = "minilm",
    *,
    url: str | None = None,
    model: str | None = None,
    key: str | None = None,
    dim: int | None = None,
    path: Path | None = None,
    providers: str | None = None,
) -> Embedder:
    """Return the embedder that the settings name, without loading a model or calling a server.

    Raise `UnknownName` or `BadSetting`.
    """
    if embedder == "minilm":
        return MiniLM(providers, path)
    if embedder == "none":
        return NoEmbedder()
    if embedder != "http":
        raise UnknownName("embedder", embedder, ["minilm", "http", "none"])
    if not url or not model:
        raise BadSetting(
            'The embedder "http" needs `embedder_url` and `embedder_model`.',
            'For Ollama: "http://localhost:11434/v1" and "nomic-embed-text".',
        )
    from recollect.embed.http import HttpEmbedder  # imports urllib and ssl: 25 ms

    return HttpEmbedder(url, model, key, dim)


class NoEmbedder:
    """Stands in when vectors are turned off or not available: search uses words only."""

    model = "none"
    dim = 0
    query_prefix = ""

    def __init__(self, reason: EmbedderUnavailable | None = None) -> None:
        self._reason = reason or VectorsTurnedOff()

    def embed(self, texts: Sequence[str]) -> "Rows":
        raise self._reason

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return map(self.embed, batches)
