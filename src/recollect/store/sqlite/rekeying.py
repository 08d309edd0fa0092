"""Finish a change of the encryption that was killed."""

from collections.abc import Mapping
from pathlib import Path

from recollect.errors import WrongKey
from recollect.store.file_lock import FileLock
from recollect.store.keys import intent_path, is_plain, key_for, read_intent, read_note
from recollect.store.sqlite.backup import Backups


def finish(path: Path, environment: Mapping[str, str]) -> None:
    """Bring everything to the state that was intended: a change to encryption was the user's wish, and so was its end."""
    presence = FileLock(Path(f"{path}.lock"))
    try:
        if not presence.exclude_others():
            return  # the process that changes it, or one that uses it
        encrypted, note = read_intent(path), read_note(path)
        if encrypted is None:
            return
        if note is None:  # killed before the first change, or after the last one
            intent_path(path).unlink(missing_ok=True)
            return
        try:
            key: str | None = key_for(path, note, environment)
        except WrongKey:
            if encrypted or not _all_plain(path):
                return
            key = None
        backups = Backups(path, key)
        backups.finish_rekeying(key if encrypted else None, note if encrypted else None)
    finally:
        presence.leave()


def _all_plain(path: Path) -> bool:
    return all(map(is_plain, (path, *Backups(path, None).existing())))
