"""Let a running daemon run a command that only reads, `remember` or `describe`: it has the model and the store open.

This runs before click or the engine is imported, and imports almost nothing. A command that the daemon does not answer
runs in this process: if there is no daemon, if it is busy, of another version or with other settings, and for command
lines that need this process, such as `-` for standard input. What is printed is the same, byte for byte.

So a command may run twice, if the daemon ends before it has answered. A statement that is remembered twice is stored once, and so
is a situation.
"""

import os
import sys
import time

from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.caller import Caller, own_folder, own_variables

ACCEPT_SECONDS = 1.0  # in which a daemon must have begun; a command takes as long without one
RUN_SECONDS = 30.0  # that a command may take there, before we run it ourselves
SEPARATOR = "\x1f"  # between arguments
# The commands that may run twice, with their subcommands, "" for the command alone; empty = all of them.
REPEATABLE: dict[str, tuple[str, ...]] = {
    "remember": (),
    "recall": (),
    "search": (),
    "similar": (),
    "list": (),
    "describe": (),
    "show": (),
    "links": (),
    "conflicts": (),
    "gaps": (),
    "graph": (),
    "map": ("show",),
    "session": ("", "list", "show", "deliveries", "search", "source"),
    "task": ("", "list", "show"),
    "history": ("", "file", "like", "coedits", "what-was-i-doing", "last", "fixes", "output"),
    "changes": (),
    "audit": (),
}
_WRITES = ("links", "export")  # the only subcommand that writes, where all others read
# Words that need this process: another home, files to write, standard input, a choice, help, which is as wide as the terminal.
_HERE = ("-", "-i", "--interactive", "-h", "--help", "--version")
_HERE_BEGINNINGS = ("--home", "--write")
_FLAGS = ("--json", "--no-color")
_PLATFORM: str = sys.platform


def answer(arguments: list[str]) -> int | None:
    """Print what the daemon answers and return the exit code; None if the command must run in this process."""
    if not is_repeatable(arguments) or not _is_usual_process():
        return None
    try:
        home, folder = protocol.home_folder(), own_folder()
    except RuntimeError:
        return None  # no home folder: the command says so
    if not folder or not os.path.exists(f"{home}/{protocol.SOCKET}"):  # noqa: PTH110
        return None
    try:
        code, parts = _ask(home, folder, arguments)
    except protocol.NoAnswer:
        if folder and own_folder() != folder:
            os.chdir(folder)  # a long path of a socket is reached from its folder
        return None
    return _print(code, parts)


def is_repeatable(arguments: list[str]) -> bool:
    """Whether a command line may run twice, and needs nothing of this process."""
    if any(word in _HERE or word.startswith(_HERE_BEGINNINGS) or SEPARATOR in word for word in arguments):
        return False
    words = iter(arguments)
    names = []
    for word in words:
        if word == "--project":
            next(words, None)
        elif not word.startswith("-"):
            names.append(word)
        elif word not in _FLAGS and not word.startswith("--project=") and not names:
            return False
    if not names or names[0] not in REPEATABLE or tuple(names[:2]) == _WRITES:
        return False
    subcommands = REPEATABLE[names[0]]
    return not subcommands or "".join(names[1:2]) in subcommands


def _is_usual_process() -> bool:
    """Whether output is UTF-8 and nothing is closed; the rest is left to the command line itself."""
    if _PLATFORM == "win32" or "_RECOLLECT_COMPLETE" in os.environ:
        return False
    return all(
        stream is not None and stream.encoding.lower() in ("utf-8", "utf8")
        for stream in (sys.stdout, sys.stderr)
    )


def _ask(home: str, folder: str, arguments: list[str]) -> tuple[int, list[tuple[int, bytes]]]:
    caller = Caller(
        folder,
        own_variables("TZ", "NO_COLOR"),
        arguments=SEPARATOR.join(arguments),
        terminals="".join("1" if stream.isatty() else "0" for stream in (sys.stdout, sys.stderr)),
        columns=str(_columns()),
    )
    connection = protocol.open_session(home, "run", caller.pack(), ACCEPT_SECONDS)
    try:
        connection.settimeout(ACCEPT_SECONDS)
        data = connection.recv(1)
        if data != protocol.ACCEPTED:
            raise protocol.NoAnswer("refused")
        until = time.monotonic() + RUN_SECONDS
        received = []
        while data:
            connection.settimeout(max(until - time.monotonic(), 0.001))
            data = connection.recv(1 << 18)
            received.append(data)
        return unpack_output(b"".join(received))
    except (OSError, ValueError) as error:
        raise protocol.NoAnswer(str(error)) from error
    finally:
        connection.close()


def pack_output(code: int, parts: list[tuple[int, bytes]]) -> bytes:
    """Return an exit code and what was written to which stream, in order, as bytes."""
    body = b"".join(b"%d %d\n%s" % (stream, len(data), data) for stream, data in parts)
    return b"%d %d\n%s" % (code, len(body), body)


def unpack_output(data: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """Return what `pack_output` was given. Raise `ValueError` if something is missing."""
    head, _, body = data.partition(b"\n")
    code, size = map(int, head.split(b" "))
    if len(body) != size:
        raise ValueError("cut off")
    parts = []
    while body:
        head, _, body = body.partition(b"\n")
        stream, length = map(int, head.split(b" "))
        parts.append((stream, body[:length]))
        body = body[length:]
    return code, parts


def _columns() -> int:
    """Return the width of the terminal, as `shutil.get_terminal_size` would."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(1).columns
        except OSError:
            columns = 0
    return columns or 80


def _print(code: int, parts: list[tuple[int, bytes]]) -> int:
    if sys.stdout.isatty() and all(stream == 1 for stream, _ in parts) and _page(parts):
        return code
    for stream, data in parts:
        while data:
            try:
                data = data[os.write(stream, data) :]
            except OSError as error:
                return _output_failed(error)
    return code


def _page(parts: list[tuple[int, bytes]]) -> bool:
    """Show long output in a pager; False if it must be printed."""
    from recollect.interfaces.cli.pager import page

    return page(b"".join(data for _, data in parts).decode("utf-8", "backslashreplace"))


def _output_failed(error: OSError) -> int:
    """Say what a command says when its reader is gone, or the disk is full."""
    import errno

    if error.errno not in (errno.EPIPE, errno.ENOSPC):
        raise error
    if error.errno != errno.EPIPE:
        os.write(2, f"Cannot write the output: {error.strerror}.\n".encode())
    return 1
