"""Export of the six episode tables as Parquet files, for use with other tools."""

from pathlib import Path

import recollect.model as m
from recollect.errors import Refused
from recollect.model import EPISODE_TABLES
from recollect.work.episodes.tables import EpisodeTables, need_duckdb


def export_parquet(columns: EpisodeTables, folder: Path, *, force: bool = False) -> dict[str, int]:
    """Write one file per table into `folder` and return the number of rows in each.

    Raise `Refused` if a file exists already, unless `force` is given.
    """
    need_duckdb()
    import duckdb

    files = {table: folder / f"{table}.parquet" for table in EPISODE_TABLES}
    existing = [path.name for path in files.values() if path.exists() or path.is_symlink()]
    if existing and not force:
        raise Refused(
            f"{folder} already has a {existing[0]}.", "Give another folder, or --force to replace it."
        )
    counts = {}
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for table, path in files.items():
            with columns.load({table: EPISODE_TABLES[table]}) as db:
                rows = db.execute(f"SELECT * FROM {table}").fetchnumpy()
            counts[table] = len(rows["id"])
            partial = folder / f".{table}.{m.new_id()}.part"
            try:
                # A second connection: the first one is locked and cannot write files.
                with duckdb.connect() as writer:
                    writer.register("rows", dict(rows))
                    typed = ", ".join(
                        f"CAST({name} AS {kind}) AS {name}" for name, kind in EPISODE_TABLES[table].items()
                    )
                    writer.execute(f"COPY (SELECT {typed} FROM rows) TO {_quoted(partial)} (FORMAT parquet)")
                partial.chmod(0o600)
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"Cannot write to {folder}: {error.strerror}.", "Give another folder.") from error
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise Refused(
            f"Could not write to {folder}: {reason}", "Free some space, or give another folder."
        ) from error
    return counts


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
