"""Module maps in PostgreSQL."""

from collections.abc import Callable
from datetime import datetime

import recollect.model as m
from recollect.store.postgres.connection import Connection, Database


class PostgresModuleMaps:
    """Implements `ModuleMapStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, project_id: str) -> str | None:
        with self._db.reading() as db:
            return _document(db, project_id)

    def change(self, project_id: str, how: Callable[[str | None], str], at: datetime) -> str:
        with self._db.writing() as db:
            old = _document(db, project_id)
            new = how(old)
            if new != old:
                db.execute(
                    "INSERT INTO module_maps (project_id, document, updated_at) VALUES (%s, %s, %s)"
                    " ON CONFLICT (tenant, project_id) DO UPDATE"
                    " SET document = excluded.document, updated_at = excluded.updated_at",
                    (project_id, new, m.to_text(at)),
                )
            return new


def _document(db: Connection, project_id: str) -> str | None:
    row = db.execute("SELECT document FROM module_maps WHERE project_id = %s", (project_id,)).fetchone()
    return str(row[0]) if row else None
