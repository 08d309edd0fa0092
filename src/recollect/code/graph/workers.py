"""Processes of our own that take a share of the work, and how they are talked with: in frames, each with its length first.

Not by `multiprocessing`: that would run the program we are in once more, which may not be made for it.
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
    """Runs the function `serve` of `module`. Raises `OSError` where no process can be."""
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
    """Those that came whole."""
    while len(size := pipe.read(4)) == 4:
        frame = pipe.read(int.from_bytes(size, "little"))
        if len(frame) < int.from_bytes(size, "little"):
            return
        yield frame


def send_ready() -> None:
    """A process says so before it answers: its interpreter may have been made to print something of its own."""
    sys.stdout.buffer.write(_UP)
    sys.stdout.buffer.flush()


def is_ready(pipe: IO[bytes]) -> bool:
    """Whether what comes now are answers."""
    return pipe.read(len(_UP)) == _UP


def send_answer(frame: bytes) -> None:
    """At once: who waits has something to do meanwhile."""
    send_frame(sys.stdout.buffer, frame)
    sys.stdout.buffer.flush()


def exit_worker() -> None:
    """To take apart first what was kept in mind costs as long as to read ten files."""
    os._exit(0)
