"""Start the daemon. The process that holds the lock is the daemon; the lock is passed on to the one that is started.

Hooks import this if no daemon runs; it uses only the standard library.
"""

import os
import sys
import time
from contextlib import suppress

from recollect.interfaces.daemon_client.protocol import LOCK

STARTING = "starting"  # in the lock file until the daemon serves, followed by its process
PAUSE = 2.0  # seconds between two starts, in case they fail


def take_lock(home: str) -> int | None:
    """Return the descriptor that holds the lock until it is closed; None if a daemon runs."""
    file = os.open(f"{home}/{LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(file)
    except OSError:
        os.close(file)
        return None
    return file


def start(home: str, folder: str = "", *, pause: float = PAUSE) -> bool:
    """Start a daemon in the background and return at once; False if one runs, or one was started just now.

    It gets ready for the project at `folder` first.
    """
    os.makedirs(home, mode=0o700, exist_ok=True)  # noqa: PTH103
    lock = take_lock(home)
    if lock is None:
        return False
    try:
        last = os.fstat(lock)
        if last.st_size and time.time() - last.st_mtime < pause:
            return False
        note_start(lock)
        _start_detached(home, folder, lock)
        return True
    finally:
        os.close(lock)


def note_start(lock: int, process: str = "") -> None:
    """Note in the lock file that a daemon is starting, and in which process, so that it can be ended."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{STARTING} {process}\n".encode(), 0)


def has_failed(home: str) -> bool:
    """Whether the last daemon ended while it was starting."""
    lock = take_lock(home)
    if lock is None:
        return False
    try:
        return os.read(lock, len(STARTING)) == STARTING.encode()
    finally:
        os.close(lock)


def _start_detached(home: str, folder: str, lock: int) -> None:
    """Start the daemon in a session of its own, with the lock and no other open file of ours."""
    words = [sys.executable, "-P", "-m", "recollect.interfaces.daemon", home]
    more = [folder] if folder else []
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        subprocess.Popen([*words, "-", *more], creationflags=flags, close_fds=True)
        return
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        detach(keep=lock)
        os.set_inheritable(lock, True)
        os.execv(sys.executable, [*words, str(lock), *more])
    finally:
        os._exit(1)


def detach(keep: int | None = None) -> None:
    """Give up the folder, terminal and open files that we have from whoever started us, except `keep`."""
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
