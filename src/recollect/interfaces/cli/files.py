"""Files that commands write whole."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from recollect.errors import RecollectError


def standard_output() -> IO[str]:
    """Whatever the terminal speaks, what programs and agents read is UTF-8."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """A file that takes the place of `path` when all of it has been written."""
    fresh = path.resolve().with_name(f".{path.name}.{os.getpid()}.new")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is written to, never replaced
            with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
                yield out
            return
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(path.resolve())
    except OSError as error:
        raise RecollectError(f"Cannot write {path}: {error.strerror}.", "Name another file.") from error
    finally:
        with suppress(OSError):  # it is there only if something went wrong
            fresh.unlink()
