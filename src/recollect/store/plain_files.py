"""Files beside an encrypted store that anyone who has the disk can read."""

from collections.abc import Iterator
from pathlib import Path

from recollect.store import open_files
from recollect.store.file_lock import identity_of
from recollect.store.keys import is_encrypted, is_plain
from recollect.store.spool_files import plain_spool_files

# The first bytes of an export, and of an index file.
_BEGINNINGS = (b'{"format": "recollect', b"recollect index")
_OF_SQLITE = ("-wal", "-shm")  # the log of a database, and its index
_OTHERS = ("hosts", "run")  # folders with files of other programs, and with marks of sessions


def plain_files(database: Path) -> list[Path]:
    """Return the files in the home of an encrypted store that have memories or events in the clear, sorted.

    These are databases (backups, code graphs, what a crash left), damaged files that were set aside, spooled events,
    exports, index files, and the notes of a mirror. A store that is not encrypted has none to speak of.
    """
    if not is_encrypted(database):
        return []
    home = database.parent
    return sorted({*plain_spool_files(home), *filter(_has_texts, _files(home))})


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_symlink() or path.name in _OTHERS:
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path


def _has_texts(path: Path) -> bool:
    if path.suffix == ".md" or ".damaged-" in path.name:
        return True
    if path.name.endswith(_OF_SQLITE):  # as their database, and not to be opened while SQLite uses them
        return False
    try:
        if (known := open_files.is_plain(identity_of(path))) is not None:
            return known
        with path.open("rb") as file:
            return is_plain(path) or file.read(100).startswith(_BEGINNINGS)
    except OSError:
        return False
