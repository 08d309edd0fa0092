"""The six tables as Parquet files, for whoever wants to look at them with other tools."""

from pathlib import Path

import recollect.model as m
from recollect.errors import Refused
from recollect.store.episode_rows import TABLES
from recollect.work.episodes.columns import Columns, need_duckdb


def export_parquet(columns: Columns, folder: Path, *, force: bool = False) -> dict[str, int]:
    """One file a table in `folder`, and the rows in each. Raises `Refused` rather than replace one, without `force`."""
    need_duckdb()
    import duckdb

    files = {table: folder / f"{table}.parquet" for table in TABLES}
    there = [path.name for path in files.values() if path.exists() or path.is_symlink()]
    if there and not force:
        raise Refused(f"{folder} has a {there[0]} already.", "Give another folder, or --force to replace it.")
    counts = {}
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for table, path in files.items():
            rows = columns.bring({table: TABLES[table]}).execute(f"SELECT * FROM {table}").fetchnumpy()
            counts[table] = len(rows["id"])
            made = folder / f".{table}.{m.new_id()}.part"
            try:
                # Another connection: the one that has the rows cannot write to any file.
                with duckdb.connect() as writer:
                    writer.register("rows", dict(rows))
                    typed = ", ".join(
                        f"CAST({name} AS {kind}) AS {name}" for name, kind in TABLES[table].items()
                    )
                    writer.execute(f"COPY (SELECT {typed} FROM rows) TO {_quoted(made)} (FORMAT parquet)")
                made.chmod(0o600)
                made.replace(path)
            finally:
                made.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"{folder} cannot be written to: {error.strerror}.", "Give another folder.") from error
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise Refused(
            f"{folder} could not be written: {reason}", "Free some space, or give another folder."
        ) from error
    return counts


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
