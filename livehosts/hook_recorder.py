"""A `recollect` program that keeps what a host sends to its hooks and what the hooks print."""

import os
import sys
from pathlib import Path

_WRAPPER = """#!/bin/sh
if [ "$1" = hook ]; then
    name={events}/$(date +%s%N)-$2-$3
    tee "$name.in.json" | {python} -m recollect "$@" | tee "$name.out"
else
    exec {python} -m recollect "$@"
fi
"""


def recording_program(folder: Path, events: Path) -> Path:
    """Make a virtual environment in `folder` that shares this one's packages; return its recording `recollect`.

    `recollect install` names the script beside its interpreter, so hosts will run this one.
    """
    events.mkdir(parents=True)
    environment = Path(sys.prefix)
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_bytes((environment / "pyvenv.cfg").read_bytes())
    (folder / "lib").symlink_to(environment / "lib")
    python = folder / "bin" / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    program = folder / "bin" / "recollect"
    program.write_text(_WRAPPER.format(events=events, python=python))
    program.chmod(0o755)
    return program
