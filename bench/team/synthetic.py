"""Vectors without a model: each text has a random direction, always the same. What is measured is the server, not the model."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np


class SyntheticVectors:
    """Stands for the model of the local engine and of the server alike."""

    model = "all-MiniLM-L6-v2"
    dim = 384
    query_prefix = ""

    def embed(self, texts: Sequence[str]) -> Any:
        return np.stack([self._vector(text) for text in texts]) if texts else np.empty((0, self.dim), "<f4")

    def embed_each(self, batches: Iterable[Sequence[str]]) -> Iterator[Any]:
        return map(self.embed, batches)

    def _vector(self, text: str) -> Any:
        row = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dim, dtype=np.float32)
        return row / np.linalg.norm(row)


def embedder_named(name: str) -> Any:
    """Return the real model, or vectors without one."""
    if name == "synthetic":
        return SyntheticVectors()
    from recollect.embed.open import open_embedder

    return open_embedder(name)
