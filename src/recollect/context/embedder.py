"""What every embedder promises."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Can be used from any thread. Vectors of different `model`s are never compared.

    Making one costs nothing: what is heavy or far away is loaded or asked at the first text.
    Whatever goes wrong then is an `EmbedderUnavailable`, from every member.
    """

    @property
    def model(self) -> str:
        """Names the space the vectors live in, and is kept beside each of them.

        "all-MiniLM-L6-v2" is the bundled model, "name@9f3ac01b22de" another ONNX model with the hash of its
        files, "name@host" or "name@host/dim" one behind a server: the same name elsewhere may be another model.
        """

    @property
    def dim(self) -> int:
        """How long a vector is. May embed a word to find out."""

    @property
    def query_prefix(self) -> str:
        """What the model wants before the text of a query, and not before that of a memory; mostly nothing."""

    def embed(self, texts: Sequence[str]) -> "Rows":
        """One unit row per text, whatever is in the text; a long one counts only with its beginning."""

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        """The rows of each batch, in order, several batches at work while the caller is: for bulk.

        Lazy: a bounded number of batches is read ahead, in the caller's thread. Closing the iterator stops the work.
        """


class ForwardingEmbedder:
    """Passes everything on to another embedder. A subclass overrides what it does differently."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def query_prefix(self) -> str:
        return self._embedder.query_prefix

    def embed(self, texts: Sequence[str]) -> "Rows":
        return self._embedder.embed(texts)

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return self._embedder.embed_each(batches)
