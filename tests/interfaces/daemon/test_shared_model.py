"""Commands take their vectors from the daemon while there is one, and make them themselves where there is none."""

import numpy as np
import pytest

from recollect.config import load_settings
from recollect.interfaces.daemon_client import embedder as daemon_embedder
from recollect.interfaces.daemon_client.embedder import DaemonEmbedder, from_daemon


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Wait for the daemon as long as a loaded machine needs."""
    monkeypatch.setattr(daemon_embedder, "SECONDS", 60.0)


class Own:
    """A model of our own, which should not be needed."""

    model, dim, query_prefix = "fake", 64, ""

    def __init__(self, embedder):
        self.asked = []
        self._embedder = embedder

    def embed(self, texts):
        self.asked += texts
        return self._embedder.embed(texts)


def test_vectors_come_from_the_daemon(serve, home, embedder):
    serve()
    own = Own(embedder)

    rows = DaemonEmbedder(str(home), own).embed(["red", "green"])

    assert np.allclose(rows, embedder.embed(["red", "green"]))
    assert own.asked == []


def test_without_a_daemon_they_are_made_here(home, embedder):
    own = Own(embedder)

    rows = DaemonEmbedder(str(home), own).embed(["red"])

    assert np.allclose(rows, embedder.embed(["red"]))
    assert own.asked == ["red"]


def test_a_daemon_with_another_model_is_not_asked_twice(serve, home, embedder):
    server, _ = serve()
    own = Own(embedder)
    own.model = "another"
    shared = DaemonEmbedder(str(home), own)

    shared.embed(["red"])
    shared.embed(["green"])

    assert own.asked == ["red", "green"]
    assert server.requests == 1


def test_where_no_daemon_is_at_work_nobody_is_asked(home):
    assert from_daemon(load_settings(home)) is None
