"""SQL that people write, over the six tables: it may read them and nothing else, and not for long.

It runs in a process of its own, for DuckDB's limits have holes: one call of a function that makes a long text minds
neither the limit of memory nor an interrupt. A process can be given a limit by the system, and be ended.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.errors import RecollectError, Refused
from recollect.store.episode_rows import TABLES
from recollect.work.episodes.columns import need_duckdb

MOST_ROWS = 1000
SECONDS = 10.0
_LOADING = 60.0  # seconds that loading, which is ours, may take beside
_ROOM = 1024 * 1024 * 1024  # bytes of addresses that a query may take beside what is there, threads and all
_TOO_LONG, _TOO_LARGE, _WRONG = "too long", "too large", "wrong"
_GAP = r"(?:\s|--[^\n]*|/\*(?>.*?\*/)|(?!))*+"  # spaces and comments
_EXPLAIN = re.compile(rf"^{_GAP}EXPLAIN\b{_GAP}(?:ANALYZE\b|\([^)]*\))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""  # what is not shown, and why


def select(
    database: Path, user_id: str, project_id: str | None, query: str, *, seconds: float = SECONDS
) -> Table:
    """The answer to one query. Raises `Refused` for anything but reading, and for what takes too long or too much."""
    _refuse_other_than_reading(query)
    asked = {
        "database": str(database),
        "user_id": user_id,
        "project_id": project_id,  # None = all projects
        "query": query,
        "seconds": seconds,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recollect.work.episodes.sql"],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=seconds + _LOADING,
            check=False,
        )
        told = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        told = {"failed": _TOO_LONG}
    except ValueError:  # it ended without a word
        told = _last_words(done.returncode, done.stderr)
    if "failed" in told:
        raise _refusal(told, seconds)
    shown = tuple(tuple(row) for row in told["rows"])
    note = (
        f"Only the first {MOST_ROWS:,} rows are shown; a LIMIT or WHERE says which." if told["more"] else ""
    )
    return Table(tuple(told["columns"]), shown, note)


def _last_words(code: int, errors: bytes) -> dict[str, str]:
    if code == 1:  # Python says why
        return {"failed": _WRONG, "reason": errors.decode("utf-8", "replace").strip().rpartition("\n")[2]}
    return {"failed": _TOO_LONG if code == _ENDED else _TOO_LARGE}


def _refusal(told: dict[str, str], seconds: float) -> Refused:
    if told["failed"] == _TOO_LONG:
        return Refused(
            f"The query took more than {seconds:g} seconds and was stopped.", "Ask for less: a WHERE helps."
        )
    if told["failed"] == _TOO_LARGE:
        return Refused(
            "The query needed more memory than it may have.", "Ask for less: fewer columns, or a WHERE."
        )
    return Refused(
        f"That query cannot be answered: {told['reason']}",
        f"The tables are {', '.join(TABLES)}; `DESCRIBE tool_executions` shows the columns of one.",
    )


def _refuse_other_than_reading(query: str) -> None:
    need_duckdb()
    import duckdb

    try:
        statements = duckdb.extract_statements(query)
        if (
            statements and statements[0].type == duckdb.StatementType.EXPLAIN
        ):  # with ANALYZE it runs what it explains
            statements = duckdb.extract_statements(_explained(query))
    except duckdb.Error as error:
        raise _refusal({"failed": _WRONG, "reason": _first_line(error)}, 0) from error
    except TypeError as error:  # DuckDB takes half a character for no text at all
        raise Refused(
            "The query is not text in UTF-8.", "Write it again, without what is no character."
        ) from error
    if len(statements) != 1:
        raise Refused(f"{len(statements)} statements were given.", "Give one query.")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise Refused(
            f"{statements[0].type.name} is not allowed: history can only be read.",
            "Use SELECT, WITH, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN.",
        )


def _explained(query: str) -> str:
    """What an EXPLAIN is about; other queries as they are."""
    return _EXPLAIN.sub("", query)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]


_ENDED = 3  # the exit code of a process that ran out of time


def main() -> None:
    """The other process: one question on standard input, one answer on standard output."""
    asked = json.load(sys.stdin)
    json.dump(_answer(**asked), sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # nothing is left to tidy up, and threads may be at work


def _answer(
    database: str, user_id: str, project_id: str | None, query: str, seconds: float
) -> dict[str, Any]:
    import duckdb

    from recollect.store.keys import find_key
    from recollect.store.sqlite import SqliteStore
    from recollect.work.episodes.columns import Columns

    try:
        store = SqliteStore(Path(database), find_key(Path(database), os.environ))
        columns = Columns(store.episodes, user_id, project_id)
        with _limits(seconds):  # what is constant is worked out while planning
            needed = columns.reads(_explained(query))
        db = columns.bring(needed)
        db.execute("BEGIN TRANSACTION READ ONLY")  # whatever a comment may hide in an EXPLAIN
        with _limits(seconds, db):
            cursor = db.execute(query)
            names = [each[0] for each in cursor.description or ()]
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
    """Of time and memory. A query is interrupted, and what minds no interrupt takes the process with it."""
    timers = [threading.Timer(seconds * 1.2 + 0.5, os._exit, (_ENDED,))]
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
    """What is taken now and some room; where the system cannot say so, DuckDB's own limit and the clock are left."""
    try:
        import resource

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (taken + _ROOM, hard))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
