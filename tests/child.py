"""Other processes: started, killed, waited for."""

import os
import subprocess
import sys

# Imports everything it will need, then gives up being root, to whom no folder is read-only.
AS_NOBODY = """
import os, sys
from pathlib import Path
import recollect.model as m, recollect.errors as errors
from recollect.store.sqlite import SqliteStore
from samples import EVERYTHING, MINE, keep, memory
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
"""


def start(code, *args, **environment):
    """A Python process that runs `code`, with the modules of these tests in reach."""
    paths = [path for path in sys.path if path]
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
    )


def finish(process):
    """What it printed. Fails with its traceback if it failed."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def run(code, *args, **environment):
    return finish(start(code, *args, **environment))


def kill(process):
    """End it without a chance to tidy up; what it had printed."""
    process.kill()
    out, _ = process.communicate(timeout=60)
    return out
