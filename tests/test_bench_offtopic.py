"""The directions that `bench.recall.offtopic` fits."""

import numpy as np

from bench.recall import offtopic
from recollect.memory.search import topic


def test_a_fit_keeps_the_directions_of_models_that_are_not_here(tmp_path, monkeypatch):
    directions = tmp_path / "directions.npz"
    np.savez(directions, minilm=np.zeros(3), other=np.ones(3))
    monkeypatch.setattr(topic, "DIRECTIONS", directions)
    offtopic.save_directions({"minilm": np.full(3, 2.0)})
    with np.load(directions) as saved:
        assert {name: saved[name].tolist() for name in saved.files} == {
            "minilm": [2.0, 2.0, 2.0],
            "other": [1.0, 1.0, 1.0],
        }
