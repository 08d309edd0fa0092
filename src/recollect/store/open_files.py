"""Which files this process has open through SQLite, and whether they are encrypted.

SQLite's locks belong to the process: when it closes any descriptor of a file, all its locks on that file are gone, and
another process may delete the log of a store that is in use. So nothing else may open such a file, even to look at it.
"""

import threading
from collections import Counter

Identity = tuple[int, int]  # device and inode

_lock = threading.Lock()
_count: Counter[Identity] = Counter()
_plain: dict[Identity, bool] = {}


def add(identity: Identity, *, plain: bool) -> None:
    """Note that the file was opened once more. `plain` = it is not encrypted."""
    with _lock:
        _count[identity] += 1
        _plain[identity] = plain


def remove(identity: Identity) -> None:
    """Note that the file was closed once."""
    with _lock:
        _count[identity] -= 1
        if _count[identity] <= 0:
            del _count[identity], _plain[identity]


def is_plain(identity: Identity | None) -> bool | None:
    """Return whether the file is not encrypted, or None if this process does not have it open."""
    with _lock:
        return None if identity is None else _plain.get(identity)
