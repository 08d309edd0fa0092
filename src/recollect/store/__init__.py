"""Where memories, sessions and everything about them are stored: one SQLite file per user, or a team's PostgreSQL.

`open_store` opens the file for a user and returns a `Store`: the protocol of `recollect.context.store`, which every
backend implements. Layers above hold a `Store` and never a backend; all SQL is in here. `open_store_to_read` is for a
hook that must not wait: it changes nothing, and refuses instead of repairing.

A call takes this path: a part calls a method of `Store` in the words of the domain (`put`, `neighbours`,
`changes.undo`); the backend runs it as one transaction, or as part of the caller's `with store.transaction():`; values
of `recollect.model` go in and come out, never rows.

- `sqlite`: the SQLite backend
- `postgres`: the PostgreSQL backend of the team server, where the database decides who sees what
- `rows`, `columns`: values as rows of a table and back, with the same columns in every backend
- `journal`: the rows that a transaction writes, as they were before
- `row_snapshots`: rows before and after a change, as undo records them
- `hops`: which links, tags and clusters are followed from one memory to the next
- `visibility`: who may see which rows, decided once per class of rows instead of once per row
- `described`: which memories should say when they are needed, and which of them first
- `keys`: where the key of an encrypted store is kept, and how a wrong key is distinguished from a damaged file
- `plain_files`: what is not encrypted beside an encrypted store
- `file_lock`: locks between processes; `fair_lock`: between threads
- `open_files`: which files this process has open through SQLite
- `spool_files`: lines that wait in files until they are processed, for events that could not be recorded
- `sealing`: lines that are encrypted without the key, for events that come while it is not at hand

What a store promises:

- A call has either happened completely or not at all, also after a crash or a power cut; when it returns, it is on
  disk.
- Any number of processes and threads may use the same file.
- A store belongs to one user, and a `View` decides what a call may see: rows of other users, projects and sessions stay
  hidden unless the view names them.
- Every write to memories inside a recorded change can be undone.
- Search needs no ranking here: `change`, `texts_since` and `vectors_since` feed the index of `recollect.memory.index`.

A store does not remove secrets: it stores what it is given. The parts that write call `recollect.text.redact` first.

It is called by `Engine.open`, and through `Context.store` by every part. `code.graph.database` uses the connection
class of `sqlite` for a file of its own.

To add a method, add it to the protocol, the backend and the contract tests; CONTRIBUTING.md has an example. To change
the schema, add a file to `sqlite/migrations`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import BadSetting

if TYPE_CHECKING:
    from recollect.context.store import Store
    from recollect.context.team import TeamBackend


def open_store(path: Path, user_id: str, key: str | None = None) -> "Store":
    """Open the store at `path` for a user, creating, migrating or restoring it if needed.

    Settings, gaps and tags of a store from before they had a user become this user's. Raise `StoreError` or a subclass.
    """
    from recollect.store.sqlite.store import SqliteStore  # loads SQLite, which not every command needs

    if key is not None:
        from recollect.store.keys import complete_note

        complete_note(path, key)
    return SqliteStore(path, user_id, key)


def finish_rekeying(path: Path, environment: Mapping[str, str]) -> None:
    """Finish a change of the encryption that was interrupted, if nobody else has the store open and the key is at hand.

    Until then, the store opens with the old key or the new one, and `recollect doctor` lists what is not encrypted.
    """
    from recollect.store.keys import intent_path

    if not intent_path(path).exists():
        return
    from recollect.store.sqlite.rekeying import finish

    finish(path, environment)


def restore_missing_store(path: Path, key: str | None = None) -> str:
    """Put the newest intact backup in the place of a store that is gone; return a notice for the user.

    Raise `Refused` if the store is there, and `StoreMissing` if no backup is intact.
    """
    from recollect.store.sqlite.backup import Backups
    from recollect.store.sqlite.opening import restore_missing

    return restore_missing(path, Backups(path, key))


def open_store_to_read(path: Path, user_id: str, key: str | None = None) -> "Store":
    """Open an existing store that is only read, without waiting for writers and without changing anything.

    Raise `StoreError` or a subclass if that is not possible: the file is missing, needs a migration or a check, or is in
    exclusive use.
    """
    from recollect.store.sqlite.store import SqliteStore

    return SqliteStore(path, user_id, key, read_only=True)


def open_team(url: str) -> "TeamBackend":
    """Connect to the database of a team server. Raise `BadSetting` and `StoreError`."""
    _check_team_url(url)
    from recollect.store.postgres.team import PostgresTeam

    return PostgresTeam(url)


def migrate_team(admin_url: str, url: str) -> None:
    """Create or update the tables as their owner, and let the server's role, which owns nothing, use them."""
    from urllib.parse import urlsplit

    _check_team_url(admin_url)
    from recollect.store.postgres.schema import migrate

    migrate(admin_url, urlsplit(url).username or "")


def _check_team_url(url: str) -> None:
    if not url.startswith(("postgresql://", "postgres://")):
        raise BadSetting(
            "The database of a team is PostgreSQL.", "Give its URL as postgresql://USER@HOST/NAME."
        )
