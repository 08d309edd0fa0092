"""Real stores in real files, each in a home of its own; only the clock and the model are fakes."""

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, settings

from fakes import FakeClock, FakeEmbedder
from recollect.engine import Engine
from recollect.interfaces.daemon_client.control import stop
from recollect.store.sqlite.store import SqliteStore

# Tests must not depend on your own settings: signed commits, hooks, colours, an agent that runs them.
for name in [
    name for name in os.environ if name.startswith(("GIT_", "CLAUDE", "CODEX_", "GEMINI_", "OPENCODE"))
]:
    del os.environ[name]
for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "PYTHONWARNINGS"):
    os.environ.pop(name, None)
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

settings.register_profile(
    "recollect",
    deadline=None,  # other work on the machine is no fault of ours
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("recollect")

BACKENDS = ["sqlite"]


@pytest.fixture
def home(tmp_path, monkeypatch) -> Iterator[Path]:
    """An empty RECOLLECT_HOME, and no other setting from the environment."""
    for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("RECOLLECT_HOME", str(folder))
    yield folder
    stop(folder)  # the daemon that a hook may have started


@pytest.fixture(params=BACKENDS)
def open_store_as(request, home):
    """Opens the same store for a user as often as it is called, as other processes would."""
    opened = []

    def open_one(user):
        opened.append({"sqlite": lambda: SqliteStore(home / "recollect.db", user)}[request.param]())
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def open_store(open_store_as):
    """Opens Ada's store."""
    return lambda: open_store_as("ada")


@pytest.fixture
def store(open_store):
    return open_store()


@pytest.fixture
def execute(store):
    """SQL past the store, as someone with a database tool would do it."""

    def run(sql, *params):
        connection = apsw.Connection(store.info().location)
        try:
            return connection.execute(sql, params).fetchall()
        finally:
            connection.close()

    return run


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def folder(tmp_path) -> Path:
    """A project's folder, without git."""
    made = tmp_path / "shop"
    made.mkdir()
    return made


@pytest.fixture
def engine(home, folder, clock, embedder):
    with Engine.open(folder, home, embedder=embedder, clock=clock) as opened:
        yield opened
