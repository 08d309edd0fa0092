"""SQL queries by users over the six episode tables: read-only, with limits of time and memory.

A query runs in its own process because DuckDB's limits have holes: one call of a function that builds a long text
ignores both the memory limit and an interrupt. The operating system can limit and kill a process.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.errors import RecollectError, Refused
from recollect.frozen import frozen
from recollect.model import EPISODE_TABLES
from recollect.work.episodes.tables import need_duckdb

MOST_ROWS = 1000
SECONDS = 10.0
_LOADING = 60.0  # more seconds for loading the rows, which does not count as the query's time
_ROOM = (
    1024 * 1024 * 1024
)  # bytes of address space for a query, threads included, beyond what is mapped already
_TOO_LONG, _TOO_LARGE, _WRONG = "too long", "too large", "wrong"
_GAP = r"(?:\s|--[^\n]*|/\*(?>.*?\*/)|(?!))*+"  # spaces and comments
_EXPLAIN = re.compile(rf"^{_GAP}EXPLAIN\b{_GAP}(?:ANALYZE\b|\([^)]*\))?", re.IGNORECASE | re.DOTALL)


@frozen
class SqlResult:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""  # what is not shown, and why


def select(
    database: Path, user_id: str, project_id: str | None, query: str, *, seconds: float = SECONDS
) -> SqlResult:
    """Run one query. Raise `Refused` for anything but reading, and for a query that takes too much time or memory."""
    _refuse_writes(query)
    request = {
        "database": str(database),
        "user_id": user_id,
        "project_id": project_id,  # None = all projects
        "query": query,
        "seconds": seconds,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recollect.work.episodes.sql"],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=seconds + _LOADING,
            check=False,
        )
        reply = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        reply = {"failed": _TOO_LONG}
    except ValueError:  # the process ended without a reply
        reply = _crash(done.returncode, done.stderr)
    if "failed" in reply:
        raise _refusal(reply, seconds)
    rows = tuple(tuple(row) for row in reply["rows"])
    note = f"Only the first {MOST_ROWS:,} rows are shown. Use LIMIT or WHERE." if reply["more"] else ""
    return SqlResult(tuple(reply["columns"]), rows, note)


def _crash(code: int, errors: bytes) -> dict[str, str]:
    if code == 1:  # a Python traceback has the reason
        return {"failed": _WRONG, "reason": errors.decode("utf-8", "replace").strip().rpartition("\n")[2]}
    return {"failed": _TOO_LONG if code == _TIMED_OUT else _TOO_LARGE}


def _refusal(reply: dict[str, str], seconds: float) -> Refused:
    if reply["failed"] == _TOO_LONG:
        return Refused(
            f"The query took more than {seconds:g} seconds and was stopped.", "Narrow it with a WHERE."
        )
    if reply["failed"] == _TOO_LARGE:
        return Refused(
            "The query needed more memory than it may use.", "Select fewer columns, or add a WHERE."
        )
    return Refused(
        f"The query failed: {reply['reason']}",
        f"The tables are {', '.join(EPISODE_TABLES)}; `DESCRIBE tool_executions` shows the columns of one.",
    )


def _refuse_writes(query: str) -> None:
    need_duckdb()
    import duckdb

    try:
        statements = duckdb.extract_statements(query)
        if (
            statements and statements[0].type == duckdb.StatementType.EXPLAIN
        ):  # EXPLAIN ANALYZE runs the statement
            statements = duckdb.extract_statements(_explained(query))
    except duckdb.Error as error:
        raise _refusal({"failed": _WRONG, "reason": _first_line(error)}, 0) from error
    except TypeError as error:  # DuckDB does not accept a lone surrogate
        raise Refused("The query is not valid UTF-8.", "Remove the invalid characters.") from error
    if len(statements) != 1:
        raise Refused(f"Expected one statement, got {len(statements)}.", "Give one query.")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise Refused(
            f"{statements[0].type.name} is not allowed: history is read-only.",
            "Use SELECT, WITH, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN.",
        )


def _explained(query: str) -> str:
    """Return the query inside an EXPLAIN, or the query itself."""
    return _EXPLAIN.sub("", query)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]


_TIMED_OUT = 3  # exit code of a process that ran out of time


def main() -> None:
    """Run in the child process: read one request from standard input and write one reply to standard output."""
    request = json.load(sys.stdin)
    json.dump(_answer(**request), sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # threads may still run, and there is nothing to clean up


def _answer(
    database: str, user_id: str, project_id: str | None, query: str, seconds: float
) -> dict[str, Any]:
    import duckdb

    from recollect.store import open_store
    from recollect.store.keys import find_key
    from recollect.work.episodes.tables import EpisodeTables, columns_read

    try:
        store = open_store(Path(database), user_id, find_key(Path(database), os.environ))
        with _limits(seconds):  # the planner evaluates constants
            needed = columns_read(_explained(query))
        with EpisodeTables(store.episodes, user_id, project_id).load(needed) as db:
            db.execute("BEGIN TRANSACTION READ ONLY")  # in case a comment hides a write inside an EXPLAIN
            with _limits(seconds, db):
                cursor = db.execute(query)
                names = [column[0] for column in cursor.description or ()]
                rows = cursor.fetchmany(MOST_ROWS + 1)
                return {
                    "columns": names,
                    "rows": [[_plain(value) for value in row] for row in rows[:MOST_ROWS]],
                    "more": len(rows) > MOST_ROWS,
                }
    except duckdb.InterruptException:
        return {"failed": _TOO_LONG}
    except (duckdb.OutOfMemoryException, MemoryError):
        return {"failed": _TOO_LARGE}
    except (duckdb.Error, RecollectError) as error:
        return {"failed": _WRONG, "reason": _first_line(error)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return m.as_json(value) if isinstance(value, list | dict | tuple) else str(value)


@contextlib.contextmanager
def _limits(seconds: float, db: Any = None) -> Iterator[None]:
    """Limit time and memory. A query is interrupted; one that ignores the interrupt ends the process."""
    timers = [threading.Timer(seconds * 1.2 + 0.5, os._exit, (_TIMED_OUT,))]
    if db is not None:
        timers.append(threading.Timer(seconds, db.interrupt))
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        with _memory_limit():
            yield
    finally:
        for timer in timers:
            timer.cancel()


@contextlib.contextmanager
def _memory_limit() -> Iterator[None]:
    """Allow the memory mapped now plus some room. Without such limits, DuckDB's own and the timers remain."""
    try:
        import resource

        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (mapped + _ROOM, hard))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
