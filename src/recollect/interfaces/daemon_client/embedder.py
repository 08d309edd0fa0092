"""Vectors from the daemon, which has the model loaded, or from a model of our own if no daemon runs."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.config import Settings
from recollect.context.embedder import Embedder, ForwardingEmbedder
from recollect.embed.open import open_embedder
from recollect.interfaces.daemon_client import protocol

if TYPE_CHECKING:
    from recollect.context.embedder import Rows

MOST_TEXTS = 16  # more are worth loading the model for
SECONDS = 1.0  # that an answer may take; loading the model takes as long


def from_daemon(settings: Settings) -> Embedder | None:
    """Return an embedder that asks the daemon; None if none runs, or the model is not the one that Recollect brings."""
    if settings.embedder != "minilm" or settings.embedder_path:
        return None
    if not any((settings.home / name).exists() for name in (protocol.SOCKET, protocol.TOKEN)):
        return None
    own = open_embedder(settings.embedder, providers=settings.embedder_providers)
    return DaemonEmbedder(str(settings.home), own)


class DaemonEmbedder(ForwardingEmbedder):
    """Makes the same vectors as `own`, without loading it as long as the daemon answers."""

    def __init__(self, home: str, own: Embedder) -> None:
        super().__init__(own)
        self._home = home
        self._daemon_failed = False  # to answer, once

    def embed(self, texts: Sequence[str]) -> "Rows":
        if self._daemon_failed or not 0 < len(texts) <= MOST_TEXTS:
            return super().embed(texts)
        try:
            body = json.dumps(list(texts)).encode()
            rows = protocol.ask(self._home, "embed", (self.model,), body, SECONDS)
        except protocol.NoAnswer:
            self._daemon_failed = True
            return super().embed(texts)
        import numpy as np

        return np.frombuffer(rows, "<f4").reshape(len(texts), -1)
