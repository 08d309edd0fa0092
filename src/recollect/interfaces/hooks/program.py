"""`recollect hook HOST EVENT`: hands what a host says to the daemon, prints what is ready, and is gone.

It waits for nobody longer than its deadline, always exits 0, and prints nothing but what the host allows, which the
daemon has made ready. What no daemon has taken is left to a process in the background (`carry`), whatever becomes of us.
It runs at every prompt and every tool: nothing is imported here that is not needed every time.
"""

import os
import select
import sys
import time

from recollect.interfaces.daemon import protocol

DEADLINE = 0.15  # seconds that a prompt or a tool may wait
SESSION_DEADLINE = 0.5  # that the start of a session may
LARGEST = 256 * 1024  # bytes of an event that is handed over while the host waits; a larger one is carried
PATIENCE = 2.0  # seconds in which a host has said what it has to say
LARGEST_INPUT = 32 * 1024 * 1024  # bytes; what is larger is not looked at


def main(arguments: list[str]) -> int:
    """Always 0: a memory that fails must not be in anybody's way."""
    try:
        host, event, given = [*arguments, "", "", ""][:3]
        body = os.fsencode(given) or _read()  # one host says it as an argument
        if body and host:
            _hand_over(host, event or "-", body)
    except BaseException:  # whatever it is, interrupts included: the host goes on
        pass
    return 0


def _hand_over(host: str, event: str, body: bytes) -> None:
    home = protocol.home_folder()
    now = time.time_ns()
    name = f"{now:x}-{os.getpid():x}-{os.urandom(4).hex()}"
    seconds = _deadline(event)
    fields = (host, event, name, str(now), f"{seconds:.3f}", _folder())
    try:
        if len(body) > LARGEST:
            raise protocol.NoAnswer("too large for the time there is")
        ready = protocol.ask(home, "hook", fields, body, seconds)
    except protocol.NoAnswer:
        from recollect.interfaces.hooks.deliver import leave_behind

        leave_behind(home, fields, body)
        return
    if ready:
        _print(ready)


def _deadline(event: str) -> float:
    try:
        given = float(os.environ.get("RECOLLECT_HOOK_DEADLINE", ""))
        if 0 < given <= 10:
            return given
    except ValueError:
        pass
    return SESSION_DEADLINE if event.lower() == "sessionstart" else DEADLINE


def _read() -> bytes:
    """Standard input, as much as comes in time; nothing if there is more of it than any host says."""
    parts: list[bytes] = []
    size = 0
    until = time.monotonic() + PATIENCE
    while _comes(until) and (part := os.read(0, 1 << 20)):
        size += len(part)
        if size <= LARGEST_INPUT:
            parts.append(part)
    return b"".join(parts) if size <= LARGEST_INPUT else b""


def _comes(until: float) -> bool:
    """Whether there is more to read, or its end; False if a host that never closes it has us wait too long."""
    if sys.platform == "win32":
        return True
    return bool(select.select([0], [], [], max(until - time.monotonic(), 0.0))[0])


def _print(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def _folder() -> str:
    """Where we were started; hosts that name no folder mean this one."""
    try:
        return os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
