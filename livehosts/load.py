"""Other work on the machine while a check runs."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PROCESSES = 4


@contextmanager
def busy_machine() -> Iterator[None]:
    """Keep four processes busy, so that the load of the machine is at least four."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(PROCESSES)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
