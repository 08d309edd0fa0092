"""Who is the daemon: whoever holds the lock. It is handed on to the process that is started, so that two never are.

Hooks import this when there is no daemon; it needs nothing but the system.
"""

import os
import sys
import time
from contextlib import suppress

from recollect.interfaces.daemon.protocol import LOCK

PAUSE = 2.0  # seconds between two starts, should one after the other fail


def take_lock(home: str) -> int | None:
    """The descriptor that holds the lock until it is closed; None if there is a daemon."""
    file = os.open(f"{home}/{LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(file)
    except OSError:
        os.close(file)
        return None
    return file


def start(home: str, *, pause: float = PAUSE) -> bool:
    """Start one in the background unless there is one or one was started just now; whether it was. Waits for nothing."""
    os.makedirs(home, mode=0o700, exist_ok=True)  # noqa: PTH103
    lock = take_lock(home)
    if lock is None:
        return False
    try:
        last = os.fstat(lock)
        if last.st_size and time.time() - last.st_mtime < pause:
            return False
        os.ftruncate(lock, 0)
        os.write(lock, b"starting\n")
        _detached(home, lock)
        return True
    finally:
        os.close(lock)


def _detached(home: str, lock: int) -> None:
    """The daemon in a session of its own, with the lock and no other file of ours."""
    words = [sys.executable, "-P", "-m", "recollect.interfaces.daemon", home]
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        subprocess.Popen(words, creationflags=flags, close_fds=True)
        return
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        leave(keep=lock)
        os.set_inheritable(lock, True)
        os.execv(sys.executable, [*words, str(lock)])
    finally:
        os._exit(1)


def leave(keep: int | None = None) -> None:
    """Let go of all that we have from whoever started us: folder, terminal, files."""
    with suppress(OSError):
        os.chdir("/")
    os.umask(0o077)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    most = 4096
    os.closerange(3, most if keep is None else keep)
    if keep is not None:
        os.closerange(keep + 1, most)


def _lock(file: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
