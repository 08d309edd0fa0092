"""Encrypted exports: the lines of an export in a SQLite file, each page of it encrypted and authenticated.

The file begins with its mark and eight random bytes, which together are the salt of its key. Its content is never on
the disk in the clear, not even while it is written.
"""

import hashlib
import os
import secrets
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

import apsw

from recollect.errors import BadImport, RecollectError, Refused
from recollect.memory.transfer.import_file import Lines
from recollect.store.keys import sync

MARK = b"RCLLCT-1"
SHORTEST = 8  # characters of a passphrase: an attacker who has the file can guess without limit
_SALT = 16  # bytes
_COST = 2**16  # 64 MB and some 0.3 s for every guess
_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def is_bundle(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def write_bundle(path: Path, passphrase: str, lines: Iterable[str]) -> None:
    """Write a bundle, and replace `path` once it is complete. Raise `Refused` for a short passphrase."""
    if len(passphrase) < SHORTEST:
        raise Refused(
            f"The passphrase has fewer than {SHORTEST} characters; nothing was written.",
            "Use several words.",
        )
    salt = MARK + secrets.token_bytes(_SALT - len(MARK))
    fresh = path.resolve().with_name(f".{path.name}.{os.getpid()}.new")
    try:
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        _fill(fresh, _key(passphrase, salt), lines)
        sync(fresh)
        fresh.replace(path.resolve())
        sync(path.resolve())
    except (OSError, apsw.Error) as error:
        raise RecollectError(f"Cannot write {path}: {error}.", "Name another file.") from error
    finally:
        fresh.unlink(missing_ok=True)  # exists only after an error


def open_bundle(path: Path, passphrase: str) -> Lines:
    """Check a bundle to its end and return its lines. Raise `BadImport` if it is damaged or the passphrase is wrong."""
    with path.open("rb") as file:
        key = _key(passphrase, file.read(_SALT))

    def lines() -> Iterator[bytes]:
        return _lines(path, key)

    digest = hashlib.sha256()
    for line in lines():
        digest.update(line)
    if next(_lines(path, key, "SELECT sha256 FROM seal")) != digest.digest():
        raise _damaged(path)
    return lines


def _key(passphrase: str, salt: bytes) -> str:
    """Return key and salt as SQLite expects them. The passphrase is normalised, because keyboards compose accents differently."""
    text = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    key = hashlib.scrypt(text, salt=salt, n=_COST, r=8, p=1, dklen=32, maxmem=2 * 8 * 128 * _COST)
    return f"raw:{key.hex()}{salt.hex()}"


def _fill(path: Path, key: str, lines: Iterable[str]) -> None:
    digest = hashlib.sha256()

    def rows() -> Iterator[tuple[bytes]]:
        for line in lines:
            data = line.encode("utf-8", "backslashreplace")
            digest.update(data)
            yield (data,)

    db = _open(str(path), key, apsw.SQLITE_OPEN_READWRITE)
    try:
        db.pragma("journal_mode", "off")  # an incomplete file is deleted anyway
        db.pragma("synchronous", "off")
        with db:
            db.execute("CREATE TABLE lines (num INTEGER PRIMARY KEY, line BLOB NOT NULL) STRICT")
            db.execute("CREATE TABLE seal (sha256 BLOB NOT NULL) STRICT")
            db.executemany("INSERT INTO lines (line) VALUES (?)", rows())
            db.execute("INSERT INTO seal VALUES (?)", (digest.digest(),))
    finally:
        db.close()


def _lines(path: Path, key: str, query: str = "SELECT line FROM lines ORDER BY num") -> Iterator[bytes]:
    try:
        db = _open(f"{path.resolve().as_uri()}?mode=ro", key, _READ)
        try:
            yield from (bytes(row[0]) for row in db.execute(query))
        finally:
            db.close()
    except apsw.NotADBError as error:  # a wrong key and a damaged first page look the same
        raise BadImport(
            f"The passphrase does not open {path}, or the file is damaged. Nothing was imported.",
            "Try the passphrase again, or run `recollect export --bundle` again.",
        ) from error
    except (apsw.Error, TypeError) as error:
        raise _damaged(path) from error


def _open(name: str, key: str, flags: int) -> apsw.Connection:
    db = apsw.Connection(name, flags=flags)
    try:
        db.pragma("cipher", "chacha20")
        db.pragma("key", key)
        db.pragma("temp_store", "memory")
        db.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018 - reads the file, or raises
    except apsw.Error:
        db.close()
        raise
    return db


def _damaged(path: Path) -> BadImport:
    return BadImport(f"{path} is damaged. Nothing was imported.", "Run `recollect export --bundle` again.")
