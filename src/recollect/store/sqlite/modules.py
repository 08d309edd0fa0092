"""Module maps in SQLite."""

from collections.abc import Callable
from datetime import datetime

import recollect.model as m
from recollect.store.sqlite.connection import Database


class SqliteModuleMaps:
    """Implements `ModuleMapStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, project_id: str) -> str | None:
        with self._db.reading() as db:
            found: str | None = db.execute(
                "SELECT document FROM module_maps WHERE project_id = ?", (project_id,)
            ).get
            return found

    def change(self, project_id: str, how: Callable[[str | None], str], at: datetime) -> str:
        with self._db.writing() as db:
            old = db.execute("SELECT document FROM module_maps WHERE project_id = ?", (project_id,)).get
            new = how(old)
            if new != old:
                self._db.journal.before_put("module_maps", project_id)
                db.execute(
                    "INSERT OR REPLACE INTO module_maps VALUES (?, ?, ?)", (project_id, new, m.to_text(at))
                )
            return new
