"""`python -m recollect.interfaces.daemon HOME [LOCK]`: started by hooks and commands, never by hand."""

import os
import sys

ARENAS = 2  # heaps that the daemon's threads share


def main(arguments: list[str]) -> int:
    """Run the daemon; return 0 also if one runs already."""
    from recollect.interfaces.daemon.start import detach, take_lock

    home = arguments[0]
    os.umask(0o077)
    lock = int(arguments[1]) if len(arguments) > 1 else take_lock(home)
    if lock is None:
        return 0
    os.set_inheritable(lock, False)
    if len(arguments) == 1:
        detach(keep=lock)
    from pathlib import Path

    from recollect.embed.heap import limit_arenas

    limit_arenas(ARENAS)
    from recollect.interfaces.daemon.server import serve

    serve(Path(home), lock)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
