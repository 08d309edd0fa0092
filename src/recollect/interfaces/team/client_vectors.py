"""Vectors that a client makes itself: the server's model never sees its texts."""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.context.embedder import Embedder, ForwardingEmbedder
from recollect.errors import ContentRefused, Refused, VectorsNeeded, VectorsTurnedOff

if TYPE_CHECKING:
    from recollect.context.embedder import Rows

UNIT = 0.01  # by which the length of a vector may differ from 1


class ClientEmbedder(ForwardingEmbedder):
    """Knows the vectors that came with a request, and raises `VectorsNeeded` for all others. It is for one request."""

    def __init__(self, embedder: Embedder, model: str, rows: Mapping[str, str]) -> None:
        """`rows` are little-endian 32-bit floats in base64, by text. Raise `Refused` if they are of another model."""
        super().__init__(embedder)
        if model != embedder.model:
            raise Refused(
                f"Your vectors are of the model {model[:100]}, and the team's are of {embedder.model}.",
                "Use the same model, or let the server make them: recollect login URL --embeddings server",
            )
        self._rows = {text: self._vector(data) for text, data in rows.items()}

    def _vector(self, data: str) -> "Rows":
        import numpy as np

        try:
            vector = np.frombuffer(base64.b64decode(data, validate=True), dtype="<f4")
        except (binascii.Error, ValueError) as error:
            raise ContentRefused("A vector is not valid.", "Send it as base64 of 32-bit floats.") from error
        if vector.shape != (self.dim,) or not abs(float(np.linalg.norm(vector)) - 1) < UNIT:
            raise ContentRefused("A vector has another length than the team's.", "Use the same model.")
        return vector

    def embed(self, texts: Sequence[str]) -> "Rows":
        import numpy as np

        missing = tuple(dict.fromkeys(text for text in texts if text not in self._rows))
        if missing:
            raise VectorsNeeded(missing)
        return np.stack([self._rows[text] for text in texts]).astype("float32")

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return (self.embed(batch) for batch in batches)


class NoVectors(ForwardingEmbedder):
    """Makes no vectors, for a person who does not agree that the server makes them: words are searched without."""

    def embed(self, texts: Sequence[str]) -> "Rows":
        raise VectorsTurnedOff

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return (self.embed(batch) for batch in batches)
