"""A small model that reads two statements at once and says how they relate: decision 39.

It is gte-small, trained further on pairs of statements (`bench/pair_reader.py`). The layers are in `data/pair_reader.onnx`, with eight
bits per weight, and the word vectors in `data/pair_words.npz`, with four.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from recollect.context.pair_reader import Relatedness

MODEL = Path(__file__).with_name("data") / "pair_reader.onnx"
WORDS = "pair_words.npz"  # beside the model
LONGEST = 64  # word pieces of a statement that count, as in training
MAX_CHARS = 1_024  # of a statement; holds as many pieces of any prose
THREADS = 2  # somebody waits for the answer
BESIDE = 0.7  # probability from which the first reading is enough
# Pieces per plain word, below which a text is read. The model was trained on English: of twelve unrelated sentences in German it called
# fourteen pairs contradictions. English statements have 1.1 (95 % up to 1.4), those of other languages 1.5 and more. Short ones with names
# of tools have as many ("Build the wasm module with wasm-pack"): one word in five that only English has shows that they are English.
ENGLISH = 1.5
PERHAPS_ENGLISH = 2.5
FEW_ENGLISH = 0.2
_ONLY_ENGLISH = frozenset(
    "the are for from with by and not never always only uses used run runs our its this that when before after must should does don't "
    "keep kept have has had than into each every been at were which what who how there here because they them you your user "
    "doesn't isn't aren't can't that's".split()
)
HOLDS_BESIDE = Relatedness(0.0, 0.0, 1.0)  # of what is not read
_PLAIN_WORD = re.compile(r"(?<![\w./`:@-])[^\W\d_]+(?:['’][a-z]{1,3})?(?![\w/`:(=-])")
_START, _END = 101, 102


class BundledReader:
    """Reads pairs of statements with the bundled model, once `load` has been called."""

    name = "pair reader"

    def __init__(self, path: Path = MODEL) -> None:
        self._path = path
        self._network: _Network | None = None
        self._works = True
        self._lock = Lock()

    @property
    def is_loaded(self) -> bool:
        return self._network is not None

    def load(self) -> None:
        with self._lock:
            if self._network is None and self._works:
                try:
                    self._network = _Network(self._path)
                except Exception:  # errors of models, runtimes and files have no common base class
                    self._fail("cannot be loaded")

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relatedness] | None:
        network = self._network
        if network is None or not pairs:
            return None if network is None else []
        try:
            return network.relate(pairs)
        except Exception:
            self._fail("failed and is not asked again")
            return None

    def _fail(self, what: str) -> None:
        import logging  # here, because most processes never load the model

        logger = logging.getLogger(__name__)
        logger.warning("The model %s %s. Reinstall Recollect if this happens again.", self._path, what)
        logger.debug("Its error:", exc_info=True)
        self._network, self._works = None, False


class _Network:
    """The loaded model, with its tokenizer and word vectors."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        from recollect.embed.minilm import bundled_tokenizer, open_session

        self._session = open_session(path, [], THREADS)
        with np.load(path.with_name(WORDS)) as words:
            self._nibbles, self._scales = words["nibbles"], words["scales"]
        self._encode = bundled_tokenizer()

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relatedness]:
        """Return how each pair is read; what does not clearly hold beside each other is read the other way round too."""
        read = [place for place, pair in enumerate(pairs) if all(map(self._is_english, pair))]
        related = [HOLDS_BESIDE] * len(pairs)
        if not read:
            return related
        texts = [[self._pieces(text) for text in pairs[place]] for place in read]
        logits = self._read([_row(one, other) for one, other in texts])
        again = [row for row, found in enumerate(_probabilities(logits)) if found[-1] < BESIDE]
        if again:
            backward = self._read([_row(texts[row][1], texts[row][0]) for row in again])
            logits[again] = (logits[again] + backward) / 2
        for place, found in zip(read, _probabilities(logits).tolist(), strict=True):
            related[place] = Relatedness(*found)
        return related

    def _is_english(self, text: str) -> bool:
        """Return whether the model knows most plain words; those of other languages fall into pieces."""
        words = _PLAIN_WORD.findall(text[:MAX_CHARS])
        pieces = sum(len(self._encode(word)) - 2 for word in words)
        english = sum(word.lower() in _ONLY_ENGLISH for word in words)
        limit = PERHAPS_ENGLISH if english >= FEW_ENGLISH * len(words) else ENGLISH
        return pieces < limit * len(words)

    def _read(self, rows: list[tuple[list[int], list[int]]]) -> Any:
        import numpy as np

        longest = max(len(ids) for ids, _ in rows)
        ids = np.zeros((len(rows), longest), np.int64)
        sides, mask = np.zeros_like(ids), np.zeros(ids.shape, np.float32)
        for number, (pieces, side) in enumerate(rows):
            ids[number, : len(pieces)], sides[number, : len(pieces)] = pieces, side
            mask[number, : len(pieces)] = 1
        words = unpacked(self._nibbles[ids.ravel()], self._scales[ids.ravel()]).reshape(*ids.shape, -1)
        return self._session.run(None, {"words": words, "sides": sides, "mask": mask})[0]

    def _pieces(self, text: str) -> list[int]:
        # The tokenizer fails on a lone surrogate; it becomes "?".
        return self._encode(text[:MAX_CHARS].encode("utf-8", "replace").decode())[1:-1][:LONGEST]


def unpacked(nibbles: Any, scales: Any) -> Any:
    """Return word vectors that are stored with four bits per weight, two in a byte."""
    import numpy as np

    levels = np.stack([nibbles & 15, nibbles >> 4], axis=-1).reshape(len(nibbles), -1)
    return (levels.astype(np.float32) - 8) * scales.astype(np.float32)


def _probabilities(logits: Any) -> Any:
    import numpy as np

    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _row(one: list[int], other: list[int]) -> tuple[list[int], list[int]]:
    """Return the ids of two statements in one row, and which of them each belongs to."""
    return [_START, *one, _END, *other, _END], [0] * (len(one) + 2) + [1] * (len(other) + 1)
