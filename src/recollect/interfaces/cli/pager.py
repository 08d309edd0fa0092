"""Show long output in a pager, as git does: only on a terminal, and only if it does not fit on the screen."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

_DEFAULT = ("less", "-FRX")  # quit if it fits, keep colours, leave the text on the screen


def fits(text: str) -> bool:
    """Whether the text fits on the screen of this terminal, with a line left for the prompt."""
    size = shutil.get_terminal_size()
    rows = sum(1 + max(0, len(line) - 1) // max(size.columns, 1) for line in text.splitlines())
    return rows < size.lines


def page(text: str) -> bool:
    """Show the text in the user's pager; return False if it must be printed instead.

    RECOLLECT_PAGER, or PAGER, names the program; an empty value or `cat` means none.
    """
    if not sys.stdin.isatty() or fits(text):
        return False
    command = _command()
    if not command:
        return False
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
    except OSError:
        return False
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the reader has seen enough
        process.communicate(text.encode("utf-8", "backslashreplace"))
    while process.poll() is None:  # Ctrl-C belongs to the pager
        with suppress(KeyboardInterrupt):
            process.wait()
    return True


def _command() -> list[str]:
    import shlex

    named = os.environ.get("RECOLLECT_PAGER", os.environ.get("PAGER"))
    if named is None:
        return list(_DEFAULT) if shutil.which(_DEFAULT[0]) else []
    try:
        words = shlex.split(named)
    except ValueError:  # a quote that does not end
        return []
    return [] if words in ([], ["cat"]) else [*words, "-FRX"] if words == ["less"] else words
