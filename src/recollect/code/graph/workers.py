"""Worker processes, and the protocol with them: frames, each preceded by its length.

This does not use `multiprocessing`, which would run the main program again; that may not be made for it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

_UP = b"recollect\n"


def cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start_worker(module: str) -> subprocess.Popen[bytes]:
    """Start a process that runs the function `serve` of `module`. Raise `OSError` if no process can be started."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import serve; serve()"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def send_frame(pipe: IO[bytes], frame: bytes) -> None:
    pipe.write(len(frame).to_bytes(4, "little") + frame)


def read_frames(pipe: IO[bytes]) -> Iterator[bytes]:
    """Yield the frames that arrive complete."""
    while len(size := pipe.read(4)) == 4:
        frame = pipe.read(int.from_bytes(size, "little"))
        if len(frame) < int.from_bytes(size, "little"):
            return
        yield frame


def send_ready() -> None:
    """Tell the parent that answers follow: the interpreter may have printed something of its own before."""
    sys.stdout.buffer.write(_UP)
    sys.stdout.buffer.flush()


def is_ready(pipe: IO[bytes]) -> bool:
    """Return whether the process is ready, so that answers follow."""
    return pipe.read(len(_UP)) == _UP


def send_answer(frame: bytes) -> None:
    """Send an answer and flush it: the parent can use it while we work on."""
    send_frame(sys.stdout.buffer, frame)
    sys.stdout.buffer.flush()


def exit_worker() -> None:
    """Exit without cleaning up: freeing all objects takes as long as parsing ten files."""
    os._exit(0)
