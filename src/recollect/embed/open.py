"""The one place that knows which embedders there are."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.context.embedder import Embedder
from recollect.embed.minilm import MiniLM
from recollect.errors import BadSetting, EmbedderUnavailable, UnknownName, VectorsTurnedOff

if TYPE_CHECKING:
    from recollect.context.embedder import Rows


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
    """Raises `UnknownName` or `BadSetting`; loads nothing and calls no one."""
    if embedder == "minilm":
        return MiniLM(providers, path)
    if embedder == "none":
        return NoEmbedder()
    if embedder != "http":
        raise UnknownName("embedder", embedder, ["minilm", "http", "none"])
    if not url or not model:
        raise BadSetting(
            "An embedder behind HTTP needs `embedder_url` and `embedder_model`.",
            'For Ollama: "http://localhost:11434/v1" and "nomic-embed-text".',
        )
    from recollect.embed.http import HttpEmbedder  # 25 ms of urllib and ssl

    return HttpEmbedder(url, model, key, dim)


class NoEmbedder:
    """For those who want no vectors, or do not have them yet: everything goes by words."""

    model = "none"
    dim = 0

    def __init__(self, reason: EmbedderUnavailable | None = None) -> None:
        self._reason = reason or VectorsTurnedOff()

    def embed(self, texts: Sequence[str]) -> "Rows":
        raise self._reason

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return map(self.embed, batches)
