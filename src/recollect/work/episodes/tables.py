"""An in-process DuckDB over the store's episode tables. It loads only the columns a query reads, and only new rows."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.context.store import EpisodeStore
from recollect.errors import Refused
from recollect.model import APPEND_ONLY_TABLES, EPISODE_TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "256MB"
THREADS = 2
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "memory_limit": MEMORY,
    "threads": str(THREADS),
    "temp_directory": "",  # never write to disk, where rows would not be encrypted
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
# With these off, a plan names every column that a query reads.
_PLANNING = "filter_pushdown,statistics_propagation,empty_result_pullup,compressed_materialization,late_materialization"


class EpisodeTables:
    """The six episode tables of one user, for one project or all. Thread-safe; queries run one at a time."""

    def __init__(self, store: EpisodeStore, user_id: str, project_id: str | None) -> None:
        self._store = store
        self._user_id = user_id
        self._project_id = project_id  # None = all projects
        self._lock = threading.Lock()
        self._db: DuckDBPyConnection | None = None
        self._planner: DuckDBPyConnection | None = None
        self._loaded: dict[str, tuple[str, ...]] = {}
        self._last: dict[str, int] = {}
        self._change: dict[str, tuple[int, int]] = {}

    def ask(
        self, query: str, params: Sequence[object] = (), most: int | None = None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query, at most `most` of them."""
        with self._lock:
            cursor = self.load(self.columns_read(query, params)).execute(query, list(params))
            return cursor.fetchall() if most is None else cursor.fetchmany(most)

    def load(self, needed: Mapping[str, Iterable[str]]) -> "DuckDBPyConnection":
        """Return the connection with these columns up to date. Its data never leaves the process's memory."""
        if self._db is None:
            self._db = self._opened()
        for table, names in needed.items():
            self._load(self._db, table, names)
        return self._db

    def columns_read(self, query: str, params: Sequence[object] = ()) -> dict[str, set[str]]:
        """Return the columns of each table that `query` reads, according to DuckDB's own plan."""
        if self._planner is None:
            self._planner = _connect()
            for table, columns in EPISODE_TABLES.items():
                self._planner.execute(f"CREATE TABLE {table} ({_typed(columns)})")
                self._planner.execute(
                    f"INSERT INTO {table} (id) VALUES (1)"
                )  # the planner leaves empty tables out
            self._planner.execute(f"SET disabled_optimizers = '{_PLANNING}'")
            self._planner.execute("SET lock_configuration = true")
        plan = self._planner.execute(f"EXPLAIN (FORMAT json) {query}", list(params)).fetchall()
        needed: dict[str, set[str]] = {}
        for step in json.loads(plan[0][1]):
            _collect(step, needed)
        return needed

    def close(self) -> None:
        for connection in (self._db, self._planner):
            if connection is not None:
                connection.close()
        self._db = self._planner = None

    def _opened(self) -> "DuckDBPyConnection":
        db = _connect()
        db.execute("CREATE SCHEMA loaded")
        for table, columns in EPISODE_TABLES.items():
            self._loaded[table] = ()
            nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind in columns.items())
            db.execute(f"CREATE VIEW {table} AS SELECT {nothing} WHERE false")
        db.execute("SET lock_configuration = true")
        return db

    def _load(self, db: "DuckDBPyConnection", table: str, names: Iterable[str]) -> None:
        """Bring a table up to date, with at least these columns."""
        change = self._store.change()
        known = self._change.get(table)
        wanted = {"id", *names}
        reload = known is None or known[1] != change[1] or not wanted <= set(self._loaded[table])
        if table not in APPEND_ONLY_TABLES and known != change:
            reload = True
        if reload:
            wanted |= set(self._loaded[table])
            self._loaded[table] = tuple(name for name in EPISODE_TABLES[table] if name in wanted)
            self._last[table] = 0
            self._create(db, table)
        self._append(db, table)
        self._change[table] = change

    def _create(self, db: "DuckDBPyConnection", table: str) -> None:
        columns = EPISODE_TABLES[table]
        db.execute(
            f"CREATE OR REPLACE TABLE loaded.{table} ({_typed({n: columns[n] for n in self._loaded[table]})})"
        )
        # Columns that no query has read yet exist by name only.
        shown = ", ".join(
            name if name in self._loaded[table] else f"NULL::{kind} AS {name}"
            for name, kind in columns.items()
        )
        db.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT {shown} FROM loaded.{table}")

    def _append(self, db: "DuckDBPyConnection", table: str) -> None:
        names = self._loaded[table]
        pages = self._store.columns(table, names, self._user_id, self._project_id, self._last[table])
        for page in pages:
            columns = {
                name: _array(values, EPISODE_TABLES[table][name])
                for name, values in zip(names, page, strict=True)
            }
            db.register("incoming", columns)
            db.execute(f"INSERT INTO loaded.{table} SELECT {', '.join(names)} FROM incoming")
            db.unregister("incoming")
            self._last[table] = int(page[names.index("id")][-1])


def need_duckdb() -> None:
    """Raise `Refused` if DuckDB is not installed or cannot be loaded on this machine."""
    try:
        import duckdb  # noqa: F401  costs 60 ms and 40 MB, so it is imported only for aggregates
    except ImportError as error:
        raise Refused(
            f"DuckDB, which computes statistics over past work, cannot be loaded: {error}",
            "Reinstall Recollect. History of files, tasks and fixes works without DuckDB.",
        ) from error


def _connect() -> "DuckDBPyConnection":
    need_duckdb()
    import duckdb

    return duckdb.connect(config=_CLOSED)


def _typed(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _array(values: Sequence[Any], kind: str) -> Any:
    import numpy as np

    if kind == "VARCHAR":
        return np.array(values, dtype=object)
    if kind == "TIMESTAMP":
        return np.array(values, dtype="datetime64[us]")  # None becomes NaT, and that NULL
    numbers = {"BIGINT": "i8", "BOOLEAN": "?", "DOUBLE": "f8"}[kind]
    if None not in values:
        return np.array(values, dtype=numbers)
    missing = [value is None for value in values]
    return np.ma.masked_array(
        np.array([0 if value is None else value for value in values], dtype=numbers), mask=missing
    )


def _collect(step: dict[str, Any], needed: dict[str, set[str]]) -> None:
    info = step.get("extra_info", {})
    table = str(info.get("Table", "")).rpartition(".")[2]
    if table in EPISODE_TABLES:
        columns = info.get("Projections") or []
        needed.setdefault(table, set()).update([columns] if isinstance(columns, str) else columns)
    for child in step.get("children", []):
        _collect(child, needed)
