"""Runs an action again and again, each time killed one step later: a step is a change to a file by our own code.

For scripts run by `child`, as it forks: nothing here may be used in the test process itself.
"""

import os
import shutil
import signal
import sys

STEPS = {"os.rename", "os.remove", "os.truncate", "os.mkdir", "os.chmod"}


def crash_everywhere(home, work, action):
    """For every step of `action(home)`: a copy of `home` as the crash before that step leaves it."""
    number = 0
    while True:
        number += 1
        copy = work / f"crash-{number}"
        shutil.copytree(home, copy)
        pid = os.fork()
        if pid == 0:
            _die_at(number, str(copy))
            action(copy)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            assert status == 0, f"the action failed by itself: {status}"
            return
        yield copy


def _die_at(number, below):
    left = [number]

    def watch(event, args):
        changes = event in STEPS or (event == "open" and _writes(args))
        idle = event == "os.remove" and not os.path.lexists(args[0])
        if changes and not idle and str(args[0]).startswith(below):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _writes(args):
    return bool(args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
