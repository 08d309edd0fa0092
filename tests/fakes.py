"""What stands in for the clock and the embedding model: small, by hand, and the same on every run."""

import hashlib
import re
from datetime import UTC, datetime, timedelta

import numpy as np

from recollect.errors import EmbedderUnavailable


class FakeClock:
    """Stands still until it is told to advance."""

    def __init__(self, now=datetime(2026, 1, 1, 12, tzinfo=UTC)):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, **span):
        self.now += timedelta(**span)
        return self.now


class FakeEmbedder:
    """Each word has a direction of its own, so texts that share words are near. `broken` makes it unavailable."""

    query_prefix = ""

    def __init__(self, model="fake", dim=64):
        self.model = model
        self.dim = dim
        self.broken = False
        self.texts = []  # all that was ever asked for

    def embed(self, texts):
        if self.broken:
            raise EmbedderUnavailable("The fake model is broken.", "Mend it.")
        self.texts += texts
        return np.stack([self._vector(text) for text in texts]) if texts else np.empty((0, self.dim), "f4")

    def embed_each(self, batches):
        return map(self.embed, batches)

    def _vector(self, text):
        words = re.findall(r"\w+", text.lower()) or [""]
        total = np.sum([self._direction(word) for word in words], axis=0)
        return (total / np.linalg.norm(total)).astype("<f4")

    def _direction(self, word):
        seed = int.from_bytes(hashlib.sha256(f"{self.model} {word}".encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.dim)
