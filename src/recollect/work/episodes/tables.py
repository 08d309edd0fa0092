"""An in-process DuckDB over the store's episode tables, for SQL of users and for Parquet files."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.context.store import EpisodeStore
from recollect.errors import Refused
from recollect.model import EPISODE_TABLES

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
    """The six episode tables of one user, for one project or all."""

    def __init__(self, store: EpisodeStore, user_id: str, project_id: str | None) -> None:
        self._store = store
        self._user_id = user_id
        self._project_id = project_id  # None = all projects

    @contextlib.contextmanager
    def load(self, needed: Mapping[str, Iterable[str]]) -> "Iterator[DuckDBPyConnection]":
        """Open a database with these columns of the tables. Its data never leaves the process's memory."""
        with _connect() as db:
            db.execute("CREATE SCHEMA loaded")
            for table, columns in EPISODE_TABLES.items():
                loaded = tuple(name for name in columns if name in {"id", *needed.get(table, ())})
                # Columns that the query does not read exist by name only.
                shown = ", ".join(
                    name if name in loaded else f"NULL::{kind} AS {name}" for name, kind in columns.items()
                )
                db.execute(
                    f"CREATE TABLE loaded.{table} ({_typed({name: columns[name] for name in loaded})})"
                )
                db.execute(f"CREATE VIEW {table} AS SELECT {shown} FROM loaded.{table}")
                if table in needed:
                    self._fill(db, table, loaded)
            db.execute("SET lock_configuration = true")
            yield db

    def _fill(self, db: "DuckDBPyConnection", table: str, names: Sequence[str]) -> None:
        for page in self._store.columns(table, names, self._user_id, self._project_id):
            columns = {
                name: _array(values, EPISODE_TABLES[table][name])
                for name, values in zip(names, page, strict=True)
            }
            db.register("incoming", columns)
            db.execute(f"INSERT INTO loaded.{table} SELECT {', '.join(names)} FROM incoming")
            db.unregister("incoming")


def columns_read(query: str) -> dict[str, set[str]]:
    """Return the columns of each table that `query` reads, according to DuckDB's own plan."""
    with _connect() as planner:
        for table, columns in EPISODE_TABLES.items():
            planner.execute(f"CREATE TABLE {table} ({_typed(columns)})")
            planner.execute(f"INSERT INTO {table} (id) VALUES (1)")  # the planner leaves empty tables out
        planner.execute(f"SET disabled_optimizers = '{_PLANNING}'")
        planner.execute("SET lock_configuration = true")
        plan = planner.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
    needed: dict[str, set[str]] = {}
    for step in json.loads(plan[0][1]):
        _collect(step, needed)
    return needed


def need_duckdb() -> None:
    """Raise `Refused` if DuckDB is not installed or cannot be loaded on this machine."""
    try:
        import duckdb  # noqa: F401
    except ModuleNotFoundError as error:
        raise Refused(
            "SQL over past work and its export as Parquet need DuckDB, which is not installed.",
            "Run: pip install 'recollect[history]'. All other commands of `recollect history` work without it.",
        ) from error
    except ImportError as error:
        raise Refused(
            f"DuckDB cannot be loaded: {error}",
            "Run: pip install --force-reinstall 'recollect[history]'.",
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
