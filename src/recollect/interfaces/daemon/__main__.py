"""`python -m recollect.interfaces.daemon HOME [LOCK [FOLDER]]`: started by hooks and commands, never by hand.

LOCK is the open file that holds the lock; without it, or with "-", the daemon takes the lock itself. FOLDER is the
project to get ready for.
"""

import logging
import os
import sys

ARENAS = 2  # heaps that the daemon's threads share


def main(arguments: list[str]) -> int:
    """Run the daemon and end the process; return 0 if one runs already."""
    from recollect.interfaces.daemon_client.start import detach, note_start, take_lock

    home = arguments[0]
    given = arguments[1] if len(arguments) > 1 else "-"
    folder = arguments[2] if len(arguments) > 2 else ""
    os.umask(0o077)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for commands: see `recollect.__main__`
    lock = take_lock(home) if given == "-" else int(given)
    if lock is None:
        return 0
    note_start(lock, str(os.getpid()))
    os.set_inheritable(lock, False)
    if given == "-":
        detach(keep=lock)
    from pathlib import Path

    from recollect.embed.heap import limit_arenas

    limit_arenas(ARENAS)
    from recollect.interfaces.daemon.server import serve

    serve(Path(home), lock, folder)
    logging.shutdown()
    os._exit(0)  # threads that are stuck would keep the process


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
