import threading
from dataclasses import replace

import pytest
from model_server import ModelServer

from recollect.config import load_settings
from recollect.llm.sidecar import THREAD
from recollect.memory.sidecar import open_sidecar


@pytest.fixture
def server():
    opened = ModelServer()
    yield opened
    opened.close()


@pytest.fixture
def settings(home, server):
    made = load_settings(home, {}, sidecar="http", sidecar_url=server.url, sidecar_model="tiny")
    return replace(made, sidecar_seconds=30.0, sidecar_price_in=1.0, sidecar_price_out=10.0)


@pytest.fixture
def sidecar(settings, store, embedder, clock):
    return open_sidecar(settings, store, embedder, clock)


@pytest.fixture
def ledger(store, settings, clock):
    """What the ledger says of each call: purpose, tokens and outcome."""

    def read():
        for thread in threading.enumerate():
            if thread.name == THREAD:
                thread.join(30)
        calls = store.ledger.since(settings.user, clock.now.replace(year=2000))
        return [(call.purpose, call.tokens_in, call.tokens_out, str(call.outcome)) for call in calls]

    return read
