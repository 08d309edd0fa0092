"""Other processes: started, killed, waited for."""

import os
import subprocess
import sys

# To root no folder is read-only. A process without root's capabilities is bound by the modes of files like any other
# user, and still owns what root owns: the interpreter and the package, wherever they are.
OBEY_MODES = """
import ctypes, os
if os.getuid() == 0:
    version_3, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version_3, nothing) == 0, "the capabilities of root could not be dropped"
"""
CAN_OBEY_MODES = sys.platform == "linux" or (sys.platform != "win32" and os.getuid() != 0)
WHY_NOT = (
    "needs Linux or an ordinary user: elsewhere root writes to any folder, and Windows has no such modes"
)


def make_read_only(home):
    for path in [*home.rglob("*"), home]:
        path.chmod(0o500 if path.is_dir() else 0o400)


def make_writable(home):
    for path in [home, *home.rglob("*")]:
        path.chmod(0o700)


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
