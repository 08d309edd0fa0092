"""The vectors of a model, each text embedded once: kept on disk by the text's hash, as they come."""

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import numpy as np
import numpy.typing as npt

from recollect.embed.minilm import DIM, NAME, MiniLM

Rows = npt.NDArray[np.float32]
BATCH = 32
RECORD = np.dtype([("key", "V16"), ("vector", np.float32, (DIM,))])


class Vectors:
    """One file that grows by a batch at a time; a run cut short goes on where it stopped. One run at a time."""

    def __init__(self, folder: Path, model: Path | None = None) -> None:
        """Keep vectors of MiniLM in `folder`, or of the ONNX model in the folder `model`."""
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = MiniLM(None, model)
        self.prefix = self._embedder.query_prefix
        self._file = folder / f"{NAME if model is None else model.name}.bin"
        self._file.touch()
        whole = self._file.stat().st_size // RECORD.itemsize
        records = np.fromfile(self._file, RECORD, whole)
        self._known = {record["key"].tobytes(): record["vector"] for record in records}
        self._whole = whole * RECORD.itemsize

    def __call__(self, texts: Sequence[str]) -> Rows:
        keys = [hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16] for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            self._embed(missing)
        return np.stack([self._known[key] for key in keys])

    def _embed(self, missing: dict[bytes, str]) -> None:
        todo = sorted(
            missing, key=lambda key: len(missing[key])
        )  # alike in length, so that little is padding
        batches = [todo[i : i + BATCH] for i in range(0, len(todo), BATCH)]
        texts = ([missing[key] for key in batch] for batch in batches)
        begin, done = monotonic(), 0
        os.truncate(self._file, self._whole)
        with self._file.open("ab") as file:
            for batch, vectors in zip(batches, self._embedder.embed_each(texts), strict=True):
                file.write(np.array(list(zip(batch, vectors, strict=True)), RECORD).tobytes())
                file.flush()
                self._known.update(zip(batch, vectors, strict=True))
                done += len(batch)
                if sys.stderr.isatty():
                    seconds = monotonic() - begin
                    print(f"\rembedding {done}/{len(todo)}, {seconds:.0f} s", end="", file=sys.stderr)
        self._whole = self._file.stat().st_size
        if sys.stderr.isatty():
            print(file=sys.stderr)
