"""A checksum at the end of every page of an unencrypted file, so that a flipped bit is noticed when its page is read.

SQLite's checksum VFS computes and compares them; the wheel of apsw has it. Pages of an encrypted file need none: its cipher
authenticates them. docs/decisions/0037-pages-have-checksums.md says why, and what must not write to such a file.
"""

import threading
from functools import cache
from pathlib import Path

import apsw

_NAME = "cksmvfs"  # the name that the extension `cksumvfs` registers
_BYTES = 8  # at the end of a page; the VFS acts on files that reserve exactly as many
_WRONG = "a page does not match its checksum"
_lock = threading.Lock()


def vfs() -> str | None:
    """Return the name of the VFS for unencrypted files; None = SQLite's default, as this build of apsw has no checksums."""
    with _lock:
        return _loaded()


@cache
def _loaded() -> str | None:
    """Load the extension, which stays in the process. SQLite's default VFS, which other code may use, stays the same."""
    default = apsw.vfs_names()[0]
    connection = apsw.Connection(":memory:")
    try:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
        connection.load_extension(str(Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"))
    except (apsw.ExtensionLoadingError, AttributeError):  # built from source without extensions
        return None
    finally:
        connection.close()
    apsw.set_default_vfs(default)
    return _NAME


def default_vfs() -> str:
    """Return the name of SQLite's default VFS, which encrypts."""
    vfs()
    return apsw.vfs_names()[0]


def reserve(connection: apsw.Connection) -> None:
    """Reserve room for checksums: in a file that is still empty at once, in any other with the next `VACUUM`."""
    _control(connection, _BYTES)


def are_compared(connection: apsw.Connection) -> bool:
    """Return whether pages that are read are compared with their checksums."""
    return bool(connection.pragma("checksum_verification") == "1")


def are_needed(connection: apsw.Connection) -> bool:
    """Return whether the file was written with checksums, so that a page without one would count as damage."""
    return _control(connection, -1) == _BYTES


def can_be_added(connection: apsw.Connection) -> bool:
    """Return whether `VACUUM` can add checksums: SQLite never reserves fewer bytes than before."""
    return vfs() is not None and _control(connection, -1) < _BYTES


def ignore(connection: apsw.Connection) -> None:
    """Read pages whatever their checksums say."""
    connection.pragma("checksum_verification", "off")


def is_damage(error: Exception) -> bool:
    """Return whether SQLite says that the file is damaged."""
    return isinstance(error, apsw.CorruptError | apsw.NotADBError) or is_wrong_checksum(error)


def is_wrong_checksum(error: Exception) -> bool:
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA


def describe(error: apsw.Error) -> str:
    """Return what is damaged, in words."""
    return _WRONG if is_wrong_checksum(error) else str(error)


def wrong_page(report: str) -> str | None:
    """Return what a report of `PRAGMA integrity_check` means in words, if it is about a checksum."""
    return _WRONG if f"error code={apsw.SQLITE_IOERR_DATA}" in report else None


def _control(connection: apsw.Connection, count: int) -> int:
    """Reserve `count` bytes at the end of each page from now on, -1 for no change; return how many were reserved before."""
    import ctypes  # 2 ms that a file with checksums does not cost

    value = ctypes.c_int(count)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(value))
    return value.value
