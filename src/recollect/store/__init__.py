"""Where memories, sessions and everything about them are stored: one SQLite file per user.

`open_store` opens the file and returns a `Store`, the protocol that every backend implements. Nothing outside this
package names a backend.

- `sqlite/`: the SQLite backend, safe under crashes, concurrent processes and wrong keys.
- `keys`: where the key of an encrypted store is kept, and how a wrong one is recognised.
- `file_lock`: locks between processes.
- `row_snapshots`: rows before and after a change, as undo records them.
- `visibility`: who may see which memory, decided once per class of rows.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.context.store import Store


def open_store(path: Path, user_id: str, key: str | None = None) -> "Store":
    """Open the store at `path` for a user, creating, migrating or restoring it if needed.

    Settings, gaps and tags of a store from before they had a user become this user's. Raise `StoreError` or a subclass.
    """
    from recollect.store.sqlite.store import SqliteStore  # loads SQLite, which not every command needs

    return SqliteStore(path, user_id, key)
