"""An optional model of natural-language inference: whether one sentence contradicts another.

It is a folder on this machine with `model.onnx`, `tokenizer.json` and, for a model with other classes than
contradiction, entailment and neutral, `config.json` with their names. It is loaded in a thread, so nobody waits for it:
until then, and if it cannot be loaded, it has no opinion.
"""

import json
import logging
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any

logger = logging.getLogger(__name__)

MAX_CHARS = 2_048  # of each sentence
MAX_PIECES = 160
MARGIN = 2.0  # by which the logit of a contradiction exceeds all others, so that the model counts as sure


class InferenceModel:
    """Whether two texts contradict each other, by a model on disk. Never raises and never waits for the model."""

    name = "nli model"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._network: _Network | None = None
        self._loading: Thread | None = None
        self._lock = Lock()

    def contradicts(self, one: str, other: str) -> bool | None:
        """Return whether either text contradicts the other; None if the model is not loaded."""
        network = self._loaded()
        if network is None:
            return None
        try:
            return _contradict(network.margin, one, other)
        except Exception:  # errors of models and runtimes have no common base class
            logger.exception("the inference model failed and is not asked again")
            self._network = None
            return None

    def load(self) -> None:
        """Load the model now. Benches wait for it; everything else asks and goes on."""
        try:
            self._network = _Network(self._folder)
        except Exception:
            logger.exception("the inference model in %s cannot be loaded", self._folder)

    def _loaded(self) -> "_Network | None":
        with self._lock:
            if self._loading is None and self._network is None:
                # Not a daemon thread: a process that ends while the runtime starts would be aborted.
                self._loading = Thread(target=self.load, name="inference-model")
                self._loading.start()
        return self._network


def _contradict(margin: Callable[[str, str], float], one: str, other: str) -> bool:
    """Return whether either text contradicts the other.

    The second direction, which doubles the time, is asked only where the first leans to a contradiction and is not
    sure: in 48 pairs it changed no answer of the others.
    """
    first = margin(one, other)
    return first > MARGIN or (first > 0 and margin(other, one) > MARGIN)


class _Network:
    def __init__(self, folder: Path) -> None:
        from splintr import from_json

        from recollect.embed.minilm import open_session

        described = folder / "tokenizer.json"
        self._encode = from_json(str(described)).encode_ordinary
        added = json.loads(described.read_text("utf-8"))["added_tokens"]
        special = {token["content"]: int(token["id"]) for token in added}
        self._start = special.get("[CLS]", special.get("<s>", 0))
        self._end = special.get("[SEP]", special.get("</s>", 0))
        self._session = open_session(folder / "model.onnx", [], 1)
        self._inputs = {each.name: each.shape for each in self._session.get_inputs()}
        self._contradiction = _class_of_contradiction(folder / "config.json")

    def margin(self, premise: str, hypothesis: str) -> float:
        """Return by how much the logit of a contradiction exceeds the best of the others."""
        import numpy as np

        first, second = (
            self._encode(text[:MAX_CHARS])[: (MAX_PIECES - 3) // 2] for text in (premise, hypothesis)
        )
        ids = [self._start, *first, self._end, *second, self._end]
        rows = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": [0] * (len(first) + 2) + [1] * (len(second) + 1),
        }
        feed: dict[str, Any] = {}
        for name, shape in self._inputs.items():
            length = shape[1] if isinstance(shape[1], int) else len(ids)
            feed[name] = np.array([(rows[name] + [0] * length)[:length]], np.int64)
        logits = self._session.run(None, feed)[0][0].tolist()
        others = [value for place, value in enumerate(logits) if place != self._contradiction]
        return float(logits[self._contradiction] - max(others))


def _class_of_contradiction(file: Path) -> int:
    """Return the index of the class in the model's own description; the first by default."""
    if not file.exists():
        return 0
    names = json.loads(file.read_text("utf-8")).get("id2label", {})
    return next((int(index) for index, name in names.items() if "contradict" in str(name).lower()), 0)


@lru_cache(maxsize=4)
def open_inference(folder: str) -> InferenceModel | None:
    """Return the model in `folder`, shared by all who ask in this process; None if none is set."""
    return InferenceModel(Path(folder).expanduser()) if folder else None
