"""Real stores in real files, each in a home of its own; only the clock and the model are fakes."""

import functools
import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, settings

import blas  # noqa: F401 - before anything else loads NumPy
from fakes import FakeClock, FakeEmbedder
from recollect.embed import minilm
from recollect.engine import Engine
from recollect.interfaces.daemon_client.control import stop
from recollect.memory.search import channels
from recollect.model import new_id
from recollect.model.team import Identity, Role
from recollect.store.keys import is_plain
from recollect.store.sqlite import opening, schema
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.store import SqliteStore
from recollect.work.window import window

# Tests must not depend on your own settings: signed commits, hooks, colours, an agent that runs them.
for name in [
    name for name in os.environ if name.startswith(("GIT_", "CLAUDE", "CODEX_", "GEMINI_", "OPENCODE"))
]:
    del os.environ[name]
for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "PYTHONWARNINGS"):
    os.environ.pop(name, None)
# Processes that tests start would compile all of our code again, which takes longer than most of them run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

# The suite creates thousands of stores. In memory this takes less than half the time that it takes on a disk.
MEMORY_FOLDER, ENOUGH_MEMORY = Path("/dev/shm"), 4 << 30
if "TMPDIR" not in os.environ and os.access(MEMORY_FOLDER, os.W_OK | os.X_OK):
    mounted = os.statvfs(MEMORY_FOLDER)
    if mounted.f_bavail * mounted.f_frsize >= ENOUGH_MEMORY and not mounted.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_FOLDER)

settings.register_profile(
    "recollect",
    max_examples=50,  # half of what hypothesis does: the suite runs often
    derandomize=True,  # the same examples for everybody; `--hypothesis-profile explore` looks for new ones
    deadline=None,  # other work on the machine is no fault of ours
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.differing_executors,  # every backend inherits the same contract
    ],
)
settings.load_profile("recollect")
settings.register_profile("explore", derandomize=False, max_examples=1_000)


@pytest.fixture(scope="session", autouse=True)
def new_stores_are_copies(tmp_path_factory):
    """Copies the tables of a new store from one that was migrated before: 17 migrations take five times as long."""
    path = tmp_path_factory.mktemp("migrated") / "recollect.db"
    SqliteStore(path, "").close()
    migrated = connect(path, None)

    def migrate(db: apsw.Connection, user_id: str) -> None:
        is_new = not schema.version_of(db) and not db.execute("SELECT 1 FROM sqlite_schema").fetchall()
        if is_new and is_plain(Path(db.filename)):
            with db.backup("main", migrated, "main") as copy:
                copy.step()
        else:
            schema.migrate(db, user_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "migrate", migrate)
        yield
    migrated.close()


@pytest.fixture(scope="session", autouse=True)
def the_bundled_model_is_loaded_once():
    """Shares the loaded model among the embedders of a test process: loading takes ten times as long as a text."""
    load = minilm.open_session
    anew = {name: getattr(minilm, name) for name in ("open_session", "bundled_model", "bundled_tokenizer")}
    bundled, tokenizer = functools.cache(minilm.bundled_model), functools.cache(minilm.bundled_tokenizer)
    session = functools.cache(lambda threads: load(bundled(), [], threads))

    def open_session(path: Path, providers: list[str], threads: int) -> object:
        is_bundled = not providers and path == bundled()
        return session(threads) if is_bundled else load(path, providers, threads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minilm, "open_session", open_session)
        patch.setattr(minilm, "bundled_model", bundled)
        patch.setattr(minilm, "bundled_tokenizer", tokenizer)
        yield anew


@pytest.fixture(scope="session", autouse=True)
def a_busy_machine_cuts_no_search_short():
    """Gives every channel of a search a minute. Tests of deadlines set their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channels, "DEADLINES_MS", dict.fromkeys(channels.DEADLINES_MS, 60_000.0))
        patch.setattr(window, "DEADLINE", 60.0)
        yield


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One test process more than cores: a third of the time, tests wait for other processes, browsers and databases."""
    return (yield) + 1


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking through all tests and modules again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_sessionfinish() -> None:
    """Let the garbage collector see everything again, or DuckDB reports what is left as leaks."""
    gc.unfreeze()


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


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server with Recollect's tables: one for each process of the tests that needs it.

    The environment can name the folder of one that runs already, such as one that was restored from a backup.
    """
    from bench.local_postgres import LocalPostgres  # most tests need no database

    if folder := os.environ.get("RECOLLECT_TEST_POSTGRES"):
        yield LocalPostgres(Path(folder))
        return
    server = LocalPostgres()
    try:
        server.create()
        server.start()
        server.prepare(partitions=2)  # each costs time to create
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgres_team(postgres):
    """The database as a team server has it. Tests share it, each with a tenant of its own."""
    from bench.local_postgres import SERVER
    from recollect.store.postgres.team import PostgresTeam

    team = PostgresTeam(postgres.url(SERVER))
    yield team
    team.close()


@pytest.fixture
def tenant() -> str:
    return new_id()


@pytest.fixture
def open_postgres_as(postgres_team, tenant):
    """Opens the store of a tenant of this test for a user, with a role."""
    return lambda user, role=Role.OWNER, **fields: postgres_team.store(
        Identity(tenant, user, user, role, **fields)
    )


@pytest.fixture
def open_store_as(home):
    """Opens the same store for a user as often as it is called, as other processes would."""
    opened = []

    def open_one(user):
        opened.append(SqliteStore(home / "recollect.db", user))
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
        connection = connect(store.info().location, None)
        connection.pragma("foreign_keys", False)
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
